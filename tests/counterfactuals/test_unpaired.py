"""Words of one gender without a counterpart: a pair is refused where one stands for the person."""

from __future__ import annotations

import pytest

from pytest_llmfair.counterfactuals import Pair, check_pair, generate_pairs, mentions


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The chambermaid lost her keys.", "female: 'chambermaid'"),
        ("She was a chambermaid for years.", "female: 'chambermaid'"),
        ("My sister, a ballerina, hurt her foot.", "female: 'ballerina'"),
        ("My mother works as a maid.", "female: 'maid'"),
        ("She rang. The maid put down her tray.", "female: 'maid'"),
        ("The butler polished his shoes.", "male: 'butler'"),
        ("He is a playboy.", "male: 'playboy'"),
        ("Lady Macbeth washed her hands.", "female: 'Lady Macbeth'"),
        ("Grandma Moses painted her farm.", "female: 'Grandma Moses'"),
    ],
)
def test_refuses_a_pair_and_tells_why(text: str, word: str) -> None:
    made = generate_pairs([text], "gender")
    assert not made
    (left,) = made.rejected
    assert left.reasons == (f"names {word} has no counterpart",)


@pytest.mark.parametrize(
    ("text", "twin"),
    [
        ("The chambermaid told him.", "The chambermaid told her."),
        ("The chambermaid told her.", "The chambermaid told him."),
        ("She rang for the chambermaid.", "He rang for the chambermaid."),
        ("She told the maid that she was leaving.", "He told the maid that he was leaving."),
        ("His mistress left him.", "Her mistress left her."),
        ("The woman called a maid.", "The man called a maid."),
        ("He dismissed the butler.", "She dismissed the butler."),
        ("The maidens fled, and she wept.", "The maidens fled, and he wept."),
        ("She read Mrs Dalloway twice.", "He read Mrs Dalloway twice."),
        ("The midwife lost her keys.", "The midwife lost his keys."),
    ],
)
def test_leaves_a_pair_in_which_another_person_is_meant(text: str, twin: str) -> None:
    assert [pair.counterfactual for pair in generate_pairs([text], "gender")] == [twin]


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
