"""Answers that already exist, in a JSONL, CSV or Parquet file, in place of a model."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from pytest_llmfair.clients.protocol import Request
from pytest_llmfair.clients.spec import ModelSpec, ModelSpecError
from pytest_llmfair.responses import Answer, Missing

_ANSWERS = ("answer", "response")


@dataclass(frozen=True, slots=True)
class RecordedAnswers:
    """A file of prompts and answers, in the place of a model.

    Answer j of a call is the j-th answer to the prompt in the file, in the order of the column
    `repeat` if there is one; a prompt that comes twice in a call continues where it stopped. An
    answer that is null or empty is missing.

    Attributes
    ----------
    path : Path
        The file.
    name : str
        Specification, for reports.
    digest : str
        SHA-256 of the file.
    answers : mapping
        Prompt to its answers.
    """

    path: Path
    name: str
    digest: str
    answers: Mapping[str, Sequence[Answer]] = field(repr=False)

    # A call is answered as a whole, since its prompts use up the answers in order.
    batch_size: ClassVar[int] = 2**62

    @classmethod
    def load(cls, target: str) -> RecordedAnswers:
        """Read a file: ``.jsonl``, ``.csv``, or ``.parquet`` with pyarrow or pandas.

        Columns are `prompt`, `answer` or `response`, and optionally `repeat`, a whole number.

        Raises
        ------
        ModelSpecError
            If the file cannot be read; the message names the line or row.
        """
        name = f"responses:{target}"
        path = Path(target).expanduser()
        try:
            rows = read_table(path)
            answers = _by_prompt(rows, path)
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        except TableError as error:
            raise ModelSpecError(f"model {name!r}: {error}") from None
        return cls(path, name, digest, answers)

    @property
    def description(self) -> str:
        """What the model is, in one sentence."""
        count = sum(map(len, self.answers.values()))
        return f"{count} recorded answers to {len(self.answers)} prompts of {self.path.name}"

    @property
    def identity(self) -> Mapping[str, str]:
        """Digest of the file."""
        return {"provider": "responses", "model": self.path.name, "revision": self.digest}

    def generate(
        self, requests: Sequence[Request], *, temperature: float, max_tokens: int
    ) -> list[Answer]:
        """Look up the answers; temperature and limit have no effect.

        Raises
        ------
        ValueError
            If the file lacks a prompt, or has too few answers to one.
        """
        prompts = list(dict.fromkeys(request.prompt for request in requests))
        self._check_prompts(prompts)
        asked = Counter(request.prompt for request in requests)
        for prompt in prompts:
            if asked[prompt] > len(self.answers[prompt]):
                raise ValueError(
                    f"{self.path} has {len(self.answers[prompt])} answers to {prompt[:80]!r}, and "
                    f"{asked[prompt]} are asked for; ask for fewer repeats, or add answers"
                )
        places = _places(requests)
        return [self.answers[request.prompt][places[request]] for request in requests]

    def _check_prompts(self, prompts: Sequence[str]) -> None:
        lacking = [prompt for prompt in prompts if prompt not in self.answers]
        if not lacking:
            return
        from rapidfuzz import process

        near = process.extractOne(lacking[0], self.answers.keys())
        hint = f"; the nearest is {near[0][:120]!r}" if near else ""
        raise ValueError(
            f"{self.path} has no answer to {len(lacking)} of {len(prompts)} prompts; the first is "
            f"{lacking[0][:120]!r}{hint}; prompts must match exactly"
        )


def load(spec: ModelSpec) -> RecordedAnswers:
    """Load ``responses:FILE``."""
    return RecordedAnswers.load(spec.target)


def _by_prompt(rows: Sequence[Row], path: Path) -> dict[str, list[Answer]]:
    if not rows:
        raise TableError("there is no answer in the file; write one line per answer")
    column = next((name for name in _ANSWERS if name in rows[0].values), "")
    repeated = "repeat" in rows[0].values
    needed = ["prompt", column or "answer", *(["repeat"] if repeated else [])]
    found: dict[str, list[tuple[int, Answer]]] = {}
    for row in rows:
        if not row.values.keys() >= set(needed):
            lines = path.suffix.lower() == ".jsonl"
            # Of a table all rows have the same columns.
            needs = f"{row.where} needs" if lines else f"{path} needs the columns"
            names = " and ".join([", ".join(needed[:-1]), needed[-1]])
            raise TableError(f"{needs} {names}; found {', '.join(map(str, row.values))}")
        prompt = row.values["prompt"]
        if not isinstance(prompt, str) or not prompt.strip():
            raise TableError(f"{row.where}: the prompt is {prompt!r}; give a text")
        answers = found.setdefault(prompt, [])
        repeat = _repeat(row) if repeated else len(answers)
        if any(repeat == other for other, _ in answers) and repeated:
            raise TableError(f"{row.where} is repeat {repeat} of {prompt[:80]!r} once more")
        answers.append((repeat, _answer(row, column)))
    return {
        prompt: [answer for _, answer in sorted(answers, key=lambda pair: pair[0])]
        for prompt, answers in found.items()
    }


def _answer(row: Row, column: str) -> Answer:
    answer = row.values[column]
    if answer is None:
        return Missing("null", "recorded as null")
    if not isinstance(answer, str):
        raise TableError(f"{row.where}: the {column} is {answer!r}; give a text, or null")
    return answer if answer.strip() else Missing("empty", "recorded as an empty text")


def _repeat(row: Row) -> int:
    try:
        return int(str(row.values["repeat"]))
    except ValueError:
        raise TableError(
            f"{row.where}: the repeat is {row.values['repeat']!r}; give a whole number"
        ) from None


def _places(requests: Sequence[Request]) -> dict[Request, int]:
    """Return which answer of its prompt each request gets."""
    groups: dict[str, dict[str, list[tuple[int, Request]]]] = {}
    for request in requests:
        side, _, sample = request.repeat.rpartition(".")
        groups.setdefault(request.prompt, {}).setdefault(side, []).append((int(sample), request))
    places = {}
    for of_prompt in groups.values():
        n = 1 + max(sample for group in of_prompt.values() for sample, _ in group)
        for rank, group in enumerate(of_prompt.values()):
            places.update({request: rank * n + sample for sample, request in group})
    return places


class TableError(ValueError):
    """A file that cannot be read as rows."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its file and line, as messages name it, and its values by column."""

    where: str
    values: Mapping[str, Any]


def read_table(path: Path) -> Sequence[Row]:
    """Read a file; the ending of its name says how.

    Raises
    ------
    TableError
        If there is no such file, its kind is unknown, or a line cannot be read.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise TableError(
            f"{path} is of an unknown kind; give a file that ends in {', '.join(_READERS)}"
        )
    if not path.is_file():
        raise TableError(f"there is no file {path}; give the path of a file with answers")
    return reader(path)


def _read_lines(path: Path) -> list[Row]:
    rows = []
    # Bytes, since texts would also be split at Unicode line ends inside answers.
    for number, line in enumerate(path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        where = f"line {number} of {path}"
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise TableError(f"{where} is not valid JSON ({error})") from None
        if not isinstance(values, dict):
            raise TableError(f"{where} is a JSON {type(values).__name__}, not an object")
        rows.append(Row(where, values))
    return rows


def _read_csv(path: Path) -> list[Row]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError(f"{path} is not UTF-8 (byte {error.start}); save it as UTF-8") from None
    rows = []
    # Answers may be longer than the 128 KiB that a field of the csv module may have.
    limit = csv.field_size_limit(2**31 - 1)
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        for values in reader:
            where = f"line {reader.line_num} of {path}"
            if None in values or None in values.values():
                raise TableError(f"{where} has more or fewer fields than the first line")
            rows.append(Row(where, values))
    except csv.Error as error:
        raise TableError(f"{path} cannot be read after line {reader.line_num} ({error})") from None
    finally:
        csv.field_size_limit(limit)
    return rows


def _read_parquet(path: Path) -> list[Row]:
    try:
        records = _records(path)
    except ImportError:
        raise TableError(
            f"{path} needs pyarrow; run: pip install pyarrow, or save it as .jsonl"
        ) from None
    except (OSError, ValueError) as error:
        raise TableError(f"{path} cannot be read as Parquet ({error})") from None
    return [Row(f"row {number} of {path}", values) for number, values in enumerate(records, 1)]


def _records(path: Path) -> list[dict[str, Any]]:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        import pandas as pd  # type: ignore[import-untyped, import-not-found, unused-ignore]

        frame = pd.read_parquet(path)
        return list(frame.astype(object).where(frame.notna(), None).to_dict("records"))
    return list(parquet.read_table(path).to_pylist())


_READERS: dict[str, Callable[[Path], list[Row]]] = {
    ".jsonl": _read_lines,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}
