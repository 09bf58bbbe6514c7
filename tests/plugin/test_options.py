"""Every option: where it is read from, and what a wrong value says."""

from __future__ import annotations

import pytest

from pytest_llmfair.clients.spec import ModelSpec
from pytest_llmfair.settings import OPTIONS, Settings, resolve

WRONG = {
    "mode": ("gates", "one of gate, strict, point"),
    "level": ("95", "a number between 0 and 1, such as 0.95"),
    "inconclusive": ("ignore", "one of warn, skip, xfail, fail"),
    "underpowered": ("ignore", "one of warn, skip, xfail, fail"),
    "family": ("bonferroni", "one of none, holm"),
    "seed": ("-1", "a whole number of at least 0"),
    "max_tokens": ("0", "a whole number of at least 1"),
    "timeout": ("inf", "a number of seconds above 0, such as 60"),
    "show_text": ("all", "one of worst, none"),
    "max_missing": ("1.5", "a number from 0 to 1, such as 0.05"),
    "max_invalid": ("-0.1", "a number from 0 to 1, such as 0.1"),
    "max_uncertain": ("2", "a number from 0 to 1, such as 0.25"),
    "require": ("many", "a whole number of at least 0"),
    "model": ("", "a model specification such as builtin:ngram"),
    "json": ("", "the path of a file to write"),
    "html": ("", "the path of a file to write"),
    "evidence": ("", "the path of a folder, which is made if its parent is there"),
    "cassette": ("", "the path of a file"),
    "record_mode": ("rewind", "one of none, once, new, all"),
    "cassette_text": ("some", "one of full, digest"),
    "cassette_used": ("", "the path of a file to write"),
    "max_recording_age": ("a month", "a whole number of days"),
    "max_calls": ("-1", "a whole number of at least 0"),
    "max_total_tokens": ("1e6", "a whole number of at least 0"),
    "max_cost": ("nan", "an amount of at least 0, such as 2.50"),
    "prices": ("", "the path of a YAML file"),
    "plan": ("perhaps", "true or false"),
}
LEGAL = {
    "mode": ("strict", "strict"),
    "level": ("0.9", 0.9),
    "inconclusive": ("skip", "skip"),
    "underpowered": ("warn", "warn"),
    "family": ("holm", "holm"),
    "seed": ("7", 7),
    "max_tokens": ("12", 12),
    "timeout": ("2.5", 2.5),
    "show_text": ("none", "none"),
    "max_missing": ("0.2", 0.2),
    "max_invalid": ("0.3", 0.3),
    "max_uncertain": ("0.4", 0.4),
    "require": ("3", 3),
    "model": ("hf:somewhere", "hf:somewhere"),
    "cassette_text": ("digest", "digest"),
    "max_recording_age": ("30", 30),
    "max_calls": ("0", 0),
    "max_total_tokens": ("1000", 1000),
    "max_cost": ("2.5", 2.5),
}
INI_ONLY = {option.name for option in OPTIONS if option.ini_only}
ON_COMMAND_LINE = [option for option in OPTIONS if not option.ini_only]
WITH_A_VALUE = [option for option in ON_COMMAND_LINE if not option.switch]


def settings_of(pytester, *arguments):
    return resolve(pytester.parseconfig(*arguments), ModelSpec.parse)


def test_every_option_is_a_setting():
    # Pytest's own -vv sets `detailed`.
    assert {option.name for option in OPTIONS} == set(Settings.__dataclass_fields__) - {"detailed"}


@pytest.mark.parametrize("verbosity", ["-v", "-vv"])
def test_only_very_verbose_messages_name_the_method(verbosity, run, pytester, verdicts):
    pytester.makepyfile(verdicts)
    output = run(verbosity).stdout.str()
    assert ("E         method       interval by " in output) == (verbosity == "-vv")


def test_every_option_is_tested_with_a_wrong_value():
    assert {option.name for option in OPTIONS} == set(WRONG)


@pytest.mark.parametrize("option", WITH_A_VALUE, ids=lambda option: option.name)
def test_wrong_option_is_a_usage_error_with_the_legal_values(option, run):
    text, legal = WRONG[option.name]
    result = run(f"{option.flag}={text}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"{option.flag} is {text!r}; give {legal}" in result.stderr.str()


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_wrong_ini_value_is_a_usage_error_with_the_legal_values(option, run, pytester):
    text, legal = WRONG[option.name]
    pytester.makeini(f"[pytest]\n{option.key} = {text}\n")
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"{option.key} is {text!r}; give {legal}" in result.stderr.str()


@pytest.mark.parametrize("level", ["0", "1", "nan", "inf", "-0.5", "0,95", "high"])
def test_level_is_strictly_between_0_and_1(level, run):
    assert run(f"--llmfair-level={level}").ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("name", [name for name in LEGAL if name not in INI_ONLY])
def test_option_is_read_from_the_command_line(name, pytester):
    text, value = LEGAL[name]
    flag = f"--llmfair-{name.replace('_', '-')}"
    assert getattr(settings_of(pytester, f"{flag}={text}"), name) == value


@pytest.mark.parametrize("name", LEGAL)
def test_option_is_read_from_the_ini_file(name, pytester):
    text, value = LEGAL[name]
    pytester.makeini(f"[pytest]\nllmfair_{name} = {text}\n")
    assert getattr(settings_of(pytester), name) == value


@pytest.mark.parametrize(("text", "value"), [("true", True), ("yes", True), ("no", False)])
def test_switch_is_read_from_the_ini_file(text, value, pytester):
    pytester.makeini(f"[pytest]\nllmfair_plan = {text}\n")
    assert settings_of(pytester).plan is value


def test_switch_has_no_value_on_the_command_line(pytester):
    assert settings_of(pytester, "--llmfair-plan").plan is True


def test_option_is_read_from_pyproject(pytester):
    pytester.makepyprojecttoml('[tool.pytest.ini_options]\nllmfair_level = "0.8"\n')
    assert settings_of(pytester).level == 0.8


def test_command_line_beats_ini_file(pytester):
    pytester.makeini("[pytest]\nllmfair_seed = 5\n")
    assert settings_of(pytester, "--llmfair-seed=6").seed == 6


def test_defaults_hold_when_nothing_is_given(pytester, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    assert settings_of(pytester) == Settings()
    assert Settings() == Settings(
        model="builtin:ngram",
        mode="gate",
        level=0.95,
        inconclusive="warn",
        underpowered="fail",
        family="none",
        seed=0,
        max_tokens=None,
        timeout=60.0,
        show_text="worst",
        max_missing=0.05,
        json=None,
        require=0,
    )


def test_texts_are_hidden_by_default_on_ci(pytester, monkeypatch):
    monkeypatch.setenv("CI", "true")
    assert settings_of(pytester).show_text == "none"


def test_texts_are_shown_on_ci_when_asked_for(pytester, monkeypatch):
    monkeypatch.setenv("CI", "true")
    assert settings_of(pytester, "--llmfair-show-text=worst").show_text == "worst"


def test_help_names_every_option_and_its_default(run):
    text = run("--help").stdout.str()
    for option in ON_COMMAND_LINE:
        assert option.flag in text
    for option in OPTIONS:
        assert option.key in text
