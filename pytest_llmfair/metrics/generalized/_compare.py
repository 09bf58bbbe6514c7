"""One engine for all generalized metrics: terms of comparisons, their mean, and their table.

Czarnowska et al. (2021), equations 1 to 6. Kinds of data differ in how `Scores` compares groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Any, Protocol

from pytest_llmfair.metrics.arguments import reference_groups
from pytest_llmfair.stats import (
    Estimate,
    Finding,
    GroupRow,
    Reference,
    Sample,
    Table,
    Undefined,
)

Groups = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Pooled:
    """Label of the groups that make up the background."""

    names: Groups

    def __str__(self) -> str:
        return " or ".join(map(str, self.names))


@dataclass(frozen=True, slots=True)
class GroupContrast:
    """One comparison: its key in the table, and the groups on either side."""

    key: Hashable
    first: Groups
    second: Groups  # empty: the unperturbed example

    @property
    def others(self) -> Groups:
        """Groups of the second side that are not in the first."""
        return tuple(name for name in self.second if name not in self.first)


@dataclass(frozen=True, slots=True)
class ComparisonDesign:
    """Terms whose sum over `divisor` is the value; without terms all groups at once."""

    terms: tuple[GroupContrast, ...]
    against: Reference
    divisor: int

    def swapped(self) -> ComparisonDesign:
        """Return the same terms with their sides swapped."""
        return replace(
            self, terms=tuple(GroupContrast(t.key, t.second, t.first) for t in self.terms)
        )

    def of_group(self, name: Hashable) -> ComparisonDesign:
        """Return the mean over the pairs that hold a group."""
        own = tuple(term for term in self.terms if name in term.first + term.second)
        return ComparisonDesign(own, (name,), len(own))


class ComparableScores(Protocol):
    """Scores of groups, which can be compared."""

    @property
    def names(self) -> Sequence[Hashable]:
        """Groups, in order of appearance."""
        ...

    def compare(self, term: GroupContrast) -> Estimate:
        """Estimate one comparison."""
        ...

    def mean(self, design: ComparisonDesign) -> Estimate:
        """Estimate the sum of all comparisons over the divisor."""
        ...

    def worst(self, design: ComparisonDesign, parts: Mapping[Hashable, Estimate]) -> Estimate:
        """Estimate the comparison furthest from fair."""
        ...

    def entries(self, groups: Groups) -> int:
        """Return the evidence of some groups."""
        ...

    def rate(self, name: Hashable) -> float:
        """Return the score of a group if it is a rate."""
        return math.nan


ALL_AT_ONCE = ComparisonDesign((), "pairs", 1)


def all_pairs(names: Sequence[Hashable], divisor: int | None = None) -> ComparisonDesign:
    """Compare every two groups."""
    terms = tuple(GroupContrast((a, b), (a,), (b,)) for a, b in combinations(names, 2))
    return ComparisonDesign(terms, "pairs", divisor or len(terms))


def against_background(
    names: Sequence[Hashable], background: Groups | None, *, whole: bool = False
) -> ComparisonDesign:
    """Compare every group with a background: given groups, all groups (`whole`), or the rest."""
    if background is not None:
        pairs = [(name, background) for name in names if name not in background]
    elif whole:
        pairs = [(name, tuple(names)) for name in names]
    else:
        pairs = [(name, tuple(x for x in names if x != name)) for name in names]
    terms = tuple(GroupContrast(name, (name,), second) for name, second in pairs)
    against: Reference = "background" if whole else "rest"
    return ComparisonDesign(terms, background or against, len(terms))


def measure(
    design: ComparisonDesign, scores: ComparableScores, *, vector: bool = False
) -> Estimate:
    """Estimate the sum of a design, or with `vector` its term furthest from fair."""
    pairs = design.against == "pairs"
    names = scores.names if pairs else ()
    terms = {term.key: term for term in design.terms}

    @cache
    def part(key: Hashable) -> Estimate:
        return scores.compare(terms[key])

    def row(key: Hashable) -> GroupRow:
        if key in names:
            return _of_group(key, design, part, scores)
        entries = scores.entries(key if pairs and isinstance(key, tuple) else (key,))
        rate = math.nan if pairs else scores.rate(key)
        return GroupRow(part(key).value, entries, rate=rate, estimate=part(key))

    estimate = (
        scores.worst(design, {key: part(key) for key in terms}) if vector else scores.mean(design)
    )
    return replace(estimate, groups=Table([*terms, *names], row)) if terms else estimate


def _of_group(
    name: Hashable,
    design: ComparisonDesign,
    part: Callable[[Hashable], Estimate],
    scores: ComparableScores,
) -> GroupRow:
    """Return the row of a group: the mean over the pairs that hold it."""
    own = design.of_group(name)
    found = [part(term.key) for term in own.terms]
    value = math.fsum(one.value for one in found) / len(found)
    estimate = found[0] if len(found) == 1 else scores.mean(own)
    return GroupRow(value, scores.entries((name,)), rate=scores.rate(name), estimate=estimate)


def measure_two(
    first: Hashable, second: Hashable, scores: ComparableScores, word: str
) -> Estimate:
    """Estimate the comparison of two groups that keeps its sign."""
    pair = (first, second)
    estimate = scores.compare(GroupContrast(pair, (first,), (second,)))
    estimate = estimate.with_findings(Finding.note(f"{first} {word} {second}"))
    row = GroupRow(estimate.value, scores.entries(pair), estimate=estimate)
    return replace(estimate, groups={pair: row})


def furthest(
    parts: Mapping[Hashable, Estimate],
    names: Sequence[Hashable],
    sample: Sample,
    join: Callable[[Mapping[Any, Any]], Estimate],
) -> Estimate:
    """One estimate of the value furthest from fair, or the reason why there is none."""
    undefined = [part.undefined for part in parts.values() if part.undefined is not None]
    if undefined:
        return Undefined(undefined="; ".join(dict.fromkeys(undefined)), sample=sample)
    if len(parts) == 1 or len(names) == 2:
        # Two groups that are each other's background are one comparison.
        first = next(iter(parts))
        others = " and ".join(str(name) for name in names if name != first)
        return parts[first].with_findings(Finding.note(f"{first} against {others}"))
    return replace(join(parts), sample=sample)


def reference_names(reference: Any, names: Sequence[Hashable]) -> Groups | None:
    """Return the groups of the background; None for "rest", every group but the own."""
    found = reference_groups(reference, names)
    if found is None:
        return None
    chosen = tuple(dict.fromkeys(found))
    for name in chosen:
        if name not in names:
            raise ValueError(
                f"reference {name!r} is no group; groups are {', '.join(map(str, names))}"
            )
    if not chosen or len(chosen) == len(names):
        raise ValueError(f"reference is {reference!r}; name some of the groups, but not all")
    return chosen


def first_and_second(
    row: str, names: Sequence[Hashable], reference: Any
) -> tuple[Hashable, Hashable]:
    """Return the two groups of a signed row: first and second, or group and reference."""
    if len(names) != 2:
        raise ValueError(
            f"{row} is defined for two groups, groups holds {len(names)} "
            f"({', '.join(map(str, names))}); its value would depend on their order"
        )
    first, second = names
    if reference is not None and reference_names(reference, names) == (first,):
        return second, first
    return first, second
