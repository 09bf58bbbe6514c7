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
    # The latter in each task, summed: prompts of one task may pair where those of another do not.
    of_tasks: int
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
        return _by(results, grouping, tuple(pair_by), declared=True)
    if results.pairs:
        return _by(results, grouping, results.pairs[1:], declared=True)
    prompts = _by(results, grouping, (PROMPT,))
    found = [_by(results, grouping, (name,)) for name in _fields(results, grouping)]
    # A field that gives as many units says them by name.
    best = max([*found, prompts], key=lambda each: each.of_tasks)
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


def _by(
    results: Results, grouping: Grouping, names: tuple[str, ...], *, declared: bool = False
) -> Units:
    labels: Labels = []
    groups: dict[str, set[str]] = {}
    of_tasks: dict[tuple[str, str], set[str]] = {}
    for row, group in zip(results.rows, grouping.labels, strict=True):
        parts = [grouping.hide(row) if n == PROMPT else row.fields.get(n) for n in names]
        unit = " / ".join(map(str, parts)) if group is not None and all(parts) else None
        labels.append(unit)
        if unit is not None and group is not None:
            groups.setdefault(unit, set()).add(group)
            of_tasks.setdefault((row.task, unit), set()).add(group)
    complete, paired = (
        sum(len(each) > 1 for each in found.values()) for found in (groups, of_tasks)
    )
    return Units(labels, names, declared, len(groups), complete, paired)


def _partition(labels: Labels) -> list[int]:
    """Return the number of each unit by first appearance, which two equal partitions share."""
    known: dict[str | None, int] = {}
    return [known.setdefault(label, len(known)) for label in labels]
