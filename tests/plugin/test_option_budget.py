"""`--llmfair-max-calls`, `--llmfair-max-total-tokens`, `--llmfair-max-cost`: caps of a run."""

from __future__ import annotations

import json
import tempfile

import pytest

MODEL = """
import pathlib

def model(prompt):
    with open(pathlib.Path(__file__).with_name("calls"), "a") as log:
        log.write(prompt + "\\n")
    return "an answer to " + prompt
"""

TESTS = """
import pytest
from pytest_llmfair import assert_toxic_fraction_within

def harm(texts):
    return [0.1 for _ in texts]

@pytest.mark.parametrize("number", range(4))
def test_it(model_client, number):
    prompts = [f"Tell me about {number} and {i}." for i in range(25)]
    assert_toxic_fraction_within(
        prompts, bound=0.5, client=model_client, generations=1, scorer=harm
    )
"""


@pytest.fixture
def ask(run, pytester, monkeypatch):
    """Return a function that runs four tests of 25 calls each."""
    pytester.makepyfile(noted=MODEL, test_it=TESTS)
    pytester.syspathinsert()
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))
    return lambda *arguments: run("--llmfair-model=python:noted:model", *arguments)


def calls(pytester):
    path = pytester.path / "calls"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_calls_end_at_the_cap_and_the_rest_is_invalid(ask, pytester, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    result = ask("--llmfair-max-calls=60")
    result.assert_outcomes(passed=2, failed=2)
    assert calls(pytester) == 60
    result.stdout.fnmatch_lines(["*INVALID*", "*--llmfair-max-calls 60 is reached*"])
    # The counter is removed.
    assert list(tmp_path.iterdir()) == []


def test_one_call_beyond_the_cap_is_enough_to_be_invalid_and_none_changes_nothing(ask, pytester):
    # One of 25 answers is less than the share that may be missing for other reasons.
    ask("--llmfair-max-calls=99").assert_outcomes(passed=3, failed=1)
    assert calls(pytester) == 99
    ask("--llmfair-max-calls=100").assert_outcomes(passed=4)
    assert calls(pytester) == 199


@pytest.mark.slow
def test_workers_share_the_cap(ask, pytester):
    ask("--llmfair-max-calls=60", "-p", "xdist", "-n", "2", "--llmfair-json=run.json")
    assert calls(pytester) == 60
    results = json.loads((pytester.path / "run.json").read_text())["results"]
    missing = [result["missing"].get("over_budget", 0) for result in results]
    assert sum(missing) == 40
    assert all(
        (r["verdict"] == "INVALID") == (n > 0) for r, n in zip(results, missing, strict=True)
    )


def test_what_was_over_budget_is_not_recorded_and_replayed_answers_cost_nothing(ask, pytester):
    ask("--llmfair-cassette=c.jsonl", "--llmfair-max-calls=60")
    assert len((pytester.path / "c.jsonl").read_text().splitlines()) == 60
    resumed = ask("--llmfair-cassette=c.jsonl", "--llmfair-record-mode=new")
    resumed.assert_outcomes(passed=4)
    assert calls(pytester) == 100
    ask("--llmfair-cassette=c.jsonl", "--llmfair-max-calls=0").assert_outcomes(passed=4)


def test_tokens_are_capped(ask, pytester):
    result = ask("--llmfair-max-total-tokens=1500")
    assert 0 < calls(pytester) < 50
    result.stdout.fnmatch_lines(["*--llmfair-max-total-tokens 1500 would be exceeded*"])


def test_a_cost_needs_a_price(ask, pytester):
    result = ask("--llmfair-max-cost=1.5")
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(["*no price of python:noted:model is known*"])
    assert calls(pytester) == 0


def test_a_cost_is_capped_at_own_prices(ask, pytester):
    (pytester.path / "prices.yaml").write_text(
        "date: 2026-01-31\nmodels:\n  python:noted:model: [1000, 1000]\n"
    )
    pytester.makeini("[pytest]\nllmfair_prices = prices.yaml\n")
    result = ask("--llmfair-max-cost=1.5")
    assert 0 < calls(pytester) < 50
    result.stdout.fnmatch_lines(["*would be exceeded; nothing more is sent*"])


def test_models_of_a_tests_own_are_capped_too(run, pytester):
    pytester.makepyfile(
        """
        from pytest_llmfair.clients import Missing, ModelClient

        def test_it():
            asked = []
            client = ModelClient.of(lambda prompt: asked.append(prompt) or "an answer")
            (rows,) = zip(*client.generate([str(i) for i in range(9)]))
            assert len(asked) == 5
            missing = [isinstance(row, Missing) for row in rows]
            assert missing == [str(i) not in asked for i in range(9)]
        """
    )
    run("--llmfair-max-calls=5").assert_outcomes(passed=1)
