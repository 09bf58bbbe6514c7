"""Means over items and wordings (or other crossed factors), and the worst level of a factor."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from pytest_llmfair._util.wording import plural, plurals, shorten
from pytest_llmfair.stats._base import Estimate, GroupRow
from pytest_llmfair.stats._records import Call, Ends, Finding, Floats, Passes
from pytest_llmfair.stats._score_intervals import t_quantile, within_share
from pytest_llmfair.stats.crossed import Crossed, Crossing, fixed_factor, half_width
from pytest_llmfair.stats.mean import Mean
from pytest_llmfair.stats.worst_groups import WorstGroups

# What the call of a mean over crossed factors is named by.
ROBUST = "robust_over"

# Fewer levels of a factor are not taken as draws from more: their worst is judged.
FEWEST_LEVELS = 4
# With fewer levels than this the interval is wide, and rests on few of them.
_FEW_LEVELS = 6
_FEWEST_ITEMS = 5
# Code of the finding that there are fewer items.
FEW_ITEMS = "few_items"
_LONGEST_LABEL = 60
# Findings about cells, which are not the units here.
_OF_CELLS = ("thin_evidence", "no_variance")

Labels = Mapping[str, Sequence[Hashable]]


@dataclass(eq=False, kw_only=True)
class CrossedMean(Crossed):
    """A mean over items, wordings and further factors, never surer than over items alone."""

    # The squared error and its parts.
    crossing: Crossing
    # The factors, items first.
    names: tuple[str, ...]
    # By factor but the items: each level alone, over its items. `groups` has the same.
    levels: Mapping[str, Mapping[str, Estimate]]
    # Variance of a row's value that is due to its generations; NaN where unknown.
    sampling: float = math.nan
    # Generations of a row.
    answers: float = 1.0
    method: str = "t interval over crossed factors"

    @property
    def debiased(self) -> float:
        """The value, which has no bias."""
        return self.value

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        low = self.value - self._t_reach(alpha)
        return max(self.attainable[0], min(low, self.factors[0].lower_bound(alpha)))

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        high = self.value + self._t_reach(alpha)
        return min(self.attainable[1], max(high, self.factors[0].upper_bound(alpha)))

    def noise_floor(self) -> float:
        """Value of the companion floor; NaN without one."""
        return math.nan if self.floor is None else self.floor.value

    @property
    def floor_words(self) -> str:  # type: ignore[override]
        """Meaning of the noise floor, in words."""
        return self.factors[0].floor_words

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error; a planned one has the wordings of these data."""
        if at is not None:
            return math.hypot(self.factors[0].standard_error(at), math.sqrt(self._settled))
        variance = self.crossing.variance
        return math.sqrt(variance) if variance > 0.0 else self.factors[0].standard_error()

    def least_half_width(self, alpha: float) -> float:
        """Half-width that endless items would leave."""
        others = self.crossing.main[1:], 0.0, self.crossing.levels[1:]
        return half_width(*others, alpha) if any(others[0]) else 0.0

    def times_as_many(self, less: float) -> float:
        """Multiple of the items that divides the squared error by `less`; may be infinite."""
        variance = self.crossing.variance
        target = variance / less - self._settled
        if not variance > 0.0:
            return less
        return (variance - self._settled) / target if target > 0.0 else math.inf

    def fair_passes(self, allowed: Ends, fair: float, alpha: float) -> Passes:
        """As :meth:`Estimate.fair_passes`, with the same wordings whatever the number of items."""
        variance = self.crossing.variance
        if not variance > 0.0:
            return self.factors[0].fair_passes(allowed, fair, alpha)
        low, high = (end - fair for end in allowed)
        reach = self._t_reach(alpha)

        def passes(more: float) -> float:
            left = self._settled + (variance - self._settled) / more
            shrink = math.sqrt(left / variance)
            return within_share(math.sqrt(left), (low, high), (reach * shrink, reach * shrink))

        return passes

    def needed_units(
        self, threshold: float, *, power: float = 0.8, level: float = 0.95
    ) -> tuple[int, int] | None:
        """As :meth:`Estimate.needed_units`; None where no number of items decides."""
        found = Estimate.needed_units(self, threshold, power=power, level=level)
        if found is None:
            return None
        units = self.sample.units
        low, high = (units * self.times_as_many(n / units) for n in found)
        return None if math.isinf(low) else (math.ceil(low), math.ceil(min(high, 10**6)))

    @property
    def _settled(self) -> float:
        """Part of the squared error that more items do not reduce."""
        others = zip(self.crossing.main[1:], self.crossing.levels[1:], strict=True)
        return min(self.crossing.variance, sum(one / g for one, g in others))

    def _t_reach(self, alpha: float) -> float:
        return t_quantile(1.0 - alpha, self.crossing.df) * math.sqrt(self.crossing.variance)


@dataclass(eq=False, kw_only=True)
class WorstLevels(WorstGroups):
    """The worst level of a factor with two or three levels, which are not draws from more."""

    factor: str = ""

    @property
    def compared(self) -> tuple[str, ...]:
        """No groups."""
        return ()

    @property
    def method(self) -> str:  # type: ignore[override]
        """Method of the interval, in words."""
        return super().method.replace("comparisons", plurals(self.factor))


def over_levels(estimate: Estimate, labels: Labels, direction: str = "lower") -> Estimate:
    """Return a mean over rows as one over crossed factors, whose `labels` are by cell."""
    rows = estimate.contributions
    if estimate.undefined is not None:
        return estimate
    if rows is None or rows.units is None or alike(estimate, rows.values, rows.units) is None:
        text = (
            "robust_over is for means over rows and for paired differences of means; leave it "
            "out for this metric"
        )
        return estimate.with_findings(Finding("not_for_this_metric", text, "invalid"))
    cells: Any = rows.units
    own = {name: [levels[cell] for cell in cells] for name, levels in labels.items()}
    if why := _not_crossed(own, direction):
        return estimate.with_findings(Finding("not_crossed", why, "invalid"))
    excess = estimate.excess and over_levels(estimate.excess, labels, direction)
    found = _over(estimate, rows.values, own, direction, excess)
    kept = [each for each in estimate.findings if each.code not in _OF_CELLS]
    missing = [] if excess is None else [f for f in excess.findings if f.kind == "invalid"]
    items, number = next(iter(own)), len(set(next(iter(own.values()))))
    if number < _FEWEST_ITEMS:
        text = f"only {plural(items, number)}; give at least {_FEWEST_ITEMS}"
        missing.append(Finding(FEW_ITEMS, text))
    return replace(
        found,
        rows=estimate.rows,
        findings=tuple(dict.fromkeys((*kept, *found.findings, *missing))),
        metric=estimate.metric,
        call=Call(ROBUST, (estimate,), {"labels": dict(labels), "direction": direction}),
        variant=estimate.variant,
        unit=items,
    )


def _not_crossed(labels: Labels, direction: str) -> str:
    """Name what keeps the factors from being crossed; empty if nothing does."""
    (items, first), *others = labels.items()
    for name, levels in others:
        of_level: dict[Hashable, set[Hashable]] = {}
        for item, level in zip(first, levels, strict=True):
            of_level.setdefault(level, set()).add(item)
        if len(of_level) < 2:
            return f"answers to one {name} only are left; robust_over needs two or more"
        if direction == "two-sided" and len(of_level) < FEWEST_LEVELS:
            return (
                f"answers to {plural(name, len(of_level))} only are left, and none is the worst "
                f"where both sides count; robust_over needs {FEWEST_LEVELS} or more"
            )
        least = min(of_level, key=lambda level: len(of_level[level]))
        if len(of_level[least]) < 2:
            return (
                f"the {name} {_shown(least)!r} has one {items} only, so that {items} and {name} "
                f"cannot be told apart; combine every {name} with the same {plurals(items)}"
            )
    return ""


def _over(
    estimate: Estimate, values: Floats, labels: Labels, direction: str, excess: Estimate | None
) -> Estimate:
    """Return the mean over factors; that of the worst level where a factor has two or three."""
    _, *others = labels
    for name in others:
        if len(set(labels[name])) < FEWEST_LEVELS:
            return _worst_level(estimate, values, labels, name, direction, excess)
    (first, *rest) = by_factor = [_alike(estimate, values, labels[name]) for name in labels]
    # The mean is worth fewer draws than over items alone.
    sample = replace(first.sample, effective=math.nan, icc=math.nan, design_effect=math.nan)
    if len(values) == len(estimate.contributions.values):  # type: ignore[union-attr]
        sample = replace(sample, generations=estimate.sample.generations)
    about: dict[str, Any] = {
        "sample": sample,
        "floor": estimate.floor,
        "excess": excess,
        "compares_answers": estimate.compares_answers,
        "measures": estimate.measures,
    }
    if not rest:
        return replace(first, **about)
    crossing = Crossing.of_rows(values, list(labels.values()))
    found = [f for f in first.findings if f.code != "no_variance" or not crossing.variance > 0.0]
    for name, number in zip(others, crossing.levels[1:], strict=True):
        if number < _FEW_LEVELS:
            text = f"only {plural(name, number)}: the interval rests on few; 10 or more are better"
            found.append(Finding(f"few_{plurals(name)}", text))
    levels = {name: _levels(estimate, values, labels, name, excess) for name in others}
    return CrossedMean(
        **about,
        value=first.value,
        attainable=estimate.attainable,
        groups=_table(levels),
        findings=tuple(found),
        factors=tuple(by_factor),
        apart=estimate,
        crossing=crossing,
        names=tuple(labels),
        levels=levels,
        sampling=getattr(estimate, "sampling", math.nan),
        answers=_answers(estimate),
    )


def _answers(estimate: Estimate) -> float:
    """Return the answers to a prompt: a pair has those of two."""
    assert estimate.contributions is not None
    needs = getattr(estimate.metric, "needs", "")
    sides = 2 if estimate.compares_answers or needs.endswith("_pairs") else 1
    return estimate.sample.generations / len(estimate.contributions.values) / sides


def alike(estimate: Estimate, values: Any, units: Any) -> Estimate | None:
    """Return a mean of the same kind over other rows; None for what is no mean over rows."""
    rows = estimate.contributions
    if rows is None:
        return None
    if not isinstance(estimate, Mean):
        make = getattr(estimate, "alike", None)
        return None if make is None else cast("Estimate", make(values, units))
    return Mean.of_values(
        values,
        units=units,
        bounds=estimate.bounds,
        reach=estimate.reach,
        generations=max(1, round(estimate.sample.generations / len(rows.values))),
        outcomes=estimate.outcomes and bool(np.isin(values, estimate.bounds).all()),
    )


def _alike(estimate: Estimate, values: Floats, units: Sequence[Hashable]) -> Estimate:
    found = alike(estimate, values, units)
    assert found is not None
    return found


def _parts(values: Floats, labels: Labels, name: str) -> dict[str, tuple[Floats, dict[str, Any]]]:
    """Return the rows of each level of a factor, with the labels of the other factors."""
    levels = np.array([str(level) for level in labels[name]], dtype=object)
    parts: dict[str, tuple[Floats, dict[str, Any]]] = {}
    for level in dict.fromkeys(levels):
        at = np.flatnonzero(levels == level)
        others = {k: [of[int(i)] for i in at] for k, of in labels.items() if k != name}
        key = _shown(level)
        # Two long labels may look alike.
        parts[key if key not in parts else f"{key} ({len(parts) + 1})"] = values[at], others
    return parts


def _levels(
    estimate: Estimate, values: Floats, labels: Labels, name: str, excess: Estimate | None
) -> dict[str, Estimate]:
    """Return each level of a factor alone, with its excess over the noise floor if known."""
    items = next(iter(labels))
    beyond_noise = excess.levels[name] if isinstance(excess, CrossedMean) else {}
    return {
        level: replace(_alike(estimate, own, rest[items]), excess=beyond_noise.get(level))
        for level, (own, rest) in _parts(values, labels, name).items()
    }


def _table(levels: Mapping[str, Mapping[str, Estimate]]) -> dict[Hashable, GroupRow]:
    several = len(levels) > 1
    return {
        f"{name} {label}" if several else label: GroupRow(
            part.value, part.sample.units, estimate=part
        )
        for name, parts in levels.items()
        for label, part in parts.items()
    }


def _worst_level(
    estimate: Estimate,
    values: Floats,
    labels: Labels,
    name: str,
    direction: str,
    excess: Estimate | None,
) -> Estimate:
    beyond_noise: Mapping[Any, Estimate] = excess.parts if isinstance(excess, WorstLevels) else {}
    parts: dict[Any, Estimate] = {}
    for level, (own, rest) in _parts(values, labels, name).items():
        part = _over(estimate, own, rest, direction, beyond_noise.get((level,)))
        if excess is not None and part.excess is None:
            text = f"the {name} {level!r} lacks repeated answers, so its noise is unknown"
            part = part.with_findings(Finding("no_noise_floor", text, "invalid"))
        parts[(level,)] = part
    items = len(set(next(iter(labels.values()))))
    worst = WorstLevels.of_parts(
        parts,
        direction,  # type: ignore[arg-type]
        units=items,
        generations=estimate.sample.generations,
    )
    assert isinstance(worst, WorstLevels)
    why = f"{plural(name, len(parts))} are too few"
    return replace(worst, factor=name).with_findings(fixed_factor(name, why))


def _shown(label: object) -> str:
    return shorten(str(label), _LONGEST_LABEL)
