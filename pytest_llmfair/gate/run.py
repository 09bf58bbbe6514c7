"""The results of a session, and what is made of them at its end. PYTEST_DONT_REWRITE.

Standard library and pytest only: the plugin loads this at start-up.
"""

from __future__ import annotations

import json
import os
import time
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmfair.settings import Settings, in_github_actions

if TYPE_CHECKING:
    from pytest_llmfair.settings.waiver import Waiver

# Attribute of test reports that carries results as JSON text, which xdist can send.
RECORDS = "llmfair"


class Run:
    """Results of a session, collected where reports arrive (with xdist, in the controller)."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self.config = config
        self.settings = settings
        self.errors: list[str] = []
        # FAILs that hold after Holm's correction, and the JUnit test cases they belong to.
        self.upheld: dict[str, list[str]] = {}
        self.cases: dict[str, Any] = {}
        self.planned: list[dict[str, Any]] = []
        # Fairness tests that ended with an error before a verdict, by node id.
        self.unjudged: dict[str, dict[str, Any]] = {}
        self.unchecked: list[str] = []
        # Results that are only comparisons with the baseline.
        self.compared = 0
        # What to say about baseline and evidence.
        self.changes: list[str] = []
        # What the user may want to tidy up.
        self.notes: list[str] = []
        self.started = time.time()
        # Models, lexicons and scorers in use; answers asked for live, and replayed.
        self.used: list[dict[str, Any]] = []
        self.calls = [0, 0]
        # Facts of tests that differ between runs that find the same, by node id.
        self.tests: dict[str, dict[str, Any]] = {}
        # What suites measured, in the order in which it was found.
        self.suites: list[dict[str, Any]] = []
        # Commands for GitHub Actions, printed after the summary.
        self.annotations: list[str] = []
        self._records: list[tuple[tuple[str, int, str], dict[str, Any]]] = []

    # Before the JUnit plugin, which closes a test case with the report of its teardown.
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the results of a report."""
        path, line, _ = report.location
        if line is None:
            # A check of a command has no file; its name begins with that of the suite or command.
            path = report.nodeid.partition("::")[0]
        new = json.loads(report.__dict__.get(RECORDS, "{}"))
        for test, facts in new.get("tests", {}).items():
            self.tests.setdefault(test, {}).update(facts)
        for record in new.get("results", []):
            record["context"] = self.tests.setdefault(record["nodeid"], {})
            xfail = "xfailed" if report.skipped else "xpassed"
            record["outcome"] = xfail if hasattr(report, "wasxfail") else report.outcome
            record["file"], record["line"] = Path(path).as_posix(), (line or 0) + 1
            # The verdict is red but the test is not: it expects this verdict.
            record["expected"] = record["red"] and report.outcome in ("passed", "skipped")
            self._records.append(((path, line or 0, report.nodeid), record))
            if record["postponed"] and self.junit:
                self.cases[report.nodeid] = self.junit.node_reporter(report)
        # Another attempt may still end with a verdict ("rerun" is of pytest-rerunfailures).
        if new.get("unjudged") and report.outcome in ("passed", "failed", "skipped"):
            outcome = "xfailed" if hasattr(report, "wasxfail") else "failed"
            place = {"file": Path(path).as_posix(), "line": (line or 0) + 1}
            about = {"nodeid": report.nodeid, **place, "outcome": outcome}
            self.unjudged.setdefault(report.nodeid, about)
        self.unchecked += [report.nodeid] * new.get("unchecked", False)
        self.compared += new.get("compared", 0)
        self.planned += new.get("planned", [])
        self.suites += new.get("suites", [])
        self.used += new.get("used", [])
        self.calls = [sum(each) for each in zip(self.calls, new.get("calls", (0, 0)), strict=True)]

    @property
    def junit(self) -> Any:
        """The plugin that writes JUnit XML; None if it is not active."""
        plugins = self.config.pluginmanager.get_plugins()
        return next((each for each in plugins if hasattr(each, "add_global_property")), None)

    @property
    def records(self) -> list[dict[str, Any]]:
        """All results, in the order of the tests in their files."""
        return [record for _, record in sorted(self._records, key=lambda pair: pair[0])]

    def close(self, exit_status: int = 0) -> None:
        """Correct for multiple assertions, write the reports, and collect errors."""
        if self._records:
            from pytest_llmfair.reports.record import adjust, uphold

            adjust([record for _, record in self._records])
            self.upheld = uphold(self.records)
        judged, required = len(self._records) - self.compared, self.settings.require
        if judged < required:
            plural = "assertion was" if judged == 1 else "assertions were"
            self.errors.append(
                f"{judged} fairness {plural} judged, --llmfair-require asks for {required}"
            )
        if self._records:
            self.errors += [
                f"{each.title} ended on {each.expires}: {each}; renew or remove it"
                for each in self.settings.waivers
                if each.expired
            ]
            for each in self.settings.waivers:
                self.notes += self._about(each)
        if (self._records or self.errors) and self.junit:
            self._add_to_junit()
        upheld = [f"{test}: {message}" for test, found in self.upheld.items() for message in found]
        self.errors = upheld + self.errors
        if self.settings.baseline is not None and self._records:
            self._update_baseline() if self.settings.update_baseline else self._look_at_baseline()
        # Without results, the summary of pytest says enough.
        if self.unjudged and self._records:
            from pytest_llmfair.reports.columns import without_verdict

            # Workers of xdist report in any order.
            key = itemgetter("file", "line", "nodeid")
            self.notes.append(without_verdict(sorted(self.unjudged.values(), key=key)))
        if self.settings.reports or (self._records and self.settings.recorded):
            fine = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
            raised = bool(self.errors) and exit_status in fine
            status = int(pytest.ExitCode.TESTS_FAILED) if raised else exit_status
            self.errors += self._write_reports(status)

    def _about(self, waiver: Waiver) -> list[str]:
        """Return the warnings about a waiver that still holds."""
        covered = [r for _, r in self._records if waiver.covers(r["nodeid"], r["metric"])]
        if waiver.expired or not covered:
            return [] if waiver.expired else [f"{waiver.title} is for no result of this run"]
        if waiver.worst is None:
            return [
                f"{waiver.title} has no key worst: it accepts a value of any size; give the worst "
                "value that you accept"
            ]
        from pytest_llmfair._util.wording import number
        from pytest_llmfair.judging.facts import decimals, estimate

        return [
            f"{waiver.title} does not accept {r['verdict']} {r['metric']} in {r['nodeid']}: the "
            f"value {number(estimate(r), decimals(r))} "
            + (
                "or the difference of missing rates "
                if "missing_rates_differ" in r["reasons"]
                else ""
            )
            + f"is beyond worst = {waiver.worst:g}"
            for r in covered
            if r["red"] and r["verdict"] != "INVALID"
        ]

    def _write_reports(self, exit_status: int) -> list[str]:
        """Write the reports; return one message per failed report."""
        from pytest_llmfair.reports.context import context_of
        from pytest_llmfair.reports.files import annotation_lines, write_reports
        from pytest_llmfair.reports.record import run_document

        root, settings = self.config.rootpath, self.settings
        # What a run writes says nothing of the tests; a recording that is only replayed does.
        outputs = [settings.json, settings.html, settings.markdown, settings.evidence]
        outputs += [self.config.getoption("xmlpath", None)]
        outputs += [settings.cassette] if self.calls[0] else []
        outputs += [settings.baseline] if settings.update_baseline else []
        context = context_of(root, self.started, time.time(), self.calls, outputs)
        context["tests"] = dict(sorted(self.tests.items()))
        document = run_document(
            self.records,
            self.settings,
            self.used,
            context,
            errors=list(self.unjudged.values()),
            suites=self.suites,
            exit_status=exit_status,
        )
        if in_github_actions():
            self.annotations = annotation_lines(document, os.environ, root)
        errors = write_reports(document, self.settings)
        if self.settings.evidence is not None:
            from pytest_llmfair.gate.evidence import write_evidence

            try:
                folder = Path(self.settings.evidence)
                given = self.config.getoption("llmfair_margin", None) is not None
                ini = "" if given or self.config.inipath is None else str(self.config.inipath)
                lines = write_evidence(folder, document, self.records, settings, root, ini)
                self.changes = [*self.changes, *lines]
            except (OSError, ValueError) as error:
                errors.append(f"the evidence is not written: {error}")
        return errors

    def _update_baseline(self) -> None:
        """Write this run to the file of the baseline."""
        from pytest_llmfair.gate import baseline

        assert self.settings.baseline is not None
        models = [dict(each) for each in self.used if each["kind"] == "model"]
        about = {"models": models, "seed": self.settings.seed}
        try:
            self.changes = baseline.update(
                Path(self.settings.baseline), self.records, about, self.settings.baseline_days
            )
        except (OSError, ValueError) as error:
            self.errors.append(f"the baseline is not written: {error}")

    def _look_at_baseline(self) -> None:
        """Say which checks were not compared with the baseline."""
        from pytest_llmfair.gate import baseline

        errors, self.changes = baseline.coverage(self.settings, self.records)
        self.errors += errors
        models = baseline.read_document(Path(self.settings.baseline or ""))["about"].get(
            "models", ()
        )
        self.used += [{**each, "kind": "model", "role": "baseline"} for each in models]

    def _add_to_junit(self) -> None:
        """Add the results that are known only at the end to the JUnit report."""
        from xml.etree.ElementTree import Element

        from pytest_llmfair.judging.message import property_name

        junit = self.junit
        for record in self.records:
            if record["p_adjusted"] is not None:
                name = property_name("p_adjusted", record["nodeid"], record["metric"])
                junit.add_global_property(name, f"{record['p_adjusted']:.6g}")
        for test, found in self.upheld.items():
            # A closed test case returns the same element every time.
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
