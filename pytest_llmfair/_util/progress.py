"""One line on a terminal while something takes long; nothing anywhere else."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pytest_llmfair.session import current_session

T = TypeVar("T")
Write = Callable[[str], None]

# Seconds before the line appears, and between two looks of it.
_PATIENCE = 1.0
_PAUSE = 0.2

_ERASE = "\r\x1b[2K"


@dataclass(slots=True)
class Line:
    """A line that is written over itself and taken away at the end; without `write`, nothing."""

    write: Write | None = None
    clock: Callable[[], float] = time.monotonic
    _began: float = field(init=False)
    _shown: float | None = None

    def __post_init__(self) -> None:
        self._began = self.clock()

    def show(self, text: Callable[[], str]) -> None:
        """Write what `text` returns, if it is time."""
        if self.write is None:
            return
        now = self.clock()
        due = self._began + _PATIENCE if self._shown is None else self._shown + _PAUSE
        if now >= due:
            self._shown = now
            width = shutil.get_terminal_size().columns - 1
            self.write(_ERASE + text()[:width])

    def left(self, done: int, total: int) -> str:
        """Return how long the rest will take if it goes on as so far, such as ``0:40 left``."""
        seconds = round((self.clock() - self._began) / done * (total - done))
        return f"{seconds // 60}:{seconds % 60:02d} left"

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *args: object) -> None:
        """Take the line away."""
        if self.write is not None and self._shown is not None:
            self.write(_ERASE)
            self._shown = None


def counted(batches: Iterable[Sequence[T]], total: int, what: str) -> Iterator[Sequence[T]]:
    """Yield batches and show between them how many of `total` texts are done, such as scored."""
    done = 0
    with Line(terminal()) as line:

        def said() -> str:
            return f"{what}: {done} of {total} texts, {line.left(done, total)}"

        for batch in batches:
            yield batch
            done += len(batch)
            line.show(said)


def terminal() -> Write | None:
    """Return what writes to the terminal of the session or the script; None without one."""
    session = current_session()
    return standard_error() if session is None else session.screen()


def standard_error() -> Write | None:
    """Return what writes to the terminal of a script; None in CI, or when there is no terminal."""
    if os.environ.get("CI") or not sys.stderr.isatty():
        return None

    def write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    return write
