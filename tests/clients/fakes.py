"""A server that notes what it was asked, and sessions with settings of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pytest_llmfair.clients import load_client
from pytest_llmfair.clients.concurrency import RetryPolicy, dispatch
from pytest_llmfair.clients.protocol import Attempt, Limits, Reply, Request
from pytest_llmfair.session import Session, begin_session, end_session
from pytest_llmfair.settings import Settings

QUICK = RetryPolicy(timeout=5.0, pause=0.01)


def answered(prompt: str, call: int) -> Attempt:
    """Answer a prompt with the tokens that the server counted."""
    return Attempt(Reply(f"answer to {prompt}", 5, 7))


@dataclass
class Server:
    """A server whose `attempt` takes a prompt and the number of the call."""

    attempt: Callable[[str, int], Attempt] = answered
    name: str = "openai:gpt-4o-mini"
    description: str = "a server"
    limits: Limits = field(default_factory=lambda: Limits(8))
    identity: dict[str, str] = field(default_factory=lambda: {"provider": "openai"})
    asked: list[str] = field(default_factory=list)

    def open(self) -> None:
        pass

    async def send(
        self, request: Request, *, temperature: float, max_tokens: int | None
    ) -> Attempt:
        self.asked.append(request.prompt)
        call = len(self.asked)
        await asyncio.sleep(0.001)
        return self.attempt(request.prompt, call)


@contextmanager
def session_with(**settings: Any) -> Iterator[Session]:
    """Run a session with these settings."""
    session = Session.of(Settings(**settings))
    begin_session(session)
    try:
        yield session
    finally:
        end_session(session)


def reply_of(
    model: Any,
    *,
    temperature: float = 1.0,
    max_tokens: int | None = None,
    retries: RetryPolicy = QUICK,
) -> Reply:
    """Return the reply of a server, or of a specification, to "hi" with the seed 5."""
    kept: dict[int, Reply] = {}
    dispatch(
        load_client(model).backend if isinstance(model, str) else model,
        [Request("hi", 5 << 33)],
        kept.__setitem__,
        temperature=temperature,
        max_tokens=max_tokens,
        retries=retries,
    )
    return kept[0]
