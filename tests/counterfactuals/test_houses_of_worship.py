"""Houses of worship: the article that a twin needs, and names that hold one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_llmfair.counterfactuals import Pair, check_pair, generate_pairs, mask, mentions


@pytest.mark.parametrize(
    ("text", "twin"),
    [
        ("She goes to church every week.", "She goes to the mosque every week."),
        ("He knows us from outside of church.", "He knows us from outside of the mosque."),
        ("WE MET AT CHURCH.", "WE MET AT THE MOSQUE."),
        ("Let us talk after church.", "Let us talk after the service at the mosque."),
        ("He spoke in church matters.", "He spoke in mosque matters."),
        ("They sing in churches.", "They sing in mosques."),
        ("That church is cold.", "That mosque is cold."),
    ],
)
def test_a_bare_church_gets_the_article_of_its_counterpart(text: str, twin: str) -> None:
    (pair,) = generate_pairs([text], "religion", ("christian", "muslim"))
    assert pair.counterfactual == twin
    turned = Pair(twin, text, "muslim", "christian", (), "religion")
    for made in (pair, replace(pair, edits=()), turned):
        assert check_pair(made, "religion") == ()
    assert mask(text, "religion") == mask(twin, "religion")


def test_a_bare_mosque_becomes_a_bare_church() -> None:
    (pair,) = generate_pairs(["He went to mosque."], "religion", ("muslim", "christian"))
    assert pair.counterfactual == "He went to church."
    assert mask(pair.original, "religion") == mask(pair.counterfactual, "religion")


def test_church_gives_a_pair_to_every_group_with_a_house_of_worship() -> None:
    pairs = generate_pairs(["I go to church."], "religion")
    groups = {"muslim", "jewish", "hindu", "buddhist", "sikh", "taoist"}
    assert {pair.to_group for pair in pairs} == groups


@pytest.mark.parametrize(
    "text",
    [
        "She left the Church of England.",
        "He sings at First Baptist Church.",
        "The Native American Church grew.",
        "They saw the church of Saint Anne.",
        "See Gale and Church for that.",
        "Saint Olave's church burned.",
    ],
)
def test_names_that_hold_a_house_of_worship_are_no_mention(text: str) -> None:
    assert mentions(text, "religion") == []
