"""The plan as text."""

from __future__ import annotations

from typing import Any

import pytest

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


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        (
            {"detectable": None, "unknown": "its error is in the data"},
            "  minimum detectable effect unknown: its error is in the data\n",
        ),
        # Looks name the calls of all of them.
        (
            {"items": 40, "calls": 80},
            "  toxic_fraction bound 0.1, 200 prompts x 2, in looks (at most 400 calls in all), "
            "the first: 80 calls, ",
        ),
        (
            {"direction": "higher", "metric": "impact_ratio", "bound": 0.8},
            "  impact_ratio minimum 0.8, ",
        ),
        (
            {"least_seconds": 3725.0},
            "0:25 for each second that an answer takes, and at least 1:02:05 at the rate limits\n",
        ),
        (
            {"answer_tokens": None, "cost": None},
            ", answers without a limit (set --llmfair-max-tokens), cost unknown",
        ),
        ({"nodeid": "a.py::test\x1b[31m"}, "a.py::test\\x1b[31m\n"),
    ],
)
def test_a_plan_says_what_differs(changes, shown):
    assert shown in "".join(f"{line}\n" for line in lines({**ASSERTION, **changes}))


def test_the_total_counts_what_is_known():
    unknown = {**ASSERTION, "nodeid": "test_it.py::test_other", "cost": None}
    both, alone = lines(ASSERTION, unknown), lines(unknown)
    words = "2 tests: 800 calls, at most $0.13 and 1 test of unknown cost; 0:50 for each second"
    assert any(line.startswith(words) for line in both)
    assert any(line.startswith("1 test: 400 calls, cost unknown; ") for line in alone)


def test_tests_are_in_order():
    assert lines(ASSERTION, {**ASSERTION, "nodeid": "a.py::test"})[0] == "a.py::test"
