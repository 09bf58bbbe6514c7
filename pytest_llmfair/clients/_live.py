"""Asking for answers that are not recorded, within the budget of the run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pytest_llmfair.clients._backend import (
    LOCAL_MAX_TOKENS,
    Backend,
    RemoteBackend,
    Reply,
    Request,
)
from pytest_llmfair.clients._records import TRANSIENT
from pytest_llmfair.clients.budget import Budget, Purse
from pytest_llmfair.responses import Answer, Missing

AnyBackend = Backend | RemoteBackend
Batch = Callable[[Sequence[Request]], list[Answer]]
K = TypeVar("K", bound=Hashable)

_NOT_ASKED = "not asked"

# Requests that a model of this machine gets at once where it does not say: no more are lost when
# the process is killed.
_AT_ONCE = 64

# Requests to a server between two looks at how many longest answers the budget has room for.
_SLICE = 256


@dataclass(slots=True)
class Failures:
    """Counts failures in a row; after too many of them the rest of a call is not asked."""

    # What every further answer is; None as long as asking goes on.
    rest: Missing | None = None
    _in_a_row: int = 0

    def end_with(self, reply: Reply, *, remote: bool) -> bool:
        """Count one more reply; tell whether it ends the call."""
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
class Live:
    """How requests of one call are answered; `batch`, if given, replaces ``backend.generate``."""

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
        self, requests: Mapping[K, Request], keep: Callable[[Mapping[K, Reply]], None]
    ) -> None:
        """Answer requests, handing replies to `keep` as they come."""
        waiting = dict(requests)

        def kept(replies: Mapping[K, Reply]) -> None:
            keep(replies)
            for key in replies:
                waiting.pop(key, None)

        if self.failures.rest is None:
            if isinstance(self.backend, RemoteBackend) and self.batch is None:
                self._ask_server(self.backend, requests, kept)
            else:
                self._ask_here(requests, kept)
        if waiting and self.failures.rest is not None:
            keep(dict.fromkeys(waiting, Reply(self.failures.rest, attempts=0)))

    def _ask_here(
        self, requests: Mapping[K, Request], keep: Callable[[Mapping[K, Reply]], None]
    ) -> None:
        keys = list(requests)
        own = getattr(self.backend, "batch_size", None)
        if own and own > 1:
            # As the backend itself would: prompts of similar length together.
            keys.sort(key=lambda key: len(requests[key].prompt))
        size = own or _AT_ONCE
        purse = self._purse()
        for start in range(0, len(keys), size):
            some = keys[start : start + size]
            refused = {key: purse.reserve(requests[key]) for key in some}
            paid = [key for key in some if not refused[key]]
            answers = self._answered([requests[key] for key in paid])
            replies = dict(zip(paid, answers, strict=True))
            for key, reply in replies.items():
                purse.settle(requests[key], reply)
            for key, why in refused.items():
                if why:
                    replies[key] = Reply(Missing("over_budget", why), attempts=0)
            keep(replies)
            if any(self.failures.end_with(reply, remote=False) for reply in replies.values()):
                return

    def _answered(self, requests: Sequence[Request]) -> list[Reply]:
        if not requests:
            return []
        if self.batch is not None:
            return [Reply(answer) for answer in self.batch(requests)]
        backend: Any = self.backend
        if reply_to := getattr(backend, "reply_to", None):
            return [reply_to(request, self.temperature, self.longest) for request in requests]
        answers = backend.generate(requests, temperature=self.temperature, max_tokens=self.longest)
        return [Reply(answer) for answer in answers]

    def _ask_server(
        self,
        backend: RemoteBackend,
        requests: Mapping[K, Request],
        keep: Callable[[Mapping[K, Reply]], None],
    ) -> None:
        keys = list(requests)
        while keys and self.failures.rest is None:
            size = len(keys)
            purse = self._purse()
            if self.budget is not None:
                # Room is kept for the longest answers, and is free again when shorter ones came:
                # what waits outside until then is not refused.
                size = purse.room([requests[key] for key in keys[:_SLICE]]) or 1
            self._dispatch(backend, {key: requests[key] for key in keys[:size]}, purse, keep)
            keys = keys[size:]

    def _dispatch(
        self,
        backend: RemoteBackend,
        requests: Mapping[K, Request],
        purse: Purse,
        keep: Callable[[Mapping[K, Reply]], None],
    ) -> None:
        from pytest_llmfair.clients._dispatch import Patience, dispatch

        rows = list(requests.items())
        kept: set[int] = set()

        def keep_row(row: int, reply: Reply) -> None:
            # An interrupt may have come between keeping a reply and saying so.
            if row in kept:
                return
            key, request = rows[row]
            keep({key: reply})
            kept.add(row)
            purse.settle(request, reply)

        dispatch(
            backend,
            [request for _, request in rows],
            keep_row,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            reserve=purse.reserve,
            patience=Patience(self.timeout),
            ends=functools.partial(self.failures.end_with, remote=True),
        )

    def _purse(self) -> Purse:
        return Purse.of(self.budget, self.backend.name, self.longest)


def is_failure(answer: Answer) -> bool:
    """Tell whether an answer is missing for a reason of the moment, not by the model's choice."""
    return isinstance(answer, Missing) and answer.reason in TRANSIENT


def was_sent(answer: Answer) -> bool:
    """Tell whether a request was sent: the budget was not spent, and the call not ended."""
    return not isinstance(answer, Missing) or (
        answer.reason != "over_budget" and not answer.detail.startswith(_NOT_ASKED)
    )
