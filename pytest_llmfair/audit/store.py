"""The folder of an audit: Parquet parts that are written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_llmfair._util.validation import install
from pytest_llmfair.clients.cassette.locks import take_whole

_MAGIC = b"PAR1"


@dataclass(frozen=True, slots=True)
class Store:
    """The parts of an audit by phase and shard; each has its name only when it is complete."""

    folder: Path

    def path(self, phase: str, shard: int) -> Path:
        """Return the path of the part of a shard."""
        return self.folder / phase / f"{shard:05d}.parquet"

    def put(
        self, phase: str, shard: int, columns: Mapping[str, Sequence[Any]], about: Any = None
    ) -> None:
        """Write a part, and then give it its name; `about` is JSON that goes with it."""
        arrow, parquet = _arrow()
        # A column without any value would otherwise have no type.
        arrays = {
            name: arrow.array(values, arrow.string() if set(values) <= {None} else None)
            for name, values in columns.items()
        }
        table = arrow.table(arrays).replace_schema_metadata({"about": json.dumps(about)})
        path = self.path(phase, shard)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two workers may make the same part, when one of them was taken for dead.
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
            # Prompts and answers may be about people: a part is for its owner only.
            with os.fdopen(os.open(unfinished, flags, 0o600), "wb") as file:
                parquet.write_table(table, file, write_page_checksum=True)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)

    def columns(self, phase: str, shard: int, *names: str) -> dict[str, list[Any]]:
        """Return columns of a part, by default all; equal texts of a column are one object."""
        _, parquet = _arrow()
        path = self.path(phase, shard)
        try:
            table = parquet.read_table(
                path, columns=list(names) or None, page_checksum_verification=True
            )
        except (OSError, ValueError) as error:
            raise ValueError(
                f"{path} cannot be read ({error}); delete it, and run the command that began the "
                "audit again, which makes it again"
            ) from None
        return {name: _values(table.column(name)) for name in table.column_names}

    def about(self, phase: str, shard: int) -> Any:
        """Return the JSON that goes with a part; None without any."""
        _, parquet = _arrow()
        return json.loads(parquet.read_schema(self.path(phase, shard)).metadata[b"about"])

    def has(self, phase: str, shard: int) -> bool:
        """Whether the part of a shard has both ends; a damaged disk may have cut it."""
        try:
            with self.path(phase, shard).open("rb") as part:
                start = part.read(len(_MAGIC))
                # A file of one word only would end with its own start.
                part.seek(max(part.seek(0, os.SEEK_END) - len(_MAGIC), len(_MAGIC)))
                return start == _MAGIC == part.read()
        except FileNotFoundError:
            return False

    def done(self, phase: str) -> list[int]:
        """Return the shards whose part is whole."""
        parts = sorted((self.folder / phase).glob("[0-9]*.parquet"))
        return [shard for shard in (int(part.stem) for part in parts) if self.has(phase, shard)]

    def drop(self, phases: str, shard: int) -> None:
        """Remove the parts of a shard that are made from another one; `phases` is a pattern."""
        for part in self.folder.glob(f"{phases}/{self.path('', shard).name}"):
            part.unlink()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other runs of the command from making parts in this folder."""
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"--out is {self.folder}, which is a file; give a folder")
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.folder / ".lock").open("ab") as file:
            if not take_whole(file.fileno()):
                raise ValueError(
                    f"another run makes the parts of {self.folder} now; wait until it has ended"
                )
            # Parts that killed runs began.
            for unfinished in self.folder.glob("*/.[0-9]*.parquet.*"):
                unfinished.unlink(missing_ok=True)
            yield


def utf8(text: str) -> str:
    """Return a text that UTF-8 can hold: half a surrogate pair becomes a question mark."""
    return str(text).encode("utf-8", "replace").decode()


def _values(column: Any) -> list[Any]:
    if str(column.type) != "string":
        found: list[Any] = column.to_pylist()
        return found
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    texts = encoded.dictionary.to_pylist()
    return [texts[place] for place in encoded.indices.to_numpy().tolist()]


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
