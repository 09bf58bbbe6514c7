"""Comparisons of a file by its sampling units: scores by group, answers to pairs or to prompts."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.wording import listed
from pytest_llmfair.responses import Answer, Missing, Pair, PairedResponses, Responses
from pytest_llmfair.results.groups import Grouping, declared_groups, guessed_groups
from pytest_llmfair.results.source import ResultsError
from pytest_llmfair.results.table import Results, Row

# What --pair-by takes for prompts that are equal once the group is masked.
PROMPT = "prompt"

Labels = list[str | None]
Cell = list[Row]


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


# As the default of max_missing; answers to pairs have no place for what was never asked.
_MOST_ABSENT = 0.05


class ScoredRow(NamedTuple):
    """The scores of answers about one unit and group, with the answers to those that are there."""

    unit: str
    group: str
    scores: Sequence[float | Missing]
    prompt: str
    answers: list[str]


@dataclass(frozen=True)
class ScoredAnswers:
    """Scores that answers already have, by unit and group."""

    score: str
    rows: list[ScoredRow]
    range: tuple[float, float] | None
    of: Comparison


@dataclass(frozen=True)
class Comparison:
    """The groups and units of a file."""

    results: Results
    grouping: Grouping
    # None for groups that are independent samples, by declaration or since no unit has two.
    units: Units | None
    unpaired: bool

    @property
    def declared(self) -> bool:
        """Whether groups and units were named by the caller or the tool, as a verdict needs."""
        paired = self.units is not None and self.units.declared
        return self.grouping.declared and (self.unpaired or paired)

    @cached_property
    def cells(self) -> dict[str, dict[str, Cell]]:
        """The rows of each unit, by group; only units of two groups or more, where paired."""
        found: dict[str, dict[str, Cell]] = {}
        labels = self.grouping.labels
        units = [row.prompt or row.sample or row.where for row in self.results.rows]
        given = units if self.units is None else self.units.labels
        for row, unit, group in zip(self.results.rows, given, labels, strict=True):
            if unit is not None and group is not None:
                found.setdefault(unit, {}).setdefault(group, []).append(row)
        if self.units is None:
            return found
        return {unit: cell for unit, cell in found.items() if len(cell) > 1}

    @property
    def model(self) -> str:
        """The model that answered; "" where unknown."""
        return next(iter(self.results.models), "")

    @property
    def absent(self) -> tuple[int, int]:
        """Planned answers that the file does not have for any known group, and all planned."""
        labelled = zip(self.results.rows, self.grouping.labels, strict=True)
        gone = sum(label is None and row.gone for row, label in labelled)
        return self.results.absent + gone, self.results.planned or len(self.results.rows)

    @property
    def left_out(self) -> str:
        """Answers that are in no comparison, in words; "" where there are none."""
        without = sum(
            label is None and not row.gone
            for row, label in zip(self.results.rows, self.grouping.labels, strict=True)
        )
        compared = sum(len(own) for cell in self.cells.values() for own in cell.values())
        alone = sum(label is not None for label in self.grouping.labels) - compared
        parts = [f"{without} name no group"] if without else []
        parts += [f"{alone} are of units about one group only"] if alone else []
        if not parts:
            return ""
        return f"{without + alone} of {len(self.results.rows)} answers left out: " + ", ".join(
            parts
        )

    def scores(self, name: str) -> ScoredAnswers:
        """Return a score by group and unit."""
        column = self.results.with_score(name).scores.get(name)
        if column is None or column.kind == "label":
            numbers = [n for n, each in self.results.scores.items() if each.kind != "label"]
            what = "no score" if column is None else "labels and no numbers as score"
            raise ResultsError(
                f"{self.results.files[0]} has {what} {name!r}; its scores are "
                f"{listed(numbers, 12) or 'none'}"
            )
        tasks = {row.task for row in self.results.rows if name in row.scores}
        rows = []
        for unit, cell in self.cells.items():
            for group, own in cell.items():
                asked = [row for row in own if _applies(row, name, tasks, column.per)]
                if not asked:
                    continue
                scores = [_score(row, name) for row in asked]
                # Texts of the scores that are there; a score of the sample is about all of them.
                scored = [r for r, x in zip(asked, scores, strict=True) if isinstance(x, float)]
                shown = own if column.per == "sample" else scored
                texts = [r.answer for r in shown if isinstance(r.answer, str)]
                rows.append(ScoredRow(unit, group, scores, own[0].prompt, texts))
        return ScoredAnswers(name, rows, column.range, self)

    def pairs(self) -> PairedResponses:
        """Return the answers to the prompts of each unit as pairs, for metrics on texts."""
        if self.units is None:
            raise ResultsError(
                "answers of groups that are not paired cannot be compared as texts; name what "
                "the groups share: --pair-by FIELD"
            )
        lost, planned = self.absent
        if lost > _MOST_ABSENT * planned:
            raise ResultsError(
                f"{lost} of {planned} planned answers are not in {self.results.files[0]}; run the "
                "evaluation to its end before its texts are compared"
            )
        pairs: list[Pair] = []
        sides: tuple[list[tuple[Answer, ...]], list[tuple[Answer, ...]]] = ([], [])
        order = {group: place for place, group in enumerate(self.grouping.names)}
        for unit, cell in self.cells.items():
            first, *others = sorted(cell, key=order.__getitem__)
            asked = {group: _by_prompt(rows) for group, rows in cell.items()}
            if len({len(each) for each in asked.values()}) > 1:
                counts = ", ".join(f"{group} {len(each)}" for group, each in asked.items())
                raise ResultsError(
                    f"unit {unit[:60]!r} has several prompts, and not as many for each group "
                    f"({counts}); texts need a twin for each prompt: --pair-by prompt"
                )
            for other in others:
                for a, b in zip(asked[first].items(), asked[other].items(), strict=True):
                    texts = (a[0][0], b[0][0], first, other)
                    pairs.append(Pair(*texts, (), self.grouping.attribute, filler=unit))
                    sides[0].append(tuple(row.answer for row in a[1]))
                    sides[1].append(tuple(row.answer for row in b[1]))
        count = sum(len(row) for side in sides for row in side)
        first_side, second_side = map(tuple, sides)
        return PairedResponses(
            tuple(pairs), first_side, second_side, self.model, origin=(0, count)
        )


def comparison_of(
    results: Results,
    *,
    group: Sequence[str] = (),
    groups: Mapping[str, str] | None = None,
    pair_by: Sequence[str] = (),
    unpaired: bool = False,
) -> Comparison:
    """Return the comparison of a file, as a caller declares it and else by guesses."""
    if len(results.models) > 1:
        raise ResultsError(
            f"{results.files[0]} has answers of {len(results.models)} models: "
            f"{', '.join(results.models)}; each is judged alone: --model "
            f"{shlex.quote(results.models[0])}"
        )
    if group or groups:
        grouping: Grouping | None = declared_groups(results, group, groups or {})
    else:
        grouping = guessed_groups(results)
    if grouping is None or len(grouping.names) < 2:
        raise ResultsError(no_groups(results, grouping))
    units = None if unpaired else units_of(results, grouping, pair_by)
    if pair_by and units is not None and not units.complete:
        raise ResultsError(
            f"no value of {units.where} has answers about two groups "
            f"({units.total} values, groups of {grouping.where}); name another field by "
            "--pair-by, or compare independent samples by --unpaired"
        )
    return Comparison(results, grouping, units, unpaired)


def no_groups(results: Results, grouping: Grouping | None) -> str:
    """Say that there is nothing to compare, and which fields there are."""
    what = "nothing in it names two groups of people"
    if grouping is not None:
        what = f"{grouping.where} has one value only: {listed(grouping.names, 1) or 'none'}"
    fields = [
        f"{name} ({listed([value[:30] for value in values], 3)})"
        for name, values in results.fields.items()
    ]
    return (
        f"{results.files[0]}: {what}; name the field by --group FIELD, or words of the prompts "
        f"by --groups 'the woman=female,the man=male'. Fields: {'; '.join(fields) or 'none'}"
    )


def prompts_of(results: Results) -> Responses:
    """Return all answers by prompt, for metrics that compare no groups."""
    rows = _by_prompt(results.rows)
    answers = tuple(tuple(row.answer for row in own) for own in rows.values())
    model = next(iter(results.models), "")
    count = len(results.rows)
    return Responses(tuple(prompt for prompt, _ in rows), answers, model, origin=(0, count))


def _by_prompt(rows: Sequence[Row]) -> dict[tuple[str, str], Cell]:
    found: dict[tuple[str, str], Cell] = {}
    for row in sorted(rows, key=lambda row: row.repeat):
        found.setdefault((row.prompt, row.task), []).append(row)
    return found


def _applies(row: Row, name: str, tasks: set[str], per: str) -> bool:
    """Whether a row has a score, or would have it if its answer were not missing."""
    if name in row.scores:
        return True
    gone = isinstance(row.answer, Missing) and row.task in tasks
    return gone and not (per == "sample" and row.repeat)


def _score(row: Row, name: str) -> float | Missing:
    value = row.scores.get(name)
    if isinstance(value, float):
        return value
    if isinstance(row.answer, Missing):
        return row.answer
    return Missing("no score", row.score_missing.get(name, f"{row.where} has no score {name!r}"))
