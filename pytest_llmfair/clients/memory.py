"""Answers that the running session already has, so that no question is asked twice."""

from __future__ import annotations

import hashlib
import inspect
import threading
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_llmfair.clients.protocol import Reply, Request
from pytest_llmfair.clients.sending import AnyBackend, LiveRequests, is_failure, was_sent
from pytest_llmfair.responses import Answer

# Seconds between two chances to interrupt a wait, for systems where a signal does not end it.
_WAIT = 0.2


@dataclass(slots=True)
class Memory:
    """Answers of one session in one process, by digests of client and question."""

    _answers: dict[bytes, Answer] = field(default_factory=dict)
    # Model and system fingerprint that answered, by key, where the server named them.
    served: dict[bytes, tuple[str, str]] = field(default_factory=dict)
    _asked: set[bytes] = field(default_factory=set)
    _clients: dict[Hashable, tuple[int, object]] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def questions(
        self, live: LiveRequests, requests: Sequence[Request]
    ) -> tuple[list[bytes], dict[bytes, Request]]:
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
        waiting: dict[bytes, Request],
        found: dict[bytes, Answer],
        *,
        fresh: bool,
    ) -> None:
        """Move what is known from `waiting` to `found`."""
        with self._changed:
            self._take_known(waiting, found, fresh)

    def claim(
        self, waiting: dict[bytes, Request], found: dict[bytes, Answer], *, fresh: bool
    ) -> list[bytes]:
        """Wait for other threads, then return the keys still to ask."""
        with self._changed:
            while True:
                self._take_known(waiting, found, fresh)
                mine = [key for key in waiting if key not in self._asked]
                if mine or not waiting:
                    self._asked.update(mine)
                    return mine
                self._changed.wait(_WAIT)

    def put(self, waiting: Mapping[bytes, Request], replies: Mapping[bytes, Reply]) -> None:
        """Keep answers, refusals among them, but no passing failures."""
        for key, reply in replies.items():
            if was_sent(reply.answer) and not is_failure(reply.answer):
                self._answers[key] = reply.answer
                if any(reply.served):
                    self.served[key] = reply.served

    def release(self, keys: Sequence[bytes]) -> None:
        """Let other threads ask what got no answer."""
        with self._changed:
            self._asked.difference_update(keys)
            self._changed.notify_all()

    def was_replayed(self, key: bytes) -> bool:
        """Return False: the memory holds answers of this run only."""
        return False

    def _take_known(
        self, waiting: dict[bytes, Request], found: dict[bytes, Answer], fresh: bool
    ) -> None:
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
    model: Any = getattr(getattr(backend, "plain", backend), "source", backend)
    # A method is another object each time it is looked up.
    parts = (model.__self__, model.__func__) if inspect.ismethod(model) else (model,)
    return (backend.name, *map(id, parts)), parts


def _digest(common: str, request: Request) -> bytes:
    kind = f"{common} {request.first_token} {request.seed} {request.repeat}\0"
    text = (kind + request.prompt).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()
