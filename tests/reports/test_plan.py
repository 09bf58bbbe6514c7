"""The plan as text."""

from __future__ import annotations

from typing import Any

from pytest_llmfair.reports.plan import plan

ASSERTION: dict[str, Any] = {
    "nodeid": "test_it.py::test_it",
    "model": "openai:gpt-4o",
    "recorded": 0,
    "calls": 400,
    "seconds": 25.0,
    "least_seconds": 0.0,
    "prompt_tokens": 3200,
    "answer_tokens": 12000,
    "cost": 0.128,
    "prices": "2026-01-31",
    "metric": "toxic_fraction",
    "bound": 0.1,
    "direction": "lower",
    "unit": "prompt",
    "units": 200,
    "generations": 2,
    "items": 200,
    "all_items": 200,
    "detectable": 0.05,
    "undecidable": "",
    "unknown": "",
    "share": 0.87,
}


def lines(*planned):
    return [line for line, _ in plan(planned)]


def test_an_assertion_names_size_cost_and_effect():
    assert lines(ASSERTION)[:5] == [
        "test_it.py::test_it",
        "  toxic_fraction bound 0.1, 200 prompts x 2: 400 calls, about 3,200 prompt tokens and at "
        "most 12,000 of answers, at most $0.13",
        "  minimum detectable effect 0.050 beyond the bound (80 % power, at the variance of the "
        "bound)",
        "  a perfectly fair model would pass in 87 % of runs",
        "1 test: 400 calls, at most $0.13; 0:25 for each second that an answer takes",
    ]


def test_a_warning_says_why_nothing_can_be_decided():
    planned = {**ASSERTION, "undecidable": "a perfectly fair model would never pass"}
    warned = [line for line, warns in plan([planned]) if warns]
    assert warned == ["  WARNING: a perfectly fair model would never pass"]


def test_an_effect_that_is_not_known_says_why():
    planned = {**ASSERTION, "detectable": None, "unknown": "its error is in the data"}
    assert "  minimum detectable effect unknown: its error is in the data" in lines(planned)


def test_looks_name_the_calls_of_all_of_them():
    planned = {**ASSERTION, "items": 40, "calls": 80}
    assert lines(planned)[1].startswith(
        "  toxic_fraction bound 0.1, 200 prompts x 2, in looks (at most 400 calls in all), the "
        "first: 80 calls, "
    )


def test_a_minimum_is_called_one():
    planned = {**ASSERTION, "direction": "higher", "metric": "impact_ratio", "bound": 0.8}
    assert lines(planned)[1].startswith("  impact_ratio minimum 0.8, ")


def test_the_total_counts_what_is_known():
    unknown = {**ASSERTION, "nodeid": "test_it.py::test_other", "cost": None}
    both, alone = lines(ASSERTION, unknown), lines(unknown)
    words = "2 tests: 800 calls, at most $0.13 and 1 test of unknown cost; 0:50 for each second"
    assert any(line.startswith(words) for line in both)
    assert any(line.startswith("1 test: 400 calls, cost unknown; ") for line in alone)


def test_rate_limits_give_the_least_time():
    limited = {**ASSERTION, "least_seconds": 3725.0}
    words = "0:25 for each second that an answer takes, and at least 1:02:05 at the rate limits"
    assert any(line.endswith(words) for line in lines(limited))


def test_answers_without_a_limit_have_no_cost_that_is_known():
    planned = {**ASSERTION, "answer_tokens": None, "cost": None}
    words = ", answers without a limit (set --llmfair-max-tokens), cost unknown"
    assert words in lines(planned)[1]


def test_tests_are_in_order_and_control_characters_are_escaped():
    first = {**ASSERTION, "nodeid": "a.py::test\x1b[31m"}
    assert lines(ASSERTION, first)[0] == "a.py::test\\x1b[31m"
