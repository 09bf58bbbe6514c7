"""The folder of an audit: Parquet parts that are written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_llmfair._util.validation import install

_MAGIC = b"PAR1"


@dataclass(frozen=True, slots=True)
class Store:
    """The parts of an audit by phase and shard.

    A part is the checkpoint of its shard: it appears under its name only when it is complete, so
    a run that was killed continues with the parts that are there.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()))
    >>> store.put("answers", 0, {"answer": ["yes", None]})
    >>> store.done("answers"), store.column("answers", 0, "answer")
    ([0], ['yes', None])
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
        arrays = {name: arrow.array(values) for name, values in columns.items()}
        # A column of texts without any text would otherwise have no type.
        table = arrow.table(
            {n: a.cast(arrow.string()) if a.type == arrow.null() else a for n, a in arrays.items()}
        )
        if about is not None:
            table = table.replace_schema_metadata({"about": json.dumps(about)})
        path = self.path(phase, shard)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two workers may make the same part, when one of them was taken for dead.
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with unfinished.open("wb") as file:
                parquet.write_table(table, file)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)

    def columns(self, phase: str, shard: int, names: Sequence[str]) -> dict[str, list[Any]]:
        """Return columns of a part; equal texts of a column are one object."""
        arrow, parquet = _arrow()
        table = parquet.read_table(self.path(phase, shard), columns=list(names))
        found = {}
        for name in names:
            column = table.column(name).combine_chunks()
            if column.type != arrow.string():
                found[name] = column.to_numpy(zero_copy_only=False).tolist()
                continue
            encoded = column.dictionary_encode(null_encoding="encode")
            texts = encoded.dictionary.to_pylist()
            found[name] = [texts[place] for place in encoded.indices.to_numpy().tolist()]
        return found

    def column(self, phase: str, shard: int, name: str) -> list[Any]:
        """Return one column of a part."""
        return self.columns(phase, shard, [name])[name]

    def rows(self, phase: str, shard: int) -> int:
        """Return the number of rows of a part."""
        _, parquet = _arrow()
        return int(parquet.read_metadata(self.path(phase, shard)).num_rows)

    def about(self, phase: str, shard: int) -> dict[str, Any]:
        """Return the JSON that goes with a part; empty without any."""
        _, parquet = _arrow()
        held = parquet.read_schema(self.path(phase, shard)).metadata or {}
        found: dict[str, Any] = json.loads(held.get(b"about", b"{}"))
        return found

    def done(self, phase: str) -> list[int]:
        """Return the shards whose part is whole."""
        parts = (self.folder / phase).glob("[0-9]*.parquet")
        return sorted(int(part.stem) for part in parts if _is_whole(part))


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
