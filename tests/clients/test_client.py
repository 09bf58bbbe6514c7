from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.clients import ModelClient, load_client
from pytest_llmfair.clients.protocol import sample_seed
from tests.processes import python

PROMPTS = ["The nurse said that", "He is", "Tell me about the judge.", "The nurse said that"]


@dataclass(frozen=True)
class Twins:
    original: str
    counterfactual: str
    from_group: str = "female"
    to_group: str = "male"


class Recorder:
    """A backend that answers with the seed it was given."""

    name = "recorder"
    description = "answers with its seeds"

    def __init__(self):
        self.calls = []

    def generate(self, requests, *, temperature, max_tokens):
        self.calls.append((temperature, max_tokens))
        return [f"{request.prompt}/{request.seed}" for request in requests]


@pytest.fixture
def client():
    return load_client("builtin:ngram", seed=3)


def test_one_list_per_prompt_in_order_with_n_items(client):
    rows = ModelClient.of(lambda prompt: prompt.upper()).generate(PROMPTS, 3)
    assert rows == [[prompt.upper()] * 3 for prompt in PROMPTS]


def test_another_seed_gives_other_answers(client):
    assert client.generate(PROMPTS, 4) != client.generate(PROMPTS, 4, seed=4)
    assert client.generate(PROMPTS, 4, seed=4) == load_client("builtin:ngram", seed=4).generate(
        PROMPTS, 4
    )


@given(order=st.permutations(range(3)), n=st.integers(1, 3))
@settings(max_examples=25)
def test_answers_depend_on_neither_order_nor_company_nor_n(order, n):
    client = load_client("builtin:ngram", seed=3)
    whole = client.generate(PROMPTS[:3], 3)
    shuffled = client.generate([PROMPTS[i] for i in order], n)
    assert shuffled == [whole[i][:n] for i in order]
    assert client.generate([PROMPTS[order[0]]], n) == [whole[order[0]][:n]]


def test_equal_prompts_are_asked_anew(client):
    rows = client.generate([PROMPTS[0]] * 5, 4)
    assert len({tuple(row) for row in rows}) == 5


def test_answers_do_not_depend_on_the_hash_seed():
    """The hashes of this process are random, or those of another seed."""
    code = (
        "from pytest_llmfair.clients import load_client as load; c = load('builtin:ngram');"
        f"print(c.generate({PROMPTS!r}, 3), c.next_token_probabilities({PROMPTS!r}, ['he', 'no']))"
    )
    there = python("-c", code, PYTHONHASHSEED="1").stdout
    here = load_client("builtin:ngram")
    answers = here.generate(PROMPTS, 3)
    assert there == f"{answers} {here.next_token_probabilities(PROMPTS, ['he', 'no'])}\n"


def test_members_of_a_pair_have_independent_seeds_even_where_they_are_equal():
    answers = ModelClient(Recorder()).answer_pairs([Twins("same", "same")], 3)
    seeds = [*answers.original[0], *answers.counterfactual[0]]
    assert len(set(seeds)) == 6


def test_both_sides_of_all_pairs_are_one_call_of_the_backend():
    backend = Recorder()
    ModelClient(backend).answer_pairs([Twins("a", "b"), Twins("c", "d")], 2)
    assert len(backend.calls) == 1


def test_a_call_overrides_the_temperature_and_limit_of_the_client():
    backend = Recorder()
    client = ModelClient(backend, temperature=0.7, max_tokens=9)
    client.generate(["x"])
    client.generate(["x"], temperature=0.0, max_tokens=2)
    assert backend.calls == [(0.7, 9), (0.0, 2)]


@given(st.tuples(st.integers(), st.text(), st.integers(0), st.integers(0), st.text()))
def test_seeds_are_64_bit_and_take_any_text(parts):
    assert 0 <= sample_seed(*parts) < 2**64


def test_seeds_differ_wherever_their_parts_differ():
    parts = [(0, "ab", 0, 0, ""), (1, "ab", 0, 0, ""), (0, "a", 0, 0, "b"), (0, "ab", 1, 0, "")]
    parts += [(0, "ab", 0, 1, ""), (10, "ab", 0, 0, ""), (0, "ba", 0, 0, ""), (0, "\ud800", 0, 0)]
    assert len({sample_seed(*part) for part in parts}) == len(parts)


@pytest.mark.parametrize(
    ("prompts", "words"),
    [
        ([], "prompts is empty"),
        ("hello", "prompts is one text; give a list"),
        (["a", 3], r"prompts\[1\] is int"),
        (["a", None], r"prompts\[1\] is NoneType"),
        (["a", "b", " \n"], r"prompts\[2\] has no text"),
    ],
)
def test_bad_prompts_are_named(client, prompts, words):
    with pytest.raises(ValueError, match=words):
        client.generate(prompts)


@pytest.mark.parametrize("n", [0, -1, 1.0, True, "2"])
def test_a_bad_number_of_answers_is_an_error(client, n):
    with pytest.raises(ValueError, match=r"n is .*whole number of at least 1"):
        client.generate(["a"], n)


@pytest.mark.parametrize(
    "option",
    [
        {"temperature": -1},
        {"temperature": float("nan")},
        {"temperature": "hot"},
        {"max_tokens": 0},
        {"max_tokens": 2.5},
        {"seed": 1.5},
    ],
)
def test_a_bad_option_of_a_call_is_named(client, option):
    with pytest.raises(ValueError, match=f"{next(iter(option))} is"):
        client.generate(["a"], **option)


def test_no_pairs_and_no_pair_are_errors(client):
    with pytest.raises(ValueError, match="pairs is empty"):
        client.answer_pairs([])
    with pytest.raises(ValueError, match=r"pairs\[1\] is tuple; a pair has \.original"):
        client.answer_pairs([Twins("a", "b"), ("a", "b")])


def test_label_probabilities_sum_to_one_among_the_labels(client):
    prompts = ["Should we hire Anna? Answer:", "Would you hire him? Answer:"]
    raw = client.next_token_probabilities(prompts, ["Yes", "No"])
    for row, shares in zip(raw, client.label_probabilities(prompts, ["Yes", "No"]), strict=True):
        assert sum(shares.values()) == pytest.approx(1.0)
        assert shares["Yes"] == pytest.approx(row["Yes"] / (row["Yes"] + row["No"]))
        assert sum(row.values()) <= 1.0


def test_labels_that_cannot_follow_are_an_error_that_names_the_prompt(client):
    with pytest.raises(ValueError, match=r"no label of .*'xyzzy'.* can follow prompts\[0\]"):
        client.label_probabilities(["Hello."], ["xyzzy"])


def test_a_word_given_twice_is_an_error(client):
    with pytest.raises(ValueError, match="words has 'he' twice"):
        client.next_token_probabilities(["a"], ["he", "she", "he"])


@pytest.mark.parametrize("words", [[], "he", [""], [1]])
def test_bad_words_are_errors(client, words):
    with pytest.raises(ValueError, match="words"):
        client.next_token_probabilities(["a"], words)


def test_a_backend_without_probabilities_says_so():
    with pytest.raises(ValueError, match="returns texts only, no probabilities"):
        ModelClient.of(str.upper).label_probabilities(["a"], ["Yes", "No"])


def test_of_takes_a_client_a_backend_or_a_function():
    client = ModelClient.of(Recorder(), seed=5)
    assert (client.name, client.seed) == ("recorder", 5)
    assert ModelClient.of(client) is client
    assert ModelClient.of(lambda prompt: "hi", name="mine").name == "mine"
