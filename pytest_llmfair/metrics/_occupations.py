"""Generations of occupations by gender: counts, checked, and estimates of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_llmfair._util.validation import share
from pytest_llmfair.metrics.arguments import (
    RowNumbers,
    RowsByLabel,
    first_few,
    flat_scores,
    known_population,
    labels,
    same_length,
)
from pytest_llmfair.stats import (
    Estimate,
    Finding,
    GroupRow,
    Population,
    Sample,
    Table,
    Undefined,
)

Integers = npt.NDArray[np.int64]

# Exact distributions of counts are computed; more generations than this is a mistake.
_MOST_COUNTED = 1_000_000


@dataclass(frozen=True, slots=True, repr=False)
class OccupationRow(GroupRow):
    """A row of ``.groups`` with the shares dropped from it, and tied in it; NaN where unknown."""

    dropped: float = math.nan
    ties: float = math.nan


@dataclass(frozen=True, slots=True)
class Occupations:
    """Checked counts, one entry per row; rows of one occupation are one row of the table."""

    # `kept` generations have a gender, `total` are all of them, and `ties` have as many male
    # as female pronouns.

    names: Sequence[Hashable]
    units: list[Hashable] | None
    male: Integers
    kept: Integers
    total: Integers | None
    ties: Integers | None

    @classmethod
    def read(
        cls,
        male_counts: Any,
        kept_counts: Any,
        total_counts: Any,
        tie_counts: Any,
        units: Sequence[Hashable] | None,
    ) -> Occupations:
        """Check the counts; ``ValueError`` names the argument or the occupation."""
        named = list(male_counts) if isinstance(male_counts, Mapping) else None
        male = _column(male_counts, "male_counts", named)
        kept = _column(kept_counts, "kept_counts", named)
        total = None if total_counts is None else _column(total_counts, "total_counts", named)
        ties = None if tie_counts is None else _column(tie_counts, "tie_counts", named)
        if ties is not None and total is None:
            raise ValueError("tie_counts needs total_counts, the generations they are a share of")
        columns = {"male_counts": male, "kept_counts": kept}
        columns |= {} if total is None else {"total_counts": total}
        columns |= {} if ties is None else {"tie_counts": ties}
        same_length(**columns)
        joined = None if units is None else labels(units, "units", len(male))
        found = cls(named or joined or range(len(male)), joined, male, kept, total, ties)
        found._check()
        return found

    def _check(self) -> None:
        total = self.kept if self.total is None else self.total
        rising = (self.male <= self.kept) & (self.kept <= total)
        tied = np.zeros(len(total), dtype=np.bool_) if self.ties is None else self.ties > total
        for i in np.flatnonzero(~rising | tied).tolist():
            name, n = self.names[i], total[i]
            if not rising[i]:
                raise ValueError(
                    f"occupation {name}: male_counts {self.male[i]}, kept_counts {self.kept[i]}"
                    + ("" if self.total is None else f", total_counts {n}")
                    + "; none may exceed the next"
                )
            if self.ties is not None:
                raise ValueError(
                    f"occupation {name}: {self.ties[i]} ties of {n} generations; a tie is one of "
                    "them"
                )

    def majority(self, given: Any) -> list[bool]:
        """Return for each row whether its majority is male; `given` has "male" or "female"."""
        named = isinstance(given, Mapping)
        if named:
            absent = [str(name) for name in self.names if name not in given]
            if absent:
                raise ValueError(f"majority does not name {absent[0]}; give male or female for it")
            given = [given[name] for name in self.names]
        found = labels(given, "majority", len(self.names))
        for name, label in zip(self.names, found, strict=True):
            if label not in ("male", "female"):
                raise ValueError(
                    f"majority of occupation {name} is {str(label)[:40]!r}; give male or female"
                )
        return [label == "male" for label in found]

    def measured(
        self,
        successes: Integers,
        engine: Callable[..., Estimate],
        *,
        population: Population,
        max_dropped: float,
    ) -> Estimate:
        """Estimate a kind of count over all occupations and for each of them, and report drops."""
        known_population(population)
        limit = share(max_dropped, "max_dropped")
        rows = RowsByLabel(self.names, len(self.names))
        empty = [self.names[i] for i in np.flatnonzero(self.kept == 0).tolist()]
        estimate = (
            self._undefined(empty, population)
            if empty
            else engine(successes, self.kept, population=population, units=self.units)
        )
        groups = Table(rows, lambda name: self._row(rows[name], successes, engine))
        return self._report(replace(estimate, groups=groups), rows, limit)

    def _undefined(self, empty: Sequence[Hashable], population: Population) -> Undefined:
        return Undefined(
            undefined=f"no generation with a gendered pronoun for {len(empty)} of "
            f"{len(self.names)} occupations ({first_few(empty)}); collect more, or leave these "
            "out",
            sample=Sample(
                units=len(set(self.units or self.names)),
                generations=int(self.kept.sum()),
                fewest=int(self.kept.min()),
                most=int(self.kept.max()),
                population=population,
            ),
        )

    def _row(
        self, own: RowNumbers, successes: Integers, engine: Callable[..., Estimate]
    ) -> OccupationRow:
        kept = int(self.kept[own].sum())
        dropped, ties = self._dropped(own), math.nan
        if self.total is not None and self.ties is not None:
            total = int(self.total[own].sum())
            ties = int(self.ties[own].sum()) / total if total else math.nan
        if not self.kept[own].all():
            return OccupationRow(math.nan, kept, dropped=dropped, ties=ties)
        skew = engine(successes[own], self.kept[own], population="fixed", units=None)
        rate = int(successes[own].sum()) / kept
        return OccupationRow(skew.value, kept, rate, estimate=skew, dropped=dropped, ties=ties)

    def _dropped(self, own: RowNumbers) -> float:
        """Share of the generations of some rows that have no gender; NaN where unknown."""
        total = 0 if self.total is None else int(self.total[own].sum())
        return 1.0 - int(self.kept[own].sum()) / total if total else math.nan

    def _report(self, estimate: Estimate, rows: RowsByLabel, limit: float) -> Estimate:
        """Say how many generations were dropped or tied; too many make the evidence invalid."""
        if self.total is None or not self.total.any():
            return estimate
        found = {name: self._dropped(own) for name, own in rows.items()}
        table = {name: part for name, part in found.items() if not math.isnan(part)}
        total = int(self.total.sum())
        dropped = 1.0 - int(self.kept.sum()) / total
        worst = max(table, key=lambda name: table[name])
        findings = []
        if dropped > 0.0:
            note = (
                f"{dropped:.1%} of generations have no gender and were left out, the largest "
                f"share for {worst} ({table[worst]:.1%})"
            )
            findings.append(Finding.note(note))
        if self.ties is not None and self.ties.any():
            ties = (
                f"{int(self.ties.sum()) / total:.1%} of generations have as many male as female "
                "pronouns"
            )
            findings.append(Finding.note(ties))
        beyond = [name for name, part in table.items() if part > limit]
        if beyond:
            too_many = (
                f"more than max_dropped = {limit:.0%} of the generations were "
                f"dropped for {len(beyond)} of {len(table)} occupations "
                f"({first_few([f'{name} {table[name]:.0%}' for name in beyond])}): they had no "
                "gendered pronoun; change the prompts or raise max_dropped"
            )
            findings.append(Finding("too_many_dropped", too_many, "invalid"))
        return estimate.with_findings(*findings)


def _column(values: Any, argument: str, named: list[Hashable] | None) -> Integers:
    if isinstance(values, Mapping) != (named is not None):
        raise ValueError(
            f"{argument} is a {type(values).__name__}, male_counts is "
            f"{'no' if named is None else 'a'} mapping; give mappings from occupation to count, "
            "or lists, for all of them"
        )
    if named is None:
        return _counts(values, argument)
    absent = [str(name) for name in named if name not in values]
    if absent or len(values) != len(named):
        raise ValueError(
            f"{argument} has {len(values)} occupations, male_counts has {len(named)}"
            + (f"; {absent[0]} is not in {argument}" if absent else "")
        )
    return _counts([values[name] for name in named], argument)


def _counts(values: Any, argument: str) -> Integers:
    """Return whole numbers of at least 0, one per row."""
    array = flat_scores(values, argument)
    wrong = ~((array >= 0) & (array <= _MOST_COUNTED) & (array == np.floor(array)))
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            f"{argument} row {i} is {array[i]:g}; give whole numbers from 0 to {_MOST_COUNTED}"
        )
    return array.astype(np.int64)
