"""Every hook of the plugin. PYTEST_DONT_REWRITE.

Imports only the standard library and pytest, because every pytest session loads this module, with
or without fairness tests. Hooks import other modules when they first need them.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from traceback import walk_tb
from typing import Any

import pytest

from pytest_llmfair.fixtures import (
    counterfactual_pairs,
    fairness,
    lexicons,
    model_client,
    scorers,
    suite,
)
from pytest_llmfair.gate.configuration import OUR_FLAGS, check_flags, settings_of
from pytest_llmfair.gate.run import RECORDS, Run
from pytest_llmfair.session import Recorder, Session, begin_session, end_session, recording
from pytest_llmfair.settings import OPTIONS, Settings
from pytest_llmfair.settings.options import Option

__all__ = ["counterfactual_pairs", "fairness", "lexicons", "model_client", "scorers", "suite"]

SETTINGS = pytest.StashKey[Settings]()
RUN = pytest.StashKey[Run]()
RECORDER = pytest.StashKey[Recorder]()
SESSION = pytest.StashKey[Session]()

_UNCHECKED = "answers were collected and never checked"

# Files of checks, by the end of their names.
_CHECKS = (".llmfair.yaml", ".llmfair.yml")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register every option as ``--llmfair-NAME`` and ``llmfair_NAME``."""
    group = parser.getgroup("llmfair", "fairness of language models")
    for option in OPTIONS:
        text = _help_of(option)
        parser.addini(option.key, text, type="string", default=None)
        if option.switch:
            group.addoption(
                option.flag, dest=option.key, action="store_const", const="true", help=text
            )
        elif not option.ini_only:
            group.addoption(option.flag, dest=option.key, metavar=option.metavar, help=text)


def _help_of(option: Option) -> str:
    """Return the help of an option; the table of models is loaded only where help is printed."""
    if option.name != "model" or not {"-h", "--help"}.intersection(sys.argv):
        return option.help
    from pytest_llmfair.clients.spec import FORMS

    return f"{option.help}: {FORMS}"


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    parser: pytest.Parser, args: list[str]
) -> Generator[None, object, object]:
    """Name the option nearest to a mistyped one of ours; pytest itself names none."""
    # A conftest file that is loaded here may have options like ours.
    result = yield
    # Help is shown whatever else is asked.
    ours = any(each.startswith(OUR_FLAGS) for each in args)
    if ours and {"-h", "--help"}.isdisjoint(args):
        with _printable_errors():
            check_flags(parser.parse_known_and_unknown_args(args)[1])
    return result


def pytest_configure(config: pytest.Config) -> None:
    """Resolve the settings, begin the session, and collect results unless in an xdist worker."""
    with _printable_errors():
        settings = settings_of(config)
    given = getattr(config, "workerinput", {}).get("llmfair")
    session = Session.handed(settings, given) if given else Session.of(settings)
    config.stash[SETTINGS], config.stash[SESSION] = session.settings, session
    config.addinivalue_line(
        "markers",
        "llmfair(rationale='', owner=''): why a fairness test has its bound, and who answers for "
        "it; both go into the record of its results",
    )
    session.root, session.screen = config.rootpath, lambda: _screen(config)
    if settings.baseline is not None and not settings.update_baseline:
        with _printable_errors():
            session.baseline = _baseline(settings)
    begin_session(session)
    if settings.cassette_used is not None and not given:
        Path(settings.cassette_used).write_text("", encoding="ascii")
    if not hasattr(config, "workerinput"):
        config.stash[RUN] = Run(config, settings)
        config.pluginmanager.register(config.stash[RUN], "llmfair-run")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect files of checks; the name is looked at before anything is imported."""
    if not file_path.name.endswith(_CHECKS):
        return None
    from pytest_llmfair.gate.yaml_checks import CheckFile

    return CheckFile.from_parent(parent, path=file_path)


@contextmanager
def _printable_errors() -> Iterator[None]:
    """Escape what errors of usage quote from files, which may be of others."""
    try:
        yield
    except pytest.UsageError as error:
        from pytest_llmfair._util.printing import printable

        raise pytest.UsageError(printable(str(error))) from None


def _baseline(settings: Settings) -> Any:
    from pytest_llmfair.gate.baseline import Baseline

    try:
        margin, ratchet = settings.margin or 0.0, settings.ratchet
        return Baseline.read(Path(settings.baseline or ""), margin, ratchet=ratchet)
    except (OSError, ValueError) as error:
        raise pytest.UsageError(str(error)) from None


def _screen(config: pytest.Config) -> Callable[[str], None] | None:
    """Return a function that writes to the terminal while output is captured; None in CI."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    capture = config.pluginmanager.getplugin("capturemanager")
    if os.environ.get("CI") or not getattr(reporter, "isatty", False):
        return None

    def write(text: str) -> None:
        with capture.global_and_fixture_disabled() if capture else nullcontext():
            # Keep the line with the name of the running test; pytest writes it again later.
            reporter.ensure_newline()
            sys.stdout.write(text)
            sys.stdout.flush()

    return write


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Send the state of the session to an xdist worker."""
    node.workerinput["llmfair"] = node.config.stash[SESSION].for_worker()


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the session, which closes its clients."""
    if SESSION in config.stash:
        end_session(config.stash[SESSION])


def pytest_report_header(config: pytest.Config) -> str | None:
    """Print model, mode, level and seed if one of our options was given."""
    if all(config.getoption(option.key, None) is None for option in OPTIONS):
        return None
    from pytest_llmfair._util.printing import printable

    settings = config.stash[SETTINGS]
    return printable(
        f"llmfair: model {settings.model}, mode {settings.mode}, level {settings.level:g}, "
        f"seed {settings.seed}"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Record the results of a test, from its set-up to its teardown."""
    settings = item.config.stash[SETTINGS]
    if _expected_to_fail(item):
        # An expected FAIL must be raised in the test; Holm would postpone it to the end.
        settings = settings.replaced(family="none")
    item.config.stash[SESSION].begin_test(item.session.testscollected)
    recorder = Recorder(item.nodeid, settings, item.path.parent)
    for mark in reversed(list(item.iter_markers("llmfair"))):
        known = {"rationale", "owner"} & mark.kwargs.keys()
        recorder.about |= {key: str(mark.kwargs[key]) for key in known}
    item.stash[RECORDER] = recorder
    try:
        with recording(recorder):
            return (yield)
    finally:
        # A test that is interrupted has no report; what its suites have measured is kept.
        if recorder.suites and RUN in item.config.stash:
            item.config.stash[RUN].suites += recorder.suites


def _expected_to_fail(item: pytest.Item) -> bool:
    return not item.config.getoption("runxfail", False) and any(
        any(mark.args or (mark.kwargs.get("condition", True),))
        for mark in item.iter_markers("xfail")
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Count attempts, because other plugins may rerun failed tests."""
    item.stash[RECORDER].begin_attempt()


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Raise the results of `fairness.check` inside the call phase, so xfail applies to them."""
    __tracebackhide__ = True
    recorder = item.stash[RECORDER]
    recorder.refuse_another_attempt()
    try:
        yield
    except (pytest.skip.Exception, pytest.xfail.Exception):
        # Skipping does not hide what the test has already found.
        recorder.finish()
        raise
    except BaseException:
        # The test fails for another reason, which must be the one shown.
        recorder.collectors.clear()
        raise
    recorder.finish()
    recorder.unchecked = recorder.collected and len(recorder.results) == recorder.earlier


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """Raise the results of checks made after the call phase."""
    __tracebackhide__ = True
    yield
    item.stash[RECORDER].finish()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach new results to the report, and to the item as JUnit properties."""
    recorder = item.stash[RECORDER]
    if call.excinfo is not None:
        from pytest_llmfair.reports.tracebacks import hide_our_frames, tidy

        hide_our_frames(call.excinfo.value)
    new = _used(item.config.stash[SESSION], recorder)
    new |= recorder.unreported(_described)
    # Before the report is made, because JUnit reads the properties of the teardown report.
    if new["unchecked"]:
        item.user_properties.append(("llmfair.unchecked", _UNCHECKED))
    if new["results"]:
        from pytest_llmfair.judging.message import property_name, summary_line

        item.user_properties += [
            (property_name(record["metric"]), summary_line(record)) for record in new["results"]
        ]
    report = yield
    new["unjudged"] = _ends_without_verdict(item, call, report)
    if any(new.values()):
        report.__dict__[RECORDS] = _without_local_paths(new, item.config)
    if call.excinfo is not None:
        tidy(report, call.excinfo)
    return report


def _without_local_paths(new: dict[str, Any], config: pytest.Config) -> str:
    """Return records as JSON text; paths begin at the root, and a model elsewhere is a name."""
    text, root = json.dumps(new), config.rootpath
    for (kind, _), live in config.stash[SESSION].used.items():
        name = live.backend.name if kind == "model" else ""
        scheme, _, target = name.partition(":")
        path = Path(target.partition("?")[0])
        # Two slashes begin an address, unless such a file exists; its host tells models apart.
        local = path.is_absolute() and (not target.startswith("//") or path.exists())
        if local and root not in path.parents:
            text = text.replace(json.dumps(name)[1:-1], f"{scheme}:.../{path.name}")
    if not root.name:
        return text
    # Not the end of another path or address, such as /app/ in https://example.org/app/.
    whole = re.escape(json.dumps(f"{root}{os.sep}")[1:-1])
    return re.sub(rf"(?<![\w./-]){whole}", "", text)


def _ends_without_verdict(
    item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport
) -> bool:
    """Return whether a fairness test fails for another reason than a verdict."""
    if call.excinfo is None or hasattr(call.excinfo.value, "result"):
        return False
    if not report.failed and not hasattr(report, "wasxfail"):
        return False
    recorder = item.stash[RECORDER]
    fixtures = getattr(item, "fixturenames", ())
    if recorder.used or "fairness" in fixtures or item.get_closest_marker("llmfair"):
        return True
    from pytest_llmfair.reports.tracebacks import is_ours

    frames = walk_tb(call.excinfo.value.__traceback__)
    modules = (frame.f_globals.get("__name__", "") for frame, _ in frames)
    # The hooks of this module are around every test.
    return any(is_ours(module) and module != __name__ for module in modules)


def _described(result: Any, settings: Settings) -> dict[str, Any]:
    # Imported here because most sessions judge nothing.
    from pytest_llmfair.reports.record import result_record

    return result_record(result, settings)


def _used(session: Session, recorder: Recorder) -> dict[str, Any]:
    """Return the models, scorers and answers that were new since the last report."""
    counts = getattr(session.asker, "counts", None)
    now = (0, 0) if counts is None else (counts.live, counts.replayed)
    calls = [new - old for new, old in zip(now, session.counted, strict=True)]
    session.counted = now
    found: dict[str, Any] = {}
    if any(calls):
        known = recorder.context.get("answers", {"live": 0, "replayed": 0})
        answers = {key: known[key] + n for key, n in zip(known, calls, strict=True)}
        found["calls"], recorder.context["answers"] = calls, answers
    if len(session.used) == session.reported or not recorder.settings.recorded:
        return found
    from pytest_llmfair.reports.record import used_since

    return {**found, "used": used_since(session)}


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Close the run; its errors can raise the exit status, never lower it."""
    run = session.config.stash.get(RUN, None)
    if run is None or session.config.getoption("collectonly"):
        return
    ours = session.config.stash[SESSION]
    if session.exitstatus == pytest.ExitCode.INTERRUPTED and _recorded(ours):
        run.notes.append(
            f"interrupted: the answers so far are in {ours.settings.cassette}; "
            "--llmfair-record-mode new asks for the rest"
        )
    _keep_last_recordings(ours)
    run.close(int(session.exitstatus))
    fine = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if run.errors and session.exitstatus in fine:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _recorded(session: Session) -> bool:
    """Whether the cassette grew in this session."""
    path = session.settings.cassette
    return path is not None and Path(path).is_file() and Path(path).stat().st_size > session.since


def _keep_last_recordings(session: Session) -> None:
    """Remove answers that this session recorded again; runs after all workers have ended."""
    if session.settings.record_mode == "all" and session.since > 0 and _recorded(session):
        from pytest_llmfair.clients.cassette.tools import compact

        compact(Path(str(session.settings.cassette)))


def _say(reporter: pytest.TerminalReporter, text: str, **markup: bool) -> None:
    """Write a line of ours; loads what that needs only in a session that has one."""
    from pytest_llmfair._util.printing import say_line

    say_line(reporter, text, **markup)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the table of results, the plan, and the errors of the session."""
    run = config.stash[RUN]
    if run.records:
        from pytest_llmfair.reports.terminal import print_summary

        print_summary(terminalreporter, run.records)
    if run.planned:
        from pytest_llmfair.reports.plan import print_plan

        print_plan(terminalreporter, run.planned)
    notes = run.notes if config.get_verbosity() > -2 else []
    for line in (*run.changes, *notes):
        _say(terminalreporter, line)
    for nodeid in run.unchecked if config.get_verbosity() > -2 else ():
        _say(terminalreporter, f"{nodeid}: {_UNCHECKED}", yellow=True)
    for line in run.annotations:
        terminalreporter.ensure_newline()
        terminalreporter.write_line(line)
    for error in run.errors:
        _say(terminalreporter, f"ERROR: {error}", red=True, bold=True)
