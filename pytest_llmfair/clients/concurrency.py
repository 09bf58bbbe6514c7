"""Concurrent requests to a server: event loop, rate limits and retries; no reply is lost."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import queue
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pytest_llmfair._util.background import background_loop, start
from pytest_llmfair.clients.protocol import (
    Attempt,
    Limits,
    ModelError,
    RemoteBackend,
    Reply,
    Request,
)
from pytest_llmfair.responses import Missing

T = TypeVar("T")
Keep = Callable[[int, Reply], None]

# Seconds between two chances to interrupt a wait, for systems where a signal does not end it.
_WAIT = 0.2
# Seconds that cancelled requests have to end.
_GRACE_OF_REQUESTS = 5.0

# Reasons of answers that were lost on the way back, so that the server may have charged them.
_UNREAD = ("error", "malformed", "timeout")

# Tokens assumed for an answer without a limit, until the server has counted them.
_GUESSED_ANSWER = 256
_LETTERS_PER_TOKEN = 4

# Two threads may ask first at the same time; both must get the same rate limiter.
_first = threading.Lock()


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits on the attempts to answer one request."""

    # Seconds for all attempts and the pauses between them together.
    timeout: float = 60.0
    attempts: int = 3
    # Longest first pause in seconds; it doubles with every attempt.
    pause: float = 0.5


def dispatch(
    backend: RemoteBackend,
    requests: Sequence[Request],
    keep: Keep,
    *,
    temperature: float,
    max_tokens: int | None,
    reserve: Callable[[Request], str] = lambda request: "",
    retries: RetryPolicy,
    ends: Callable[[Reply], bool] = lambda reply: False,
) -> None:
    """Answer every request and hand each reply to `keep` as it comes, in the caller's thread."""
    # Every reply that arrived is kept, also when the call is interrupted or fails. A worker sends
    # its next request only after its last reply was kept, so at most `concurrency` replies are
    # ever at risk. `reserve` and `ends` are called on the event loop: before every HTTP request,
    # where a text is the reason not to send it, and with every reply, where True sends no more.
    backend.open()
    if not requests:
        return
    rows = iter(enumerate(requests))
    work = _Work(backend, temperature, max_tokens, reserve, retries, rows, ends)
    # This process's share of the requests in flight.
    workers = max(1, backend.limits.concurrency // _workers())
    running = start(work.answer_all(min(workers, len(requests))))

    def keep_all() -> None:
        # An interrupt may come between any two steps. So no reply is in a local variable alone: if
        # it were lost there, its worker would wait for ever.
        while not work.ended or work.unkept:
            work.wait()
            try:
                while work.unkept:
                    arrival = work.unkept[0]
                    if not arrival.kept:
                        keep(arrival.row, arrival.reply)
                        arrival.kept = True
                    work.unkept.popleft()
            finally:
                background_loop().call_soon_threadsafe(work.free)

    try:
        try:
            keep_all()
        except KeyboardInterrupt:
            # Requests in flight may be charged, so only a second interrupt cancels them.
            background_loop().call_soon_threadsafe(work.stop)
            keep_all()
            raise
    except BaseException:
        running.cancel()
        deadline = time.monotonic() + _GRACE_OF_REQUESTS
        while not work.ended and time.monotonic() < deadline:
            work.wait()
        # A copy: requests that outlive their grace may still be answered.
        for arrival in tuple(work.unkept):
            if not arrival.kept:
                keep(arrival.row, arrival.reply)
        raise
    running.result()
    if isinstance(work.failure, ModelError):
        # A new exception: the frames of the event loop do not help the user.
        raise ModelError(str(work.failure))
    if work.failure:
        raise work.failure


@dataclass(slots=True, eq=False)
class _Arrival:
    """A reply, whether it is kept, and the future for which its worker waits until it is."""

    row: int
    reply: Reply
    free: asyncio.Future[None]
    kept: bool = False


@dataclass(slots=True)
class _Work:
    """The requests of one call, answered by workers on the event loop."""

    backend: RemoteBackend
    temperature: float
    max_tokens: int | None
    reserve: Callable[[Request], str]
    retries: RetryPolicy
    rows: Iterator[tuple[int, Request]]
    ends: Callable[[Reply], bool]
    ended: bool = False
    failure: BaseException | None = None
    # Replies in the order in which they came, until the caller's thread has kept them.
    unkept: deque[_Arrival] = field(default_factory=deque)
    _stopped: bool = False
    # Wakes the caller's thread.
    _news: queue.SimpleQueue[None] = field(default_factory=queue.SimpleQueue)
    # Replies whose workers wait, on the loop.
    _waiting: list[_Arrival] = field(default_factory=list)
    # Workers between two attempts, which have nothing in flight.
    _pausing: set[asyncio.Task[None]] = field(default_factory=set)
    _rate: RateLimiter = field(init=False)

    def __post_init__(self) -> None:
        self._rate = rate_limiter_of(self.backend.name, self.backend.limits)

    def stop(self) -> None:
        """Send no further request; called on the loop."""
        self._stopped = True
        for task in self._pausing:
            task.cancel()

    def wait(self) -> None:
        """Wait a moment for a reply, or for the end of the work."""
        with contextlib.suppress(queue.Empty):
            self._news.get(timeout=_WAIT)

    def free(self) -> None:
        """Let the workers go on whose replies are kept; called on the loop."""
        for arrival in [each for each in self._waiting if each.kept]:
            self._waiting.remove(arrival)
            # A worker that was cancelled waits no longer.
            if not arrival.free.done():
                arrival.free.set_result(None)

    async def answer_all(self, workers: int) -> None:
        """Run on the loop until every row is answered or the work has failed."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._answer_rows())
        finally:
            self.ended = True
            self._news.put(None)

    async def _answer_rows(self) -> None:
        """Answer rows, one after the other, until none is left."""
        for row, request in self.rows:
            if self.failure or self._stopped:
                return
            tokens = len(request.prompt) // _LETTERS_PER_TOKEN + 1
            tries = _Tries(self.retries, tokens + (self.max_tokens or _GUESSED_ANSWER))
            reply: Reply | None = None
            try:
                while reply is None:
                    await self._pause(self._rate.turn(tries.guess))
                    if refused := self.reserve(request):
                        reply = tries.ended_by("over_budget", refused)
                        break
                    tries.begin()
                    try:
                        async with asyncio.timeout(tries.left):
                            got = await self.backend.send(
                                request, temperature=self.temperature, max_tokens=self.max_tokens
                            )
                    except TimeoutError:
                        reply = tries.timed_out()
                    else:
                        reply = await self._read(got, tries)
            except asyncio.CancelledError:
                raise
            # A KeyboardInterrupt raised by a user's function must not end the shared loop.
            except BaseException as error:  # noqa: BLE001
                self.failure = self.failure or error
                return
            self._stopped = self.ends(reply) or self._stopped
            arrival = _Arrival(row, reply, asyncio.get_running_loop().create_future())
            self._waiting.append(arrival)
            self.unkept.append(arrival)
            self._news.put(None)
            await arrival.free

    async def _read(self, got: Attempt, tries: _Tries) -> Reply | None:
        """Return the reply to a request; None after the pause before another attempt."""
        if got.fatal:
            raise ModelError(got.fatal)
        reply, pause = tries.read(got)
        self._rate.correct(tries.guess, reply.prompt_tokens + reply.answer_tokens)
        if not got.retry or tries.exhausted or self._stopped or self.failure is not None:
            return reply
        await self._pause(asyncio.sleep(pause))
        return None

    async def _pause(self, wait: Coroutine[Any, Any, object]) -> None:
        """Wait where nothing is in flight, so that an interrupt need not wait too."""
        task = asyncio.current_task()
        assert task is not None
        self._pausing.add(task)
        try:
            await wait
        finally:
            self._pausing.discard(task)


@dataclass(slots=True)
class _Tries:
    """The attempts to answer one request."""

    policy: RetryPolicy
    # Tokens of prompt and answer together, until the server has counted them.
    guess: int
    # Seconds left for attempts and pauses.
    left: float = field(init=False)
    count: int = 0
    unread: int = 0
    began: float = 0.0

    def __post_init__(self) -> None:
        self.left = self.policy.timeout

    @property
    def exhausted(self) -> bool:
        return self.count == self.policy.attempts or self.left <= 0.0

    def begin(self) -> None:
        self.count += 1
        self.began = time.monotonic()

    def ended_by(self, reason: str, words: str) -> Reply:
        return Reply(Missing(reason, words), attempts=self.count, unread=self.unread)

    def timed_out(self) -> Reply:
        self.unread += 1
        return self.ended_by("timeout", f"no answer within {self.policy.timeout:g} s")

    def read(self, got: Attempt) -> tuple[Reply, float]:
        """Return the reply if this attempt is the last, and the pause if it is not."""
        answer = got.reply.answer
        lost = isinstance(answer, Missing) and answer.reason in _UNREAD
        self.unread += got.retry and lost
        reply = replace(got.reply, attempts=self.count, unread=self.unread)
        # Full jitter, so that requests which failed together do not come back together.
        pause = random.uniform(0.0, self.policy.pause * 2 ** (self.count - 1))
        pause += got.retry_after or 0.0
        self.left -= time.monotonic() - self.began + pause
        return reply, pause


@dataclass(slots=True)
class RateLimiter:
    """Spaces requests evenly, so that no minute ever holds more than its limit."""

    requests_per_minute: float | None
    tokens_per_minute: float | None
    # When the next request may go by either limit, in seconds of the monotonic clock.
    next_request: float = 0.0
    next_tokens: float = 0.0

    async def turn(self, tokens: int) -> None:
        """Wait until a request of about so many tokens may go."""
        now = time.monotonic()
        due = max(now, self.next_request, self.next_tokens)
        if self.requests_per_minute:
            self.next_request = due + 60.0 / self.requests_per_minute
        if self.tokens_per_minute:
            self.next_tokens = due + 60.0 * tokens / self.tokens_per_minute
        if due > now:
            await asyncio.sleep(due - now)

    def correct(self, guessed: int, counted: int) -> None:
        """Replace a guess by the server's count; 0 where it did not count."""
        if self.tokens_per_minute and counted:
            self.next_tokens += 60.0 * (counted - guessed) / self.tokens_per_minute


def rate_limiter_of(name: str, limits: Limits) -> RateLimiter:
    """Return the rate limiter of a model, which all calls of the process share."""
    with _first:
        return _rate_limiter(name, limits)


@functools.cache
def _rate_limiter(name: str, limits: Limits) -> RateLimiter:
    requests, tokens = limits.requests_per_minute, limits.tokens_per_minute
    return RateLimiter(requests and requests / _workers(), tokens and tokens / _workers())


def _workers() -> int:
    # Set by pytest-xdist in each of its workers.
    return int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
