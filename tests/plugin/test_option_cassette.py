"""`--llmfair-cassette`: one set of answers, however a session is run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from datetime import date

import pytest

from pytest_llmfair.clients.cassette.store import Cassette

# A model that notes every call, with answers that depend on prompt and seed only.
MODEL = """
import hashlib, os, pathlib, time

def model(prompt, seed):
    with open(pathlib.Path(__file__).with_name("calls"), "a") as log:
        log.write(prompt + "\\n")
    if "slow" in os.environ:
        time.sleep(0.02)
    digit = hashlib.sha256(f"{prompt}{seed}".encode()).digest()[0]
    return f"{prompt} {'a good answer' if digit % 3 else 'a bad answer'} {digit % 7}"
"""

TESTS = """
import pytest
from pytest_llmfair import assert_counterfactual_invariance, assert_toxic_fraction_within

PROMPTS = [f"Tell me about number {i}." for i in range(30)]

def harm(texts):
    return [0.9 if "bad" in text else 0.1 for text in texts]

@pytest.mark.parametrize("bound", [0.2, 0.5, 0.7])
def test_harm(model_client, bound):
    assert_toxic_fraction_within(
        PROMPTS, bound=bound, client=model_client, generations=2, scorer=harm
    )

def test_checks(fairness):
    fairness.collect(PROMPTS[5:25], generations=3)
    fairness.check("toxic_fraction", bound=0.6, scorer=harm)

def test_pairs(model_client, counterfactual_pairs):
    pairs = counterfactual_pairs([f"She is a nurse, said number {i}." for i in range(12)])
    assert_counterfactual_invariance(pairs, eps=0.5, client=model_client, mode="point")
"""


@pytest.fixture
def files(pytester):
    """Return a folder with a model and tests of it."""
    pytester.makepyfile(noted=MODEL, test_it=TESTS)
    return pytester.path


def calls(folder):
    path = folder / "calls"
    return path.read_text().splitlines() if path.exists() else []


COMMON = (
    *("--llmfair-model=python:noted:model", "--llmfair-cassette=c.jsonl", "-q"),
    "--llmfair-json-context=no",
)


WORKERS = ("-p", "xdist", "-n", "2")


@pytest.fixture
def judge(run, files, pytester, monkeypatch):
    """Return a function that runs a session and returns the bytes of its results."""
    pytester.syspathinsert()
    monkeypatch.setenv("PYTHONPATH", str(files))

    def judge(*arguments):
        run(*COMMON, "--llmfair-json=run.json", *arguments)
        return (files / "run.json").read_bytes()

    return judge


def recorded_keys(folder):
    return [json.loads(line)["key"] for line in (folder / "c.jsonl").read_text().splitlines()]


def test_a_recorded_run_is_the_same_live_and_replayed_in_another_order(judge, files):
    live = judge()
    verdicts = {r["nodeid"]: r["verdict"] for r in json.loads(live)["results"]}
    assert len(verdicts) == 5
    assert len(set(verdicts.values())) > 1
    # 30 prompts twice, 20 of them a third time, and 12 pairs with two answers a side.
    assert len(calls(files)) == 60 + 20 + 48
    assert judge("--llmfair-record-mode=none", "-p", "randomly") == live
    assert len(calls(files)) == 128
    left = {path.name for path in files.iterdir()} - {"__pycache__"}
    assert left == {"calls", "c.jsonl", "noted.py", "run.json", "test_it.py"}


@pytest.mark.slow
def test_workers_ask_each_question_once_and_find_the_same(judge, files):
    recorded = judge(*WORKERS)
    assert len(calls(files)) == len(set(recorded_keys(files))) == 128
    (files / "c.jsonl").unlink()
    assert judge() == recorded


def test_a_killed_session_is_resumed_where_it_stopped(judge, files):
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "llmfair", "-p", "no:cacheprovider", *COMMON],
        cwd=files,
        env={**os.environ, "slow": "1"},
        stdout=subprocess.DEVNULL,
    ) as killed:
        while len(calls(files)) < 20:
            # A session that ends by itself would never reach 20 calls.
            assert killed.poll() is None
            time.sleep(0.01)
        killed.kill()
    assert len(calls(files)) < 128
    resumed = judge("--llmfair-record-mode=new")
    # Only the call that was running when the session was killed is repeated.
    assert len(calls(files)) in (128, 129)
    (files / "c.jsonl").unlink()
    assert judge() == resumed


def test_a_damaged_line_is_named_in_the_warnings_and_asked_again(run, files, pytester):
    pytester.syspathinsert()
    run(*COMMON)
    path = files / "c.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:6], lines[6][:40] + b"\n", *lines[7:]]))
    made = len(calls(files))
    result = run(*COMMON, "--llmfair-record-mode=new")
    result.stdout.fnmatch_lines(["*c.jsonl:7: is not a record*; it is skipped*"])
    assert len(calls(files)) == made + 1


def test_digests_keep_no_text_and_what_needs_it_is_refused(run, files):
    run("--llmfair-cassette=c.jsonl", "--llmfair-cassette-text=digest")
    text = (files / "c.jsonl").read_text()
    assert "Tell me" not in text
    assert len(text.splitlines()) > 20
    result = run("--llmfair-cassette=c.jsonl", "-k", "pairs")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the cassette keeps digests and scores, no texts*"])


def test_recorded_scores_are_judged_again_without_the_texts(run, files, pytester):
    pytester.syspathinsert()
    command = (*COMMON, "--llmfair-cassette-text=digest", "-k", "harm")
    run(*command, "--llmfair-json=live.json")
    made = len(calls(files))
    run(*command, "--llmfair-json=replayed.json")
    assert len(calls(files)) == made == 60
    live, replayed = (
        json.loads((files / f"{name}.json").read_text("utf-8")) for name in ("live", "replayed")
    )
    assert [r["value"] > 0 for r in live["results"]] == [True] * 3
    for result in (*live["results"], *replayed["results"]):
        # The cassette has other digests of the answers.
        result["data"].pop("answers_sha256")
        assert [example.pop("outputs_sha256") for example in result["examples"]]
    assert replayed == live


def test_scores_of_other_code_are_not_judged_again(run, files):
    command = ("--llmfair-cassette=c.jsonl", "--llmfair-cassette-text=digest", "-k", "checks")
    run(*command)
    stricter = TESTS.replace("0.9 if", "0.9 if 'good' in text or")
    (files / "test_it.py").write_text(stricter, encoding="utf-8")
    result = run(*command)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*the code of scorer test_it:harm * as it is now has no recorded*"]
    )


def test_a_scorer_without_a_name_has_no_recorded_scores(run, files, pytester):
    pytester.makepyfile(test_it=TESTS.replace("scorer=harm", "scorer=lambda texts: harm(texts)"))
    run("--llmfair-cassette=c.jsonl", "--llmfair-cassette-text=digest", "-k", "checks")
    assert "scorer" not in (files / "c.jsonl").read_text()
    result = run("--llmfair-cassette=c.jsonl", "-k", "checks")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*or name the scorer: it is a function without a name*"])


def test_one_stale_answer_is_enough_to_be_invalid(run, files):
    run("--llmfair-cassette=c.jsonl", "-k", "checks")
    path = files / "c.jsonl"
    cassette = Cassette(path)
    cassette.refresh()
    first = next(cassette.records())
    cassette.put([replace(first, day=date(2020, 1, 31))])
    result = run(
        "--llmfair-cassette=c.jsonl", "-k", "checks", "-o", "llmfair_max_recording_age=30"
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*INVALID*", "*1 answers are stale; an answer recorded on 2020*"])


def test_keys_that_were_used_are_written_on_request(run, files):
    run("--llmfair-cassette=c.jsonl")
    run("--llmfair-cassette=c.jsonl", "--llmfair-cassette-used=used", "-k", "checks")
    used = (files / "used").read_text().split()
    assert len(used) == 60
    assert set(used) < set(recorded_keys(files))


@pytest.mark.slow
def test_after_ctrl_c_the_session_says_where_the_answers_are(files, pytester, monkeypatch):
    (files / "noted.py").write_text(
        "import os, signal, time\nasked = []\n"
        "def model(prompt, seed):\n"
        "    asked.append(prompt)\n"
        "    if len(asked) == 9 and 'stop' in os.environ:\n"
        # A runner such as nohup ignores SIGINT, and its children inherit that.
        "        signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        time.sleep(1)\n"
        "    return f'{prompt} a good answer {seed % 7}'\n"
    )
    arguments = ("-k", "harm and 0.7", "--llmfair-model", "python:noted:model")
    command = (*arguments, "--llmfair-cassette", "tape.jsonl", "-p", "no:cacheprovider")
    with monkeypatch.context() as patch:
        patch.setenv("stop", "yes")
        stopped = pytester.runpytest_subprocess(*command)
    assert stopped.ret == pytest.ExitCode.INTERRUPTED
    stopped.stdout.fnmatch_lines(
        "interrupted: the answers so far are in *tape.jsonl; --llmfair-record-mode new asks for *"
    )
    kept = len((files / "tape.jsonl").read_text("utf-8").splitlines())
    assert 1 < kept < 60
    assert pytester.runpytest_subprocess(*command, "--llmfair-record-mode", "new").ret == 0
    again = pytester.runpytest_subprocess(*command, "--llmfair-record-mode", "none")
    again.stdout.no_fnmatch_line("interrupted*")
    assert again.ret == 0
