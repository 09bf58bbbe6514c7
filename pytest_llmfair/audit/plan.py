"""What an audit is, as its manifest says: data, model, attribute, generations and shards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_llmfair._util.tables import rows_of
from pytest_llmfair._util.validation import whole
from pytest_llmfair.audit.store import Store

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an audit asks; two runs with equal plans continue each other.

    Attributes
    ----------
    data : str
        Name of the file of prompts.
    data_sha256 : str
        Digest of its bytes.
    column : str
        The column of the prompts.
    model : str
        Specification of the model.
    revision : str
        Revision or digest of the model; empty where its provider has none.
    attribute : str
        Attribute whose groups are exchanged, or two with a comma between; empty to ask the prompts
        alone.
    groups : tuple of str
        The two groups to exchange; empty for all of the attribute.
    placebo : bool
        Whether placebo twins are asked.
    generations : int
        Answers per prompt.
    seed : int
        Seed of the answers and of placebo twins.
    max_tokens : int or None
        Longest answer.
    shard_size : int
        Prompts of a shard.
    prompts : int
        Number of prompts.
    """

    data: str
    data_sha256: str
    column: str
    model: str
    revision: str
    attribute: str
    groups: tuple[str, ...]
    placebo: bool
    generations: int
    seed: int
    max_tokens: int | None
    shard_size: int
    prompts: int = 0

    def __post_init__(self) -> None:
        whole(self.generations, "generations")
        whole(self.shard_size, "shard-size")

    @property
    def shards(self) -> range:
        """The numbers of the shards."""
        return range(-(-self.prompts // self.shard_size))

    @property
    def lexicon(self) -> str | tuple[str, str]:
        """The attribute as the functions that make pairs take it."""
        one, _, other = self.attribute.partition(",")
        return (one, other) if other else one

    @classmethod
    def of_folder(cls, folder: Path) -> Plan:
        """Return the plan of an audit that was begun; raise ``ValueError`` if there is none."""
        path = folder / MANIFEST
        if not path.is_file():
            raise ValueError(
                f"{folder} holds no audit; name its data and its model: llmfair audit DATA "
                f"--model SPEC --checks FILE --out {folder}"
            )
        held = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{**held, "groups": tuple(held["groups"])})

    def begin(self, store: Store, source: Path) -> Plan:
        """Write the manifest and the prompts in shards, or continue an audit with equal plan.

        Raises
        ------
        ValueError
            If the folder holds another audit, or a row has no prompt; the message names it.
        """
        path = store.folder / MANIFEST
        if path.is_file():
            held = Plan.of_folder(store.folder)
            _check_same(held, self, store.folder)
            return held
        if store.folder.is_dir() and any(store.folder.glob("*/[0-9]*.parquet")):
            # The manifest is written last, so these are prompts of a run that was killed.
            for part in (store.folder / "prompts").glob("[0-9]*.parquet"):
                part.unlink()
        number = shard = 0
        prompts = read_prompts(source, self.column)
        while rows := list(islice(prompts, self.shard_size)):
            store.put("prompts", shard, {"prompt": rows})
            number, shard = number + len(rows), shard + 1
        if not number:
            raise ValueError(f"{source} has no prompt; give at least one")
        found = Plan(**{**_values(self), "prompts": number})
        unfinished = path.with_suffix(".tmp")
        unfinished.write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")
        unfinished.replace(path)
        return found


def _values(plan: Plan) -> dict[str, Any]:
    return {each.name: getattr(plan, each.name) for each in fields(plan)}


def _check_same(held: Plan, wanted: Plan, folder: Path) -> None:
    old, new = _values(held), _values(wanted)
    different = [
        f"{name} was {old[name]!r} and is {new[name]!r}"
        for name in old
        if name not in ("prompts", "data") and old[name] != new[name]
    ]
    if different:
        raise ValueError(
            f"{folder} holds another audit ({'; '.join(different)}); give the same options to "
            "continue it, or another folder to --out"
        )


def digest_of(path: Path) -> str:
    """Return the SHA-256 digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_prompts(path: Path, column: str) -> Iterator[str]:
    r"""Yield the prompts of a file, without holding all of them.

    Parameters
    ----------
    path : Path
        ``.jsonl``, ``.csv`` or ``.parquet`` with the column, or ``.txt`` with a prompt a line.
    column : str
        The column of the prompts.

    Raises
    ------
    ValueError
        If a row has no prompt, or the kind of the file is unknown; the message names the row.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "prompts.jsonl"
    >>> _ = path.write_text('{"prompt": "She left."}\n{"prompt": "He stayed."}\n')
    >>> list(read_prompts(path, "prompt"))
    ['She left.', 'He stayed.']
    """
    if path.suffix == ".txt":
        with path.open(encoding="utf-8-sig") as lines:
            yield from filter(None, map(str.strip, lines))
        return
    for row in rows_of(path):
        if column not in row.values:
            known = ", ".join(map(str, row.values))
            raise ValueError(
                f"{row.where} has no column {column!r}; its columns are {known}: name one by "
                "--column"
            )
        if not isinstance(prompt := row.values[column], str) or not prompt.strip():
            raise ValueError(
                f"{row.where}: the prompt is {prompt!r}; give a text or leave the row out"
            )
        yield prompt
