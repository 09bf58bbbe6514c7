"""How much worse is one model than another on the same rows? Paired, for every smooth estimate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._intervals import zero_event_bound
from pytest_llmfair.stats._records import Sample
from pytest_llmfair.stats.mean import Mean
from pytest_llmfair.stats.rate_difference import RateDifference

# Correlation of two models on the same rows that planning assumes: half of the variance is shared.
_PLANNING_CORRELATION = 0.5


@dataclass(eq=False, kw_only=True)
class Difference(Estimate):
    """Candidate minus baseline on the same rows; of the absolute values where these are judged.

    With sampled units the differences of the row contributions are a mean over units ("W-kdf").
    With fixed units the generations of the two models are independent, and the intervals of the
    two estimates are joined (MOVER, Zou and Donner 2008).

    Attributes
    ----------
    candidate, baseline : Estimate
        The two models.
    folded : bool
        Whether absolute values are compared.
    paired : Mapping
        Sign of candidate and of baseline to the mean of their difference; empty for fixed units.
    """

    candidate: Estimate
    baseline: Estimate
    folded: bool
    paired: Mapping[tuple[int, int], Mean]
    method: str = "paired differences"

    @classmethod
    def between(cls, candidate: Estimate, baseline: Estimate, *, folded: bool) -> Difference:
        """Compare two estimates of one kind on the same rows in the same order.

        Parameters
        ----------
        candidate, baseline : Estimate
            A `Mean`, `RateDifference` or `RankBiserial` each.
        folded : bool
            Whether absolute values are compared (RABBI, demographic parity).

        Raises
        ------
        ValueError
            If the kinds differ or have no row contributions, or the rows do not match.
        """
        if not folded:
            candidate, baseline = _signed(candidate), _signed(baseline)
        first, second = candidate.contributions, baseline.contributions
        if type(candidate) is not type(baseline) or first is None or second is None:
            raise ValueError(
                f"a {type(candidate).__name__} cannot be compared with a "
                f"{type(baseline).__name__}; give two estimates of the same metric, of kind Mean, "
                "RateDifference or RankBiserial"
            )
        if candidate.sample.population != baseline.sample.population:
            raise ValueError(
                f"the candidate's population is {candidate.sample.population}, the baseline's "
                f"{baseline.sample.population}; measure both alike"
            )
        if len(first.values) != len(second.values):
            raise ValueError(
                f"the candidate has {len(first.values)} rows and the baseline "
                f"{len(second.values)}; measure both on the same prompts, in the same order"
            )
        labels = [None if c.units is None else list(c.units) for c in (first, second)]
        if labels[0] != labels[1]:
            raise ValueError(
                "candidate and baseline have different units; measure both on the same prompts, "
                "in the same order"
            )
        paired: dict[tuple[int, int], Mean] = {}
        if candidate.sample.population == "sampled":
            reach = max(first.reach, second.reach)
            signs = (1, -1) if folded else (1,)
            for s, t in product(signs, signs):
                rows = s * first.values - t * second.values
                widest = max(2.0 * reach, float(abs(rows).max())) if folded else reach
                paired[s, t] = Mean.of_values(rows, units=labels[0], bounds=(-widest, widest))
        value, other = candidate.value, baseline.value
        if folded:
            value, other = abs(value), abs(other)
        both = (candidate.sample, baseline.sample)
        reach = max(map(abs, candidate.attainable)) if folded else first.reach
        span = (-reach, reach)
        return cls(
            value=value - other,
            sample=Sample(
                units=both[0].units,
                generations=sum(sample.generations for sample in both),
                fewest=sum(sample.fewest for sample in both),
                most=sum(sample.most for sample in both),
                population=both[0].population,
            ),
            attainable=span,
            reasons=tuple(dict.fromkeys((*candidate.reasons, *baseline.reasons))),
            notes=tuple(dict.fromkeys((*candidate.notes, *baseline.notes))),
            candidate=candidate,
            baseline=baseline,
            folded=folded,
            paired=paired,
            method="paired differences" if paired else "joined intervals (MOVER)",
        )

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`.

        Of absolute values: ``|c| - |b|`` is at least ``s c - t b`` for the worst sign t and any s.
        """
        if not self.paired:
            return self._joined(alpha)[0]
        mine = _sign(self.candidate, self.folded)
        found = min(_end(m, alpha, -1) for (s, _), m in self.paired.items() if s == mine)
        return max(found, self.attainable[0])

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`.

        Of absolute values: ``|c| - |b|`` is at most ``s c - t b`` for the worst sign s and any t.
        """
        if not self.paired:
            return self._joined(alpha)[1]
        other = _sign(self.baseline, self.folded)
        found = max(_end(m, alpha, 1) for (_, t), m in self.paired.items() if t == other)
        return min(found, self.attainable[1])

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error.

        Parameters
        ----------
        at : float, optional
            Without it the observed error. With it the one planned for when the difference is `at`,
            with half of the variance shared by the two models.
        """
        if at is not None:
            beside = abs(at) if self.folded else self._middle()
            shared = 2.0 * (1.0 - _PLANNING_CORRELATION)
            return math.sqrt(shared) * self.candidate.standard_error(beside)
        if not self.paired:
            return math.hypot(self.candidate.standard_error(), self.baseline.standard_error())
        signs = _sign(self.candidate, self.folded), _sign(self.baseline, self.folded)
        return self.paired[signs].standard_error()

    def _middle(self) -> float:
        low, high = self.candidate.attainable
        return 0.5 * (low + high)

    def _joined(self, alpha: float) -> tuple[float, float]:
        ends = [
            _ends(estimate, alpha, self.folded) for estimate in (self.candidate, self.baseline)
        ]
        (c, c_low, c_high), (b, b_low, b_high) = ends
        return (
            c - b - math.hypot(c - c_low, b_high - b),
            c - b + math.hypot(c_high - c, b - b_low),
        )


def _signed(estimate: Estimate) -> Estimate:
    return estimate.signed if isinstance(estimate, RateDifference) else estimate


def _end(differences: Mean, alpha: float, side: int) -> float:
    if differences.variance > 0.0:
        return differences.upper_bound(alpha) if side > 0 else differences.lower_bound(alpha)
    # No row differs from another: the two models may differ in a share of units too small to show.
    low, high = differences.bounds
    reach = high - differences.value if side > 0 else differences.value - low
    return differences.value + side * zero_event_bound(differences.sample.units, alpha) * reach


def _sign(estimate: Estimate, folded: bool) -> int:
    contributions = estimate.contributions
    negative = contributions is not None and float(contributions.values.mean()) < 0.0
    return -1 if folded and negative else 1


def _ends(estimate: Estimate, alpha: float, folded: bool) -> tuple[float, float, float]:
    value, low, high = estimate.value, estimate.lower_bound(alpha), estimate.upper_bound(alpha)
    if not folded:
        return value, low, high
    inside = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    return abs(value), inside, max(abs(low), abs(high))
