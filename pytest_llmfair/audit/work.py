"""What a worker does: it makes the part of one shard from earlier parts, and nothing else."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pytest_llmfair.audit.plan import Plan
from pytest_llmfair.audit.store import Store, values_of, whole
from pytest_llmfair.clients import ModelClient, load_client
from pytest_llmfair.clients.asking import samples_of
from pytest_llmfair.clients.budget import Caps
from pytest_llmfair.clients.identity import identity_of_specification
from pytest_llmfair.clients.protocol import RemoteBackend
from pytest_llmfair.clients.requests import RequestRunner
from pytest_llmfair.clients.sending import is_failure, was_sent
from pytest_llmfair.clients.session import runner_of
from pytest_llmfair.counterfactuals.pair_list import Pairs
from pytest_llmfair.counterfactuals.pairs import pairs_of_part
from pytest_llmfair.responses import Answer, CutAnswer, Missing, is_cut
from pytest_llmfair.scorers import load_scorers, score
from pytest_llmfair.session import Session
from pytest_llmfair.settings import Settings

SCORES = "scores-"
# In a part of answers: how many are missing because of a limit or a passing failure.
AGAIN = "again"


class CannotLoad(ValueError):
    """A worker cannot load the model; that says nothing about the shard that it was to make."""


class WrongModel(CannotLoad):
    """A worker has another model than the audit is about; no shard is made with it."""


class Worker:
    """Makes parts; the model and scorers load at first use and stay.

    Parameters
    ----------
    folder : Path
        Folder of the audit.
    caps : Caps
        What a paid model may cost, for all workers together.
    """

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
            # Other workers and earlier runs record in the same file.
            record_mode="new",
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
        names = ("original", "counterfactual", "from_group", "to_group", "attribute", "variant")
        columns = {name: [getattr(pair, name) for pair in pairs] for name in names}
        placebo = self._texts([pair.placebo for pair in pairs])
        edits = [json.dumps([list(asdict(e).values()) for e in pair.edits]) for pair in pairs]
        self._store.put(
            "pairs", shard, {**columns, "placebo": placebo, "edits": edits}, _left_out(pairs)
        )
        return len(pairs)

    @staticmethod
    def _texts(values: list[str | None]) -> Any:
        import pyarrow

        # A column without any text would otherwise have no type.
        return pyarrow.array(values, pyarrow.string())

    def _answers(self, shard: int) -> int:
        table = self._store.table("questions", shard)
        rows = zip(*(table.column(n).to_pylist() for n in table.column_names), strict=True)
        requests = [
            request
            for prompt, side, occurrence in rows
            for request in samples_of(
                prompt, occurrence, side, self._plan.generations, self._plan.seed
            )
        ]
        client = self.client
        known = self._known(shard, len(requests))
        given = iter(
            self._runner.answers(
                client.backend,
                [r for r, answer in zip(requests, known, strict=True) if answer is None],
                temperature=client.temperature,
                max_tokens=client.max_tokens,
            )
        )
        answers = [next(given) if answer is None else answer for answer in known]
        lost = [answer if isinstance(answer, Missing) else None for answer in answers]
        columns = {
            "prompt": self._texts([request.prompt for request in requests]),
            "sample": self._texts([request.repeat for request in requests]),
            "answer": self._texts(
                [None if isinstance(answer, Missing) else whole(answer) for answer in answers]
            ),
            "reason": self._texts([None if each is None else each.reason for each in lost]),
            "detail": self._texts([None if each is None else _detail(each) for each in lost]),
            "cut": [is_cut(answer) for answer in answers],
        }
        # Scores of earlier answers would stand for others.
        self._store.drop(f"{SCORES}*", shard)
        again = sum(map(may_come, answers))
        self._store.put("answers", shard, columns, {AGAIN: again} if again else None)
        return len(answers)

    def _known(self, shard: int, count: int) -> list[Answer | None]:
        """Return the answers of an earlier run; None for those that are asked now."""
        if not self._store.is_done("answers", shard):
            return [None] * count
        held = answers_of(self._store, shard)
        return [None if may_come(answer) else answer for answer in held]

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


def answers_of(store: Store, shard: int) -> list[Answer]:
    """Return the answers of a shard, in order."""
    table = store.table("answers", shard, ["answer", "reason", "detail", "cut"])
    columns = [values_of(table.column(name)) for name in table.column_names]
    return [
        Missing(reason, detail) if text is None else CutAnswer(text) if cut else text
        for text, reason, detail, cut in zip(*columns, strict=True)
    ]


def may_come(answer: Answer) -> bool:
    """Whether an answer is missing because of a limit or a passing failure: it is asked again."""
    return is_failure(answer) or not was_sent(answer)


def revision_of(model: str) -> str:
    """Return the revision or digest of a model as this machine has it; empty without any."""
    return identity_of_specification(model).get("revision", "")


def _detail(lost: Missing) -> str:
    """Return why an answer is missing, with the names that limits have in this command."""
    return whole(lost.detail).replace("--llmfair-max-", "--max-")


def _left_out(pairs: Pairs) -> dict[str, Any]:
    """Return what a shard left out, as JSON types."""
    return {
        "rejected": [[asdict(each.pair), list(each.reasons)] for each in pairs.rejected],
        "uncertain": [asdict(each) for each in pairs.uncertain],
        "unmentioned": pairs.unmentioned,
        "lost": pairs.lost,
        "lacks": list(pairs.lacks),
        "unexchanged": list(pairs.unexchanged),
    }
