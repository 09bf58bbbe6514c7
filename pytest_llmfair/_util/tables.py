"""Rows of JSONL, CSV and Parquet files, one after the other, with the place of each."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Some spreadsheets take these signs in full width too, and in some countries begin a new cell at
# a semicolon or a tab.
_FORMULA = re.compile(r"((?:^|[;\t\r\n])\s*)([=+\-@\uff1d\uff0b\uff0d\uff20])")


class TableError(ValueError):
    """A file that cannot be read as rows."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its file and line, as messages name it, and its values by column."""

    where: str
    values: Mapping[str, Any]


def is_table(path: Path) -> bool:
    """Whether :func:`rows_of` can read a file, as the ending of its name says."""
    return path.suffix.lower() in _READERS


def texts_of(path: Path, column: str, *, lines: bool = False) -> Iterator[str]:
    """Yield the texts of a column, or the lines of a ``.txt`` file; `lines`: of any other too."""
    texts = _texts(path, column, lines or path.suffix.lower() == ".txt")
    if (first := next(texts, None)) is None:
        raise TableError(f"{path} has no {column}; give at least one")
    yield first
    yield from texts


def _texts(path: Path, column: str, of_lines: bool) -> Iterator[str]:
    if of_lines and not is_table(path):
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {path}; give the path of one")
        try:
            with path.open(encoding="utf-8-sig") as lines:
                yield from filter(None, map(str.strip, lines))
        except UnicodeDecodeError as error:
            raise TableError(
                f"{path} is not UTF-8 (byte {error.start}); save it as UTF-8"
            ) from None
        return
    if not is_table(path):
        raise TableError(
            f"{path} is of an unknown kind; give a file that ends in {', '.join(_READERS)} or "
            f".txt (with a {column} a line)"
        )
    for row in rows_of(path):
        name = next(iter(row.values)) if len(row.values) == 1 else column
        if name not in row.values:
            known = ", ".join(map(str, row.values))
            raise TableError(
                f"{row.where} has no column {column!r}; its columns are {known}: rename one, or "
                "name it by --column where a command has that option"
            )
        text = row.values[name]
        if not isinstance(text, str) or not text.strip():
            raise TableError(
                f"{row.where}: the {column} is {text!r}; give a text or leave the row out"
            )
        try:
            text.encode()
        except UnicodeEncodeError:
            raise TableError(
                f"{row.where}: the {column} {text[:80]!r} holds half of a surrogate pair, which "
                "no UTF-8 text can; write the whole character or leave the row out"
            ) from None
        yield text


def rows_of(path: Path) -> Iterator[Row]:
    """Yield the rows of a file; the ending of its name says how to read it."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise TableError(
            f"{path} is of an unknown kind; give a file that ends in {', '.join(_READERS)}"
        )
    if not path.is_file():
        raise TableError(f"there is no file {path}; give the path of a file with rows")
    return reader(path)


def _read_lines(path: Path) -> Iterator[Row]:
    # Bytes, since texts would also be split at Unicode line ends inside answers.
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if not line.strip():
                continue
            where = f"line {number} of {path}"
            try:
                values = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise TableError(f"{where} is not valid JSON ({error})") from None
            if not isinstance(values, dict):
                raise TableError(f"{where} is a JSON {type(values).__name__}, not an object")
            yield Row(where, values)


def _read_csv(path: Path) -> Iterator[Row]:
    # Answers may be longer than the 128 KiB that a field of the csv module may have.
    limit = csv.field_size_limit(2**31 - 1)
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, strict=True)
            names = reader.fieldnames or ()
            _check_distinct(path, names)
            other = next((each for each in ";\t" if len(names) == 1 and each in names[0]), "")
            if other:
                raise TableError(
                    f"the columns of {path} are not separated by commas but by {other!r}; save it "
                    "with commas, and with points in numbers"
                )
            for values in reader:
                where = f"line {reader.line_num} of {path}"
                if None in values or None in values.values():
                    raise TableError(f"{where} has more or fewer fields than the first line")
                yield Row(where, values)
    except UnicodeDecodeError as error:
        raise TableError(f"{path} is not UTF-8 (byte {error.start}); save it as UTF-8") from None
    except csv.Error as error:
        raise TableError(f"{path} cannot be read after line {reader.line_num} ({error})") from None
    finally:
        csv.field_size_limit(limit)


def safe_cell(value: Any) -> Any:
    """Return a value of a CSV file; what a spreadsheet would compute begins with "'"."""
    if isinstance(value, str):
        return _FORMULA.sub(r"\1'\2", value)
    return "" if value is None else value


def _read_parquet(path: Path) -> Iterator[Row]:
    try:
        for number, values in enumerate(_records(path), 1):
            yield Row(f"row {number} of {path}", values)
    except ImportError:
        raise TableError(
            f"{path} needs pyarrow; run: pip install pyarrow, or save it as .jsonl"
        ) from None
    except (OSError, ValueError) as error:
        raise TableError(f"{path} cannot be read as Parquet ({error})") from None


def _records(path: Path) -> Iterator[dict[str, Any]]:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        import pandas as pd  # type: ignore[import-untyped, import-not-found, unused-ignore]

        frame = pd.read_parquet(path)
        yield from frame.astype(object).where(frame.notna(), None).to_dict("records")
        return
    file = parquet.ParquetFile(path)
    _check_distinct(path, file.schema_arrow.names)
    for batch in file.iter_batches():
        yield from batch.to_pylist()


def _check_distinct(path: Path, columns: Sequence[str]) -> None:
    # A row would have the value of the last of them, and hide the others.
    if twice := [name for name in columns if columns.count(name) > 1]:
        raise TableError(f"{path} has two columns {twice[0]!r}; rename one, or leave it out")


_READERS: dict[str, Callable[[Path], Iterator[Row]]] = {
    ".jsonl": _read_lines,
    ".ndjson": _read_lines,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}
