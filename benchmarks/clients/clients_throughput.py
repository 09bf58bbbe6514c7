"""Requests to a local server that takes 50 ms, against the bare SDK under ``asyncio.gather``."""

from __future__ import annotations

import asyncio
import atexit
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from _kernel import Kernel

SERVER = Path(__file__).parents[2] / "tests" / "clients" / "server.py"
MODEL = "wait-0.05"
# Requests of one turn, by how many are in flight.
TURNS = {16: 320, 64: 1280}


def kernels() -> list[Kernel]:
    """Throughput with 16 and with 64 requests in flight."""
    program = subprocess.Popen(
        [sys.executable, str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    atexit.register(program.kill)
    assert program.stdout is not None
    os.environ["OPENAI_BASE_URL"] = f"http://127.0.0.1:{int(program.stdout.readline())}/v1"
    os.environ["OPENAI_API_KEY"] = "no-key-needed-here"
    return list(_lines())


def _lines() -> Iterator[Kernel]:
    for concurrency, count in TURNS.items():
        yield Kernel(
            name=f"{count} requests of 50 ms, {concurrency} in flight",
            peer="bare SDK under gather",
            target=0.9,
            theirs=_bare(concurrency),
            ours=_ours(concurrency),
            pieces=[[f"prompt {i} of {concurrency}" for i in range(count)]],
            same=lambda theirs, ours: theirs == ours,
            rounds=8,
        )


def _ours(concurrency: int) -> Callable[[list[str]], list[str]]:
    from pytest_llmfair.clients import load_client

    client = load_client(f"openai:{MODEL}?concurrency={concurrency}&seed=off")
    return lambda prompts: [str(row[0]) for row in client.generate(prompts)]


def _bare(concurrency: int) -> Callable[[list[str]], list[str]]:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(max_retries=0)
    limit = asyncio.Semaphore(concurrency)
    loop = asyncio.new_event_loop()

    async def one(prompt: str) -> str:
        async with limit:
            said = await client.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": prompt}], temperature=1.0
            )
            return said.choices[0].message.content or ""

    async def all_of(prompts: list[str]) -> list[str]:
        return list(await asyncio.gather(*map(one, prompts)))

    return lambda prompts: loop.run_until_complete(all_of(prompts))
