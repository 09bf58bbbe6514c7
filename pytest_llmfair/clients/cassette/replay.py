"""Answering from a cassette: what is recorded, what must be asked, and what is stale."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_llmfair.clients.cassette.locks import QuestionLocks
from pytest_llmfair.clients.cassette.record import Question, Record, ScoreRecord
from pytest_llmfair.clients.cassette.store import Cassette
from pytest_llmfair.clients.identity import (
    code_revision,
    file_of,
    identity_of_specification,
)
from pytest_llmfair.clients.protocol import NotRecorded, Reply, Request, identity_of
from pytest_llmfair.clients.sending import AnyBackend, LiveRequests, was_sent
from pytest_llmfair.replies import text_digest
from pytest_llmfair.responses import REMEDY, Answer, DigestedText, Missing

# Seconds between two looks at whether another process has recorded its answer.
_SOONEST, _LATEST = 0.01, 0.25

# Questions locked together: the system searches all locks of a file for each new one.
_LOCKED_TOGETHER = 1024

_SHOWN_CHARACTERS = 200


@dataclass(slots=True)
class Replay:
    """A cassette and how a session uses it."""

    cassette: Cassette
    locks: QuestionLocks
    # Whether answers that the cassette lacks are asked for and recorded.
    records: bool = True
    # Whether answers of earlier runs are recorded again.
    again: bool = False
    # Size of the cassette when the session began; what comes after it is of this run.
    since: int = 0
    # Days after which an answer is stale.
    max_age: int | None = None
    # File that gets the key of every answer that was used.
    used: Path | None = None
    _used: set[str] = field(default_factory=set)
    _replayed: set[str] = field(default_factory=set)
    # Functions by name, to find two different ones with the same name.
    _functions: dict[str, Any] = field(default_factory=dict)
    # Answers of this process whose texts the cassette does not keep.
    _texts: dict[str, str] = field(default_factory=dict)
    # Model and system fingerprint that answered, by key, where the server named them.
    served: dict[str, tuple[str, str]] = field(default_factory=dict)

    def questions(
        self, live: LiveRequests, requests: Sequence[Request]
    ) -> tuple[list[str], dict[str, Any]]:
        """Return the key of every request, and the distinct questions by key."""
        self._check_name(live.backend)
        model = identity_in(live.backend, self.cassette)
        questions = [Question(model, r, live.temperature, live.max_tokens) for r in requests]
        keys = [question.key for question in questions]
        return keys, dict(zip(keys, questions, strict=True))

    def begin(
        self,
        live: LiveRequests,
        waiting: dict[str, Question],
        found: dict[str, Answer],
        *,
        fresh: bool,
    ) -> None:
        """Move recorded answers to `found`; what waits then must be allowed to be asked."""
        asked = len(waiting)
        if not (fresh and self.records):
            self._look_up(waiting, list(waiting), found)
        if waiting and not self.records:
            raise NotRecorded(_not_recorded(list(waiting.values()), asked, live, self))

    def claim(
        self, waiting: dict[str, Question], found: dict[str, Answer], *, fresh: bool
    ) -> list[str]:
        """Return questions that are locked for this call, after waiting for other processes."""
        if waiting:
            self.cassette.prepare()
        pause = _SOONEST
        while waiting:
            free = (key for key in waiting if self.locks.take(key))
            mine = list(itertools.islice(free, _LOCKED_TOGETHER))
            try:
                if not fresh:
                    # Another process may have answered since the last look.
                    self._look_up(waiting, mine or list(waiting), found)
            except BaseException:
                self.locks.release(mine)
                raise
            self.locks.release([key for key in mine if key not in waiting])
            if left := [key for key in mine if key in waiting]:
                return left
            if waiting and not mine:
                time.sleep(pause)
                pause = min(2.0 * pause, _LATEST)
        self.cassette.sync()
        return []

    def put(self, waiting: Mapping[str, Question], replies: Mapping[str, Reply]) -> None:
        """Record replies, before anyone sees them."""
        today = datetime.now(UTC).date()
        sent = {key: reply for key, reply in replies.items() if was_sent(reply.answer)}
        self.cassette.put([Record.of(waiting[key], reply, today) for key, reply in sent.items()])
        self._used.update(sent)
        self.served.update((key, r.served) for key, r in sent.items() if any(r.served))
        self._replayed.difference_update(sent)
        if not self.cassette.text:
            self._texts.update(
                (key, reply.answer) for key, reply in sent.items() if isinstance(reply.answer, str)
            )

    def release(self, keys: Sequence[str]) -> None:
        """Unlock questions."""
        self.locks.release(keys)

    def was_replayed(self, key: str) -> bool:
        """Whether an earlier run recorded the answer."""
        return key in self._replayed

    def close(self) -> None:
        """Write down which answers were used, and close the files."""
        if self.used is not None and self._used:
            with self.used.open("a", encoding="ascii") as file:
                file.writelines(f"{key}\n" for key in sorted(self._used))
        self.locks.close()
        self.cassette.close()

    def _look_up(
        self, waiting: dict[str, Question], keys: Sequence[str], found: dict[str, Answer]
    ) -> None:
        """Move what the cassette can answer of these from `waiting` to `found`."""
        self.cassette.refresh()
        for key in keys:
            held = self.cassette.get(key)
            answer = self._texts.get(key) or _recorded(self, held, waiting[key])
            if answer is None:
                continue
            found[key] = answer
            if held is not None and any(held[0].reply.served):
                self.served[key] = held[0].reply.served
            if not (self.records and held is not None and held[1] >= self.since):
                self._replayed.add(key)
            self._used.add(key)
            del waiting[key]

    def _check_name(self, backend: AnyBackend) -> None:
        """Raise ``ValueError`` where two different functions would share recorded answers."""
        function = getattr(backend, "function", None)
        known = self._functions.setdefault(backend.name, function)
        if function is not None and not _same_function(known, function):
            raise ValueError(
                f"two different models are called {backend.name}, and recorded answers are found "
                "again by that name; name them apart with ModelClient.of(function, name=...)"
            )


def _recorded(
    replay: Replay, held: tuple[Record, int] | None, question: Question
) -> Answer | None:
    """Return the recorded answer, or a stale `Missing`; None when it must be asked."""
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
        # A digest cannot be scored, so a run that records asks for the text again.
        if earlier or why or record.answer_digest:
            return None
    return _stale(why, record) if why else record.reply.answer


def identity_in(backend: AnyBackend, cassette: Cassette | None) -> dict[str, str]:
    """Return provider, model and revision; the recorded revision if the model is not here."""
    local = backend.name.startswith(("builtin:", "hf:", "python:", "vllm:"))
    # A function that is loaded knows its own code.
    if not local or (backend.name.startswith("python:") and getattr(backend, "identity", None)):
        return identity_of(backend)
    model = identity_of_specification(backend.name)
    if model.get("revision") == "" and cassette is not None:
        cassette.refresh()
        recorded = [{"revision": "", **found} for found in cassette.models()]
        same = [found["revision"] for found in recorded if {**found, "revision": ""} == model]
        if len(same) > 1:
            raise NotRecorded(
                f"{cassette.path} holds answers of {len(same)} revisions of {backend.name} "
                f"({', '.join(same)}), and the model is not on this machine to say which one is "
                "meant; prune the others with `llmfair cassette prune --revision`"
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
    """Whether two functions of one name are the same function, perhaps defined twice."""
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


def _not_recorded(
    questions: Sequence[Question], asked: int, live: LiveRequests, replay: Replay
) -> str:
    first = questions[0]
    path = replay.cassette.path
    prompt = first.request.prompt
    shown = repr(prompt[:_SHOWN_CHARACTERS]) + (" ..." if len(prompt) > _SHOWN_CHARACTERS else "")
    lacking = f"{len(questions)} of {asked} answers" if asked > 1 else "the answer"
    where = f"{path} does not hold" if path.exists() else f"there is no cassette {path} to hold"
    text = (
        f"{where} {lacking} of {live.backend.name} that this test asks for; the first is to the "
        f"prompt {shown} (sample {first.request.repeat}, temperature {first.temperature:g}, "
        f"longest answer {first.max_tokens or 'unlimited'})"
    )
    if near := _nearest(first, replay.cassette.records()):
        text += f"; the same prompt was recorded with another {near}"
    return f"{text}. Record it: --llmfair-record-mode new asks for missing answers"


def _nearest(question: Question, records: Iterable[Record]) -> str:
    """Name what differs in the most similar recorded answer to the same prompt."""
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
        # Another sample always has another seed.
        differ = [name for name in differ if name != "seed" or "sample" not in differ]
        if best is None or len(differ) < len(best):
            best = differ
    return " and ".join(best or [])


@dataclass(frozen=True, slots=True)
class RecordedScores:
    """Scores in the cassette of a session."""

    cassette: Cassette
    # Whether new scores may be recorded.
    records: bool

    def recorded(self, scorer: Callable[..., Any], texts: Sequence[str]) -> list[float] | None:
        """Return recorded scores; None if no text is a digest, so that all can be scored."""
        if not any(isinstance(text, DigestedText) for text in texts):
            return None
        name = _name(scorer)
        found = []
        for text in texts:
            digest = text.digest if isinstance(text, DigestedText) else text_digest(text)
            held = self.cassette.score(ScoreRecord.key_of(name, digest))
            if held is None:
                raise ValueError(
                    f"the code of scorer {name or repr(scorer)} as it is now has no recorded "
                    f"score of an answer: {REMEDY}, or again with --llmfair-record-mode all"
                    + ("" if name else ", or name the scorer: it is a function without a name")
                )
            found.append(held)
        return found

    def record(
        self, scorer: Callable[..., Any], texts: Sequence[str], scores: Sequence[float]
    ) -> None:
        """Record scores if the cassette keeps no texts."""
        if self.cassette.text or not self.records or not (name := _name(scorer)):
            return
        today = datetime.now(UTC).date()
        made = [
            ScoreRecord(name, text_digest(text), float(score), today)
            for text, score in zip(texts, scores, strict=True)
        ]
        self.cassette.put([one for one in made if self.cassette.score(one.key) != one.score])


def _name(scorer: Callable[..., Any]) -> str:
    """Return the name under which scores are recorded; empty if the scorer has none."""
    name = getattr(scorer, "name", None)
    if not isinstance(name, str) or not name:
        name = f"{getattr(scorer, '__module__', '')}:{getattr(scorer, '__qualname__', '')}"
        if "<" in name or name.endswith(":"):
            return ""
    # Scores of other code, or of another rubric of a judge, must not pass for those of this one.
    # Code of this package is the same for all of its users, and its versions say what changed.
    version = getattr(scorer, "version", "")
    if not version and not str(getattr(scorer, "__module__", "")).startswith("pytest_llmfair."):
        version = code_revision(file_of(scorer), "")[:12]
    return f"{name} ({version})" if version else name
