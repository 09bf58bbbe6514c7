"""Tracebacks of failing tests: the verdict comes first, and frames of the package are hidden."""

from __future__ import annotations

import sys
from traceback import walk_tb
from typing import Any

import pytest

from pytest_llmfair._util.printing import printable

# Errors that our checks of arguments, files and settings raise.
_ADVICE = (ValueError, TypeError, OSError, ImportError, RuntimeError, Warning)


def hide_our_frames(error: BaseException) -> None:
    """Hide the package's frames in usage errors, not in bugs; --full-trace shows them."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    modules = [frame.f_globals.get("__name__", "") for frame in frames]
    advice = is_ours(type(error).__module__) or isinstance(error, _ADVICE)
    raised_here = bool(modules) and is_ours(modules[-1])
    # Pytest must show at least one frame, and errors in fixtures and retries may have only ours.
    alone = all(map(is_ours, (m for m in modules if not m.startswith(("_pytest.", "pluggy.")))))
    for name, module in list(sys.modules.items()):
        if is_ours(name):
            shown = alone and name.endswith((".fixtures", ".session"))
            vars(module)["__tracebackhide__"] = (advice or not raised_here) and not shown


def is_ours(module: str) -> bool:
    """Return whether a module belongs to the package."""
    return f"{module}.".startswith("pytest_llmfair.")


def raised_by_us(found: pytest.ExceptionInfo[BaseException]) -> bool:
    """Return whether a frame of the package raised an error, and no code of the user did."""
    return is_ours(found.traceback[-1].frame.f_globals.get("__name__", ""))


def tidy(report: pytest.TestReport, found: pytest.ExceptionInfo[BaseException]) -> None:
    """Begin the summary with the verdict, and escape what a message of the package quotes."""
    if hasattr(found.value, "result"):
        _verdict_first(report, found.type)
    if raised_by_us(found):
        _make_printable(report)


def _verdict_first(report: pytest.TestReport, kind: type[BaseException]) -> None:
    prefix = f"{kind.__module__}.{kind.__qualname__}: "
    crash = getattr(report.longrepr, "reprcrash", None)
    if not prefix.startswith("pytest_llmfair.") or crash is None:
        return
    # Keep one line: with CI set, the summary would repeat the whole message.
    crash.message = crash.message.removeprefix(prefix).partition("\n")[0]
    for entry in report.longrepr.reprtraceback.reprentries:  # type: ignore[union-attr]
        entry.lines = [line.replace(prefix, "", 1) for line in entry.lines]


def _make_printable(report: pytest.TestReport) -> None:
    # Labels, names and answers in a message may come from others.
    shown: Any = report.longrepr
    # With --tb=native there is one traceback, and no chain of causes.
    alone = [(shown.reprtraceback, shown.reprcrash, None)] if hasattr(shown, "reprcrash") else []
    for trace, crash, _ in getattr(shown, "chain", alone):
        if crash is not None:
            crash.message = printable(crash.message)
        for entry in trace.reprentries:
            entry.lines = [printable(line) for line in entry.lines]
