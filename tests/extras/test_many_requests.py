from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from pytest_llmfair.clients import Missing, load_client
from pytest_llmfair.clients.concurrency import RetryPolicy, dispatch
from pytest_llmfair.clients.protocol import Request

# What each fault of the server must be called when it is the last one.
REASONS = {
    **dict.fromkeys(("429", "429-after-0"), "rate_limit"),
    **dict.fromkeys(("500", "502", "503", "529"), "server_error"),
    **dict.fromkeys(("reset", "hang-up"), "error"),
    **dict.fromkeys(("truncated", "bad-json", "html", "no-body"), "malformed"),
    **{name: name for name in ("filtered", "length", "null", "empty")},
    "refusal": "refused",
    "no-choice": "empty",
    "stall": "timeout",
}


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_of_many_requests_with_20_percent_faults_none_is_lost_doubled_or_mistaken(server, count):
    kept = []
    dispatch(
        load_client("openai:mix-20?concurrency=64").backend,
        [Request(f"prompt {i}", i << 33) for i in range(count)],
        lambda row, reply: kept.append((row, reply)),
        temperature=1.0,
        max_tokens=None,
        retries=RetryPolicy(timeout=5.0, pause=0.02),
    )
    faults = defaultdict(list)
    for asked in server.asked():
        faults[asked["body"]["seed"]].append(asked["fault"])
    assert sorted(row for row, _ in kept) == list(range(count))
    assert sorted(faults) == list(range(count))
    for row, reply in kept:
        assert reply.attempts == len(faults[row]) <= 3
        last = faults[row][-1]
        if last:
            assert isinstance(reply.answer, Missing)
            assert reply.answer.reason == REASONS[last], (last, reply)
        else:
            assert reply.answer == f"answer to prompt {row} seed {row}"
    reasons = Counter(reply.answer.reason for _, reply in kept if not reply.answer)
    assert set(reasons) <= set(REASONS.values())
    assert count < 10_000 or set(reasons) == set(REASONS.values())
