from __future__ import annotations

import asyncio

import pytest

from pytest_llmfair.clients.concurrency import (
    RateLimiter,
    concurrency_of,
    guessed_tokens,
    rate_limiter_of,
)
from pytest_llmfair.clients.protocol import Limits


@pytest.fixture
def slept(monkeypatch):
    """Let a clock run that moves by sleeping only; return when each turn came."""
    clock = [100.0]

    async def sleep(seconds):
        clock[0] += seconds

    monkeypatch.setattr("pytest_llmfair.clients.concurrency.asyncio.sleep", sleep)
    monkeypatch.setattr("pytest_llmfair.clients.concurrency.time.monotonic", lambda: clock[0])

    def turns(pace, sizes):
        found = []
        for size in sizes:
            asyncio.run(pace.turn(size))
            found.append(clock[0] - 100.0)
        return found

    return turns


def test_requests_are_spread_evenly_over_the_minute(slept):
    assert slept(RateLimiter(30.0, None), [1, 1, 1, 1]) == [0.0, 2.0, 4.0, 6.0]


def test_tokens_are_spread_by_their_number(slept):
    assert slept(RateLimiter(None, 600.0), [10, 30, 5]) == [0.0, 1.0, 4.0]


def test_the_slower_limit_counts(slept):
    assert slept(RateLimiter(60.0, 600.0), [5, 30, 5]) == [0.0, 1.0, 4.0]


def test_without_limits_nothing_waits(slept):
    assert slept(RateLimiter(None, None), [10**9, 1]) == [0.0, 0.0]


def test_what_the_server_counted_replaces_the_guess(slept):
    pace = RateLimiter(None, 600.0)
    asyncio.run(pace.turn(100))
    pace.correct(100, 20)
    assert slept(pace, [1]) == [2.0]
    pace.correct(100, 0)
    assert slept(pace, [1]) == pytest.approx([2.1])


def test_calls_of_one_model_share_their_pace_and_workers_split_it(monkeypatch):
    limits = Limits(9, 60.0, 6000.0)
    assert rate_limiter_of("openai:a", limits) is rate_limiter_of("openai:a", limits)
    assert rate_limiter_of("openai:a", limits) is not rate_limiter_of("openai:b", limits)
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "4")
    shared = rate_limiter_of("openai:c", limits)
    assert (shared.requests_per_minute, shared.tokens_per_minute) == (15.0, 1500.0)
    assert concurrency_of(limits) == 2
    assert concurrency_of(Limits(3)) == 1


def test_an_answer_without_a_limit_is_guessed():
    assert guessed_tokens("x" * 40, 10) == 21
    assert guessed_tokens("", None) == 257
