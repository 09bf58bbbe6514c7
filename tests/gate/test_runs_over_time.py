"""`llmfair diff` and `llmfair history`: recorded runs, as far as records without data tell."""

from __future__ import annotations

import copy
import json
import re

import pytest

PASSES, FAILS, UNDECIDED = (
    f"test_it.py::test_{x}" for x in ("passes", "fails", "stays_undecided")
)


@pytest.fixture
def old(recorded):
    """Return the record of a run with a PASS, a FAIL, an INCONCLUSIVE and an INVALID."""
    return json.loads(recorded.read_text("utf-8"))


def check(document, name):
    (found,) = (each for each in document["results"] if each["nodeid"] == name)
    return found


def changed(document, name, **fields):
    new = copy.deepcopy(document)
    check(new, name).update(fields)
    return new


@pytest.fixture
def diff(llmfair, tmp_path):
    """Return a function that compares two records, and returns status, text and page."""

    def diff(old, new, *more):
        for name, document in (("old", old), ("new", new)):
            (tmp_path / name).write_text(json.dumps(document), "utf-8")
        done = llmfair("diff", "old", "new", *more)
        assert done.returncode in (0, 1), done.stderr
        return done.returncode, done.stdout

    return diff


def row_of(text, name):
    (row,) = (line for line in text.splitlines() if line.startswith(f"| {name} "))
    return [cell.strip() for cell in row.strip("|").split(" | ")]


def test_identical_runs_say_so(diff, old):
    status, text = diff(old, old)
    assert status == 0
    assert "**The two runs are identical: the same 5 results.**" in text
    assert "With the same settings, models, lexicons and scorers." in text


@pytest.mark.parametrize(
    ("name", "fields", "status", "change"),
    [
        (PASSES, {"verdict": "FAIL"}, 1, "worse"),
        (PASSES, {"verdict": "INCONCLUSIVE"}, 1, "worse"),
        (
            PASSES,
            {"verdict": "FAIL", "waiver": "known until 2027-01-01"},
            1,
            "worse; newly waived",
        ),
        (FAILS, {"verdict": "INVALID"}, 1, "worse"),
        (FAILS, {"waiver": "known until 2027-01-01"}, 1, "same verdict; newly waived"),
        (FAILS, {"verdict": "PASS"}, 0, "better"),
        (
            FAILS,
            {"verdict": "PASS", "bound": 0.9},
            1,
            "other verdict; other rules; bound &lt;= 0.100 before",
        ),
        (FAILS, {"bound": 0.2}, 1, "same verdict; other rules; bound &lt;= 0.100 before"),
        (FAILS, {"mode": "point"}, 1, "same verdict; other rules; mode gate before"),
        (FAILS, {"scorer": "toxicity"}, 0, "same verdict; scorer unknown before"),
        (UNDECIDED, {"verdict": "UNDERPOWERED"}, 0, "other verdict"),
        # So many decimals tell value and bound apart that the bound looks like another one.
        (UNDECIDED, {"value": 0.09999}, 0, "same verdict"),
    ],
)
def test_a_change_of_one_check(diff, old, name, fields, status, change):
    found, text = diff(old, changed(old, name, **fields))
    assert (found, row_of(text, name)[1]) == (status, change)
    assert "identical" not in text


def test_checks_of_one_run_only_are_new_or_gone(diff, old):
    less = {**old, "results": [each for each in old["results"] if each["nodeid"] != FAILS]}
    status, text = diff(less, old)
    assert (status, row_of(text, FAILS)[1:3]) == (1, ["new; not PASS", "not in this run"])
    status, text = diff(old, less)
    assert (status, row_of(text, FAILS)[1]) == (1, "gone")
    assert "1 gone" in text
    less["results"] = [each for each in old["results"] if each["nodeid"] != PASSES]
    assert diff(less, old)[0] == 0


def test_equal_checks_of_another_number_are_not_matched(diff, old):
    twice = {**old, "results": [*old["results"], check(old, PASSES)]}
    status, text = diff(old, twice)
    rows = [line for line in text.splitlines() if line.startswith(f"| {PASSES} ")]
    assert status == 1
    assert [row.split(" | ")[1] for row in rows] == ["gone", "new", "new"]


def test_a_value_that_is_undefined_is_never_the_same(diff, old):
    _, text = diff(old, changed(old, PASSES, bound=0.2))
    found = row_of(text, "test_it.py::test_has_no_value")
    assert found[1] == "INVALID in both"
    assert found[2].startswith("INVALID: n/a")
    assert "not compared" in found[4]
    assert "3 same verdict" not in text.splitlines()[2]


def test_a_rerun_counts_with_its_first_verdict(diff, old):
    again = changed(old, PASSES, verdict="FAIL")
    again["results"].append({**check(old, PASSES), "attempt": 2})
    status, text = diff(old, again)
    assert (status, row_of(text, PASSES)[1]) == (1, "worse")


def test_a_test_that_ended_with_an_error_is_no_success(diff, old):
    about = {
        "nodeid": "test_it.py::test_new",
        "file": "test_it.py",
        "line": 3,
        "outcome": "failed",
    }
    status, text = diff(old, {**old, "errors": [about]})
    assert status == 1
    assert "1 fairness test ended with an error" in text


def test_models_and_settings_that_differ_are_named(diff, old):
    new = copy.deepcopy(old)
    new["settings"]["seed"] = 8
    new["models"] = [{**old["models"][0], "name": "other:model"}]
    text = diff(old, new)[1]
    assert "| Settings, seed | 0 | 8 |" in text
    assert ".shy | used | not used |" in text
    assert "| Model other:model | not used | used |" in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is no JSON"),
        ("[" * 100 + "]" * 100, "nested deeper"),
        ("[]", "is not a recorded run: it has no schema_version"),
        (lambda x: x["results"].clear(), "holds no results"),
        (lambda x: x["results"][0].update(value=float("nan")), "results/0/value"),
        (lambda x: x["results"][0].update(bound="0.1"), "results/0/bound"),
        (lambda x: x["results"][0].update(lower="low"), "results/0/lower"),
        (lambda x: x["results"][0].update(verdict="GOOD"), "results/0/verdict"),
        (lambda x: x["results"][0].pop("waiver"), "waiver"),
        (lambda x: x.update(results={}), "results"),
    ],
)
@pytest.mark.parametrize("command", ["diff", "history"])
def test_records_that_make_no_sense_are_errors(llmfair, old, tmp_path, content, message, command):
    (tmp_path / "good").write_text(json.dumps(old), "utf-8")
    if callable(content):
        content(old)
        content = json.dumps(old)
    (tmp_path / "bad").write_text(content, "utf-8")
    more = ["--html", "page.html"] if command == "history" else []
    for files in (["good", "bad"], ["bad", "good"]):
        done = llmfair(command, *files, *more)
        assert done.returncode == 2
        assert message in done.stderr
    assert not (tmp_path / "page.html").exists()


def test_markup_in_a_record_is_shown_as_text(diff, llmfair, old, tmp_path):
    evil = "<script>alert(1)</script>|[x](javascript:1)"
    new = copy.deepcopy(old)
    for each in new["results"]:
        each |= {"nodeid": evil, "metric": evil, "model": evil, "scorer": evil, "waiver": evil}
    new["models"] = [{**each, "name": evil} for each in old["models"]]
    status, _ = diff(old, new, "--html", "diff.html", "--markdown", "diff.md")
    assert status == 1
    assert llmfair("history", "old", "new", "--html", "history.html").returncode == 0
    for name in ("diff.html", "history.html", "diff.md"):
        text = (tmp_path / name).read_text("utf-8")
        assert "alert(1)" in text
        assert "<script" not in text
    assert "[x](" not in text


def lines_between(page, test):
    """Return how many lines join two runs, and how many mark a break, in a check's drawing."""
    shown = re.sub("<wbr>", "", page)
    (article,) = (part for part in shown.split("<article")[1:] if f">{test}</p>" in part)
    return article.count('class="joined"'), article.count('class="break"')


def test_a_history_joins_runs_that_ask_the_same_and_no_others(llmfair, old, tmp_path):
    del old["context"]
    new = changed(old, FAILS, bound=0.2)
    check(new, PASSES).update(value=None, lower=None, upper=None, verdict="INVALID")
    new["results"] = [each for each in new["results"] if each["nodeid"] != UNDECIDED]
    for name, document in (("1", old), ("2", old), ("3", new), ("4", old)):
        (tmp_path / name).write_text(json.dumps(document), "utf-8")
    done = llmfair("history", *"1234", "--html", "page.html")
    assert done.stdout == "page.html: 4 runs, in the order given, because a run has no time\n"
    page = (tmp_path / "page.html").read_text("utf-8")
    assert lines_between(page, FAILS) == (1, 2)
    # Without a value, and without the check, there is nothing to join.
    assert lines_between(page, PASSES) == (1, 0)
    assert lines_between(page, UNDECIDED) == (1, 0)
    assert "run 3: INVALID, estimate n/a" in page
    assert "run 3: not run" in page
    assert page.count("<circle") == 4 * 4 - 2
    # A value that is no evidence is drawn, and joined with nothing.
    (tmp_path / "5").write_text(json.dumps(changed(old, PASSES, verdict="INVALID")), "utf-8")
    llmfair("history", *"15", "--html", "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert lines_between(page, PASSES) == (0, 0)
    assert page.count("<circle") == 2 * 4


def test_runs_with_times_are_drawn_in_their_order(llmfair, old, tmp_path):
    context = {
        "started": "2026-11-01T10:00:00+00:00", "ended": "2026-11-01T10:00:01+00:00", "seconds": 1,
        "git": {"commit": "a" * 40, "branch": None, "dirty": False}, "ci": None, "python": "3.11",
        "platform": "x", "packages": {}, "models": {},
        "answers": {"live": 0, "replayed": 0},
    }  # fmt: skip
    for day, name in (("20", "b"), ("03", "a"), ("11", "c")):
        about = {**context, "started": context["started"].replace("-01T", f"-{day}T")}
        (tmp_path / name).write_text(json.dumps({**old, "context": about}), "utf-8")
    done = llmfair("history", "b", "a", "c", "--html", "page.html")
    assert "in the order of their times" in done.stdout
    page = (tmp_path / "page.html").read_text("utf-8")
    assert re.findall(r'<th scope="row">(\d \w)</th>', page) == ["1 a", "2 c", "3 b"]
    assert page.count(f"commit {'a' * 12}") == 3
