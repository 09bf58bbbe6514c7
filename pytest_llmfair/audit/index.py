"""The index pass: which shard asks which question, and which answers belong to which pair.

Equal prompts get answers of their own, whose seeds count how often the prompt came before. That
number must not depend on shards, so one pass over digests of all prompts finds it. A question is a
prompt, its side, and how often it came before on its side; questions are numbered through all
shards. With more than two groups a prompt is in several pairs, which share its question; the first
of them asks it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pytest_llmfair.audit.store import Store

# What the pass writes.
INDEX = ("members", "questions")
# The members of a pair in the order in which a client is asked for them.
MEMBERS = ("original", "counterfactual", "placebo")


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
