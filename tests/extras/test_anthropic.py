from __future__ import annotations

import json

import pytest

from pytest_llmfair.clients import CutAnswer, Missing, ModelError, load_client
from pytest_llmfair.clients.protocol import Reply
from tests.clients.fakes import reply_of


@pytest.mark.parametrize(
    ("mode", "reason", "attempts"),
    [
        ("429", "rate_limit", 3),
        ("529", "server_error", 3),
        ("reset", "error", 3),
        ("truncated", "malformed", 3),
        ("bad-json", "malformed", 3),
        ("html", "malformed", 3),
        ("odd", "malformed", 3),
        ("400", "error", 1),
        ("refusal", "refused", 1),
        ("length", "length", 1),
        ("null", "null", 1),
        ("empty", "empty", 1),
        ("no-choice", "empty", 1),
    ],
)
def test_each_fault_is_missing_with_its_reason(server, mode, reason, attempts):
    reply = reply_of(f"anthropic:{mode}")
    assert isinstance(reply.answer, Missing)
    assert (reply.answer.reason, reply.attempts) == (reason, attempts)


def test_a_key_that_is_not_accepted_ends_the_run_and_names_its_variable(server):
    with pytest.raises(ModelError, match="set ANTHROPIC_API_KEY to a valid one"):
        reply_of("anthropic:401")


def test_answers_tokens_and_the_limit_that_was_asked_for(server):
    assert reply_of("anthropic:ok") == Reply("answer to hi seed None", 7, 5, served=("m", ""))
    reply = reply_of("anthropic:length", max_tokens=3)
    assert reply == Reply(CutAnswer("half an ans"), 7, 5, served=("m", ""))
    assert isinstance(reply.answer, CutAnswer)


def test_the_question_names_no_temperature_unless_it_is_another_one(server):
    load_client("anthropic:ok?system=Be+brief").generate(["hi"])
    assert server.asked()[0]["body"] == {
        "model": "ok",
        "max_tokens": 4096,
        "system": "Be brief",
        "messages": [{"role": "user", "content": "hi"}],
    }
    reply_of("anthropic:ok", temperature=0.5, max_tokens=3)
    body = server.asked()[0]["body"]
    assert (body["temperature"], body["max_tokens"]) == (0.5, 3)


def test_a_server_without_probabilities_is_an_error(server):
    with pytest.raises(ValueError, match="returns texts only, no probabilities"):
        load_client("anthropic:ok").label_probabilities(["hi"], ["Yes", "No"])


def test_tool_uses_are_facts_of_the_answer(server, tmp_path):
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{"name": "lookup", "input_schema": {}}, {"name": "refund"}]))
    client = load_client(f"anthropic:tools?tools={path}")
    rows = client.generate(["call them", "call silently", "hello"])
    called = {"tools": ("lookup", "refund"), "tool_calls": 2}
    assert [row[0].facts for row in rows] == [called, called, {"tools": (), "tool_calls": 0}]
    assert [str(rows[0][0]), rows[1][0].reason] == ["done", "null"]
    assert server.asked()[0]["body"]["tools"] == json.loads(path.read_text())
    assert "tools" in client.backend.identity
