"""Models that LiteLLM reaches; the library is imported at the first live call."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from pytest_llmfair.clients.backends.openai import OpenAICompatible, read_chat
from pytest_llmfair.clients.protocol import Attempt, Request
from pytest_llmfair.clients.spec import ModelSpec


@dataclass(frozen=True, slots=True)
class LiteLLM(OpenAICompatible):
    """A model by LiteLLM's name, such as "bedrock/..."; keys come from the environment."""

    provider = "litellm"
    key_variable = "the provider's API key"
    url_variable = "the provider's base URL"
    url_example = "http://localhost:8000/v1"

    def _connect(self) -> Any:
        # Otherwise it fetches prices from the web and prints an advertisement with every error.
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        import litellm  # type: ignore[import-not-found, unused-ignore]

        litellm.suppress_debug_info = True
        return litellm.acompletion

    async def _ask(self, request: Request, temperature: float, limit: int | None) -> Attempt:
        question = self._question(request, temperature, limit)
        question |= question.pop("extra_body", {})
        answer = await self.connection.client(**question, drop_params=True, num_retries=0)
        return read_chat(answer.model_dump(), limit, tools=bool(self.tools))


def load(spec: ModelSpec) -> LiteLLM:
    """Load ``litellm:MODEL``."""
    return LiteLLM.of(spec, sends_seed=spec.flag("seed"))
