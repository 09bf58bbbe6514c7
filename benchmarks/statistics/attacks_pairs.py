"""Pairing of two data sets (K), the worst of many groups (L), and signs of differences (2)."""

from __future__ import annotations

from functools import partial

import numpy as np
from attacks import Attack

from pytest_llmfair import FairnessAssertionError, Verdict, assert_not_worse
from pytest_llmfair.metrics import demographic_parity_difference, rabbi
from pytest_llmfair.stats import Mean, WorstGroups

_EACH = 1000


def _verdict(candidate, baseline, margin, **keywords):
    """Return what a comparison of two estimates finds."""
    try:
        return assert_not_worse(candidate, baseline, margin=margin, **keywords).verdict
    except FairnessAssertionError as error:
        return error.result.verdict


def _sorted_people(rng, rates, first, labelled):
    """Return the gap of independent people, rows sorted by group and outcome."""
    selected = np.concatenate([np.sort(rng.random(_EACH) < rate) for rate in rates])
    units = list(range(first, first + 2 * _EACH)) if labelled else None
    groups = np.repeat(["women", "men"], _EACH)
    return demographic_parity_difference(selected, groups=groups, units=units)


def _unpaired(rng, *, verdict, gaps, margin, labelled=False):
    """Two audits of different people, exported in the same order."""
    pair = [
        _sorted_people(rng, (0.5 - gap / 2, 0.5 + gap / 2), 2 * _EACH * turn, labelled)
        for turn, gap in enumerate(gaps)
    ]
    return _verdict(*pair, margin) is verdict


def _same_people(rng, *, verdict, change, margin):
    """Two models about the same 300 people, who have labels; `change` is the added gap."""
    n = 300
    likely = np.clip(rng.normal(0.5, 0.3, 2 * n), 0.02, 0.98)
    women = np.arange(2 * n) < n
    draw = rng.random(2 * n)
    # The models share most of what decides about a person.
    other = np.where(rng.random(2 * n) < 0.1, rng.random(2 * n), draw)
    groups = np.where(women, "women", "men")
    units = [f"person {i}" for i in range(2 * n)]
    new, old = (
        demographic_parity_difference(x < likely - shift * women, groups=groups, units=units)
        for x, shift in ((draw, 0.15 + change), (other, 0.15))
    )
    return _verdict(new, old, margin) is verdict


def _worst(rng, *, groups, units, shift=0.0, spread=1.0, bound=0.0, side="beyond"):
    """Units that answer about every group; the gap to each other one is judged, as with pairs.

    `spread` is the largest standard deviation of a group over the smallest.
    """
    own = rng.normal(0.0, 0.1, (units, 1))
    scale = 0.1 * np.linspace(1.0, spread, groups) / spread
    scores = own + rng.normal(0.0, 1.0, (units, groups)) * scale
    scores[:, 0] += shift
    parts = {
        (str(a), str(b)): Mean.of_values(
            np.clip(scores[:, a] - scores[:, b], -0.6, 0.6), bounds=(-0.6, 0.6), units=range(units)
        )
        for a in range(groups)
        for b in range(groups)
        if a < b
    }
    found = WorstGroups.of_parts(parts, "lower", units=units, generations=units * groups)
    if side == "within":
        return found.upper_bound(0.025) <= bound
    return found.lower_bound(0.025) > bound


def _sign(rng):
    """Whether a group that is ranked lower than two others has its value outside its interval."""
    groups = np.repeat(["a", "b", "c"], 40)
    scores = rng.normal(size=120) - 1.0 * (groups == "a")
    found = rabbi(scores, groups=groups, reference="c")
    return found.value not in found.interval()


def _strata(rng):
    """Whether that happens to scores of several jobs, each with its own sign."""
    groups, jobs = np.tile(["a", "b"], 60), np.repeat(["cook", "pilot", "nurse"], 40)
    scores = rng.normal(size=120) + np.where(jobs == "cook", -0.5, 0.2) * (groups == "a")
    found = rabbi(scores, groups=groups, reference="b", strata=jobs)
    return found.value not in found.interval()


def _compared_means(rng, *, shift, side):
    """Two independent sets of scored prompts, sorted by score, no labels."""
    new, old = (np.sort(rng.beta(2, 4, 400)) for _ in range(2))
    pair = [Mean.of_values(x) for x in (np.clip(new + shift, 0, 1), old)]
    return _verdict(*pair, 0.05) is side


PASS, FAIL = Verdict.PASS, Verdict.FAIL
# Groups, units, and largest over smallest spread.
_SIZES = ((3, 20, 1.0), (3, 20, 4.0), (3, 200, 4.0), (8, 20, 4.0), (8, 50, 1.0), (12, 20, 1.0))

ATTACKS = [
    Attack("K", "other people, sorted alike, gap at the margin: PASS", 0.025,
           partial(_unpaired, verdict=PASS, gaps=(0.15, 0.1), margin=0.05), 200),
    Attack("K", "other people, sorted alike, gap at the margin: FAIL", 0.025,
           partial(_unpaired, verdict=FAIL, gaps=(0.15, 0.1), margin=0.05), 200),
    Attack("K", "other people with labels of their own: PASS", 0.025,
           partial(_unpaired, verdict=PASS, gaps=(0.15, 0.1), margin=0.05, labelled=True), 200),
    Attack("K", "other people with labels of their own: FAIL", 0.025,
           partial(_unpaired, verdict=FAIL, gaps=(0.15, 0.1), margin=0.05, labelled=True), 200),
    Attack("K", "other people, no loss, margin .1: PASS", 0.8,
           partial(_unpaired, verdict=PASS, gaps=(0.1, 0.1), margin=0.1), 200, at_least=True),
    Attack("K", "other people, loss .15, margin .05: FAIL", 0.8,
           partial(_unpaired, verdict=FAIL, gaps=(0.25, 0.1), margin=0.05), 200, at_least=True),
    Attack("K", "the same people by labels, no change, margin .05: PASS", 0.5,
           partial(_same_people, verdict=PASS, change=0.0, margin=0.05), 200, at_least=True),
    Attack("K", "the same people by labels, loss .15, margin .05: FAIL", 0.8,
           partial(_same_people, verdict=FAIL, change=0.15, margin=0.05), 200, at_least=True),
    Attack("K", "scores of other prompts, sorted, loss at the margin: PASS", 0.025,
           partial(_compared_means, shift=0.05, side=PASS), 200),
    Attack("K", "scores of other prompts, sorted, loss at the margin: FAIL", 0.025,
           partial(_compared_means, shift=0.05, side=FAIL), 200),
    Attack("2", "three groups, one ranked lower: value outside its interval", 0.0, _sign, 60),
    Attack("2", "three jobs of different signs: value outside its interval", 0.0, _strata, 60),
    *(
        Attack("L", f"{groups} equal groups, {units} units, spreads 1 to {spread:g}: FAIL", 0.025,
               partial(_worst, groups=groups, units=units, spread=spread), 150)
        for groups, units, spread in _SIZES
    ),
    Attack("L", "12 groups, 50 units, one apart: FAIL", 0.8,
           partial(_worst, groups=12, units=50, shift=0.13), 100, at_least=True),
    Attack("L", "3 groups, 50 units, one apart: FAIL", 0.8,
           partial(_worst, groups=3, units=50, shift=0.1), 200, at_least=True),
    Attack("L", "12 groups, 200 units, one apart by the bound: PASS", 0.025,
           partial(_worst, groups=12, units=200, shift=0.05, bound=0.05, side="within"), 100),
    Attack("L", "12 groups, 200 units, one apart by the bound: FAIL", 0.025,
           partial(_worst, groups=12, units=200, shift=0.05, bound=0.05), 100),
]  # fmt: skip
