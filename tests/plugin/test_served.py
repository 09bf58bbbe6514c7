"""What a server says it is: recorded, and compared within a run and with recorded answers."""

from __future__ import annotations

import json
from datetime import date

import pytest

from pytest_llmfair.clients.cassette.record import DamagedRecord, Question, Record
from pytest_llmfair.clients.protocol import Reply, Request

TEST = """
from pathlib import Path
from pytest_llmfair import assert_counterfactual_invariance
from pytest_llmfair.clients import Limits, ModelClient
from pytest_llmfair.clients.protocol import Attempt, Reply
from pytest_llmfair.counterfactuals import generate_pairs

PAIRS = generate_pairs([f"She is nurse {i} of the ward." for i in range(60)], attribute="gender")


class Server:
    name, description, limits, identity = "bot", "a test", Limits(1), {"model": "bot"}
    calls = 0

    def open(self):
        pass

    async def send(self, request, *, temperature, max_tokens):
        Server.calls += 1
        served = Path("served.txt").read_text().split(";")
        return Attempt(Reply("yes", served=tuple(served[Server.calls > 100 and -1].split(","))))


def test_bot():
    assert_counterfactual_invariance(PAIRS, 0.1, client=ModelClient.of(Server()))
"""


@pytest.fixture
def ask(pytester, run):
    """Return a function that runs the test against a server of these models and fingerprints."""
    pytester.makepyfile(test_bot=TEST)

    def ask(served, *options):
        (pytester.path / "served.txt").write_text(served)
        return run("-rA", *options)

    return ask


def test_another_model_in_the_middle_is_recorded_and_noted(ask, pytester):
    found = ask("m-1,fp_a;m-2,fp_a", "--llmfair-json=run.json")
    found.assert_outcomes(passed=1)
    found.stdout.fnmatch_lines(["*answered as 2 models: m-1, m-2*"])
    text = "".join((pytester.path / "run.json").read_text().split())
    assert '"served":[["m-1","fp_a"],["m-2","fp_a"]]' in text
    assert '"model_changed"' in text


def test_another_fingerprint_in_the_middle_is_noted(ask):
    found = ask("m-1,fp_a;m-1,fp_b")
    found.assert_outcomes(passed=1)
    found.stdout.fnmatch_lines(["*answered with 2 system fingerprints: fp_a, fp_b*"])


def test_recorded_answers_of_another_model_are_compared_with_new_ones(ask, pytester):
    options = ("--llmfair-cassette=c.jsonl",)
    ask("m-1,fp_a", *options).assert_outcomes(passed=1)
    # What is replayed is of the model that was recorded.
    found = ask("m-2,fp_a", *options, "--llmfair-record-mode=none")
    found.assert_outcomes(passed=1)
    found.stdout.no_fnmatch_line("*answered as*")
    lines = (pytester.path / "c.jsonl").read_text().splitlines(keepends=True)
    (pytester.path / "c.jsonl").write_text("".join(lines[: len(lines) // 2]))
    found = ask("m-2,fp_a", *options, "--llmfair-record-mode=new")
    found.assert_outcomes(passed=1)
    found.stdout.fnmatch_lines(["*answered as 2 models: m-1, m-2*"])


@pytest.mark.parametrize("served", [1, [1, 2, 3], [[], {}], None])
def test_a_wrong_name_in_a_recorded_answer_breaks_nothing(served):
    question = Question({"model": "m"}, Request("hi", 1), 1.0, None)
    record = Record.of(question, Reply("yes", served=("m-1", "fp")), date(2026, 1, 2))
    found = json.loads(record.line())
    assert found["served"] == ["m-1", "fp"]
    try:
        read = Record.read(json.dumps({**found, "served": served}).encode())
    except DamagedRecord:
        return
    assert served == [[], {}]
    assert {read.reply.served} == {("[]", "{}")}
