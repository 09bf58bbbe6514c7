"""The adapter of LiteLLM by its contract: a coroutine that takes and gives the shapes of OpenAI.

LiteLLM itself holds the SDK of OpenAI back at an older version, so it is not installed here.
"""

from __future__ import annotations

import pytest

from pytest_llmfair.clients import Missing, ModelClient, ModelError, ModelSpecError, load_client
from pytest_llmfair.clients.backends.litellm import LiteLLM
from pytest_llmfair.clients.backends.server import Connection


def client_of(mode: str, calls: list[dict]) -> ModelClient:
    async def acompletion(**question):
        calls.append(dict(question))
        options = {name: question.pop(name) for name in ("drop_params", "num_retries")}
        assert options == {"drop_params": True, "num_retries": 0}
        import openai  # collection does not wait for the SDK

        async with openai.AsyncOpenAI(max_retries=0) as sdk:
            return await sdk.chat.completions.create(**question)

    connection = Connection(client=acompletion)
    return ModelClient(LiteLLM(mode, "Be brief", connection=connection))


@pytest.mark.parametrize(
    ("mode", "reason"),
    [("refusal", "refused"), ("filtered", "filtered"), ("length", "length"), ("400", "error")],
)
def test_answers_and_errors_have_their_reasons(server, mode, reason):
    answer = client_of(mode, []).generate(["hi"])[0][0]
    assert isinstance(answer, Missing)
    assert answer.reason == reason


def test_the_question_is_in_the_shape_of_openai(server):
    calls: list[dict] = []
    answer = client_of("once-503", calls).generate(["hi"], max_tokens=5, temperature=0.5)[0][0]
    assert answer.startswith("answer to hi")
    assert len(calls) == 2
    assert calls[0]["max_tokens"] == 5
    assert calls[0]["messages"][0] == {"role": "system", "content": "Be brief"}


def test_a_key_that_is_not_accepted_ends_the_run(server):
    with pytest.raises(ModelError, match="the key was not accepted"):
        client_of("401", []).generate(["hi"])


def test_a_library_that_is_not_installed_is_named():
    with pytest.raises(ModelSpecError, match='needs litellm; run: pip install "litellm"'):
        load_client("litellm:bedrock/some-model")
