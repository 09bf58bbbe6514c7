"""`--llmfair-plan`: nothing is asked, and every test says what it would ask for."""

from __future__ import annotations

import json

import pytest

TESTS = """
import pytest
from pytest_llmfair import assert_counterfactual_invariance, assert_toxic_fraction_within

def model(prompt):
    raise SystemExit("asked")

def harm(texts):
    return [0.1 for _ in texts]

PROMPTS = [f"Tell me about number {i:03}." for i in range(200)]

def test_many(model_client):
    assert_toxic_fraction_within(
        PROMPTS, bound=0.1, client=model_client, generations=2, scorer=harm
    )

def test_few(model_client):
    assert_toxic_fraction_within(
        PROMPTS[:5], bound=0.1, client=model_client, generations=2, scorer=harm
    )

def test_pairs(model_client, counterfactual_pairs):
    pairs = counterfactual_pairs([f"She said number {i}." for i in range(50)])
    assert_counterfactual_invariance(pairs, eps=0.2, client=model_client, sequential="obf")

def test_checks(fairness):
    fairness.collect(PROMPTS, generations=3)
    fairness.check("toxic_fraction", bound=0.6, scorer=harm)

def test_nothing_of_ours():
    pass

def test_collected_already():
    assert_toxic_fraction_within([[0.1]] * 200, bound=0.1)
"""


@pytest.fixture
def plan(run, pytester):
    """Return a function that plans six tests."""
    pytester.makepyfile(test_it=TESTS)
    pytester.makeini("[pytest]\nllmfair_max_tokens = 30\n")
    return lambda *arguments: run(
        "--llmfair-plan", "--llmfair-model=python:test_it:model", "-rs", *arguments
    )


def test_every_test_stops_at_its_first_request_and_its_plan_is_printed(plan, pytester):
    result = plan("--llmfair-json=run.json")
    result.assert_outcomes(skipped=4, passed=2)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["SKIPPED*planned*"])
    # 200 prompts of 28 letters are about 8 tokens each; the answers have at most 30.
    result.stdout.fnmatch_lines(
        [
            "*fairness plan: nothing was asked*",
            "test_it.py::test_checks",
            "  answers of python:test_it:model, not yet for an assertion: 600 calls*",
            "  its detectable effect is not known before its assertion",
            "test_it.py::test_few",
            "  toxic_fraction bound 0.1, 5 prompts x 2: 10 calls*",
            "  WARNING: a perfectly fair model would practically never pass *prompts*",
            "test_it.py::test_many",
            "  toxic_fraction bound 0.1, 200 prompts x 2: 400 calls, about * prompt tokens and at "
            "most 12,000 of answers, cost unknown",
            "  minimum detectable effect 0.* beyond the bound *",
            "test_it.py::test_pairs",
            "  counterfactual invariance (gender, 1 - ROUGE-L) bound 0.2, 50 pairs x 2, in looks "
            "(at most 200 calls in all), the first: 40 calls*",
            "4 tests: 1,050 calls, cost unknown; 17:30 for each second that an answer takes",
            "Every test was stopped at its first request. Later requests and retries are not *",
        ]
    )
    assert result.stdout.str().count("WARNING") == 1
    results = json.loads((pytester.path / "run.json").read_text())["results"]
    assert [each["nodeid"] for each in results] == ["test_it.py::test_collected_already"]


def test_a_cost_is_printed_where_there_is_a_price(plan, pytester):
    (pytester.path / "prices.yaml").write_text(
        "date: 2026-01-31\nmodels:\n  python:test_it:model: [0, 10]\n"
    )
    result = plan("-k", "many", "-o", f"llmfair_prices={pytester.path / 'prices.yaml'}")
    # 12,000 tokens at 10 dollars a million.
    result.stdout.fnmatch_lines(
        [
            "*400 calls, *at most 12,000 of answers, at most $0.12",
            "1 test: 400 calls, at most $0.12; *",
        ]
    )
    result.stdout.fnmatch_lines(["Costs at the prices of 2026-01-31*"])


def test_a_comparison_plans_the_calls_of_both_models(run, pytester):
    pytester.makepyfile(
        """
        from pytest_llmfair import assert_not_worse

        def candidate(prompt):
            raise SystemExit("asked")

        def baseline(prompt):
            raise SystemExit("asked")

        def test_it(counterfactual_pairs):
            pairs = counterfactual_pairs([f"She said number {i}." for i in range(50)])
            assert_not_worse(
                "strict_sentiment_parity",
                pairs,
                candidate=candidate,
                baseline=baseline,
                margin=0.02,
                generations=2,
            )
        """
    )
    result = run("--llmfair-plan")
    result.assert_outcomes(skipped=1)
    metric = "strict_sentiment_parity margin 0.02, 50 pairs x 2 of the"
    result.stdout.fnmatch_lines(
        [
            f"  {metric} candidate: 200 calls*",
            f"  {metric} baseline: 200 calls*",
            "1 test: 400 calls, cost unknown; *",
        ]
    )
    assert result.stdout.str().count("test_a_comparison_plans_the_calls_of_both_models.py::") == 1


def test_recorded_answers_are_not_planned(run, pytester):
    test = """
        def test_it(model_client):
            model_client.generate([f"prompt {i}" for i in range(COUNT)], n=2)
    """
    pytester.makepyfile(test_it=test.replace("COUNT", "4"))
    run("--llmfair-cassette=c.jsonl").assert_outcomes(passed=1)
    run("--llmfair-cassette=c.jsonl", "--llmfair-plan").assert_outcomes(passed=1)
    pytester.makepyfile(test_it=test.replace("COUNT", "6"))
    result = run("--llmfair-cassette=c.jsonl", "--llmfair-record-mode=new", "--llmfair-plan")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*: 4 calls*", "  recorded already*: 8 answers"])


@pytest.mark.slow
def test_the_plan_of_workers_is_the_same(plan, pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))

    def printed(*arguments):
        lines = plan(*arguments).outlines
        start = next(i for i, line in enumerate(lines) if "fairness plan" in line)
        return [line for line in lines[start:] if not line.startswith(("=", "SKIPPED"))]

    assert printed("-p", "xdist", "-n", "2") == printed()


def test_a_request_at_import_is_left_too(run, pytester):
    pytester.makepyfile(
        """
        from pytest_llmfair.clients import ModelClient

        def model(prompt):
            raise SystemExit("asked")

        ANSWERS = ModelClient.of(model).generate(["a prompt"])

        def test_it():
            assert ANSWERS
        """
    )
    result = run("--llmfair-plan")
    result.assert_outcomes(skipped=1)
