"""Sampling units of the rows: what was asked about several groups, declared or guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair.results.groups import Grouping
from pytest_llmfair.results.source import ResultsError
from pytest_llmfair.results.table import Results

# What --pair-by takes for prompts that are equal once the group is masked.
PROMPT = "prompt"

Labels = list[str | None]


@dataclass(frozen=True)
class Units:
    """The unit of each row, and how it was found."""

    labels: Labels
    fields: tuple[str, ...]
    declared: bool
    # Units, and those with two groups or more.
    total: int
    complete: int
    # Whether another way gives the same units: "the prompts agree"; "" where there is none.
    agreement: str = ""

    @property
    def where(self) -> str:
        """The fields, or "the masked prompts"."""
        return " x ".join(self.fields) if self.fields != (PROMPT,) else "the masked prompts"


def units_of(results: Results, grouping: Grouping, pair_by: Sequence[str] = ()) -> Units | None:
    """Return the units that a caller names, else those with most groups; None without any."""
    if pair_by:
        for name in pair_by:
            if name != PROMPT and name not in results.fields:
                raise ResultsError(
                    f"{results.files[0]} has no field {name!r}; "
                    + suggestion(name, [*results.fields, PROMPT])
                )
        return _counted(_labels(results, grouping, pair_by), grouping, tuple(pair_by), True)
    if results.pairs:
        labels: Labels = [results.pairs.get(i, (None, ""))[0] for i in range(len(results.rows))]
        return _counted(labels, grouping, ("instance",), True)
    prompts = _counted(_labels(results, grouping, (PROMPT,)), grouping, (PROMPT,), False)
    found = [
        _counted(_labels(results, grouping, (n,)), grouping, (n,), False)
        for n in _fields(results, grouping)
    ]
    best = max([prompts, *found], key=lambda each: each.complete)
    # A field that gives as many units says them by name.
    best = next((each for each in found if each.complete == best.complete), best)
    if not best.complete:
        return None
    other = prompts if best is not prompts else None
    if other is not None and other.complete:
        same = _partition(other.labels) == _partition(best.labels)
        best = replace(best, agreement="the prompts agree" if same else "the prompts differ")
    return best


def _fields(results: Results, grouping: Grouping) -> list[str]:
    """Return the fields that can name units: not the groups, and no constants."""
    return [
        name
        for name, values in results.fields.items()
        if name not in grouping.fields and 1 < len(values) < len(results.rows)
    ]


def _labels(results: Results, grouping: Grouping, names: Sequence[str]) -> Labels:
    found: Labels = []
    for row, group in zip(results.rows, grouping.labels, strict=True):
        parts = [grouping.hide(row) if n == PROMPT else row.fields.get(n) for n in names]
        known = group is not None and all(parts)
        found.append(" / ".join(map(str, parts)) if known else None)
    return found


def _counted(labels: Labels, grouping: Grouping, fields: tuple[str, ...], declared: bool) -> Units:
    groups: dict[str, set[str]] = {}
    for unit, group in zip(labels, grouping.labels, strict=True):
        if unit is not None and group is not None:
            groups.setdefault(unit, set()).add(group)
    complete = sum(len(each) > 1 for each in groups.values())
    return Units(labels, fields, declared, len(groups), complete)


def _partition(labels: Labels) -> list[int]:
    """Return the number of each unit by first appearance, which two equal partitions share."""
    known: dict[str | None, int] = {}
    return [known.setdefault(label, len(known)) for label in labels]
