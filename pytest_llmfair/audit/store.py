"""The folder of an audit: Parquet parts that are written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_llmfair._util.validation import install
from pytest_llmfair.clients.cassette.locks import take_whole

_MAGIC = b"PAR1"


@dataclass(frozen=True, slots=True)
class Store:
    """The parts of an audit by phase and shard.

    A part is the checkpoint of its shard: it appears under its name only when it is complete, so
    a run that was killed continues with the parts that are there.

    Attributes
    ----------
    folder : Path
        Folder of the audit.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()))
    >>> store.put("answers", 0, {"answer": ["yes", "no"]})
    >>> store.done("answers"), store.column("answers", 0, "answer")
    ([0], ['yes', 'no'])
    """

    folder: Path

    def path(self, phase: str, shard: int) -> Path:
        """Return where the part of a shard is, or will be."""
        return self.folder / phase / f"{shard:05d}.parquet"

    def put(
        self,
        phase: str,
        shard: int,
        columns: Mapping[str, Sequence[Any]],
        about: Mapping[str, Any] | None = None,
    ) -> None:
        """Write a part, and then give it its name; `about` is JSON that goes with it."""
        arrow, parquet = _arrow()
        table = arrow.table({name: arrow.array(values) for name, values in columns.items()})
        if about is not None:
            table = table.replace_schema_metadata({"about": json.dumps(about)})
        path = self.path(phase, shard)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two workers may make the same part, when one of them was taken for dead.
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with unfinished.open("wb") as file:
                parquet.write_table(table, file, write_page_checksum=True)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)

    def table(self, phase: str, shard: int, columns: Sequence[str] | None = None) -> Any:
        """Return a part as a table of Arrow."""
        _, parquet = _arrow()
        names = None if columns is None else list(columns)
        path = self.path(phase, shard)
        try:
            return parquet.read_table(path, columns=names, page_checksum_verification=True)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"{path} cannot be read ({error}); delete it, and run the command that began the "
                "audit again, which makes it again"
            ) from None

    def column(self, phase: str, shard: int, name: str) -> list[Any]:
        """Return one column of a part."""
        return values_of(self.table(phase, shard, [name]).column(name))

    def about(self, phase: str, shard: int) -> dict[str, Any]:
        """Return the JSON that goes with a part; empty without any."""
        _, parquet = _arrow()
        held = parquet.read_schema(self.path(phase, shard)).metadata or {}
        found: dict[str, Any] = json.loads(held.get(b"about", b"{}"))
        return found

    def done(self, phase: str) -> list[int]:
        """Return the shards whose part is whole."""
        parts = sorted((self.folder / phase).glob("[0-9]*.parquet"))
        return [int(part.stem) for part in parts if _is_whole(part)]

    def is_done(self, phase: str, shard: int) -> bool:
        """Whether the part of a shard is whole."""
        path = self.path(phase, shard)
        return path.is_file() and _is_whole(path)

    def drop(self, phases: str, shard: int) -> None:
        """Remove the parts of a shard that are made from another one; `phases` is a pattern."""
        for part in self.folder.glob(f"{phases}/{self.path('', shard).name}"):
            part.unlink()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other runs of the command from making parts in this folder."""
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"--out is {self.folder}, which is a file; give a folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / ".lock").open("ab") as file:
            if not take_whole(file.fileno()):
                raise ValueError(
                    f"another run makes the parts of {self.folder} now; wait until it has ended"
                )
            yield

    def fail(self, phase: str, shard: int, why: str) -> None:
        """Note that a shard failed too often."""
        path = self.folder / "failed" / f"{phase}-{shard:05d}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(whole(why), encoding="utf-8")

    def failed(self, phase: str) -> dict[int, str]:
        """Return why shards failed, for those without a part."""
        done = set(self.done(phase))
        notes = (self.folder / "failed").glob(f"{phase}-[0-9]*.txt")
        shards = {int(note.stem.rpartition("-")[2]): note for note in sorted(notes)}
        return {
            shard: note.read_text(encoding="utf-8")
            for shard, note in shards.items()
            if shard not in done
        }

    def forget_failures(self, phase: str) -> None:
        """Let shards that failed be tried again."""
        for note in (self.folder / "failed").glob(f"{phase}-[0-9]*.txt"):
            note.unlink()

    def digest(self, phases: Iterable[str]) -> str:
        """Return the SHA-256 digest of all parts of phases, by name and bytes."""
        whole = hashlib.sha256()
        for phase in phases:
            for shard in self.done(phase):
                data = self.path(phase, shard).read_bytes()
                whole.update(f"{phase}/{shard} {len(data)}\n".encode() + data)
        return whole.hexdigest()


def whole(text: str) -> str:
    """Return a text that UTF-8 can hold: half a surrogate pair becomes a question mark."""
    return str(text).encode("utf-8", "replace").decode()


def values_of(column: Any) -> list[Any]:
    """Return the values of a column of Arrow; equal texts are one object."""
    if str(column.type) != "string":
        found: list[Any] = column.to_pylist()
        return found
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    texts = encoded.dictionary.to_pylist()
    return [texts[place] for place in encoded.indices.to_numpy().tolist()]


def _is_whole(part: Path) -> bool:
    """Whether a file has both ends of a Parquet file; a damaged disk may have cut it."""
    with part.open("rb") as file:
        start = file.read(len(_MAGIC))
        if part.stat().st_size < 3 * len(_MAGIC):
            return False
        file.seek(-len(_MAGIC), os.SEEK_END)
        return start == _MAGIC == file.read()


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            f"an audit keeps its parts as Parquet files, which needs pyarrow; run: "
            f"{install('scale')}"
        ) from None
    return pyarrow, pyarrow.parquet
