"""Missing answers as evidence: how they differ between groups, and what they could hide."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_llmfair.responses import Answer, Missing

if TYPE_CHECKING:
    from pytest_llmfair.judging.bound import Bound
    from pytest_llmfair.stats import Estimate

# Above this share of rows the worst case is told even when it changes nothing.
_WORTH_TELLING = 0.01


@dataclass(frozen=True, slots=True)
class MissingData:
    """What is missing of the answers that were asked for.

    Attributes
    ----------
    share : float
        Share of the rows with a missing answer, added over the sides, at most 1. No quantity that
        lies within a span and that one row moves by no more than its own weight (a mean, a rate,
        a difference or a distance of these) can be worse than what was measured by more than this
        share of the span.
    difference : Estimate or None
        Largest absolute difference of the missing rates of two groups, with pairs as units; None
        for single prompts, and when nothing is missing.
    groups : tuple of str
        The groups.
    rates : tuple of float
        Share of the answers that is missing, by group.
    bounded : bool
        Whether a row has a weight that is known. Where words are counted one long answer can
        outweigh all others.
    """

    share: float = 0.0
    difference: Estimate | None = None
    groups: tuple[str, ...] = ()
    rates: tuple[float, ...] = ()
    bounded: bool = True

    def unequal(self, bound: Bound, level: float) -> str:
        """Say that the missing rates themselves differ by more than the bound; else nothing."""
        if self.difference is None or not bound.reach < math.inf:
            return ""
        if not self.difference.interval(level).lower > bound.reach:
            return ""
        return f"{self._rates(level)}, which is itself beyond the bound"

    def notes(self, level: float) -> list[str]:
        """Say how missing rates differ, where more than a few answers are missing."""
        if self.difference is None or self.share <= _WORTH_TELLING:
            return []
        return [self._rates(level)]

    def worst_case(
        self, estimate: Estimate, bound: Bound, lower: float, upper: float, *, passed: bool
    ) -> tuple[str, str]:
        """Say how far the missing answers could move the value, and what that does to a PASS.

        The reason is empty where no PASS depends on them, the words too where few are missing.
        """
        telling = self.share > _WORTH_TELLING
        if self.share == 0.0 or not (passed or telling):
            return "", ""
        low, high = estimate.attainable
        if not (self.bounded and math.isfinite(low) and math.isfinite(high)):
            why = (
                "this metric has no largest value"
                if self.bounded
                else "one long answer could outweigh all others"
            )
            words = (
                f"{self.share:.1%} of the rows miss an answer; what they could hide is not known, "
                f"since {why}"
            )
            return "worst_case_unknown" if passed else "", words
        slack = self.share * (high - low)
        # A pair without one answer is left out with the other, so that a difference of sides can
        # shrink by either; it can grow by no more than the pair's weight.
        shrink = 2.0 * slack if self.groups and bound.direction == "lower" else slack
        lower, upper = max(low, lower - shrink), min(high, upper + slack)
        words = f"worst case of the missing answers: the value lies in [{lower:.3f}, {upper:.3f}]"
        if passed and not bound.sides(lower, upper)[0]:
            return "worst_case_exceeds", f"{words}, which does not prove the bound"
        return "", words if telling else ""

    def _rates(self, level: float) -> str:
        assert self.difference is not None
        ends = self.difference.interval(level)
        rates = ", ".join(
            f"{group} {rate:.1%}" for group, rate in zip(self.groups, self.rates, strict=True)
        )
        return (
            f"missing answers by group: {rates}; difference {self.difference.value:.3f} "
            f"[{ends.lower:.3f}, {ends.upper:.3f}]"
        )


def losses_of(
    rows: Sequence[Sequence[Sequence[Answer]]],
    groups: tuple[str, ...],
    units: Sequence[Sequence[Hashable]],
    *,
    bounded: bool = True,
) -> MissingData:
    """Count what is missing of the rows of each group, or of all prompts without groups.

    Rows with one label in `units` are one sampling unit; for `bounded` see :class:`MissingData`.
    """
    flags = [[[isinstance(a, Missing) for a in row] for row in side] for side in rows]
    share = math.fsum(
        sum(any(row) or not row for row in side) / max(len(side), 1) for side in flags
    )
    if share == 0.0 or len(groups) < 2:
        return MissingData(min(share, 1.0), bounded=bounded)
    counts = [[flag for row in side for flag in row] for side in flags]
    rates = tuple(sum(side) / len(side) if side else math.nan for side in counts)
    if any(map(math.isnan, rates)):
        return MissingData(min(share, 1.0), bounded=bounded)
    from pytest_llmfair.metrics import demographic_parity_difference

    difference = demographic_parity_difference(
        [int(flag) for side in counts for flag in side],
        groups=[group for group, side in zip(groups, counts, strict=True) for _ in side],
        units=[
            label
            for labels, side in zip(units, flags, strict=True)
            for label, row in zip(labels, side, strict=True)
            for _ in row
        ],
    )
    return MissingData(min(share, 1.0), difference, groups, rates, bounded)
