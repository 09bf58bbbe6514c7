"""Read the answers and scores of an audit back, as the answers of one call of a client."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_llmfair.audit.plan import INDEX, MEMBERS, Plan
from pytest_llmfair.audit.store import Store
from pytest_llmfair.audit.work import PAIR, REDUCED, SCORES, answers_of, row_key
from pytest_llmfair.clients.sending import LiveRequests
from pytest_llmfair.clients.session import ReplayOnlyBackend, current_runner
from pytest_llmfair.clients.spec import ModelSpec
from pytest_llmfair.counterfactuals.pair_list import Pairs
from pytest_llmfair.metrics import all_metrics
from pytest_llmfair.responses import (
    Answer,
    Edit,
    Pair,
    PairedResponses,
    Rejected,
    Responses,
    Uncertain,
    left_out,
    marked,
)
from pytest_llmfair.scorers import load_scorers, name_of
from pytest_llmfair.session import current_session, note_used

if TYPE_CHECKING:
    from pytest_llmfair.session import ScoreStore

Rows = tuple[tuple[Answer, ...], ...]


class Audited:
    """A complete audit: a client whose answers exist, and the scores of its texts."""

    def __init__(self, folder: Path) -> None:
        self.plan = Plan.of_folder(folder)
        self._store = Store(folder)
        self._others: ScoreStore | None = None
        for phase in ("prompts", *(("pairs",) if self.plan.attribute else ()), *INDEX, "answers"):
            done = len({n for n in self._store.done(phase) if n in self.plan.shards})
            if left := len(self.plan.shards) - done:
                raise ValueError(
                    f"{left:,} of {len(self.plan.shards):,} shards of {folder} have no {phase} "
                    "yet; run the command that began the audit again, which continues it"
                )

    @property
    def name(self) -> str:
        """Specification of the model, for reports."""
        return self.plan.model

    @functools.cached_property
    def prompts(self) -> list[str]:
        """The prompts, in order."""
        return list(self._column("prompts", "prompt"))

    @functools.cached_property
    def pairs(self) -> Pairs:
        """The pairs, and what was left out; empty for an audit of prompts alone."""
        pairs: list[Pair] = []
        records = Pairs()
        # Equal edits are one object: most pairs differ by one of a few words.
        edits_of = functools.cache(lambda text: _edits(json.loads(text)))
        for shard in self.plan.shards if self.plan.attribute else ():
            columns = self._store.columns("pairs", shard, *PAIR, "edits")
            edits = map(edits_of, columns.pop("edits"))
            for row, changed in zip(zip(*columns.values(), strict=True), edits, strict=True):
                pairs.append(marked(Pair(**dict(zip(columns, row, strict=True)), edits=changed)))
            records += _left_out(**self._store.about("pairs", shard))
        return records + pairs

    @functools.cached_property
    def responses(self) -> Responses | PairedResponses:
        """All answers, as :meth:`ModelClient.generate` or `answer_pairs` would return them."""
        self.note_model()
        flat: list[Answer] = []
        for shard in self.plan.shards:
            flat += answers_of(self._store, shard)
        n, origin = self.plan.generations, (0, len(flat))
        # Several pairs share the row of one question.
        rows = [tuple(flat[start : start + n]) for start in range(0, len(flat), n)]

        def answers(member: str) -> Rows:
            numbers = self._column("members", member)
            return tuple(() if number < 0 else rows[number] for number in numbers)

        if not self.plan.attribute:
            return Responses(tuple(self.prompts), answers("prompt"), self.name, origin)
        original, counterfactual, placebo = map(answers, MEMBERS)
        return PairedResponses(
            tuple(self.pairs),
            original,
            counterfactual,
            self.name,
            placebo if any(placebo) else (),
            **left_out(self.pairs),
            origin=origin,
        )

    def generate(self, prompts: Sequence[str], n: int = 1) -> Rows:
        """Return the first `n` answers to every prompt of the audit."""
        found = self._asked("prompts", prompts, n)
        assert isinstance(found, Responses)
        return tuple(row[:n] for row in found)

    def answer_pairs(self, pairs: Sequence[Pair], n: int = 1) -> PairedResponses:
        """Return the first `n` answers to both members of every pair of the audit."""
        found = self._asked("pairs", pairs, n)
        assert isinstance(found, PairedResponses)
        if n == self.plan.generations:
            return found
        sides: dict[str, Any] = {
            name: tuple(row[:n] for row in getattr(found, name)) for name in MEMBERS
        }
        return replace(found, **sides)

    def _asked(self, what: str, asked: Sequence[Any], n: int) -> Responses | PairedResponses:
        if len(asked) != len(self.responses):
            raise ValueError(
                f"{len(asked)} {what} are asked, and the audit has answers to "
                f"{len(self.responses)}; an audit is judged as a whole: leave out sequential, and "
                "prompts of your own"
            )
        if n > self.plan.generations:
            raise ValueError(
                f"generations is {n}, and the audit has {self.plan.generations} answers to each "
                f"prompt; give at most {self.plan.generations}, or audit again with more"
            )
        current_runner().counts.replayed += self.responses.origin[1]
        return self.responses

    def note_model(self) -> None:
        """Tell the record of the running session which model answered."""
        plan = self.plan
        spec = ModelSpec.parse(plan.model)
        identity = {"provider": spec.scheme, "model": spec.target, "revision": plan.revision}
        model = ReplayOnlyBackend(plan.model, identity=identity)
        temperature = spec.number("temperature", 1.0, low=0.0)
        note_used("model", plan.model, LiveRequests(model, temperature, plan.max_tokens))

    def use_scores(self) -> None:
        """Let the running session take what workers made of the answers, and not make it again."""
        if (session := current_session()) is None:
            return
        # The scores of a cassette, which other tests of the session use; not another audit's.
        before = session.scores
        self._others = before._others if isinstance(before, Audited) else before
        session.scores = session.reductions = self

    def recorded(self, scorer: Callable[..., Any], texts: Sequence[str]) -> list[float] | None:
        """Return the scores that the audit or a cassette has; None if both lack one."""
        known = self._scores(name := name_of(scorer))
        # A scorer of the user's may have the name of a shipped one.
        if known and type(scorer) is type(load_scorers()[name]):
            found = [known[text] for text in texts if text in known]
            if len(found) == len(texts):
                return found
        return None if self._others is None else self._others.recorded(scorer, texts)

    def record(
        self, scorer: Callable[..., Any], texts: Sequence[str], scores: Sequence[float]
    ) -> None:
        """Record scores in the cassette, if there is one; an audit is complete already."""
        if self._others is not None:
            self._others.record(scorer, texts, scores)

    @functools.cache  # noqa: B019  # an audit lives as long as the run that reads it
    def _scores(self, name: str) -> dict[str, float]:
        """Return the score of every text by a scorer; empty if the audit has none by it."""
        phase = f"{SCORES}{name}"
        found: dict[str, float] = {}
        for shard in self._store.done(phase):
            texts = self._store.columns("answers", shard, "answer")["answer"]
            scores = self._store.columns(phase, shard)["score"]
            for text, score in zip(texts, scores, strict=True):
                if text is not None and not math.isnan(score):
                    found.setdefault(text, score)
        return found

    def reduced(
        self, reduce: Callable[..., Any], rows_a: Sequence[Any], rows_b: Sequence[Any]
    ) -> Any:
        """Return numbers for each pair, NaN where the audit has none; None without any."""
        for name, info in all_metrics().items():
            if info.reduce is reduce and self._store.done(f"{REDUCED}{name}"):
                places, table = self._reduced(name)
                keys = map(row_key, rows_a, rows_b)
                # The last row stands for what is unknown.
                return table[[places.get(key, -1) for key in keys]]
        return None

    @functools.cache  # noqa: B019  # an audit lives as long as the run that reads it
    def _reduced(self, name: str) -> tuple[dict[bytes, int], Any]:
        phase = f"{REDUCED}{name}"
        keys: list[bytes] = []
        tables = []
        for shard in self._store.done(phase):
            columns = self._store.columns(phase, shard)
            keys += columns.pop("key")
            tables.append(np.array([*columns.values()]).T)
        places = {key: place for place, key in enumerate(keys)}
        return places, np.concatenate([*tables, np.full((1, 5), np.nan)])

    def _column(self, phase: str, name: str) -> Iterator[Any]:
        for shard in self.plan.shards:
            yield from self._store.columns(phase, shard, name)[name]


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


def _left_out(rejected: Any, uncertain: Any, **others: Any) -> Pairs:
    """Return no pairs, with what a shard left out."""
    return Pairs(
        rejected=[Rejected(_pair(**each["pair"]), tuple(each["reasons"])) for each in rejected],
        uncertain=[Uncertain(**each) for each in uncertain],
        **others,
    )


def _pair(edits: Any, checked: bool, **others: Any) -> Pair:
    return Pair(**others, edits=_edits(edits))


def _edits(edits: Sequence[Mapping[str, Any]]) -> tuple[Edit, ...]:
    return tuple(Edit(**each) for each in edits)
