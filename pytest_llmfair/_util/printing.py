"""Print texts of others so that they control no terminal or log, and progress on a terminal."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from pytest_llmfair.session import current_session

# Escape sequences, carriage returns, and characters that reverse the order of a line. The word
# joiner is allowed: our Markdown uses it to keep mentions and addresses apart.
_UNSEEN = re.compile(r"[^\n\t -~\u2060]")
# GitHub takes a line that begins with "::" as a command, and "##[" anywhere in a line; other
# services have words between these signs.
_COMMAND = re.compile(r"(?m)^[^\S\n]*:(?=:)|#(?=#\w*\[)")


def printable(text: str) -> str:
    """Return a text with control characters and signs of CI commands escaped as in JSON."""
    shown = _UNSEEN.sub(lambda found: _visible(found[0]), text)
    return _COMMAND.sub(lambda found: found[0][:-1] + _escaped(found[0][-1]), shown)


def say(text: str) -> None:
    """Write a text to standard output."""
    sys.stdout.write(printable(text))


def say_line(reporter: Any, text: str, **markup: bool) -> None:
    """Write lines to the terminal of a pytest session."""
    reporter.write_line(printable(text), **markup)


def _visible(character: str) -> str:
    kept = character.isprintable() or character == "\xa0"
    return character if kept else _escaped(character)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


T = TypeVar("T")
Write = Callable[[str], None]

# Seconds before the line appears, and between updates.
_PATIENCE = 1.0
_PAUSE = 0.2

_ERASE = "\r\x1b[2K"


class Line:
    """A line that is overwritten by each update and erased at the end; silent without `write`."""

    def __init__(
        self, write: Write | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.write = write
        self.clock = clock
        self._began = clock()
        self._shown: float | None = None

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
        return f"{minutes((self.clock() - self._began) / done * (total - done))} left"

    def rate(self, done: int) -> str:
        """Return the speed, such as ``2.5/s``."""
        return f"{done / max(self.clock() - self._began, 1e-9):.3g}/s"

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *args: object) -> None:
        """Erase the line."""
        if self.write is not None and self._shown is not None:
            self.write(_ERASE)
            self._shown = None


def minutes(seconds: float) -> str:
    """Return a time such as ``0:40``, or ``2:05:00`` from an hour on."""
    hours, rest = divmod(round(seconds), 3600)
    shown = f"{rest // 60:02d}:{rest % 60:02d}"
    return f"{hours}:{shown}" if hours else shown.removeprefix("0")


# What is under way, the outer work first: its name, parts done and in all, and when it began.
_steps: list[list[Any]] = []


def step_by_step(what: str, items: Sequence[T]) -> Iterator[T]:
    """Yield items that each take long; lines of progress meanwhile say which it is."""
    step: list[Any] = [what, 0, len(items), time.monotonic()]
    _steps.append(step)
    try:
        for item in items:
            yield item
            step[1] += 1
    finally:
        _steps.remove(step)


def under_way() -> list[str]:
    """Return the running task of a suite and test of the session, with the time left."""
    session = current_session()
    steps = [*_steps[::-1], *([session.tests] if session else [])]
    found = []
    for what, done, total, began in steps:
        if total > 1:
            each = (time.monotonic() - began) / done if done else 0.0
            left = f" (about {minutes(each * (total - done))})" if done else ""
            found.append(f"{what} {done + 1}/{total}{left}")
    return found


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
