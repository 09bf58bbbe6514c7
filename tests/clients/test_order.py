"""The order of requests: random, pair by pair, so that it is not confounded with the group."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_llmfair.clients import Limits, Missing, ModelClient, Request, RequestRunner
from pytest_llmfair.clients.budget import Budget, Caps
from pytest_llmfair.clients.sending import asking_order, blocks_of, requests_of
from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.responses import Pair, PairedResponses
from tests.clients.fakes import Server, session_with

PAIRS = [
    Pair(f"She is nurse {i}.", f"He is nurse {i}.", "female", "male", (), "gender", placebo=twin)
    for i in range(200)
    for twin in [f"The woman is nurse {i}." if i % 2 else None]
]


@dataclass
class Batches:
    """A model of this machine that answers in batches."""

    name: str = "batches"
    description: str = "a test"
    batch_size: int = 16
    asked: list[str] = field(default_factory=list)

    def generate(self, requests, *, temperature, max_tokens):
        self.asked += [request.prompt for request in requests]
        return ["an answer" for _ in requests]


def asked_in_order(kind: str, ask: Callable[[ModelClient], object]) -> list[str]:
    asked: list[str] = []
    if kind in ("batches", "server"):
        server = Server(limits=Limits(1), asked=asked)
        ask(ModelClient.of(Batches(asked=asked) if kind == "batches" else server))
    else:

        async def later(prompt: str) -> str:
            asked.append(prompt)
            return "an answer"

        def now(prompt: str) -> str:
            asked.append(prompt)
            return "an answer"

        ask(ModelClient.of(later if kind == "async" else now))
    return asked


KINDS = ["batches", "server", "async", "function"]


@pytest.mark.parametrize("kind", KINDS)
def test_members_of_a_pair_are_asked_one_after_the_other_in_random_order(kind: str) -> None:
    asked = asked_in_order(kind, lambda client: client.answer_pairs(PAIRS, 2))
    numbers = [int(text.split()[-1].strip(".")) for text in asked]
    # Every pair is one run of the list.
    assert sum(a != b for a, b in itertools.pairwise(numbers)) == len(PAIRS) - 1
    first_of_sample: list[str] = []
    for number in dict.fromkeys(numbers):
        own = [text for text in asked if text.split()[-1] == f"{number}."]
        half = len(own) // 2
        assert set(own[:half]) == set(own[half:])
        first_of_sample += [own[0], own[half]]
    women = sum(text.startswith("She") for text in first_of_sample)
    men = sum(text.startswith("He ") for text in first_of_sample)
    # Of 400 samples half have a twin; 4 standard deviations of a fair draw.
    assert abs(women - men) < 4 * math.sqrt(400)
    assert men + women < 400
    # The numbers of the pairs do not rise with time (nor does their half).
    order = list(dict.fromkeys(numbers))
    assert abs(sum(order[:100]) / 100 - 99.5) < 4 * 200 / math.sqrt(12 * 100)


@pytest.mark.parametrize("kind", KINDS)
def test_prompts_of_all_groups_come_in_random_order(kind: str) -> None:
    prompts = [f"The {who} left at {i}." for who in ("woman", "man") for i in range(200)]
    asked = asked_in_order(kind, lambda client: client.generate(prompts))
    early = sum("woman" in text for text in asked[:200])
    assert abs(early - 100) < 4 * math.sqrt(400 * 0.25 * 0.5)


def test_every_group_of_a_prompt_is_asked_before_the_next_prompt() -> None:
    prompts = [f"The Christian doctor sat in room {i}." for i in range(40)]
    pairs = generate_pairs(prompts, attribute="religion")
    groups = 1 + len({pair.to_group for pair in pairs})
    assert groups > 3
    asked = asked_in_order("function", lambda client: client.answer_pairs(pairs, 2))
    rooms = [text.split()[-1] for text in asked]
    assert len(asked) == 2 * 40 * groups
    assert sum(a != b for a, b in itertools.pairwise(rooms)) == 39
    firsts = [asked[i].split()[1] for i in range(0, len(asked), groups)]
    assert len(set(firsts)) == groups


def test_the_order_is_the_same_again_and_another_with_another_seed() -> None:
    orders = [
        asked_in_order("function", lambda client: client.answer_pairs(PAIRS, seed=seed))  # noqa: B023
        for seed in (0, 0, 1)
    ]
    assert orders[0] == orders[1] != orders[2]


def test_pairs_that_share_a_question_are_one_block() -> None:
    found = blocks_of(["ab", "cd", "de", "fa", "bb"])
    assert found["a"] == found["b"] == found["f"]
    assert found["c"] == found["d"] == found["e"] != found["a"]


def test_requests_without_a_block_keep_their_order() -> None:
    assert asking_order([Request(f"prompt {i}", i) for i in range(20)]) == list(range(20))


def test_answers_come_back_to_their_prompts() -> None:
    client = ModelClient.of(lambda prompt: f"answer to {prompt}")
    answers = client.answer_pairs(PAIRS, 2)
    for i, pair in enumerate(PAIRS):
        assert answers.original[i] == (f"answer to {pair.original}",) * 2
        assert answers.counterfactual[i] == (f"answer to {pair.counterfactual}",) * 2
        assert answers.placebo[i] == ((f"answer to {pair.placebo}",) * 2 if pair.placebo else ())


def test_seeds_and_names_of_samples_do_not_depend_on_the_order() -> None:
    sides = [("original", ["a", "b"]), ("counterfactual", ["c", "d"])]
    with_blocks = requests_of(sides, 3, 7, [[0, 1], [0, 1]])
    # Recordings of earlier releases have these.
    assert [r.seed for r in with_blocks[:2]] == [0xF62B22076C98CFD6, 0x443C45674E4819E2]
    assert [r.repeat for r in with_blocks[:4]] == [
        "original:0.0",
        "original:0.1",
        "original:0.2",
        "original:0.0",
    ]


@pytest.fixture
def limited(tmp_path: Path) -> Callable[..., PairedResponses]:
    """Return a function that asks about the pairs within a budget."""

    def ask(kind: str, n: int, **caps: int) -> PairedResponses:
        found = []
        with session_with(max_tokens=4, **{f"max_{k}": v for k, v in caps.items()}):
            asked_in_order(
                kind, lambda client: found.append(client.answer_pairs(PAIRS[:60], n, max_tokens=4))
            )
        return found[0]

    return ask


def answered(rows: tuple) -> list[int]:
    return [sum(not isinstance(answer, Missing) for answer in row) for row in rows]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("calls", [100, 101, 103])
def test_a_budget_that_ends_leaves_whole_pairs(limited, kind: str, calls: int) -> None:
    found = limited(kind, 3, calls=calls)
    women, men = answered(found.original), answered(found.counterfactual)
    assert women == men
    # The samples of a pair follow each other; what is left may begin a pair without a twin.
    assert sum(n not in (0, 3) for n in women) <= 2
    used = sum(women) + sum(men) + sum(answered(found.placebo))
    assert calls - 2 <= used <= calls


@pytest.mark.parametrize("kind", KINDS)
def test_a_budget_of_tokens_leaves_whole_pairs(limited, kind: str) -> None:
    found = limited(kind, 2, total_tokens=3000)
    assert answered(found.original) == answered(found.counterfactual)
    assert 0 < sum(answered(found.original)) < 120


def test_calls_that_were_reserved_and_not_made_are_given_back(tmp_path: Path) -> None:
    own = Budget(Caps(calls=100), lambda: tmp_path / "spent")
    asked = []

    def down(prompt: str) -> str:
        asked.append(prompt)
        raise ConnectionError("down")

    requests = [Request(f"p{i}", i, block=(0, 0)) for i in range(30)]
    backend = ModelClient.of(down).backend
    RequestRunner(budget=own).answers(backend, requests, temperature=1.0, max_tokens=4)
    assert own.spent.calls == len(asked) == 5
