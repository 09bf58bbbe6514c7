"""Ranges of numbers in the terms of a lexicon."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_llmfair.counterfactuals import Lexicon, generate_pairs, mentions


def lexicon(**terms: Any) -> Lexicon:
    entry = {"role": "noun", **terms}
    return Lexicon.from_dict({"name": "tier", "groups": ["low", "high"], "entries": [entry]})


def test_a_line_with_ranges_is_a_line_for_every_step() -> None:
    tiers = lexicon(low="tier {1..3}", high=["tier {11..13}", "level {11..13}"])
    assert [entry.terms for entry in tiers.entries] == [
        {"low": (f"tier {n}",), "high": (f"tier {n + 10}", f"level {n + 10}")} for n in (1, 2, 3)
    ]
    pairs = generate_pairs(["Tier 2 and level 13 and tier 4."], tiers)
    assert [pair.counterfactual for pair in pairs] == ["Tier 12 and tier 3 and tier 4."]


def test_a_range_can_be_written_in_words() -> None:
    tiers = lexicon(low="tier {nineteen..twenty-one}", high="tier {89..91}")
    assert [entry.terms for entry in tiers.entries] == [
        {"low": (f"tier {word}",), "high": (f"tier {n}",)}
        for word, n in (("nineteen", 89), ("twenty", 90), ("twenty-one", 91))
    ]


def test_a_range_can_be_of_a_term_with_a_register() -> None:
    tiers = lexicon(low="tier {1..2}", high={"term": "tier {8..9}", "register": "neutral"})
    assert [m.register for m in mentions("tier 9, tier 1", tiers)] == ["neutral", "preferred"]


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"low": "tier {1..3}", "high": "tier {11..12}"}, "its ranges have 2, 3 steps"),
        ({"low": "tier {two..elven}"}, "'elven' is not a number from zero to ninety-nine"),
        ({"low": "tier {3..1}"}, "its ranges have -1 steps; give ranges of equally many"),
        (
            {"low": "tier {1..3}", "high": "tier {3..5}"},
            "'tier 3' is in group low and, in entry 1",
        ),
    ],
)
def test_wrong_ranges_are_told_with_their_entry(terms: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words) as error:
        lexicon(**terms)
    assert "entry 1 (noun" in str(error.value)
