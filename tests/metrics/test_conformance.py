"""Every registered metric passes the shared tests, against a formula written out slowly."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

from pytest_llmfair import FairnessAssertionError, Verdict, assert_within
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.facts import estimate as shown_estimate
from pytest_llmfair.metrics import all_metrics, get_metric
from pytest_llmfair.reports.plots import forest
from pytest_llmfair.testing import check_metric


def every_case():
    found = {}
    for path in sorted(Path(__file__).parent.glob("cases_*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        twice = set(found) & set(module.CASES)
        assert not twice, f"{path.name} has a second case of {twice}"
        found |= module.CASES
    return found


CASES = every_case()


def test_every_metric_has_a_case():
    assert sorted(CASES) == list(all_metrics())


@pytest.mark.parametrize("name", CASES)
def test_metric_conforms(name):
    check_metric(name, CASES[name], draws=4)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_metric_conforms_on_many_data_sets(name):
    check_metric(name, CASES[name])


SEEDS = range(4)


def bounds_of(info, estimate):
    """Return bounds near the interval, at which verdicts are likely to differ."""
    ends = estimate.interval()
    for x in (ends.lower, estimate.value, ends.upper, 0.5 * (ends.lower + ends.upper)):
        bound = x
        if info.direction == "two-sided":
            scale = Bound(0.0, "two-sided", info.fair_value, info.scale)
            bound = scale.distance_of(x)
        if math.isfinite(bound):
            yield bound * 1.02, bound * 0.98


def judged(estimate, bound):
    try:
        return assert_within(estimate, bound, mode="gate")
    except FairnessAssertionError as error:
        return error.result


@pytest.mark.parametrize("name", CASES)
def test_every_number_shown_is_of_the_quantity_that_is_judged(name):
    info, seen = get_metric(name), 0
    for seed in SEEDS:
        estimate = info.function(**CASES[name].draw(np.random.default_rng(seed)))
        if estimate.undefined is not None:
            continue
        for row in estimate.table():
            assert_inside(row["value"], row)
        for bound in {x for pair in bounds_of(info, estimate) for x in pair}:
            try:
                result = judged(estimate, bound)
            except ValueError:
                continue  # No data could exceed this bound.
            seen += 1
            record = result.to_dict()
            assert_inside(shown_estimate(record), record)
            limit = Bound(bound, record["direction"], record["fair_value"], record["scale"])
            value = float(shown_estimate(record))
            assert result.verdict is not Verdict.PASS or limit.allows(value)
            assert result.verdict is not Verdict.FAIL or not limit.allows(value)
            _, [marks] = forest([record])
            if None not in (marks.lower, marks.value, marks.upper):
                assert marks.lower <= marks.value <= marks.upper
    assert seen


def assert_inside(value, row):
    if value is None or row["lower"] is None or math.isnan(row["lower"]):
        return
    low, high = float(row["lower"]), float(row["upper"])
    assert low - 1e-9 <= float(value) <= high + 1e-9
