"""What an audit is, as its manifest says: data, model, attribute, generations and shards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

from pytest_llmfair._util.tables import rows_of
from pytest_llmfair._util.validation import whole
from pytest_llmfair.audit.store import Store

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an audit asks; two runs with equal plans continue each other."""

    # The file of prompts, the digest of its bytes, and the column of the prompts.
    data: str
    data_sha256: str
    column: str
    # Specification of the model; its revision is empty where its provider has none.
    model: str
    revision: str
    # The attribute whose groups are exchanged, or two with a comma between; empty to ask the
    # prompts alone. Without groups all of the attribute are exchanged.
    attribute: str
    groups: tuple[str, ...]
    placebo: bool
    generations: int
    seed: int
    max_tokens: int | None
    shard_size: int
    # Number of prompts, once they are counted.
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
        """Write the prompts in shards and the manifest, or continue an audit with equal plan."""
        path = store.folder / MANIFEST
        if path.is_file():
            held = Plan.of_folder(store.folder)
            _check_same(held, self, store.folder)
            return held
        number = shard = 0
        prompts = read_prompts(source, self.column)
        while rows := list(islice(prompts, self.shard_size)):
            store.put("prompts", shard, {"prompt": rows})
            number, shard = number + len(rows), shard + 1
        if not number:
            raise ValueError(f"{source} has no prompt; give at least one")
        found = replace(self, prompts=number)
        # Written last: without it, the next run begins with the prompts again.
        unfinished = path.with_suffix(".tmp")
        unfinished.write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")
        unfinished.replace(path)
        return found


def _check_same(held: Plan, wanted: Plan, folder: Path) -> None:
    old, new = asdict(held), asdict(wanted)
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
    """Yield the prompts of a table with the column, or of a ``.txt`` file with a prompt a line."""
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
