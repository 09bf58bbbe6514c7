"""Where results go while a test runs. PYTEST_DONT_REWRITE.

Standard library only: the plugin loads this at start-up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pytest_llmfair.settings import Settings


class Judged(Protocol):
    """A result, as the record of a test sees it."""

    @property
    def red(self) -> bool:
        """Whether the test must fail."""

    @property
    def mode(self) -> str:
        """Gate, strict or point."""

    @property
    def verdict(self) -> str:
        """The verdict in capital letters."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""

    def message(self, *, show_text: str, detailed: bool = ...) -> str:
        """Return the message of a failure."""

    def error(self, message: str) -> AssertionError:
        """Return the error that a red result raises."""


class Collector(Protocol):
    """Checks that raise at the end of the running phase."""

    def finish(self) -> None:
        """Raise what the checks found."""


class Closes(Protocol):
    """What is closed with the session."""

    def close(self) -> None:
        """Close what was opened."""


@dataclass(slots=True)
class Recorder:
    """Results of one test, in the order in which they were judged, over all its attempts."""

    nodeid: str
    settings: Settings
    # Relative prompt files are looked up in the folder of the test's file first.
    folder: Path = field(default_factory=Path)
    results: list[Judged] = field(default_factory=list)
    # Those with checks that raise at the end of the running phase.
    collectors: list[Collector] = field(default_factory=list)
    # More than 1 when a plugin runs the test again; `earlier` results are of the runs before.
    attempt: int = 0
    earlier: int = 0
    # How many of the results are on a report already.
    reported: int = 0
    # What answers are asked for now: metric, bound and size of an assertion.
    asking: dict[str, Any] = field(default_factory=dict)
    # Whether the running attempt collected answers, and ended with nothing judged.
    collected: bool = False
    unchecked: bool = False
    # What would have been asked, where the session only plans.
    planned: list[dict[str, Any]] = field(default_factory=list)

    def begin_attempt(self) -> None:
        """Count another run of the test."""
        self.attempt += 1
        self.earlier = len(self.results)
        self.collected = self.unchecked = False

    def unreported(self) -> dict[str, Any]:
        """Return what is on no report yet, as plain data.

        Results without prompts and outputs, but for the message, which shows what is allowed.
        """
        new, self.reported = self.results[self.reported :], len(self.results)
        # A report of a subtest comes before the end, where a check may still follow.
        planned, self.planned = self.planned, []
        unchecked, self.unchecked = self.unchecked, False
        results = []
        for result in new:
            record = {**result.to_dict(), "nodeid": self.nodeid, "attempt": self.attempt}
            del record["examples"]
            if self.settings.html or self.settings.evidence:
                record["message"] = result.message(
                    show_text=self.settings.show_text, detailed=True
                )
            results.append(record)
        return {"results": results, "planned": planned, "unchecked": unchecked}

    def finish(self) -> None:
        """Let every collector raise what its checks found."""
        __tracebackhide__ = True
        collectors, self.collectors = self.collectors, []
        for collector in collectors:
            collector.finish()

    def refuse_another_attempt(self) -> None:
        """Raise what an earlier attempt judged, unless PASS: no test is run until it is green."""
        earlier = self.results[: self.earlier]
        # Undecided is not red by itself, but asking again until it is PASS is the same mistake.
        red = [r for r in earlier if r.red or (r.mode != "point" and r.verdict != "PASS")]
        if not red:
            return
        message = red[0].message(show_text=self.settings.show_text)
        raise red[0].error(
            f"{message}\n  Retry ignored: an earlier attempt already ended with this verdict. "
            "Rerunning until green proves nothing; collect more data instead.",
        )


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


@dataclass(slots=True)
class Session:
    """What the tests of a session share, in all its processes."""

    settings: Settings
    # Whether answers that the cassette lacks are recorded; decided before the first of them is.
    records: bool = True
    # Size of the cassette when the session began: what comes after it was recorded by this run.
    since: int = 0
    # For what the processes count together; empty until something is counted.
    folder: str = ""
    # Whether another process began the session and ends it.
    worker: bool = False
    # Made when a model is first asked.
    asker: Closes | None = None
    # Root folder of the tests; the user's files are shown relative to it.
    root: Path | None = None
    # Gives what writes to the terminal past the capture of output; None in CI or without one.
    screen: Callable[[], Callable[[str], None] | None] = lambda: None

    @classmethod
    def of(cls, settings: Settings) -> Session:
        """Return a session that begins now."""
        path = settings.cassette
        size = Path(path).stat().st_size if path is not None and Path(path).is_file() else None
        records = settings.record_mode != "none" and (
            settings.record_mode != "once" or path is None or size is None
        )
        return cls(settings, records, size or 0)

    @classmethod
    def handed(cls, settings: Settings, given: Mapping[str, Any]) -> Session:
        """Return the part that a worker has in the session of its controller."""
        return cls(**{**given, "settings": replace(settings, **given["settings"]), "worker": True})

    def for_worker(self) -> dict[str, Any]:
        """Return what a worker must know, as plain data."""
        settings = self.settings
        caps = (settings.max_calls, settings.max_total_tokens, settings.max_cost)
        if any(cap is not None for cap in caps):
            self.shared_folder()
        # Paths that were relative to the folder of the controller.
        paths = {name: getattr(settings, name) for name in ("cassette", "cassette_used", "prices")}
        shared = {name: getattr(self, name) for name in ("records", "since", "folder")}
        return {**shared, "settings": paths}

    def shared_folder(self) -> str:
        """Return the folder, made if it must be."""
        if not self.folder:
            import tempfile

            self.folder = tempfile.mkdtemp(prefix="llmfair-")
        return self.folder

    def end(self) -> None:
        """Close what was opened, and remove the folder unless another process does."""
        if self.asker is not None:
            self.asker.close()
            self.asker = None
        if self.folder and not self.worker:
            import shutil

            shutil.rmtree(self.folder, ignore_errors=True)


# A stack too, for the same reason.
_sessions: list[Session] = []


def begin_session(session: Session) -> None:
    """Make `session` the one that decides how models are asked."""
    _sessions.append(session)


def end_session(session: Session) -> None:
    """End it; harmless when it has ended before."""
    if session in _sessions:
        _sessions.remove(session)
        session.end()


def current_session() -> Session | None:
    """Return the running session, or None outside pytest."""
    return _sessions[-1] if _sessions else None


@contextmanager
def asking(**about: Any) -> Iterator[None]:
    """Say what the answers are for that are asked for meanwhile."""
    recorder = active()
    before = recorder.asking if recorder else {}
    if recorder:
        recorder.asking = about
    try:
        yield
    finally:
        if recorder:
            recorder.asking = before
