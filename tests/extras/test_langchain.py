from __future__ import annotations

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableLambda

from pytest_llmfair.clients import Missing, ModelClient


def test_a_chat_model_answers_with_its_text():
    assert ModelClient.of(FakeListChatModel(responses=["hello"])).generate(["hi"]) == [["hello"]]


def test_a_chain_answers_with_its_result():
    chain = PromptTemplate.from_template("<{text}>") | RunnableLambda(lambda value: value.text)
    assert ModelClient.of(chain).generate(["a", "b"], 2) == [["<a>"] * 2, ["<b>"] * 2]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (AIMessage("hi"), "hi"),
        (AIMessage([{"type": "text", "text": "in "}, "parts"]), "in parts"),
        (AIMessage(""), "empty"),
        (AIMessage("x", response_metadata={"finish_reason": "content_filter"}), "filtered"),
        (AIMessage("cut", response_metadata={"finish_reason": "length"}), "cut"),
        (None, "null"),
        (7, "malformed"),
    ],
)
def test_messages_become_answers_or_have_a_reason(message, expected):
    answer = ModelClient.of(RunnableLambda(lambda prompt: message)).generate(["hi"])[0][0]
    assert (answer.reason if isinstance(answer, Missing) else answer) == expected


def test_an_error_of_a_chain_is_a_missing_answer_without_the_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")

    def fails(prompt):
        raise RuntimeError("bad key sk-canary-0123456789")

    answer = ModelClient.of(RunnableLambda(fails)).generate(["hi"])[0][0]
    assert answer == Missing(
        "error", "RuntimeError: bad key [key removed] (tests/extras/test_langchain.py:42)"
    )
