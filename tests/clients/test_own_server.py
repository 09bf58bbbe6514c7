"""A server asked without an SDK, as a module of one's own would: Python's errors are read too."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_llmfair.clients.backends.server import ServerBackend
from pytest_llmfair.clients.errors import body_of, of_text
from pytest_llmfair.clients.protocol import Attempt, Reply, Request
from pytest_llmfair.responses import Missing
from tests.clients.fakes import reply_of

PROGRAM = Path(__file__).with_name("server.py")


@dataclass(frozen=True, slots=True)
class Posted(ServerBackend):
    provider = "posted"
    key_variable = "POSTED_KEY"
    url_variable = "POSTED_URL"
    url_example = "http://localhost:8000"

    def _connect(self) -> Callable[[bytes], Any]:
        _, url = self._environment()

        def post(data: bytes) -> bytes:
            kind = {"Content-Type": "application/json"}
            request = urllib.request.Request(f"{url}/chat/completions", data, kind)
            with urllib.request.urlopen(request, timeout=10.0) as answer:
                found: bytes = answer.read()
            return found

        return post

    async def _ask(self, request: Request, temperature: float, limit: int | None) -> Attempt:
        message = {"role": "user", "content": request.prompt}
        question = json.dumps({"model": self.model, "messages": [message], "seed": 5}).encode()
        body = body_of(await asyncio.to_thread(self.connection.client, question))
        if isinstance(body, Attempt):
            return body
        return Attempt(of_text(body["choices"][0]["message"]["content"], cut=False, limit=limit))


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    command = [sys.executable, str(PROGRAM)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        yield int(program.stdout.readline())


def asked(model: str, port: int, monkeypatch: pytest.MonkeyPatch) -> Reply:
    monkeypatch.setenv("POSTED_URL", f"http://127.0.0.1:{port}/v1")
    return reply_of(Posted(model))


@pytest.mark.parametrize(
    ("mode", "reason", "attempts", "words"),
    [
        ("429", "rate_limit", 3, "HTTP 429"),
        ("503", "server_error", 3, "HTTP 503"),
        ("reset", "error", 3, "no connection"),
        ("hang-up", "error", 3, "no connection"),
        ("truncated", "malformed", 3, "ends too early"),
        ("422", "error", 1, "HTTP 422"),
    ],
)
def test_faults_are_missing_answers_with_their_reason(
    port: int, monkeypatch: pytest.MonkeyPatch, mode: str, reason: str, attempts: int, words: str
) -> None:
    reply = asked(mode, port, monkeypatch)
    assert isinstance(reply.answer, Missing)
    assert (reply.answer.reason, reply.attempts) == (reason, attempts)
    assert words in reply.answer.detail


def test_answers_arrive_and_a_passing_fault_is_asked_again(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked("ok", port, monkeypatch).answer == "answer to hi seed 5"
    reply = asked("once-500", port, monkeypatch)
    assert (reply.answer, reply.attempts) == ("answer to hi seed 5", 2)


def test_no_server_at_the_address_is_asked_three_times_and_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    reply = asked("ok", free, monkeypatch)
    assert isinstance(reply.answer, Missing)
    assert (reply.answer.reason, reply.attempts) == ("error", 3)
    assert "is a server running at the address in POSTED_URL?" in reply.answer.detail


@pytest.mark.parametrize("error", [TimeoutError(), http.client.HTTPException("odd")])
def test_errors_of_python_are_tried_again(error: Exception) -> None:
    assert Posted("m")._failed(error).retry
