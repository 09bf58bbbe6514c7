"""`--llmfair-cassette`: one set of answers, however a session is run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from pytest_llmfair.clients.cassette.store import Cassette

Run = Callable[..., pytest.RunResult]

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
def files(pytester: pytest.Pytester) -> Path:
    """Return a folder with a model and tests of it."""
    pytester.makepyfile(noted=MODEL, test_it=TESTS)
    return pytester.path


def calls(folder: Path) -> list[str]:
    path = folder / "calls"
    return path.read_text().splitlines() if path.exists() else []


COMMON = ("--llmfair-model=python:noted:model", "--llmfair-cassette=c.jsonl", "-q")


def session(folder: Path, *arguments: str, **environment: str) -> bytes:
    """Run a session of its own and return the results it writes."""
    plugins = ("-p", "llmfair", "-p", "no:cacheprovider")
    subprocess.run(
        [
            *(sys.executable, "-m", "pytest", *plugins, *COMMON),
            *("--llmfair-json=run.json", *arguments),
        ],
        cwd=folder,
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith("PYTEST")},
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": str(folder),
            "CI": "1",
            **environment,
        },
        stdout=subprocess.DEVNULL,
        check=False,
    )
    return (folder / "run.json").read_bytes()


def test_a_recorded_run_is_the_same_live_replayed_shuffled_and_in_workers(files: Path) -> None:
    live = session(files)
    verdicts = {r["nodeid"]: r["verdict"] for r in json.loads(live)["results"]}
    assert len(verdicts) == 5
    assert len(set(verdicts.values())) > 1
    made = len(calls(files))
    # 30 prompts twice, 20 of them a third time, and 12 pairs with two answers a side.
    assert made == 60 + 20 + 48
    assert session(files, "--llmfair-record-mode=none") == live
    assert session(files, "-p", "xdist", "-n", "2", PYTHONHASHSEED="7") == live
    assert session(files, "-p", "randomly", "-p", "no:xdist", "-p", "no:rerunfailures") == live
    assert len(calls(files)) == made


def test_workers_that_record_together_ask_each_question_once(files: Path) -> None:
    recorded = session(files, "-p", "xdist", "-n", "2")
    assert len(calls(files)) == len(set(recorded_keys(files))) == 128
    (files / "c.jsonl").unlink()
    assert session(files) == recorded


def recorded_keys(folder: Path) -> list[str]:
    return [json.loads(line)["key"] for line in (folder / "c.jsonl").read_text().splitlines()]


def test_a_killed_session_is_resumed_where_it_stopped(files: Path) -> None:
    plugins = ("-p", "llmfair", "-p", "no:cacheprovider")
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *plugins, *COMMON],
        cwd=files,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": ".", "slow": "1"},
        stdout=subprocess.DEVNULL,
    ) as killed:
        while len(calls(files)) < 20:
            time.sleep(0.01)
        killed.kill()
    paid = len(calls(files))
    assert paid < 128
    resumed = session(files, "--llmfair-record-mode=new")
    # The one in flight, and no other, is asked twice.
    assert len(calls(files)) in (128, 129)
    (files / "c.jsonl").unlink()
    assert session(files) == resumed


def test_nothing_is_left_beside_the_cassette(files: Path) -> None:
    session(files)
    left = {path.name for path in files.iterdir()} - {"__pycache__"}
    assert left == {"calls", "c.jsonl", "noted.py", "run.json", "test_it.py"}


def test_a_damaged_line_is_named_in_the_warnings_and_asked_again(
    run: Run, files: Path, pytester: pytest.Pytester
) -> None:
    pytester.syspathinsert()
    run(*COMMON)
    path = files / "c.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:6], lines[6][:40] + b"\n", *lines[7:]]))
    made = len(calls(files))
    result = run(*COMMON, "--llmfair-record-mode=new")
    result.stdout.fnmatch_lines(["*c.jsonl:7: is not a record, or only a part of one; it is skipped*"])
    assert len(calls(files)) == made + 1


def test_a_path_in_an_ini_file_is_relative_to_that_file(
    run: Run, files: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makeini("[pytest]\nllmfair_cassette = answers/c.jsonl\n")
    monkeypatch.chdir(pytester.mkdir("below"))
    run("--rootdir", str(files), "-c", str(files / "tox.ini"), "..")
    assert (files / "answers" / "c.jsonl").is_file()


def test_a_folder_is_no_cassette(run: Run, pytester: pytest.Pytester) -> None:
    pytester.mkdir("answers")
    result = run("--llmfair-cassette=answers")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--llmfair-cassette is 'answers'; that is no file*"])


def test_digests_keep_no_text(run: Run, files: Path) -> None:
    run("--llmfair-cassette=c.jsonl", "--llmfair-cassette-text=digest")
    text = (files / "c.jsonl").read_text()
    assert "Tell me" not in text
    assert len(text.splitlines()) > 20


def test_recorded_scores_are_judged_again_without_the_texts(
    run: Run, files: Path, pytester: pytest.Pytester
) -> None:
    pytester.syspathinsert()
    run(*COMMON, "--llmfair-cassette-text=digest", "--llmfair-json=live.json", "-k", "harm")
    made = len(calls(files))
    run(*COMMON, "--llmfair-json=replayed.json", "-k", "harm")
    assert len(calls(files)) == made == 60
    live = (files / "live.json").read_bytes()
    assert (files / "replayed.json").read_bytes() == live
    assert [r["value"] > 0 for r in json.loads(live)["results"]] == [True] * 3


def test_what_needs_the_texts_is_refused_where_they_are_not_kept(run: Run, files: Path) -> None:
    run("--llmfair-cassette=c.jsonl", "--llmfair-cassette-text=digest")
    result = run("--llmfair-cassette=c.jsonl", "-k", "pairs")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the cassette keeps digests and scores, no texts*"])


def test_a_scorer_without_a_name_has_no_recorded_scores(
    run: Run, files: Path, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(test_it=TESTS.replace("scorer=harm", "scorer=lambda texts: harm(texts)"))
    run("--llmfair-cassette=c.jsonl", "--llmfair-cassette-text=digest", "-k", "checks")
    assert "scorer" not in (files / "c.jsonl").read_text()
    result = run("--llmfair-cassette=c.jsonl", "-k", "checks")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*or name the scorer: it is a function without a name*"])


def test_stale_answers_make_the_verdict_invalid(
    run: Run, files: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import datetime

    from pytest_llmfair.clients.cassette import replay

    run("--llmfair-cassette=c.jsonl", "-k", "checks")

    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            today = datetime.now(tz)  # type: ignore[arg-type]
            return today.replace(year=today.year + 1)

    monkeypatch.setattr(replay, "datetime", Later)
    fresh = run(
        "--llmfair-cassette=c.jsonl", "-k", "checks", "-o", "llmfair_max_recording_age=400"
    )
    fresh.assert_outcomes(passed=1)
    stale = run("--llmfair-cassette=c.jsonl", "-k", "checks", "-o", "llmfair_max_recording_age=30")
    stale.assert_outcomes(failed=1)
    stale.stdout.fnmatch_lines(["*INVALID*", "*llmfair_max_recording_age is 30 days*"])


def test_one_stale_answer_is_enough_to_be_invalid(run: Run, files: Path) -> None:
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


def test_keys_that_were_used_are_written_on_request(run: Run, files: Path) -> None:
    run("--llmfair-cassette=c.jsonl")
    run("--llmfair-cassette=c.jsonl", "--llmfair-cassette-used=used", "-k", "checks")
    used = (files / "used").read_text().split()
    assert len(used) == 60
    assert set(used) < set(recorded_keys(files))
