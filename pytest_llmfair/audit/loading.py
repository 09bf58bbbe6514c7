"""Read the answers and scores of an audit back, as the answers of one call of a client."""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_llmfair.audit.index import MEMBERS
from pytest_llmfair.audit.plan import Plan
from pytest_llmfair.audit.store import Store
from pytest_llmfair.audit.work import FAILED, PAIR, SCORES
from pytest_llmfair.clients.sending import LiveRequests
from pytest_llmfair.clients.session import ReplayOnlyBackend
from pytest_llmfair.clients.spec import ModelSpec
from pytest_llmfair.counterfactuals.pair_list import Pairs
from pytest_llmfair.responses import (
    Answer,
    CutAnswer,
    Edit,
    Missing,
    Pair,
    PairedResponses,
    Rejected,
    Responses,
    Uncertain,
    left_out,
    marked,
)
from pytest_llmfair.scorers import name_of
from pytest_llmfair.session import current_session, note_used


@dataclass(frozen=True, slots=True)
class _AskedModel(ReplayOnlyBackend):
    """The model of an audit, for the record of a run that reads its answers."""

    identity: Mapping[str, str]


class Audited:
    """An audit that is complete: its answers, and the scores of its texts."""

    def __init__(self, folder: Path) -> None:
        self.plan = Plan.of_folder(folder)
        self._store = Store(folder)
        done = set(self._store.done("answers"))
        # Shards that failed three times, and have not been made since.
        self._failed = set(self._store.done(FAILED)) - done
        if left := [n for n in self.plan.shards if n not in done and n not in self._failed]:
            raise ValueError(
                f"{len(left)} of {len(self.plan.shards)} shards of {folder} have no answers yet; "
                "run the command that began the audit again, which continues it"
            )

    @functools.cached_property
    def prompts(self) -> list[str]:
        """The prompts, in order."""
        return self._joined("prompts", "prompt")

    @functools.cached_property
    def pairs(self) -> Pairs:
        """The pairs, and what was left out; empty for an audit of prompts alone."""
        pairs: list[Pair] = []
        records: list[dict[str, Any]] = []
        edits_of = functools.cache(_edits_of)
        for shard in self.plan.shards if self.plan.attribute else ():
            columns = self._store.columns("pairs", shard, PAIR)
            columns["edits"] = [edits_of(text) for text in columns["edits"]]
            rows = zip(*columns.values(), strict=True)
            pairs += (marked(Pair(**dict(zip(PAIR, row, strict=True)))) for row in rows)
            records.append(self._store.about("pairs", shard))
        return _with_left_out(pairs, records)

    @functools.cached_property
    def responses(self) -> Responses | PairedResponses:
        """All answers, as one call of a client would return them."""
        self.note_model()
        rows = self._rows
        origin = (0, sum(map(len, rows)))
        if not self.plan.attribute:
            answers = tuple(rows[n] for n in self._joined("members", "prompt"))
            return Responses(tuple(self.prompts), answers, self.plan.model, origin)
        sides = [
            tuple(() if n < 0 else rows[n] for n in self._joined("members", member))
            for member in MEMBERS
        ]
        return PairedResponses(
            tuple(self.pairs),
            sides[0],
            sides[1],
            self.plan.model,
            sides[2] if any(sides[2]) else (),
            **left_out(self.pairs),
            origin=origin,
        )

    def first(self, n: int) -> Responses | PairedResponses:
        """Return the first `n` answers to every prompt, or to both members of every pair."""
        found = self.responses
        if n == self.plan.generations:
            return found
        if isinstance(found, Responses):
            return replace(found, answers=tuple(row[:n] for row in found.answers))
        return replace(
            found,
            original=tuple(row[:n] for row in found.original),
            counterfactual=tuple(row[:n] for row in found.counterfactual),
            placebo=tuple(row[:n] for row in found.placebo),
        )

    def note_model(self) -> None:
        """Tell the record of the running session which model answered."""
        plan = self.plan
        spec = ModelSpec.parse(plan.model)
        identity = {"provider": spec.scheme, "model": spec.target, "revision": plan.revision}
        live = LiveRequests(
            _AskedModel(plan.model, identity),
            spec.number("temperature", 1.0, low=0.0),
            plan.max_tokens,
        )
        note_used("model", plan.model, live)

    def use_scores(self) -> None:
        """Let the running session take scores from the audit in place of scoring again."""
        if (session := current_session()) is not None:
            session.scores = self

    def recorded(self, scorer: Callable[..., Any], texts: Sequence[str]) -> list[float] | None:
        """Return the scores that the audit has of all these texts; None if it lacks one."""
        known = self._scores(name_of(scorer))
        found = [known.get(text) for text in texts] if known else [None]
        return None if None in found else found  # type: ignore[return-value]

    def record(
        self, scorer: Callable[..., Any], texts: Sequence[str], scores: Sequence[float]
    ) -> None:
        """Keep nothing: an audit is complete before it is read."""

    def _joined(self, phase: str, name: str) -> list[Any]:
        """Return a column of all shards."""
        parts = (self._store.column(phase, shard, name) for shard in self.plan.shards)
        return list(itertools.chain.from_iterable(parts))

    @functools.cached_property
    def _rows(self) -> list[tuple[Answer, ...]]:
        """The answers to every question."""
        n = self.plan.generations
        rows: list[tuple[Answer, ...]] = []
        for shard in self.plan.shards:
            answers = iter(self._answers(shard))
            rows += zip(*[answers] * n, strict=True)
        return rows

    def _answers(self, shard: int) -> list[Answer]:
        if shard in self._failed:
            (why,) = self._store.column(FAILED, shard, "why")
            lost = Missing("error", why)
            return [lost] * (self._store.rows("questions", shard) * self.plan.generations)
        columns = self._store.columns("answers", shard, ["answer", "reason", "detail", "cut"])
        return [
            Missing(reason, detail) if text is None else CutAnswer(text) if cut else text
            for text, reason, detail, cut in zip(*columns.values(), strict=True)
        ]

    @functools.cache  # noqa: B019  # an audit lives as long as the run that reads it
    def _scores(self, name: str) -> dict[str, float]:
        """Return the score of every text by a scorer; empty if the audit has none by it."""
        phase = f"{SCORES}{name}"
        found: dict[str, float] = {}
        for shard in self._store.done(phase):
            texts = self._store.column("answers", shard, "answer")
            scores = self._store.column(phase, shard, "score")
            for text, score in zip(texts, scores, strict=True):
                # Equal texts have equal scores; the first is kept, with its text, once.
                if text is not None and not math.isnan(score):
                    found.setdefault(text, score)
        return found


def _with_left_out(pairs: list[Pair], records: Sequence[Mapping[str, Any]]) -> Pairs:
    """Return pairs with what all shards left out."""
    lost: Counter[str] = Counter()
    for record in records:
        lost.update(record["lost"])

    def all_of(name: str) -> list[Any]:
        return [each for record in records for each in record[name]]

    return Pairs(
        pairs,
        rejected=[
            Rejected(Pair(**{**pair, "edits": _edits_of(pair["edits"])}), tuple(reasons))
            for pair, reasons in all_of("rejected")
        ],
        uncertain=[Uncertain(*values) for values in all_of("uncertain")],
        unmentioned=sum(record["unmentioned"] for record in records),
        lost=lost,
        lacks=dict.fromkeys(all_of("lacks")),
        unexchanged=dict.fromkeys(all_of("unexchanged")),
    )


def _edits_of(text: str) -> tuple[Edit, ...]:
    return tuple(Edit(*values) for values in json.loads(text))


def load(folder: str | Path) -> Audited:
    """Return a complete audit.

    Parameters
    ----------
    folder : str or Path
        What ``llmfair audit --out`` named.

    Returns
    -------
    Audited
        Its `responses` are those of one call of a client.

    Raises
    ------
    ValueError
        If the folder holds no audit, or one that is not complete.

    Examples
    --------
    >>> load("no/such/folder")
    Traceback (most recent call last):
        ...
    ValueError: no/such/folder holds no audit; ...
    """
    return Audited(Path(folder))
