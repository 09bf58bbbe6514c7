"""Read the answers and scores of an audit back, as the answers of one call of a client."""

from __future__ import annotations

import functools
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_llmfair.audit.index import INDEX, MEMBERS
from pytest_llmfair.audit.plan import Plan
from pytest_llmfair.audit.store import Store, values_of
from pytest_llmfair.audit.work import SCORES, answers_of
from pytest_llmfair.clients.sending import LiveRequests
from pytest_llmfair.clients.session import ReplayOnlyBackend, current_runner
from pytest_llmfair.clients.spec import ModelSpec
from pytest_llmfair.counterfactuals.pair_list import Pairs
from pytest_llmfair.responses import (
    Answer,
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

    identity: Mapping[str, str] = field(default_factory=dict)


class Audited:
    """An audit that is complete: a client whose answers exist, and the scores of its texts.

    Parameters
    ----------
    folder : Path
        Folder of the audit.

    Raises
    ------
    ValueError
        If the folder holds no audit, or one that is not complete.
    """

    def __init__(self, folder: Path) -> None:
        self.plan = Plan.of_folder(folder)
        self._store = Store(folder)
        self._failed = self._store.failed("answers")
        phases = ("prompts", *(("pairs",) if self.plan.attribute else ()), *INDEX, "answers")
        for phase in phases:
            done = {*self._store.done(phase), *(self._failed if phase == "answers" else ())}
            if left := [shard for shard in self.plan.shards if shard not in done]:
                raise ValueError(
                    f"{len(left)} of {len(self.plan.shards)} shards of {folder} have no {phase} "
                    "yet; run the command that began the audit again, which continues it"
                )

    @property
    def name(self) -> str:
        """Specification of the model, for reports."""
        return self.plan.model

    @functools.cached_property
    def prompts(self) -> list[str]:
        """The prompts, in order."""
        parts = (self._store.column("prompts", shard, "prompt") for shard in self.plan.shards)
        return [prompt for part in parts for prompt in part]

    @functools.cached_property
    def pairs(self) -> Pairs:
        """The pairs, and what was left out; empty for an audit of prompts alone."""
        pairs: list[Pair] = []
        records: list[dict[str, Any]] = []
        # Equal edits are one object: most pairs differ by one of a few words.
        edits_of = functools.cache(_edits_of)
        for shard in self.plan.shards if self.plan.attribute else ():
            table = self._store.table("pairs", shard)
            columns = {name: values_of(table.column(name)) for name in table.column_names}
            columns["edits"] = [edits_of(text) for text in columns["edits"]]
            rows = zip(*columns.values(), strict=True)
            pairs += (marked(Pair(**dict(zip(columns, row, strict=True)))) for row in rows)
            records.append(self._store.about("pairs", shard))
        return _with_left_out(pairs, records)

    @functools.cached_property
    def responses(self) -> Responses | PairedResponses:
        """All answers, as :meth:`ModelClient.generate` or `answer_pairs` would return them."""
        self.note_model()
        rows = self._rows
        origin = (0, sum(map(len, rows)))
        if not self.plan.attribute:
            members = self._members("prompt")
            return Responses(
                tuple(self.prompts), tuple(rows[n] for n in members), self.name, origin
            )
        sides = [
            tuple(() if n < 0 else rows[n] for n in self._members(member)) for member in MEMBERS
        ]
        return PairedResponses(
            tuple(self.pairs),
            sides[0],
            sides[1],
            self.name,
            sides[2] if any(sides[2]) else (),
            **left_out(self.pairs),
            origin=origin,
        )

    def generate(self, prompts: Sequence[str], n: int = 1) -> list[tuple[Answer, ...]]:
        """Return the first `n` answers to every prompt of the audit."""
        self._check("prompts", len(prompts), len(self.responses), n)
        rows = [row[:n] for row in self.responses.answers]  # type: ignore[union-attr]
        current_runner().counts.replayed += sum(map(len, rows))
        return rows

    def answer_pairs(self, pairs: Sequence[Pair], n: int = 1) -> PairedResponses:
        """Return the first `n` answers to both members of every pair of the audit."""
        found = self.responses
        self._check("pairs", len(pairs), len(found), n)
        assert isinstance(found, PairedResponses)
        current_runner().counts.replayed += found.origin[1]
        if n == self.plan.generations:
            return found
        sides: dict[str, Any] = {
            name: tuple(row[:n] for row in getattr(found, name)) for name in MEMBERS
        }
        return replace(found, **sides)

    def note_model(self) -> None:
        """Tell the record of the running session which model answered."""
        plan = self.plan
        spec = ModelSpec.parse(plan.model)
        identity = {"provider": spec.scheme, "model": spec.target, "revision": plan.revision}
        live = LiveRequests(
            _AskedModel(plan.model, identity=identity),
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

    def _check(self, what: str, asked: int, known: int, n: int) -> None:
        if asked != known:
            raise ValueError(
                f"{asked} {what} are asked, and the audit has answers to {known}; an audit is "
                "judged as a whole: leave out sequential, and prompts of your own"
            )
        if n > self.plan.generations:
            raise ValueError(
                f"generations is {n}, and the audit has {self.plan.generations} answers to each "
                f"prompt; give at most {self.plan.generations}, or audit again with more"
            )

    def _members(self, name: str) -> Iterable[int]:
        for shard in self.plan.shards:
            yield from self._store.column("members", shard, name)

    @functools.cached_property
    def _rows(self) -> list[tuple[Answer, ...]]:
        """The answers to every question."""
        n = self.plan.generations
        rows: list[tuple[Answer, ...]] = []
        for shard in self.plan.shards:
            if shard in self._failed:
                lost = Missing("error", self._failed[shard])
                questions = self._store.table("questions", shard, ["prompt"]).num_rows
                rows += [(lost,) * n] * questions
                continue
            flat = answers_of(self._store, shard)
            rows += [tuple(flat[start : start + n]) for start in range(0, len(flat), n)]
        return rows

    @functools.cache  # noqa: B019  # an audit lives as long as the run that reads it
    def _scores(self, name: str) -> dict[str, float]:
        """Return the score of every text by a scorer; empty if the audit has none by it."""
        phase = f"{SCORES}{name}"
        found: dict[str, float] = {}
        for shard in self._store.done(phase):
            texts = self._store.column("answers", shard, "answer")
            scores = self._store.column(phase, shard, "score")
            for text, score in zip(texts, scores, strict=True):
                if text is not None and not math.isnan(score):
                    found.setdefault(text, score)
        return found


def _with_left_out(pairs: list[Pair], records: Sequence[Mapping[str, Any]]) -> Pairs:
    """Return pairs with what all shards left out."""
    lost: Counter[str] = Counter()
    for record in records:
        lost.update(record["lost"])
    return Pairs(
        pairs,
        rejected=[
            Rejected(_pair(fields), tuple(reasons))
            for record in records
            for fields, reasons in record["rejected"]
        ],
        uncertain=[Uncertain(**fields) for record in records for fields in record["uncertain"]],
        unmentioned=sum(record["unmentioned"] for record in records),
        lost=lost,
        lacks=dict.fromkeys(group for record in records for group in record["lacks"]),
        unexchanged=dict.fromkeys(g for record in records for g in record["unexchanged"]),
    )


def _edits_of(text: str) -> tuple[Edit, ...]:
    return tuple(Edit(*values) for values in json.loads(text))


def _pair(fields: Mapping[str, Any]) -> Pair:
    given = {name: value for name, value in fields.items() if name != "checked"}
    return Pair(**{**given, "edits": tuple(Edit(**each) for each in fields["edits"])})


def load(folder: str | Path) -> Audited:
    """Return a complete audit.

    Parameters
    ----------
    folder : str or Path
        What ``llmfair audit --out`` named.

    Returns
    -------
    Audited
        Its `responses` are those of one call of a client; it may stand for `client=`.

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
