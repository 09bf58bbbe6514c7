"""Asking a server: many requests at once, paced, tried again, and none of them lost."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import random
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_llmfair.clients._backend import Attempt, ModelError, RemoteBackend, Reply, Request
from pytest_llmfair.clients._background import background_loop, start
from pytest_llmfair.clients._pacing import concurrency_of, guessed_tokens, pace_of
from pytest_llmfair.responses import Missing

# Seconds after which waiting can be interrupted where a signal does not end it, and those that
# cancelled requests have to end.
_WAIT = 0.2
_GRACE = 5.0

# What comes of an answer that was lost on the way.
_UNREAD = ("error", "malformed", "timeout")

Keep = Callable[[int, Reply], None]


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to try."""

    # Seconds for a request, all of its attempts and the pauses between them together.
    timeout: float = 60.0
    # HTTP requests at most.
    attempts: int = 3
    # Longest first pause in seconds, doubled with every attempt.
    pause: float = 0.5


PATIENCE = Patience()


def dispatch(
    backend: RemoteBackend,
    requests: Sequence[Request],
    keep: Keep,
    *,
    temperature: float,
    max_tokens: int | None,
    reserve: Callable[[Request], str] = lambda request: "",
    patience: Patience = PATIENCE,
    ends: Callable[[Reply], bool] = lambda reply: False,
) -> None:
    """Answer every request, handing each reply to `keep` as it comes, in the caller's thread.

    Every reply that came is kept, also when the call is interrupted or ends with an error (an
    interrupt inside of `keep` calls it again for the same reply). A request is followed by the
    next one when its reply is kept: never more than `concurrency` replies are unkept. Called on
    the loop are `reserve`, before every HTTP request, which returns why it may not be sent (the
    reply is then missing, "over_budget") or an empty text; and `ends`, with every reply, which
    returns whether no further request may be sent: those in flight are still answered, the rest
    is not kept. Raises :class:`ModelError` if no request of this run can be answered.
    """
    backend.open()
    if not requests:
        return
    rows = iter(enumerate(requests))
    work = _Work(backend, temperature, max_tokens, reserve, patience, rows, ends)
    unkept: deque[_Arrival] = deque()
    running = start(work.answer_all(min(concurrency_of(backend.limits), len(requests))))
    try:
        while not work.ended:
            work.collect(unkept)
            freed = []
            while unkept:
                keep(unkept[0].row, unkept[0].reply)
                freed.append(unkept.popleft().kept)
            background_loop().call_soon_threadsafe(_free, freed)
    except BaseException:
        running.cancel()
        deadline = time.monotonic() + _GRACE
        while not work.ended and time.monotonic() < deadline:
            work.collect(unkept)
        for arrival in unkept:
            keep(arrival.row, arrival.reply)
        raise
    running.result()
    if isinstance(work.failure, ModelError):
        # Raised afresh: the frames of the loop say nothing to the user.
        raise ModelError(str(work.failure))
    if work.failure:
        raise work.failure


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A reply that is not kept yet."""

    row: int
    reply: Reply
    kept: asyncio.Future[None]


class _Work:
    """The requests of one call."""

    def __init__(
        self,
        backend: RemoteBackend,
        temperature: float,
        max_tokens: int | None,
        reserve: Callable[[Request], str],
        patience: Patience,
        rows: Iterator[tuple[int, Request]],
        ends: Callable[[Reply], bool],
    ) -> None:
        self.ended = self._stopped = False
        self._ends = ends
        self.failure: BaseException | None = None
        self._backend = backend
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._reserve = reserve
        self._patience = patience
        self._rows = rows
        self._pace = pace_of(backend.name, backend.limits)
        self._arrived: queue.SimpleQueue[_Arrival | None] = queue.SimpleQueue()

    def collect(self, into: deque[_Arrival]) -> None:
        """Take what arrived, waiting a moment for the first."""
        with contextlib.suppress(queue.Empty):
            arrival = self._arrived.get(timeout=_WAIT)
            while arrival is not None:
                into.append(arrival)
                arrival = self._arrived.get_nowait()
            self.ended = True

    async def answer_all(self, at_once: int) -> None:
        """Run on the loop until every row is answered or the work has failed."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(at_once):
                    group.create_task(self._answer_some())
        finally:
            self._arrived.put(None)

    async def _answer_some(self) -> None:
        for row, request in self._rows:
            if self.failure or self._stopped:
                return
            try:
                reply = await self._answer(request)
            except asyncio.CancelledError:
                raise
            # An interrupt that a user's function raises must not end the loop of the process.
            except BaseException as error:  # noqa: BLE001
                self.failure = self.failure or error
                return
            self._stopped = self._ends(reply)
            arrival = _Arrival(row, reply, asyncio.get_running_loop().create_future())
            self._arrived.put(arrival)
            await arrival.kept

    async def _answer(self, request: Request) -> Reply:
        patience = self._patience
        guess = guessed_tokens(request.prompt, self._max_tokens)
        left = patience.timeout
        unread = 0
        for attempt in range(1, patience.attempts + 1):
            await self._pace.turn(guess)
            if refused := self._reserve(request):
                why = Missing("over_budget", refused)
                return Reply(why, attempts=attempt - 1, unread=unread)
            began = time.monotonic()
            try:
                async with asyncio.timeout(left):
                    got = await self._backend.send(
                        request, temperature=self._temperature, max_tokens=self._max_tokens
                    )
            except TimeoutError:
                words = f"no answer within {patience.timeout:g} s"
                return Reply(Missing("timeout", words), attempts=attempt, unread=unread + 1)
            if got.fatal:
                raise ModelError(got.fatal)
            unread += _may_be_charged(got)
            reply = replace(got.reply, attempts=attempt, unread=unread)
            self._pace.correct(guess, reply.prompt_tokens + reply.answer_tokens)
            # Full jitter, so that requests which failed together do not come back together.
            pause = random.uniform(0.0, patience.pause * 2 ** (attempt - 1))
            pause += got.retry_after or 0.0
            left -= time.monotonic() - began + pause
            last = attempt == patience.attempts or left <= 0.0 or self.failure is not None
            if last or not got.retry:
                return reply
            await asyncio.sleep(pause)
        raise AssertionError("at least one attempt is made")


def _may_be_charged(got: Attempt) -> bool:
    """Tell whether a server may have answered although nothing could be read."""
    answer = got.reply.answer
    return got.retry and isinstance(answer, Missing) and answer.reason in _UNREAD


def _free(kept: Sequence[asyncio.Future[None]]) -> None:
    for future in kept:
        if not future.done():
            future.set_result(None)
