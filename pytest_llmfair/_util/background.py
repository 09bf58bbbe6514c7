"""One event loop of the process in the background, for async models and scorers."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

# Seconds that connections have to close at exit.
_GRACE = 1.0

# Awaitables of a list that run at the same time.
_AT_ONCE = 16

# Two threads may ask first at the same time; both must get the same loop.
_first = threading.Lock()
_closers: list[Callable[[], Awaitable[object]]] = []


def background_loop() -> asyncio.AbstractEventLoop:
    """Return the one event loop of the process, on a thread of its own."""
    # Async HTTP clients are bound to the loop of their first call, and a test may already run
    # inside another loop.
    with _first:
        return _loop()


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="llmfair-client", daemon=True)
    thread.start()
    atexit.register(_end, loop, thread)
    return loop


def start(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Start a coroutine on the loop."""
    return asyncio.run_coroutine_threadsafe(work, background_loop())


def in_background(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the loop and wait for it; an interrupt cancels it."""
    future = start(work)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def awaited(work: Awaitable[T]) -> T:
    """Wait for anything that can be awaited."""
    return await work


def resolved(given: Any) -> Any:
    """Wait for what a function gave, where it is an awaitable or a list of them."""
    if inspect.isawaitable(given):
        given = in_background(awaited(given))
    if isinstance(given, (list, tuple)) and any(map(inspect.isawaitable, given)):
        given = in_background(_all(given))
    return given


async def _all(given: Sequence[Any]) -> list[Any]:
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(each: Any) -> Any:
        async with room:
            return await each if inspect.isawaitable(each) else each

    return await asyncio.gather(*map(one, given))


def close_at_end(closer: Callable[[], Awaitable[object]]) -> None:
    """Call an async function, such as ``client.close``, on the loop before the process ends."""
    _closers.append(closer)


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    async def close_all() -> None:
        await asyncio.gather(*(closer() for closer in _closers), return_exceptions=True)

    with contextlib.suppress(Exception):
        asyncio.run_coroutine_threadsafe(close_all(), loop).result(_GRACE)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(_GRACE)
    if not loop.is_running():
        loop.close()
