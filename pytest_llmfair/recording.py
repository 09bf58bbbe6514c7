"""Where results go while a test runs. PYTEST_DONT_REWRITE.

Standard library only: the plugin loads this at start-up.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_llmfair.fairness import Fairness
    from pytest_llmfair.results import Result
    from pytest_llmfair.settings import Settings


@dataclass(slots=True)
class Recorder:
    """Results of one test, in the order in which they were judged.

    Attributes
    ----------
    nodeid : str
        The test.
    settings : Settings
        Settings of its session.
    folder : Path
        Folder of the test's file; relative prompt files are looked up there first.
    results : list of Result
        Everything judged so far, over all attempts.
    collectors : list of Fairness
        Collectors with checks that raise at the end of the running phase.
    attempt : int
        1 for the first run of the test, more when a plugin runs it again.
    earlier : int
        How many of the results are from earlier attempts.
    reported : int
        How many of the results are on a report already.
    """

    nodeid: str
    settings: Settings
    folder: Path = field(default_factory=Path)
    results: list[Result] = field(default_factory=list)
    collectors: list[Fairness] = field(default_factory=list)
    attempt: int = 0
    earlier: int = 0
    reported: int = 0

    def begin_attempt(self) -> None:
        """Count another run of the test."""
        self.attempt += 1
        self.earlier = len(self.results)

    def unreported(self) -> list[dict[str, Any]]:
        """Return the results that are on no report yet, as plain data.

        Without prompts and outputs, but for the message, which shows what the settings allow.
        """
        new, self.reported = self.results[self.reported :], len(self.results)
        records = [
            {**result.to_dict(), "nodeid": self.nodeid, "attempt": self.attempt} for result in new
        ]
        for record in records:
            del record["examples"]
        if self.settings.html or self.settings.evidence:
            from pytest_llmfair.reports.message import failure_message

            for record, result in zip(records, new, strict=True):
                record["message"] = failure_message(result, show_text=self.settings.show_text)
        return records

    def finish(self) -> None:
        """Let every collector raise what its checks found."""
        __tracebackhide__ = True
        collectors, self.collectors = self.collectors, []
        for collector in collectors:
            collector.finish()

    def refuse_another_attempt(self) -> None:
        """Raise what an earlier attempt judged, unless PASS: no test is run until it is green."""
        __tracebackhide__ = True
        earlier = self.results[: self.earlier]
        # Undecided is not red by itself, but asking again until it is PASS is the same mistake.
        red = [r for r in earlier if r.red or (r.mode != "point" and r.verdict != "PASS")]
        if not red:
            return
        from pytest_llmfair.reports.message import first_line
        from pytest_llmfair.results import error_for

        raise error_for(red[0])(
            red[0],
            f"{first_line(red[0])}\n  attempt {self.attempt} is refused: an earlier one judged "
            "this, and a test repeated until it is green proves nothing; collect more units",
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
