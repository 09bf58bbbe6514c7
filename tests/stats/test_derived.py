"""An estimate times a known factor."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair.stats import RankBiserial, RateDifference, Scaled, Undefined

RNG = np.random.default_rng(0)
BASE = RankBiserial.of_scores(RNG.normal(size=30) + 0.5, RNG.normal(size=30))


def test_everything_is_multiplied():
    half = Scaled.times(BASE, 0.5)
    assert half.value == BASE.value / 2
    assert half.attainable == (-0.5, 0.5)
    assert half.interval().lower == BASE.interval().lower / 2
    assert half.interval().upper == BASE.interval().upper / 2
    assert half.standard_error() == BASE.standard_error() / 2
    assert half.standard_error(0.2) == BASE.standard_error(0.4) / 2
    assert half.debiased == BASE.debiased / 2
    assert half.sample == BASE.sample


def test_contributions_still_add_up_to_the_value():
    half = Scaled.times(BASE, 0.5)
    assert half.contributions.values.mean() == pytest.approx(half.value)
    assert half.contributions.reach == BASE.contributions.reach / 2


def test_floor_and_bounds_are_multiplied():
    base = RateDifference.of_outcomes([0, 1] * 10, [0, 0, 1] * 10)
    third = Scaled.times(base, 1 / 3)
    assert third.noise_floor() == pytest.approx(base.noise_floor() / 3)
    share = base.fair_passes((-math.inf, 0.6), 0.0, 0.025)(2.0)
    assert 0.0 < share < 1.0
    assert third.fair_passes((-math.inf, 0.2), 0.0, 0.025)(2.0) == pytest.approx(share)


def test_a_multiple_of_an_undefined_estimate_is_undefined():
    scaled = Scaled.times(Undefined(undefined="no rows", sample=BASE.sample), 2.0)
    assert scaled.undefined == "no rows"
    assert np.isnan(scaled.value)
