"""Actors of Ray as the workers of an audit, for GPUs and machines beyond this one."""

from __future__ import annotations

import os
import sys
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from pytest_llmfair._util.validation import install
from pytest_llmfair.audit.work import Worker
from pytest_llmfair.clients.budget import Caps


class RayActors:
    """Makes shards in actors, each with its model and `gpus`; one that dies is replaced.

    Every node must see the folder under the same path. `address` is that of the user's cluster;
    "local" starts one on this machine, and raises ``ValueError`` where it would be open to
    anyone.
    """

    def __init__(self, folder: Path, caps: Caps, workers: int, address: str, gpus: float) -> None:
        self.workers = workers
        self._ray = _ray()
        # A cluster that the user's own program has joined stays as it is.
        self._started = not self._ray.is_initialized()
        if self._started:
            self._start(address)
        actor = self._ray.remote(num_cpus=1, num_gpus=gpus)(Worker)
        self._actor = partial(actor.remote, folder.resolve(), caps)
        self._idle: SimpleQueue[Any] = SimpleQueue()
        for _ in range(workers):
            self._idle.put(self._actor())

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

    def submit(self, phase: str, shard: int) -> Future[int]:
        """Make a part in an idle actor."""
        # Waits a moment: a future is done just before its actor is idle.
        actor = self._idle.get()
        future: Future[int] = actor.run.remote(phase, shard).future()

        def free(done: Future[int]) -> None:
            lost = isinstance(done.exception(), self._ray.exceptions.RayActorError)
            self._idle.put(self._actor() if lost else actor)

        future.add_done_callback(free)
        return future

    def close(self) -> None:
        """End the actors, and a cluster that was started for them."""
        while not self._idle.empty():
            self._ray.kill(self._idle.get())
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
