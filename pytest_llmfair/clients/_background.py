"""The one event loop of the process, on a thread of its own.

Async HTTP clients are bound to the loop of their first call, and a test may already run inside
another loop.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

# Seconds that connections may take to close when the process ends.
_GRACE = 1.0

_closers: list[Callable[[], Awaitable[object]]] = []


_first = threading.Lock()


def background_loop() -> asyncio.AbstractEventLoop:
    """Return the loop; it starts at the first call and ends with the process."""
    # Two threads that ask first at the same time would each start one.
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
