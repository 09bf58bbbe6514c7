"""What an audit is, as its manifest says: data, model, attribute, generations and shards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_llmfair._util.tables import is_table, rows_of
from pytest_llmfair._util.validation import whole as whole_number
from pytest_llmfair._util.version import __version__
from pytest_llmfair.audit.store import Store, whole
from pytest_llmfair.counterfactuals.pairs import pairs_of_part
from pytest_llmfair.lexicons.attributes import lexicon_for

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
    lexicon_sha256 : str
        Digest of the words of the attribute; empty without an attribute.
    package : str
        Version of this package.
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
    lexicon_sha256: str = ""
    package: str = __version__

    def __post_init__(self) -> None:
        whole_number(self.generations, "generations")
        whole_number(self.shard_size, "shard-size")
        if self.max_tokens is not None:
            whole_number(self.max_tokens, "max-tokens")

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
        try:
            held = json.loads(path.read_text(encoding="utf-8"))
            return cls(**{**held, "groups": tuple(held["groups"])})
        except (ValueError, TypeError, LookupError) as error:
            raise ValueError(
                f"{path} is damaged ({type(error).__name__}: {error}); restore it from a copy, or "
                "begin again in another folder"
            ) from None

    def begin(self, store: Store, source: Path) -> Plan:
        """Write the manifest and the prompts in shards, or continue an audit with equal plan.

        Raises
        ------
        ValueError
            If the folder holds another audit, or a row has no prompt; the message names it.
        """
        path = store.folder / MANIFEST
        wanted = self.with_words()
        if path.is_file():
            held = Plan.of_folder(store.folder)
            _check_same(held, wanted, store.folder)
            if len(store.done("prompts")) < len(held.shards):
                self._write_prompts(store, source)
            return held
        # The manifest is written after the prompts, and before any other part.
        parts = sorted(store.folder.glob("*/[0-9]*.parquet"))
        if others := [part for part in parts if part.parent.name != "prompts"]:
            raise ValueError(
                f"{others[0]} belongs to an audit whose {MANIFEST} is missing, so that nothing "
                "says what its answers are; restore that file, or give another folder to --out"
            )
        for part in parts:
            part.unlink()
        found = replace(wanted, prompts=self._write_prompts(store, source))
        unfinished = path.with_suffix(".tmp")
        unfinished.write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")
        unfinished.replace(path)
        return found

    def with_words(self) -> Plan:
        """Return the plan with the digest of the attribute's words.

        Raises
        ------
        ValueError
            If there is no such attribute, or no such group.
        """
        return replace(self, lexicon_sha256=_lexicon_digest(self))

    def _write_prompts(self, store: Store, source: Path) -> int:
        """Write the prompts in shards, and return their number."""
        number = shard = 0
        prompts = read_prompts(source, self.column)
        while rows := list(islice(prompts, self.shard_size)):
            store.put("prompts", shard, {"prompt": rows})
            number, shard = number + len(rows), shard + 1
        if not number:
            raise ValueError(f"{source} has no prompt; give at least one")
        return number


def _values(plan: Plan) -> dict[str, Any]:
    return {each.name: getattr(plan, each.name) for each in fields(plan)}


def _lexicon_digest(plan: Plan) -> str:
    """Return the digest of the attribute's words; ``ValueError`` for an unknown attribute."""
    if not plan.attribute:
        if plan.groups or plan.placebo:
            raise ValueError("--groups and --placebo need an attribute; give --attribute NAME")
        return ""
    # Makes the pairs of any prompt, to find wrong groups before anything is written.
    pairs_of_part(["A prompt."], plan.lexicon, plan.groups or None)  # type: ignore[arg-type]
    lexicon: Any = lexicon_for(plan.lexicon, plan.groups or None)
    words = [(each.name, getattr(lexicon, each.name)) for each in fields(lexicon)]
    content = [(name, value) for name, value in words if name != "grammar"]
    return hashlib.sha256(repr(content).encode()).hexdigest()


def _check_same(held: Plan, wanted: Plan, folder: Path) -> None:
    old, new = _values(held), _values(wanted)
    different = [
        f"{name} was {old[name]!r} and is {new[name]!r}"
        for name in old
        if name not in ("prompts", "data") and old[name] != new[name]
    ]
    if different:
        raise ValueError(
            f"{folder} holds another audit ({'; '.join(different)}); give the same options, "
            "files and version of this package to continue it, or another folder to --out"
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
    if path.suffix.lower() == ".txt":
        try:
            with path.open(encoding="utf-8-sig") as lines:
                yield from filter(None, map(str.strip, lines))
        except UnicodeDecodeError:
            raise ValueError(f"{path} is not UTF-8; save it as UTF-8") from None
        return
    if not is_table(path):
        raise ValueError(
            f"{path} is of an unknown kind; give a file that ends in .jsonl, .csv, .parquet or "
            ".txt (with a prompt a line)"
        )
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
        if prompt != whole(prompt):
            raise ValueError(
                f"{row.where}: the prompt {prompt[:80]!r} holds half of a surrogate pair, which "
                "no UTF-8 text can; write the whole character or leave the row out"
            )
        yield prompt
