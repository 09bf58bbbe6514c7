"""The run record that `--llmfair-json` writes: what it holds, and what equal runs share."""

from __future__ import annotations

import copy
import hashlib
import json
import subprocess
from datetime import date

import jsonschema
import pytest

from pytest_llmfair._util.documents import schema_of
from pytest_llmfair.clients.cassette.record import Question
from pytest_llmfair.clients.cassette.record import Record as Recorded
from pytest_llmfair.clients.protocol import Reply, Request, sample_seed
from pytest_llmfair.gate.checklist import answer
from pytest_llmfair.metrics import all_metrics
from pytest_llmfair.reports.record import read_run

SCHEMA = schema_of("reports/run_record.schema.json")
ASKING = """
from pytest_llmfair import assert_counterfactual_invariance

def test_it(model_client, counterfactual_pairs):
    prompts = ["She is a nurse and", "The woman said that", "Her brother thinks that"]
    pairs = counterfactual_pairs(prompts, attribute="gender")
    assert_counterfactual_invariance(pairs, eps=0.3, client=model_client)
"""
UNEQUAL = """
from pytest_llmfair import assert_counterfactual_invariance

def bot(prompt):
    if "She" in prompt:
        return "That is a terrible, awful idea."
    return "That is a wonderful idea, and I am happy to help with every step of it."

def test_it(counterfactual_pairs):
    pairs = counterfactual_pairs(["She goes %s." % word for word in "abcdefghijkl"])
    assert_counterfactual_invariance(pairs, eps=0.1, client=bot, baseline="none")
"""
SCORED = """
from pytest_llmfair import Responses, assert_metric

def test_it():
    asked = tuple("prompt %d" % i for i in range(60))
    answers = Responses(asked, tuple(("fine answer %d" % i,) for i in range(60)), "mine")
    assert_metric("toxic_fraction", answers, bound=0.2, scorer=lambda texts: [0.0] * len(texts))
"""
OUTCOMES = """
import pytest
from pytest_llmfair import assert_toxic_fraction_within as check

def test_fails():
    check([[0.9]] * 99, bound=0.1)

def test_passes():
    check([[0.1]] * 99, bound=0.1)

@pytest.mark.xfail
def test_xfailed():
    check([[0.9]] * 99, bound=0.1)

@pytest.mark.xfail(strict=False)
def test_xpassed():
    check([[0.1]] * 99, bound=0.1)

def test_skipped():
    check([[0.1]] * 99, bound=0.1)
    pytest.skip("for another reason")
"""
GROUPS = """
from pytest_llmfair import assert_metric

def test_it():
    hired = [1] * 80 + [0] * 20 + [1] * 30 + [0] * 70
    assert_metric("impact_ratio", hired, groups=["A"] * 100 + ["B"] * 100, bound=0.8)
"""


@pytest.fixture
def record(run, pytester):
    """Return a function that runs a test file, and returns its valid record."""

    def record(code, *arguments):
        pytester.makepyfile(test_it=code)
        run("--llmfair-json=run.json", *arguments)
        return read_run(pytester.path / "run.json")

    return record


def test_two_replays_are_equal_bytes_and_say_nothing_of_when_and_where(run, pytester):
    pytester.makepyfile(test_it=ASKING)
    run("--llmfair-cassette=answers.jsonl")
    for name in ("first", "second"):
        run(
            *("--llmfair-cassette=answers.jsonl", "--llmfair-record-mode=none"),
            f"--llmfair-json={name}.json",
        )
    first, second = ((pytester.path / f"{name}.json").read_bytes() for name in ("first", "second"))
    assert first == second
    assert "context" not in json.loads(first)
    assert str(pytester.path) not in first.decode()


@pytest.mark.parametrize("context", ["yes", "no"])
def test_an_option_decides_about_the_context(record, context):
    found = record(SCORED, f"--llmfair-json-context={context}")
    assert ("context" in found) == (context == "yes")


def test_live_and_replayed_runs_differ_in_their_context_only(record):
    live = record(ASKING, "--llmfair-cassette=answers.jsonl")
    replayed = record(ASKING, "--llmfair-cassette=answers.jsonl")
    contexts = [found.pop("context") for found in (live, replayed)]
    assert live == replayed
    answers = [context["answers"] for context in contexts]
    assert answers == [{"live": 12, "replayed": 0}, {"live": 0, "replayed": 12}]
    assert contexts[1]["models"] == {"builtin:ngram": {"live": False, "replayed": True}}
    assert contexts[0]["started"] <= contexts[0]["ended"]


def test_the_context_has_the_facts_of_each_test_that_asks_or_judges(record):
    more = f"""{SCORED.replace("test_it", "test_other")}
import time

def test_asks_only(model_client):
    time.sleep(0.2)
    model_client.generate(["She is a nurse and"], n=3)

def test_is_of_something_else():
    pass
"""
    found = record(ASKING + more)["context"]
    tests = {name.partition("::test_")[2]: facts for name, facts in found["tests"].items()}
    answers = {name: facts.get("answers") for name, facts in tests.items()}
    assert answers == {
        "asks_only": {"live": 3, "replayed": 0},
        "it": {"live": 12, "replayed": 0},
        "other": None,
    }
    seconds = [facts["seconds"] for facts in tests.values()]
    assert min(seconds) > 0.0
    assert tests["asks_only"]["seconds"] >= 0.2
    assert sum(seconds) < found["seconds"]


def test_the_facts_of_a_test_are_of_all_its_attempts(record):
    again = """
import pytest, time

@pytest.mark.flaky(reruns=1)
def test_it(model_client, request):
    time.sleep(0.1)
    model_client.generate(["She is a nurse and"], n=request.node.execution_count)
    assert request.node.execution_count == 2
"""
    (facts,) = record(again, "-p", "rerunfailures")["context"]["tests"].values()
    assert facts["seconds"] >= 0.2
    assert facts["answers"] == {"live": 3, "replayed": 0}


def test_model_and_lexicon_have_versions_and_digests(record):
    found = record(ASKING, "--llmfair-max-tokens=9")
    (model,) = found["models"]
    assert model["name"] == "builtin:ngram"
    assert (model["provider"], model["id"]) == ("builtin", "ngram")
    assert model["digest"] == f"blake2b:{model['revision']}"
    assert model["parameters"] == {"temperature": 1.0, "max_tokens": 9}
    (lexicon,) = found["lexicons"]
    assert (lexicon["name"], lexicon["language"]) == ("gender", "en")


def test_a_replay_knows_the_revision_of_a_model_that_is_not_here(record, pytester):
    name, seed = "hf:org/absent", sample_seed(0, "Hello.", 0, 0)
    about = {"provider": "hf", "model": "org/absent", "revision": "9" * 40}
    question = Question(about, Request("Hello.", seed), 1.0, 64)
    line = Recorded.of(question, Reply("Hi."), date.today()).line()
    (pytester.path / "c.jsonl").write_bytes(line + b"\n")
    code = "def test_it(model_client): assert model_client.generate(['Hello.']) == [['Hi.']]"
    found = record(code, f"--llmfair-model={name}", "--llmfair-cassette=c.jsonl")
    (model,) = found["models"]
    assert (model["name"], model["id"]) == (name, "org/absent")
    assert (model["revision"], model["digest"]) == ("9" * 40, None)


def test_scorers_and_data_are_named(record):
    found = record(SCORED)
    (scorer,) = found["scorers"]
    assert scorer["name"] == "<lambda>"
    (result,) = found["results"]
    asked = [[f"prompt {i}"] for i in range(60)]
    digest = hashlib.sha256(json.dumps(asked).encode()).hexdigest()
    assert result["data"]["prompts_sha256"] == digest
    assert result["data"]["answers_sha256"] != result["data"]["arguments_sha256"]


def test_texts_are_digests_unless_they_may_be_saved(record):
    for arguments, kept in (((), False), (("--llmfair-save-text",), True)):
        (result,) = record(UNEQUAL, *arguments)["results"]
        for example in result["examples"]:
            assert ("prompts" in example) == ("outputs" in example) == kept
            if kept:
                texts = [hashlib.sha256(text.encode()).hexdigest() for text in example["outputs"]]
                assert texts == example["outputs_sha256"]
    assert len(result["examples"]) == 3


def test_saved_texts_are_shown_on_the_page_in_ci_too(run, pytester, monkeypatch):
    monkeypatch.setenv("CI", "true")
    pytester.makepyfile(test_it=UNEQUAL)
    for arguments, shown in (((), False), (("--llmfair-save-text",), True)):
        run("--llmfair-html=page.html", *arguments)
        assert ("terrible" in (pytester.path / "page.html").read_text("utf-8")) == shown


def test_the_direction_between_groups_is_data_too(record):
    (result,) = record(UNEQUAL)["results"]
    words, sentiment = result["differences"]
    assert (words["measure"], words["worse"]) == ("words", None)
    assert words["means"]["female"] < words["means"]["male"]
    assert (sentiment["measure"], sentiment["worse"]) == ("sentiment", "female")
    assert result["direction_words"].startswith("answers about women are shorter")
    (result,) = record(GROUPS)["results"]
    assert result["differences"] == [
        {"measure": "rate", "means": {"A": 0.8, "B": 0.3}, "worse": "B"}
    ]


MISLEADING = """
import dataclasses
from pytest_llmfair import assert_metric
from pytest_llmfair.metrics import metric
from pytest_llmfair.stats import GroupRow, RateDifference

def own(name, favourable):
    def rates(outcomes, *, groups, units=None, population="sampled"):
        members = {{g: [x for x, own in zip(outcomes, groups) if own == g] for g in groups}}
        found = RateDifference.of_outcomes(*members.values())
        rates = {{g: sum(x) / len(x) for g, x in members.items()}}
        rows = {{g: GroupRow(float("nan"), 100, rate=rate) for g, rate in rates.items()}}
        return dataclasses.replace(found, groups=rows)
    rates.__name__ = name
    about = dict(family="own", paper="ours", symbol="S", direction="lower", bounds=(0.0, 1.0))
    metric(**about, unit="person", favourable=favourable)(rates)

own({name!r}, {favourable!r})

def test_it():
    rates = [1] * 8 + [0] * 92 + [1] * 12 + [0] * 88
    assert_metric({name!r}, rates, groups=["A"] * 100 + ["B"] * 100, bound=0.9)
"""


@pytest.mark.parametrize(
    ("name", "favourable", "worse"),
    [
        ("non_toxic_share", "high", "A"),
        ("harmony_share", "high", "A"),
        ("selection_error", "low", "B"),
        ("true_share", None, None),
    ],
)
def test_which_group_is_worse_comes_from_the_metric_not_from_its_name(
    record, name, favourable, worse, monkeypatch
):
    # The session in the session registers the metric in this process.
    monkeypatch.setattr("pytest_llmfair.metrics._registry._METRICS", all_metrics())
    (result,) = record(MISLEADING.format(name=name, favourable=favourable))["results"]
    (rate,) = result["differences"]
    assert rate == {"measure": "rate", "means": {"A": 0.08, "B": 0.12}, "worse": worse}


def test_the_outcome_of_every_test_is_recorded(record):
    found = record(OUTCOMES)
    outcomes = {r["nodeid"].partition("::test_")[2]: r["outcome"] for r in found["results"]}
    assert outcomes == {
        "fails": "failed",
        "passes": "passed",
        "xfailed": "xfailed",
        "xpassed": "xpassed",
        "skipped": "skipped",
    }
    assert found["counts"]["verdicts"] == {"FAIL": 2, "PASS": 3}
    assert found["counts"]["expected"] == {"FAIL": 1}
    assert found["counts"]["red"] == 1
    places = {(r["file"], r["line"]) for r in found["results"]}
    assert places == {("test_it.py", line) for line in (4, 7, 10, 14, 18)}


ERRED = """
import pytest
from pytest_llmfair import assert_metric, assert_toxic_fraction_within as check

def test_passes():
    check([[0.1]] * 99, bound=0.1)

def test_collects(fairness):
    fairness.collect(["Hello."])
    raise KeyError("of the test itself")

def test_misspells_a_metric():
    assert_metric("toxic_fractoin", [[0.1]] * 99, bound=0.1)

def test_breaks_after_a_verdict():
    check([[0.1]] * 99, bound=0.1)
    assert 1 == 2

@pytest.mark.xfail
def test_xfails(fairness):
    assert 1 == 2

def test_fails():
    check([[0.9]] * 99, bound=0.1)

def test_has_nothing_to_do_with_fairness():
    assert 1 == 2

def test_skips(fairness):
    pytest.skip("not here")
"""
UNJUDGED = ["breaks_after_a_verdict", "collects", "misspells_a_metric", "xfails"]


def test_tests_that_end_with_an_error_are_recorded(record):
    found = record(ERRED)
    assert [each["nodeid"].partition("::test_")[2] for each in found["errors"]] == UNJUDGED
    assert [each["outcome"] for each in found["errors"]] == ["failed"] * 3 + ["xfailed"]
    assert [each["line"] for each in found["errors"]] == [14, 7, 11, 18]
    assert found["counts"]["exit_status"] == pytest.ExitCode.TESTS_FAILED


def test_tests_that_end_with_an_error_are_in_every_report(run, pytester):
    passing = ERRED.partition("def test_missp")[0]
    pytester.makepyfile(test_it=passing)
    reports = ("page.html", "run.md", "run.json")
    result = run(*(f"--llmfair-{kind}={path}" for kind, path in
                   zip(("html", "markdown", "json"), reports, strict=True)))  # fmt: skip
    line = "1 fairness test ended with an error before all verdicts: test_it.py::test_collects"
    result.stdout.fnmatch_lines([line])
    for path in reports[:2]:
        assert line in (pytester.path / path).read_text("utf-8")
    run_record = {**read_run(pytester.path / "run.json"), "bounds": [], "today": date.today()}
    assert answer("checks_pass", run_record) == ("no", line)
    assert answer("checks_pass", {**run_record, "errors": []})[0] == "yes"


@pytest.mark.slow
def test_workers_give_the_same_record(record):
    found = [
        record(ASKING + SCORED.replace("test_it", "test_other"), *workers)
        for workers in ((), ("-p", "xdist", "-n", "2"))
    ]
    contexts = [each.pop("context") for each in found]
    assert found[0] == found[1]
    assert contexts[0]["answers"] == contexts[1]["answers"]
    answers = [
        {name: facts.get("answers") for name, facts in each["tests"].items()} for each in contexts
    ]
    assert answers[0] == answers[1]
    assert len(answers[0]) == 2


def test_the_commit_and_the_run_of_the_ci_are_in_the_context(record, pytester, monkeypatch):
    git = ("git", "-c", "user.name=n", "-c", "user.email=e@example.org")
    pytester.makepyfile(test_it=SCORED)
    for command in (("init", "-q", "-b", "work"), ("add", "test_it.py"), ("commit", "-qm", "m")):
        subprocess.run([*git, *command], check=True, cwd=pytester.path)
    monkeypatch.setenv("GITLAB_CI", "true")
    monkeypatch.setenv("CI_JOB_URL", "https://gitlab.example.org/a/-/jobs/7")
    found = record(SCORED)["context"]
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=pytester.path, capture_output=True, text=True, check=True
    )
    assert found["git"] == {"commit": head.stdout.strip(), "branch": "work", "dirty": False}
    assert found["ci"] == {
        "provider": "GitLab CI",
        "run_url": "https://gitlab.example.org/a/-/jobs/7",
    }
    assert record(f"{SCORED}# changed")["context"]["git"]["dirty"]


def test_multiplicity_is_recorded(record):
    found = record(OUTCOMES, "--llmfair-family=holm")
    assert found["multiplicity"] == {
        "method": "holm",
        "families": [{"name": "session", "tests": 5}],
    }


def test_the_schema_knows_every_field_and_is_a_schema(record):
    found = record(GROUPS)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for place in (found["results"][0], found["context"], found["counts"]):
        place["new"] = 1
        assert not validator.is_valid(found)
        del place["new"]
    for key in SCHEMA["required"]:
        less = copy.deepcopy(found)
        del less[key]
        assert not validator.is_valid(less)
    assert validator.is_valid(found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON .line 1: .*give a file that pytest --llmfair-json wrote"),
        ("[]", "is not a recorded run: it has no schema_version; give a file that pytest"),
        ('{"schema_version": 1}', "has schema_version 1, this is 2; record the run again"),
        ('{"schema_version": 2}', "is a required property; record the run again"),
    ],
)
def test_a_file_that_is_no_record_is_refused(tmp_path, text, message):
    path = tmp_path / "run.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_run(path)


@pytest.fixture
def github(monkeypatch, tmp_path):
    """Set what a step of GitHub Actions has; return the file of its summary."""
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    return summary


def test_github_gets_a_summary_and_annotations_at_the_lines_of_tests(
    run, pytester, github, monkeypatch
):
    monkeypatch.setenv("GITHUB_WORKSPACE", str(pytester.path.parent))
    many = "@pytest.mark.parametrize('i', range(12))\ndef test_fails(i"
    pytester.makepyfile(test_it=OUTCOMES.replace("def test_fails(", many))
    lines = run().stdout.lines
    errors = [line for line in lines if line.startswith("::error ")]
    assert len(errors) == 10
    place = f"file={pytester.path.name}/test_it.py,line=4"
    assert errors[0] == (
        f"::error {place},title=FAIL toxic_fraction::"
        "FAIL toxic_fraction: 1.00 [0.96, 1.00], allowed 0.10"
    )
    assert "::notice::2 more in the summary of this step" in lines
    text = github.read_text("utf-8")
    assert text.startswith("before\n<!-- pytest-llmfair report -->\n")
    assert text.count("| <code>test_fails&#91;") == 12


def test_an_annotation_has_no_control_characters(run, pytester, github):
    test = """
        from pytest_llmfair import assert_toxic_fraction_within

        def test_it():
            assert_toxic_fraction_within([[0.9]] * 100, bound=0.1, label="a\x1b[31m\u202eb")
    """
    pytester.makepyfile(test)
    (error,) = (line for line in run().stdout.lines if line.startswith("::error "))
    assert "\\u001b" in error
    assert error.isprintable()


def test_github_gets_nothing_where_nothing_was_judged(run, pytester, github):
    pytester.makepyfile("def test_it(): pass")
    assert "::" not in run("--llmfair-html=page.html").stdout.str()
    assert github.read_text("utf-8") == "before\n"


def test_outside_github_nothing_is_annotated(run, pytester, github, monkeypatch):
    monkeypatch.delenv("GITHUB_ACTIONS")
    pytester.makepyfile(OUTCOMES)
    assert "::error" not in run().stdout.str()
    assert github.read_text("utf-8") == "before\n"
