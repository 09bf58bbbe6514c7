"""What a worker does: it makes the part of one shard from earlier parts, and nothing else."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

from pytest_llmfair.audit.plan import Plan
from pytest_llmfair.audit.store import Store
from pytest_llmfair.clients import ModelClient, load_client
from pytest_llmfair.clients.asking import samples_of
from pytest_llmfair.clients.budget import Caps
from pytest_llmfair.clients.identity import identity_of_specification
from pytest_llmfair.clients.protocol import RemoteBackend
from pytest_llmfair.clients.requests import RequestRunner
from pytest_llmfair.clients.session import runner_of
from pytest_llmfair.counterfactuals.pair_list import Pairs
from pytest_llmfair.counterfactuals.pairs import pairs_of_part
from pytest_llmfair.responses import Missing, Pair, is_cut
from pytest_llmfair.scorers import load_scorers, score
from pytest_llmfair.session import Session
from pytest_llmfair.settings import Settings

SCORES = "scores-"
# Why a shard of answers failed three times.
FAILED = "failed"
# The columns of pairs.
PAIR = (
    "original",
    "counterfactual",
    "from_group",
    "to_group",
    "attribute",
    "variant",
    "placebo",
    "edits",
)


class CannotLoad(ValueError):
    """A worker cannot load the model; that says nothing about the shard that it was to make."""


class WrongModel(CannotLoad):
    """A worker has another model than the audit is about; no shard is made with it."""


class Worker:
    """Makes parts; the model and scorers load at first use and stay."""

    def __init__(self, folder: Path, caps: Caps) -> None:
        self._store = Store(folder)
        self._caps = caps

    def run(self, phase: str, shard: int) -> int:
        """Make the part of a shard, and return the number of its rows."""
        if phase == "pairs":
            return self._pairs(shard)
        if phase == "answers":
            return self._answers(shard)
        return self._scores(shard, phase.removeprefix(SCORES))

    def close(self) -> None:
        """Close the cassette and the budget of a paid model."""
        if "_runner" in self.__dict__:
            self._runner.close()

    @functools.cached_property
    def _plan(self) -> Plan:
        return Plan.of_folder(self._store.folder)

    @functools.cached_property
    def client(self) -> ModelClient:
        """The model."""
        plan = self._plan
        revision = revision_of(plan.model)
        if revision != plan.revision:
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
        if not isinstance(self.client.backend, RemoteBackend):
            return RequestRunner()
        folder, caps = self._store.folder, self._caps
        settings = Settings(
            cassette=str(folder / "answers.jsonl"),
            max_calls=caps.calls,
            max_total_tokens=caps.tokens,
            max_cost=caps.cost,
        )
        return runner_of(replace(Session.of(settings), folder=str(folder)))

    def _pairs(self, shard: int) -> int:
        plan = self._plan
        pairs = pairs_of_part(
            self._store.column("prompts", shard, "prompt"),
            plan.lexicon,
            plan.groups or None,  # type: ignore[arg-type]
            placebo=plan.placebo,
            seed=plan.seed,
            first_row=shard * plan.shard_size,
        )
        rows = [[*(getattr(pair, name) for name in PAIR[:-1]), _edits(pair)] for pair in pairs]
        columns = dict(
            zip(PAIR, zip(*rows, strict=True) if rows else [()] * len(PAIR), strict=True)
        )
        self._store.put("pairs", shard, columns, _left_out(pairs))
        return len(pairs)

    def _answers(self, shard: int) -> int:
        names = ("prompt", "side", "occurrence")
        rows = zip(*self._store.columns("questions", shard, names).values(), strict=True)
        requests = [
            request
            for prompt, side, occurrence in rows
            for request in samples_of(
                prompt, occurrence, side, self._plan.generations, self._plan.seed
            )
        ]
        client = self.client
        answers = self._runner.answers(
            client.backend,
            requests,
            temperature=client.temperature,
            max_tokens=client.max_tokens,
        )
        lost = [answer if isinstance(answer, Missing) else None for answer in answers]
        columns: dict[str, list[Any]] = {
            "prompt": [request.prompt for request in requests],
            "sample": [request.repeat for request in requests],
            "answer": [
                None if isinstance(answer, Missing) else whole(answer) for answer in answers
            ],
            "reason": [None if each is None else each.reason for each in lost],
            "detail": [None if each is None else each.detail for each in lost],
            "cut": [is_cut(answer) for answer in answers],
        }
        self._store.put("answers", shard, columns)
        return len(answers)

    def _scores(self, shard: int, name: str) -> int:
        answers = self._store.column("answers", shard, "answer")
        texts = list(dict.fromkeys(answer for answer in answers if (answer or "").strip()))
        given = dict(zip(texts, score(self._scorer(name), texts).tolist(), strict=True))
        self._store.put(
            f"{SCORES}{name}", shard, {"score": [given.get(text, math.nan) for text in answers]}
        )
        return len(answers)

    @functools.cache  # noqa: B019  # a worker lives as long as its process
    def _scorer(self, name: str) -> Any:
        return load_scorers()[name]


def revision_of(model: str) -> str:
    """Return the revision or digest of a model as this machine has it; empty without any."""
    return identity_of_specification(model).get("revision", "")


def whole(text: str) -> str:
    """Return a text that UTF-8 can hold: half a surrogate pair becomes a question mark."""
    return str(text).encode("utf-8", "replace").decode()


def _edits(pair: Pair) -> str:
    return json.dumps([astuple(edit) for edit in pair.edits])


def _left_out(pairs: Pairs) -> dict[str, Any]:
    """Return what a shard left out, as JSON types."""

    def values(pair: Pair) -> dict[str, Any]:
        return {**{name: getattr(pair, name) for name in PAIR}, "edits": _edits(pair)}

    return {
        "rejected": [[values(each.pair), list(each.reasons)] for each in pairs.rejected],
        "uncertain": [astuple(each) for each in pairs.uncertain],
        "unmentioned": pairs.unmentioned,
        "lost": pairs.lost,
        "lacks": list(pairs.lacks),
        "unexchanged": list(pairs.unexchanged),
    }
