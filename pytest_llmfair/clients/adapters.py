"""Models of other libraries, by the methods they have: LangChain's runnables, LiteLLM.

Neither library is imported for an object that is handed in.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pytest_llmfair.clients._backend import Attempt, Request
from pytest_llmfair.clients._outcomes import of_text
from pytest_llmfair.clients.openai_compatible import OpenAICompatible, read_chat
from pytest_llmfair.responses import Answer, Missing


def adapted(model: object) -> object:
    """Return a callable for a LangChain runnable (a chain, a chat model); other things as is.

    Such an object has `ainvoke`, and its answer is a text or a message with `content`.
    """
    ask: Callable[[str], Any] | None = getattr(model, "ainvoke", None)
    if ask is None:
        return model

    async def answer(prompt: str) -> Answer:
        said = await ask(prompt)
        metadata = getattr(said, "response_metadata", None) or {}
        if "content_filter" in (metadata.get("finish_reason"), metadata.get("stop_reason")):
            return Missing("filtered", "the server filtered the answer")
        # The limit is set where the runnable is made, so on purpose.
        return of_text(getattr(said, "content", said), cut=False, limit=None).answer

    return answer


@dataclass(frozen=True, slots=True)
class LiteLLM(OpenAICompatible):
    """A model that LiteLLM reaches, by LiteLLM's name such as "bedrock/...", "gemini/...".

    LiteLLM reads its keys from the environment itself, answers in the shapes of OpenAI, and leaves
    out what a provider does not know.
    """

    provider = "litellm"
    key_variable = "the provider's API key"
    url_variable = "the provider's base URL"
    url_example = "http://localhost:8000/v1"

    def _connect(self) -> Any:
        # It would fetch prices from the web, and print a request for feedback with every error.
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        import litellm  # type: ignore[import-not-found, unused-ignore]

        litellm.suppress_debug_info = True
        return litellm.acompletion

    async def _ask(self, request: Request, temperature: float, limit: int | None) -> Attempt:
        question = self._question(request, temperature, limit)
        question |= question.pop("extra_body", {})
        said = await self.line.client(**question, drop_params=True, num_retries=0)
        return read_chat(said.model_dump(), limit)
