"""Tracebacks of wrong usage end at the user's line, unless ``--full-trace`` is given."""

from __future__ import annotations

import functools
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
_OURS = str(Path(__file__).parent)


def shorten(error: BaseException | None, place: Place | None) -> None:
    """Remove our frames from a traceback that ends in our code on purpose, or in the user's.

    Parameters
    ----------
    error : BaseException or None
        The error; the errors that caused it are shortened too, or cut off where they are ours.
    place : tuple or None
        Line to point to where no line of the user is left: file, first line of the function, line
        and name of the function.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        entries = list(_entries(error.__traceback__))
        if _of_us_on_purpose(error, entries) or _of_the_user(entries):
            kept = _without_ours(entries)
            if not kept and place is None:
                return
            error.__traceback__ = _joined(kept) if kept else pointing_to(*(place or ()))
            cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
            if cause is not None and not _without_ours(list(_entries(cause.__traceback__))):
                error.__cause__, error.__suppress_context__ = None, True
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def last_place(error: BaseException) -> Place | None:
    """Return the last line of a traceback, in a form that keeps no frame alive."""
    for entry in reversed(list(_entries(error.__traceback__))):
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


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


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
    return tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))


def _of_us_on_purpose(error: BaseException, entries: list[TracebackType]) -> bool:
    if not entries or _kind(entries[-1]) != "ours":
        return False
    named_by_us = type(error).__module__.startswith("pytest_llmfair")
    # Subclasses of RuntimeError, such as RecursionError, are no advice to users.
    return named_by_us or isinstance(error, _USAGE) or type(error) is RuntimeError


def _of_the_user(entries: list[TracebackType]) -> bool:
    """Tell whether the user's code raised the error, itself or by what it called."""
    kinds = [kind for kind in map(_kind, entries) if kind not in ("library", "pytest")]
    return bool(kinds) and kinds[-1] == "user" and "ours" in kinds


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
