"""Append-only JSONL store of recorded answers, found by the key of their request.

Records are appended by a single write while the file is locked, so several processes can use a
cassette at once, and before anyone sees the answer: a process that is killed loses only requests
in flight. An index has the key at the end of every line; records are decoded when needed.
"""

from __future__ import annotations

import os
import tempfile
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pytest_llmfair._util.printing import printable
from pytest_llmfair.clients.cassette.locks import locked
from pytest_llmfair.clients.cassette.record import (
    DamagedRecord,
    Question,
    Record,
    ScoreRecord,
    key_of,
    read_record,
)
from pytest_llmfair.settings import Settings

_BLOCK = 1 << 22
# Offset and length share one integer, which takes a third of the memory of a pair.
_LENGTH_BITS = 40

# Damaged lines named at most, since a file of another kind would flood the screen.
_MOST_NAMED = 20

# Marks of a line that was once a record, even if it is damaged: its last fields, or its beginning
# if the end is torn off.
_LAST_FIELDS, _WITHIN = (b',"key":"', b',"sum":"'), 80
_BEGINNINGS = (b'{"prompt":"', b'{"prompt_digest":"', b'{"scorer":"')


class CassetteWarning(UserWarning):
    """A damaged line of a cassette is skipped; the message names file and line."""


class Cassette:
    """Recorded answers in a file, one per line; of several with one key the last counts."""

    def __init__(self, path: Path, *, text: bool = True) -> None:
        self.path = path
        self.text = text
        self._mutex = threading.RLock()
        self._handle = -1
        self._writes = False
        self._places: dict[bytes, int] = {}
        self._anonymous: dict[str, str] | None = None
        # End of the indexed lines, their number, and the size of the file at the last look.
        self._end = self._lines = self._seen = 0
        # Whether damaged records were found, and lines that were never records.
        self._damaged = self._foreign = False

    @classmethod
    def of(cls, settings: Settings) -> Cassette | None:
        """Return the cassette of a session; None without one."""
        if settings.cassette is None:
            return None
        return cls(
            Path(settings.cassette),
            text=settings.cassette_text == "full",
        )

    def __len__(self) -> int:
        return len(self._places)

    def get(self, key: str) -> tuple[Record, int] | None:
        """Return the record of a key and its offset; a line that is no record is a warning."""
        with self._mutex:
            found = self._held(key)
            if found is None:
                # A damaged line is named once.
                self._places.pop(bytes.fromhex(key), None)
        if found is None or not isinstance(found[0], Record):
            return None
        return found[0], found[1]

    def score(self, key: str) -> float | None:
        """Return the score recorded under a key; None if there is none."""
        with self._mutex:
            found = self._held(key)
        return found[0].score if found and isinstance(found[0], ScoreRecord) else None

    def _held(self, key: str) -> tuple[Record | ScoreRecord, int] | None:
        """Return the record of a key and its offset; a damaged line is a warning."""
        place = self._places.get(bytes.fromhex(key))
        if place is None:
            return None
        offset, length = divmod(place, 1 << _LENGTH_BITS)
        try:
            return read_record(self._read(offset, length)), offset
        except DamagedRecord as error:
            _warn(self.path, [(self._line_at(offset), str(error))])
            return None

    def records(self) -> Iterator[Record]:
        """Yield the record of every key, in the order of the first recordings."""
        for key in list(self._places):
            if found := self.get(key.hex()):
                yield found[0]

    def models(self) -> list[dict[str, str]]:
        """Return the identities of the models whose answers are recorded, each once."""
        found = {tuple(sorted(record.question.model.items())) for record in self.records()}
        return [dict(identity) for identity in sorted(found)]

    def of_another_revision(self, question: Question) -> Record | None:
        """Return the last recorded answer to a question by another revision of the model."""
        if self._anonymous is None:
            self._anonymous = {
                record.question.anonymous_key: record.key for record in self.records()
            }
        key = self._anonymous.get(question.anonymous_key)
        found = None if key is None else self.get(key)
        return None if found is None else found[0]

    def refresh(self) -> None:
        """Read what any process appended since, or the whole file if it was replaced."""
        with self._mutex:
            if not self._open(writes=False) or os.fstat(self._handle).st_size == self._seen:
                return
            # Without the lock, half a line that is being written would look torn.
            with locked(self._handle):
                damaged = self._load()
        _warn(self.path, damaged)

    def prepare(self) -> None:
        """Raise what :meth:`put` would raise, before answers are paid for; make no file."""
        with self._mutex:
            try:
                if self.path.exists():
                    self._open(writes=True)
                    self._check_own()
                else:
                    self.path.parent.mkdir(parents=True, exist_ok=True)
                    # Under another name, since an empty cassette would count as recorded.
                    tempfile.TemporaryFile(dir=self.path.parent).close()
            except OSError as error:
                raise OSError(
                    f"answers cannot be recorded in {self.path} ({error.strerror}), so nothing is "
                    "asked; name a file that can be written to, or replay with "
                    "--llmfair-record-mode none"
                ) from None

    def put(self, records: Sequence[Record | ScoreRecord]) -> None:
        """Append records by one write; on an error the file stays as it was."""
        lines = [record.line(text=self.text) for record in records]
        if not lines:
            return
        with self._mutex:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._locked_for_writing():
                damaged = self._load()
                self._check_own()
                self._append(b"".join(lines))
                damaged += self._load()
        _warn(self.path, damaged)

    def sync(self) -> None:
        """Wait until everything written is on the disk."""
        with self._mutex:
            if self._handle >= 0 and self._writes:
                os.fsync(self._handle)

    def close(self) -> None:
        """Close the file; it is opened again at the next use."""
        with self._mutex:
            if self._handle >= 0:
                os.close(self._handle)
            self._handle = -1

    def _append(self, data: bytes) -> None:
        size = _repaired(self._handle)
        try:
            os.lseek(self._handle, 0, os.SEEK_END)
            written = os.write(self._handle, data)
            if written < len(data):
                raise OSError(
                    f"{self.path}: only {written} of {len(data)} bytes of an answer could be "
                    "written; make room on the disk"
                )
        except OSError:
            os.ftruncate(self._handle, size)
            raise

    @contextmanager
    def _locked_for_writing(self) -> Iterator[None]:
        """Hold the lock of the file that has the path now."""
        while True:
            self._open(writes=True)
            with locked(self._handle):
                if self._current():
                    yield
                    return

    def _open(self, *, writes: bool) -> bool:
        """Open the file, again when it was replaced or is written to for the first time."""
        if self._handle >= 0 and not self._current():
            self.close()
            self._forget()
        if self._handle >= 0 and writes <= self._writes:
            return True
        self.close()
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND if writes else os.O_RDONLY
        try:
            # Answers may be about people: a new file is for its owner only.
            self._handle = os.open(self.path, flags | getattr(os, "O_BINARY", 0), 0o600)
        except FileNotFoundError:
            self._forget()
            return False
        self._writes = writes
        return True

    def _current(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._handle), self.path.stat())
        except FileNotFoundError:
            return False

    def _forget(self) -> None:
        self._places, self._anonymous = {}, None
        self._end = self._lines = self._seen = 0
        self._damaged = self._foreign = False

    def _load(self) -> list[tuple[int, str]]:
        """Index what follows the known part; return the damaged lines with their numbers."""
        size = os.fstat(self._handle).st_size
        if size < self._end:
            self._forget()
        if size == self._seen:
            return []
        damaged = []
        self._anonymous = None
        rest, offset = b"", self._end
        while block := self._read(offset + len(rest), min(_BLOCK, size - offset - len(rest))):
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            for line in lines:
                self._lines += 1
                if why := self._index(line, offset):
                    damaged.append((self._lines, why))
                offset += len(line) + 1
        torn = any(start.startswith(rest[: len(start)]) for start in _BEGINNINGS)
        if rest and torn and not rest.endswith(b"}"):
            self._damaged = True
        if rest and (why := self._index(rest, offset)):
            damaged.append((self._lines + 1, f"{why}; the next recording removes it"))
        self._end, self._seen = offset, size
        return damaged

    def _index(self, line: bytes, offset: int) -> str:
        line = line.removesuffix(b"\r")
        if line:
            try:
                key = key_of(line)
            except DamagedRecord as error:
                if any(field in line[-_WITHIN:] for field in _LAST_FIELDS):
                    self._damaged = True
                else:
                    self._foreign = True
                return str(error)
            self._places[bytes.fromhex(key.decode("ascii"))] = offset << _LENGTH_BITS | len(line)
        return ""

    def _check_own(self) -> None:
        """Raise ``ValueError`` if no line is or was a record."""
        if self._foreign and not self._damaged and not self._places:
            raise ValueError(
                f"{self.path} is not a cassette: none of its lines is a recorded answer; name "
                "another file, which is made if it does not exist"
            )

    def _read(self, offset: int, length: int) -> bytes:
        os.lseek(self._handle, offset, os.SEEK_SET)
        return os.read(self._handle, length)

    def _line_at(self, offset: int) -> int:
        before = (
            self._read(start, min(_BLOCK, offset - start)).count(b"\n")
            for start in range(0, offset, _BLOCK)
        )
        return 1 + sum(before)


def _repaired(handle: int) -> int:
    """Complete the last line, or remove it if it is torn; return the size."""
    size = os.fstat(handle).st_size
    tail = _tail(handle, size) if size else b""
    if not tail:
        return size
    try:
        key_of(tail)
    except DamagedRecord:
        os.ftruncate(handle, size - len(tail))
        return size - len(tail)
    os.lseek(handle, 0, os.SEEK_END)
    return size + os.write(handle, b"\n")


def _tail(handle: int, size: int) -> bytes:
    """Return the bytes after the last line end."""
    length = 1
    while True:
        start = max(size - length, 0)
        os.lseek(handle, start, os.SEEK_SET)
        tail = os.read(handle, size - start)
        if b"\n" in tail or start == 0:
            return tail.rpartition(b"\n")[2]
        length *= 64


def _warn(path: Path, damaged: Sequence[tuple[int, str]]) -> None:
    for number, why in damaged[:_MOST_NAMED]:
        warnings.warn(
            printable(f"{path}:{number}: {why}; it is skipped"), CassetteWarning, stacklevel=3
        )
    if len(damaged) > _MOST_NAMED:
        warnings.warn(
            f"{path}: {len(damaged) - _MOST_NAMED} more damaged lines are skipped; "
            "`llmfair cassette verify` names them all",
            CassetteWarning,
            stacklevel=3,
        )
