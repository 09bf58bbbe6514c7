"""Asking a model: what is recorded is replayed, the rest is paid for once and kept at once."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_llmfair.clients._backend import Reply, Request, identity_of
from pytest_llmfair.clients._identity import identity_of_specification
from pytest_llmfair.clients._live import AnyBackend, Batch, Live, was_sent
from pytest_llmfair.clients._memory import Memory
from pytest_llmfair.clients._progress import Progress
from pytest_llmfair.clients._records import Question, Record
from pytest_llmfair.responses import Answer, Missing

if TYPE_CHECKING:
    from pytest_llmfair.clients._claims import Claims
    from pytest_llmfair.clients.budget import Budget
    from pytest_llmfair.clients.cassette import Cassette

Answers = dict[str, Answer]

# Seconds between two looks whether another process has its answer.
_SOONEST, _LATEST = 0.01, 0.25

# Questions claimed together: the system looks through all claims for each one.
_CLAIMED = 1024

_NAMED_CHARACTERS = 200


class NotRecorded(LookupError):
    """A question whose answer is not in the cassette, where nothing may be asked."""


@dataclass(slots=True)
class Counts:
    """Answers that were used; live are all that this run asked for, however often it used them."""

    live: int = 0
    replayed: int = 0


@dataclass(frozen=True, slots=True)
class Replay:
    """How recorded answers are used."""

    cassette: Cassette
    claims: Claims
    # Whether answers that the cassette lacks are asked for and recorded.
    records: bool = True
    # Whether answers of earlier runs are recorded again.
    again: bool = False
    # Where in the cassette the answers of this run begin.
    since: int = 0
    # Days after which an answer is stale.
    max_age: int | None = None
    # File that gets the key of every answer used.
    used: Path | None = None


@dataclass(slots=True)
class Asker:
    """Asks models, by way of the cassette or the memory, and the budget, of the session."""

    replay: Replay | None = None
    # Where no cassette holds the answers; None asks everything every time.
    memory: Memory | None = None
    budget: Budget | None = None
    # Called in place of asking, with what would be asked and how many answers are recorded.
    plan: Callable[[Live, Sequence[Request], int], None] | None = None
    timeout: float = 60.0
    # Called with the model and how many answers are asked for and are recorded.
    progress: Callable[[str, int, int], Progress] = Progress
    counts: Counts = field(default_factory=Counts)
    _models: dict[str, Any] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)
    # Answers of this process whose texts the cassette does not keep.
    _texts: dict[str, str] = field(default_factory=dict)

    def answers(
        self,
        backend: AnyBackend,
        requests: Sequence[Request],
        *,
        temperature: float,
        max_tokens: int | None,
        batch: Batch | None = None,
        fresh: bool = False,
    ) -> list[Answer]:
        """Return one answer per request, in order; with `fresh` known ones are asked for again.

        Raises :class:`NotRecorded` for what the cassette lacks where nothing may be asked.
        """
        # Answers that somebody collected before cost nothing, and are recorded already.
        given = backend.name.startswith("responses:")
        budget = None if given else self.budget
        live = Live(backend, temperature, max_tokens, batch, budget, self.timeout)
        if self.replay is None or given:
            return self._remembered(live, requests, fresh=fresh, given=given)
        self._check_name(backend)
        model = _identity(backend, self.replay.cassette)
        questions = [Question(model, r, temperature, max_tokens) for r in requests]
        keys = [question.key for question in questions]
        asked = dict(zip(keys, questions, strict=True))
        fresh = fresh and self.replay.records
        answered = self._by_key(self.replay, live, asked, fresh=fresh)
        return [answered[key] for key in keys]

    def close(self) -> None:
        """Note what was used and close the files."""
        if self.replay is not None:
            if self.replay.used is not None and self._used:
                with self.replay.used.open("a", encoding="ascii") as file:
                    file.writelines(f"{key}\n" for key in sorted(self._used))
            self.replay.cassette.close()
        if self.budget is not None:
            self.budget.close()

    def _remembered(
        self, live: Live, requests: Sequence[Request], *, fresh: bool, given: bool
    ) -> list[Answer]:
        memory = Memory() if given or self.memory is None else self.memory
        keys = memory.keys(live, requests)
        waiting = dict(zip(keys, requests, strict=True))
        found: dict[bytes, Answer] = {}

        def keep(replies: Mapping[bytes, Reply]) -> None:
            memory.put(replies)
            found.update({key: reply.answer for key, reply in replies.items()})
            progress.add(replies.values())

        while mine := memory.claim(waiting, found, fresh=fresh):
            try:
                asked = {key: waiting.pop(key) for key in mine}
                if self.plan is not None and not given:
                    self.plan(live, list(asked.values()), len(found))
                with self.progress(live.backend.name, len(asked), 0) as progress:
                    live.ask(asked, keep)
            finally:
                memory.release(mine)
        self._count(found.values(), replayed=given)
        return [found[key] for key in keys]

    def _count(self, answers: Iterable[Answer], *, replayed: bool) -> None:
        number = sum(map(was_sent, answers))
        self.counts.replayed += number if replayed else 0
        self.counts.live += 0 if replayed else number

    def _by_key(
        self, replay: Replay, live: Live, asked: Mapping[str, Question], *, fresh: bool
    ) -> Answers:
        found: Answers = {}
        waiting = dict(asked)
        if not fresh:
            self._look_up(replay, waiting, list(waiting), found)
        if waiting and not replay.records:
            raise NotRecorded(_not_recorded(list(waiting.values()), len(asked), live, replay))
        if waiting and self.plan is not None:
            self.plan(live, [question.request for question in waiting.values()], len(found))
        if waiting:
            replay.cassette.prepare()
        pause = _SOONEST

        def keep(replies: Mapping[str, Reply]) -> None:
            # Before anybody sees them.
            self._record(replay, asked, replies)
            found.update({key: reply.answer for key, reply in replies.items()})
            progress.add(replies.values())

        with self.progress(live.backend.name, len(asked), len(found)) as progress:
            while waiting:
                free = (key for key in waiting if replay.claims.take(key))
                mine = list(itertools.islice(free, _CLAIMED))
                try:
                    if not fresh:
                        # Since the last look another process may have answered.
                        self._look_up(replay, waiting, mine or list(waiting), found)
                    live.ask({key: waiting[key].request for key in mine if key in waiting}, keep)
                finally:
                    replay.claims.drop(mine)
                for key in mine:
                    waiting.pop(key, None)
                if waiting and not mine:
                    time.sleep(pause)
                    pause = min(2.0 * pause, _LATEST)
        replay.cassette.sync()
        return found

    def _record(
        self, replay: Replay, asked: Mapping[str, Question], replies: Mapping[str, Reply]
    ) -> None:
        today = datetime.now(UTC).date()
        sent = {key: reply for key, reply in replies.items() if was_sent(reply.answer)}
        replay.cassette.put([Record.of(asked[key], reply, today) for key, reply in sent.items()])
        self.counts.live += len(sent)
        self._used.update(sent)
        if not replay.cassette.text:
            self._texts.update(
                (key, reply.answer) for key, reply in sent.items() if isinstance(reply.answer, str)
            )

    def _look_up(
        self, replay: Replay, waiting: dict[str, Question], keys: Sequence[str], found: Answers
    ) -> None:
        """Move what the cassette can answer of these from `waiting` to `found`."""
        replay.cassette.refresh()
        for key in keys:
            held = replay.cassette.get(key)
            answer = self._texts.get(key) or _recorded(replay, held, waiting[key])
            if answer is not None:
                found[key] = answer
                # What this run recorded before is no answer of an earlier one.
                own = replay.records and held is not None and held[1] >= replay.since
                self._count([answer], replayed=not own)
                self._used.add(key)
                del waiting[key]

    def _check_name(self, backend: AnyBackend) -> None:
        """Raise ``ValueError`` where two different functions would share recorded answers."""
        function = getattr(getattr(backend, "plain", backend), "function", None)
        known = self._models.setdefault(backend.name, function)
        if function is not None and not _same_function(known, function):
            raise ValueError(
                f"two different models are called {backend.name}, and recorded answers are found "
                "again by that name; name them apart with ModelClient.of(function, name=...)"
            )


def _recorded(
    replay: Replay, held: tuple[Record, int] | None, question: Question
) -> Answer | None:
    """Return the recorded answer, or that it is stale; None when it is to be asked for."""
    if held is None:
        if replay.records:
            return None
        if (other := replay.cassette.of_another_revision(question)) is None:
            return None
        models = (other.question.model, question.model)
        recorded, asked = (model.get("revision") or "unknown" for model in models)
        return _stale(f"it is of revision {recorded}, the model is {asked}", other)
    record, offset = held
    why = _staleness(record, replay.max_age)
    if replay.records:
        earlier = offset < replay.since and (replay.again or record.transient)
        # Where texts are not kept, whoever records needs them once more.
        if earlier or why or record.answer_digest:
            return None
    return _stale(why, record) if why else record.reply.answer


def _identity(backend: AnyBackend, cassette: Cassette) -> dict[str, str]:
    """Return provider, model and revision; the revision is the recorded one where none is here."""
    if not backend.name.startswith(("builtin:", "hf:", "python:")):
        return identity_of(backend)
    model = identity_of_specification(backend.name)
    if model.get("revision") == "":
        cassette.refresh()
        recorded = [{"revision": "", **found} for found in cassette.models()]
        same = [found["revision"] for found in recorded if {**found, "revision": ""} == model]
        if len(same) > 1:
            raise NotRecorded(
                f"{cassette.path} holds answers of {len(same)} revisions of {backend.name} "
                f"({', '.join(same)}), and which of them is meant cannot be told, since the model "
                "is not on this machine; prune the others with `llmfair cassette prune --revision`"
            )
        model["revision"] = same[0] if same else ""
    return model


def _staleness(record: Record, max_age: int | None) -> str:
    """Say why a recorded answer can no longer be judged; an empty text when it can."""
    if record.altered:
        return "its prompt or a parameter was changed after it was recorded (its digest differs)"
    if max_age is not None:
        age = datetime.now(UTC).date() - record.day
        if age.days > max_age:
            return f"llmfair_max_recording_age is {max_age} days"
    return ""


def _stale(why: str, record: Record) -> Missing:
    return Missing(
        "stale",
        f"an answer recorded on {record.day} is stale: {why}; ask again with "
        "--llmfair-record-mode new",
    )


def _same_function(one: Any, other: Any) -> bool:
    """Tell whether two functions of one name are one function, made twice perhaps."""
    if one is other or one == other:
        return True
    code = [getattr(f, "__code__", None) for f in (one, other)]
    if code[0] is None or code[0] != code[1]:
        return False
    return all(
        _contents(getattr(one, name, None)) == _contents(getattr(other, name, None))
        for name in ("__closure__", "__defaults__", "__kwdefaults__")
    )


def _contents(part: Any) -> Any:
    if isinstance(part, tuple):
        return [getattr(item, "cell_contents", item) for item in part]
    return part


def _not_recorded(questions: Sequence[Question], asked: int, live: Live, replay: Replay) -> str:
    first = questions[0]
    path = replay.cassette.path
    prompt = first.request.prompt
    shown = repr(prompt[:_NAMED_CHARACTERS]) + (" ..." if len(prompt) > _NAMED_CHARACTERS else "")
    lacking = f"{len(questions)} of {asked} answers" if asked > 1 else "the answer"
    where = f"{path} does not hold" if path.exists() else f"there is no cassette {path} to hold"
    text = (
        f"{where} {lacking} of {live.backend.name} that this test asks for; the first is to the "
        f"prompt {shown} (sample {first.request.repeat}, temperature {first.temperature:g}, "
        f"longest answer {first.max_tokens or 'unlimited'})"
    )
    if near := _nearest(first, replay.cassette.records()):
        text += f"; the same prompt was recorded with another {near}"
    return f"{text}. Record it: --llmfair-record-mode new asks for what is missing"


def _nearest(question: Question, records: Iterable[Record]) -> str:
    """Name what else differs in the recorded answer to the same prompt that is most alike."""
    best: list[str] | None = None
    for record in records:
        other = record.question
        if other.request.prompt != question.request.prompt:
            continue
        pairs = {
            "model": (other.model, question.model),
            "temperature": (other.temperature, question.temperature),
            "longest answer": (other.max_tokens, question.max_tokens),
            "sample": (other.request.repeat, question.request.repeat),
            "seed": (other.request.seed, question.request.seed),
        }
        differ = [name for name, (a, b) in pairs.items() if a != b]
        # Another sample has another seed by nature.
        differ = [name for name in differ if name != "seed" or "sample" not in differ]
        if best is None or len(differ) < len(best):
            best = differ
    return " and ".join(best or [])
