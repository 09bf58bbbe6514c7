"""Typical sentences of every family: their twins, the way back, masks, and mentions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmfair.counterfactuals import generate_pairs, mask, mentions

Family = dict[str, Any]


@pytest.fixture(scope="module")
def typical() -> dict[str, dict[str, Family]]:
    file = Path(__file__).with_name("typical_cases.yaml")
    found: dict[str, dict[str, Family]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return found


def cases(families: dict[str, Family]) -> Iterator[tuple[str, Family, str, Any]]:
    for name, family in families.items():
        for text, expected in family["cases"].items():
            yield name, family, text, expected


def twin(text: str, family: Family, back: bool = False) -> str | None:
    """Return the first counterfactual, or None."""
    groups = tuple(family["groups"][:: -1 if back else 1]) if "groups" in family else None
    pairs = generate_pairs([text], family["attribute"], groups)
    return pairs[0].counterfactual if pairs else None


def test_prompts_become_their_twins(typical: dict[str, dict[str, Family]]) -> None:
    wrong = [
        (name, text, found)
        for name, family, text, expected in cases(typical["pairs"])
        if (found := twin(text, family)) != expected
    ]
    assert wrong == []


def test_twins_become_their_prompts(typical: dict[str, dict[str, Family]]) -> None:
    wrong = [
        (name, expected, found)
        for name, family, text, expected in cases(typical["pairs"])
        if not family.get("one_way") and (found := twin(expected, family, back=True)) != text
    ]
    assert wrong == []


def test_both_are_equal_once_masked(typical: dict[str, dict[str, Family]]) -> None:
    wrong = [
        (name, text, expected)
        for name, family, text, expected in cases(typical["pairs"])
        if family["attribute"] != "name" and "left out" not in name
        if mask(text, family["attribute"]) != mask(expected, family["attribute"])
    ]
    assert wrong == []


def test_mentions_are_found(typical: dict[str, dict[str, Family]]) -> None:
    wrong = [
        (name, text, found)
        for name, family, text, expected in cases(typical["mentions"])
        if (found := [m.text for m in mentions(text, family["attribute"])]) != expected
    ]
    assert wrong == []
