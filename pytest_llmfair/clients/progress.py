"""Progress line shown during model calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pytest_llmfair._util.progress import Line, Write
from pytest_llmfair.clients.protocol import Reply
from pytest_llmfair.responses import Missing


@dataclass(slots=True)
class Progress:
    """Counts replies and shows how long the rest will take."""

    name: str
    # Answers asked for, and how many of them were recorded before.
    total: int
    recorded: int
    # Writes to the terminal; None shows nothing.
    write: Write | None = None
    # Cost of a reply in dollars; 0 if the price is unknown.
    cost: Callable[[Reply], float] = lambda reply: 0.0
    clock: Callable[[], float] = time.monotonic
    _calls: int = 0
    _done: int = 0
    _failed: int = 0
    _spent: float = 0.0
    _line: Line = field(init=False)

    def __post_init__(self) -> None:
        self._line = Line(self.write, self.clock)

    def add(self, replies: Iterable[Reply]) -> None:
        """Count replies, and show the line if it is time."""
        if self.write is None:
            return
        for reply in replies:
            self._done += 1
            self._calls += reply.attempts
            self._failed += isinstance(reply.answer, Missing)
            self._spent += self.cost(reply)
        self._line.show(self.line)

    def line(self) -> str:
        """Return calls, recorded and failed answers, cost, and the time left."""
        parts = [f"{self.recorded + self._done} of {self.total} answers", f"{self._calls} calls"]
        if self.recorded:
            parts.append(f"{self.recorded} recorded")
        if self._failed:
            parts.append(f"{self._failed} failed")
        if self._spent:
            parts.append(f"${self._spent:.4f}")
        if self._done:
            parts.append(self._line.left(self._done, self.total - self.recorded))
        return f"{self.name}: " + ", ".join(parts)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *args: object) -> None:
        """Remove the line."""
        self._line.__exit__()
