"""Difference of two models: paired where their rows are known to belong together."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

import numpy as np

from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._records import Contributions, Sample
from pytest_llmfair.stats._rows import NO_VARIANCE
from pytest_llmfair.stats._score_intervals import zero_event_bound
from pytest_llmfair.stats.distance import Distance
from pytest_llmfair.stats.mean import Mean
from pytest_llmfair.stats.rate_difference import RateDifference
from pytest_llmfair.stats.worst_groups import WorstGroups

# Planning assumes this correlation of two models on the same rows.
_PLANNING_CORRELATION = 0.5

# Why rows belong together, or that they do not; "unknown" where only some units are the same.
Pairing = Literal["identical", "labels", "prompts", "rows", "unknown", "independent"]
IN_WORDS: Mapping[Pairing, str] = {
    "identical": "which gave identical answers to the same prompts",
    "labels": "paired by unit labels",
    "prompts": "paired by prompt",
    "rows": "paired row by row",
    "unknown": "as samples that may share units",
    "independent": "as independent samples",
}


@dataclass(eq=False, kw_only=True)
class PairedDifference(Estimate):
    """Candidate minus baseline; of the absolute values where these are judged.

    Paired rows of smooth estimates of sampled units: the differences of the row contributions
    are a mean over units ("W-kdf"). Anything else joins the bounds of the two estimates (MOVER,
    Zou and Donner 2008), narrowed where contributions show how much the two vary together. Where
    nothing shows it, each bound takes half of the error rate, which holds however they depend on
    one another. Bounds of independent samples are joined as such.
    """

    candidate: Estimate
    baseline: Estimate
    # Whether absolute values are compared.
    folded: bool
    # Sign of candidate and baseline to the mean of their difference; empty for joined bounds.
    paired: Mapping[tuple[int, int], Mean]
    # Standard error of the difference over that of independent estimates; None where unknown.
    pairing: float | None = None
    how: Pairing = "rows"
    method: str = "paired differences"

    @classmethod
    def between(
        cls, candidate: Estimate, baseline: Estimate, *, folded: bool, how: Pairing = "rows"
    ) -> PairedDifference:
        """Compare two estimates of one kind, by default on the same rows in the same order.

        `folded` compares absolute values (RABBI, demographic parity). ``ValueError`` if the kinds
        differ, or the rows do not match although they are paired row by row.

        Examples
        --------
        >>> new, old = Mean.of_values([0.3, 0.5, 0.2] * 5), Mean.of_values([0.2, 0.4, 0.2] * 5)
        >>> PairedDifference.between(new, old, folded=False)
        PairedDifference 0.067 [-0.006, 0.212] (95 %, 15 units x 2)
        """
        if not folded:
            candidate, baseline = (
                each.signed if isinstance(each, RateDifference) else each
                for each in (candidate, baseline)
            )
        if type(candidate) is not type(baseline):
            raise ValueError(
                f"a {type(candidate).__name__} cannot be compared with a "
                f"{type(baseline).__name__}; give two estimates of the same metric, with as many "
                "groups"
            )
        if candidate.sample.population != baseline.sample.population:
            raise ValueError(
                f"the candidate's population is {candidate.sample.population}, the baseline's "
                f"{baseline.sample.population}; measure both alike"
            )
        first, second = candidate.contributions, baseline.contributions
        sampled = candidate.sample.population == "sampled"
        paired: dict[tuple[int, int], Mean] = {}
        low, high = candidate.attainable
        reach = max(abs(low), abs(high)) if folded else high - low
        if first is not None and second is not None and (why := _unmatched(first, second)):
            if how == "rows":
                raise ValueError(why)
            how = "independent" if how == "independent" else "unknown"
        pairing, method = None, "joined intervals, each at half the error rate"
        if how == "independent":
            pairing, method = 1.0, "joined intervals (MOVER) of independent samples"
        elif first is not None and second is not None and how != "unknown":
            if isinstance(candidate, Distance):
                pairing, method = _pairing(first, second), "joined brackets, paired"
            elif sampled:
                method, paired = "paired differences", _paired(candidate, first, second, folded)
            else:
                pairing, method = 1.0, "joined intervals (MOVER)"
            reach = reach if folded else first.reach
        if how == "identical":
            method = "identical answers"
        both = (candidate.sample, baseline.sample)
        rows: list[float] = []
        apart = how in ("unknown", "independent")
        if len(candidate.rows) == len(baseline.rows) and not apart:
            rows = [
                _size(a, folded) - _size(b, folded)
                for a, b in zip(candidate.rows, baseline.rows, strict=True)
            ]
        return cls(
            value=_size(candidate.value, folded) - _size(baseline.value, folded),
            rows=rows,
            sample=Sample(
                units=both[0].units + (both[1].units if apart else 0),
                generations=sum(sample.generations for sample in both),
                fewest=sum(sample.fewest for sample in both),
                most=sum(sample.most for sample in both),
                population=both[0].population,
            ),
            attainable=(-reach, reach),
            findings=tuple(
                f
                for f in dict.fromkeys((*candidate.findings, *baseline.findings))
                if f.kind != "invalid" and f.code != "uncovered_group"
            ),
            of=candidate.of,
            candidate=candidate,
            baseline=baseline,
            folded=folded,
            paired=paired,
            pairing=pairing,
            how=how,
            method=method,
        )

    @property
    def debiased(self) -> float:
        """Difference of the bias-corrected values, where the intervals are for these."""
        if self.of == "value":
            return self.value
        sides = self.candidate.debiased, self.baseline.debiased
        return _size(sides[0], self.folded) - _size(sides[1], self.folded)

    def lower_bound(self, alpha: float) -> float:
        """Lower end; ``|c| - |b|`` is at least ``s c - t b`` for the worst sign t and any s."""
        if self.how == "identical":
            return self.value
        if not self.paired:
            return self._joined(alpha)[0]
        mine = sign_of(self.candidate, self.folded)
        found = min(m.lower_bound(alpha) for (s, _), m in self.paired.items() if s == mine)
        return max(found, self.attainable[0])

    def upper_bound(self, alpha: float) -> float:
        """Upper end; ``|c| - |b|`` is at most ``s c - t b`` for the worst sign s and any t."""
        if self.how == "identical":
            return self.value
        if not self.paired:
            return self._joined(alpha)[1]
        other = sign_of(self.baseline, self.folded)
        found = max(m.upper_bound(alpha) for (_, t), m in self.paired.items() if t == other)
        return min(found, self.attainable[1])

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error; planned, with half of the variance shared by the models."""
        if at is not None:
            other = abs(at) if self.folded else 0.5 * sum(self.candidate.attainable)
            alike = 0.0 if self.how == "independent" else _PLANNING_CORRELATION
            shared = 2.0 * (1.0 - alike)
            return math.sqrt(shared) * self.candidate.standard_error(other)
        if self.how == "identical":
            return 0.0
        if not self.paired:
            apart = math.hypot(self.candidate.standard_error(), self.baseline.standard_error())
            return apart * (1.0 if self.pairing is None else self.pairing)
        signs = sign_of(self.candidate, self.folded), sign_of(self.baseline, self.folded)
        return self.paired[signs].standard_error()

    def _joined(self, alpha: float) -> tuple[float, float]:
        alpha = alpha if self.pairing is not None else 0.5 * alpha
        (c, c_low, c_high), (b, b_low, b_high) = (
            _ends(estimate, alpha, self.folded) for estimate in (self.candidate, self.baseline)
        )
        if self.pairing is None:
            return c_low - b_high, c_high - b_low
        # A distance lies between its debiased value and its plug-in, so neither reach has the
        # bias.
        c_least, b_least = (
            min(_size(each.debiased, self.folded), value)
            for each, value in ((self.candidate, c), (self.baseline, b))
        )
        unseen = 0.0
        if self.pairing == 0.0:
            # The models may differ in a share of units that is too small to see.
            unseen = zero_event_bound(self.sample.units, alpha) * self.attainable[1]
        lower = self.pairing * math.hypot(c_least - c_low, b_high - b) + unseen
        upper = self.pairing * math.hypot(c_high - c, b_least - b_low) + unseen
        ends = [c_least - b - lower, c - b_least + upper]
        if isinstance(self.candidate, Distance):
            # A distance that may be 0 has no direction, so the two cannot vary together.
            ends[0] = -b_high if c_low <= 0.0 else ends[0]
            ends[1] = c_high if b_low <= 0.0 else ends[1]
        return min(ends[0], c - b), max(ends[1], c - b)


def _size(value: float, folded: bool) -> float:
    return abs(value) if folded else value


def _unmatched(first: Contributions, second: Contributions) -> str:
    """Explain a mismatch of rows; empty where they match."""
    remedy = "measure both on the same prompts, in the same order, or do not pair them"
    if len(first.values) != len(second.values):
        return (
            f"the candidate has {len(first.values)} rows and the baseline "
            f"{len(second.values)}; {remedy}"
        )
    labels = [None if c.units is None else list(c.units) for c in (first, second)]
    return (
        "" if labels[0] == labels[1] else f"candidate and baseline have different units; {remedy}"
    )


def pairing_of(candidate: Estimate, baseline: Estimate) -> Pairing:
    """Compare the labels of the units of two estimates, as the caller gave them."""
    if isinstance(candidate, WorstGroups) and isinstance(baseline, WorstGroups):
        both = candidate.parts.keys() & baseline.parts.keys()
        found = {pairing_of(candidate.parts[key], baseline.parts[key]) for key in both}
        return found.pop() if len(found) == 1 else "unknown"
    first, second = _labels(candidate), _labels(baseline)
    if not first or not second:
        return "independent"
    if first == second:
        return "labels"
    shared = {label for label, _ in first} & {label for label, _ in second}
    return "unknown" if shared else "independent"


def _labels(estimate: Estimate) -> list[tuple[Hashable, Hashable]]:
    """Return unit and group of each row, as the caller named them; empty without labels."""
    if estimate.call is None:
        # Numbers of units are not labels: the first unit of any data set has the number 0.
        parts = estimate.contributions
        units: Any = None if parts is None or not isinstance(parts.units, list) else parts.units
        groups: Any = None
    else:
        given = estimate.call.keywords
        units = given.get("units") if given.get("units") is not None else given.get("rounds")
        groups = given.get("groups")
    if units is None:
        return []
    names: list[Any] = [] if groups is None else list(groups)
    # A mapping of candidates to groups has no entry per row.
    names = names if len(names) == len(units) else [None] * len(units)
    return [(_hashable(unit), _hashable(name)) for unit, name in zip(units, names, strict=True)]


def _hashable(label: Any) -> Hashable:
    return tuple(label) if isinstance(label, (list, np.ndarray)) else label


def _paired(
    candidate: Estimate, first: Contributions, second: Contributions, folded: bool
) -> dict[tuple[int, int], Mean]:
    reach = max(first.reach, second.reach)
    signs = (1, -1) if folded else (1,)
    base = float(np.sort(second.values).mean())
    found = {}
    for s, t in product(signs, signs):
        # A rare row of the candidate may be as far from the baseline's as a row can be.
        ends = [(s - t) * base - reach, (s - t) * base + reach]
        if isinstance(candidate, Mean):
            ends = sorted(s * end - t * base for end in candidate.reach)
        rows = s * first.values - t * second.values
        widest = max(2.0 * reach, float(abs(rows).max())) if folded else reach
        mean = Mean.of_values(
            rows, units=first.units, bounds=(-widest, widest), reach=(ends[0], ends[1])
        )
        if mean.variance == 0.0:
            # Models that differ alike in all rows may differ only in rows that the sample missed.
            mean = replace(mean, share=replace(mean.share, effective=math.inf))
        found[s, t] = mean
    return found


def _pairing(first: Contributions, second: Contributions) -> float:
    # Sorted, so that the order of rows does not change the rounding.
    apart = float(np.sort(first.values - second.values).var())
    alone = float(np.sort(first.values).var() + np.sort(second.values).var())
    return math.sqrt(apart / alone) if apart > NO_VARIANCE else 0.0


def sign_of(estimate: Estimate, folded: bool = True) -> int:
    """Return the sign of the rows' mean contribution, which a `folded` value lacks; else 1."""
    rows = estimate.contributions
    return -1 if folded and rows is not None and float(rows.values.mean()) < 0.0 else 1


def _ends(estimate: Estimate, alpha: float, folded: bool) -> tuple[float, float, float]:
    value, low, high = estimate.value, estimate.lower_bound(alpha), estimate.upper_bound(alpha)
    if not folded:
        return value, low, high
    inside = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    return abs(value), inside, max(abs(low), abs(high))


def loss_between(
    estimates: Sequence[Estimate],
    direction: str,
    fair: float,
    always_same: Sequence[bool],
    how: Pairing | None = None,
) -> Estimate:
    """Measure the loss of the first of two models; the largest loss for several groups."""
    candidate, baseline = estimates
    how = how or pairing_of(candidate, baseline)
    if isinstance(candidate, WorstGroups) and isinstance(baseline, WorstGroups):
        parts = {
            key: loss_between((part, baseline.parts[key]), direction, fair, always_same, how)
            for key, part in candidate.parts.items()
        }
        return WorstGroups.of_parts(
            parts,
            "lower",
            units=candidate.sample.units,
            generations=sum(each.sample.generations for each in estimates),
        )
    compares = candidate.compares_answers and not all(always_same)
    excesses = [
        _excess(one, other, fair, same)
        for one, other, same in zip(estimates, estimates[::-1], always_same, strict=True)
    ]
    if excesses[0] is not None and excesses[1] is not None:
        candidate, baseline, compares = excesses[0], excesses[1], False
    folded = direction == "two-sided" or (
        isinstance(candidate, RateDifference) and candidate.absolute
    )
    if direction == "higher":
        candidate, baseline = baseline, candidate
    loss = PairedDifference.between(candidate, baseline, folded=folded, how=how)
    # Noise may hide that models differ, but not that they gave the same answers.
    return replace(loss, compares_answers=compares and how != "identical")


def _excess(one: Estimate, other: Estimate, fair: float, always_same: bool) -> Estimate | None:
    """Return the excess over the noise floor, where `other` has one too."""
    if one.excess is not None or not always_same:
        return one.excess
    if not isinstance(other.excess, Mean) or one.contributions is None:
        return None
    parts = one.contributions
    # Two answers to the same prompt are always equal, so the floor is the fair value.
    excess = Mean.of_values(parts.values - fair, units=parts.units, bounds=other.excess.bounds)
    return replace(excess, rows=(np.asarray(one.rows) - fair).tolist())
