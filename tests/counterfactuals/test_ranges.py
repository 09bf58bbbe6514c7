"""Ranges of numbers in the terms of a lexicon."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmfair.counterfactuals import Lexicon, generate_pairs, mentions

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))


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
    CASES["wrong ranges are told with their entry"],
)
def test_wrong_ranges_are_told_with_their_entry(terms: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words) as error:
        lexicon(**terms)
    assert "entry 1 (noun" in str(error.value)
