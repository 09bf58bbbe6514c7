"""Send the requests of one call to the model, within the budget."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_llmfair.clients.budget import Budget, BudgetReservation
from pytest_llmfair.clients.concurrency import RetryPolicy, dispatch
from pytest_llmfair.clients.protocol import (
    LOCAL_MAX_TOKENS,
    TRANSIENT,
    Backend,
    RemoteBackend,
    Reply,
    Request,
)
from pytest_llmfair.responses import Answer, Missing

AnyBackend = Backend | RemoteBackend
Batch = Callable[[Sequence[Request]], list[Answer]]

_NOT_ASKED = "not asked"

# Requests that a model of this machine gets at once if it has no batch size of its own. If the
# process is killed, at most these are lost.
_AT_ONCE = 64

# Requests to a server between two checks of how many longest answers the budget can pay for.
_SLICE = 256


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

        reservation = BudgetReservation.of(
            self.budget, self.backend.name, self.longest, requests.values()
        )
        try:
            while waiting and self.failures.rest is None:
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
        finally:
            reservation.give_back()
        if waiting and self.failures.rest is not None:
            keep(dict.fromkeys(waiting, Reply(self.failures.rest, attempts=0)))

    def _in_order(self, requests: Mapping[Any, Request]) -> list[tuple[Any, Request]]:
        """Put pairs of similar length together where the model of this machine makes batches."""
        items = list(requests.items())
        size = getattr(self.backend, "batch_size", None) or 1
        if size == 1:
            return items
        pairs: dict[Any, list[tuple[Any, Request]]] = {}
        for key, request in items:
            pairs.setdefault(request.block[:1] or key, []).append((key, request))
        batches: list[list[tuple[Any, Request]]] = []
        for own in sorted(pairs.values(), key=lambda own: max(len(r.prompt) for _, r in own)):
            if not batches or len(batches[-1]) >= size:
                batches.append([])
            batches[-1] += own
        # The batches stay in random order, since lengths may differ between groups.
        place = {key: number for number, key in enumerate(requests)}
        batches.sort(key=lambda batch: place[batch[0][0]])
        return [item for batch in batches for item in batch]

    def _portion(self, waiting: Mapping[Any, Request], reservation: BudgetReservation) -> int:
        """Return the number of requests to send before the next look at the budget."""
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
        paid = {key: request for key, request in some.items() if not refused[key]}
        asked = list(paid.values())
        backend: Any = self.backend
        if not asked:
            answered: list[Reply] = []
        elif self.batch is not None:
            answered = [Reply(answer) for answer in self.batch(asked)]
        elif reply_to := getattr(backend, "reply_to", None):
            answered = [reply_to(request, self.temperature, self.longest) for request in asked]
        else:
            answers = backend.generate(
                asked, temperature=self.temperature, max_tokens=self.longest
            )
            answered = [Reply(answer) for answer in answers]
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


def _by_row(
    some: Mapping[Any, Request],
    keep: Callable[[Mapping[Any, Reply]], None],
    reservation: BudgetReservation,
) -> Callable[[int, Reply], None]:
    """Return a function that keeps the reply to the request in a row, and settles its cost."""
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
