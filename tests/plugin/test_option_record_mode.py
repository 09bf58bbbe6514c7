"""`--llmfair-record-mode`: when a model is asked although there is a cassette."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path

import pytest

MODEL = """
import pathlib

def model(prompt):
    with open(pathlib.Path(__file__).with_name("calls"), "a") as log:
        log.write(prompt + "\\n")
    return pathlib.Path(__file__).with_name("answer").read_text() + prompt
"""

TEST = """
from pytest_llmfair import assert_toxic_fraction_within

def test_it(model_client):
    (rows,) = zip(*model_client.generate(["one prompt", "another prompt"]))
    print("answers:", *rows)
    assert all(isinstance(row, str) for row in rows)
"""


@pytest.fixture
def ask(run, pytester):
    """Return a function that runs a test of a model that notes its calls."""
    pytester.makepyfile(noted=MODEL, test_it=TEST)
    pytester.syspathinsert()
    (pytester.path / "answer").write_text("first ")
    return lambda *arguments: run(
        "--llmfair-model=python:noted:model", "--llmfair-cassette=c.jsonl", "-rA", *arguments
    )


def calls(pytester):
    path = pytester.path / "calls"
    return path.read_text().splitlines() if path.exists() else []


def test_once_is_the_default_records_where_there_is_no_file_and_replays(ask, pytester):
    ask().assert_outcomes(passed=1)
    assert sorted(calls(pytester)) == ["another prompt", "one prompt"]
    assert len((pytester.path / "c.jsonl").read_text().splitlines()) == 2
    (pytester.path / "answer").write_text("second ")
    for arguments in ([], ["--llmfair-record-mode=once"]):
        result = ask(*arguments)
        result.stdout.fnmatch_lines(["answers: first one prompt first another prompt"])
    assert len(calls(pytester)) == 2


def test_a_miss_fails_and_names_the_prompt_and_new_asks_for_it(ask, pytester):
    ask()
    pytester.makepyfile(test_it=TEST.replace("another", "a third"))
    for mode in ("once", "none"):
        result = ask(f"--llmfair-record-mode={mode}")
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            ["*NotRecorded: *c.jsonl does not hold 1 of 2 answers *prompt 'a third prompt'*"]
        )
    assert len(calls(pytester)) == 2
    ask("--llmfair-record-mode=new").assert_outcomes(passed=1)
    assert sorted(calls(pytester)) == ["a third prompt", "another prompt", "one prompt"]
    # Where nothing may be asked, the model is not loaded.
    sys.modules.pop("noted", None)
    ask("--llmfair-record-mode=none").assert_outcomes(passed=1)
    assert "noted" not in sys.modules


def test_an_empty_file_is_a_cassette_with_nothing_in_it(ask, pytester):
    (pytester.path / "c.jsonl").touch()
    ask().assert_outcomes(failed=1)
    assert calls(pytester) == []


def test_none_without_a_file_fails(ask, pytester):
    result = ask("--llmfair-record-mode=none")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*there is no cassette *c.jsonl to hold*"])
    assert calls(pytester) == []
    assert not (pytester.path / "c.jsonl").exists()


def test_none_opens_no_socket_and_needs_no_key(run, pytester, monkeypatch):
    from datetime import UTC, datetime

    from pytest_llmfair.clients.cassette.record import Question, Record
    from pytest_llmfair.clients.cassette.store import Cassette
    from pytest_llmfair.clients.protocol import Reply, Request, sample_seed

    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    opened = []

    class Recorded(socket.socket):
        def __init__(self, *arguments, **keywords):
            opened.append(arguments)
            super().__init__(*arguments, **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "socket", Recorded)
    identity = {"provider": "openai", "model": "gpt-4o", "system": ""}
    Cassette(pytester.path / "c.jsonl").put(
        [
            Record.of(
                Question(identity, Request(prompt, sample_seed(0, prompt, 0, 0)), 1.0, 9),
                Reply("recorded"),
                datetime.now(UTC).date(),
            )
            for prompt in ("one prompt", "another prompt")
        ]
    )
    pytester.makepyfile(TEST)
    result = run(
        "--llmfair-model=openai:gpt-4o",
        "--llmfair-cassette=c.jsonl",
        "--llmfair-record-mode=none",
        "--llmfair-max-tokens=9",
        "-rA",
    )
    result.stdout.fnmatch_lines(["answers: recorded recorded"])
    assert opened == []


def test_all_asks_for_everything_again_and_leaves_one_answer_in_its_place(ask, pytester):
    ask()
    (pytester.path / "answer").write_text("second ")
    result = ask("--llmfair-record-mode=all")
    result.stdout.fnmatch_lines(["answers: second one prompt second another prompt"])
    assert len(calls(pytester)) == 4
    pytester.makepyfile(test_it=TEST.replace('"one prompt", ', ""))
    (pytester.path / "answer").write_text("third ")
    ask("--llmfair-record-mode=all")
    lines = (pytester.path / "c.jsonl").read_text().splitlines()
    answers = [json.loads(line)["answer"] for line in lines]
    assert sorted(answers) == ["second one prompt", "third another prompt"]


def test_a_session_that_asks_nothing_makes_no_file(run, pytester):
    pytester.makepyfile("def test_it(): pass")
    run("--llmfair-cassette=c.jsonl", "--llmfair-max-calls=3")
    assert not Path("c.jsonl").exists()
