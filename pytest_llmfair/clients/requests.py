"""Answer requests from the cassette, the session's cache or the model, within the budget.

A question passes at most five functions of this package before its backend is asked:

1. A public method of ``ModelClient``, such as ``generate``, makes the requests.
2. ``RequestRunner.answers`` puts them into random order, pair by pair, and takes what the
   cassette or the memory of the session holds.
3. ``LiveRequests.ask`` sends the rest, in portions that the budget can pay for.
4. A server or an async function gets a portion by ``concurrency.dispatch``, which starts workers
   on the event loop of the process; a model of this machine by ``LiveRequests._answer_here``.
5. A worker, ``_answer_rows``, awaits ``backend.send`` at the allowed rate, with retries. On this
   machine step 4 calls ``backend.generate``, and for a function ``backend.reply_to`` is step 5.
"""

from __future__ import annotations

import hashlib
import inspect
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_llmfair._util.printing import Line, Write, under_way
from pytest_llmfair.clients.budget import Budget
from pytest_llmfair.clients.cassette.replay import Replay
from pytest_llmfair.clients.errors import redactor
from pytest_llmfair.clients.protocol import Reply, Request
from pytest_llmfair.clients.sending import (
    AnyBackend,
    Batch,
    LiveRequests,
    asking_order,
    is_failure,
    was_sent,
)
from pytest_llmfair.responses import Answer, Missing
from pytest_llmfair.session import note_used
from pytest_llmfair.text.turns import turns_of

# Seconds between two chances to interrupt a wait, for systems where a signal does not end it.
_WAIT = 0.2


@dataclass(slots=True)
class Memory:
    """Answers of one session in one process, by digests of client and question."""

    _answers: dict[str, Answer] = field(default_factory=dict)
    # Model and system fingerprint that answered, by key, where the server named them.
    served: dict[str, tuple[str, str]] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)
    _clients: dict[Hashable, tuple[int, object]] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def questions(
        self, live: LiveRequests, requests: Sequence[Request]
    ) -> tuple[list[str], dict[str, Any]]:
        """Return the key of every request to this client, and the distinct requests by key."""
        identity, held = _identity(live.backend)
        with self._changed:
            # The object is held, so that no later object can get the same id.
            client, _ = self._clients.setdefault(identity, (len(self._clients), held))
        common = f"{client} {float(live.temperature)} {live.max_tokens}"
        keys = [_digest(common, request) for request in requests]
        return keys, dict(zip(keys, requests, strict=True))

    def begin(
        self,
        live: LiveRequests,
        waiting: dict[str, Any],
        found: dict[str, Answer],
        *,
        fresh: bool,
    ) -> None:
        """Move what is known from `waiting` to `found`."""
        with self._changed:
            self._take_known(waiting, found, fresh)

    def claim(
        self, waiting: dict[str, Any], found: dict[str, Answer], *, fresh: bool
    ) -> list[str]:
        """Wait for other threads, then return the keys still to ask."""
        with self._changed:
            while True:
                self._take_known(waiting, found, fresh)
                mine = [key for key in waiting if key not in self._asked]
                if mine or not waiting:
                    self._asked.update(mine)
                    return mine
                self._changed.wait(_WAIT)

    def put(self, waiting: Mapping[str, Any], replies: Mapping[str, Reply]) -> None:
        """Keep answers, refusals among them, but no passing failures."""
        for key, reply in replies.items():
            if was_sent(reply.answer) and not is_failure(reply.answer):
                self._answers[key] = reply.answer
                if any(reply.served):
                    self.served[key] = reply.served

    def release(self, keys: Sequence[str]) -> None:
        """Let other threads ask what got no answer."""
        with self._changed:
            self._asked.difference_update(keys)
            self._changed.notify_all()

    def was_replayed(self, key: str) -> bool:
        """Return False: the memory holds answers of this run only."""
        return False

    def _take_known(self, waiting: dict[str, Any], found: dict[str, Answer], fresh: bool) -> None:
        for key in [] if fresh else [key for key in waiting if key in self._answers]:
            found[key] = self._answers[key]
            del waiting[key]


def _identity(backend: AnyBackend) -> tuple[Hashable, object]:
    """Return a key for a client, and the objects whose ids the key contains."""
    # Two functions with one name are two clients, and so are two objects of one class, since each
    # may hold a state of its own.
    known: Hashable = getattr(backend, "known_as", None)
    if known is not None:
        return known, None
    model: Any = getattr(backend, "source", backend)
    # A method is another object each time it is looked up.
    parts = (model.__self__, model.__func__) if inspect.ismethod(model) else (model,)
    # One function with two system prompts is two models.
    return (backend.name, getattr(backend, "chat", None), *map(id, parts)), parts


def _digest(common: str, request: Request) -> str:
    kind = f"{common} {request.first_token} {request.seed} {request.repeat}\0"
    text = (kind + request.prompt).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).hexdigest()


@dataclass(slots=True)
class Counts:
    """Distinct answers used so far: asked for by this run, or recorded by an earlier one."""

    live: int = 0
    replayed: int = 0
    # By client: the models and system fingerprints that answered, as their server named them.
    served: dict[str, set[tuple[str, str]]] = field(default_factory=dict, repr=False)


@dataclass(slots=True)
class Progress:
    """Counts replies and shows how long the rest will take."""

    name: str
    # Answers asked for, and how many of them were recorded before.
    total: int
    recorded: int
    # Writes to the terminal; None shows nothing.
    write: Write | None = None
    # Cost of a reply in dollars; 0 if the price is unknown.
    cost: Callable[[Reply], float] = lambda reply: 0.0
    clock: Callable[[], float] = time.monotonic
    _calls: int = 0
    _done: int = 0
    _failed: int = 0
    _spent: float = 0.0
    _line: Line = field(init=False)

    def __post_init__(self) -> None:
        self._line = Line(self.write, self.clock)

    def add(self, replies: Iterable[Reply]) -> None:
        """Count replies, and show the line if it is time."""
        if self.write is None:
            return
        for reply in replies:
            self._done += 1
            self._calls += reply.attempts
            self._failed += isinstance(reply.answer, Missing)
            self._spent += self.cost(reply)
        self._line.show(self.line)

    def line(self) -> str:
        """Return calls, recorded and failed answers, cost, speed, and the time left."""
        parts = [f"{self.recorded + self._done} of {self.total} answers"]
        if self._calls != self._done:
            parts.append(f"{self._calls} calls")
        if self.recorded:
            parts.append(f"{self.recorded} recorded")
        if self._failed:
            parts.append(f"{self._failed} failed")
        if self._spent:
            parts.append(f"${self._spent:.4f}")
        if self._done:
            parts.append(self._line.rate(self._done))
            parts.append(self._line.left(self._done, self.total - self.recorded))
        return f"{self.name}: " + ", ".join([*parts, *under_way()])

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *args: object) -> None:
        """Remove the line."""
        self._line.__exit__()


@dataclass(slots=True)
class RequestRunner:
    """Asks models through the cassette or the memory, and within the budget, of the session.

    Parameters
    ----------
    replay : Replay, optional
        The cassette, and how it is used.
    memory : Memory, optional
        Answers of the session where there is no cassette; without both everything is asked.
    budget : Budget, optional
        What may be spent.
    plan : callable, optional
        Called in place of asking, with what would be asked and how many answers are known.
    timeout : float
        Seconds for one request to a server.
    progress : callable
        Called with the model, the answers asked for and how many of them are recorded.

    Examples
    --------
    >>> from pytest_llmfair.clients import ModelClient, Request
    >>> model = ModelClient.of(lambda prompt: prompt.upper(), name="upper")
    >>> runner = RequestRunner()
    >>> runner.answers(model.backend, [Request("hello", 0)], temperature=1.0, max_tokens=None)
    ['HELLO']
    >>> runner.counts
    Counts(live=1, replayed=0)
    """

    replay: Replay | None = None
    memory: Memory | None = None
    budget: Budget | None = None
    plan: Callable[[LiveRequests, Sequence[Request], int], None] | None = None
    timeout: float = 60.0
    progress: Callable[[str, int, int], Progress] = Progress
    counts: Counts = field(default_factory=Counts)

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
        """Return one answer per request, in order.

        Parameters
        ----------
        backend : Backend or RemoteBackend
            The model.
        requests : sequence of Request
            Equal requests get the same answer.
        temperature, max_tokens
            As in :class:`ModelClient`.
        batch : callable, optional
            Answers requests in place of ``backend.generate``.
        fresh : bool
            Ask again for what is known.

        Raises
        ------
        NotRecorded
            If the cassette lacks an answer and nothing may be asked.
        ValueError
            If a prompt holds a key of the environment.
        """
        _refuse_keys([request.prompt for request in requests])
        # Answers from a file of the user cost nothing and are recorded already.
        given = backend.name.startswith("responses:")
        budget = None if given else self.budget
        live = LiveRequests(backend, temperature, max_tokens, batch, budget, self.timeout)
        store = Memory() if given else self.replay or self.memory or Memory()
        # A file gives its answers in the order of its rows.
        order = range(len(requests)) if given else asking_order(requests)
        asked = [requests[row] for row in order]
        keys, waiting = store.questions(live, asked)
        note_used("model", f"{backend.name} {temperature} {live.longest}", live)
        request_of = dict(zip(keys, asked, strict=True))
        found: dict[str, Answer] = {}
        store.begin(live, waiting, found, fresh=fresh)
        if waiting and self.plan is not None and not given:
            self.plan(live, [request_of[key] for key in waiting], len(found))
        _refuse_turns(backend, [request_of[key] for key in waiting])
        recorded = 0 if self.replay is None else len(found)

        def keep(replies: Mapping[str, Reply]) -> None:
            store.put(waiting, replies)
            found.update({key: reply.answer for key, reply in replies.items()})
            progress.add(replies.values())

        with self.progress(backend.name, len(waiting) + recorded, recorded) as progress:
            while mine := store.claim(waiting, found, fresh=fresh):
                try:
                    live.ask({key: request_of[key] for key in mine}, keep)
                finally:
                    store.release(mine)
                for key in mine:
                    waiting.pop(key)
        sent = [key for key, answer in found.items() if was_sent(answer)]
        replayed = sum(given or store.was_replayed(key) for key in sent)
        self.counts.replayed += replayed
        self.counts.live += len(sent) - replayed
        served = {store.served[key] for key in found if key in store.served}
        self.counts.served.setdefault(backend.name, set()).update(served)
        return [found[key] for _, key in sorted(zip(order, keys, strict=True))]

    def close(self) -> None:
        """Close the cassette and the budget."""
        for held in (self.replay, self.budget):
            if held is not None:
                held.close()


def _refuse_turns(backend: AnyBackend, requests: Iterable[Request]) -> None:
    """Raise ``ValueError`` for a conversation where the model answers single prompts."""
    takes_turns = getattr(backend, "takes_turns", False)
    for request in requests:
        if len(turns := turns_of(request.prompt)) < 2:
            continue
        if request.numbers:
            # Earlier answers would be probabilities too, which the model would read as its own.
            raise ValueError(
                f"the prompt {turns[0][:60]!r} is a conversation of {len(turns)} turns, and "
                "probabilities are those after a single prompt; give the last prompt alone"
            )
        if not takes_turns:
            raise ValueError(
                f"the prompt {turns[0][:60]!r} is a conversation of {len(turns)} turns, and "
                f"{backend.name} answers single prompts; give a function whose first parameter is "
                "called messages, python:MODULE:FUNCTION?messages=yes, a model on a server, or an "
                "hf: model with a chat template"
            )


def _refuse_keys(prompts: Sequence[str]) -> None:
    """Raise ``ValueError`` for a key in a prompt: the model would get it, a cassette keep it."""
    redacted = redactor()
    for row, prompt in enumerate(prompts, start=1):
        if redacted(prompt) != prompt:
            raise ValueError(
                f"prompt {row} of {len(prompts)} holds a key or password of the environment; take "
                "it out of the prompt, and replace the key if the prompt was stored"
            )
