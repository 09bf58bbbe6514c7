"""Actors of Ray as the workers of an audit, for GPUs and machines beyond this one."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from pytest_llmfair._util.validation import install
from pytest_llmfair.audit.work import Worker
from pytest_llmfair.clients.budget import Caps

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
