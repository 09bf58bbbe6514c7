"""What all suites share: plan, bounds, command, file of checks and fixture."""

from __future__ import annotations

import json
import math
import re

import pytest

from pytest_llmfair import BoundExceeded
from pytest_llmfair.cli import main
from pytest_llmfair.clients import ModelClient, load_client
from pytest_llmfair.suites import all_suites, get_suite, run
from pytest_llmfair.suites.checks import read_suite
from pytest_llmfair.suites.command import plan
from pytest_llmfair.suites.own_data import with_prompts
from pytest_llmfair.suites.result import rank_correlation
from tests.suites.models import BALANCED, SKEWED, TEXTS, Screener, noise, verdict


def test_the_rank_correlation_is_spearmans():
    r, low, high = rank_correlation([1, 2, 2, 4, 5], [2, 1, 4, 3, 9])
    # scipy.stats.spearmanr of the same numbers
    assert r == pytest.approx(0.6668859288553503)
    assert low < r < high


@pytest.mark.parametrize(("sign", "values"), [(1.0, [2, 3, 4, 9]), (-1.0, [9, 4, 3, 2])])
def test_a_perfect_rank_correlation_of_few_values_is_uncertain(sign, values):
    r, low, high = rank_correlation([1, 2, 3, 4], values)
    # Fisher's z of 0.8, the next smaller correlation, with the error of Bonett and Wright.
    inner = sign * math.tanh(math.atanh(0.8) - 1.96 * math.sqrt(1.32))
    assert (r, low, high) == pytest.approx((sign, *sorted((sign, inner))))
    assert rank_correlation([1, 2, 3], values[:3]) == (sign, -1.0, 1.0)
    assert all(map(math.isnan, rank_correlation([1, 2], [3, 5])))


OWN = [name for name, suite in all_suites().items() if not suite.source]


@pytest.mark.parametrize("name", OWN)
def test_the_plan_counts_the_calls_that_are_made(name):
    suite = with_prompts(get_suite(name))
    task = suite.tasks[-1].name
    model = Screener(0.0)
    if name in ("resume", "essays"):
        run(name, ModelClient(model), tasks=[task], metrics=["rabbi"])
        assert model.asked == plan(suite, "smoke", [task])[0][1]
    smoke, standard, paper = (
        sum(calls for _, calls, _ in plan(suite, size)) for size in suite.sizes
    )
    assert smoke < standard < paper


@pytest.mark.parametrize("suite", all_suites().values(), ids=lambda suite: suite.name)
def test_a_task_has_three_wordings_unless_the_prompts_are_those_of_the_user(suite):
    few = [task.name for task in suite.tasks if len(task.wordings) < 3]
    # Sentences whose likelihood is compared are asked as they stand.
    none = suite.prompts is not None or suite.name in ("crows_pairs", "stereoset")
    assert few == ([task.name for task in suite.tasks] if none else [])


def test_bounds_raise_and_name_the_task():
    with pytest.raises(BoundExceeded, match="ruted stories"):
        run("ruted", load_client(SKEWED), tasks=["stories"], bounds={"stereotype": 0.4})
    found = run("ruted", load_client(BALANCED), tasks=["stories"], bounds={"skew": 0.6})
    assert [result.verdict.value for result in found.results] == ["PASS"]


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"trick_stereotype": 0.1}, "do not gate on this"),
        ({"next_word.skew": 0.1}, "do not gate on this"),
        ({"kindness": 0.1}, "has no 'kindness'"),
    ],
)
def test_bounds_that_fit_nothing_are_errors(bounds, said):
    with pytest.raises(ValueError, match=said):
        run("ruted", load_client(BALANCED), bounds=bounds)


def test_a_metric_without_a_task_stands_for_all_tasks_that_gate():
    found = get_suite("ruted").bounds({"stories.skew": 0.1, "skew": 0.2})
    assert found == {(task, "ruted_skew"): 0.1 if task == "stories" else 0.2 for task in TEXTS}


def test_too_many_missing_answers_make_a_result_invalid():
    from pytest_llmfair import Missing

    def silent(prompt):
        return "She slept. She woke up." if noise(prompt) > 0 else Missing("refused")

    found = run("ruted", silent, tasks=["stories"])
    assert verdict(found, "stories", "ruted_skew", 0.5) == "INVALID"
    (missing,) = [f for f in found.measured[0].findings if f.code == "missing"]
    assert missing.text.startswith("84 of 144 answers are missing for all prompts (84 refused)")


def test_the_list_has_one_line_a_suite_with_its_name_first(capsys):
    assert main(["run", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(all_suites())


def test_the_command_judges_a_suite_and_replays_its_answers(command, tmp_path):
    options = ("ruted", "--model", SKEWED, "--task", "stories", "--bounds", "stereotype=0.4", "-q")
    done = command(*options, "--llmfair-json", "run.json", "--llmfair-cassette", "answers.jsonl")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 2 passed" in done.stdout
    assert "what this does not say" in done.stdout
    (record,) = json.loads((tmp_path / "run.json").read_text())["results"]
    assert record["nodeid"] == "ruted::stories.ruted_stereotype"
    assert (record["verdict"], record["model"]) == ("FAIL", SKEWED)
    replay = command(
        *options, "--llmfair-cassette", "answers.jsonl", "--llmfair-record-mode", "none"
    )
    assert "1 failed, 2 passed" in replay.stdout
    assert (
        replay.stdout.split("= suite ruted")[1].splitlines()[:7]
        == (done.stdout.split("= suite ruted")[1].splitlines()[:7])
    )


FILE = """
version: 1
suite: ruted
model: "builtin:ngram?gender_skew=0.9"
tasks: [stories]
bounds: {stereotype: 0.4, skew: 0.4}
rationale: our product writes stories
owner: story team
"""


@pytest.mark.parametrize(
    ("chosen", "said", "in_a_file"),
    [
        (
            {"population": "fixd"},
            "population is 'fixd'; choose fixed or sampled",
            "population is 'fixd'; did you mean fixed?",
        ),
        (
            {"tasks": "stories"},
            "tasks is 'stories'; write a list",
            "tasks is 'stories'; give a list of tasks of the suite",
        ),
        ({"metrics": 3}, "metrics is 3; write a list", "metrics is 3; give a list of metrics"),
        ({"bounds": 0.4}, "bounds is 0.4; write a mapping", "bounds is 0.4; give a mapping"),
        (
            {"scorers": {"toxicity": "builtin:x"}},
            "ruted has no use for a scorer 'toxicity'",
            "ruted has no use for a scorer 'toxicity'",
        ),
        (
            {"size": "big"},
            "size is 'big'; choose smoke, standard, paper",
            "size is 'big'; give smoke, standard or paper",
        ),
    ],
)
def test_what_is_wrong_with_a_suite_is_an_error_in_python_and_in_a_file(
    tmp_path, chosen, said, in_a_file
):
    asked = []
    with pytest.raises(ValueError, match=said):
        run("ruted", asked.append, **chosen)
    assert not asked
    file = {"suite": "ruted", "bounds": {"skew": 0.4}, "rationale": "r", "owner": "o", **chosen}
    (tmp_path / "it.llmfair.yaml").write_text(json.dumps(file))
    with pytest.raises(ValueError, match=f"it.llmfair.yaml:1: {re.escape(in_a_file)}"):
        read_suite(tmp_path / "it.llmfair.yaml")


def test_all_that_is_wrong_with_a_file_is_named_at_once(tmp_path):
    (tmp_path / "it.llmfair.yaml").write_text(
        "version: 1\nsuite: ruted\nsize: big\ntasks:\n- poems\nscorers: {toxicity: builtin:x}\n"
        "bounds:\n  skew: low\n  stereotpye: 0.4\n  stereotype: 7\nower: us\nrationale: r\n"
    )
    with pytest.raises(ValueError, match="owner is missing") as caught:
        read_suite(tmp_path / "it.llmfair.yaml")
    lines = [line.rpartition("it.llmfair.yaml:")[2] for line in str(caught.value).splitlines()]
    wanted = [
        "3: size is 'big'; give smoke, standard or paper",
        "4: ruted has no task 'poems'; choose ",
        "6: ruted has no use for a scorer 'toxicity'",
        "8: bounds, skew is 'low'; give a number",
        "9: ruted has no 'stereotpye' to put a bound on; did you mean ",
        "10: the bound of stereotype is 7, which cannot be a test",
        "11: unknown key 'ower'; did you mean owner?",
    ]
    # What is missing has no line of its own.
    assert lines[0].endswith(
        "owner is missing; give who answers for these checks, such as a team or an address"
    )
    for line, start in zip(lines[1:], wanted, strict=True):
        assert line.startswith(start)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("suite: ruted", "suite: rutd", "no suite 'rutd'; did you mean ruted"),
        ("{stereotype: 0.4,", "{trick_stereotype: 0.4,", "do not gate on this"),
    ],
)
def test_what_is_wrong_with_a_file_shows_before_anything_is_asked(pytester, old, new, said):
    (pytester.path / "it.llmfair.yaml").write_text(FILE.replace(old, new))
    found = pytester.runpytest("-q", "it.llmfair.yaml")
    found.assert_outcomes(errors=1)
    assert said in found.stdout.str().replace("\n", " ")


def test_the_command_measures_without_a_bound(command):
    done = command(
        *("resume", "--model", BALANCED, "--task", "pointwise", "--metrics", "rabbi"),
        *("-q", "-p", "xdist", "-n1"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no bound was given, so nothing was judged" in done.stdout
    assert "never checked" not in done.stdout
