"""One line on a terminal while a model is asked; nothing anywhere else."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pytest_llmfair.clients._backend import Reply
from pytest_llmfair.responses import Missing

Write = Callable[[str], None]

# Seconds before the line appears, and between two looks of it.
_PATIENCE = 1.0
_PAUSE = 0.2

_ERASE = "\r\x1b[2K"


@dataclass(slots=True)
class Progress:
    """Counts replies and shows how long the rest will take.

    Attributes
    ----------
    name : str
        The model.
    total : int
        Answers that are asked for.
    recorded : int
        How many of them were recorded before.
    write : callable or None
        Writes to the terminal; None shows nothing.
    cost : callable
        Dollars that a reply cost; 0 where the price is not known.
    clock : callable
        Seconds that pass.
    """

    name: str
    total: int
    recorded: int
    write: Write | None = None
    cost: Callable[[Reply], float] = lambda reply: 0.0
    clock: Callable[[], float] = time.monotonic
    _calls: int = 0
    _done: int = 0
    _failed: int = 0
    _spent: float = 0.0
    _began: float = field(init=False)
    _shown: float | None = None

    def __post_init__(self) -> None:
        self._began = self.clock()

    def add(self, replies: Iterable[Reply]) -> None:
        """Count replies that came, and show the line if it is time."""
        if self.write is None:
            return
        for reply in replies:
            self._done += 1
            self._calls += reply.attempts
            self._failed += isinstance(reply.answer, Missing)
            self._spent += self.cost(reply)
        now = self.clock()
        due = self._began + _PATIENCE if self._shown is None else self._shown + _PAUSE
        if now >= due:
            self._shown = now
            width = shutil.get_terminal_size().columns - 1
            self.write(_ERASE + self.line()[:width])

    def line(self) -> str:
        """Return what is known: calls, recorded and failed answers, cost, and the time left."""
        parts = [f"{self.recorded + self._done} of {self.total} answers", f"{self._calls} calls"]
        if self.recorded:
            parts.append(f"{self.recorded} recorded")
        if self._failed:
            parts.append(f"{self._failed} failed")
        if self._spent:
            parts.append(f"${self._spent:.4f}")
        if self._done:
            left = self.total - self.recorded - self._done
            seconds = round((self.clock() - self._began) / self._done * left)
            parts.append(f"{seconds // 60}:{seconds % 60:02d} left")
        return f"{self.name}: " + ", ".join(parts)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *args: object) -> None:
        """Take the line away."""
        if self.write is not None and self._shown is not None:
            self.write(_ERASE)
            self._shown = None


def standard_error() -> Write | None:
    """Return what writes to the terminal of a script; None in CI, or when there is no terminal."""
    if os.environ.get("CI") or not sys.stderr.isatty():
        return None

    def write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    return write
