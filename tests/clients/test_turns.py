"""Functions that take messages: detected, asked turn by turn, with a system prompt."""

from __future__ import annotations

import asyncio
import sys

import pytest

from pytest_llmfair import Reply, assert_score_difference_within, conversation
from pytest_llmfair.clients import Missing, ModelClient, ModelSpecError, load_client
from pytest_llmfair.clients.identity import identity_of_specification
from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.responses import CutAnswer, is_cut
from tests.clients.fakes import session_with
from tests.judged import result_of

TALK = conversation("My sister is ill.", "She needs help.", "Tell her.")


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


@pytest.fixture
def seen():
    return []


@pytest.fixture(params=["sync", "async", "object", "async object"])
def bot(request, seen):
    """Return a bot that notes its messages and spoils them, as every kind of callable."""

    def say(messages):
        seen.append([dict(message) for message in messages])
        messages.clear()
        return f"answer {len(seen)}"

    async def say_later(messages):
        await asyncio.sleep(0)
        return say(messages)

    class Bot:
        def __call__(self, messages, *, other=None):
            return say(messages)

    class AsyncBot:
        async def __call__(self, messages):
            return say(messages)

    return {"sync": say, "async": say_later, "object": Bot(), "async object": AsyncBot()}[
        request.param
    ]


def test_a_function_of_messages_answers_every_turn(bot, seen):
    assert ModelClient.of(bot).generate([TALK]) == [["answer 3"]]
    assert seen == [
        [user("My sister is ill.")],
        [user("My sister is ill."), assistant("answer 1"), user("She needs help.")],
        [
            *(user("My sister is ill."), assistant("answer 1")),
            *(user("She needs help."), assistant("answer 2"), user("Tell her.")),
        ],
    ]


def test_all_answers_may_be_judged_and_a_system_prompt_comes_first(bot, seen, tmp_path):
    (tmp_path / "system.txt").write_text("Be kind.\n")
    client = ModelClient.of(bot, system=tmp_path / "system.txt", answers="all")
    assert client.generate([TALK]) == [["answer 1\n\nanswer 2\n\nanswer 3"]]
    assert [messages[0] for messages in seen] == [{"role": "system", "content": "Be kind."}] * 3
    assert [len(messages) for messages in seen] == [2, 4, 6]


def test_a_single_prompt_is_a_conversation_of_one_turn(bot, seen):
    assert ModelClient.of(bot).generate(["Hello."]) == [["answer 1"]]
    assert seen == [[user("Hello.")]]


def test_pairs_change_the_group_in_every_turn_of_the_user(seen):
    def bot(messages):
        seen.append(messages)
        return "My sister and she agree."

    (pair,) = generate_pairs([TALK], "gender")
    ModelClient.of(bot).answer_pairs([pair])
    users = {
        tuple(each["content"] for each in messages if each["role"] == "user") for messages in seen
    }
    assert ("My sister is ill.", "She needs help.", "Tell her.") in users
    assert ("My brother is ill.", "He needs help.", "Tell him.") in users
    assert {each["content"] for m in seen for each in m if each["role"] == "assistant"} == {
        "My sister and she agree."
    }


def test_facts_of_all_turns_belong_to_the_answer():
    def agent(messages):
        first = len(messages) == 1
        facts = {"tools": ["lookup"] if first else ["refund"], "steps": len(messages)}
        return Reply("ok", facts | ({"early": True} if first else {}))

    (row,) = ModelClient.of(agent).generate([conversation("a", "b")])
    assert row[0].facts == {"tools": ("lookup", "refund"), "steps": 3, "early": True}


def test_a_turn_without_an_answer_ends_the_conversation():
    asked = []

    def bot(messages):
        asked.append(len(messages))
        return Reply("ok", {"a": 1}) if len(asked) == 1 else Missing("refused", facts={"b": 2})

    (row,) = ModelClient.of(bot).generate([TALK])
    assert (row[0].reason, row[0].facts, asked) == ("refused", {"a": 1, "b": 2}, [1, 3])


def test_an_answer_cut_in_any_turn_counts_as_cut():
    def bot(messages):
        return CutAnswer("half") if len(messages) == 1 else "whole"

    (row,) = ModelClient.of(bot).generate([conversation("a", "b")])
    assert (row[0], is_cut(row[0])) == ("whole", True)


def test_an_exception_in_a_later_turn_is_a_missing_answer():
    def bot(messages):
        if len(messages) > 1:
            raise StopIteration("too late")
        return "fine"

    (row,) = ModelClient.of(bot).generate([conversation("a", "b")])
    assert row[0].reason == "error"
    assert row[0].detail.startswith("StopIteration: too late")


@pytest.mark.parametrize(
    ("function", "messages", "given"),
    [
        (lambda messages: type(messages).__name__, None, "list"),
        (lambda messages: type(messages).__name__, False, "str"),
        (lambda prompt: type(prompt).__name__, None, "str"),
        (lambda prompt: type(prompt).__name__, True, "list"),
        (lambda prompt, messages=(): type(prompt).__name__, None, "str"),
    ],
)
def test_messages_are_detected_or_said(function, messages, given):
    assert ModelClient.of(function, messages=messages).generate(["a"]) == [[given]]


@pytest.mark.parametrize("model", [lambda prompt: "hi", None])
def test_a_conversation_is_refused_where_single_prompts_are_answered(model):
    client = load_client("builtin:ngram") if model is None else ModelClient.of(model)
    with pytest.raises(ValueError, match=r"'My sister is ill\.' is a conversation of 3 turns"):
        client.generate(["single", TALK])


@pytest.mark.parametrize(("option", "value"), [("system", "Be kind."), ("answers", "all")])
def test_options_of_messages_need_messages(option, value):
    with pytest.raises(ModelSpecError, match=f"takes a prompt, and {option} is for one that"):
        ModelClient.of(lambda prompt: "hi", **{option: value})


def test_options_of_functions_are_refused_for_a_backend_and_checked():
    with pytest.raises(ModelSpecError, match="are for functions, and builtin:ngram is a backend"):
        ModelClient.of(load_client("builtin:ngram").backend, system="Be kind.")
    with pytest.raises(ModelSpecError, match="answers is 'first'; give 'last' or 'all'"):
        ModelClient.of(lambda messages: "hi", answers="first")


@pytest.mark.parametrize("turns", [(), ("",), ("a", 3), ("a", " ")])
def test_a_turn_without_text_is_an_error(turns):
    with pytest.raises(ValueError, match="the conversation"):
        conversation(*turns)


# By specification, in a cassette and within a budget.

MODULE = """
def bot(messages, seed=0):
    return " / ".join(message["content"] for message in messages)

def plain(prompt):
    return type(prompt).__name__
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "turn_bots.py").write_text(MODULE)
    (tmp_path / "system.txt").write_text("Be kind.\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("turn_bots", None)


def test_a_specification_names_the_file_of_the_system_prompt(module):
    client = load_client(f"python:turn_bots:bot?system_file={module}/system.txt&answers=all")
    (row,) = client.generate([conversation("a", "b")])
    assert row == ["Be kind. / a\n\nBe kind. / a / Be kind. / a / b"]
    assert load_client("python:turn_bots:plain?messages=yes").generate(["a"]) == [["list"]]
    assert load_client("python:turn_bots:bot?messages=no&temperature=0").name.endswith(
        "?messages=no"
    )


@pytest.mark.parametrize(
    "options",
    [
        "",
        "?messages=yes",
        "?system_file=FOLDER/system.txt",
        "?answers=all",
        "?answers=last&messages=yes",
    ],
)
def test_recorded_answers_are_found_without_loading_the_function(module, options):
    client = load_client(f"python:turn_bots:bot{options}".replace("FOLDER", str(module)))
    assert identity_of_specification(client.name) == client.backend.identity


def test_another_system_prompt_is_another_question(module):
    spec = "python:turn_bots:bot?system_file=system.txt"
    with session_with(cassette="c.jsonl"):
        first = load_client(spec).generate(["a"])
    (module / "system.txt").write_text("Be stern.")
    with session_with(cassette="c.jsonl", record_mode="new"):
        second = load_client(spec).generate(["a"])
        assert load_client(spec).generate(["a"]) == second
    assert (first, second) == ([["Be kind. / a"]], [["Be stern. / a"]])


def test_one_function_with_two_system_prompts_is_two_models_of_a_session():
    def bot(messages):
        return messages[0]["content"]

    with session_with():
        found = [ModelClient.of(bot, system=text).generate(["a"]) for text in ("x", "y")]
    assert found == [[["x"]], [["y"]]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("messages=perhaps", "messages is 'perhaps'; choose yes, no"),
        ("answers=first", "answers is 'first'; choose last, all"),
        ("system_file=none.txt", "none.txt cannot be read"),
    ],
)
def test_a_wrong_option_is_named(module, options, words):
    with pytest.raises(ModelSpecError, match=words):
        load_client(f"python:turn_bots:bot?{options}")


def test_every_turn_is_a_call_of_the_budget(seen):
    def bot(messages):
        seen.append(messages)
        return "ok"

    with session_with(max_calls=7):
        rows = ModelClient.of(bot).generate([conversation(f"a {i}", "b") for i in range(5)])
    assert len(seen) == 6
    missing = [row[0].reason for row in rows if isinstance(row[0], Missing)]
    assert missing == ["over_budget"] * 2


def test_a_bot_that_is_unfair_in_its_last_turn_only_is_found():
    def bot(messages):
        last = len(messages) > 1
        return Reply("Certainly.", {"refund": not (last and "sister" in messages[0]["content"])})

    prompts = [conversation(f"My sister asks about {i}.", "Thank you.") for i in range(40)]
    pairs = generate_pairs(prompts, "gender")
    result = result_of(
        assert_score_difference_within, pairs, 0.2, client=bot, score="facts.refund"
    )
    assert (result.verdict.value, result.value) == ("FAIL", -1.0)
