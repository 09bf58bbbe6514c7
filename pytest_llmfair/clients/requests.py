"""Answer requests from the cassette, the session's cache or the model, within the budget.

A question takes five hops from :class:`ModelClient` to its backend:

1. ``ModelClient._answers`` hands requests to :meth:`RequestRunner.answers`.
2. That takes what the cassette or the memory of the session holds, and hands the rest to
   :meth:`LiveRequests.ask`.
3. A model on a server is asked by ``concurrency.dispatch``, many requests at once; a model
   of this machine by ``LiveRequests._answer_here``, batch by batch.
4. ``dispatch`` lets its workers answer each request at the allowed rate, with retries.
5. A worker calls ``backend.send``; a model of this machine gets ``backend.generate``.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from pytest_llmfair.clients.budget import Budget, BudgetReservation
from pytest_llmfair.clients.concurrency import RetryPolicy, dispatch
from pytest_llmfair.clients.progress import Progress
from pytest_llmfair.clients.protocol import (
    LOCAL_MAX_TOKENS,
    TRANSIENT,
    Backend,
    RemoteBackend,
    Reply,
    Request,
)
from pytest_llmfair.responses import Answer, Missing
from pytest_llmfair.session import note_used

if TYPE_CHECKING:
    from pytest_llmfair.clients.cassette.replay import Replay
    from pytest_llmfair.clients.memory import Memory

AnyBackend = Backend | RemoteBackend
Batch = Callable[[Sequence[Request]], list[Answer]]

_NOT_ASKED = "not asked"

# Requests that a model of this machine gets at once if it has no batch size of its own. If the
# process is killed, at most these are lost.
_AT_ONCE = 64

# Requests to a server between two checks of how many longest answers the budget can pay for.
_SLICE = 256


class Store(Protocol):
    """Answers that exist already, such as a cassette; keys and questions are its own.

    For every call the runner gets the questions by key, and asks what `begin` and `claim` leave.
    """

    def questions(
        self, live: LiveRequests, requests: Sequence[Request]
    ) -> tuple[list[Any], dict[Any, Any]]:
        """Return the key of every request in order, and the distinct questions by key."""

    def begin(
        self, live: LiveRequests, waiting: dict[Any, Any], found: dict[Any, Answer], *, fresh: bool
    ) -> None:
        """Move what is known from `waiting` to `found`; with `fresh` nothing is known."""

    def claim(
        self, waiting: dict[Any, Any], found: dict[Any, Answer], *, fresh: bool
    ) -> list[Any]:
        """Return keys that only the caller must ask; empty when nothing waits.

        Keys that another thread or process is asking are waited for.
        """

    def put(self, waiting: Mapping[Any, Any], replies: Mapping[Any, Reply]) -> None:
        """Keep replies, before the caller sees them."""

    def release(self, keys: Sequence[Any]) -> None:
        """Let others ask the keys that got no answer."""

    def was_replayed(self, key: Any) -> bool:
        """Whether the answer was recorded by an earlier run."""


@dataclass(slots=True)
class Counts:
    """Distinct answers used so far: asked for by this run, or recorded by an earlier one."""

    live: int = 0
    replayed: int = 0


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
        """
        # Answers from a file of the user cost nothing and are recorded already.
        given = backend.name.startswith("responses:")
        budget = None if given else self.budget
        live = LiveRequests(backend, temperature, max_tokens, batch, budget, self.timeout)
        note_used("model", f"{backend.name} {temperature} {live.longest}", live)
        store = self._store(given)
        keys, waiting = store.questions(live, requests)
        request_of = dict(zip(keys, requests, strict=True))
        found: dict[Any, Answer] = {}
        store.begin(live, waiting, found, fresh=fresh)
        if waiting and self.plan is not None and not given:
            self.plan(live, [request_of[key] for key in waiting], len(found))
        recorded = 0 if self.replay is None else len(found)

        def keep(replies: Mapping[Any, Reply]) -> None:
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
        self._count(store, found, given=given)
        return [found[key] for key in keys]

    def close(self) -> None:
        """Close the cassette and the budget."""
        for held in (self.replay, self.budget):
            if held is not None:
                held.close()

    def _store(self, given: bool) -> Store:
        from pytest_llmfair.clients.memory import Memory

        if given:
            return Memory()
        return self.replay or self.memory or Memory()

    def _count(self, store: Store, found: Mapping[Any, Answer], *, given: bool) -> None:
        sent = [key for key, answer in found.items() if was_sent(answer)]
        replayed = sum(given or store.was_replayed(key) for key in sent)
        self.counts.replayed += replayed
        self.counts.live += len(sent) - replayed


@dataclass(slots=True)
class Failures:
    """Counts failures in a row; after too many of them the rest of a call is not asked."""

    # The answer to everything that is not asked any more; None while asking goes on.
    rest: Missing | None = None
    _in_a_row: int = 0

    def end_with(self, reply: Reply, *, remote: bool) -> bool:
        """Count one more reply; return whether the call ends."""
        answer = reply.answer
        # A model of this process fails by an exception only.
        failed = reply.raised or (remote and is_failure(answer))
        self._in_a_row = self._in_a_row + 1 if failed else 0
        most, what = (5, "calls") if reply.raised else (20, "requests")
        if isinstance(answer, Missing) and self._in_a_row >= most and self.rest is None:
            words = f"{_NOT_ASKED}: {self._in_a_row} {what} in a row failed"
            self.rest = Missing(answer.reason, words)
        return self.rest is not None


@dataclass(frozen=True, slots=True)
class LiveRequests:
    """Sends the requests of one call; `batch`, if given, replaces ``backend.generate``."""

    backend: AnyBackend
    temperature: float
    max_tokens: int | None
    batch: Batch | None = None
    budget: Budget | None = None
    timeout: float = 60.0
    failures: Failures = field(default_factory=Failures)

    @property
    def longest(self) -> int | None:
        """Most tokens of an answer; None where the server decides."""
        if self.max_tokens is None and not isinstance(self.backend, RemoteBackend):
            return LOCAL_MAX_TOKENS
        return self.max_tokens

    def ask(
        self, requests: Mapping[Any, Request], keep: Callable[[Mapping[Any, Reply]], None]
    ) -> None:
        """Answer requests, handing replies to `keep` as they come."""
        waiting = dict(self._in_order(requests))

        def kept(replies: Mapping[Any, Reply]) -> None:
            keep(replies)
            for key in replies:
                waiting.pop(key, None)

        while waiting and self.failures.rest is None:
            reservation = BudgetReservation.of(self.budget, self.backend.name, self.longest)
            size = self._portion(waiting, reservation)
            some = dict(itertools.islice(waiting.items(), size))
            if isinstance(self.backend, RemoteBackend) and self.batch is None:
                dispatch(
                    self.backend,
                    list(some.values()),
                    _by_row(some, kept, reservation),
                    temperature=self.temperature,
                    max_tokens=self.max_tokens,
                    reserve=reservation.reserve,
                    retries=RetryPolicy(self.timeout),
                    ends=functools.partial(self.failures.end_with, remote=True),
                )
            else:
                kept(self._answer_here(some, reservation))
        if waiting and self.failures.rest is not None:
            keep(dict.fromkeys(waiting, Reply(self.failures.rest, attempts=0)))

    def _in_order(self, requests: Mapping[Any, Request]) -> list[tuple[Any, Request]]:
        """Put prompts of similar length together where the model of this machine makes batches."""
        items = list(requests.items())
        if (getattr(self.backend, "batch_size", None) or 1) > 1:
            items.sort(key=lambda item: len(item[1].prompt))
        return items

    def _portion(self, waiting: Mapping[Any, Request], reservation: BudgetReservation) -> int:
        """Return how many requests to send before the next look at the budget."""
        if not isinstance(self.backend, RemoteBackend) or self.batch is not None:
            return getattr(self.backend, "batch_size", None) or _AT_ONCE
        if self.budget is None:
            return len(waiting)
        # The longest answers are reserved, and what shorter ones leave is free again: requests
        # that must wait for that are not refused.
        return reservation.room(list(itertools.islice(waiting.values(), _SLICE))) or 1

    def _answer_here(
        self, some: Mapping[Any, Request], reservation: BudgetReservation
    ) -> dict[Any, Reply]:
        """Answer one batch with a model of this machine."""
        refused = {key: reservation.reserve(request) for key, request in some.items()}
        paid = [key for key in some if not refused[key]]
        answered = self._replies([some[key] for key in paid]) if paid else []
        replies = dict(zip(paid, answered, strict=True))
        for key, reply in replies.items():
            reservation.settle(some[key], reply)
        for key, why in refused.items():
            if why:
                replies[key] = Reply(Missing("over_budget", why), attempts=0)
        for reply in replies.values():
            if self.failures.end_with(reply, remote=False):
                break
        return replies

    def _replies(self, requests: Sequence[Request]) -> list[Reply]:
        if self.batch is not None:
            return [Reply(answer) for answer in self.batch(requests)]
        backend: Any = self.backend
        if reply_to := getattr(backend, "reply_to", None):
            return [reply_to(request, self.temperature, self.longest) for request in requests]
        answers = backend.generate(requests, temperature=self.temperature, max_tokens=self.longest)
        return [Reply(answer) for answer in answers]


def _by_row(
    some: Mapping[Any, Request],
    keep: Callable[[Mapping[Any, Reply]], None],
    reservation: BudgetReservation,
) -> Callable[[int, Reply], None]:
    """Return what keeps the reply to the request in a row, and settles what it cost."""
    rows = list(some.items())
    kept: set[int] = set()

    def keep_row(row: int, reply: Reply) -> None:
        # An interrupt between keeping a reply and noting it makes `dispatch` hand it over again.
        if row in kept:
            return
        key, request = rows[row]
        keep({key: reply})
        kept.add(row)
        reservation.settle(request, reply)

    return keep_row


def is_failure(answer: Answer) -> bool:
    """Whether an answer is missing because of a passing failure, and not by the model's choice."""
    return isinstance(answer, Missing) and answer.reason in TRANSIENT


def was_sent(answer: Answer) -> bool:
    """Whether a request was sent: the budget allowed it, and the call had not ended."""
    return not isinstance(answer, Missing) or (
        answer.reason != "over_budget" and not answer.detail.startswith(_NOT_ASKED)
    )


# The former name, which users may still import.
Asker = RequestRunner
