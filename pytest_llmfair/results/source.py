"""A file that a reader is given: its beginning, its lines, and the items of a large array."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pytest_llmfair._util.printing import Line, terminal
from pytest_llmfair._util.tables import Row as TableRow
from pytest_llmfair._util.tables import TableError, rows_of

T = TypeVar("T")

ResultsError = TableError
_HEAD = 1 << 16
# Objects that may hold the rows of a document, such as {"results": {"results": [...]}}.
_DEEPEST_ARRAY = 2


@dataclass(frozen=True)
class File:
    """A result file.

    Attributes
    ----------
    path : Path
        The file, or a folder of Parquet files.
    options : mapping of str to str
        What the caller says: `prompt`, `answer` (columns of a table), `requests` (a second file).
    """

    path: Path
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def suffix(self) -> str:
        """Ending of the name, in lower case."""
        return self.path.suffix.lower()

    @functools.cached_property
    def head(self) -> str:
        """The first 64 KiB as text; "" for a folder."""
        if self.path.is_dir():
            return ""
        with self.path.open("rb") as file:
            return file.read(_HEAD).decode("utf-8-sig", errors="replace")

    @functools.cached_property
    def first(self) -> Mapping[str, Any]:
        """The first row of a JSONL file; empty where it is none."""
        line = self.head.lstrip().partition("\n")[0]
        if len(line) + 1 >= _HEAD:
            # A first line that is longer than the head.
            with self.path.open(encoding="utf-8-sig") as file:
                line = file.readline()
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def lines(self) -> Iterator[TableRow]:
        """Yield the rows of a table or of a list in JSON, with progress on a terminal."""
        rows = self._listed() if self.suffix == ".json" else rows_of(self.path)
        yield from self.watched(rows, "rows")

    def _listed(self) -> Iterator[TableRow]:
        text = self._text()
        try:
            items = _whole(text)
            if text.lstrip()[:1] == "{":
                # As MLflow writes tables: the names once, and rows of values.
                table = json.loads(text)
                if not {"columns", "data"} <= table.keys():
                    raise ResultsError(
                        f"{self.path} is one JSON object with {', '.join(table)[:80]}; write a "
                        "list with one object for each answer, or JSONL"
                    )
                items = (dict(zip(table["columns"], row, strict=True)) for row in table["data"])
            for number, item in enumerate(items, 1):
                where = f"item {number} of {self.path}"
                if not isinstance(item, dict):
                    raise ResultsError(f"{where} is a JSON {type(item).__name__}, not an object")
                yield TableRow(where, item)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise self._not_json(error) from None

    def _text(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise ResultsError(
                f"{self.path} is not UTF-8 (byte {error.start}); save it as UTF-8"
            ) from None

    def _not_json(self, error: Exception) -> ResultsError:
        if isinstance(error, ResultsError):
            return error
        return ResultsError(f"{self.path} is not valid JSON ({error}); write the file again")

    def watched(self, items: Iterator[T], what: str) -> Iterator[T]:
        """Yield items, and count them on a terminal."""
        done = itertools.count(1)
        with Line(terminal()) as line:
            for item in items:
                yield item
                n = next(done)
                line.show(functools.partial("{}: {:,} {} read".format, self.path.name, n, what))

    def document(self, array: str, convert: Callable[[Any, int], T]) -> tuple[Any, list[T]]:
        """Return a JSON document without one array of objects, and its items converted."""
        # Parsed one after the other, so that no more than one item is held in full.
        text = self._text()
        try:
            begin = end = _begin(text, array)
            if begin is None or end is None:
                return json.loads(text), []
            found: list[T] = []
            for item in self.watched(_items(text, begin), array):
                found.append(convert(item[0], len(found)))
                end = item[1]
            return json.loads(text[:begin] + text[end:]), found
        except (ValueError, RecursionError) as error:
            raise self._not_json(error) from None

    def digest(self) -> str:
        """SHA-256 of the file, or of the digests of the files of a folder."""
        if self.path.is_dir():
            inner = " ".join(map(_digest, parquet_files(self.path)))
            return hashlib.sha256(inner.encode()).hexdigest()
        return _digest(self.path)


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder; those of an audit are in a folder of it."""
    folder = folder / "answers" if (folder / "manifest.json").is_file() else folder
    # Other engines mark their own files and folders, such as those of a job that was never
    # finished, by a first letter of "_" or ".".
    files = [
        path
        for path in sorted(folder.rglob("*.parquet"))
        if not any(part[0] in "_." for part in path.relative_to(folder).parts)
    ]
    if not files:
        # Folders of logs are no table.
        inside = next((p for p in sorted(folder.rglob("*")) if p.is_file()), None)
        if inside is None:
            raise TableError(f"the folder {folder} is empty; give a result file")
        raise TableError(
            f"there is no .parquet file in the folder {folder}; name a file in it, such as "
            f"{inside}"
        )
    return files


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _begin(text: str, array: str) -> int | None:
    """Return the place after ``[`` of an array of objects, of the document or of its parts."""
    # Others of its name, such as those in lists of means by sample, are something else.
    parts, before = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL), 0
    open_brackets: list[str] = []
    # Inside a text of JSON the quotation marks are escaped, so this is a key.
    for key in re.finditer(rf'(?<!\\)"{array}"\s*:\s*\[(?=\s*\{{)', text):
        for part in parts.finditer(text, before, key.start()):
            if part[0] in "[{":
                open_brackets.append(part[0])
            elif part[0] in "]}" and open_brackets:
                open_brackets.pop()
        before = key.start()
        if "[" not in open_brackets and len(open_brackets) <= _DEEPEST_ARRAY:
            return key.end()
    return None


def _whole(text: str) -> Iterator[Any]:
    """Yield the items of a JSON array that is the whole text."""
    end = text.index("[") + 1
    for item, after in _items(text, end):
        yield item
        end = after
    if text[end:].strip() != "]":
        raise ValueError(f"more follows its list, from character {end}")


def _items(text: str, at: int) -> Iterator[tuple[Any, int]]:
    """Yield the items of a JSON array that begins at a place, each with its end."""
    decode, gap = json.JSONDecoder().raw_decode, re.compile(r"\s*(,?)\s*")
    first = True
    while match := gap.match(text, at):
        if text[match.end() : match.end() + 1] == "]" and not match[1]:
            return
        if bool(match[1]) == first:
            # A list that was cut off between two items has no bracket either.
            raise ValueError(f"its list breaks off at character {at}")
        item, at = decode(text, match.end())
        yield item, at
        first = False
