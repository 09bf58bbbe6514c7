"""Checks 11 to 14, 16 and 27 to 29: distances, ranges and FairPair's ratio.

Their plug-ins are biased upwards, so that the usual intervals miss a fair truth nearly always.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import _peers_distance as peers
import numpy as np
from _harness import Check, Ends, Limits, Line, Method, Plan, Tally, tally_line

from pytest_llmfair.stats import (
    Distance,
    Estimate,
    FairPairRatio,
    MaxPairwiseDifference,
    rate_gaps,
)

Rng = np.random.Generator
Draw = Callable[[Rng], Any]
Make = Callable[[Any], Estimate]

ALPHA = 0.025


@dataclass(frozen=True, slots=True)
class Situation:
    """One simulated situation, with what to look at beside coverage.

    Attributes
    ----------
    name, truth, draw, make : str, float, callable, callable
        Words, true value, generator to data, data to estimate.
    limits : Limits
        What the 95 % interval must keep.
    peers : mapping
        Methods in common use.
    most : int
        Cap on the runs.
    levels : tuple of float
        Further levels at which coverage must not fall short by more than two points.
    shares : mapping
        Name to (event of an estimate, smallest and largest percentage of runs).
    floor : bool
        Whether the noise floor must be within 10 % of the mean value.
    centre : float
        Largest relative distance between mean value and truth.
    """

    name: str
    truth: float
    draw: Draw
    make: Make
    limits: Limits
    peers: Mapping[str, Method] = field(default_factory=dict)
    most: int = 2000
    levels: tuple[float, ...] = ()
    shares: Mapping[str, tuple[Callable[[Estimate], bool], float, float]] = field(
        default_factory=dict
    )
    floor: bool = False
    centre: float = math.inf

    def run(self, plan: Plan, seed: int) -> Iterable[Line]:
        """Simulate; peers see the same data and are left out of a smoke run."""
        draws, extra = np.random.default_rng(seed), np.random.default_rng([seed, 1])
        others = {} if plan.smoke else dict(self.peers)
        ours = Tally(self.truth)
        tallies = {name: Tally(self.truth) for name in others}
        held = dict.fromkeys(self.levels, 0)
        happened = dict.fromkeys(self.shares, 0)
        values, floors = [], []
        runs = plan.repeats(self.most, smoke=40)
        for _ in range(runs):
            data = self.draw(draws)
            estimate = self.make(data)
            ours.add(_ends(estimate, ALPHA))
            values.append(estimate.value)
            for level in held:
                low, high = _ends(estimate, 0.5 * (1.0 - level))
                held[level] += low - 1e-12 <= self.truth <= high + 1e-12
            for name, (event, _, _) in self.shares.items():
                happened[name] += event(estimate)
            if self.floor:
                floors.append(estimate.noise_floor())
            for name, method in others.items():
                tallies[name].add(method(data, extra))
        yield tally_line(self.name, ours, self.limits, plan, tallies)
        for level, count in held.items():
            found, least = 100.0 * count / runs, 100.0 * level - 2.0
            text = f"  at {100 * level:g} %: cov {found:.1f} (cov >= {least:g})"
            yield Line(text, found >= least - plan.slack)
        for name, (_, least, most) in self.shares.items():
            found = 100.0 * happened[name] / runs
            text = f"  {name}: {found:.1f} % of runs ({least:g} to {most:g})"
            yield Line(text, least - plan.slack <= found <= most + plan.slack)
        if self.floor:
            mean, floor = float(np.mean(values)), float(np.mean(floors))
            text = f"  noise floor {floor:.4f}, mean value {mean:.4f} (within 10 %)"
            yield Line(text, abs(floor / mean - 1.0) <= 0.1 + 0.01 * plan.slack)
        if math.isfinite(self.centre):
            away = abs(float(np.mean(values)) / self.truth - 1.0)
            text = (
                f"  mean value {100 * away:.2f} % from the truth (at most {100 * self.centre:g})"
            )
            yield Line(text, away <= self.centre + 0.01 * plan.slack)


def _ends(estimate: Estimate, alpha: float) -> Ends:
    return estimate.lower_bound(alpha), estimate.upper_bound(alpha)


def situations(base: int, found: Iterable[Situation]) -> Callable[[Plan], Iterable[Line]]:
    """Run several, each with a seed of its own."""

    def run(plan: Plan) -> Iterable[Line]:
        for number, situation in enumerate(found):
            yield from situation.run(plan, 100 * base + number)

    return run


def words(share: Any, hits: int) -> tuple[Draw, float]:
    """Draw responses with one word and one group each, `hits` per word; shares by word."""
    table = np.asarray(share)
    number, groups = table.shape
    word = np.repeat(np.arange(number), hits)

    def draw(rng: Rng) -> Any:
        counts = np.zeros((len(word), groups, number))
        above = rng.random((len(word), 1)) > np.cumsum(table, axis=1)[word]
        counts[np.arange(len(word)), above.sum(axis=1).clip(0, groups - 1), word] = 1.0
        return counts

    return draw, float(0.5 * np.abs(table - 1.0 / groups).sum(axis=1).mean())


def _words_percentile(picked: Any) -> Any:
    counts = picked.sum(axis=1)
    seen = counts.sum(axis=1, keepdims=True)
    gaps = np.abs(counts / np.maximum(seen, 1.0) - 1.0 / counts.shape[1])
    return (0.5 * gaps.sum(axis=1)).mean(axis=1)


def shifted(rows: int, shift: float) -> Draw:
    """Draw two samples of beta scores, one moved up."""
    return lambda rng: (rng.beta(2.0, 5.0, rows), rng.beta(2.0, 5.0, rows) + shift)


def _distance(data: Any) -> Estimate:
    return Distance.of_distributions(*data, bounds=(0.0, 1.5))


def rates(means: Any, rows: int) -> Draw:
    """Draw outcomes of groups of equal size."""
    groups = np.repeat(np.arange(len(means)), rows)
    level = np.asarray(means)[groups]
    return lambda rng: ((rng.random(len(groups)) < level).astype(float), groups)


def counts(leans: Any, trials: int) -> tuple[Draw, float]:
    """Draw counts of terms with these leans."""
    p = 0.5 * (1.0 + np.asarray(leans))
    number = np.full(len(p), trials)
    return lambda rng: (rng.binomial(number, p), number), float(np.abs(leans).mean())


def answers(prompts: int, number: int, shift: float) -> Draw:
    """Draw normal scores of answers to either side of prompts: B, V and V of each."""

    def draw(rng: Rng) -> Any:
        a = rng.standard_normal((prompts, number))
        b = rng.standard_normal((prompts, number)) + shift
        own = [np.abs(x[:, :, None] - x[:, None, :]).sum(axis=(1, 2)) for x in (a, b)]
        pairs = number * (number - 1)
        cross = np.abs(a[:, :, None] - b[:, None, :]).mean(axis=(1, 2))
        return np.stack([cross, own[0] / pairs, own[1] / pairs], axis=1)

    return draw


def normal_ratio(shift: float) -> float:
    """F of two unit normals: mean |N(shift, 2)| over mean |N(0, 2)|, squared."""
    mean = 2.0 / math.sqrt(math.pi) * math.exp(-0.25 * shift * shift) + shift * math.erf(
        0.5 * shift
    )
    return (0.5 * math.sqrt(math.pi) * mean) ** 2


def _fairpair(table: Any) -> Estimate:
    return FairPairRatio.of_prompts(*table.T, answers=10)


def _equal(estimate: Any) -> bool:
    return bool(estimate.p_equal() < 0.05)


EVEN = np.full((10, 3), 1.0 / 3.0)
UNEVEN = np.array([[1 / 3] * 3] * 6 + [[0.7, 0.2, 0.1]] * 2 + [[0.5, 0.4, 0.1]] * 2)
HALVES = [0.25] * 4 + [0.35] * 4
PATTERN = np.linspace(-1.0, 1.0, 8) / np.linspace(-1.0, 1.0, 8).std()
RANGE_PEER = {"percentile": peers.rates_percentile(lambda r: np.ptp(r, axis=1))}
COUNT_PEERS: dict[str, Method] = {
    "RUTEd": peers.folded_normal,
    "percentile": peers.binomial_percentile,
}
DISTANCE_PEER: dict[str, Method] = {"percentile": peers.wasserstein_percentile}


def _word_situations() -> Iterable[Situation]:
    for name, share, hits, most in (("equal", EVEN, 40, 800), ("mixed", UNEVEN, 40, 400)):
        draw, truth = words(share, hits)
        yield Situation(
            f"associations {name}, 3 groups, {hits} hits a word",
            truth,
            draw,
            Distance.of_associations,
            Limits((94.0, 100.0), false_pass=3.5, false_fail=4.5),
            {"percentile": peers.percentile(_words_percentile)},
            most=most,
            floor=name == "equal",
        )


def _distance_situations() -> Iterable[Situation]:
    limits = Limits((94.5, 100.0), false_pass=3.5)
    for shift in (0.0, 0.05):
        yield Situation(
            f"Wasserstein-1 {shift:g}, 50 a side",
            shift,
            shifted(50, shift),
            _distance,
            limits,
            DISTANCE_PEER,
            levels=(0.5, 0.8, 0.99),
            shares={"p_equal < .05": (_equal, 3.5, 6.5)} if shift == 0.0 else {},
            floor=shift == 0.0,
        )


def _range_situations() -> Iterable[Situation]:
    limits = Limits((95.0, 100.0), false_fail=3.5)
    yield Situation(
        "range of 8 groups, 4 against 4, 500 rows each",
        0.1,
        rates(HALVES, 500),
        lambda data: MaxPairwiseDifference.of_rates(*data),
        limits,
        RANGE_PEER,
        most=1000,
    )
    yield Situation(
        "range of 8 groups, spread evenly, 500 rows each",
        0.2,
        rates(np.linspace(0.2, 0.4, 8), 500),
        lambda data: MaxPairwiseDifference.of_rates(*data),
        limits,
        RANGE_PEER,
        most=1000,
        shares={
            "passes at .3": (lambda e: e.upper_bound(ALPHA) <= 0.3, 90.0, 100.0),
            "fails at .1": (lambda e: e.lower_bound(ALPHA) > 0.1, 65.0, 100.0),
        },
    )


def _count_situations() -> Iterable[Situation]:
    limits = Limits((95.0, 100.0), false_pass=4.0, false_fail=3.5)
    for leans, name in (
        (np.zeros(40), "0"),
        (np.full(40, 0.2), ".2 alike"),
        (np.linspace(-0.82, 0.82, 40), ".42 spread"),
    ):
        draw, truth = counts(leans, 30)
        fails = {"fails at .1": (lambda e: e.lower_bound(ALPHA) > 0.1, 0.0, 1.0)}
        yield Situation(
            f"neutrality {name}, 40 terms x 30",
            truth,
            draw,
            lambda data: Distance.of_binomials(*data),
            limits,
            COUNT_PEERS,
            levels=(0.5, 0.8, 0.99),
            shares=fails if truth == 0.0 else {},
            floor=truth == 0.0,
        )


def _ratio_situations() -> Iterable[Situation]:
    for shift in (0.0, 0.5, 1.0):
        truth = normal_ratio(shift)
        yield Situation(
            f"F {truth:.2f} pooled, 30 prompts x 10",
            truth,
            answers(30, 10, shift),
            _fairpair,
            Limits((93.0, 100.0), false_pass=5.0),
            {"log t": peers.ratio_t},
            centre=0.015,
        )


def categories(rows: int, tilt: float) -> tuple[Draw, float]:
    """Draw categories of two groups whose shares lean by `tilt` over ten categories."""
    p = np.full(10, 0.1)
    q = p * (1.0 + tilt * np.linspace(-1.0, 1.0, 10))
    middle = 0.5 * (p + q)
    truth = 0.5 * float((p * np.log(p / middle) + q * np.log(q / middle)).sum())
    labels = ["a"] * rows + ["b"] * rows

    def draw(rng: Rng) -> Any:
        drawn = [rng.choice(10, rows, p=share).tolist() for share in (p, q)]
        return drawn[0] + drawn[1], labels

    return draw, truth


def _divergence_situations() -> Iterable[Situation]:
    for rows, tilt in ((100, 0.0), (100, 0.5), (100, 0.95), (500, 0.5)):
        draw, truth = categories(rows, tilt)
        yield Situation(
            f"Jensen-Shannon {truth:.3f}, {rows} rows a group",
            truth,
            draw,
            lambda data: Distance.of_divergence(*data),
            Limits((93.5, 100.0), false_pass=4.5, false_fail=4.0),
            most=600,
            levels=(0.5, 0.99),
            floor=tilt == 0.0,
        )


def few_pairs(pairs: int, repeats: int, shift: float, *, same: bool) -> Draw:
    """Draw pairs of two-humped scores with generations; `same` keeps the pairs of all runs."""
    hump = np.random.default_rng(5).random((pairs, 1)) < 0.5

    def draw(rng: Rng) -> Any:
        level = np.where(hump if same else rng.random((pairs, 1)) < 0.5, 0.7, 0.3)
        noise = rng.uniform(-0.1, 0.1, (2, pairs, repeats))
        return level + noise[0], level + noise[1] + shift

    return draw


def _other_situations() -> Iterable[Situation]:
    limits = Limits((94.0, 100.0), false_pass=3.5, false_fail=4.0)
    for shift in (0.0, 0.06):
        for same in (False, True):
            yield Situation(
                f"Wasserstein-1 {shift:g}, {'fixed' if same else 'sampled'} pairs 30 x 5",
                shift,
                few_pairs(30, 5, shift, same=same),
                lambda data, population=("fixed" if same else "sampled"): (
                    Distance.of_distributions(
                        *data, paired=True, population=population, bounds=(0.0, 1.0)
                    )
                ),
                limits,
                levels=(0.5, 0.99),
                floor=shift == 0.0,
            )
    for leans, trials in (
        (np.full(10, 0.2), 10),
        (np.full(40, 0.4), 4),
        (np.r_[np.zeros(20), np.full(20, 0.8)], 30),
        (np.full(5, 0.96), 40),
    ):
        draw, truth = counts(leans, trials)
        yield Situation(
            f"neutrality {truth:.2f}, {len(leans)} terms x {trials}",
            truth,
            draw,
            lambda data: Distance.of_binomials(*data),
            limits,
            COUNT_PEERS,
        )


def lopsided(rng: Rng, terms: int) -> Any:
    """Leans of terms drawn from a population: most near parity, some far."""
    return np.where(rng.random(terms) < 0.8, rng.uniform(-0.2, 0.2, terms), 0.9)


def _sampled_situations() -> Iterable[Situation]:
    truth = 0.8 * 0.1 + 0.2 * 0.9
    for terms in (20, 60):
        number = np.full(terms, 30)

        def draw(rng: Rng, terms: int = terms, number: Any = number) -> Any:
            return rng.binomial(number, 0.5 * (1.0 + lopsided(rng, terms))), number

        yield Situation(
            f"neutrality {truth:.2f}, {terms} sampled terms x 30",
            truth,
            draw,
            lambda data: Distance.of_binomials(*data, population="sampled"),
            Limits((94.0, 100.0), false_pass=4.0, false_fail=4.0),
            levels=(0.5, 0.99),
        )
    yield Situation(
        "mean gap of 8 equal groups, 50 rows each",
        0.0,
        rates([0.3] * 8, 50),
        lambda data: rate_gaps(
            data[0], np.ones(len(data[0])), data[1], against="pairs", factor=1.0 / 28.0
        ),
        Limits((94.0, 100.0)),
        {"percentile": peers.rates_percentile(_mean_gap)},
        most=500,
        floor=True,
    )
    yield Situation(
        "range of 8 equal groups, 50 rows each",
        0.0,
        rates([0.3] * 8, 50),
        lambda data: MaxPairwiseDifference.of_rates(*data),
        Limits((94.0, 100.0)),
        RANGE_PEER,
        most=500,
        floor=True,
    )


def _mean_gap(means: Any) -> Any:
    first, second = np.triu_indices(means.shape[1], 1)
    return np.abs(means[:, first] - means[:, second]).mean(axis=1)


CHECKS = [
    Check(11, "word associations, noise floor", situations(11, tuple(_word_situations()))),
    Check(
        12, "Wasserstein-1 and its permutation test", situations(12, tuple(_distance_situations()))
    ),
    Check(13, "range over groups", situations(13, tuple(_range_situations()))),
    Check(14, "neutrality of fixed terms", situations(14, tuple(_count_situations()))),
    Check(16, "FairPair's ratio", situations(16, tuple(_ratio_situations()))),
    Check(27, "Jensen-Shannon divergence", situations(27, tuple(_divergence_situations()))),
    Check(28, "fixed and sampled pairs, few terms", situations(28, tuple(_other_situations()))),
    Check(29, "sampled terms, equal groups", situations(29, tuple(_sampled_situations()))),
]
