"""How well metrics of bias predict gaps in selection, over models (RABBI paper, section 5)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from pytest_llmfair.metrics._registry import get_metric
from pytest_llmfair.metrics.allocation.drawn import drawn_values
from pytest_llmfair.metrics.allocation.rankings import ndcg_at_n
from pytest_llmfair.metrics.arguments import Floats
from pytest_llmfair.stats import Call

__all__ = ["Validity", "expected_ndcg"]

Ends = tuple[float, float, float]

_GAPS = ("demographic_parity_gap", "equal_opportunity_gap")
# Fewer models have no correlation, and fewer rounds no interval.
_LEAST_MODELS, _LEAST_ROUNDS = 3, 10
_DRAWS, _SEED = 200, 0


@dataclass(frozen=True, slots=True)
class Validity:
    """How well metrics of bias predict gaps in selection, over models that saw the same rounds.

    Attributes
    ----------
    models, metrics, gaps : tuple of str
        Whose values are compared, and the names of metrics and gaps.
    rounds : int
        How many rounds there are; they are drawn again, the same ones for all models.
    values : mapping
        (model, metric, gap) and (model, gap, "") to an array of draws x groups, whose first row
        are all rounds. A gap of the qualified is compared with metrics of the qualified.
    signed : mapping
        Metric to whether it has a sign; one without is compared with the size of the gap.
    left_out : tuple of str
        Models without a call.
    least_models : int
        So many models a correlation needs.

    Examples
    --------
    >>> from pytest_llmfair.metrics import demographic_parity_gap, rabbi
    >>> calls = {}
    >>> for model, bonus in {"fair": 0, "less fair": 1, "unfair": 3}.items():
    ...     scores = [score for n in range(12) for score in (n % 5, (n * 3) % 5 + bonus)]
    ...     data = {"groups": ["a", "b"] * 12, "reference": "a"}
    ...     data["rounds"] = [n for n in range(12) for _ in "ab"]
    ...     gap = demographic_parity_gap(scores, k=1, **data)
    ...     calls[model] = {"rabbi": rabbi(scores, **data).call, "gap@1": gap.call}
    >>> found = Validity.of(calls)
    >>> round(found.correlation("rabbi", "gap@1")[0], 1)
    1.0
    >>> found.ndcg("rabbi", "gap@1", 3)[0]
    1.0
    """

    models: tuple[str, ...]
    metrics: tuple[str, ...]
    gaps: tuple[str, ...]
    rounds: int
    values: Mapping[tuple[str, str, str], Floats]
    signed: Mapping[str, bool]
    left_out: tuple[str, ...] = ()
    least_models: int = _LEAST_MODELS

    @classmethod
    def of(cls, calls: Mapping[str, Mapping[str, Call]]) -> Validity | None:
        """Return the values of calls by model and name.

        None where fewer than two models have a gap and a metric to compare it with. Metrics of the
        qualified only, or of strata, are left out: those of all candidates are limited to the
        qualified where a gap is.
        """
        known = {model: own for model, own in calls.items() if own}
        shared = [
            name
            for name in next(iter(known.values()), {})
            if all(name in own for own in known.values())
        ]
        first = next(iter(known.values()), {})
        gaps = tuple(name for name in shared if first[name].metric in _GAPS)
        metrics = tuple(
            name
            for name in shared
            if name not in gaps
            and not any(
                first[name].keywords.get(key) is not None for key in ("qualified", "strata")
            )
        )
        if len(known) < 2 or not gaps or not metrics:
            return None
        names = (*metrics, *gaps)
        pools = list(
            dict.fromkeys(pool for own in known.values() for n in names for pool in _pools(own[n]))
        )
        draws = _draws(len(pools))
        values: dict[tuple[str, str, str], Floats] = {}
        for model, own in known.items():
            for gap in gaps:
                values[model, gap, ""] = _by_group(own[gap], pools, draws)
            for metric in metrics:
                values[model, metric, ""] = _by_group(own[metric], pools, draws)
                # The qualified are the same at every quota.
                qualified: Floats | None = None
                for gap in gaps:
                    values[model, metric, gap] = values[model, metric, ""]
                    if (flags := own[gap].keywords.get("qualified")) is not None:
                        if qualified is None:
                            qualified = _by_group(own[metric], pools, draws, flags)
                        values[model, metric, gap] = qualified
        signed = {name: get_metric(first[name].metric).direction != "lower" for name in metrics}
        left_out = tuple(model for model in calls if model not in known)
        return cls(tuple(known), metrics, gaps, len(pools), values, signed, left_out)

    def correlation(self, metric: str, gap: str) -> Ends:
        """Return Pearson's correlation over models and groups, with its 95 % interval.

        Distances, which have no sign, are compared with the size of the gap, as in the paper. The
        interval is for other draws of as many rounds, by their standard error on the scale of
        Fisher's z, for these models. NaN with fewer than three models, or where metric or gap is
        constant. Metric and gap share the chance of their rounds; see :meth:`lasting`.

        Parameters
        ----------
        metric, gap : str
            Names, of `metrics` and `gaps`.

        Returns
        -------
        tuple of float
            Value and the ends of the interval, in [-1, 1]; NaN ends with fewer than ten rounds.
        """
        x, y = self._points(metric, gap)
        if not len(x):
            return math.nan, math.nan, math.nan
        squares, products, others = _moments(x, y)
        constant = (np.ptp(x, axis=1) < 1e-12) | (np.ptp(y, axis=1) < 1e-12)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.clip(products / np.sqrt(squares * others), -1.0, 1.0)
        found = np.where(constant, math.nan, found)
        value = float(found[0])
        finite = found[1:][np.isfinite(found[1:])]
        if math.isnan(value) or len(finite) < 0.95 * _DRAWS or self.rounds < _LEAST_ROUNDS:
            return value, math.nan, math.nan
        z, *drawn = np.arctanh(np.clip([value, *finite], -1.0 + 1e-9, 1.0 - 1e-9))
        half = 1.96 * float(np.std(drawn, ddof=1))
        if half == 0.0:  # Equal draws show no spread, which is no certainty.
            return value, math.nan, math.nan
        return value, math.tanh(z - half), math.tanh(z + half)

    def lasting(self, metric: str, gap: str) -> Ends:
        """Return the correlation without the chance of the rounds, with its 95 % interval.

        Variances and covariance over models and groups, less what drawing the rounds again adds
        to them: chance that metric and gap share no longer counts as agreement, and chance of one
        alone no longer hides it. NaN where the rounds are too few to tell the differences from
        chance. Draws have the chance twice, so twice as much is taken from each. For distances
        and sizes of gaps, which chance can only make larger, it is approximate.

        Parameters
        ----------
        metric, gap : str
            Names, of `metrics` and `gaps`.

        Returns
        -------
        tuple of float
            Value and the ends of the interval, in [-1, 1].
        """
        x, y = self._points(metric, gap)
        if not len(x):
            return math.nan, math.nan, math.nan
        chance = _moments(x[1:] - x[1:].mean(axis=0), y[1:] - y[1:].mean(axis=0)).mean(axis=1)
        chance *= self.rounds / max(self.rounds - 1, 1)
        times = np.where(np.arange(len(x)) == 0, 1.0, 2.0)
        left = _moments(x, y) - chance[:, None] * times
        least = 1e-12 * (1.0 + np.abs(chance[[0, 2], None]))
        with np.errstate(invalid="ignore"):
            found = left[1] / np.sqrt(left[0] * left[2])
        defined = (left[[0, 2]] > least).all(axis=0)
        ends = self._percentiles(np.where(defined, np.clip(found, -1.0, 1.0), math.nan))
        return (math.nan, math.nan, math.nan) if math.isnan(ends[1]) else ends

    def ndcg(self, metric: str, gap: str, n: int) -> Ends:
        """Return NDCG@n of the models' order by a metric, with its 95 % interval over draws.

        The ideal order is that by the gap; both are by ascending root mean square over groups. NaN
        where all models are tied. Where some are, both orders of the tied count half.

        Parameters
        ----------
        metric, gap : str
            Names, of `metrics` and `gaps`.
        n : int
            Ranks that count, at most the number of models.

        Returns
        -------
        tuple of float
            Value and the ends of the interval, in (0, 1]; NaN ends with fewer than ten rounds.
        """
        sizes = [self._size(metric, gap), self._size(gap, "")]
        found = np.array([_ndcg(_order(a), _order(b), n) for a, b in zip(*sizes, strict=True)])
        return self._percentiles(found)

    def ranks(self, name: str) -> list[tuple[float, Ends]]:
        """Return each model's size by a metric or gap, and its rank with the 95 % of draws.

        Parameters
        ----------
        name : str
            Name of a metric or gap.

        Returns
        -------
        list of (float, (float, float, float))
            For each model the root mean square over groups, and its rank, 1 is the fairest, with
            the smallest and largest rank in 95 % of draws. Tied models share the mean rank, and
            have the ranks of all orders of the tied.
        """
        size = self._size(name, "")
        # Smallest and largest rank that a model could have if ties were broken.
        first = 1.0 + (size[:, None, :] < size[:, :, None]).sum(axis=2)
        last = (size[:, None, :] <= size[:, :, None]).sum(axis=2).astype(np.float64)
        undefined = np.isnan(size).any(axis=1)
        first[undefined] = last[undefined] = math.nan
        return [
            (
                float(size[0, place]),
                (
                    float(first[0, place] + last[0, place]) / 2.0,
                    self._percentiles(first[:, place])[1],
                    self._percentiles(last[:, place])[2],
                ),
            )
            for place in range(len(self.models))
        ]

    def _points(self, metric: str, gap: str) -> tuple[Floats, Floats]:
        """Return metric and gap of each model and group, by draw; empty with too few models."""
        if len(self.models) < _LEAST_MODELS:
            return np.empty((0, 0)), np.empty((0, 0))
        x = np.hstack([self.values[model, metric, gap] for model in self.models])
        y = np.hstack([self.values[model, gap, ""] for model in self.models])
        return x, y if self.signed[metric] else np.abs(y)

    def _size(self, name: str, gap: str) -> Floats:
        """Return the root mean square over groups of each model, by draw."""
        rows = [self.values[model, name, gap] for model in self.models]
        # Rounded, so that models are tied whose sums only have another order.
        return np.stack([np.sqrt((row * row).mean(axis=1)).round(12) for row in rows], axis=1)

    def _percentiles(self, found: Floats) -> Ends:
        """Return the value of all rounds, and an interval of the draws that holds it."""
        finite = found[np.isfinite(found)]
        if math.isnan(found[0]) or len(finite) < 0.95 * len(found) or self.rounds < _LEAST_ROUNDS:
            return float(found[0]), math.nan, math.nan
        low, high = np.quantile(finite[1:], [0.025, 0.975], method="inverted_cdf")
        return float(found[0]), min(float(low), found[0]), max(float(high), found[0])


def _moments(x: Floats, y: Floats) -> Floats:
    """Return the sums of squares of x, of products, and of squares of y, for each row."""
    dx, dy = (each - each.mean(axis=1, keepdims=True) for each in (x, y))
    return np.stack([(dx * dx).sum(axis=1), (dx * dy).sum(axis=1), (dy * dy).sum(axis=1)])


def expected_ndcg(n: int, models: int) -> float:
    """Return the mean of NDCG@n over all orders of the models: what chance alone gives.

    Parameters
    ----------
    n, models : int
        Ranks that count, and models; 1 <= n <= models.

    Returns
    -------
    float
        In (0, 1].

    Examples
    --------
    >>> round(expected_ndcg(3, 3), 2)
    0.89
    """
    discounts = [1.0 / math.log2(place + 2) for place in range(n)]
    ideal = sum((models - place) * weight for place, weight in enumerate(discounts))
    return (models + 1) / 2.0 * sum(discounts) / ideal


def _pools(call: Call) -> Iterable[Hashable]:
    """Return the names of the rounds of a call."""
    data = call.args[0]
    if call.metric == "pairwise_preference_gap":
        return [row["pool"] for row in data]
    if isinstance(data, Mapping):
        return [pool for pool, _ in data]
    rounds = call.keywords.get("rounds", call.keywords.get("units"))
    if rounds is None:
        raise ValueError(f"{call.metric} was called without rounds; give the round of each score")
    return list(rounds)


def _draws(rounds: int) -> Floats:
    """Return the count of each round in each draw with replacement; the first has all once."""
    rng = np.random.default_rng(_SEED)
    draws = rng.multinomial(rounds, np.full(rounds, 1.0 / rounds), _DRAWS)
    return np.vstack([np.ones((1, rounds)), draws]).astype(np.float64)


def _by_group(
    call: Call, pools: Sequence[Hashable], draws: Floats, qualified: Any = None
) -> Floats:
    found = drawn_values(call, pools, draws, qualified)
    return np.stack([found[group] for group in sorted(found, key=str)], axis=1)


def _order(sizes: Floats) -> tuple[int, ...]:
    """Return the dense rank of each model; empty without a value."""
    if np.isnan(sizes).any():
        return ()
    return tuple(np.unique(sizes, return_inverse=True)[1].tolist())


@lru_cache(maxsize=100_000)
def _ndcg(found: tuple[int, ...], ideal: tuple[int, ...], n: int) -> float:
    """Return NDCG@n of two orders given as ranks; ties in either order of the models."""
    if len(set(found)) < 2 or len(set(ideal)) < 2:
        return math.nan
    both: list[float] = []
    for models in (range(len(found)), range(len(found))[::-1]):
        ranks: list[dict[Hashable, int]] = [
            {model: order[model] for model in models} for order in (found, ideal)
        ]
        both.append(ndcg_at_n(ranks[0], ranks[1], n))
    return (both[0] + both[1]) / 2.0
