"""Answers that the running session already has, so that no question is asked twice."""

from __future__ import annotations

import hashlib
import inspect
import threading
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_llmfair.clients._backend import Reply, Request
from pytest_llmfair.clients._live import AnyBackend, Live, is_failure, was_sent
from pytest_llmfair.responses import Answer

# Seconds after which waiting for another thread can be interrupted where a signal does not end it.
_WAIT = 0.2


@dataclass(slots=True)
class Memory:
    """Answers of one session in one process, found by client and question.

    Texts are shared with whoever got them first. Keys are digests, so that prompts need not stay.
    """

    _answers: dict[bytes, Answer] = field(default_factory=dict)
    _asked: set[bytes] = field(default_factory=set)
    _clients: dict[Hashable, tuple[int, object]] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def keys(self, live: Live, requests: Sequence[Request]) -> list[bytes]:
        """Return the key of every request to this client, with these parameters."""
        identity, held = _identity(live.backend)
        with self._changed:
            # What an id belongs to is held, so that no later object gets the same id.
            client, _ = self._clients.setdefault(identity, (len(self._clients), held))
        common = f"{client} {float(live.temperature)} {live.max_tokens}"
        return [_digest(common, request) for request in requests]

    def claim(
        self, waiting: dict[bytes, Request], found: dict[bytes, Answer], *, fresh: bool
    ) -> list[bytes]:
        """Move what is known from `waiting` to `found`; return what the caller is to ask.

        What another thread is asking is waited for. With `fresh` nothing is known.
        """
        with self._changed:
            while True:
                for key in [] if fresh else [key for key in waiting if key in self._answers]:
                    found[key] = self._answers[key]
                    del waiting[key]
                mine = [key for key in waiting if key not in self._asked]
                if mine or not waiting:
                    self._asked.update(mine)
                    return mine
                self._changed.wait(_WAIT)

    def put(self, replies: Mapping[bytes, Reply]) -> None:
        """Keep answers; a refusal is one, a failure of the moment is not."""
        for key, reply in replies.items():
            if was_sent(reply.answer) and not is_failure(reply.answer):
                self._answers[key] = reply.answer

    def release(self, keys: Iterable[bytes]) -> None:
        """Let other threads ask what got no answer."""
        with self._changed:
            self._asked.difference_update(keys)
            self._changed.notify_all()


def _identity(backend: AnyBackend) -> tuple[Hashable, object]:
    """Return by what a client is known again, and the objects that this is about.

    Two functions of one name are two clients, and so are two objects of one class, since either
    may hold a state of its own.
    """
    known: Hashable = getattr(backend, "known_as", None)
    if known is not None:
        return known, None
    model: Any = getattr(getattr(backend, "plain", backend), "source", backend)
    # A method is another object each time it is looked up.
    parts = (model.__self__, model.__func__) if inspect.ismethod(model) else (model,)
    return (backend.name, *map(id, parts)), parts


def _digest(common: str, request: Request) -> bytes:
    kind = f"{common} {request.first_token} {request.seed} {request.repeat}\0"
    text = (kind + request.prompt).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()
