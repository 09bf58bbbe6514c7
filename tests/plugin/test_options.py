"""Every option: its legal and wrong values, and where it is read from."""

from __future__ import annotations

import pytest

from pytest_llmfair.settings import OPTIONS, Settings

# A text that is not legal; for other options, the empty one.
WRONG = {
    "level": "95",
    "seed": "-1",
    "max_tokens": "0",
    "timeout": "inf",
    "max_missing": "1.5",
    "max_invalid": "-0.1",
    "max_uncertain": "2",
    "max_calls": "1.5",
    "max_total_tokens": "1e6",
    "max_cost": "nan",
    "margin": "-1",
    "baseline_days": "0",
}
SOURCES = [(option, "ini file") for option in OPTIONS] + [
    (option, "command line") for option in OPTIONS if not (option.ini_only or option.switch)
]


def name_of(value):
    return getattr(value, "name", value)


@pytest.fixture
def give(pytester):
    """Return a function that gives an option a text; it returns arguments for the command line."""

    def give(option, text, place):
        if place == "command line":
            return [f"{option.flag}={text}"], option.flag
        pytester.makeini(f"[pytest]\n{option.key} = {text}\n")
        return [], option.key

    return give


@pytest.fixture
def needed(pytester):
    """Return a function that gives the option that another one needs, and the file of a path."""

    def needed(option):
        if not option.needs:
            return []
        other = getattr(Settings, option.needs)
        (pytester.path / other.example).touch()
        return [f"{other.flag}={other.example}"]

    return needed


@pytest.mark.parametrize(("option", "place"), SOURCES, ids=name_of)
def test_a_wrong_value_is_a_usage_error_with_the_legal_values(option, place, give, run):
    text = WRONG.get(option.name, "")
    arguments, source = give(option, text, place)
    result = run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"{source} is {text!r}; give {option.legal}" in result.stderr.str()


@pytest.mark.parametrize(
    ("option", "place"),
    # Paths have tests of their own below.
    [each for each in SOURCES if not each[0].path],
    ids=name_of,
)
def test_a_legal_value_is_read(option, place, give, settings, needed):
    arguments, _ = give(option, option.example, place)
    value = getattr(settings(*arguments, *needed(option)), option.name)
    assert value == option.parse(option.example) != option.default


@pytest.mark.parametrize("option", [each for each in OPTIONS if each.needs], ids=name_of)
def test_an_option_that_needs_another_one_names_it(option, give, run, settings):
    give(option, option.example, "ini file")
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    other = getattr(Settings, option.needs)
    result.stderr.fnmatch_lines([f"*{option.flag} *{other.flag} {other.metavar}"])
    if option.switch:
        give(option, "no", "ini file")
        assert getattr(settings(), option.name) is False


@pytest.mark.parametrize("level", ["0", "1", "nan", "inf", "-0.5", "0,95", "high"])
def test_level_is_strictly_between_0_and_1(level, run):
    assert run(f"--llmfair-level={level}").ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--llmfair-json=nowhere/run.json"], "the folder * does not exist; create it first"),
        (["--llmfair-json=folder"], "that is a folder; give the path of a file"),
        (["--llmfair-html=folder"], "that is a folder; give the path of a file"),
        (["--llmfair-markdown=nowhere/run.md"], "the folder * does not exist; create it first"),
        (["--llmfair-evidence=file.txt"], "that is a file; give the path of a folder"),
        (["--llmfair-evidence=no/such/folder"], "the folder * does not exist; create it first"),
        (["--llmfair-cassette=folder"], "that is not a file"),
        (["-o", "llmfair_prices=nowhere.yaml"], "that is not a file"),
        (["--llmfair-record-mode=none"], "there is no cassette; add --llmfair-cassette PATH"),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_a_path_that_cannot_be_used_is_a_usage_error(arguments, message, run, pytester):
    (pytester.path / "folder").mkdir()
    (pytester.path / "file.txt").touch()
    result = run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{message}*"])


@pytest.mark.parametrize("name", ["json", "cassette"])
def test_a_path_in_an_ini_file_is_relative_to_that_file(name, settings, pytester, monkeypatch):
    pytester.makeini(f"[pytest]\nllmfair_{name} = found\n")
    monkeypatch.chdir(pytester.mkdir("below"))
    found = settings("-c", str(pytester.path / "tox.ini"))
    assert getattr(found, name) == str(pytester.path / "found")


MISSPELT = {
    "pytest.ini": "[pytest]\nllmfair_mdoe = strict",
    "tox.ini": "[pytest]\naddopts = -q\nllmfair_mdoe: strict",
    "setup.cfg": "[tool:pytest]\nllmfair_mdoe=strict",
    "pyproject.toml": '[tool.pytest.ini_options]\n  "llmfair_mdoe" = "strict"',
}


@pytest.mark.parametrize("file", MISSPELT)
def test_an_unknown_key_in_an_ini_file_is_a_usage_error(file, run, pytester):
    (pytester.path / file).write_text(MISSPELT[file])
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"*{file} has the unknown key 'llmfair_mdoe'; did you mean mode or model?"]
    )


@pytest.mark.parametrize("key", ["LLMFAIR_MODE", "llmfair-mode", "Llmfair_mode"])
def test_a_key_in_another_spelling_is_a_usage_error(key, run, pytester):
    pytester.makeini(f"[pytest]\n{key} = strict\n")
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*has the unknown key '{key}'; did you mean mode*?"])


def test_an_unknown_key_on_the_command_line_is_a_usage_error(run):
    result = run("-o", "llmfair_xyz=strict")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*-o has the unknown key 'llmfair_xyz'; known are model, *"])


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (["--llmfair-casette", "x"], "--llmfair-casette; did you mean --llmfair-cassette?"),
        (
            ["--llmfair-mdoe=strict"],
            "--llmfair-mdoe; did you mean --llmfair-mode or --llmfair-model?",
        ),
        (["--llmfair-max-missing=0.1"], "*missing; give -o llmfair_max_missing=SHARE"),
        (["--llmfair-\x1bxyz", "-q"], r"--llmfair-\u001bxyz; known are --llmfair-model, *"),
    ],
)
def test_a_mistyped_option_is_a_usage_error_with_the_nearest_one(given, hint, run):
    result = run(*given)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: there is no option {hint}"])


def test_help_is_shown_also_beside_a_mistyped_option(run):
    assert "--llmfair-evidence=DIR" in run("--llmfair-mdoe=strict", "--help").stdout.str()


def test_an_option_of_a_conftest_file_like_ours_is_no_error(run, pytester):
    pytester.makeconftest('def pytest_addoption(parser): parser.addoption("--llmfair-own")')
    pytester.makepyfile("def test_it(): pass")
    run("--llmfair-own=1", "--llmfair-mode=strict").assert_outcomes(passed=1)
    assert "--llmfair-own" in run("--help", "--llmfair-mode=strict").stdout.str()


def test_keys_of_other_plugins_and_words_in_other_values_are_no_error(run, pytester):
    pytester.makeconftest('def pytest_addoption(parser): parser.addini("llmfair_own", "of ours")')
    lines = "markers =\n  slow\n# llmfair_mdoe = a comment\nllmfair_own = 1\nllmfair_mode = strict"
    pytester.makeini(f"[pytest]\n{lines}\naddopts =\n  -o llmfair_level=0.9")
    pytester.makepyfile("def test_it(): pass")
    run().assert_outcomes(passed=1)


def test_a_switch_is_read_everywhere(settings, pytester):
    assert settings("--llmfair-plan").plan is True
    pytester.makeini("[pytest]\nllmfair_plan = no\n")
    assert settings().plan is False


def test_an_option_is_read_from_pyproject(settings, pytester):
    pytester.makepyprojecttoml('[tool.pytest.ini_options]\nllmfair_level = "0.8"\n')
    assert settings().level == 0.8


def test_the_command_line_beats_the_ini_file(settings, pytester):
    pytester.makeini("[pytest]\nllmfair_seed = 5\n")
    assert settings("--llmfair-seed=6").seed == 6


def test_defaults_hold_when_nothing_is_given(settings):
    found, defaults = settings(), Settings()
    assert [o.name for o in OPTIONS if getattr(found, o.name) != getattr(defaults, o.name)] == []
    assert (defaults.model, defaults.mode, defaults.level) == ("builtin:ngram", "gate", 0.95)
    assert (defaults.inconclusive, defaults.underpowered) == ("warn", "fail")
    assert (defaults.seed, defaults.max_missing, defaults.show_text) == (0, 0.05, "worst")


def test_texts_are_hidden_by_default_on_ci(settings, monkeypatch):
    monkeypatch.setenv("CI", "true")
    assert settings().show_text == "none"
    assert settings("--llmfair-show-text=worst").show_text == "worst"


def test_help_names_every_option(run):
    text = run("--help").stdout.str()
    for option in OPTIONS:
        assert option.key in text
        assert option.ini_only or option.flag in text


@pytest.mark.parametrize("verbosity", ["-v", "-vv"])
def test_only_very_verbose_messages_name_the_method(verbosity, run, pytester, verdicts):
    pytester.makepyfile(verdicts)
    output = run(verbosity).stdout.str()
    assert ("E         method       interval by " in output) == (verbosity == "-vv")
