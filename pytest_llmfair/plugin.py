"""Every hook of the plugin, wiring only. PYTEST_DONT_REWRITE.

Loads the standard library and pytest, nothing else: sessions without fairness tests pay for it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator
from contextlib import nullcontext
from dataclasses import replace
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
)
from pytest_llmfair.session import Recorder, Session, begin_session, end_session, recording
from pytest_llmfair.settings import OPTIONS, Settings, resolve

__all__ = ["counterfactual_pairs", "fairness", "lexicons", "model_client", "scorers"]

SETTINGS = pytest.StashKey[Settings]()
RUN = pytest.StashKey["Run"]()
RECORDER = pytest.StashKey[Recorder]()
SESSION = pytest.StashKey[Session]()

# Attribute of a test report; text, so that xdist sends it as it is.
ATTRIBUTE = "llmfair"
_UNCHECKED = "answers were collected and never checked"

# What our checks of arguments, files and settings raise.
_ADVICE = (ValueError, TypeError, OSError, ImportError, RuntimeError, Warning)


class Run:
    """Results of a session, gathered where its reports arrive (with xdist: not in the workers)."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.settings = config.stash[SETTINGS]
        self.errors: list[str] = []
        # FAILs that hold at the end of the session, and JUnit's test cases that wait for that.
        self.upheld: dict[str, list[str]] = {}
        self.cases: dict[str, Any] = {}
        self.planned: list[dict[str, Any]] = []
        self.unchecked: list[str] = []
        self._records: list[tuple[tuple[str, int, str], dict[str, Any]]] = []

    # Before JUnit, whose test case is closed with the report of the teardown.
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the results that travel on a report."""
        path, line, _ = report.location
        new = json.loads(report.__dict__.get(ATTRIBUTE, "{}"))
        for record in new.get("results", []):
            xfail = "xfailed" if report.skipped else "xpassed"
            record["outcome"] = xfail if hasattr(report, "wasxfail") else report.outcome
            # Red, and the test ended well all the same: it was written to find this.
            record["expected"] = record["red"] and report.outcome in ("passed", "skipped")
            self._records.append(((path, line or 0, report.nodeid), record))
            if record["postponed"] and self.junit:
                self.cases[report.nodeid] = self.junit.node_reporter(report)
        self.unchecked += [report.nodeid] * new.get("unchecked", False)
        self.planned += new.get("planned", [])

    @property
    def junit(self) -> Any:
        """What writes JUnit XML, known by the method it has for plugins; None without it."""
        plugins = self.config.pluginmanager.get_plugins()
        return next((each for each in plugins if hasattr(each, "add_global_property")), None)

    @property
    def records(self) -> list[dict[str, Any]]:
        """All results in the order of the tests in their files, however they were run."""
        return [record for _, record in sorted(self._records, key=lambda pair: pair[0])]

    def close(self) -> None:
        """Correct for the number of assertions, write the results, note what is wrong."""
        if self._records:
            from pytest_llmfair.judging.multiplicity import adjust, upheld

            adjust([record for _, record in self._records])
            self.upheld = upheld(self.records)
        judged, required = len(self._records), self.settings.require
        if judged < required:
            plural = "assertion was" if judged == 1 else "assertions were"
            self.errors.append(
                f"{judged} fairness {plural} judged, --llmfair-require asks for {required}"
            )
        if (self._records or self.errors) and self.junit:
            self._tell_junit()
        self.errors = [
            f"{test}: {x}" for test, said in self.upheld.items() for x in said
        ] + self.errors
        if self.settings.reports:
            from pytest_llmfair.reports.files import write_reports

            self.errors += write_reports(self.records, self.settings)

    def _tell_junit(self) -> None:
        """Give JUnit what is known at the end only: a session that is red is red there too."""
        from xml.etree.ElementTree import Element

        from pytest_llmfair.judging.message import property_name

        junit = self.junit
        for record in self.records:
            if record["p_adjusted"] is not None:
                name = property_name("p_adjusted", record["nodeid"], record["metric"])
                junit.add_global_property(name, f"{record['p_adjusted']:.6g}")
        for test, found in self.upheld.items():
            # A closed test case gives the same element every time.
            case = self.cases[test].to_xml()
            before = {child.tag for child in case}
            if not before & {"failure", "error"}:
                junit.stats["skipped" if "skipped" in before else "passed"] -= 1
                junit.stats["failure"] += 1
            case.append(Element("failure", message="; ".join(found)))
        if self.errors:
            case = junit.node_reporter("llmfair")
            case.attrs.update(classname="pytest_llmfair", name="session")
            case.append(Element("error", message="; ".join(self.errors)))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register every option as `--llmfair-NAME` and `llmfair_NAME`."""
    group = parser.getgroup("llmfair", "fairness of language models")
    for option in OPTIONS:
        parser.addini(option.key, option.help, type="string", default=None)
        if option.switch:
            group.addoption(
                option.flag, dest=option.key, action="store_const", const="true", help=option.help
            )
        elif not option.ini_only:
            group.addoption(option.flag, dest=option.key, metavar=option.metavar, help=option.help)


def pytest_configure(config: pytest.Config) -> None:
    """Resolve the settings once, and gather results unless this is a worker of xdist."""
    settings = resolve(config, _check_model)
    given = getattr(config, "workerinput", {}).get("llmfair")
    session = Session.handed(settings, given) if given else Session.of(settings)
    config.stash[SETTINGS], config.stash[SESSION] = session.settings, session
    session.root, session.screen = config.rootpath, lambda: _screen(config)
    begin_session(session)
    if settings.cassette_used is not None and not given:
        Path(settings.cassette_used).write_text("", encoding="ascii")
    if not hasattr(config, "workerinput"):
        config.stash[RUN] = Run(config)
        config.pluginmanager.register(config.stash[RUN], "llmfair-run")


def _check_model(text: str) -> None:
    # Not at start-up: most sessions name no model.
    from pytest_llmfair.clients.spec import ModelSpec

    ModelSpec.parse(text)


def _screen(config: pytest.Config) -> Callable[[str], None] | None:
    """Return what writes to the terminal while the output of a test is captured."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    capture = config.pluginmanager.getplugin("capturemanager")
    if os.environ.get("CI") or not getattr(reporter, "isatty", False):
        return None

    def write(text: str) -> None:
        with capture.global_and_fixture_disabled() if capture else nullcontext():
            # The name of the running test stays, and is written once more after the line.
            reporter.ensure_newline()
            sys.stdout.write(text)
            sys.stdout.flush()

    return write


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of xdist what the controller decided for all of them."""
    node.workerinput["llmfair"] = node.config.stash[SESSION].for_worker()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close what was opened to ask models."""
    if SESSION in config.stash:
        end_session(config.stash[SESSION])


def pytest_report_header(config: pytest.Config) -> str | None:
    """Name model, mode, level and seed when an option of ours was given."""
    if all(config.getoption(option.key, None) is None for option in OPTIONS):
        return None
    settings = config.stash[SETTINGS]
    return (
        f"llmfair: model {settings.model}, mode {settings.mode}, level {settings.level:g}, "
        f"seed {settings.seed}"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Record what a test judges, from its set-up to its teardown."""
    settings = item.config.stash[SETTINGS]
    if _expected_to_fail(item):
        # A FAIL that waits for the end of the session could no longer be the expected one.
        settings = replace(settings, family="none")
    recorder = Recorder(item.nodeid, settings, item.path.parent)
    item.stash[RECORDER] = recorder
    with recording(recorder):
        return (yield)


def _expected_to_fail(item: pytest.Item) -> bool:
    return not item.config.getoption("runxfail", False) and any(
        any(mark.args or (mark.kwargs.get("condition", True),))
        for mark in item.iter_markers("xfail")
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Count the attempts of plugins that run failed tests again."""
    item.stash[RECORDER].begin_attempt()


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Raise what `fairness.check` found inside the call phase, so that xfail applies to it."""
    __tracebackhide__ = True
    recorder = item.stash[RECORDER]
    recorder.refuse_another_attempt()
    try:
        yield
    except (pytest.skip.Exception, pytest.xfail.Exception):
        # A test cannot skip away what it has already found.
        recorder.finish()
        raise
    except BaseException:
        # The test is red for a reason of its own, which must be the one that is shown.
        recorder.collectors.clear()
        raise
    recorder.finish()
    recorder.unchecked = recorder.collected and len(recorder.results) == recorder.earlier


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """Raise what was found after the call phase: no check goes unheard."""
    __tracebackhide__ = True
    yield
    item.stash[RECORDER].finish()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put new results on the report, and on the item as properties for JUnit."""
    recorder = item.stash[RECORDER]
    if call.excinfo is not None:
        _hide_our_frames(call.excinfo.value)
    new = recorder.unreported()
    # Before the report is made: JUnit reads the properties of the teardown report.
    if new["unchecked"]:
        item.user_properties.append(("llmfair.unchecked", _UNCHECKED))
    if new["results"]:
        from pytest_llmfair.judging.message import property_name, summary_line

        item.user_properties += [
            (property_name(record["metric"]), summary_line(record)) for record in new["results"]
        ]
    report = yield
    if any(new.values()):
        report.__dict__[ATTRIBUTE] = json.dumps(new)
    if call.excinfo is not None and hasattr(call.excinfo.value, "result"):
        _verdict_first(report, type(call.excinfo.value))
    return report


def _hide_our_frames(error: BaseException) -> None:
    """Let tracebacks end in the user's test, client or scorer; --full-trace shows all frames.

    A bug of ours (KeyError, AttributeError, AssertionError, ...) keeps its frames for a report.
    """
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    modules = [frame.f_globals.get("__name__", "") for frame in frames]
    advice = _is_ours(type(error).__module__) or isinstance(error, _ADVICE)
    raised_here = bool(modules) and _is_ours(modules[-1])
    # An error must show a frame: these may be the only ones of a fixture, or of a refused retry.
    alone = all(map(_is_ours, (m for m in modules if not m.startswith(("_pytest.", "pluggy.")))))
    for name, module in list(sys.modules.items()):
        if _is_ours(name):
            shown = alone and name.endswith((".fixtures", ".session"))
            vars(module)["__tracebackhide__"] = (advice or not raised_here) and not shown


def _is_ours(module: str) -> bool:
    return module.startswith("pytest_llmfair.")


def _verdict_first(report: pytest.TestReport, kind: type[BaseException]) -> None:
    """Take the path of our exception from the report: pytest's summary begins with its message."""
    prefix = f"{kind.__module__}.{kind.__qualname__}: "
    crash = getattr(report.longrepr, "reprcrash", None)
    if not prefix.startswith("pytest_llmfair.") or crash is None:
        return
    # With CI set pytest would print the whole message a second time.
    crash.message = crash.message.removeprefix(prefix).partition("\n")[0]
    for entry in report.longrepr.reprtraceback.reprentries:  # type: ignore[union-attr]
        entry.lines = [line.replace(prefix, "", 1) for line in entry.lines]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Close the run; its errors raise the exit status and never lower it."""
    run = session.config.stash.get(RUN, None)
    if run is None or session.config.getoption("collectonly"):
        return
    _keep_last_recordings(session.config.stash[SESSION])
    run.close()
    fine = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if run.errors and session.exitstatus in fine:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _keep_last_recordings(session: Session) -> None:
    """Keep the last of the answers that the session recorded again, once all processes ended."""
    path = session.settings.cassette
    if session.settings.record_mode != "all" or path is None or not Path(path).is_file():
        return
    if 0 < session.since < Path(path).stat().st_size:
        from pytest_llmfair.clients.cassette.tools import compact

        compact(Path(path))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the table of results when there are any, and what is wrong with the session."""
    run = config.stash[RUN]
    if run.records:
        from pytest_llmfair.reports.terminal import print_summary

        print_summary(terminalreporter, run.records)
    if run.planned:
        from pytest_llmfair.reports.plan import print_plan

        print_plan(terminalreporter, run.planned)
    for nodeid in run.unchecked if config.get_verbosity() > -2 else ():
        terminalreporter.write_line(f"{nodeid}: {_UNCHECKED}", yellow=True)
    for error in run.errors:
        terminalreporter.write_line(f"ERROR: {error}", red=True, bold=True)
