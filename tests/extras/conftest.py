"""The local server that fails on request, for tests of models behind a server."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

PROGRAM = Path(__file__).parents[1] / "clients" / "server.py"
KEY = "sk-canary-0123456789abcdef"


@dataclass(frozen=True)
class FaultServer:
    """Address of a running server, and what it was asked since the last look."""

    port: int
    key: str = KEY

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def asked(self) -> list[dict[str, Any]]:
        with urlopen(Request(f"{self.url}/log", method="DELETE")) as answer:
            log: list[dict[str, Any]] = json.load(answer)
        return log


@pytest.fixture(scope="session")
def _running() -> Iterator[FaultServer]:
    command = [sys.executable, str(PROGRAM)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        server = FaultServer(int(program.stdout.readline()))
        asyncio.run(_ask_once(server))
        yield server


async def _ask_once(server: FaultServer) -> None:
    """Load what the SDK imports late: a second import, in a session within, would confuse it."""
    # Collection does not wait for the SDK.
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key=KEY) as client:
        await client.chat.completions.create(
            model="ok", messages=[{"role": "user", "content": "hi"}]
        )


@pytest.fixture
def session(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., pytest.RunResult]:
    """Return a function that runs pytest with this plugin alone, which saves a second."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return lambda *arguments: pytester.runpytest("-p", "llmfair", *arguments)


@pytest.fixture
def server(_running: FaultServer, monkeypatch: pytest.MonkeyPatch) -> FaultServer:
    """Return the server, freshly forgetful, with the environment pointing at it."""
    for provider, path in (("OPENAI", "/v1"), ("ANTHROPIC", "")):
        monkeypatch.setenv(f"{provider}_BASE_URL", _running.url + path)
        monkeypatch.setenv(f"{provider}_API_KEY", KEY)
    _running.asked()
    return _running
