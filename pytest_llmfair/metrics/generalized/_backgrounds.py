"""What each group is compared with, and what every named row does with the result."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmfair.metrics.generalized._forms import GroupForm
from pytest_llmfair.stats import Estimate, Finding, GroupRow, Undefined


@dataclass(frozen=True, slots=True)
class Pooled:
    """Label of the groups that make up the background."""

    names: tuple[Hashable, ...]

    def __str__(self) -> str:
        return " or ".join(map(str, self.names))


def reference_names(reference: Any, names: Sequence[Hashable]) -> tuple[Hashable, ...] | None:
    """Return the groups of the background; None for "rest", every group but the own."""
    if isinstance(reference, str) and reference == "rest" and "rest" not in names:
        return None
    union = isinstance(reference, list) or (
        isinstance(reference, tuple) and reference not in names
    )
    chosen = tuple(dict.fromkeys(reference if union else [reference]))
    for name in chosen:
        if name not in names:
            raise ValueError(
                f"reference {name!r} is no group; groups are {', '.join(map(str, names))}"
            )
    if not chosen or len(chosen) == len(names):
        raise ValueError(f"reference is {reference!r}; name some of the groups, but not all")
    return chosen


def with_background(form: GroupForm, reference: Any) -> tuple[GroupForm, Pooled | None]:
    """Give the rows of the background one label of their own; None where there is none."""
    if reference is None:
        return form, None
    chosen = reference_names(reference, form.names)
    if chosen is None:
        return form, None
    pooled = Pooled(chosen)
    labels = [pooled if label in chosen else label for label in form.labels]
    names = [name for name in form.names if name not in chosen]
    return replace(form, labels=labels, names=[*names, pooled]), pooled


def against_background(form: GroupForm, pooled: Pooled | None) -> dict[Hashable, list[int]]:
    """Return, for each group that is compared, the rows of its background."""
    members = form.members
    if pooled is not None:
        return {name: members[pooled] for name in members if name is not pooled}
    return {
        name: sorted(i for other, rows in members.items() if other != name for i in rows)
        for name in members
    }


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


def furthest(
    parts: Mapping[Hashable, Estimate],
    form: GroupForm,
    join: Callable[[Mapping[Any, Any]], Estimate],
) -> Estimate:
    """One estimate of the value furthest from fair, or the reason why there is none."""
    # Two groups that are each other's background are one comparison, shown from the first.
    undefined = [part.undefined for part in parts.values() if part.undefined is not None]
    first = next(iter(parts))
    estimate: Estimate
    if undefined:
        estimate = Undefined(undefined="; ".join(dict.fromkeys(undefined)), sample=form.sample)
    elif len(parts) == 1 or len(form.members) == 2:
        others = " and ".join(str(name) for name in form.members if name != first)
        estimate = parts[first].with_findings(Finding.note(f"{first} against {others}"))
    else:
        estimate = replace(join(parts), sample=form.sample)
    return estimate


def table_of(
    parts: Mapping[Any, Estimate], entries: Callable[[Any], int], rate: Callable[[Any], float]
) -> dict[Hashable, GroupRow]:
    """Return the table of some groups or pairs."""
    return {
        key: GroupRow(part.value, entries(key), rate=rate(key), estimate=part)
        for key, part in parts.items()
    }


def with_groups(
    pairs: Mapping[Any, GroupRow],
    names: Sequence[Hashable],
    entries: Callable[[Any], int],
    rate: Callable[[Any], float],
    mean_of: Callable[[Any], Estimate],
) -> dict[Hashable, GroupRow]:
    """Return the table of all pairs, then of the groups: the mean over the pairs that hold one."""
    found = dict(pairs)
    for name in names:
        own = [row for key, row in pairs.items() if name in key]
        value = math.fsum(row.value for row in own) / len(own)
        part = own[0].estimate if len(own) == 1 else mean_of(name)
        found[name] = GroupRow(value, entries(name), rate=rate(name), estimate=part)
    return found
