"""Record results for the report, and raise for red ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_llmfair._util.plain_data import digests_of
from pytest_llmfair.judging.recorded import kept_of
from pytest_llmfair.judging.result import (
    BoundExceeded,
    Inconclusive,
    InvalidEvidence,
    Result,
    Underpowered,
    Verdict,
    error_for,
)
from pytest_llmfair.judging.rules import current_settings
from pytest_llmfair.session import active, current_session

# An xfail for an exceeded bound must not hide that other data of the test are invalid.
_MOST_SERIOUS_FIRST = (InvalidEvidence, BoundExceeded, Underpowered, Inconclusive)


def conclude(result: Result) -> Result:
    """Record a result; raise or skip as its mode and the policies say; return it otherwise."""
    __tracebackhide__ = True
    found = record(result)
    conclude_all(found)
    return found[0]


def record(result: Result) -> list[Result]:
    """Hand a result to the running test's record; return it, then its loss from a baseline."""
    recorder, session = active(), current_session()
    if recorder is None:
        return [result]
    found = [result]
    if session is not None and session.baseline is not None:
        found = session.baseline.compared(result, recorder.attempt)
        recorder.compared += len(found) - 1
    settings = recorder.settings
    for each in found:
        digests = digests_of(each.evidence) if settings.recorded else None
        if digests is not None and not any(digests.values()):
            # A comparison with the baseline judges the same answers.
            digests = digests_of(result.evidence)
        kept = kept_of(each, settings) if settings.keeps_data else None
        # The data of all tests of a session would take too much memory.
        light = replace(each, assertion=None)
        recorder.results.append(replace(light, recorded=kept, data=digests))
    return found


def conclude_all(results: Sequence[Result]) -> None:
    """Raise for red results, in one error of the most serious kind; else follow the policies."""
    __tracebackhide__ = True
    settings = current_settings()
    red = [result for result in results if result.red]
    red.sort(key=lambda result: _MOST_SERIOUS_FIRST.index(error_for(result)))
    if red:
        messages = [
            result.message(show_text=settings.show_text, detailed=settings.detailed)
            for result in red
        ]
        raise error_for(red[0])(red[0], "\n\n".join(messages))
    if active() is None:
        return
    policies = {
        Verdict.INCONCLUSIVE: settings.inconclusive,
        Verdict.UNDERPOWERED: settings.underpowered,
    }
    for result in results:
        policy = policies.get(result.verdict)
        if result.mode == "gate" and policy in ("skip", "xfail"):
            import pytest

            (pytest.skip if policy == "skip" else pytest.xfail)(repr(result))
