"""What a run may spend: reserved before it is sent, settled after, never exceeded."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.clients import Missing, ModelClient, Request, RequestRunner
from pytest_llmfair.clients.budget import (
    Budget,
    BudgetReservation,
    Caps,
    Price,
    Prices,
    Spent,
    UnknownPrice,
    prompt_tokens,
)
from pytest_llmfair.clients.protocol import Attempt, Limits, Reply
from pytest_llmfair.responses import Answer
from tests.clients.fakes import Server, answered

REQUESTS = [Request(f"prompt {i}", i) for i in range(40)]


@pytest.fixture
def budget(tmp_path: Path) -> Callable[..., Budget]:
    """Return a function that makes a budget of one run."""
    return lambda **caps: Budget(Caps(**caps), lambda: tmp_path / "spent")


def ask(
    budget: Budget, backend: object, requests: Sequence[Request] = REQUESTS, longest: int = 20
) -> list[Answer]:
    runner = RequestRunner(budget=budget)
    return runner.answers(backend, requests, temperature=1.0, max_tokens=longest)  # type: ignore[arg-type]


def refused(answers: Sequence[Answer]) -> list[int]:
    return [
        i for i, a in enumerate(answers) if isinstance(a, Missing) and a.reason == "over_budget"
    ]


def test_no_call_is_made_beyond_the_cap(budget: Callable[..., Budget]) -> None:
    asked = []
    model = ModelClient.of(lambda prompt: asked.append(prompt) or "an answer")
    answers = ask(budget(calls=25), model.backend)
    assert len(asked) == 25
    assert refused(answers) == list(range(25, 40))
    assert answers[25] == Missing(
        "over_budget", "--llmfair-max-calls 25 is reached; nothing more is sent"
    )


def test_the_cap_holds_over_several_calls_of_a_client(budget: Callable[..., Budget]) -> None:
    server, own = Server(), budget(calls=60)
    assert refused(ask(own, server)) == []
    assert len(refused(ask(own, server))) == 20
    assert len(refused(ask(own, server))) == 40
    assert len(server.asked) == 60


def test_retries_are_calls(budget: Callable[..., Budget]) -> None:
    failed = Attempt(Reply(Missing("server_error")), retry=True)
    server = Server(lambda prompt, call: answered(prompt, call) if call % 2 else failed)
    answers = ask(budget(calls=30), server)
    assert len(server.asked) == 30
    assert sum(isinstance(answer, str) for answer in answers) == 15


def test_no_more_than_the_cap_is_in_flight(budget: Callable[..., Budget]) -> None:
    server = Server(limits=Limits(40))
    ask(budget(calls=7), server)
    assert len(server.asked) == 7


def test_tokens_are_settled_so_that_the_cap_is_used_up(budget: Callable[..., Budget]) -> None:
    # An answer needs room for 24 + 20 tokens, and uses 12 of them.
    own = budget(tokens=300)
    server = Server()
    answers = ask(own, server)
    used = own.spent.tokens
    assert used <= 300
    assert used == 12 * (40 - len(refused(answers)))
    room = prompt_tokens("prompt 39") + 20
    assert 300 - used < room
    assert "--llmfair-max-total-tokens 300 would be exceeded" in str(answers[-1])


def test_cost_is_settled_so_that_the_cap_is_used_up(budget: Callable[..., Budget]) -> None:
    # 5 tokens at 0.15 and 7 at 0.60 dollars per million.
    own = budget(cost=0.0001)
    answers = ask(own, Server())
    each = (5 * 0.15 + 7 * 0.60) / 1e6
    paid = each * (40 - len(refused(answers)))
    assert own.spent.cost / 1e12 == pytest.approx(paid, rel=1e-9)
    room = (prompt_tokens("prompt 39") * 0.15 + 20 * 0.60) / 1e6
    assert 0.0001 - room < own.spent.cost / 1e12 <= 0.0001
    assert "--llmfair-max-cost 0.0001 would be exceeded" in str(answers[-1])


def test_tokens_are_estimated_if_they_are_not_counted(
    budget: Callable[..., Budget],
) -> None:
    own = budget(tokens=100_000)
    ask(own, Server(lambda prompt, call: Attempt(Reply("an answer"))), longest=1000)
    estimate = sum(
        prompt_tokens(request.prompt) + prompt_tokens("an answer") for request in REQUESTS
    )
    assert own.spent == Spent(40, estimate, 0)


@pytest.mark.parametrize("unread", [0, 1, 2])
@pytest.mark.parametrize(
    ("reply", "read"), [(Reply(Missing("server_error")), 0), (Reply("an answer", 5, 7), 12)]
)
def test_an_attempt_that_may_have_been_answered_keeps_its_reservation(
    budget: Callable[..., Budget], unread: int, reply: Reply, read: int
) -> None:
    own = budget(tokens=1000)
    purse = BudgetReservation.of(own, "openai:gpt-4o", 20)
    assert purse.reserve(REQUESTS[0]) == ""
    each = own.spent.tokens
    assert purse.reserve(REQUESTS[0]) == purse.reserve(REQUESTS[0]) == ""
    purse.settle(REQUESTS[0], replace(reply, unread=unread))
    assert own.spent == Spent(3, unread * each + read)


def test_threads_of_one_process_count_together(budget: Callable[..., Budget]) -> None:
    own = budget(tokens=10**6)
    with ThreadPoolExecutor(8) as threads:
        spend = [threads.submit(_spend, own, 200) for _ in range(8)]
        assert all(future.result() for future in spend)
    assert own.spent == Spent(1600, 1600 * 3)


def _spend(own: Budget, times: int) -> bool:
    for _ in range(times):
        assert own.reserve(Spent(1, 20)) == ""
        own.settle(Spent(1, 20), Spent(1, 3))
    return True


def test_a_cap_that_no_answer_fits_says_what_to_set(budget: Callable[..., Budget]) -> None:
    runner = RequestRunner(budget=budget(tokens=500))
    (answer,) = runner.answers(Server(), REQUESTS[:1], temperature=1.0, max_tokens=None)
    assert "4,096 tokens are reserved for each answer" in answer.detail
    assert "set --llmfair-max-tokens" in answer.detail


@given(
    st.integers(0, 500),
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20)), max_size=30),
)
def test_reservations_never_exceed_the_cap(cap: int, replies: list[tuple[int, int]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        own = Budget(Caps(tokens=cap), lambda: Path(folder) / "spent")
        purse = BudgetReservation.of(own, "builtin:ngram", 20)
        for request, (prompt, answer) in zip(REQUESTS, replies, strict=False):
            if not purse.reserve(request):
                assert own.spent.tokens <= cap
                read = min(prompt, prompt_tokens(request.prompt))
                purse.settle(request, Reply("an answer", read, answer))
            assert own.spent.tokens <= cap
        own.close()


SPENDER = """
import sys
from pathlib import Path
from pytest_llmfair.clients.budget import Budget, Caps, Spent

budget = Budget(Caps(calls=int(sys.argv[2])), lambda: Path(sys.argv[1]))
made = 0
while not budget.reserve(Spent(1)):
    made += 1
print(made)
"""


def test_processes_share_one_cap(tmp_path: Path) -> None:
    spenders = [
        subprocess.Popen(
            [sys.executable, "-c", SPENDER, str(tmp_path / "spent"), "5000"],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    made = [int(spender.communicate()[0]) for spender in spenders]
    assert sum(made) == 5000


def test_a_process_that_dies_leaves_its_reservation(budget: Callable[..., Budget]) -> None:
    own = budget(tokens=100)
    assert own.reserve(Spent(1, 60)) == ""
    own.close()  # as if it had died here
    assert own.reserve(Spent(1, 60)) != ""
    assert own.spent == Spent(1, 60)


def test_an_unknown_price_is_an_error_that_says_what_to_write(
    budget: Callable[..., Budget],
) -> None:
    server = Server(name="openai:no-such-model")
    with pytest.raises(UnknownPrice) as caught:
        ask(budget(cost=1.0), server)
    assert len(server.asked) == 0
    said = str(caught.value)
    assert "no price of openai:no-such-model is known" in said
    assert "openai:no-such-model: [0.15, 0.60]" in said
    assert "llmfair_prices" in said


def test_a_price_is_needed_for_a_cap_on_the_cost_only(budget: Callable[..., Budget]) -> None:
    assert refused(ask(budget(calls=100), Server(name="openai:no-such-model"))) == []


def test_models_of_this_machine_cost_nothing(budget: Callable[..., Budget]) -> None:
    from pytest_llmfair.clients.backends.ngram.model import Ngram

    own = budget(cost=0.0)
    assert refused(ask(own, Ngram())) == []
    assert own.spent.cost == 0


@pytest.mark.parametrize(
    ("name", "price"),
    [
        ("openai:gpt-4o", Price(2.5, 10.0)),
        ("openai:gpt-4o-2024-08-06", Price(2.5, 10.0)),
        ("openai:gpt-4o-2024-05-13", Price(5.0, 15.0)),
        ("openai:gpt-4o?temperature=0.5", Price(2.5, 10.0)),
        ("anthropic:claude-sonnet-4-20250514", Price(3.0, 15.0)),
        ("hf:models/mine", Price(0.0, 0.0)),
        ("openai:gpt-4o-of-a-friend", None),
        ("python:module:function", None),
    ],
)
def test_prices_are_found_by_the_name_of_the_model(name: str, price: Price | None) -> None:
    assert Prices.load().of(name) == price


def test_prices_of_the_user_override_those_of_the_package(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text("date: 2026-05-01\nmodels:\n  openai:gpt-4o: [1, 2]\n  openai:mine: [3, 4]\n")
    prices = Prices.load(path)
    assert prices.date == "2026-05-01"
    assert prices.of("openai:gpt-4o") == Price(1.0, 2.0)
    assert prices.of("openai:mine") == Price(3.0, 4.0)
    assert prices.of("openai:gpt-4o-mini") == Price(0.15, 0.6)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models:\n  a: 3\n", r"the price of a is 3; give \[prompt, answer\]"),
        ("models:\n  a: [1, -2]\n", r"the price of a is \[1, -2\]"),
        ("[1, 2]", "has no prices"),
        ("models: [", "cannot be read"),
    ],
)
def test_a_file_without_prices_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=said) as caught:
        Prices.load(path)
    assert "prices.yaml" in str(caught.value)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_money_is_counted_without_rounding(prompt: int, answer: int) -> None:
    assert Price(0.15, 0.6).cost(prompt, answer) == 150_000 * prompt + 600_000 * answer


def test_shipped_prices_say_when_they_were_looked_up() -> None:
    import re

    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", Prices.load().date)
