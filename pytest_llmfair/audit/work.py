"""What a worker does: it makes the part of one shard from earlier parts, and nothing else."""

from __future__ import annotations

import bisect
import functools
import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from pytest_llmfair.audit.plan import Plan, revision_of
from pytest_llmfair.audit.store import Store, utf8
from pytest_llmfair.clients import ModelClient, load_client
from pytest_llmfair.clients.budget import Caps
from pytest_llmfair.clients.protocol import RemoteBackend, Request
from pytest_llmfair.clients.requests import RequestRunner
from pytest_llmfair.clients.sending import blocks_of, is_failure, samples_of, was_sent
from pytest_llmfair.clients.session import runner_of
from pytest_llmfair.counterfactuals.pairs import pairs_of_part
from pytest_llmfair.judging.inputs import texts_of
from pytest_llmfair.lexicons.attributes import masker_of_pairs
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.responses import OMISSION, Answer, CutAnswer, Missing, Pair, is_cut
from pytest_llmfair.scorers import load_scorers, score
from pytest_llmfair.session import Session
from pytest_llmfair.settings import Settings

# Phases that are made from answers: the scores of a scorer, and what a metric needs of pairs.
SCORES = "scores-"
REDUCED = "reduced-"
# What a part of pairs has in columns, and what else is known of its pairs.
_GROUPS = ("from_group", "to_group", "attribute", "variant")
_OF_NAMES = ("template", "filler", "cue")  # tell which pairs are of one prompt
PAIR = ("original", "counterfactual", "placebo", *_GROUPS, *_OF_NAMES)
LEFT_OUT = ("rejected", "uncertain", "unmentioned", "lost", "lacks", "unexchanged")


class CannotLoad(ValueError):
    """A worker cannot load the model; that says nothing about the shard that it was to make."""


class WrongModel(CannotLoad):
    """A worker has another model than the audit is about; no shard is made with it."""


class Worker:
    """Makes parts of the audit in a folder; the model and scorers load at first use and stay."""

    def __init__(self, folder: Path, caps: Caps) -> None:
        self._store = Store(folder)
        self._caps = caps

    def run(self, phase: str, shard: int) -> int:
        """Make the part of a shard, and return the number of its rows."""
        if phase == "pairs":
            return self._pairs(shard)
        if phase == "answers":
            return self._answers(shard)
        if phase.startswith(SCORES):
            return self._scores(shard, phase.removeprefix(SCORES))
        return self._reduced(shard, phase.removeprefix(REDUCED))

    def give_up(self, shard: int, why: str) -> None:
        """Let the answers of a shard that cannot be made be missing."""
        lost = Missing("error", why)
        known = self._known(shard)
        self._put_answers(shard, [lost if answer is None else answer for answer in known])

    def close(self) -> None:
        """Close the cassette and the budget of a paid model."""
        if "_runner" in self.__dict__:
            self._runner.close()

    @functools.cached_property
    def _plan(self) -> Plan:
        return Plan.of_folder(self._store.folder)

    @functools.cached_property
    def _client(self) -> ModelClient:
        plan = self._plan
        if (revision := revision_of(plan.model)) != plan.revision:
            raise WrongModel(
                f"{plan.model} has the revision {revision or 'none'} here, and the audit is about "
                f"{plan.revision or 'none'}; give all workers the same weights"
            )
        try:
            return load_client(plan.model, seed=plan.seed, max_tokens=plan.max_tokens)
        except Exception as error:
            raise CannotLoad(f"a worker cannot load {plan.model}: {error}") from error

    @functools.cached_property
    def _runner(self) -> RequestRunner:
        """What asks the model; answers of a paid one are recorded before anything sees them."""
        if not isinstance(self._client.backend, RemoteBackend):
            return RequestRunner()
        folder, caps = self._store.folder, self._caps
        settings = Settings(
            cassette=str(folder / "answers.jsonl"),
            # Other workers and earlier runs record in the same file.
            record_mode="new",
            max_calls=caps.calls,
            max_total_tokens=caps.tokens,
            max_cost=caps.cost,
        )
        session = Session.of(settings)
        session.folder = str(folder)
        return runner_of(session)

    def _pairs(self, shard: int) -> int:
        plan = self._plan
        pairs = pairs_of_part(
            self._store.columns("prompts", shard)["prompt"],
            plan.lexicon,
            plan.groups or None,
            placebo=plan.placebo,
            seed=plan.seed,
            first_row=shard * plan.shard_size,
        )
        columns = {name: [getattr(pair, name) for pair in pairs] for name in PAIR}
        columns["edits"] = [json.dumps([asdict(edit) for edit in pair.edits]) for pair in pairs]
        # JSON has no dataclasses.
        left_out = {name: getattr(pairs, name) for name in LEFT_OUT}
        plain = json.loads(json.dumps(left_out, default=asdict))
        self._store.put("pairs", shard, columns, plain)
        return len(pairs)

    def _requests(self, shard: int) -> list[Request]:
        plan, columns = self._plan, self._store.columns("questions", shard)
        # Numbers of the questions of each pair; a pair may share one that another shard asks.
        members = self._store.columns("members", shard)
        rows = zip(*members.values(), strict=True)
        block_of = blocks_of([number for number in row if number >= 0] for row in rows)
        first = self._store.about("members", shard)["first"]
        asked = enumerate(zip(*columns.values(), strict=True), first)
        n, seed = plan.generations, plan.seed
        return [
            request
            for number, (prompt, side, before) in asked
            for request in samples_of(prompt, before, side, n, seed, block_of[number])
        ]

    def _known(self, shard: int) -> list[Answer | None]:
        """Return the answers of an earlier run; None for those that are asked now."""
        if not self._store.has("answers", shard):
            return [None] * len(self._requests(shard))
        held = answers_of(self._store, shard)
        return [None if may_come(answer) else answer for answer in held]

    def _answers(self, shard: int) -> int:
        known = self._known(shard)
        asked = zip(self._requests(shard), known, strict=True)
        given = self._runner.answers(
            self._client.backend,
            [request for request, answer in asked if answer is None],
            temperature=self._client.temperature,
            max_tokens=self._client.max_tokens,
        )
        new = iter(given)
        self._put_answers(shard, [next(new) if each is None else each for each in known])
        return len(known)

    def _put_answers(self, shard: int, answers: list[Answer]) -> None:
        requests = self._requests(shard)
        lost = [answer if isinstance(answer, Missing) else None for answer in answers]
        columns: dict[str, list[Any]] = {
            "prompt": [request.prompt for request in requests],
            "sample": [request.repeat for request in requests],
            "answer": [None if isinstance(each, Missing) else utf8(each) for each in answers],
            "reason": [None if each is None else each.reason for each in lost],
            "detail": [None if each is None else _detail(each) for each in lost],
            "cut": [is_cut(answer) for answer in answers],
        }
        # What was made from earlier answers would stand for others.
        self._store.drop("*-*", shard)
        self._store.put("answers", shard, columns, {"again": sum(map(may_come, answers))})

    def _scores(self, shard: int, name: str) -> int:
        answers = self._store.columns("answers", shard, "answer")["answer"]
        texts = list(dict.fromkeys(answer for answer in answers if (answer or "").strip()))
        given = dict(zip(texts, score(self._scorer(name), texts).tolist(), strict=True))
        scores = [given.get(text, math.nan) for text in answers]
        self._store.put(f"{SCORES}{name}", shard, {"score": scores})
        return len(answers)

    def _reduced(self, shard: int, name: str) -> int:
        """Reduce the answers to each pair of a shard to the numbers that a metric needs."""
        reduce = get_metric(name).reduce
        assert reduce is not None
        about = ("from_group", "to_group", "attribute", "variant")
        columns = self._store.columns("pairs", shard, *about)
        kinds = list(zip(*(columns[name] for name in about), strict=True))
        masked = _masker(tuple(sorted(set(kinds))))
        sides = set(map(tuple, self._store.about("members", shard)["sides"]))
        numbers = self._store.columns("members", shard, "original", "counterfactual")
        texts = self._texts({number for side in numbers.values() for number in side})
        rows = []
        for (one, other, _, variant), *members in zip(kinds, *numbers.values(), strict=True):
            # As metrics do, the group that came first in the audit first.
            ordered = members if (one, other) in sides else reversed(members)
            row = [[masked(text, variant == OMISSION) for text in texts[i]] for i in ordered]
            if all(row):
                rows.append(row)
        table = reduce(*zip(*rows, strict=True)) if rows else np.empty((0, 5))
        terms = {f"term{i}": column.tolist() for i, column in enumerate(table.T)}
        keys = [row_key(*row) for row in rows]
        self._store.put(f"{REDUCED}{name}", shard, {"key": keys, **terms})
        return len(rows)

    def _texts(self, numbers: Iterable[int]) -> dict[int, list[str]]:
        """Return the texts that answer questions, which other shards may have asked."""
        n, found = self._plan.generations, {}
        for shard, some in itertools.groupby(
            sorted(numbers), lambda number: bisect.bisect(self._firsts, number) - 1
        ):
            answers = answers_of(self._store, shard)
            for number in some:
                start = n * (number - self._firsts[shard])
                found[number] = list(filter(str.strip, texts_of(answers[start : start + n])))
        return found

    @functools.cached_property
    def _firsts(self) -> list[int]:
        """The number of the first question of each shard."""
        return [self._store.about("members", shard)["first"] for shard in self._plan.shards]

    @functools.cache  # noqa: B019  # a worker lives as long as its process
    def _scorer(self, name: str) -> Any:
        return load_scorers()[name]


def answers_of(store: Store, shard: int) -> list[Answer]:
    """Return the answers of a shard, in order."""
    columns = store.columns("answers", shard, "answer", "reason", "detail", "cut")
    return [
        Missing(reason, detail) if text is None else CutAnswer(text) if cut else text
        for text, reason, detail, cut in zip(*columns.values(), strict=True)
    ]


@functools.lru_cache(maxsize=1)
def _masker(kinds: Sequence[tuple[str, str, str, str]]) -> Callable[[str, bool], str]:
    """Return the function that masks the words of pairs between groups; shards share it."""
    return masker_of_pairs([Pair("", "", one, other, (), *rest) for one, other, *rest in kinds])


def row_key(texts_a: Sequence[str], texts_b: Sequence[str]) -> bytes:
    """Return the key of the answers to both members of a pair."""
    sizes = [len(text) for side in (texts_a, texts_b) for text in side]
    whole = f"{len(texts_a)} {sizes}{''.join(texts_a)}{''.join(texts_b)}"
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def may_come(answer: Answer) -> bool:
    """Whether an answer is missing because of a limit or a passing failure: it is asked again."""
    return is_failure(answer) or not was_sent(answer)


def _detail(lost: Missing) -> str:
    """Say why an answer is missing, with the names that limits have in this command."""
    return utf8(lost.detail).replace("--llmfair-max-", "--max-")
