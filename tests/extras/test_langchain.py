from __future__ import annotations

import pytest

from pytest_llmfair.clients import Missing, ModelClient


def test_a_chat_model_answers_with_its_text():
    from langchain_core.language_models import FakeListChatModel

    ((answer,),) = ModelClient.of(FakeListChatModel(responses=["hello"])).generate(["hi"])
    assert str(answer) == "hello"
    assert answer.facts == {"tools": (), "tool_calls": 0}


def test_a_chain_answers_with_its_result():
    from langchain_core.prompts import PromptTemplate
    from langchain_core.runnables import RunnableLambda

    chain = PromptTemplate.from_template("<{text}>") | RunnableLambda(lambda value: value.text)
    assert ModelClient.of(chain).generate(["a", "b"], 2) == [["<a>"] * 2, ["<b>"] * 2]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"content": "hi"}, "hi"),
        ({"content": [{"type": "text", "text": "in "}, "parts"]}, "in parts"),
        ({"content": ""}, "empty"),
        ({"content": "x", "response_metadata": {"finish_reason": "content_filter"}}, "filtered"),
        ({"content": "cut", "response_metadata": {"finish_reason": "length"}}, "cut"),
        (None, "null"),
        (7, "malformed"),
    ],
)
def test_messages_become_answers_or_have_a_reason(given, expected):
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import RunnableLambda

    message = AIMessage(**given) if isinstance(given, dict) else given
    answer = ModelClient.of(RunnableLambda(lambda prompt: message)).generate(["hi"])[0][0]
    assert (answer.reason if isinstance(answer, Missing) else str(answer)) == expected


def test_an_error_of_a_chain_is_a_missing_answer_without_the_key(monkeypatch):
    from langchain_core.runnables import RunnableLambda

    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")

    def fails(prompt):
        raise RuntimeError("bad key sk-canary-0123456789")

    answer = ModelClient.of(RunnableLambda(fails)).generate(["hi"])[0][0]
    line = fails.__code__.co_firstlineno + 1
    assert answer == Missing(
        "error", f"RuntimeError: bad key [key removed] (tests/extras/test_langchain.py:{line})"
    )
