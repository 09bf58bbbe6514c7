"""What models behind a server share: the key, errors that end a run, and texts without keys."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pytest_llmfair.clients.concurrency import close_at_end
from pytest_llmfair.clients.errors import (
    code_of,
    guard_logs,
    of_error,
    one_line,
    redactor,
    said_by,
    status_of,
)
from pytest_llmfair.clients.protocol import DEFAULT_LIMITS, Attempt, Limits, ModelError, Request
from pytest_llmfair.clients.spec import ModelSpec
from pytest_llmfair.responses import Missing

# Seconds to open a connection; one that takes longer is tried again.
_CONNECT = 10.0


@dataclass(slots=True)
class Line:
    """What is known once a server is really asked.

    The SDK's `client` alone holds the key, which `redacted` removes from a text. `opening` is held
    while it is made: a test may ask from several threads. `ended` is why no further request is
    sent, and `limit_name` how this server calls the longest answer.
    """

    client: Any = None
    ended: str = ""
    redacted: Callable[[str], str] = str
    limit_name: str = "max_tokens"
    opening: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class ServerBackend(ABC):
    """A model behind a server; subclasses know how to ask it and how to read its answers."""

    model: str
    system: str = ""
    limits: Limits = DEFAULT_LIMITS
    line: Line = field(default_factory=Line, repr=False, compare=False)

    provider: ClassVar[str]
    key_variable: ClassVar[str]
    url_variable: ClassVar[str]
    url_example: ClassVar[str]

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
        """Provider, model and system prompt."""
        return {"provider": self.provider, "model": self.model, "system": self.system}

    @property
    def known_as(self) -> Hashable:
        """The model, its options and its address: loaded twice, it is still the same client."""
        return self, os.environ.get(self.url_variable)

    def open(self) -> None:
        """Connect at the first live call, and never again once a server has turned us down."""
        if self.line.ended:
            raise ModelError(self.line.ended)
        with self.line.opening:
            if self.line.client is None:
                self._start()

    def _start(self) -> None:
        self.line.redacted = redactor()
        try:
            self.line.client = self._connect()
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever an SDK finds wrong
            words = one_line(f"{type(error).__name__}: {error}")
            # A frame of the SDK holds the key, where a traceback would show it.
            raise ModelError(
                f"model {self.name!r} cannot be asked: {words}; check {self.url_variable}"
            ) from None
        guard_logs(self.line.redacted)

    async def send(
        self, request: Request, *, temperature: float, max_tokens: int | None
    ) -> Attempt:
        """Send one request once."""
        try:
            attempt = await self._ask(request, temperature, max_tokens)
        except Exception as error:  # noqa: BLE001 - a server can do anything, and loses one answer
            attempt = self._failed(error)
        redacted = self.line.redacted
        answer = attempt.reply.answer
        if isinstance(answer, Missing):
            answer = Missing(answer.reason, redacted(answer.detail))
        else:
            # The same kind of text.
            answer = type(answer)(redacted(answer))
        self.line.ended = self.line.ended or redacted(attempt.fatal)
        return replace(
            attempt, reply=replace(attempt.reply, answer=answer), fatal=redacted(attempt.fatal)
        )

    @abstractmethod
    def _connect(self) -> Any:
        """Return what is asked, such as the client of an SDK."""

    @abstractmethod
    async def _ask(self, request: Request, temperature: float, limit: int | None) -> Attempt:
        """Send one request once; an exception of the SDK is read by :meth:`_failed`."""

    def _client_of(self, sdk: Any, kind: Any) -> Any:
        """Make the client of an SDK, which neither repeats nor redirects what it is told."""
        key, url = self._environment()
        client = kind(
            api_key=key or "none",
            base_url=url,
            max_retries=0,
            timeout=sdk.Timeout(None, connect=_CONNECT),
            # A redirect followed would be a request that nobody counts.
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
        words = f"model {self.name!r}: {remedy} (HTTP {status_of(error)}: {said_by(error)})"
        return replace(attempt, retry=False, fatal=words)

    def _environment(self) -> tuple[str | None, str | None]:
        """Return key and base URL of the environment, which is read at a live call only."""
        url = os.environ.get(self.url_variable, "").strip() or None
        if url and not _is_address(url):
            raise ModelError(
                f"model {self.name!r}: {self.url_variable} is no web address; write it with "
                f"http:// or https:// in front, such as {self.url_example}"
            )
        # Last: no traceback from here on may hold a key.
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


def limits_of(spec: ModelSpec) -> Limits:
    """Return the options `concurrency`, `rpm` and `tpm` of a specification."""
    rpm = spec.count("rpm", 0) or None
    tpm = spec.count("tpm", 0) or None
    return Limits(spec.count("concurrency", DEFAULT_LIMITS.concurrency), rpm, tpm)
