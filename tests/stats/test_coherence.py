"""What holds for every kind of estimate, on random data with every shape of units."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np
import pytest

from pytest_llmfair.stats import (
    BettingMean,
    BinomialSkew,
    Distance,
    FairPairRatio,
    JackknifeEstimate,
    MaxPairwiseDifference,
    MaxPairwiseRatio,
    Mean,
    MeanAbsLogRatio,
    MeanDifference,
    MeanLogRatio,
    MeanMaximum,
    MetricDistance,
    PairedDifference,
    RankBiserial,
    RateDifference,
    RateRatio,
    Scaled,
    distribution_gaps,
    rate_gaps,
)
from pytest_llmfair.stats.crossed import over_factors
from pytest_llmfair.stats.crossed_mean import over_levels

LEVELS = (0.5, 0.6827, 0.8, 0.85, 0.9, 0.95, 0.975, 0.98, 0.99, 0.999)


@dataclass
class Data:
    """Rows of three groups with their units; `names` are those of the groups."""

    scores: np.ndarray
    group: np.ndarray
    unit: np.ndarray
    hits: np.ndarray
    sums: np.ndarray
    names: tuple[str, ...] = ("a", "b", "c")
    unit_name: str = "u"

    @classmethod
    def drawn(cls, seed, rows=18):
        rng = np.random.default_rng(seed)
        group = np.arange(rows) % 3
        # Units hold several groups, one group, or one row.
        unit = (rng.integers(0, int(rng.integers(1, rows)), rows), np.arange(rows))[seed % 2]
        scores = rng.random(rows).round(int(rng.integers(0, 4)))
        hits = rng.integers(0, 13, rows)
        return cls(scores, group, unit, hits, rng.poisson(1.0, (rows, 4)).astype(float))

    def mixed(self):
        """Return the same rows in another order, with other names."""
        order = np.random.default_rng(0).permutation(len(self.scores))
        columns = ("scores", "group", "unit", "hits", "sums")
        moved = {name: getattr(self, name)[order] for name in columns}
        return replace(self, **moved, names=("z", "x", "y"), unit_name="another ")

    def swapped(self):
        """Return the same rows with the first two groups exchanged."""
        return replace(self, group=np.array([1, 0, 2])[self.group])

    @property
    def labels(self):
        return [self.names[g] for g in self.group]

    @property
    def units(self):
        return [f"{self.unit_name}{u}" for u in self.unit]

    def sides(self, values):
        """Return rows and units of the first two groups."""
        units = np.array(self.units)
        (a, b) = (self.group == 0), (self.group == 1)
        return (values[a], values[b]), {"units_a": units[a], "units_b": units[b]}

    @property
    def outcomes(self):
        return (self.scores > 0.6).astype(float)


def two(make, values="scores", **options):
    """Build a kind that compares two groups."""

    def kind(data):
        rows, units = data.sides(getattr(data, values))
        return make(*rows, **units, **options)

    return kind


def log_ratios(sums):
    return np.log(sums[:, :2]) - np.log(sums[:, 2:])


def of_measure(kind):
    def make(data):
        def gap(rows, group):
            # Groups are numbered in order of appearance, so that the gap must be absolute.
            means = [data.scores[rows[group == g]].mean() for g in range(3)]
            return float(np.ptp(means))

        codes = np.unique(data.scores, return_inverse=True)[1]
        return kind.of_measure(gap, data.labels, codes, units=range(len(codes)))

    return make


def ratios(data):
    names = sorted(set(data.names))
    x = {name: data.outcomes[np.array(data.labels) == name] for name in names}
    return MaxPairwiseRatio.of_pairs(
        {
            (a, b): RateRatio.of_outcomes(x[a], x[b], form="smaller")
            for a, b in combinations(names, 2)
        }
    )


QUICK = {
    "mean": lambda d: Mean.of_values(d.scores, units=d.units),
    "share": lambda d: Mean.of_indicators(d.outcomes, units=d.units),
    "maximum": lambda d: MeanMaximum.of_generations(d.sums / 10.0, units=d.units),
    "difference": two(RateDifference.of_outcomes, "outcomes"),
    "signed difference": two(RateDifference.of_outcomes, "outcomes", absolute=False),
    "ratio": two(RateRatio.of_outcomes, "outcomes"),
    "folded ratio": two(RateRatio.of_outcomes, "outcomes", form="smaller"),
    "mean difference": two(MeanDifference.of_scores),
    "ranks": two(RankBiserial.of_scores),
    "log ratio": lambda d: MeanLogRatio.of_sums(d.sums, log_ratios, units=d.units),
    "skew": lambda d: BinomialSkew.of_binomials(d.hits, [12] * len(d.hits)),
    "sampled skew": lambda d: BinomialSkew.of_binomials(
        d.hits, [12] * len(d.hits), population="sampled"
    ),
    "scaled": lambda d: Scaled.times(Mean.of_values(d.scores, units=d.units), 0.5),
    "jackknife": lambda d: JackknifeEstimate.of_values(d.scores, units=d.units),
    "two models": lambda d: PairedDifference.between(
        Mean.of_values(d.scores, units=d.units),
        Mean.of_values(d.outcomes, units=d.units),
        folded=False,
    ),
}
RESAMPLED = {
    "distributions": two(Distance.of_distributions),
    "neutrality": lambda d: Distance.of_binomials(d.hits, [12] * len(d.hits)),
    "sampled neutrality": lambda d: Distance.of_binomials(
        d.hits, [12] * len(d.hits), population="sampled", units=d.units
    ),
    "divergence": lambda d: Distance.of_divergence(
        (d.scores * 3).round().astype(int).tolist(),
        [d.labels[k] if g else d.names[1] for k, g in enumerate(d.group)],
        units=d.units,
    ),
    "associations": lambda d: Distance.of_associations(
        np.stack([d.sums[:, :2], d.sums[:, 2:]], axis=1), units=d.units
    ),
    "rate gaps": lambda d: rate_gaps(
        d.outcomes, np.ones(len(d.scores)), d.labels, against="pairs", factor=1.0, units=d.units
    ),
    "score gaps": lambda d: distribution_gaps(
        d.scores, d.labels, against="rest", factor=0.5, units=d.units
    ),
    "widest": lambda d: MaxPairwiseDifference.of_rates(d.outcomes, d.labels, units=d.units),
    "metric": of_measure(MetricDistance),
    "fairpair": lambda d: FairPairRatio.of_dissimilarities(
        [abs(row[:, None] - row) for row in np.hstack([d.sums, d.scores[:, None]])],
        [2] * len(d.sums),
    ),
}
KINDS = QUICK | RESAMPLED


def crossed(join):
    """Build a mean over six items in three or more wordings, some cells empty."""

    def kind(data):
        rng = np.random.default_rng(data.hits.tolist())
        cells = np.flatnonzero(rng.random(24) < 0.9)
        factors = {"item": cells // 4, "wording": cells % 4}
        scores = rng.random(6)[cells // 4] * 0.5 + rng.random(len(cells)) * 0.5
        return join(scores, {name: levels.tolist() for name, levels in factors.items()})

    return kind


def two_way(scores, factors):
    def mean(units):
        return Mean.of_values(scores, units=units)

    return over_factors(mean, factors, ["all"] * len(scores))


def over_items(scores, factors):
    return over_levels(Mean.of_values(scores, units=list(range(len(scores)))), factors)


# Their intervals are right to rounding only, or depend on the order as they should.
INEXACT = {
    "ratio of three": ratios,
    "abs log ratio": lambda d: MeanAbsLogRatio.of_log_ratio(
        MeanLogRatio.of_sums(d.sums + 0.5, log_ratios, units=d.units)
    ),
    "jackknife of rows": of_measure(JackknifeEstimate),
    "betting": lambda d: BettingMean.of_values(d.scores, units=d.units),
    "two-way mean": crossed(two_way),
    "crossed mean": crossed(over_items),
}


def defined(name, seeds=30):
    """Yield estimates of a kind on several data sets."""
    for seed in range(seeds if name in QUICK else min(seeds, 5)):
        estimate = (KINDS | INEXACT)[name](Data.drawn(seed))
        if estimate.undefined is None:
            yield estimate


@pytest.mark.parametrize("name", KINDS)
def test_order_of_rows_and_names_of_groups_and_units_change_not_one_bit(name):
    for seed in range(20 if name in QUICK else 4):
        data = Data.drawn(seed)
        one, other = KINDS[name](data), KINDS[name](data.mixed())
        found = [
            [e.value, e.debiased, e.noise_floor(), e.sample.effective]
            + [end for x in (0.5, 0.025) for end in (e.lower_bound(x), e.upper_bound(x))]
            for e in (one, other)
        ]
        assert np.array_equal(*found, equal_nan=True)


@pytest.mark.parametrize("name", KINDS | INEXACT)
def test_a_higher_level_never_narrows_the_interval_around_the_debiased_value(name):
    for estimate in defined(name):
        intervals = [estimate.interval(level) for level in LEVELS]
        centre = estimate.debiased if intervals[0].of == "debiased" else estimate.value
        for narrow, wide in pairwise(intervals):
            assert wide.lower <= narrow.lower <= centre <= narrow.upper <= wide.upper
            assert narrow.lower < narrow.upper
        low, high = estimate.attainable
        assert low - 1e-12 <= intervals[-1].lower
        assert intervals[-1].upper <= high + 1e-12


@pytest.mark.parametrize("name", KINDS | INEXACT)
def test_p_values_agree_with_the_interval_at_every_level(name):
    for estimate in defined(name, 8):
        for level in (0.5, 0.95, 0.99):
            ends = estimate.interval(level)
            alpha = round((1 - level) / 2, 15)
            for bound in (0.0, 0.1, 0.6, ends.lower, ends.upper):
                if math.isfinite(bound):
                    assert (estimate.p_exceeds(bound) < alpha) == (ends.lower > bound)
                    assert (estimate.p_within(bound) < alpha) == (ends.upper <= bound)


@pytest.mark.parametrize("name", KINDS | INEXACT)
def test_sizes_of_the_sample_fit_each_other(name):
    for estimate in defined(name):
        sample = estimate.sample
        assert 1 <= sample.fewest <= sample.most <= sample.generations
        assert 1 <= sample.units <= sample.generations
        # A maximum is one draw, so its generations do not count.
        if not (math.isnan(sample.effective) or name == "maximum"):
            assert sample.effective > 0
            assert sample.design_effect == pytest.approx(sample.generations / sample.effective)


@pytest.mark.parametrize("name", ["signed difference", "mean difference", "ranks"])
def test_swapping_the_groups_mirrors_value_and_interval(name):
    for seed in range(30):
        data = Data.drawn(seed)
        one, other = (KINDS[name](each) for each in (data, data.swapped()))
        assert other.value == -one.value
        for alpha in (0.005, 0.025, 0.25):
            assert other.lower_bound(alpha) == pytest.approx(-one.upper_bound(alpha), abs=1e-9)
