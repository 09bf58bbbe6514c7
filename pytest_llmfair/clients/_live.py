"""Asking for answers that are not recorded, within the budget of the run."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pytest_llmfair.clients._backend import (
    LOCAL_MAX_TOKENS,
    Backend,
    RemoteBackend,
    Reply,
    Request,
)
from pytest_llmfair.clients.budget import Budget, Purse
from pytest_llmfair.responses import Answer, Missing

AnyBackend = Backend | RemoteBackend
Batch = Callable[[Sequence[Request]], list[Answer]]
K = TypeVar("K", bound=Hashable)

# Requests that a model of this machine gets at once where it does not say: no more are lost when
# the process is killed.
_AT_ONCE = 64

# Requests to a server between two looks at how many longest answers the budget has room for.
_SLICE = 256


@dataclass(frozen=True, slots=True)
class Live:
    """How requests of one call are answered that are not recorded.

    Attributes
    ----------
    backend : Backend or RemoteBackend
        What answers.
    temperature, max_tokens
        Decoding parameters.
    batch : callable or None
        What answers in place of ``backend.generate``.
    budget : Budget or None
        What may be spent.
    timeout : float
        Seconds that one answer of a server may take.
    """

    backend: AnyBackend
    temperature: float
    max_tokens: int | None
    batch: Batch | None = None
    budget: Budget | None = None
    timeout: float = 60.0

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
        if isinstance(self.backend, RemoteBackend) and self.batch is None:
            self._ask_server(self.backend, requests, keep)
        else:
            self._ask_here(requests, keep)

    def _ask_here(
        self, requests: Mapping[K, Request], keep: Callable[[Mapping[K, Reply]], None]
    ) -> None:
        keys = list(requests)
        own = getattr(self.backend, "batch_size", None)
        if own and own > 1:
            # As the backend itself would: prompts of like length beside each other.
            keys.sort(key=lambda key: len(requests[key].prompt))
        size = own or _AT_ONCE
        purse = self._purse()
        for start in range(0, len(keys), size):
            some = keys[start : start + size]
            refused = {key: purse.reserve(requests[key]) for key in some}
            paid = [key for key in some if not refused[key]]
            answers = self._answered([requests[key] for key in paid])
            replies = {key: Reply(answer) for key, answer in zip(paid, answers, strict=True)}
            for key, reply in replies.items():
                purse.settle(requests[key], reply)
            for key, why in refused.items():
                if why:
                    replies[key] = Reply(Missing("over_budget", why), attempts=0)
            keep(replies)

    def _answered(self, requests: Sequence[Request]) -> list[Answer]:
        if not requests:
            return []
        if self.batch is not None:
            return self.batch(requests)
        backend: Any = self.backend
        answers: list[Answer] = backend.generate(
            requests,
            temperature=self.temperature,
            max_tokens=self.longest,
        )
        return answers

    def _ask_server(
        self,
        backend: RemoteBackend,
        requests: Mapping[K, Request],
        keep: Callable[[Mapping[K, Reply]], None],
    ) -> None:
        keys = list(requests)
        while keys:
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
        )

    def _purse(self) -> Purse:
        return Purse.of(self.budget, self.backend.name, self.longest)


def over_budget(reply: Reply) -> bool:
    """Tell whether a request was not sent, since the budget was spent."""
    return isinstance(reply.answer, Missing) and reply.answer.reason == "over_budget"
