from __future__ import annotations

import json
import math
import re

import pytest

from pytest_llmfair.clients import (
    CutAnswer,
    Missing,
    ModelError,
    ModelSpecError,
    load_client,
)
from pytest_llmfair.clients.concurrency import RetryPolicy
from pytest_llmfair.clients.protocol import Reply, UnknownProbability
from tests.clients.fakes import reply_of

# What the server of the tests names in its replies: a model, and no fingerprint.
SERVED = ("m", "")


@pytest.mark.parametrize(
    ("mode", "reason", "attempts", "words"),
    [
        ("429", "rate_limit", 3, "HTTP 429: status 429"),
        ("429-after-0", "rate_limit", 3, "HTTP 429"),
        ("500", "server_error", 3, "HTTP 500"),
        ("503", "server_error", 3, "HTTP 503"),
        ("529", "server_error", 3, "HTTP 529"),
        ("error-200", "server_error", 3, "upstream failed"),
        ("408", "timeout", 3, "HTTP 408"),
        ("reset", "error", 3, "no connection"),
        ("hang-up", "error", 3, "no connection"),
        ("truncated", "malformed", 3, "ends too early"),
        ("bad-json", "malformed", 3, "the body is not JSON"),
        ("html", "malformed", 3, "<html>Gateway</html>"),
        ("no-body", "malformed", 3, "the body is empty"),
        ("list", "malformed", 3, "a JSON list, not an object"),
        ("number", "malformed", 3, "a JSON int, not an object"),
        ("odd", "malformed", 3, "the choice has no message"),
        ("302", "error", 1, "redirects to /v1/chat/completions; fix OPENAI_BASE_URL"),
        ("307", "error", 1, "redirects to /v1/chat/completions; fix OPENAI_BASE_URL"),
        ("400", "error", 1, "HTTP 400"),
        ("422", "error", 1, "HTTP 422"),
        ("400-filter", "filtered", 1, "The prompt was filtered"),
        ("refusal", "refused", 1, "I cannot help with that"),
        ("filtered", "filtered", 1, "filtered the answer"),
        ("length", "length", 1, "no limit was asked for"),
        ("null", "null", 1, "has no text"),
        ("empty", "empty", 1, "empty text"),
        ("no-choice", "empty", 1, "gave no choice"),
    ],
)
def test_each_fault_is_missing_with_its_reason(server, mode, reason, attempts, words):
    reply = reply_of(f"openai:{mode}")
    assert isinstance(reply.answer, Missing)
    assert (reply.answer.reason, reply.attempts) == (reason, attempts)
    assert words in reply.answer.detail
    assert len(server.asked()) == attempts


@pytest.mark.parametrize("mode", ["stall", "drip"])
def test_a_server_that_never_answers_is_a_timeout(server, mode):
    reply = reply_of(f"openai:{mode}", retries=RetryPolicy(timeout=0.5))
    assert reply.answer == Missing("timeout", "no answer within 0.5 s")


@pytest.mark.parametrize(
    "mode", ["429", "429-after-0", "502", "reset", "hang-up", "truncated", "bad-json", "no-body"]
)
def test_a_fault_that_passes_is_answered_at_the_second_attempt(server, mode):
    reply = reply_of(f"openai:once-{mode}")
    assert reply.answer == "answer to hi seed 5"
    assert reply.attempts == len(server.asked()) == 2


def test_a_longer_wait_than_the_time_left_ends_the_request(server):
    reply = reply_of("openai:429-after-60")
    assert reply.answer.reason == "rate_limit"
    assert reply.attempts == 1


def test_a_pause_until_a_date_is_kept(server):
    reply = reply_of("openai:once-429-date")
    assert reply.answer == "answer to hi seed 5"


def test_a_refused_connection_is_a_missing_answer(server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    reply = reply_of("openai:ok")
    assert (reply.answer.reason, reply.attempts) == ("error", 3)
    assert "is a server running at the address in OPENAI_BASE_URL?" in reply.answer.detail


@pytest.mark.parametrize(
    ("mode", "unread"), [("truncated", 3), ("reset", 3), ("500", 0), ("400", 0), ("null", 0)]
)
def test_attempts_that_may_have_been_charged_are_counted(server, mode, unread):
    assert reply_of(f"openai:{mode}").unread == unread


@pytest.mark.parametrize(
    ("mode", "remedy"),
    [
        ("401", "the key was not accepted; set OPENAI_API_KEY to a valid one (HTTP 401"),
        ("402", "the account cannot pay; add credit"),
        ("quota", "the account cannot pay; add credit"),
        ("403", "the key may not use this model"),
        ("404", "there is no such model; check its name, and OPENAI_BASE_URL"),
    ],
)
def test_a_server_that_refuses_the_key_is_not_asked_again(server, mode, remedy):
    client = load_client(f"openai:{mode}?concurrency=4")
    prompts = [f"prompt {i}" for i in range(50)]
    with pytest.raises(ModelError, match=re.escape(remedy)) as first:
        client.generate(prompts)
    assert len(server.asked()) <= 4
    with pytest.raises(ModelError) as second:
        client.generate(prompts)
    assert str(second.value) == str(first.value)
    assert server.asked() == []


def test_without_key_and_address_the_error_names_both(server, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    client = load_client("openai:gpt-4o")
    with pytest.raises(ModelError, match="set OPENAI_API_KEY, or set OPENAI_BASE_URL to a server"):
        client.generate(["hi"])


def test_a_local_server_needs_no_key(server, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    assert reply_of("openai:ok").answer == "answer to hi seed 5"


@pytest.mark.parametrize(
    "address", ["localhost:8000", "http://", "http://[::1", "http://localhost:port/v1"]
)
def test_a_malformed_address_is_an_error(server, monkeypatch, address):
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(ModelError, match="OPENAI_BASE_URL is not a web address"):
        load_client("openai:ok").generate(["hi"])


def test_a_limit_that_was_asked_for_makes_a_cut_answer_an_answer(server):
    reply = reply_of("openai:length", max_tokens=3)
    assert reply == Reply(CutAnswer("half an ans"), 7, 5, served=SERVED)
    assert isinstance(reply.answer, CutAnswer)
    assert load_client("openai:length?max_tokens=3").generate(["hi"]) == [["half an ans"]]


def test_no_limit_is_sent_unless_one_is_set(server):
    reply_of("openai:ok")
    assert "max_tokens" not in server.asked()[0]["body"]


def test_a_model_that_wants_the_new_name_of_the_limit_gets_it(server):
    client = load_client("openai:new-style?max_tokens=9&concurrency=1")
    client.generate(["a", "b"])
    limits = [
        (asked["body"].get("max_tokens"), asked["body"].get("max_completion_tokens"))
        for asked in server.asked()
    ]
    assert limits == [(9, None), (None, 9), (None, 9)]


def test_the_question_holds_model_messages_and_decoding_parameters(server):
    client = load_client("openai:ok?system=Be+brief&temperature=0.25&max_tokens=7", seed=3)
    client.generate(["hi"])
    body = server.asked()[0]["body"]
    assert 0 <= body.pop("seed") < 2**31
    assert body == {
        "model": "ok",
        "messages": [
            {"role": "system", "content": "Be brief"},
            {"role": "user", "content": "hi"},
        ],
        "temperature": 0.25,
        "max_tokens": 7,
    }


def test_repeats_have_seeds_of_their_own_and_none_where_they_are_off(server):
    load_client("openai:ok").generate(["hi"], 5)
    assert len({asked["body"]["seed"] for asked in server.asked()}) == 5
    load_client("openai:ok?seed=off").generate(["hi"], 2)
    assert ["seed" in asked["body"] for asked in server.asked()] == [False, False]


def test_no_more_requests_are_in_flight_than_allowed(server):
    load_client("openai:wait-0.02?concurrency=3").generate([f"p{i}" for i in range(30)])
    assert max(asked["busy"] for asked in server.asked()) == 3


def test_tokens_are_counted_where_the_server_tells_them(server):
    assert reply_of("openai:ok") == Reply("answer to hi seed 5", 7, 5, served=SERVED)
    assert reply_of("openai:no-usage") == Reply("hi", 0, 0, served=SERVED)
    assert reply_of("openai:huge-usage") == Reply("hi", 0, 0, served=SERVED)


def test_hostile_and_huge_answers_come_through_as_they_are(server):
    assert reply_of("openai:hostile").answer.startswith("\x1b[31mred")
    assert "\ud83d" in reply_of("openai:hostile").answer
    assert len(reply_of("openai:huge").answer) == 10_000_000
    assert reply_of("openai:parts").answer == "in parts"


def test_a_prompt_that_cannot_be_sent_loses_no_other(server):
    rows = load_client("openai:ok?seed=off").generate(["lone \ud800", "hi"])
    assert rows[0][0].reason == "error"
    assert rows[1] == ["answer to hi seed None"]


def test_first_tokens_give_probabilities_of_words(server):
    client = load_client("openai:logprobs")
    found = client.next_token_probabilities(["hi", "hi", "ho"], ["Yes", "No", "Perhaps"])
    # "Yes", " Yes" and "Yes, of"; "N" may become another word; what is not listed is 0.015.
    assert [len(found), found[0]] == [3, found[1]]
    assert found[0]["Yes"] == pytest.approx(0.6 + 0.1 + 0.001)
    assert found[0]["No"] == pytest.approx(0.25)
    assert found[0]["Perhaps"] == 0.0
    body = server.asked()[0]["body"]
    assert (body["logprobs"], body["top_logprobs"], body["max_tokens"]) == (True, 20, 1)


def test_label_probabilities_of_a_server_sum_to_one(server):
    shares = load_client("openai:logprobs").label_probabilities(["hi"], ["Yes", "No"])[0]
    assert shares["Yes"] == pytest.approx(0.701 / 0.951)
    assert math.fsum(shares.values()) == pytest.approx(1.0)


def test_a_word_of_several_tokens_is_an_error_that_says_so(server):
    with pytest.raises(ValueError, match=r"splits 'Maybe' into several tokens \('may' comes"):
        load_client("openai:logprobs").label_probabilities(["hi"], ["Yes", "Maybe"])


@pytest.mark.parametrize(
    ("listed", "words", "found"),
    [
        # Case and leading spaces are no other answer, but "a" may be an article.
        ({"positive": 0.08, " Positive": 0.22, "POSITIVE": 0.1}, ["positive", "bad"], [0.4, 0.0]),
        ({"A": 0.5, "a": 0.3, "B": 0.1}, ["A", "B"], [0.5, 0.1]),
        ({"he": 0.5, "He": 0.3}, ["he", "He"], [0.5, 0.3]),
        # The beginning of a word next to the word itself.
        ({"Yes": 0.5, "Y": 0.1, "No": 0.3, "n": 0.05}, ["Yes", "No"], [0.5, 0.3]),
    ],
)
def test_labels_are_read_without_regard_to_case(server, listed, words, found):
    answer = json.dumps({token: math.log(p) for token, p in listed.items()} | {"x": -9.0})
    read = load_client("openai:ok").backend.read_first_token(answer, words)
    assert read == pytest.approx(found)


def test_a_beginning_that_is_likelier_than_its_word_is_an_error(server):
    answer = json.dumps({"Pos": math.log(0.6), "Positive": math.log(0.02), "x": -9.0})
    with pytest.raises(UnknownProbability, match=r"splits 'Positive' .*'pos' comes first"):
        load_client("openai:ok").backend.read_first_token(answer, ["Positive", "bad"])


def test_a_server_without_logprobs_is_an_error_that_says_so(server):
    with pytest.raises(ValueError, match="the server offers no logprobs; use builtin:ngram or"):
        load_client("openai:ok").label_probabilities(["hi"], ["Yes", "No"])


def tools_file(path, *names):
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    path.write_text(json.dumps(tools))
    return path


def test_tool_calls_are_facts_of_the_answer(server, tmp_path):
    path = tools_file(tmp_path / "tools.json", "lookup", "refund")
    client = load_client(f"openai:tools?tools={path}")
    rows = client.generate(["call them", "call silently", "hello"])
    called = {"tools": ("lookup", "refund"), "tool_calls": 2}
    assert [row[0].facts for row in rows] == [called, called, {"tools": (), "tool_calls": 0}]
    assert [str(rows[0][0]), rows[1][0].reason, str(rows[2][0])] == [
        "done",
        "null",
        "no tool is needed",
    ]
    assert server.asked()[0]["body"]["tools"] == json.loads(path.read_text())


def test_without_tools_an_answer_has_no_facts(server):
    (row,) = load_client("openai:ok").generate(["hi"], fresh=True)
    assert not hasattr(row[0], "facts")
    assert "tools" not in server.asked()[0]["body"]


def test_other_tools_are_another_model(tmp_path):
    models = [
        load_client(f"openai:m?tools={tools_file(tmp_path / name, name)}").backend.identity
        for name in ("a", "b", "a")
    ]
    assert models[0] == models[2] != models[1]
    assert "tools" not in load_client("openai:m").backend.identity


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "cannot be read"), ("{}", "give a JSON list of tools"), ("[", "is no JSON")],
)
def test_a_file_of_tools_that_is_wrong_is_named(tmp_path, content, words):
    path = tmp_path / "tools.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ModelSpecError, match=words):
        load_client(f"openai:m?tools={path}")


def test_servers_take_the_system_prompt_of_a_file(tmp_path):
    file = tmp_path / "system.txt"
    file.write_text("Be kind.", "utf-8")
    assert load_client(f"openai:m?system_file={file}").backend.system == "Be kind."
    with pytest.raises(ModelSpecError, match="give it or system_file, not both"):
        load_client(f"openai:m?system_file={file}&system=x")
