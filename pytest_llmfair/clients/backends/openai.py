"""Models on OpenAI-compatible servers: OpenAI, vLLM, llama.cpp, Ollama, TGI."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmfair.clients.backends.server import ServerBackend
from pytest_llmfair.clients.errors import (
    body_of,
    counted_in,
    malformed,
    message_of,
    of_text,
    one_line,
    status_of,
    with_tool_calls,
)
from pytest_llmfair.clients.protocol import Attempt, Reply, Request, UnknownProbability
from pytest_llmfair.clients.spec import ModelSpec
from pytest_llmfair.responses import Missing

# Largest probability that may be left unknown.
_UNKNOWN = 0.01


@dataclass(frozen=True, slots=True)
class OpenAICompatible(ServerBackend):
    """A chat model on a server, asked through the official SDK."""

    # Whether requests carry the seed of their sample, which some servers reject.
    sends_seed: bool = True
    # How many of the likeliest first tokens the server is asked for.
    top_logprobs: int = 20

    takes_turns = True
    provider = "openai"
    key_variable = "OPENAI_API_KEY"
    url_variable = "OPENAI_BASE_URL"
    url_example = "http://localhost:8000/v1"

    def read_first_token(self, answer: str, words: Sequence[str]) -> list[float]:
        """Return P(the answer starts with the word) by word; raise if one is unknown."""
        # A word has the probability of all tokens that begin with it. Tokens that are only the
        # beginning of a word, and those that the server did not list, may or may not become that
        # word: an error where they have more than 0.01 and more than the word itself.
        shares: dict[str, float] = json.loads(answer)
        names = [word.strip() for word in words]
        # The case counts for single letters, since "a" may be an article, and where two words
        # differ in nothing else.
        folded = len({*map(str.casefold, names)}) == len(names) and min(map(len, names)) > 1
        form = str.casefold if folded else str
        listed = {form(token.lstrip()): 0.0 for token in shares}
        for token, share in shares.items():
            listed[form(token.lstrip())] += math.exp(share)
        least = min(math.exp(share) for share in shares.values())
        # An unlisted token has at most the least listed probability, and what is left.
        unlisted = min(least, max(0.0, 1.0 - math.fsum(listed.values())))
        found = []
        for name in names:
            word = form(name)
            share = math.fsum(p for token, p in listed.items() if _begins(token, word))
            opens = [
                token for token in listed if token and word.startswith(token) and token != word
            ]
            open_share = math.fsum(listed[token] for token in opens)
            if open_share > max(_UNKNOWN, share):
                raise UnknownProbability(
                    f"the server of {self.name} splits {name!r} into several tokens ({opens[0]!r} "
                    f"comes first, with probability {open_share:.2g}) and gives the "
                    "probability of the first token only; use words of one token, such as A and "
                    "B, or an hf: model"
                )
            if share == 0.0 and unlisted > _UNKNOWN:
                raise UnknownProbability(
                    f"{name!r} is not among the {len(shares)} likeliest first tokens that the "
                    f"server of {self.name} lists (it may have up to {unlisted:.2g}); ask in a "
                    "way that these words answer, or raise top_logprobs in the specification"
                )
            found.append(share)
        return found

    def _connect(self) -> Any:
        import openai

        return self._client_of(openai, openai.AsyncOpenAI)

    async def _ask(self, request: Request, temperature: float, limit: int | None) -> Attempt:
        raw = await self.connection.client.chat.completions.with_raw_response.create(
            **self._question(request, temperature, limit)
        )
        body = body_of(raw.http_response.content)
        if isinstance(body, Attempt):
            return body
        return (
            read_first_token(body)
            if request.first_token
            else read_chat(body, limit, tools=bool(self.tools))
        )

    def _question(self, request: Request, temperature: float, limit: int | None) -> dict[str, Any]:
        question: dict[str, Any] = {
            "model": self.model,
            "messages": request.messages,
            "temperature": temperature,
        }
        if limit is not None:
            question["extra_body"] = {self.connection.limit_name: limit}
        if self.sends_seed:
            # 31 bits, since some servers keep seeds as signed 32-bit numbers.
            question["seed"] = request.seed >> 33
        if self.tools and not request.first_token:
            question["tools"] = json.loads(self.tools)
        if request.first_token:
            question |= {"logprobs": True, "top_logprobs": self.top_logprobs}
        return question

    def _failed(self, error: Exception) -> Attempt:
        attempt = ServerBackend._failed(self, error)
        if status_of(error) == 400 and "max_completion_tokens" in message_of(error):
            self.connection.limit_name = "max_completion_tokens"
            return replace(attempt, retry=True, retry_after=0.0)
        return attempt


def load(spec: ModelSpec) -> OpenAICompatible:
    """Load ``openai:MODEL``."""
    top = spec.count("top_logprobs", 20)
    return OpenAICompatible.of(spec, sends_seed=spec.flag("seed"), top_logprobs=top)


def read_chat(body: Mapping[str, Any], limit: int | None, *, tools: bool = False) -> Attempt:
    """Read a chat completion; tool calls are facts, and with `tools` so is the lack of any."""
    choice = _first_choice(body)
    if isinstance(choice, Attempt):
        return choice
    message, stop = choice.get("message"), choice.get("finish_reason")
    if not isinstance(message, dict):
        return malformed("the choice has no message")
    content, refusal = message.get("content"), message.get("refusal")
    calls = message.get("tool_calls")
    if refusal:
        reply = Reply(Missing("refused", one_line(str(refusal))))
    elif stop == "content_filter":
        reply = Reply(Missing("filtered", "the server filtered the answer"))
    elif not content and calls:
        reply = Reply(Missing("null", "the model called a tool instead of answering"))
    else:
        reply = of_text(content, cut=stop == "length", limit=limit)
    if calls or tools:
        reply = replace(reply, answer=with_tool_calls(reply.answer, calls))
    return Attempt(_counted(reply, body))


def read_first_token(body: Mapping[str, Any]) -> Attempt:
    """Read the likeliest first tokens of a chat completion."""
    choice = _first_choice(body)
    if isinstance(choice, Attempt):
        return choice
    try:
        listed = choice["logprobs"]["content"][0]["top_logprobs"]
        shares = {str(one["token"]): float(one["logprob"]) for one in listed}
    except (KeyError, TypeError, ValueError, IndexError):
        shares = {}
    if not shares or any(math.isnan(share) for share in shares.values()):
        words = "the server offers no logprobs; use builtin:ngram or an hf: model"
        return Attempt(_counted(Reply(Missing("error", words)), body))
    return Attempt(_counted(Reply(json.dumps(shares)), body))


def _begins(text: str, word: str) -> bool:
    return text.startswith(word) and not text[len(word) : len(word) + 1].isalnum()


def _first_choice(body: Mapping[str, Any]) -> dict[str, Any] | Attempt:
    choices = body.get("choices")
    if choices == []:
        return Attempt(_counted(Reply(Missing("empty", "the server gave no choice")), body))
    if not isinstance(choices, list) or not isinstance(choices[0], dict):
        return malformed("the body has no choices")
    return choices[0]


def _counted(reply: Reply, body: Mapping[str, Any]) -> Reply:
    return counted_in(reply, body, "prompt_tokens", "completion_tokens")
