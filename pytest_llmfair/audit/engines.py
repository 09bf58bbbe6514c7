"""Engines: where the shards of a phase are made, with three tries for each.

An engine is a pool of workers with the same three members. `local` makes shards in this process,
or in processes that it starts, without any port; `ray` in actors of Ray.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from pytest_llmfair._util.validation import install
from pytest_llmfair.audit.store import Store
from pytest_llmfair.audit.work import CannotLoad, Worker, WrongModel
from pytest_llmfair.clients.budget import Caps, UnknownPrice

TRIES = 3


class Pool(Protocol):
    """Workers of an engine; as many shards as it has `workers` are made at the same time."""

    workers: int

    def submit(self, phase: str, shard: int) -> Future[int]:
        """Make a part, and return the number of its rows."""

    def close(self) -> None:
        """End the workers."""


def make_parts(
    pool: Pool,
    store: Store,
    phase: str,
    shards: Sequence[int],
    done: Callable[[int, int], object],
    again: Collection[int] = (),
) -> dict[int, str]:
    """Make parts that are missing or in `again`, call `done` for each, and return failures."""
    known = set(store.done(phase)).difference(again)
    waiting = deque(shard for shard in shards if shard not in known)
    # Shards that were in work when a process died: alone, each shows whether it was the one.
    suspects: deque[int] = deque()
    tries: Counter[int] = Counter()
    failed: dict[int, str] = {}
    not_loaded = 0
    # The shard of each result to come, and whether it is made alone.
    running: dict[Future[int], tuple[int, bool]] = {}
    while waiting or suspects or running:
        queue, most = (suspects, 1) if suspects else (waiting, pool.workers)
        while queue and len(running) < most:
            shard = queue.popleft()
            running[pool.submit(phase, shard)] = shard, most == 1
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            shard, alone = running.pop(future)
            error = future.exception()
            if error is None:
                done(shard, future.result())
                continue
            if isinstance(error, BrokenProcessPool) and not alone:
                suspects.append(shard)
                continue
            if isinstance(error, CannotLoad):
                not_loaded += 1
                if not_loaded == TRIES:
                    raise error
            else:
                tries[shard] += 1
            if _is_final(error):
                raise error
            if tries[shard] < TRIES:
                waiting.append(shard)
            else:
                failed[shard] = f"{type(error).__name__}: {error}"
    return failed


def _is_final(error: BaseException) -> bool:
    """Whether no other try, and no other shard, would fare better."""
    if isinstance(error, (ConnectionError, TimeoutError)):
        # A lost connection to a model is an OSError too, and worth another try.
        return False
    return isinstance(error, (WrongModel, UnknownPrice, OSError))


class InProcess:
    """Makes shards one after the other in this process."""

    workers = 1

    def __init__(self, folder: Path, caps: Caps) -> None:
        self._worker = Worker(folder, caps)

    def submit(self, phase: str, shard: int) -> Future[int]:
        """Make a part now."""
        future: Future[int] = Future()
        try:
            future.set_result(self._worker.run(phase, shard))
        except Exception as error:  # noqa: BLE001  # as a worker's, it is counted as a try
            future.set_exception(error)
        return future

    def close(self) -> None:
        """Close the cassette and the budget."""
        self._worker.close()


class Processes:
    """Makes shards in processes of this machine; one that dies is replaced."""

    def __init__(self, folder: Path, caps: Caps, workers: int) -> None:
        self.workers = workers
        self._arguments = (folder, caps)
        self._pool = self._started()

    def _started(self) -> ProcessPoolExecutor:
        # Not forked: threads of libraries and models do not survive a fork.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.workers, context, _begin, self._arguments)

    def submit(self, phase: str, shard: int) -> Future[int]:
        """Make a part in a process; a pool with a dead process is replaced first."""
        # A process starts when it is first needed.
        with _interrupts_wait():
            try:
                return self._pool.submit(_run, phase, shard)
            except BrokenProcessPool:
                self._pool.shutdown(wait=False, cancel_futures=True)
                self._pool = self._started()
                return self._pool.submit(_run, phase, shard)

    def close(self) -> None:
        """End the processes after the shards that they are making."""
        self._pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Hold Ctrl-C back, and in processes that start here until they can handle it."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# The worker of this process, and whether it is making a part.
_worker: Worker | None = None
_busy = False


def _begin(folder: Path, caps: Caps) -> None:
    global _worker
    _worker = Worker(folder, caps)
    signal.signal(signal.SIGINT, _interrupted)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.join,), daemon=True).start()


def _end_with(parent_ends: Callable[[], None]) -> None:
    """End this process when the command was killed, which cannot tell its workers any more."""
    parent_ends()
    os._exit(1)


def _interrupted(*_: object) -> None:
    """Stop the part that is made now, so that answers in flight are kept."""
    # Ctrl-C reaches all processes of a terminal, and one that died would take the others with it.
    if _busy:
        raise KeyboardInterrupt


def _run(phase: str, shard: int) -> int:
    global _busy
    assert _worker is not None
    _busy = True
    try:
        return _worker.run(phase, shard)
    finally:
        _busy = False


# Seconds to wait while no worker has a place in the cluster; nodes may have to start first.
PATIENCE = 600.0


class RayActors:
    """Makes shards in actors, each with its model and `gpus`; one that dies is replaced."""

    def __init__(self, folder: Path, caps: Caps, workers: int, address: str, gpus: float) -> None:
        self.workers = workers
        self._ray = _ray()
        # A cluster that the user's own program has joined stays as it is.
        self._started = not self._ray.is_initialized()
        if self._started:
            self._start(address)
        actor = self._ray.remote(num_cpus=1, num_gpus=gpus)(Worker)
        self._actor = partial(actor.remote, folder.resolve(), caps)
        self._actors: list[Any] = []
        self._idle: SimpleQueue[Any] = SimpleQueue()
        # Replies to come from actors with a place, and when waiting for one ends.
        self._running: set[Future[int]] = set()
        self._ends: float | None = None
        for _ in range(workers):
            self._add()

    def _start(self, address: str) -> None:
        own: dict[str, Any] = {}
        if address == "local":
            if os.environ.get("RAY_AUTH_MODE") == "disabled":
                raise ValueError(
                    "RAY_AUTH_MODE=disabled would let anyone who reaches this machine run code in "
                    "the cluster; unset it, or join a cluster of your own by --address"
                )
            own = {"include_dashboard": False, "num_cpus": self.workers}
        self._ray.init(address=address, log_to_driver=False, logging_level="ERROR", **own)

    def _add(self) -> None:
        """Start an actor, which gets shards once it has a place, or could not be made."""
        actor = self._actor()
        self._actors.append(actor)
        ready = actor.__ray_ready__.remote().future()
        ready.add_done_callback(lambda _: self._idle.put(actor))

    def submit(self, phase: str, shard: int) -> Future[int]:
        """Make a part in an idle actor, or fail where there has been no actor for a time."""
        actor = self._next()
        if actor is None:
            failed: Future[int] = Future()
            failed.set_exception(
                RuntimeError(
                    f"no worker found a place in the cluster within {PATIENCE:g} s; it needs a "
                    "living node with a free CPU, and with the GPUs of --gpus-per-worker"
                )
            )
            return failed
        future: Future[int] = actor.run.remote(phase, shard).future()
        self._running.add(future)

        def free(done: Future[int]) -> None:
            if isinstance(done.exception(), self._ray.exceptions.RayActorError):
                self._add()
            else:
                self._idle.put(actor)
            self._running.discard(done)

        future.add_done_callback(free)
        return future

    def _next(self) -> Any:
        """Wait for an idle actor; None where none is at work either and patience has ended."""
        while True:
            try:
                # Waits a moment: a future is done just before its actor is idle.
                actor = self._idle.get(timeout=0.2)
            except Empty:
                if self._running:
                    continue
                now = time.monotonic()
                self._ends = self._ends or now + PATIENCE
                if now >= self._ends:
                    return None
            else:
                self._ends = None
                return actor

    def close(self) -> None:
        """End the actors, and a cluster that was started for them."""
        for actor in self._actors:
            self._ray.kill(actor)
        if self._started:
            self._ray.shutdown()


def _ray() -> Any:
    """Import Ray without its usage statistics."""
    if "ray" not in sys.modules:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        import ray  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ImportError(f"--engine ray needs Ray; run: {install('scale')}") from None
    return ray
