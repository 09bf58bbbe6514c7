"""The examples run as a newcomer runs them, and show what they promise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def verdicts(file):
    return sorted(result["verdict"] for result in json.loads(file.read_text())["results"])


def test_the_quickstart_shows_one_verdict_of_each_kind(run, tmp_path):
    file = tmp_path / "run.json"
    done = run("tutorials/quickstart", f"--llmfair-json={file}")
    assert done.returncode == 0, done.stdout
    assert verdicts(file) == ["FAIL", "INCONCLUSIVE", "PASS"]
    assert "2 passed, 1 xfailed" in done.stdout
    for shown in ("PASS", "FAIL", "INCONCLUSIVE", "1 undecided"):
        assert shown in done.stdout
    table = done.stdout.partition("fairness assertions")[2].splitlines()[1:]
    assert max(map(len, table[:-1])) <= 80


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_quickstart_shows_the_same_verdicts_with_other_seeds(run, tmp_path, seed):
    file = tmp_path / "run.json"
    assert (
        run("tutorials/quickstart", f"--llmfair-json={file}", f"--llmfair-seed={seed}").returncode
        == 0
    )
    assert verdicts(file) == ["FAIL", "INCONCLUSIVE", "PASS"]


def test_the_planted_skew_of_the_quickstart_is_red_without_its_mark(run):
    done = run("tutorials/quickstart", "--runxfail", "-k", "skew or plant")
    assert done.returncode == 1
    assert "FAIL ruted_neutrality: 0.7" in done.stdout
    assert "  rerun        pytest" in done.stdout


def test_the_planted_skew_makes_the_candidate_worse_and_not_the_other_way_round(run):
    done = run("tutorials/comparing")
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 xfailed" in done.stdout
    assert "strict_sentiment_parity worse than baseline" in " ".join(done.stdout.split())


def test_pairs_are_shown_with_their_checks_and_rejected_ones_with_the_reason(run):
    done = run("tutorials/pairs")
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout
    shown = " ".join(done.stdout.split())
    for words in (
        "original counterfactual edits checks",
        "passed",
        "omission blind -> (left out)",
        "explicit blind -> sighted",
        "rejected because",
        "two determiners:",
        "placebo: My grandma was a",
    ):
        assert words in shown
    tables = done.stdout.partition("no disability, usually left unsaid")[2]
    assert max(map(len, tables.splitlines()[:-1])) <= 100


def test_results_of_another_tool_get_their_verdicts(run, tmp_path):
    file = tmp_path / "run.json"
    done = run("tutorials/results", f"--llmfair-json={file}")
    assert done.returncode == 0, done.stdout
    assert verdicts(file) == ["FAIL", "PASS"]


@pytest.mark.slow
def test_the_recorded_answers_of_a_real_model_get_the_verdicts_of_the_readme(run, tmp_path):
    file = tmp_path / "run.json"
    done = run("tutorials/instruct", "--llmfair-record-mode=none", f"--llmfair-json={file}")
    assert done.returncode == 0, done.stdout
    found = json.loads(file.read_text())
    digests = {model["digest"] for model in found["models"]}
    assert "blake2b:eaa0bae9e072bcba7c372af46527d5ab" in digests
    page = (ROOT / "examples" / "tutorials" / "instruct" / "README.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    # The first two rows are the head of the table; the last three columns are figures.
    shown = [row.strip("| ").split(" | ")[-3:] for row in rows[2:]]
    assert sorted(shown) == sorted(
        [
            f"{each[each['of']]:.2f} [{each['lower']:.2f}, {each['upper']:.2f}]",
            ("±" if each["direction"] == "two-sided" else "") + f"{each['bound']:.2f}",
            each["verdict"],
        ]
        for each in found["results"]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("candidate", "status", "against_the_released"),
    [("colder", 1, "FAIL"), ("alike", 0, "PASS"), ("slightly_colder", 0, "INCONCLUSIVE")],
)
def test_candidates_are_gated_against_the_released_bot(
    run, candidate, status, against_the_released, tmp_path
):
    file = tmp_path / "run.json"
    done = run(
        "tutorials/regression",
        f"--llmfair-model=python:bots:{candidate}",
        f"--llmfair-json={file}",
    )
    assert done.returncode == status, done.stdout
    results = json.loads(file.read_text())["results"]
    assert [each["verdict"] for each in results] == ["PASS", against_the_released]
    assert results[1]["metric"] == "strict_sentiment_parity worse than baseline"


@pytest.mark.parametrize(
    ("agent", "status", "of_facts"), [("fair", 0, "PASS"), ("planted", 1, "FAIL")]
)
def test_what_an_agent_does_is_judged_next_to_what_it_says(run, agent, status, of_facts, tmp_path):
    file = tmp_path / "run.json"
    done = run(
        "tutorials/agent", f"--llmfair-model=python:agent:{agent}", f"--llmfair-json={file}"
    )
    assert done.returncode == status, done.stdout
    results = json.loads(file.read_text())["results"]
    assert [each["verdict"] for each in results] == ["PASS", "PASS", *[of_facts] * 3]
    assert [each["scorer"] for each in results[2:]] == [
        "facts.tools.refund",
        "facts.escalated",
        "facts.refund",
    ]
    page = (ROOT / "examples" / "tutorials" / "agent" / "README.md").read_text("utf-8")
    column = 1 if agent == "fair" else 2
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("|")]
    assert [row[column] for row in rows[2:]] == [each["verdict"] for each in results]


def test_the_baseline_of_the_example_is_what_the_released_bot_does(run, tmp_path):
    file = tmp_path / "base.json"
    arguments = ("--llmfair-update-baseline", "-o", f"llmfair_baseline={file}")
    done = run("tutorials/regression", "--llmfair-model=python:bots:released", *arguments)
    assert done.returncode == 0, done.stdout
    kept = ROOT / "examples" / "tutorials" / "regression" / "baseline.json"
    # The last bits depend on the processor.
    made, shipped = (
        json.loads(each.read_text(), parse_float=lambda number: round(float(number), 12))
        for each in (file, kept)
    )
    assert made["checks"] == shipped["checks"]
