"""Where results go while a test runs. Standard library only: the plugin loads this at start-up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_llmfair.results import Result
    from pytest_llmfair.settings import Settings


@dataclass(slots=True)
class Recorder:
    """Results of one test, in the order in which they were judged."""

    nodeid: str
    settings: Settings
    results: list[Result] = field(default_factory=list)


# A stack, not a context variable: a test may judge from a thread, and pytester nests sessions.
_active: list[Recorder] = []


@contextmanager
def recording(recorder: Recorder) -> Iterator[Recorder]:
    """Make `recorder` the place where assertions put their results."""
    _active.append(recorder)
    try:
        yield recorder
    finally:
        _active.remove(recorder)


def active() -> Recorder | None:
    """Return the recorder of the running test, or None outside pytest (notebook, script)."""
    return _active[-1] if _active else None
