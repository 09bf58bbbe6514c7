"""All pairs of several groups compared by one metric; the value is that of the worst pair."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pytest_llmfair.stats._base import Estimate, GroupRow, Undefined
from pytest_llmfair.stats._records import Ends, Finding, Passes
from pytest_llmfair.stats._rows import NO_VARIANCE
from pytest_llmfair.stats.multiplicity import ErrorRate, holm

GroupPair = tuple[str, str]

# Fewer units do not show how the errors of comparisons depend on one another.
_FEWEST_UNITS = 20


@dataclass(eq=False, kw_only=True)
class WorstGroups(Estimate):
    """The worst of several comparisons of two groups each.

    The end on the fair side needs no correction: all comparisons are within a bound exactly when
    the worst is (intersection-union test). The other end shares the error rate between the
    comparisons, since the worst of many was selected: by max-T where each has 20 labelled units or
    more, else evenly (Bonferroni).
    """

    # The estimate of each two groups, and the two that differ most.
    parts: Mapping[GroupPair, Estimate]
    worst: GroupPair
    # Which side of a bound is fairer.
    direction: Literal["lower", "higher"]
    shared: ErrorRate

    @classmethod
    def of_parts(
        cls,
        parts: Mapping[GroupPair, Estimate],
        direction: Literal["lower", "higher"],
        *,
        units: int,
        generations: int,
    ) -> Estimate:
        """Return the worst of the comparisons; undefined where one of them is.

        `units` and `generations` are the sampling units and answers of all groups together.

        Examples
        --------
        >>> from pytest_llmfair.stats import Mean
        >>> mean = Mean.of_values
        >>> parts = {("a", "b"): mean([0.1, 0.2]), ("a", "c"): mean([0.4, 0.5])}
        >>> WorstGroups.of_parts(parts, "lower", units=4, generations=4).worst
        ('a', 'c')
        """
        sign = 1.0 if direction == "higher" else -1.0
        sample = replace(
            next(iter(parts.values())).sample,
            units=units,
            generations=generations,
            effective=float("nan"),
        )
        missing = {k: part.undefined for k, part in parts.items() if part.undefined is not None}
        if missing:
            (a, b), why = next(iter(missing.items()))
            return Undefined(undefined=f"{a} and {b} cannot be compared: {why}", sample=sample)
        worst = min(parts, key=lambda key: sign * parts[key].debiased)
        part = parts[worst]
        return cls(
            value=part.value,
            sample=sample,
            attainable=part.attainable,
            # What the worst comparison says of each group by itself comes after the comparisons.
            groups={**_table(parts, direction), **part.groups},
            findings=_findings(parts),
            metric=part.metric,
            variant=part.variant,
            # Two variants of one prompt are a pair too, so the sampling unit is the prompt.
            unit="prompt",
            of=part.of,
            floor=part.floor,
            excess=part.excess,
            compares_answers=part.compares_answers,
            measures=part.measures,
            parts=parts,
            worst=worst,
            direction=direction,
            shared=_shared(list(parts.values()), sign),
        )

    @property
    def compared(self) -> tuple[str, ...]:
        """The two groups that the value is about."""
        return self.worst

    @property
    def part(self) -> Estimate:
        """The estimate of the worst two groups."""
        return self.parts[self.worst]

    @property
    def floor_words(self) -> str:  # type: ignore[override]
        """Meaning of the noise floor, in words."""
        return self.part.floor_words

    @property
    def method(self) -> str:  # type: ignore[override]
        """Method of the interval, in words."""
        how = "Bonferroni" if self.shared.covariance is None else "max-T"
        number = len(self.parts)
        return f"{self.part.method}, worst of {number} comparisons (intersection-union and {how})"

    @property
    def near_normal(self) -> bool:  # type: ignore[override]
        """Whether every comparison is."""
        return all(part.near_normal for part in self.parts.values())

    @property
    def debiased(self) -> float:
        """Bias-corrected value of the worst two groups."""
        return self.part.debiased

    def noise_floor(self) -> float:
        """Noise floor of the worst two groups."""
        return self.part.noise_floor()

    def lower_bound(self, alpha: float) -> float:
        """Lower end at one-sided error rate `alpha`."""
        if self.direction == "higher":
            return min(part.lower_bound(alpha) for part in self.parts.values())
        return max(part.lower_bound(self.shared.each(alpha)) for part in self.parts.values())

    def upper_bound(self, alpha: float) -> float:
        """Upper end at one-sided error rate `alpha`."""
        if self.direction == "lower":
            return max(part.upper_bound(alpha) for part in self.parts.values())
        return min(part.upper_bound(self.shared.each(alpha)) for part in self.parts.values())

    def _p_above(self, x: float) -> float:
        found = [part._p_above(x) for part in self.parts.values()]
        return max(found) if self.direction == "higher" else self.shared.all(min(found))

    def _p_below(self, x: float) -> float:
        found = [part._p_below(x) for part in self.parts.values()]
        return max(found) if self.direction == "lower" else self.shared.all(min(found))

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error of the worst two groups."""
        return self.part.standard_error(at)

    def planted_effect(self, alpha: float) -> float:
        """Effect that the smallest comparison finds at its share of the error rate."""
        smallest = min(self.parts.values(), key=lambda part: part.sample.generations)
        own = getattr(smallest, "planted_effect", lambda _: math.nan)
        return float(own(self.shared.each(alpha)))

    def times_as_many(self, less: float) -> float:
        """Multiple of the units that divides the squared error by `less`."""
        return float(getattr(self.part, "times_as_many", float)(less))

    def fair_passes(self, allowed: Ends, fair: float, alpha: float) -> Passes:
        """As :meth:`Estimate.fair_passes`: every comparison has to be within, independently."""
        parts = [part.fair_passes(allowed, fair, alpha) for part in self.parts.values()]
        return lambda more: math.prod(part(more) for part in parts)

    def needed_units(
        self, threshold: float, *, power: float = 0.8, level: float = 0.95
    ) -> tuple[int, int] | None:
        """Units that would decide about the worst two groups, as a range."""
        needed = self.part.needed_units(threshold, power=power, level=level)
        if needed is None:
            return None
        # Other groups may share few prompts with these two, so count the prompts of all groups.
        more = self.sample.units / max(self.part.sample.units, 1)
        low, high = (min(10**6, round(n * more)) for n in needed)
        return low, high


def _shared(parts: Sequence[Estimate], sign: float) -> ErrorRate:
    """Return the joint law of the errors, from what each unit contributes to every comparison."""
    rows = [part.contributions for part in parts]
    places: dict[Hashable, int] = {}
    influence = []
    for part, own in zip(parts, rows, strict=True):
        if own is None or not isinstance(own.units, list) or part.sample.population == "fixed":
            return ErrorRate(len(parts))
        index = [places.setdefault(unit, len(places)) for unit in own.units]
        centred = own.values - own.values.mean()
        if len(set(index)) < _FEWEST_UNITS or not centred.var() > NO_VARIANCE:
            return ErrorRate(len(parts))
        influence.append(np.bincount(index, weights=-sign * centred) / len(centred))
    table = np.zeros((len(places), len(parts)))
    for number, column in enumerate(influence):
        table[: len(column), number] = column
    return ErrorRate(len(parts), table.T @ table, folded=False)


def _table(parts: Mapping[GroupPair, Estimate], direction: str) -> dict[Hashable, GroupRow]:
    """Return all comparisons, the worst first, with p-values of "differs" adjusted by Holm."""
    sign = 1.0 if direction == "higher" else -1.0
    keys = sorted(parts, key=lambda key: sign * parts[key].debiased)
    ps = holm([_p_differs(parts[key], direction) for key in keys])
    return {
        key: GroupRow(value=parts[key].value, n=parts[key].sample.units, p=p, estimate=parts[key])
        for key, p in zip(keys, ps, strict=True)
    }


def _p_differs(part: Estimate, direction: str) -> float:
    """Return the p-value of a difference that the group causes; NaN where noise hides it."""
    if part.excess is not None:
        excess = part.excess
        return excess.p_within(0.0) if direction == "higher" else excess.p_exceeds(0.0)
    if part.compares_answers or direction == "higher":
        return float("nan")
    return part.p_exceeds(max(0.0, part.attainable[0]))


def _findings(parts: Mapping[GroupPair, Estimate]) -> tuple[Finding, ...]:
    """Return flags and notes that all comparisons share, and everything that makes one invalid."""
    first, *others = parts.values()
    found = []
    for each in first.findings:
        shared = all(each.text in other.notes for other in others)
        if each.kind == "flag" and all(each.code in other.reasons for other in others):
            found.append(Finding(each.code, each.text if shared else ""))
        elif each.kind != "invalid" and shared and each.code != "uncovered_group":
            found.append(Finding.note(each.text))
    found += [
        Finding(code, f"{' and '.join(key)}: {words}", "invalid")
        for key, part in parts.items()
        for code, words in part.invalid.items()
    ]
    found += [Finding.uncovered(group) for part in parts.values() for group in part.lacks]
    return tuple(dict.fromkeys(found))
