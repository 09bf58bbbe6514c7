"""The words around a term against slow transcriptions: sentences, the word in front, articles."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.lexicons.english import agreement, phrase
from pytest_llmfair.lexicons.english.phrase import NEAR, word_before
from pytest_llmfair.lexicons.english.words import LETTERS, is_one_of

PARTS = (
    *("Dr", "Mr", "Lee", "J", "the", "a", "an", "An", "3", "5", "e.g", "U.S", "hard of hearing"),
    *(".", ".", "?", "!", ";", ":", "\u2014", "\u2026", ",", "'", "-", "_", '"', "(", "*", "~"),
    *(" ", " ", " ", "  ", "\t", "\n", "\n\n", "\n \n", "\u00a0", "\u00e9t\u00e9", "\u2019s"),
)
TEXTS = st.lists(st.sampled_from(PARTS), max_size=14).map("".join)


def is_end(tokens: list[str], place: int) -> bool:
    """Whether a token ends a sentence: a blank line, or a mark that no abbreviation has."""
    token = tokens[place]
    if token.startswith("\n"):
        return True
    if token not in (".", "!", "?", ";", ":", "\u2014", "\u2026"):
        return False
    word = tokens[place - 1] if place and token == "." else ""
    known = is_one_of(word.lower(), "abbreviations") or is_one_of(word.lower(), "titles")
    return not (known or (len(word) == 1 and word.isupper()))


@given(TEXTS, TEXTS)
def test_the_words_of_a_sentence_are_those_up_to_the_next_end_on_both_sides(
    front: str, rear: str
) -> None:
    raw_before, _ = phrase._words_before(front)
    raw_after, _ = phrase._words_after(rear)

    before = phrase._TOKEN.findall(front)
    ends = [at for at in range(len(before)) if is_end(before, at)]
    before = before[ends[-1] + 1 :] if ends else before
    behind = phrase._TOKEN.findall(rear)
    ends = [at for at in range(len(behind)) if is_end(behind, at)]
    behind = behind[: ends[0]] if ends else behind

    assert raw_before == tuple(word for word in before if word != ".")
    assert raw_after == tuple(word for word in behind if word != ".")


@given(TEXTS, st.integers(0, 60))
def test_the_word_in_front_is_the_one_that_a_search_finds(text: str, at: int) -> None:
    at = min(at, len(text))
    match = re.compile(rf"({LETTERS})[^\S\n]+\Z").search(text, max(0, at - NEAR), at)

    expected = ("", at) if match is None else (match[1], match.start())

    assert word_before(text, at) == expected


FRONTS = ("", "is ", "vitamin ", "(", "x-", "_", "\u00e9", "'", "3")
GAPS = (" ", "  ", "\n", " *", ' "', " (", "", ", ")


@pytest.mark.parametrize(
    "article", ["a", "A", "an", "An", "AN", "aN", "in", "than", "banana", "ban", "n", "_a", "3a"]
)
def test_an_article_is_found_where_the_pattern_finds_it(article: str) -> None:
    for front, gap in itertools.product(FRONTS, GAPS):
        text = f"{front}{article}{gap}man"
        start = len(text) - len("man")
        found = agreement.article_before(text, start)

        by_pattern = agreement._ARTICLE.search(text, max(0, start - 12), start)
        if text[start - 1].isalnum() or (front, article) == ("vitamin ", "A"):
            by_pattern = None
        assert (found and found.span()) == (by_pattern and by_pattern.span()), text
