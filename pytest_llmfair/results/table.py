"""The table that every reader makes: a row is one answer, with its scores and fields."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pytest_llmfair._util.plain_data import sha256_of
from pytest_llmfair._util.tables import TableError as ResultsError
from pytest_llmfair.responses import Answer, CutAnswer, Missing

# Longer values are texts, cut and told apart by their digest; deeper ones are structures.
LONGEST_FIELD = 200
_DEEPEST = 3

# Reason of answers that were planned, and are not in a file.
ABSENT = "absent"

Score = float | str | None

# CSV has no truth values of its own.
TRUTHS = {"true": 1.0, "false": 0.0}


@dataclass(slots=True)
class Row:
    """One answer to one prompt, with its scores.

    Attributes
    ----------
    where : str
        Place in the file for messages, such as "sample nurse-female, epoch 2".
    prompt : str
        What the model was asked; "" where the file does not say.
    answer : str or Missing
        The text, a `CutAnswer`, or why there is none.
    scores : dict of str to float, str or None
        A text is a label and no number; None is a score that is missing. A score of the sample as
        a whole is on its first answer only.
    score_missing : dict of str to str
        Why a score is missing, by its name.
    fields : dict of str to str
        Dotted names and values of what else is known about the row.
    sample, repeat : str, int
        What was asked, and which answer to it this is, from 0.
    model, task : str
        "" where unknown.
    run : str
        Identity of the run that asked, where the tool gives one: files of one run may hold the
        same answers, such as a log and that of its retry, and then they count once.
    """

    where: str
    prompt: str = ""
    answer: Answer = field(default_factory=lambda: Missing("null", "the file has no answer"))
    scores: dict[str, Score] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    sample: str = ""
    repeat: int = 0
    model: str = ""
    task: str = ""
    score_missing: dict[str, str] = field(default_factory=dict)
    run: str = ""

    @property
    def gone(self) -> bool:
        """Whether the answer is missing; scores may also come without their answers."""
        return isinstance(self.answer, Missing) and all(x is None for x in self.scores.values())


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """Kind of the values of a score."""

    name: str
    # "0 or 1", "number" or "label".
    kind: str
    low: float
    high: float
    # Whether it belongs to each answer, or to a sample with several.
    per: str
    # Name of an equal or complementary score that is judged instead, and constants.
    same_as: str = ""

    @property
    def constant(self) -> bool:
        """Whether all its values are the same."""
        return self.kind != "label" and self.low == self.high

    @property
    def judged(self) -> bool:
        """Whether groups can be compared by it."""
        return not self.why_not

    @property
    def why_not(self) -> str:
        """Why groups are not compared by it, in words; "" where they are."""
        if self.kind == "label":
            return "no numbers"
        if self.same_as:
            return f"says the same as {self.same_as}"
        return "constant" if self.constant else ""

    @property
    def range(self) -> tuple[float, float] | None:
        """Smallest and largest possible value, where the values seen leave no doubt."""
        return (0.0, 1.0) if self.low >= 0.0 and self.high <= 1.0 else None


@dataclass(frozen=True)
class Results:
    """The answers of one or several files of a tool.

    Attributes
    ----------
    tool, version : str
        What wrote the file.
    rows : list of Row
        In the order of the file.
    planned : int or None
        Number of answers that were to be made, where the file says so.
    notes : tuple of str
        What was left out or is unusual.
    pairs : tuple of str, optional
        Where the tool declares counterfactual pairs: the fields of the group and of the unit.
    files, digest : tuple of str, str
        Names and SHA-256 of what was read.
    """

    tool: str
    rows: list[Row]
    version: str = ""
    planned: int | None = None
    notes: tuple[str, ...] = ()
    pairs: tuple[str, str] | None = None
    files: tuple[str, ...] = ()
    digest: str = ""

    @property
    def models(self) -> list[str]:
        """Models that answered, by first appearance."""
        return list(dict.fromkeys(row.model for row in self.rows if row.model))

    @property
    def absent(self) -> int:
        """Number of planned answers that the file does not have."""
        return max(0, (self.planned or 0) - len(self.rows))

    @cached_property
    def fields(self) -> dict[str, list[str]]:
        """Distinct values of each field, by first appearance."""
        found: dict[str, dict[str, None]] = {}
        for row in self.rows:
            for name, value in row.fields.items():
                found.setdefault(name, {})[value] = None
        return {name: list(values) for name, values in found.items()}

    @cached_property
    def scores(self) -> dict[str, ScoreColumn]:
        """The scores by name, in the order of the file."""
        values: dict[str, list[tuple[int, Score]]] = {}
        for place, row in enumerate(self.rows):
            for name, value in row.scores.items():
                values.setdefault(name, []).append((place, value))
        repeated = {(row.task, row.sample) for row in self.rows if row.repeat}
        known: dict[str, ScoreColumn] = {}
        numbers: dict[str, dict[int, float]] = {}
        for name, found in values.items():
            given = [each for each in found if each[1] is not None]
            if not given or any(isinstance(value, str) for _, value in given):
                known[name] = ScoreColumn(name, "label", math.nan, math.nan, "answer")
                continue
            own = {place: float(value) for place, value in given if value is not None}
            low, high = min(own.values()), max(own.values())
            kind = "0 or 1" if {*own.values()} <= {0.0, 1.0} else "number"
            own_rows = [self.rows[place] for place in own]
            of_sample = not any(row.repeat for row in own_rows) and any(
                (row.task, row.sample) in repeated for row in own_rows
            )
            per = "sample" if of_sample else "answer"
            same = next((n for n, other in numbers.items() if _same(own, other)), "")
            known[name] = ScoreColumn(name, kind, low, high, per, same if low < high else "")
            numbers[name] = own
        return known

    def with_score(self, name: str) -> Results:
        """Return the rows with a field of numbers as a further score."""
        if name in self.scores or name not in self.fields:
            return self
        for row in self.rows:
            row.scores[name] = label_or_number(row.fields.get(name))
        return replace(self)

    @cached_property
    def numbers(self) -> list[str]:
        """Fields whose values are numbers, which may be scores."""
        several = {name: values for name, values in self.fields.items() if len(values) > 1}
        kinds = {name: set(map(type, map(label_or_number, v))) for name, v in several.items()}
        return [
            name for name, kind in kinds.items() if kind == {float} and name not in self.scores
        ]

    def of_model(self, model: str) -> Results:
        """Return the rows of one model; `ResultsError` if there are none."""
        if model not in self.models:
            raise ResultsError(
                f"{self.files[0]} has no answers of {model!r}; its models are "
                f"{', '.join(self.models) or 'not named'}"
            )
        rows = [row for row in self.rows if row.model == model]
        unknown = sum(not row.model for row in self.rows) + self.absent
        left = f"{unknown} answers are of no known model: left out"
        notes = (*self.notes, left) if unknown else self.notes
        return replace(self, rows=rows, planned=None, notes=notes)


def _same(own: dict[int, float], other: dict[int, float]) -> bool:
    """Whether two scores say the same: equal, or one is 1 minus the other."""
    if own.keys() != other.keys():
        return False
    return all(own[i] == other[i] for i in own) or all(
        math.isclose(own[i] + other[i], 1.0, abs_tol=1e-9) for i in own
    )


def joined(parts: Sequence[Results]) -> Results:
    """Return the rows of several files as one; scores of several tasks carry the task's name."""
    first = parts[0]
    if len(parts) == 1:
        return first
    tasks = {row.task for part in parts for row in part.rows}
    rows: list[Row] = []
    for part in parts:
        for row in part.rows:
            if len(tasks) > 1:
                row.scores = {f"{row.task}/{name}": x for name, x in row.scores.items()}
                row.score_missing = {f"{row.task}/{n}": x for n, x in row.score_missing.items()}
                row.fields.setdefault("task", row.task)
            rows.append(row)
    kept = _there(rows)
    planned = [part.planned for part in parts]
    total = sum(each or 0 for each in planned) - (len(rows) - len(kept))
    return replace(
        first,
        rows=kept,
        planned=None if None in planned else total,
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )


def _there(rows: Sequence[Row]) -> list[Row]:
    """Return rows without those that are absent in one file and there in another one."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        key = (row.model, row.task, row.sample or row.where, str(row.repeat))
        found.setdefault(key, []).append(row)
    kept: list[Row] = []
    for same in found.values():
        there = [r for r in same if getattr(r.answer, "reason", "") != ABSENT] or same[:1]
        kept += [row for row in there if not row.run]
        # Of one run the last answer counts, and a failure only where no file has an answer.
        of_run = {row.run: row for row in sorted(there, key=lambda row: not row.gone) if row.run}
        kept += of_run.values()
    return kept


def flattened(value: Any, name: str = "", depth: int = _DEEPEST) -> Iterator[tuple[str, str]]:
    """Yield the scalars of nested mappings as dotted names and texts.

    Examples
    --------
    >>> dict(flattened({"person": {"gender": "female", "age": 41}, "note": None}))
    {'person.gender': 'female', 'person.age': '41'}
    """
    if isinstance(value, Mapping):
        if depth:
            for key, each in value.items():
                yield from flattened(each, f"{name}.{key}" if name else str(key), depth - 1)
    elif isinstance(value, (str, int, float)) and name and value == value:
        text = str(value)
        if len(text) > LONGEST_FIELD:
            text = f"{text[: LONGEST_FIELD - 16]}... {str(sha256_of(text))[:12]}"
        if text.strip():
            yield name, text


def label_or_number(value: Any) -> Score:
    """Return a score as a number, a label as it is, and None for what is missing.

    Examples
    --------
    >>> label_or_number("True"), label_or_number("0.25"), label_or_number("good")
    (1.0, 0.25, 'good')
    >>> label_or_number(float("nan")) is None
    True
    """
    if isinstance(value, str):
        if (said := value.strip().lower()) in TRUTHS:
            return TRUTHS[said]
        try:
            value = float(value)
        except ValueError:
            return value.strip() or None
    if isinstance(value, (bool, int, float)):
        return float(value) if math.isfinite(value) else None
    # Parts of a corpus's score, such as a text and its reference, are no number of an answer.
    return str(value)[:LONGEST_FIELD] if isinstance(value, (list, Mapping)) else None


def text_of(content: Any) -> str:
    """Return the text of a message: a text, or a list of parts or messages."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return text_of(content.get("content", content.get("text", "")))
    if isinstance(content, Sequence):
        return "\n\n".join(filter(None, map(text_of, content)))
    return ""


def answer_of(text: Any, finish: Any = None) -> Answer:
    """Return an answer, or why there is none, by the reason for which the model stopped."""
    if finish == "content_filter":
        # Tools score the words of the filter too.
        return Missing("filtered", "the model stopped at a content filter")
    if text is None:
        return Missing("null", "recorded as null")
    if not isinstance(text, str):
        text = text_of(text)
    if not text.strip():
        return Missing("empty", "recorded as an empty text")
    return CutAnswer(text) if finish in ("length", "max_tokens") else text


def with_every_score(rows: list[Row]) -> list[Row]:
    """Return rows of a tool whose scores are for all of them: what a row lacks is missing."""
    names = dict.fromkeys(name for row in rows for name in row.scores)
    for row in rows:
        row.scores = dict.fromkeys(names) | row.scores
    return rows


def total_of(*counts: Any) -> int | None:
    """Return the sum of counts that a file gives; None where one is not there."""
    whole = [each for each in counts if isinstance(each, int)]
    return sum(whole) if len(whole) == len(counts) else None


def number_repeats(rows: Iterable[Row]) -> None:
    """Count answers to the same question by the same model, where the file does not."""
    seen: dict[tuple[Any, ...], int] = {}
    for row in rows:
        key = (row.model, row.task, row.prompt, row.sample, *sorted(row.fields.items()))
        row.repeat = seen.get(key, 0)
        seen[key] = row.repeat + 1
