from __future__ import annotations

import math
import random
from statistics import NormalDist

import pytest

from pytest_llmfair.stats.sequential import Spending, obrien_fleming


def boundary(nominal):
    return -NormalDist().inv_cdf(nominal)


def test_five_equal_looks_have_the_published_boundaries():
    # Lan and DeMets (1983), O'Brien-Fleming type, one-sided .025.
    spending = Spending(0.025)
    found = [boundary(spending.look(k / 5)) for k in range(1, 6)]
    assert found == pytest.approx([4.877, 3.357, 2.680, 2.290, 2.031], abs=2e-3)


def test_a_single_look_at_everything_is_the_fixed_test():
    assert Spending(0.025).look(1.0) == pytest.approx(0.025, abs=1e-6)


def test_all_of_the_error_is_spent_at_the_end():
    assert obrien_fleming(0.025, 1.0) == pytest.approx(0.025)
    assert obrien_fleming(0.025, 0.2) < 1e-5


@pytest.mark.parametrize("fractions", [(0.5, 1.0), (0.1, 0.35, 0.4, 0.9, 1.0)])
def test_irregular_looks_keep_the_error_rate(fractions):
    spending = Spending(0.1)
    boundaries = [boundary(spending.look(t)) for t in fractions]
    draw = random.Random(1)
    stopped = 0
    runs = 20_000
    for _ in range(runs):
        path = previous = 0.0
        for t, limit in zip(fractions, boundaries, strict=True):
            path += draw.gauss(0, math.sqrt(t - previous))
            previous = t
            if path / math.sqrt(t) > limit:
                stopped += 1
                break
    assert stopped / runs == pytest.approx(0.1, abs=0.008)


@pytest.mark.parametrize("second", [0.4, 0.2, 1.1])
def test_a_look_without_new_evidence_or_beyond_the_plan_is_refused(second):
    spending = Spending(0.025)
    spending.look(0.4)
    with pytest.raises(ValueError, match="every look needs new evidence"):
        spending.look(second)
