"""Words of one gender without a counterpart: a pair is refused where one stands for the person."""

from __future__ import annotations

from pathlib import Path

import yaml

from pytest_llmfair.counterfactuals import Pair, check_pair, generate_pairs, mentions

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))


def test_refuses_a_pair_and_tells_why() -> None:
    for text, word in CASES["refuses a pair and tells why"].items():
        made = generate_pairs([text], "gender")
        assert not made
        (left,) = made.rejected
        assert left.reasons == (f"names {word} has no counterpart",)


def test_alone_are_a_mention_and_lost() -> None:
    assert [found.text for found in mentions("The chambermaid left.", "gender")] == ["chambermaid"]
    made = generate_pairs(["The chambermaid left."], "gender")
    assert (list(made), made.rejected, dict(made.lost)) == ([], (), {"chambermaid": 1})
    assert made.unmentioned == 0


def test_directed_and_crossed_exchanges_refuse_too() -> None:
    text = "The Black chambermaid lost her keys."
    assert not generate_pairs([text], "gender", ("female", "male"))
    assert not generate_pairs([text], ("race", "gender"))
    assert not generate_pairs(
        ["The Black chambermaid left."], ("race", "gender"), ("black female", "white male")
    )
    assert generate_pairs([text], "gender", ("male", "female")) == []
    (pair,) = generate_pairs(["She rang for the chambermaid."], "gender", ("female", "male"))
    assert pair.counterfactual == "He rang for the chambermaid."


def test_the_gate_refuses_such_a_pair_of_hand() -> None:
    pair = Pair(
        "The chambermaid lost her keys.",
        "The chambermaid lost his keys.",
        "female",
        "male",
        (),
        "gender",
    )
    assert check_pair(pair, "gender") == ("names female: 'chambermaid' has no counterpart",)
