"""How reports show what suites measured."""

from __future__ import annotations

import pytest

from pytest_llmfair.reports.html import html_page
from pytest_llmfair.reports.markdown import markdown
from pytest_llmfair.reports.record import run_document
from pytest_llmfair.reports.suites import suite_views
from pytest_llmfair.settings import Settings


def suite(**changed):
    value = {
        "task": "letters",
        "metric": "gap",
        "check": "gap demo letters",
        "value": 0.25,
        "lower": 0.1,
        "upper": 0.4,
        "of": "value",
        "level": 0.95,
        "valid": True,
        "wordings": [0.2, 0.3],
        "notes": ["few units"],
    }
    table = {
        "title": "gaps",
        "columns": ["metric", "a", "b"],
        "rows": [["gap", 0.1, -0.4], ["ratio", None, 2.0]],
        "note": "",
    }
    return {
        "test": "demo",
        "name": "demo",
        "about": "a demo",
        "paper": "A. Author (2026)",
        "model": "m",
        "size": "smoke",
        "population": None,
        "tasks": [{"name": "letters", "note": "letters only"}],
        "unmeasured": [],
        "invalid": [],
        "values": [value],
        "tables": [table],
        "limits": ["says <little>"],
        **changed,
    }


def document_of(*suites):
    return run_document([], Settings(), suites=suites)


def test_a_run_without_suites_has_no_such_key():
    assert "suites" not in document_of()


def test_the_last_state_of_a_suite_is_kept():
    first = suite(tasks=[], values=[], tables=[], unmeasured=["letters"])
    (found,) = document_of(first, suite())["suites"]
    assert found == suite()


def test_workers_put_their_tasks_together():
    other = suite(tasks=[{"name": "stories", "note": ""}], values=[], unmeasured=["letters"])
    (found,) = document_of(suite(unmeasured=["stories"]), other)["suites"]
    assert {task["name"] for task in found["tasks"]} == {"letters", "stories"}
    assert found["unmeasured"] == []
    assert len(found["values"]) == 1
    assert len(found["tables"]) == 1


def test_cells_are_shaded_within_their_row():
    (view,) = suite_views(document_of(suite()))
    (table,) = view.tables
    assert table.cells[0] == (("gap", "text"), ("0.100", "shade-2"), ("-0.400", "shade-5"))
    assert table.cells[1] == (("ratio", "text"), ("undefined", ""), ("2.000", "shade-5"))


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        (["group", "n", "share"], ["a", 12, 0.5]),
        (["n", "lower", "upper"], [0.1, 0.2, 0.3]),
        (["group", "share"], ["a", 0.5]),
    ],
)
def test_counts_intervals_and_single_numbers_are_not_shaded(columns, row):
    table = {"title": "t", "columns": columns, "rows": [row], "note": ""}
    (view,) = suite_views(document_of(suite(tables=[table])))
    assert not view.tables[0].shaded


def test_a_value_without_a_bound_or_without_evidence_says_so():
    (view,) = suite_views(document_of(suite()))
    shown = ("letters", "gap", "0.250", "[0.100, 0.400]", "0.200 to 0.300", "no bound")
    assert view.rows[0].cells == shown
    wrong = suite(invalid=["letters: half of the answers are missing"])
    wrong["values"][0]["valid"] = False
    (view,) = suite_views(document_of(wrong))
    assert view.rows[0].cells[-1] == "not valid"
    for shown in (html_page(document_of(wrong)), markdown(document_of(wrong))):
        assert "half of the answers are missing" in shown


def test_an_undefined_value_is_not_shown_as_a_number():
    nothing = suite()
    nothing["values"][0] |= {"value": None, "lower": None, "upper": None, "wordings": [0.1, None]}
    (view,) = suite_views(document_of(nothing))
    assert view.rows[0].cells[2:5] == ("undefined", "undefined", "no value for one or more")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"unmeasured": ["stories"]}, "run or the task ended early: stories"),
        ({}, "says &lt;little&gt;"),
    ],
    ids=["ended early", "escaped"],
)
def test_every_report_says_what_a_suite_lacks(changes, said):
    document = document_of(suite(**changes))
    for shown in (html_page(document), markdown(document)):
        assert said in shown


def test_tables_that_do_not_fit_into_a_comment_are_counted():
    many = [{**suite()["tables"][0], "title": f"table {i}"} for i in range(2000)]
    text = markdown(document_of(suite(tables=many)))
    assert len(text) < 60_000
    assert "tables of suites more, in the JSON record" in text
