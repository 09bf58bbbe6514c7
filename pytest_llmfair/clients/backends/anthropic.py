"""Models of Anthropic, asked through the official SDK."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmfair.clients.backends.server import ServerBackend
from pytest_llmfair.clients.errors import body_of, counted_in, malformed, of_text, with_tool_calls
from pytest_llmfair.clients.protocol import Attempt, Reply, Request
from pytest_llmfair.clients.spec import ModelSpec
from pytest_llmfair.responses import Missing

# The API requires a limit; every model can write this much.
_LONGEST = 4096

_CUT = ("max_tokens", "model_context_window_exceeded")


@dataclass(frozen=True, slots=True)
class Anthropic(ServerBackend):
    """A model of Anthropic; the API has neither seeds nor probabilities of tokens."""

    takes_turns = True
    provider = "anthropic"
    key_variable = "ANTHROPIC_API_KEY"
    url_variable = "ANTHROPIC_BASE_URL"
    url_example = "https://api.anthropic.com"

    def _connect(self) -> Any:
        import anthropic

        return self._client_of(anthropic, anthropic.AsyncAnthropic)

    async def _ask(self, request: Request, temperature: float, limit: int | None) -> Attempt:
        more: dict[str, Any] = {"system": self.system} if self.system else {}
        if temperature != 1.0:
            # Only this version of the API accepts temperatures.
            more["extra_headers"] = {"anthropic-version": "2023-06-01"}
            more["extra_body"] = {"temperature": temperature}
        if self.tools:
            more["tools"] = json.loads(self.tools)
        raw = await self.connection.client.messages.with_raw_response.create(
            model=self.model,
            messages=[each for each in request.messages if each["role"] != "system"],
            max_tokens=limit or _LONGEST,
            **more,
        )
        body = body_of(raw.http_response.content)
        if isinstance(body, Attempt):
            return body
        return read_message(body, limit, tools=bool(self.tools))


def load(spec: ModelSpec) -> Anthropic:
    """Load ``anthropic:MODEL``."""
    return Anthropic.of(spec)


def read_message(body: Mapping[str, Any], limit: int | None, *, tools: bool = False) -> Attempt:
    """Read a message; tools that it uses are facts, and with `tools` so is the use of none."""
    stop, content = body.get("stop_reason"), body.get("content")
    if content is not None and not isinstance(content, list):
        return malformed("the message has no content")
    blocks = [block for block in content or () if isinstance(block, Mapping)]
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    if stop == "refusal":
        reply = Reply(Missing("refused", "the model declined to answer"))
    elif stop == "tool_use" and len(calls) == len(blocks):
        reply = Reply(Missing("null", "the model called a tool instead of answering"))
    else:
        reply = of_text(content, cut=stop in _CUT, limit=limit)
    if calls or tools:
        reply = replace(reply, answer=with_tool_calls(reply.answer, calls))
    return Attempt(counted_in(reply, body, "input_tokens", "output_tokens"))
