"""What users meet around a suite: options that are wrong, runs that stop, and reports."""

from __future__ import annotations

import json

import pytest

from pytest_llmfair.cli import main
from pytest_llmfair.clients import ModelClient
from pytest_llmfair.reports.record import read_run
from pytest_llmfair.suites import get_suite, run
from pytest_llmfair.suites.checks import checks_of
from pytest_llmfair.suites.command import read_bounds
from pytest_llmfair.suites.kind import Table
from pytest_llmfair.suites.runner import Answers
from tests.suites.models import SORTS, Screener

FILE = """
version: 1
suite: ruted
model: "builtin:ngram?gender_skew=0.9"
tasks: [stories, personas]
bounds: {stories.stereotype: 0.4}
rationale: our product writes stories
owner: story team
"""
TEST = """
def test_stories(suite):
    found = suite("ruted", tasks=["stories"], bounds={"skew": 0.6})
    assert (found.model, found.population) == ("builtin:ngram", None)
"""
INTERRUPTED = """
from pytest_llmfair.suites import run

def answer(prompt):
    if "persona" in prompt or "user" in prompt:
        raise KeyboardInterrupt
    return "She slept."

def test_stories():
    run("ruted", answer, tasks=["stories", "personas"])
"""
STOPPED = """
import os, signal, time

asked = []

def answer(prompt):
    asked.append(prompt)
    if len(asked) == 5:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    return "She slept."
"""


@pytest.mark.parametrize(
    ("bounds", "tasks", "said"),
    [
        ({"personas.skew": 0.1}, ["stories"], "a task that is not asked; ask personas too"),
        ({"skew": 5}, None, "the bound of skew is 5"),
        ({"skew": float("nan")}, None, "give a finite number"),
    ],
)
def test_a_bound_that_can_judge_nothing_is_an_error(bounds, tasks, said):
    with pytest.raises(ValueError, match=said):
        get_suite("ruted").bounds(bounds, tasks)


def test_a_file_that_belongs_to_no_option_is_an_error(tmp_path, capsys):
    path = tmp_path / "prompts.txt"
    path.write_text("Hello.")
    with pytest.raises(SystemExit, match="2"):
        main(["run", "assessment", "--model", "builtin:ngram", str(path)])
    assert f"{path} belongs to no option; write --prompts" in capsys.readouterr().err


def test_wide_tables_have_long_texts_on_several_lines():
    row = ("a_name_that_is_long", "texts with many words " * 6, 0.5)
    lines = Table("wide", ("metric", "why", "value"), (row,)).lines()
    assert max(map(len, lines)) <= 80
    assert lines[2].split() == ["a_name_that_is_long", *row[1].split()[:4], "0.500"]
    assert len(lines) == 8


@pytest.mark.parametrize("place", ["", "pointwise."])
def test_a_bound_for_the_qualified_holds_in_any_order(place):
    given = {f"{place}rabbi@qualified": 0.5, f"{place}rabbi": 0.3}
    found = get_suite("resume").bounds(given, ["pointwise"])
    assert found == {("pointwise", "rabbi"): 0.3, ("pointwise", "rabbi@qualified"): 0.5}


@pytest.mark.parametrize(
    ("given", "said"), [("=0.3", "write METRIC=NUMBER"), ("skew=0.1,skew=0.2", "skew twice")]
)
def test_bounds_that_can_be_misread_are_errors(given, said):
    with pytest.raises(ValueError, match=said):
        read_bounds([given])


def test_a_bound_may_be_on_a_metric_at_k():
    assert read_bounds(["dp@k=2=0.1"]) == {"dp@k=2": 0.1}


def test_the_record_holds_what_a_file_and_a_test_measured(pytester):
    (pytester.path / "it.llmfair.yaml").write_text(FILE)
    pytester.makepyfile(TEST)
    found = pytester.runpytest("-q", "--llmfair-json=run.json", "--llmfair-html=run.html")
    found.assert_outcomes(passed=1, failed=1)
    document = read_run(pytester.path / "run.json")
    of_file, of_test = document["suites"]
    assert of_file["test"] == "it.llmfair.yaml"
    assert of_test["test"].endswith(".py::test_stories")
    assert of_file["name"] == "ruted"
    assert of_file["limits"] == list(get_suite("ruted").limits)
    # The task without a bound makes no test, so it is not asked.
    assert [task["name"] for task in of_file["tasks"]] == ["stories"]
    stereotype = of_file["values"][0]
    assert stereotype["lower"] < stereotype["value"] < stereotype["upper"]
    assert len(stereotype["wordings"]) == 3
    results = {record["metric"]: record for record in document["results"]}
    record = results[stereotype["check"]]
    assert (record["verdict"], record["owner"]) == ("FAIL", "story team")
    assert (record["file"], record["line"]) == ("it.llmfair.yaml", 6)
    found.stdout.fnmatch_lines(["*check*it.llmfair.yaml:6, owner story team*"])
    found.stdout.fnmatch_lines(["*asked live*"])
    page = (pytester.path / "run.html").read_text("utf-8")
    assert page.count('id="suite-') == 2
    assert "holds for this task only (bedtime stories)" in page


@pytest.mark.slow
def test_an_interrupted_run_keeps_what_it_measured(pytester):
    pytester.makepyfile(INTERRUPTED)
    pytester.runpytest_subprocess("-q", "--llmfair-json=run.json")
    (found,) = read_run(pytester.path / "run.json")["suites"]
    assert [task["name"] for task in found["tasks"]] == ["stories"]
    assert found["unmeasured"] == ["personas"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "no answer is kept; with --llmfair-cassette FILE"),
        (("--llmfair-cassette", "kept.jsonl"), "kept.jsonl, and the same command with"),
    ],
)
def test_ctrl_c_in_the_first_task_says_what_is_kept(command, tmp_path, options, said):
    (tmp_path / "mine.py").write_text(STOPPED)
    done = command("ruted", "--model", "python:mine:answer", "--task", "stories", "-q", *options)
    assert done.returncode == 2, done.stdout + done.stderr
    (advice,) = [line for line in done.stdout.splitlines() if line.startswith("interrupted; ")]
    assert said in advice
    assert "Traceback" not in done.stdout + done.stderr
    if options:
        assert len((tmp_path / "kept.jsonl").read_text("utf-8").splitlines()) == 4


@pytest.mark.slow
def test_a_spent_budget_is_no_pass_and_the_run_can_go_on(command, tmp_path):
    options = ("ruted", "--model", "builtin:ngram", "--task", "stories", "-q")
    options += ("--llmfair-cassette", "answers.jsonl", "--llmfair-max-calls", "100")
    done = command(*options, "--llmfair-json", "run.json")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "3 failed" in done.stdout
    assert "44 of 144 answers were not asked for" in done.stdout
    assert "--llmfair-record-mode new" in done.stdout
    (found,) = read_run(tmp_path / "run.json")["suites"]
    assert found["invalid"]
    again = command(*options, "--llmfair-record-mode", "new", "--llmfair-json", "run.json")
    assert again.returncode == 0, again.stdout + again.stderr
    document = read_run(tmp_path / "run.json")
    assert document["context"]["answers"] == {"live": 44, "replayed": 100}
    assert document["suites"][0]["invalid"] == []


def test_a_wrong_model_is_said_once(command):
    done = command("ruted", "--model", "builtin:ngra")
    assert done.returncode == 1
    assert "1 failed" in done.stdout
    assert "did you mean" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ruted", "stories"], "write --task stories"),
        (["ruted", "--bounds", "ruted_skw=0.1"], "did you mean ruted_skew?"),
        (["ruted", "--plan", "--bounds", "ruted_skw=0.1"], "did you mean ruted_skew?"),
        # Not trick_stereotype, which takes no bound.
        (["ruted", "--bounds", "stereotpe=0.1"], "did you mean stereotype?"),
        (["ruted", "--task", "storys"], "choose stories, personas"),
        (["rutd"], "did you mean ruted?"),
        ([], "`llmfair run --list` lists them"),
    ],
)
def test_wrong_words_are_answered_with_the_right_ones(capsys, arguments, said):
    with pytest.raises(SystemExit, match="2"):
        main(["run", *arguments])
    assert said in capsys.readouterr().err


def test_the_command_says_how_to_repeat_a_check(command, tmp_path):
    command(
        *("ruted", "--model", "builtin:ngram", "--task", "stories", "--bounds", "skew=0.6"),
        *("-q", "--llmfair-json", "run.json", "--llmfair-markdown", "run.md"),
    )
    (record,) = json.loads((tmp_path / "run.json").read_text())["results"]
    assert record["file"] == "ruted"
    assert record["rerun"] == (
        "llmfair run ruted --size smoke --task stories --bounds stories.ruted_skew=0.6"
    )
    again = command(*record["rerun"].split()[2:], "--model", "builtin:ngram", "-q")
    assert again.returncode == 0, again.stdout + again.stderr
    shown = (tmp_path / "run.md").read_text("utf-8")
    assert "<summary>ruted (smoke) of builtin:ngram" in shown
    assert "| stories<br>ruted_skew |" in shown


def test_repeating_a_check_needs_the_metrics_and_prompts_of_the_run():
    options = ["--metrics=rabbi", "--prompts=my prompts.txt"]
    answers = Answers(get_suite("resume"), "smoke", ["pointwise"], options=options)
    check = checks_of(answers, {("pointwise", "rabbi"): 0.3})[0]
    assert check.rerun == (
        "llmfair run resume --size smoke --task pointwise --bounds pointwise.rabbi=0.3 "
        "--metrics=rabbi '--prompts=my prompts.txt'"
    )


@pytest.mark.slow
def test_the_values_of_groups_can_be_in_the_record():
    # The interval of a gap of scores may have no upper end, which JSON cannot hold as a number.
    result = run("resume", ModelClient(Screener(0.0)), tasks=["pointwise"], metrics=SORTS)
    found, measured = result.to_dict(), result.measured
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    names = {each.judge(0.5, "resume", "m").metric for each in measured}
    assert {value["check"] for value in found["values"]} == names
    assert "pointwise rabbi by group" in [table["title"] for table in found["tables"]]


def test_a_judge_that_follows_the_order_gives_no_valid_value():
    found = run("resume", lambda prompt: "A", tasks=["pairwise_text"], metrics=["rabbi"])
    assert not any(value["valid"] for value in found.to_dict()["values"])
    assert "not valid: pairwise_text: the answer depends on the order shown" in found.table()


@pytest.mark.parametrize(("bounds", "said"), [({}, "no valid value"), ({"rabbi": 0.5}, "INVALID")])
def test_a_check_of_a_judge_that_follows_the_order_never_passes(bounds, said):
    answers = Answers(get_suite("resume").measuring(["rabbi"]), "smoke", ["pairwise_text"])
    limits = answers.suite.bounds(bounds, answers.tasks)
    for check in checks_of(answers, limits):
        with pytest.raises((ValueError, AssertionError), match=said) as error:
            check.run(client=lambda: lambda prompt: "A", scorers=dict, pairs=dict)
        assert "the answer depends on the order shown" in " ".join(str(error.value).split())


def test_a_check_of_an_undefined_value_without_a_bound_is_skipped():
    answers = Answers(get_suite("resume").measuring(["rabbi"]), "smoke", ["pairwise_text"])
    check, *_ = checks_of(answers, {})
    with pytest.raises(pytest.skip.Exception, match="undefined: no answer names one of the two"):
        check.run(client=lambda: lambda prompt: "I can't choose.", scorers=dict, pairs=dict)


def test_an_undefined_value_is_never_valid(pytester):
    pytester.makepyfile(
        """
        def test_refusals(suite):
            suite("resume", tasks=["pairwise_text"], metrics=["rabbi"])
        """
    )
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture
        def model_client():
            return lambda prompt: "I can't choose."
        """
    )
    reports = [f"--llmfair-{kind}=run.{kind}" for kind in ("json", "html", "markdown")]
    pytester.runpytest("-q", *reports).assert_outcomes(passed=1)
    (found,) = read_run(pytester.path / "run.json")["suites"]
    assert {(value["value"], value["valid"]) for value in found["values"]} == {(None, False)}
    assert "| undefined | no value for one or more | not valid |" in (
        pytester.path / "run.markdown"
    ).read_text("utf-8")
    page = (pytester.path / "run.html").read_text("utf-8")
    assert page.count('<td data-name="verdict">not valid</td>') == len(found["values"])
