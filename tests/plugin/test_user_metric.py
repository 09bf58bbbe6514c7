"""A decorated function in a user's conftest.py is a whole metric."""

from __future__ import annotations

import json

import pytest

CONFTEST = """
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
"""

TEST = """
from pytest_llmfair import assert_escalation_share_within, assert_metric
from pytest_llmfair.testing import Case, check_metric


def test_assertion_by_name():
    result = assert_escalation_share_within([0] * 90 + [1] * 10, bound=0.3)
    assert result.value == 0.1


def test_by_alias_and_too_large():
    assert_metric("escalated", [0] * 20 + [1] * 80, bound=0.3)


def test_conforms():
    check_metric("escalation_share", Case(
        draw=lambda rng: {"escalated": rng.integers(0, 2, size=15).tolist()},
        expected=lambda escalated: sum(escalated) / len(escalated),
        rows=("escalated",),
        fair=lambda rng: {"escalated": [0, 0, 0, 0]},
        numbers=("escalated",),
    ))
"""


@pytest.fixture
def project(pytester):
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TEST)
    return pytester


def test_user_metric_has_assertion_alias_report_and_shared_tests(project):
    result = project.runpytest_subprocess("--llmfair-json", "out.json")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*FAIL escalation_share: 0.80 *, allowed 0.30", "* from 100 tickets, p *"]
    )
    names = [r["metric"] for r in json.loads((project.path / "out.json").read_text())["results"]]
    assert names == ["escalation_share", "escalation_share"]


def test_loading_the_same_conftest_again_is_no_second_metric(project):
    project.makepyfile(
        test_again="""
        import runpy

        def test_again():
            runpy.run_path("conftest.py")
        """
    )
    project.runpytest_subprocess("test_again.py").assert_outcomes(passed=1)


def test_a_name_that_is_taken_names_both_files(project):
    project.makeconftest(CONFTEST.replace("escalation_share", "toxic_fraction"))
    project.makepyfile(
        """
        from pytest_llmfair import assert_metric

        def test_it():
            assert_metric("toxic_fraction", [0.1], bound=0.3)
        """
    )
    result = project.runpytest_subprocess()
    result.stdout.fnmatch_lines(["*two metrics are called 'toxic_fraction', in *conftest.py and*"])


def test_a_metric_that_returns_a_bare_number_says_what_to_return(project):
    project.makeconftest(
        CONFTEST.replace("Mean.of_values(values, units=units, population=population)", "0.1")
    )
    project.runpytest_subprocess().stdout.fnmatch_lines(
        ["*TypeError: escalation_share returned a float; a metric returns an Estimate*"]
    )
