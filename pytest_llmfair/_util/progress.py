"""Progress line on a terminal; silent in CI and where output is no terminal."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pytest_llmfair._util.printing import printable
from pytest_llmfair.session import current_session

T = TypeVar("T")
Write = Callable[[str], None]

# Seconds before the line appears, and between updates.
_PATIENCE = 1.0
_PAUSE = 0.2

_ERASE = "\r\x1b[2K"


@dataclass(slots=True)
class Line:
    """A line that is overwritten by each update and erased at the end; silent without `write`."""

    write: Write | None = None
    clock: Callable[[], float] = time.monotonic
    _began: float = field(init=False)
    _shown: float | None = None

    def __post_init__(self) -> None:
        self._began = self.clock()

    def show(self, text: Callable[[], str]) -> None:
        """Write the text if an update is due."""
        if self.write is None:
            return
        now = self.clock()
        due = self._began + _PATIENCE if self._shown is None else self._shown + _PAUSE
        if now >= due:
            self._shown = now
            width = shutil.get_terminal_size().columns - 1
            self.write(_ERASE + printable(text())[:width])

    def left(self, done: int, total: int) -> str:
        """Return the estimated time left, such as ``0:40 left``."""
        seconds = round((self.clock() - self._began) / done * (total - done))
        return f"{seconds // 60}:{seconds % 60:02d} left"

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *args: object) -> None:
        """Erase the line."""
        if self.write is not None and self._shown is not None:
            self.write(_ERASE)
            self._shown = None


def counted(batches: Iterable[Sequence[T]], total: int, what: str) -> Iterator[Sequence[T]]:
    """Yield batches and show the progress between them; `what` names the work, such as scored."""
    done = 0
    with Line(terminal()) as line:

        def shown() -> str:
            return f"{what}: {done} of {total} texts, {line.left(done, total)}"

        for batch in batches:
            yield batch
            done += len(batch)
            line.show(shown)


def terminal() -> Write | None:
    """Return a function that writes to the terminal; None if there is no terminal."""
    session = current_session()
    return standard_error() if session is None else session.screen()


def standard_error() -> Write | None:
    """Return a function that writes to the terminal of a script; None in CI or without one."""
    if os.environ.get("CI") or not sys.stderr.isatty():
        return None

    def write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    return write
