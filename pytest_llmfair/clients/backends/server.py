"""Base class of models on a server: the key, errors that end a run, redaction."""

from __future__ import annotations

import json
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pytest_llmfair._util.background import close_at_end
from pytest_llmfair.clients.backends.chat import Chat, Talk
from pytest_llmfair.clients.concurrency import rate_limiter_of
from pytest_llmfair.clients.errors import (
    code_of,
    guard_logs,
    message_of,
    of_error,
    one_line,
    redactor,
    status_of,
    without_keys,
)
from pytest_llmfair.clients.protocol import DEFAULT_LIMITS, Attempt, Limits, ModelError, Request
from pytest_llmfair.clients.spec import ModelSpec, ModelSpecError
from pytest_llmfair.replies import text_digest

# Seconds to open a connection; one that takes longer is tried again.
_CONNECT = 10.0


@dataclass(slots=True)
class Connection:
    """State of a connection, from the first live call on."""

    # The client of the SDK, which alone holds the key.
    client: Any = None
    # Why no further request is sent.
    ended: str = ""
    # Removes the key from a text.
    redacted: Callable[[str], str] = str
    # This server's name for the longest answer.
    limit_name: str = "max_tokens"
    # Held while the client is made, since a test may ask from several threads.
    opening: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class ServerBackend(ABC):
    """A model on a server; subclasses send a request and read its answer."""

    model: str
    system: str = ""
    limits: Limits = DEFAULT_LIMITS
    connection: Connection = field(default_factory=Connection, repr=False, compare=False)
    # Which answers to a conversation are judged.
    answers: Literal["last", "all"] = "last"
    # The tools that the model may call, as the JSON that the server takes.
    tools: str = ""

    # Whether `_ask` sends the messages of a request, and not its prompt.
    takes_turns: ClassVar[bool] = False
    provider: ClassVar[str]
    key_variable: ClassVar[str]
    url_variable: ClassVar[str]
    url_example: ClassVar[str]

    @classmethod
    def of(cls, spec: ModelSpec, **own: Any) -> Self:
        """Return the model of a specification; `own` are fields of a subclass."""
        rpm, tpm = (spec.count(name, 0) or None for name in ("rpm", "tpm"))
        return cls(
            spec.target,
            spec.system,
            Limits(spec.count("concurrency", DEFAULT_LIMITS.concurrency), rpm, tpm),
            answers="all" if spec.choice("answers", ("last", "all")) == "all" else "last",
            tools=_tools_of(spec),
            **own,
        )

    @property
    def name(self) -> str:
        """Specification of the model, for reports."""
        return f"{self.provider}:{self.model}"

    @property
    def description(self) -> str:
        """What the model is, in one sentence."""
        return f"{self.model}, asked through the {self.provider} client"

    @property
    def identity(self) -> Mapping[str, str]:
        """Provider, model, system prompt and, where they are given, answers and tools."""
        found = {"provider": self.provider, "model": self.model, "system": self.system}
        if self.answers == "all":
            found["answers"] = "all"
        return found | ({"tools": text_digest(self.tools)} if self.tools else {})

    @property
    def known_as(self) -> Hashable:
        """The model, its options and its address: loaded twice, it is the same client."""
        return self, os.environ.get(self.url_variable)

    def open(self) -> None:
        """Connect at the first live call; raise if a server has refused before."""
        if self.connection.ended:
            raise ModelError(self.connection.ended)
        with self.connection.opening:
            if self.connection.client is not None:
                return
            self.connection.redacted = redactor()
            try:
                self.connection.client = self._connect()
            except ModelError:
                raise
            except Exception as error:  # noqa: BLE001 - an SDK may raise anything
                words = one_line(f"{type(error).__name__}: {error}")
                # Without the cause: a traceback would show the SDK's frame, which holds the key.
                raise ModelError(
                    f"model {self.name!r} cannot be asked: {words}; check {self.url_variable}"
                ) from None
            guard_logs(self.connection.redacted)

    async def send(
        self, request: Request, *, temperature: float, max_tokens: int | None
    ) -> Attempt:
        """Send one request once, or one for every turn of a conversation."""
        talk, tokens = Talk(Chat(self.system, self.answers), request.prompt), [0, 0]
        while (messages := talk.next()) is not None:
            if talk.calls:
                await rate_limiter_of(self.name, self.limits).turn(sum(tokens))
            try:
                asked = replace(request, messages=messages)
                attempt = await self._ask(asked, temperature, max_tokens)
            except Exception as error:  # noqa: BLE001 - whatever happens, one answer is lost
                attempt = self._failed(error)
            talk.take(attempt.reply.answer)
            tokens[0] += attempt.reply.prompt_tokens
            tokens[1] += attempt.reply.answer_tokens
        judged = talk.judged
        reply = replace(attempt.reply, prompt_tokens=tokens[0], answer_tokens=tokens[1])
        redacted = self.connection.redacted
        answer = without_keys(judged, redacted)
        self.connection.ended = self.connection.ended or redacted(attempt.fatal)
        return replace(attempt, reply=replace(reply, answer=answer), fatal=redacted(attempt.fatal))

    @abstractmethod
    def _connect(self) -> Any:
        """Return the client of an SDK, or a function that asks."""

    @abstractmethod
    async def _ask(self, request: Request, temperature: float, limit: int | None) -> Attempt:
        """Send one request once; an exception of the SDK is read by :meth:`_failed`."""

    def _client_of(self, sdk: Any, kind: Any) -> Any:
        """Make the client of an SDK that neither retries nor follows redirects."""
        key, url = self._environment()
        client = kind(
            api_key=key or "none",
            base_url=url,
            max_retries=0,
            timeout=sdk.Timeout(None, connect=_CONNECT),
            # A followed redirect would be a request that the budget does not count.
            http_client=sdk.DefaultAsyncHttpxClient(follow_redirects=False),
        )
        close_at_end(client.close)
        return client

    def _failed(self, error: Exception) -> Attempt:
        attempt = of_error(error, self.url_variable)
        status = status_of(error)
        if status == 429 and code_of(error) == "insufficient_quota":
            status = 402
        remedy = {
            401: f"the key was not accepted; set {self.key_variable} to a valid one",
            402: "the account cannot pay; add credit, or use another key",
            403: "the key may not use this model; use another key or model",
            404: f"there is no such model; check its name, and {self.url_variable} where it is "
            f"set (such as {self.url_example})",
        }.get(status or 0)
        if remedy is None:
            return attempt
        words = f"model {self.name!r}: {remedy} (HTTP {status_of(error)}: {message_of(error)})"
        return replace(attempt, retry=False, fatal=words)

    def _environment(self) -> tuple[str | None, str | None]:
        """Return key and base URL from the environment."""
        url = os.environ.get(self.url_variable, "").strip() or None
        if url and not _is_address(url):
            raise ModelError(
                f"model {self.name!r}: {self.url_variable} is not a web address; write it with "
                f"http:// or https:// in front, such as {self.url_example}"
            )
        # Read last, so that no traceback of the errors above holds the key.
        key = os.environ.get(self.key_variable, "").strip() or None
        if key is None and url is None:
            raise ModelError(
                f"model {self.name!r} needs a key: set {self.key_variable}, or set "
                f"{self.url_variable} to a server that needs none"
            )
        return key, url


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _tools_of(spec: ModelSpec) -> str:
    """Return the JSON list in the file that the option `tools` names."""
    text = spec.file("tools")
    try:
        listed = json.loads(text or "[]")
    except ValueError as error:
        raise ModelSpecError(
            f"model {spec.text!r}: the file of tools is no JSON: {error}"
        ) from None
    if not isinstance(listed, list):
        raise ModelSpecError(
            f"model {spec.text!r}: the file of tools holds {text[:40]!r}; give a JSON list of "
            'tools, each {"type": "function", "function": {...}}'
        )
    return text
