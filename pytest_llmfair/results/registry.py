"""Readers of result files by name: which of them knows a file, and what it makes of it."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.tables import texts_of
from pytest_llmfair.results.source import File, ResultsError
from pytest_llmfair.results.table import Results, joined

Read = Callable[[File], Results]


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader: what it takes, whether it knows a file, and the function that reads it."""

    name: str
    files: str
    knows: Callable[[File], bool]
    read: Read


_READERS: dict[str, Reader] = {}
# Asked last: these know a file by its ending only.
_GENERAL = ("tables",)


def reader(name: str, files: str, *, knows: Callable[[File], bool]) -> Callable[[Read], Read]:
    """Register a function that reads the result files of a tool.

    In a ``conftest.py`` this teaches ``llmfair doctor``, ``llmfair judge``, ``responses:FILE`` and
    checks the format of your own tool::

        @reader("mytool", ".said files", knows=lambda file: file.suffix == ".said")
        def mytool(file):
            rows = [
                Row(line.where, line.values["question"], line.values["reply"])
                for line in file.lines()
            ]
            return Results("mytool", rows)

    Parameters
    ----------
    name : str
        What the reader is called in ``--reader``.
    files : str
        The files that it takes, in words.
    knows : callable
        Whether a :class:`File` is one of these; it should look at the name and the head only.

    Examples
    --------
    >>> from pytest_llmfair.results import Results, Row, reader
    >>> @reader("notes", ".notes", knows=lambda file: file.suffix == ".notes")
    ... def notes(file):
    ...     return Results("notes", [Row("line 1", "Hi?", file.head)])
    """

    def registered(read: Read) -> Read:
        _READERS[name] = Reader(name, files, knows, read)
        return read

    return registered


def readers() -> dict[str, Reader]:
    """Return every reader by name, those that know a file by its content first."""
    _load_shipped()
    order = sorted(_READERS.values(), key=lambda each: each.name in _GENERAL)
    return {each.name: each for each in order}


@functools.cache
def _load_shipped() -> None:
    folder = Path(__file__).parent / "readers"
    for module in pkgutil.iter_modules([str(folder)]):
        importlib.import_module(f"{__package__}.readers.{module.name}")


@functools.cache
def load_conftest(folder: Path) -> None:
    """Run the ``conftest.py`` of a folder, whose readers commands outside pytest need too."""
    file = folder / "conftest.py"
    if file.is_file() and "pytest_llmfair.results" in file.read_text(encoding="utf-8"):
        spec = importlib.util.spec_from_file_location("llmfair_conftest", file)
        assert spec is not None
        assert spec.loader is not None
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def knows(path: Path) -> bool:
    """Whether a reader for a tool, and not only for tables, takes a file."""
    file = File(path)
    special = (each for each in readers().values() if each.name not in _GENERAL)
    return path.exists() and any(each.knows(file) for each in special)


def prompts_in(path: Path, column: str = "prompt", *, lines: bool = False) -> Iterator[str]:
    """Yield the prompts of a result file, of a column of a table, or one a line."""
    if path.is_file() and knows(path):
        yield from dict.fromkeys(row.prompt for row in read_results([path]).rows if row.prompt)
    else:
        yield from texts_of(path, column, lines=lines)


def read_results(
    paths: Sequence[str | Path], name: str | None = None, options: Mapping[str, str] | None = None
) -> Results:
    """Read one file, or several of one run, by a reader of a name or the one that knows it."""
    files = [File(Path(path).expanduser(), options or {}) for path in paths]
    parts: list[Results] = []
    for file in files:
        if not file.path.exists():
            raise ResultsError(f"there is no file {file.path}; check the path")
        part = _reader_of(file, name).read(file)
        if not part.rows:
            why = f" ({part.notes[0]})" if part.notes else ""
            raise ResultsError(
                f"{file.path} holds no answers{why}; run the evaluation again, or name the file "
                "with one entry for each answer"
            )
        parts.append(replace(part, digest=file.digest(), files=(str(file.path),)))
    # A file and what it found next to it may both be given.
    distinct = list({part.digest: part for part in parts}.values())
    tools = list(dict.fromkeys(part.tool for part in distinct))
    if len(tools) > 1:
        raise ResultsError(
            f"the files are of {' and '.join(tools)}; give the files of one run, or judge each"
        )
    whole = joined(distinct)
    names = tuple(file for part in distinct for file in part.files)
    return replace(whole, files=names, digest=" ".join(part.digest for part in distinct))


def _reader_of(file: File, name: str | None) -> Reader:
    known = readers()
    if name is not None:
        if name not in known:
            raise ResultsError(f"there is no reader {name!r}; {suggestion(name, known)}")
        return known[name]
    if file.path.is_file() and not file.path.stat().st_size:
        raise ResultsError(f"{file.path} is empty; run the evaluation to its end, or give another")
    for each in known.values():
        if each.knows(file):
            return each
    listed = "; ".join(f"{each.name}: {each.files}" for each in known.values())
    raise ResultsError(
        f"{file.path} is not a file that a reader knows; readers and their files are {listed}. "
        "Name one by --reader, export JSONL, or write a reader in conftest.py (docs/results.md)"
    )
