"""The plan of an audit, kept as its manifest, and the index of shards and questions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_llmfair._util.validation import whole
from pytest_llmfair._util.version import __version__
from pytest_llmfair.audit.store import Store
from pytest_llmfair.clients.identity import identity_of_specification
from pytest_llmfair.counterfactuals.pairs import pairs_of_part
from pytest_llmfair.lexicons.attributes import digest_of_words, lexicon_for
from pytest_llmfair.results.registry import prompts_in

MANIFEST = "manifest.json"

_MOST = 10**12
# Types of the fields of a plan, by their annotation.
_TYPES: dict[str, Any] = {
    "str": str,
    "int": int,
    "int | None": (int, type(None)),
    "bool": bool,
    "tuple[str, ...]": tuple,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an audit asks; two runs with equal plans continue each other."""

    data: str
    data_sha256: str
    prompts: int
    model: str
    # Revision and digests tell whether model, data and words are still the same.
    revision: str
    lexicon_sha256: str
    column: str = "prompt"
    # Two with a comma between; empty to ask the prompts alone.
    attribute: str = ""
    groups: tuple[str, ...] = ()
    placebo: bool = False
    generations: int = 1
    seed: int = 0
    max_tokens: int | None = None
    shard_size: int = 1000
    package: str = __version__

    @classmethod
    def of(cls, data: Path, model: str, **given: Any) -> Plan:
        """Return the plan for a file of prompts, with its digests; `given` are other fields."""
        plan = cls(
            data=data.name,
            data_sha256="",
            prompts=0,
            model=model,
            revision="",
            lexicon_sha256="",
            **given,
        )
        for name in ("generations", "shard_size", "max_tokens"):
            if name in given:
                whole(given[name], name.replace("_", "-"))
        words = plan._words_sha256()
        with data.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return replace(
            plan,
            data_sha256=digest,
            prompts=sum(1 for _ in prompts_in(data, plan.column)),
            revision=revision_of(model),
            lexicon_sha256=words,
        )

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
            plan = cls(**{**held, "groups": tuple(held["groups"])})
            plan._check_types()
            return plan
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            raise ValueError(
                f"{path} is damaged ({type(error).__name__}: {error}); restore it from a copy, or "
                "begin again in another folder"
            ) from None

    def _check_types(self) -> None:
        """Raise ``ValueError`` if a field is not what it says: a folder may come from others."""
        for each in fields(self):
            value = getattr(self, each.name)
            if not isinstance(value, _TYPES[str(each.type)]):
                raise ValueError(f"{each.name} is {str(value)[:40]!r}")
        for name, least in (("prompts", 0), ("shard_size", 1), ("generations", 1)):
            if not least <= getattr(self, name) <= _MOST:
                raise ValueError(f"{name} is not from {least} to {_MOST:,}")

    @property
    def shards(self) -> range:
        """The numbers of the shards."""
        return range(-(-self.prompts // self.shard_size))

    @property
    def lexicon(self) -> Any:
        """The attribute, as the functions that make pairs take it."""
        one, _, other = self.attribute.partition(",")
        return (one, other) if other else one

    def begin(self, store: Store, data: Path) -> None:
        """Write the manifest and the prompts in shards, or continue an audit with equal plan."""
        path = store.folder / MANIFEST
        if path.is_file():
            self._check_same(Plan.of_folder(store.folder), store.folder)
        elif other := next(store.folder.glob("*/[0-9]*.parquet"), None):
            raise ValueError(
                f"{other} belongs to an audit whose {MANIFEST} is missing, so that nothing says "
                "what its answers are; restore that file, or give another folder to --out"
            )
        else:
            unfinished = path.with_suffix(".tmp")
            unfinished.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
            unfinished.replace(path)
        if len(store.done("prompts")) < len(self.shards):
            texts = prompts_in(data, self.column)
            for shard in self.shards:
                store.put("prompts", shard, {"prompt": [*islice(texts, self.shard_size)]})

    def _check_same(self, held: Plan, folder: Path) -> None:
        different = [
            f"{name} was {old!r} and is {new!r}"
            for name, old in asdict(held).items()
            if old != (new := getattr(self, name)) and name != "data"
        ]
        if different:
            raise ValueError(
                f"{folder} holds another audit ({'; '.join(different)}); give the same options, "
                "files and version of this package to continue it, or another folder to --out"
            )

    def _words_sha256(self) -> str:
        """Return the digest of the attribute's words; empty without an attribute."""
        if not self.attribute:
            if self.groups or self.placebo:
                raise ValueError("--groups and --placebo need an attribute; give --attribute NAME")
            return ""
        # Makes the pairs of any prompt, to find wrong groups before anything is written.
        groups: Any = self.groups or None
        pairs_of_part(["A prompt."], self.lexicon, groups)
        return digest_of_words(lexicon_for(self.lexicon, groups))


def revision_of(model: str) -> str:
    """Return the revision or digest of a model as this machine has it; empty without any."""
    return identity_of_specification(model).get("revision", "")


# What the pass writes.
INDEX = ("members", "questions")
# The members of a pair in the order in which a client is asked for them.
MEMBERS = ("original", "counterfactual", "placebo")


# The index pass. Equal prompts get answers of their own, whose seeds count how often the prompt
# came before. That number must not depend on shards, so one pass over digests of all prompts
# finds it. A question is a prompt, its side, and how often it came before on its side; questions
# are numbered through all shards. With more than two groups a prompt is in several pairs, which
# share its question; the first of them asks it.
def make_index(store: Store, shards: Sequence[int], *, paired: bool) -> None:
    """Write the questions of every shard, and the numbers of the questions of its members."""
    phase, names = ("pairs", MEMBERS) if paired else ("prompts", ("prompt",))
    sides = _sides(store, shards) if paired else []
    shares = MEMBERS[:2] if len(set().union(*sides)) > 2 else ()
    before = {name: _occurrences(store, phase, shards, name) for name in names}
    shared: dict[str, int] = {}
    number = 0
    for place, shard in enumerate(shards):
        questions: dict[str, list[str | int]] = {"prompt": [], "side": [], "occurrence": []}
        members: dict[str, list[int]] = {}
        about = {"first": number, "sides": sides}
        for name, texts in store.columns(phase, shard, *names).items():
            own = members.setdefault(name, [])
            for text, occurrence in zip(texts, before[name][place].tolist(), strict=True):
                if text is None:
                    own.append(-1)
                    continue
                known = shared.setdefault(text, number) if name in shares else number
                own.append(known)
                if known == number:
                    number += 1
                    questions["prompt"].append(text)
                    questions["side"].append(name if paired and name not in shares else "")
                    questions["occurrence"].append(0 if name in shares else occurrence)
        store.put("members", shard, members, about)
        # Written last: a shard with questions has its members too.
        store.put("questions", shard, questions)


def _sides(store: Store, shards: Sequence[int]) -> list[tuple[str, str]]:
    """Return the two groups of pairs, each two in the order of the first pair that has them."""
    found: dict[frozenset[str], tuple[str, str]] = {}
    for shard in shards:
        columns = store.columns("pairs", shard, "from_group", "to_group")
        for one, other in dict.fromkeys(zip(*columns.values(), strict=True)):
            found.setdefault(frozenset((one, other)), (one, other))
    return list(found.values())


def _occurrences(
    store: Store, phase: str, shards: Sequence[int], name: str
) -> list[npt.NDArray[np.int64]]:
    """Return by shard how often each text came before, in this shard and all earlier ones."""
    texts = (store.columns(phase, shard, name)[name] for shard in shards)
    parts = [np.array([*map(_digest, part)], dtype=np.uint64) for part in texts]
    flat = np.concatenate(parts)
    order = np.argsort(flat, kind="stable")
    begins = np.diff(flat[order], prepend=~flat[order[:1]]) != 0
    places = np.arange(len(flat))
    before = np.empty(len(flat), dtype=np.int64)
    before[order] = places - np.maximum.accumulate(np.where(begins, places, 0))
    return np.split(before, np.cumsum([len(part) for part in parts])[:-1])


def _digest(text: str | None) -> int:
    if text is None:
        return 0
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
