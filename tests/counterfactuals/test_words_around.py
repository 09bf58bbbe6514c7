"""The word before a term, against a slow transcription."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.lexicons.english.context import NEAR, word_before
from pytest_llmfair.lexicons.english.words import LETTERS

PARTS = (
    *("Dr", "Mr", "Lee", "J", "the", "a", "an", "An", "3", "5", "e.g", "U.S", "hard of hearing"),
    *(".", ".", "?", "!", ";", ":", "\u2014", "\u2026", ",", "'", "-", "_", '"', "(", "*", "~"),
    *(" ", " ", " ", "  ", "\t", "\n", "\n\n", "\n \n", "\u00a0", "\u00e9t\u00e9", "\u2019s"),
)
TEXTS = st.lists(st.sampled_from(PARTS), max_size=14).map("".join)


@given(TEXTS, st.integers(0, 60))
def test_the_word_before_equals_a_regular_expression_search(text: str, at: int) -> None:
    at = min(at, len(text))
    match = re.compile(rf"({LETTERS})[^\S\n]+\Z").search(text, max(0, at - NEAR), at)

    expected = ("", at) if match is None else (match[1], match.start())

    assert word_before(text, at) == expected
