"""``llmfair init``: the file it writes is complete, explained, and runs."""

from __future__ import annotations

import io
import re
import sys

import pytest

from pytest_llmfair.cli import main
from pytest_llmfair.gate.check_file import read_checks
from pytest_llmfair.gate.policy import load_policy
from pytest_llmfair.gate.selection import TASKS, recommend
from pytest_llmfair.metrics import all_metrics
from tests.processes import session_in


@pytest.fixture
def init(tmp_path, monkeypatch, capsys):
    """Return a function that runs `llmfair init` in a folder, and reads the file it wrote."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO())

    def init(*arguments, file="fairness.llmfair.yaml"):
        assert main(["init", *arguments]) == 0
        assert f"run it with: pytest {file}" in capsys.readouterr().out
        return read_checks(file)

    return init


def test_the_file_runs_with_pytest_and_the_built_in_model(init, tmp_path):
    init("--owner", "quality team")
    done = session_in(tmp_path, "-q")
    assert done.returncode == 0, done.stdout
    assert "3 fairness assertions: 3 PASS; 0 undecided" in done.stdout


def test_the_waiver_that_the_file_shows_is_one_and_has_a_worst_value(init, tmp_path):
    init()
    text = (tmp_path / "fairness.llmfair.yaml").read_text()
    shown = re.search(r"^# waivers:\n(?:#   .*\n)+", text, re.M)[0]
    (tmp_path / "llmfair.yaml").write_text(re.sub("^# ", "", shown, flags=re.M))
    (waiver,) = load_policy(tmp_path).waivers
    assert waiver.covers("fairness.llmfair.yaml::sentiment[gender]", waiver.metric)
    assert waiver.metric in all_metrics() | {"counterfactual_invariance": None}
    assert waiver.worst is not None


@pytest.mark.parametrize("task", TASKS)
def test_every_recommended_check_is_written_and_no_other(init, tmp_path, task):
    found = init("--task", task)
    text = (tmp_path / "fairness.llmfair.yaml").read_text()
    selection = recommend(found.use_case, found.prompts)
    for choice in selection.chosen:
        assert f"- metric: {choice.check}\n" in text
        assert choice.reason in text
    assert text.count("- metric: ") == len(selection.chosen)
    assert found.checks
    # Each bound has a comment: it is a decision.
    bounds = re.findall(r"^[# ]*(?:bound|minimum|eps): (.*)$", text, re.M)
    assert len(bounds) == len(selection.chosen)
    assert all("  # " in each for each in bounds)
    # Checks on arrays pass on their invented rows.
    if task in ("classification", "recommendation", "ranking"):
        for check in found.checks:
            assert check.run(client=None, scorers=None, pairs=None).verdict.value == "PASS"


def test_checks_in_comments_are_valid_where_the_hash_signs_go(init, tmp_path):
    (tmp_path / "mine.txt").write_text("She asks for a pay rise. Write an answer.\n")
    init("--prompts", "mine.txt")
    file = tmp_path / "fairness.llmfair.yaml"
    text = re.sub(r"^  # (.*is recommended.*)$", "", file.read_text(), flags=re.M)
    file.write_text(re.sub(r"^  # ", "  ", text, flags=re.M))
    metrics = [check.metric for check in read_checks(file).checks]
    assert metrics[3:] == ["toxic_fraction", "stereotypical_associations", "stereotype_fraction"]


def test_flags_describe_the_use_case_and_the_prompts(init, tmp_path):
    (tmp_path / "mine.txt").write_text("My muslim neighbour needs help.\n")
    found = init(
        *("--task", "summarisation", "--attribute", "religion", "--prompts", "mine.txt"),
        *("--invariance-reason", "clinical texts"),
        *("--model", "openai:gpt-4o-mini", "--owner", "me"),
        "clinic.llmfair.yaml",
        file="clinic.llmfair.yaml",
    )
    assert found.use_case.invariance_reason == "clinical texts"
    assert found.prompts == ["My muslim neighbour needs help."]
    (check,) = found.checks
    assert (check.metric, check.attribute.name) == ("strict_sentiment_parity", "religion")
    assert (check.model, check.about["owner"]) == ("openai:gpt-4o-mini", "me")
    assert 'prompts: "mine.txt"' in (tmp_path / "clinic.llmfair.yaml").read_text()


def test_every_attribute_has_its_own_checks(init):
    found = init("--attribute", "gender", "--attribute", "age")
    assert [check.name for check in found.checks] == [
        "group_predictability[gender]",
        "group_predictability[age]",
        "strict_sentiment_parity[gender]",
        "strict_sentiment_parity[age]",
        "counterfactual_invariance[gender]",
        "counterfactual_invariance[age]",
    ]


def test_prompts_that_name_no_group_are_kept_so(init, tmp_path):
    (tmp_path / "mine.txt").write_text("Summarise the report.\n")
    found = init("--prompts", "mine.txt")
    assert [check.metric for check in found.checks] == ["fairness_through_unawareness"]
    assert found.checks[0].bound == 0.0


def test_nothing_is_overwritten(init, tmp_path, refused):
    init("--task", "ranking")
    before = (tmp_path / "fairness.llmfair.yaml").read_bytes()
    assert "fairness.llmfair.yaml exists; remove it, or give another" in refused(
        "init", "--task", "generation"
    )
    assert (tmp_path / "fairness.llmfair.yaml").read_bytes() == before


def test_a_name_that_pytest_would_not_collect_is_refused(init, refused):
    assert "fairness.yaml would not be collected by pytest; give" in refused(
        "init", "fairness.yaml"
    )


def test_on_a_terminal_what_is_missing_is_asked_for(init, tmp_path, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Terminal("translation\nage\n\n\n"))
    found = init()
    assert found.use_case.task == "translation"
    assert found.checks[0].attribute.name == "age"
    assert found.checks[0].model == "builtin:ngram"
