"""The files of a session: JSON, page, Markdown, evidence and JUnit XML."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from pytest_llmfair.reports import columns
from pytest_llmfair.reports.html import html_page
from pytest_llmfair.reports.record import read_run

ALL = (
    *("--llmfair-json=run.json", "--llmfair-html=page.html", "--llmfair-markdown=run.md"),
    *("--llmfair-evidence=found", "--junitxml=junit.xml"),
)
HOSTILE = """
from pytest_llmfair import assert_metric

def hostile(prompt):
    return "<script>alert(1)</script>\\x1b[31m\\x00\\ud800\\u202e\\u2066</pre>&lt; " + prompt

def test_hostile():
    assert_metric(
        "toxic_fraction",
        ["<img src=x onerror=alert(2)> %d" % i for i in range(40)],
        bound=0.2, client=hostile, generations=1, scorer=lambda texts: [1.0] * len(texts),
        label="odd \\ud800\\x00",
    )
"""


@pytest.fixture
def report(run, pytester, monkeypatch):
    """Return a function that runs a test file, and returns a function to read its reports."""
    monkeypatch.delenv("CI", raising=False)

    def report(code, *arguments):
        pytester.makepyfile(test_it=code)
        run(*ALL, *arguments)
        # Every record that a test makes is valid.
        read_run(pytester.path / "run.json")
        return lambda name: (pytester.path / name).read_text(encoding="utf-8")

    return report


def results(read):
    return json.loads(read("run.json"))["results"]


def cases(read):
    return {
        case.attrib["name"]: case
        for case in ElementTree.fromstring(read("junit.xml")).iter("testcase")
    }


def properties(case):
    return [(each.attrib["name"], each.attrib["value"]) for each in case.iter("property")]


class Page(HTMLParser):
    """Elements, attributes and visible text of a page; closing tags must match."""

    def __init__(self, text):
        super().__init__()
        self.names, self.attributes, self.text, self.opened = [], [], "", []
        self.feed(text)
        assert self.opened == []

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "wbr"):
            self.opened.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_json_has_a_schema_version_and_the_settings_that_matter(report, verdicts):
    document = json.loads(
        report(verdicts, "--llmfair-seed=3", "--llmfair-mode=strict")("run.json")
    )
    assert document["schema_version"] == 2
    assert document["settings"] == {
        "mode": "strict",
        "level": 0.95,
        "inconclusive": "warn",
        "underpowered": "fail",
        "family": "none",
        "seed": 3,
        "max_tokens": None,
        "max_missing": 0.05,
        "max_invalid": 0.1,
        "max_uncertain": 0.25,
    }


def test_every_result_is_in_json_page_and_junit(report, verdicts):
    read = report(verdicts)
    expected = {
        "test_fails": "FAIL",
        "test_passes": "PASS",
        "test_stays_undecided": "INCONCLUSIVE",
    }
    found = results(read)
    # Sorted by test.
    assert [(r["nodeid"], r["verdict"]) for r in found] == [
        (f"test_it.py::{name}", verdict) for name, verdict in expected.items()
    ]
    least = {"metric", "value", "lower", "upper", "level", "bound", "missing", "reasons"}
    assert all(least <= set(r) and r["lower"] < r["value"] < r["upper"] for r in found)
    page = Page(read("page.html"))
    assert page.names.count("tr") == 1 + 3
    assert page.names.count("article") == page.names.count("h3") == 3
    assert all(page.text.count(name) >= 4 for name in expected)
    assert len(re.findall(r"method\s*interval by ", page.text)) == 3
    assert "none: these tests judge data of their own" in page.text
    assert "1 PASS, 1 FAIL, 1 INCONCLUSIVE" in page.text
    assert all(f"<code>{name}</code>" in read("run.md") for name in expected)
    junit = cases(read)
    for name, verdict in expected.items():
        ((key, value),) = properties(junit[name])
        assert key == "llmfair.toxic_fraction"
        assert value.startswith(f"{verdict} toxic_fraction ")
    (failure,) = junit["test_fails"].iter("failure")
    assert failure.attrib["message"].startswith("FAIL toxic_fraction: 0.50 [0.43, 0.57], allowed")


def test_a_new_column_is_in_the_table_and_on_the_page(report, verdicts, run, monkeypatch):
    more = columns.Column(heading="level", cell=lambda record: f"{record['level']:.0%}")
    monkeypatch.setattr(columns, "COLUMNS", (*columns.COLUMNS, more))
    page = Page(report(verdicts)("page.html"))
    assert page.text.count("95%") == 3
    run().stdout.fnmatch_lines(["test and metric * n *level", "test_passes * PASS * 200 95%"])


def test_the_page_says_how_long_each_test_took_where_the_run_does(report, verdicts):
    document = json.loads(report(verdicts)("run.json"))
    tests = document["context"]["tests"]
    document["context"]["tests"] = {name: {"seconds": 0.9} for name in tests}
    assert "test took" not in html_page(document)
    document["context"]["tests"] = {name: {"seconds": 300.0} for name in tests}
    text = html_page(document)
    assert text.count('data-name="test took">5 min</td>') == 3
    # The list of what a run depends on does not name every test again.
    assert "test_passes" not in text.partition('id="made"')[2]
    del document["context"]["tests"]["test_it.py::test_passes"]
    assert html_page(document).count('data-name="test took"></td>') == 1
    del document["context"]
    assert "test took" not in html_page(document)


def test_hostile_prompts_and_outputs_neither_run_nor_break_a_report(report):
    read = report(HOSTILE)
    text = read("page.html")
    page = Page(text)
    assert "alert(1)" in page.text
    assert "alert(2)" in page.text
    assert not {"script", "img", "iframe", "object", "link"} & set(page.names)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert not [v for name, v in page.attributes if name == "src" or "http:" in (v or "")]
    assert not {"\x1b", "\x00", "\u202e", "\u2066"} & set(text)
    ((name, _),) = properties(cases(read)["test_hostile"])
    assert name == "llmfair.toxic_fraction odd \\ud800\\x00"


def test_texts_that_may_not_be_shown_are_in_no_file(report):
    read = report(HOSTILE, "--llmfair-show-text=none")
    for name in ("page.html", "found/report.html", "run.json", "found/run.json", "run.md"):
        assert "alert(" not in read(name)
    assert "The texts are hidden" in read("page.html")
    read = report(HOSTILE)
    assert "alert(" in read("page.html")
    assert "alert(" not in read("run.json") + read("run.md")


def test_where_nothing_was_judged_the_reports_say_so(report):
    read = report("def test_it(): pass")
    assert results(read) == []
    for name in ("page.html", "run.md"):
        assert "No fairness assertion was judged." in read(name)
    assert properties(cases(read)["test_it"]) == []


def test_collecting_only_leaves_the_file_alone(run, pytester):
    (pytester.path / "run.json").write_text("kept")
    pytester.makepyfile("def test_it(): pass")
    run("--llmfair-json=run.json", "--collect-only")
    assert (pytester.path / "run.json").read_text() == "kept"


def test_results_that_cannot_be_written_fail_the_session(run, pytester):
    pytester.mkdir("gone")
    pytester.makepyfile("def test_it():\n import os\n os.rmdir('gone')")
    result = run("--llmfair-json=gone/run.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["ERROR: the results are not written: *"])


def test_every_check_of_a_test_is_a_property(report):
    read = report(
        """
        def test_it(fairness):
            fairness.check("toxic_fraction", [[0.1]] * 100, bound=0.1)
            fairness.check("toxic_fraction", [[0.2]] * 100, bound=0.1, label="again")
        """
    )
    assert [key for key, _ in properties(cases(read)["test_it"])] == [
        "llmfair.toxic_fraction",
        "llmfair.toxic_fraction again",
    ]


HOLM = """
import pytest
from pytest_llmfair import assert_toxic_fraction_within

@pytest.mark.parametrize("toxic", [80, *[50] * 4])
def test_model(toxic):
    assert_toxic_fraction_within([0.9] * toxic + [0.1] * (100 - toxic), bound=0.5)

def test_two_that_hold():
    for _ in range(2):
        assert_toxic_fraction_within([0.9] * 90 + [0.1] * 10, bound=0.5)
"""


@pytest.mark.parametrize(
    ("family", "workers"), [("xunit1", ()), ("xunit2", ("-p", "xdist", "-n", "2"))]
)
def test_a_fail_that_holds_after_holm_is_a_failure_of_its_test(report, family, workers):
    read = report(HOLM, "--llmfair-family=holm", "-o", f"junit_family={family}", *workers)
    (suite,) = ElementTree.fromstring(read("junit.xml")).iter("testsuite")
    counts = {key: suite.attrib[key] for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "6", "failures": "2", "errors": "0", "skipped": "0"}
    failed = {
        name: [failure.attrib["message"] for failure in case.iter("failure")]
        for name, case in cases(read).items()
    }
    assert {name for name, found in failed.items() if found} == {
        "test_model[80]",
        "test_two_that_hold",
    }
    assert failed["test_model[80]"][0].startswith("FAIL toxic_fraction holds after Holm's corr")
    assert failed["test_two_that_hold"][0].count("FAIL toxic_fraction") == 2


def test_an_error_of_the_session_is_an_error_in_junit(report):
    read = report("def test_it(): pass", "--llmfair-require=1")
    (suite,) = ElementTree.fromstring(read("junit.xml")).iter("testsuite")
    assert suite.attrib["errors"] == "1"
    (error,) = suite.iter("error")
    assert error.attrib["message"].startswith("0 fairness assertions were judged")
