"""Rows of a JSONL, CSV or Parquet file, each with the words that say where it is."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class TableError(ValueError):
    """A file that cannot be read as rows."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: where it is, as file and line or row for messages, and its values by column."""

    where: str
    values: Mapping[str, Any]


def read_table(path: Path) -> Sequence[Row]:
    """Read a file by the ending of its name.

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
    # Bytes, since texts would also be parted at the exotic line ends inside of answers.
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
