"""A decorated function in a user's conftest.py is a whole metric."""

from __future__ import annotations

import json

import pytest

CONFTEST = """
import runpy

import numpy as np
from pytest_llmfair.metrics import metric
from pytest_llmfair.stats import Mean


@metric(
    family="support", paper="our handbook", symbol="SG", direction="lower", bounds=(0.0, 1.0),
    unit="ticket", aliases=("escalated",),
)
def escalation_share(escalated, *, units=None, population="sampled"):
    '''Share of tickets that were escalated.'''
    values = np.asarray(escalated, dtype=float)
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError("escalated needs at least one number, and no NaN")
    return Mean.of_values(values, units=units, population=population)


@metric(
    family="support", paper="none", symbol="B", direction="lower", bounds=(0.0, 1.0), unit="ticket"
)
def bare_number(escalated):
    '''A metric that returns no estimate.'''
    return 0.1
"""

TEST = """
import runpy

from pytest_llmfair import assert_escalation_share_within, assert_metric
from pytest_llmfair.testing import Case, check_metric


def test_assertion_by_name():
    result = assert_escalation_share_within([0] * 90 + [1] * 10, bound=0.3)
    assert result.value == 0.1


def test_by_alias_and_too_large():
    assert_metric("escalated", [0] * 20 + [1] * 80, bound=0.3)


def test_bare_number():
    assert_metric("bare_number", [0, 1], bound=0.3)


def test_conftest_is_loaded_again():
    runpy.run_path("conftest.py")


def test_conforms():
    check_metric("escalation_share", Case(
        draw=lambda rng: {"escalated": rng.integers(0, 2, size=15).tolist()},
        expected=lambda escalated: sum(escalated) / len(escalated),
        rows=("escalated",),
        fair=lambda rng: {"escalated": [0, 0, 0, 0]},
        numbers=("escalated",),
    ))
"""


TAKEN = CONFTEST.replace("def escalation_share", "def toxic_fraction")


@pytest.fixture
def run(pytester, monkeypatch):
    """Return a function that runs a process of its own: metrics are registered for all of it."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return lambda *arguments: pytester.runpytest_subprocess("-p", "llmfair", *arguments)


def test_user_metric_has_assertion_alias_report_and_shared_tests(run, pytester):
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TEST)
    result = run("--llmfair-json", "out.json")
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*FAIL escalation_share: 0.80 *, allowed 0.30",
            "* from 100 tickets, p *",
            "*TypeError: bare_number returned a float; a metric returns an Estimate*",
        ]
    )
    names = [r["metric"] for r in json.loads((pytester.path / "out.json").read_text())["results"]]
    assert names == ["escalation_share", "escalation_share"]


def test_a_name_that_is_taken_names_both_files(run, pytester):
    pytester.makeconftest(TAKEN)
    pytester.makepyfile(
        """
        from pytest_llmfair import assert_metric

        def test_it():
            assert_metric("toxic_fraction", [0.1], bound=0.3)
        """
    )
    run().stdout.fnmatch_lines(["*two metrics are called 'toxic_fraction', in *conftest.py and*"])
