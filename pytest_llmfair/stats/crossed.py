"""Two-way intervals: rows that share the levels of several random factors, such as names."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmfair._util.wording import plural, plurals
from pytest_llmfair.stats._base import Estimate, GroupRow, Table
from pytest_llmfair.stats._records import Call, Finding
from pytest_llmfair.stats._score_intervals import t_quantile
from pytest_llmfair.stats.pairwise_max import MaxPairwiseDifference

# Fewer levels of a factor in a group do not show how others would vary.
_FEWEST_LEVELS = 3
# What the call of an estimate over several factors is named by.
CROSSED = "crossed"


@dataclass(eq=False, kw_only=True)
class Crossed(Estimate):
    """An estimate whose rows share the levels of several factors, all drawn from more.

    The variances over the levels of each factor add up, less what all of them hold, and are never
    below the largest (Cameron, Gelbach and Miller 2011); the interval of the first factor is
    widened to that. For distances, whose bias grows as levels become few, the squared distances
    of the bounds of each factor add up in the same way (MOVER, Zou and Donner 2008).
    """

    # Of the same rows: with the levels of each factor as units, and with each row as one.
    factors: tuple[Estimate, ...]
    apart: Estimate
    method: str = "two-way clusters"
    near_normal = False

    @classmethod
    def join(cls, *estimates: Estimate) -> Estimate:
        """Join estimates by factor, the last by row; of several groups every comparison."""
        first, *_ = estimates
        if any(each.undefined for each in estimates):
            return first
        own: dict[str, Any] = {
            "sample": first.sample,
            "findings": first.findings,
            "variant": first.variant,
            "unit": first.unit,
        }
        if isinstance(first, MaxPairwiseDifference):
            joined = {
                key: cls.join(
                    *(e.pairs[key] for e in estimates if isinstance(e, MaxPairwiseDifference))
                )
                for key in first.pairs
            }
            worst = type(first).of_pairs(joined)

            def row(key: Hashable) -> GroupRow:
                return replace(first.groups[key], p=worst.groups[key].p, estimate=joined[key])

            # Rows are made when they are read, since every p-value is a search.
            return replace(worst, groups=Table(first.groups, row), **own)
        parts = {}
        for key in first.groups:
            if known := [e for each in estimates if (e := each.groups[key].estimate) is not None]:
                parts[key] = cls.join(*known)
        return cls(
            value=first.value,
            attainable=first.attainable,
            of=first.of,
            factors=estimates[:-1],
            apart=estimates[-1],
            groups={
                key: replace(row, p=math.nan, estimate=parts.get(key))
                for key, row in first.groups.items()
            },
            **own,
        )

    @property
    def debiased(self) -> float:
        """That of the first factor; inside the interval at every level."""
        first = self.factors[0]
        return min(max(first.debiased, first.lower_bound(0.5)), first.upper_bound(0.5))

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        centre = self.debiased
        reach = self._reach(alpha, lambda each: max(0.0, centre - each.lower_bound(alpha)))
        return max(self.attainable[0], centre - reach)

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        centre = self.debiased
        reach = self._reach(alpha, lambda each: max(0.0, each.upper_bound(alpha) - centre))
        return min(self.attainable[1], centre + reach)

    def noise_floor(self) -> float:
        """Return the largest floor of a factor."""
        return max(each.noise_floor() for each in self.factors)

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error, as in :class:`Estimate`."""
        return self._joined(lambda each: each.standard_error(at))

    def _reach(self, alpha: float, reach: Callable[[Estimate], float]) -> float:
        first = self.factors[0]
        if self.of == "debiased":
            return self._joined(reach)
        if "no_variance" in first.reasons:
            # Rows that are all equal are so over the levels of every factor.
            return reach(first)
        error, own = self.standard_error(), first.standard_error()
        squares = [each.standard_error() ** 4 / (each.sample.units - 1) for each in self.factors]
        df = max(1.0, error**4 / sum(squares))
        t, t_own = (t_quantile(1.0 - alpha, n) for n in (df, first.sample.units - 1.0))
        # At the median both quantiles are 0.
        return reach(first) * error / own * (t / t_own if t_own > 0.0 else 1.0)

    def _joined(self, size: Callable[[Estimate], float]) -> float:
        squares = [size(each) ** 2 for each in self.factors]
        shared = (len(squares) - 1) * size(self.apart) ** 2
        return math.sqrt(max(sum(squares) - shared, *squares))


def over_factors(
    measure: Callable[[Sequence[Hashable] | None], Estimate],
    factors: Mapping[str, Sequence[Hashable]],
    groups: Sequence[Hashable],
) -> Estimate:
    """Measure rows by crossed factors; later ones are fixed where a group has few levels."""
    found: dict[str, Estimate] = {}
    fixed: list[Finding] = []
    for name, levels in factors.items():
        of_group: dict[Hashable, set[Hashable]] = {}
        for group, level in zip(groups, levels, strict=True):
            of_group.setdefault(group, set()).add(level)
        fewest = min(of_group, key=lambda group: len(of_group[group]))
        number = len(of_group[fewest])
        if found and number < _FEWEST_LEVELS:
            fixed.append(fixed_factor(name, f"{fewest} has {plural(name, number)}, too few"))
        else:
            found[name] = measure(levels)
    estimate = next(iter(found.values()))
    if len(found) > 1 and not estimate.undefined:
        parts = (*found.values(), measure(None))
        estimate = Crossed.join(*parts).with_metric(estimate.metric, Call(CROSSED, parts))
        sizes = " and ".join(plural(name, len(set(factors[name]))) for name in found)
        fixed.append(Finding.note(f"the interval is over {sizes}, as draws from more"))
    return estimate.with_findings(*fixed)


def fixed_factor(name: str, why: str) -> Finding:
    """Say that a value holds for the levels of a factor only."""
    names = plurals(name)
    text = f"{why} to show what other {names} would give: the value is about these {names} only"
    return Finding(f"fixed_{names.replace(' ', '_')}", text)
