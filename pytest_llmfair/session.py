"""State of a session and of its running test. PYTEST_DONT_REWRITE.

Standard library only: the plugin loads this at start-up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Protocol

    from pytest_llmfair.settings import Settings

    class Judged(Protocol):
        """Part of a result that the recorder uses."""

        @property
        def red(self) -> bool:
            """Whether the test must fail."""

        @property
        def mode(self) -> str:
            """The mode: gate, strict or point."""

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
        """Collector of checks that raises at the end of a phase."""

        def finish(self) -> None:
            """Raise the first red result."""

    class ScoreStore(Protocol):
        """Scores in a cassette that keeps only digests of answers."""

        def recorded(self, scorer: Callable[..., Any], texts: Sequence[str]) -> list[float] | None:
            """Return the recorded scores of texts; None if all of them can be read and scored."""

        def record(
            self, scorer: Callable[..., Any], texts: Sequence[str], scores: Sequence[float]
        ) -> None:
            """Record scores if the cassette keeps no texts."""

    class Reductions(Protocol):
        """Answers to pairs that were reduced to numbers before, by the workers of an audit."""

        def reduced(self, reduce: Callable[..., Any], rows_a: Any, rows_b: Any) -> Any:
            """Return a row of numbers for each pair, NaN where unknown; None if all are."""

    class Baseline(Protocol):
        """Results of an earlier run, that those of this run are compared with."""

        def compared(self, result: Any, attempt: int) -> list[Any]:
            """Return the result, and the comparison with the recorded one unless it is new."""

    class Closes(Protocol):
        """Resource that is closed with the session."""

        def close(self) -> None:
            """Release the resource."""


class Recorder:
    """Results of one test, in order, over all its attempts."""

    # No dataclass: to make one takes every session time, also one without a fairness test.
    def __init__(self, nodeid: str, settings: Settings, folder: Path | None = None) -> None:
        self.nodeid = nodeid
        self.settings = settings
        # Folder of the test's file, where relative paths of prompt files are looked up first.
        self.folder = Path() if folder is None else folder
        self.results: list[Judged] = []
        # Collectors that raise at the end of the current phase.
        self.collectors: list[Collector] = []
        # Above 1 if a plugin reruns the test; the first `earlier` results are of earlier attempts.
        self.attempt = 0
        self.earlier = 0
        # Number of results that are already on a report.
        self.reported = 0
        # The assertion that asks for answers now: its metric, bound and size.
        self.asking: dict[str, Any] = {}
        # Whether the current attempt collected answers, and whether it ended without a verdict.
        self.collected = False
        self.unchecked = False
        # Results on no report yet that only compare another one with the baseline.
        self.compared = 0
        # What is only for the record: why the test has its bound, who answers for it, and so on.
        self.about: dict[str, Any] = {}
        # Facts of this test that differ between runs that find the same, such as times.
        self.context: dict[str, Any] = {}
        self.began = time.monotonic()
        # The command that repeats the test, where pytest cannot by its name.
        self.rerun = ""
        # What suites measured, as plain data; a later one of a test replaces an earlier one.
        self.suites: list[dict[str, Any]] = []
        # Planned requests, with --llmfair-plan.
        self.planned: list[dict[str, Any]] = []

    def begin_attempt(self) -> None:
        """Count another run of the test."""
        self.attempt += 1
        self.earlier = len(self.results)
        self.collected = self.unchecked = False

    @property
    def used(self) -> bool:
        """Whether the current attempt collected answers or judged something."""
        return self.collected or len(self.results) > self.earlier

    def unreported(self, describe: Callable[[Any, Settings], dict[str, Any]]) -> dict[str, Any]:
        """Return the results on no report yet, as plain data; `describe` makes them."""
        new, self.reported = self.results[self.reported :], len(self.results)
        # The report of a subtest comes before the end of its test, where a check may follow.
        planned, self.planned = self.planned, []
        suites, self.suites = self.suites, []
        unchecked, self.unchecked = self.unchecked, False
        compared, self.compared = self.compared, 0
        more = {"rationale": "", "owner": "", **self.about}
        about = {
            "nodeid": self.nodeid,
            "attempt": self.attempt,
            "rationale": more.pop("rationale"),
            "owner": more.pop("owner"),
            **({"about": more} if more else {}),
            **({"rerun": self.rerun} if self.rerun else {}),
        }
        results = [{**describe(result, self.settings), **about} for result in new]
        found = {"results": results, "planned": planned, "unchecked": unchecked}
        found |= {"compared": compared} if compared else {}
        if self.used or self.context:
            seconds = round(time.monotonic() - self.began, 3)
            found["tests"] = {self.nodeid: {"seconds": seconds, **self.context}}
        return {**found, "suites": suites} if suites else found

    def finish(self) -> None:
        """Finish every collector, which raises its red results."""
        __tracebackhide__ = True
        collectors, self.collectors = self.collectors, []
        for collector in collectors:
            collector.finish()

    def refuse_another_attempt(self) -> None:
        """Raise the verdict of an earlier attempt unless it was PASS."""
        earlier = self.results[: self.earlier]
        # Repeating an undecided test until it passes is the same mistake as repeating a red one.
        red = [r for r in earlier if r.red or (r.mode != "point" and r.verdict != "PASS")]
        if not red:
            return
        message = red[0].message(show_text=self.settings.show_text)
        raise red[0].error(
            f"{message}\n  Retry ignored: an earlier attempt already ended with this verdict. "
            "Rerunning until green proves nothing; collect more data instead.",
        )


# A stack, not a context variable: a test may assert in a thread, and pytester nests sessions.
_active: list[Recorder] = []


@contextmanager
def recording(recorder: Recorder) -> Iterator[Recorder]:
    """Let assertions add their results to `recorder`."""
    _active.append(recorder)
    try:
        yield recorder
    finally:
        _active.remove(recorder)


def active() -> Recorder | None:
    """Return the recorder of the running test; None outside pytest (notebook, script)."""
    return _active[-1] if _active else None


class Session:
    """State that the tests of a session share, in all its processes."""

    def __init__(
        self,
        settings: Settings,
        records: bool = True,
        since: int = 0,
        folder: str = "",
        worker: bool = False,
    ) -> None:
        self.settings = settings
        # Whether missing answers are recorded; decided before the first is written.
        self.records = records
        # Size of the cassette at the start: later bytes were recorded by this session.
        self.since = since
        # Folder for the counters that the processes share; "" until it is needed.
        self.folder = folder
        # Whether this process is a worker of another one.
        self.worker = worker
        # Created when a model is first asked.
        self.asker: Closes | None = None
        # Known once a model was asked with a cassette.
        self.scores: ScoreStore | None = None
        # Known while an audit is judged.
        self.reductions: Reductions | None = None
        # Known where --llmfair-baseline is given.
        self.baseline: Baseline | None = None
        # Models, lexicons and scorers in use, by kind and name; `reported` are on a report.
        self.used: dict[tuple[str, str], Any] = {}
        self.reported = 0
        # Answers on a report: live and replayed.
        self.counted = (0, 0)
        # What runs: its name, how many tests are done and how many there are, and the start.
        self.tests: list[Any] = ["test", -1, 0, 0.0]
        # Root folder of the tests; messages show paths relative to it.
        self.root: Path | None = None
        # Returns a function that writes to the terminal despite output capture; None in CI.
        self.screen: Callable[[], Callable[[str], None] | None] = lambda: None

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
        """Return the session of a worker, with the state given by its controller."""
        return cls(**{**given, "settings": settings.replaced(**given["settings"]), "worker": True})

    def for_worker(self) -> dict[str, Any]:
        """Return the state that workers need, as plain data."""
        settings = self.settings
        caps = (settings.max_calls, settings.max_total_tokens, settings.max_cost)
        if any(cap is not None for cap in caps):
            self.shared_folder()
        # Workers may run in another folder, so hand on absolute paths.
        paths = {name: getattr(settings, name) for name in ("cassette", "cassette_used", "prices")}
        shared = {name: getattr(self, name) for name in ("records", "since", "folder")}
        return {**shared, "settings": paths}

    def begin_test(self, of: int) -> None:
        """Count another test, of so many that were collected."""
        name, done, _, began = self.tests
        self.tests = [name, done + 1, of, began or time.monotonic()]

    def shared_folder(self) -> str:
        """Return the shared folder; create it at first use."""
        if not self.folder:
            import tempfile

            self.folder = tempfile.mkdtemp(prefix="llmfair-")
        return self.folder

    def end(self) -> None:
        """Close clients, and remove the shared folder unless this is a worker."""
        if self.asker is not None:
            self.asker.close()
            self.asker = None
        if self.folder and not self.worker:
            import shutil

            shutil.rmtree(self.folder, ignore_errors=True)


# A stack, because pytester nests sessions.
_sessions: list[Session] = []


def begin_session(session: Session) -> None:
    """Make `session` the current one."""
    _sessions.append(session)


def end_session(session: Session) -> None:
    """End a session; does nothing if it has already ended."""
    if session in _sessions:
        _sessions.remove(session)
        session.end()


def current_session() -> Session | None:
    """Return the current session; None outside pytest."""
    return _sessions[-1] if _sessions else None


def note_used(kind: str, name: str, what: object) -> None:
    """Note that the running session uses a model, a lexicon or a scorer, for its record."""
    session = current_session()
    if session is not None:
        session.used.setdefault((kind, name), what)


def score_store() -> ScoreStore | None:
    """Return the store of recorded scores of the running session, if it has one."""
    session = current_session()
    return None if session is None else session.scores


@contextmanager
def asking(**about: Any) -> Iterator[None]:
    """Note which assertion the answers asked for in this context belong to."""
    recorder = active()
    before = recorder.asking if recorder else {}
    if recorder:
        recorder.asking = about
    try:
        yield
    finally:
        if recorder:
            recorder.asking = before
