"""How fast a server may be asked: requests and tokens per minute, shared by parallel workers."""

from __future__ import annotations

import asyncio
import functools
import os
import threading
import time
from dataclasses import dataclass

from pytest_llmfair.clients._backend import Limits

# Tokens of an answer without a limit, before the server has told how many they were.
_GUESSED_ANSWER = 256
_LETTERS_PER_TOKEN = 4

# Two threads that ask first at the same time would each have a pace of their own.
_first = threading.Lock()


@dataclass(slots=True)
class Pace:
    """Two token buckets of one request each, so that no minute ever holds more than its limit.

    `next_request` and `next_tokens` are when either is full again, on the monotonic clock.
    """

    requests_per_minute: float | None
    tokens_per_minute: float | None
    next_request: float = 0.0
    next_tokens: float = 0.0

    async def turn(self, tokens: int) -> float:
        """Wait until a request of about so many tokens may go; return the seconds waited."""
        now = time.monotonic()
        due = max(now, self.next_request, self.next_tokens)
        if self.requests_per_minute:
            self.next_request = due + 60.0 / self.requests_per_minute
        if self.tokens_per_minute:
            self.next_tokens = due + 60.0 * tokens / self.tokens_per_minute
        if due > now:
            await asyncio.sleep(due - now)
        return due - now

    def correct(self, guessed: int, counted: int) -> None:
        """Put right a guess, once the server has counted; 0 when it did not."""
        if self.tokens_per_minute and counted:
            self.next_tokens += 60.0 * (counted - guessed) / self.tokens_per_minute


def pace_of(name: str, limits: Limits) -> Pace:
    """Return the pace of a model, which all calls of the process share."""
    with _first:
        return _pace(name, limits)


@functools.cache
def _pace(name: str, limits: Limits) -> Pace:
    workers = _workers()
    requests, tokens = limits.requests_per_minute, limits.tokens_per_minute
    return Pace(requests and requests / workers, tokens and tokens / workers)


def concurrency_of(limits: Limits) -> int:
    """Return this worker's share of the requests in flight, at least 1."""
    return max(1, limits.concurrency // _workers())


def guessed_tokens(prompt: str, max_tokens: int | None) -> int:
    """Return about how many tokens a prompt and its answer have."""
    return len(prompt) // _LETTERS_PER_TOKEN + 1 + (max_tokens or _GUESSED_ANSWER)


def _workers() -> int:
    # Set by pytest-xdist in each of its workers.
    return int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
