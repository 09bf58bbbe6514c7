"""Tracebacks of wrong usage end at the user's line, unless ``--full-trace`` is given."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

Place = tuple[str, int, int, str]

# What our checks of arguments, files and settings raise. Anything else that is raised in our code
# (KeyError, AttributeError, AssertionError, ...) is a bug of ours, whose report needs our frames.
_USAGE = (ValueError, TypeError, OSError, ImportError, Warning)
_OURS = str(Path(__file__).parent) + os.sep


def shorten(error: BaseException | None, place: Place | None) -> None:
    """Remove our frames from the tracebacks of an error and of what caused it.

    Where no line of the user is left, the traceback is `place` alone, and a cause is dropped.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        entries = list(_entries(error))
        cause = _cause(error)
        if _is_on_purpose(error, entries):
            error.__traceback__ = _joined(_without_ours(entries)) or (
                pointing_to(*place) if place else error.__traceback__
            )
            if cause is not None and not _without_ours(list(_entries(cause))):
                error.__cause__, error.__suppress_context__, cause = None, True, None
        error = cause


def _cause(error: BaseException) -> BaseException | None:
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def last_place(error: BaseException) -> Place | None:
    """Return the last line of a traceback, in a form that keeps no frame alive."""
    for entry in reversed(list(_entries(error))):
        if _kind(entry) == "user":
            code = entry.tb_frame.f_code
            return code.co_filename, code.co_firstlineno, entry.tb_lineno, code.co_name
    return None


def pointing_to(path: str, first: int, line: int, name: str) -> TracebackType:
    """Return a traceback of one line, which nothing needs to have run."""
    found: dict[str, Any] = {"sys": sys}
    code = compile("frame = sys._getframe()", path, "exec")
    exec(code.replace(co_firstlineno=first, co_name=name, co_qualname=name), found)
    frame = found["frame"]
    return TracebackType(None, frame, frame.f_lasti, line)


def _entries(error: BaseException) -> Iterator[TracebackType]:
    entry = error.__traceback__
    while entry is not None:
        yield entry
        entry = entry.tb_next


def _joined(entries: list[TracebackType]) -> TracebackType | None:
    after: TracebackType | None = None
    for entry in reversed(entries):
        after = TracebackType(after, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return after


def _kind(entry: TracebackType) -> str:
    path = entry.tb_frame.f_code.co_filename
    if path.startswith(_OURS):
        return "ours"
    if entry.tb_frame.f_globals.get("__name__", "").partition(".")[0] in ("_pytest", "pluggy"):
        return "pytest"
    return "library" if path.startswith(_libraries()) else "user"


@functools.cache
def _libraries() -> tuple[str, ...]:
    return tuple(sysconfig.get_path(name) + os.sep for name in ("stdlib", "purelib", "platlib"))


def _is_on_purpose(error: BaseException, entries: list[TracebackType]) -> bool:
    """Tell whether an error of ours is advice to the user, or the user's own code failed."""
    kinds = [_kind(entry) for entry in entries]
    if "ours" not in kinds:
        return False
    if kinds[-1] != "ours":
        return [kind for kind in kinds if kind in ("ours", "user")][-1] == "user"
    named_by_us = type(error).__module__.startswith("pytest_llmfair")
    # Subclasses of RuntimeError, such as RecursionError, are no advice to users.
    return named_by_us or isinstance(error, _USAGE) or type(error) is RuntimeError


def _without_ours(entries: list[TracebackType]) -> list[TracebackType]:
    """Leave out our frames and what they called, up to the next line of the user."""
    kept: list[TracebackType] = []
    hidden = False
    for entry in entries:
        kind = _kind(entry)
        hidden = kind == "ours" or (hidden and kind != "user")
        if not hidden:
            kept.append(entry)
    while kept and _kind(kept[-1]) == "pytest":
        kept.pop()
    return kept
