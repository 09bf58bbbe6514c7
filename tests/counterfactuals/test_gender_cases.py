"""Hand-written prompts and their counterfactuals: pronoun cases, titles, traps."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from pytest_llmfair.counterfactuals import generate_pairs, mask

CASES = yaml.safe_load(Path(__file__).with_name("gender_cases.yaml").read_text(encoding="utf-8"))
CHANGED = [*CASES["his_her_him_hers"], *CASES["words_and_titles"]]

# Mrs and Miss become Mr, which becomes Ms.
ONE_WAY = ["Dr. and Mrs. Smith", "Mr and Mrs Smith", "Miss Jones called."]


@pytest.mark.parametrize(("original", "expected"), CHANGED)
def test_becomes(original: str, expected: str) -> None:
    (pair,) = generate_pairs([original], attribute="gender")
    assert pair.counterfactual == expected


@pytest.mark.parametrize(("original", "expected"), CHANGED)
def test_is_the_same_once_masked(original: str, expected: str) -> None:
    assert mask(original, "gender") == mask(expected, "gender")


@pytest.mark.parametrize(
    ("original", "expected"), [case for case in CHANGED if case[0] not in ONE_WAY]
)
def test_comes_back(original: str, expected: str) -> None:
    (pair,) = generate_pairs([expected], attribute="gender")
    assert pair.counterfactual == original


@pytest.mark.parametrize("prompt", CASES["untouched"])
def test_has_no_mention(prompt: str) -> None:
    assert generate_pairs([prompt], attribute="gender") == []
