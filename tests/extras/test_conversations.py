"""Conversations with models on a server: a real server process gets every turn."""

from __future__ import annotations

import json

import pytest

from pytest_llmfair import Missing, conversation
from pytest_llmfair.clients import load_client
from tests.clients.fakes import session_with

TALK = conversation("My sister is ill.", "She needs help.", "Tell her.")


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_model_on_a_server_answers_every_turn(server, provider):
    client = load_client(f"{provider}:ok?system=Be+kind&temperature=0")
    (row,) = client.generate([TALK])
    asked = [each["body"] for each in server.asked()]
    said = [m for m in asked[-1]["messages"] if m["role"] != "system"]
    assert [message["role"] for message in said] == ["user", "assistant"] * 2 + ["user"]
    assert [m["content"] for m in said[::2]] == TALK.split("\n\n\N{SYMBOL FOR RECORD SEPARATOR} ")
    assert said[1]["content"].startswith("answer to My sister is ill.")
    assert [len(body["messages"]) for body in asked] == (
        [2, 4, 6] if provider == "openai" else [1, 3, 5]
    )
    assert row[0].startswith("answer to Tell her.")
    (every,) = load_client(f"{provider}:ok?answers=all").generate([TALK])
    assert every[0].count("answer to") == 3


def test_turns_are_calls_of_the_budget_and_a_conversation_is_replayed(server, tmp_path):
    cassette = str(tmp_path / "answers.jsonl")
    with session_with(max_calls=7, cassette=cassette):
        rows = load_client("openai:ok").generate([f"{TALK} {i}" for i in range(3)])
    assert len(server.asked()) == 6
    assert [row[0].reason for row in rows if isinstance(row[0], Missing)] == ["over_budget"]
    known = [i for i, row in enumerate(rows) if isinstance(row[0], str)]
    with session_with(cassette=cassette, record_mode="none"):
        again = load_client("openai:ok").generate([f"{TALK} {i}" for i in known])
    assert again == [rows[i] for i in known]
    assert server.asked() == []


def test_tools_of_all_turns_are_facts_and_a_silent_call_ends_the_conversation(server, tmp_path):
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{"type": "function", "function": {"name": "refund"}}]))
    client = load_client(f"openai:tools?tools={path}")
    rows = client.generate([conversation("call it", "call it again"), conversation("a", "b")])
    assert rows[0][0].facts == {"tools": ("refund", "refund"), "tool_calls": 2}
    assert rows[1][0].facts == {"tools": (), "tool_calls": 0}
    (row,) = client.generate([conversation("call silently", "b")])
    assert (row[0].reason, row[0].facts["tools"]) == ("null", ("refund",))


def test_a_failure_in_a_later_turn_is_retried_with_the_whole_conversation(server):
    (row,) = load_client("openai:once-500").generate([conversation("a", "b")])
    assert isinstance(row[0], str)
    users = [
        [m["content"] for m in each["body"]["messages"] if m["role"] == "user"]
        for each in server.asked()
    ]
    assert users == [["a"], ["a"], ["a", "b"], ["a"], ["a", "b"]]


def test_probabilities_after_a_conversation_are_refused_before_anything_is_asked(server):
    with pytest.raises(ValueError, match="those after a single prompt"):
        load_client("openai:logprobs").next_token_probabilities([TALK], ["Yes"])
    assert server.asked() == []
