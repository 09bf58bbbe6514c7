"""The words around a term against slow transcriptions: sentences, the word in front, articles."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.counterfactuals._pairing import replacements
from pytest_llmfair.counterfactuals._pairing.case import Case
from pytest_llmfair.counterfactuals._pairing.pair import pair_of
from pytest_llmfair.counterfactuals.lexicon import Change
from pytest_llmfair.counterfactuals.pairs import lexicon_of
from pytest_llmfair.lexicons.english import writing
from pytest_llmfair.lexicons.english.beside import NEAR, word_before
from pytest_llmfair.lexicons.english.english import LETTERS, is_one_of
from pytest_llmfair.lexicons.english.persons import surroundings

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
    place = surroundings.place_between(front, rear, surroundings.Term())

    before = surroundings._TOKEN.findall(front)
    ends = [at for at in range(len(before)) if is_end(before, at)]
    before = before[ends[-1] + 1 :] if ends else before
    behind = surroundings._TOKEN.findall(rear)
    ends = [at for at in range(len(behind)) if is_end(behind, at)]
    behind = behind[: ends[0]] if ends else behind

    assert place.raw == tuple(word for word in (*before, *behind) if word != ".")
    assert len(place.before) == sum(word != "." for word in before)


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
        found = writing.article_before(text, start)

        by_pattern = writing._ARTICLE.search(text, max(0, start - 12), start)
        if text[start - 1].isalnum() or (front, article) == ("vitamin ", "A"):
            by_pattern = None
        assert (found and found.span()) == (by_pattern and by_pattern.span()), text


OF_WORDS = (
    replacements.changes_something,
    replacements.one_determiner,
    replacements.spacing_kept,
    replacements.capital_kept,
    replacements.length_balanced,
    replacements.words_balanced,
)
WORDS = st.one_of(
    st.sampled_from(
        ("he", "She", "a man", "The old man", " x", "x ", "", "\u00c9", "E\u0301", "(he")
    ),
    st.text("aB \u00e9.", max_size=4),
    st.sampled_from(("w" * 70, "w " * 9 + "w")),
)


@given(TEXTS, WORDS, WORDS, TEXTS)
def test_no_check_of_words_finds_fault_with_a_usual_replacement(
    front: str, before: str, after: str, rear: str
) -> None:
    text = front + before + rear
    change = Change(len(front), len(front) + len(before), after, "male")
    pair = pair_of(text, [change], ("male", "female"), "gender")
    case = Case(pair, [change], [], {}, frozenset(), lexicon_of("gender"), [])

    said = [check(case) for check in OF_WORDS]

    assert said == [None] * len(OF_WORDS) or not replacements.is_usual(before, after)


@pytest.mark.parametrize(("before", "after"), [("he", "she"), ("Men", "Women"), ("men", "girls")])
def test_ordinary_replacements_are_usual(before: str, after: str) -> None:
    assert replacements.is_usual(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("he", "he"),
        ("\u00e9", "e\u0301"),
        ("him", "the man"),
        ("him", "an old man"),
        ("him", ""),
        ("him", " her"),
        ("him", "her "),
        ("He", "she"),
        ("he", "w" * 70),
        ("w" * 70, "he"),
        ("he", "w " * 9 + "w"),
    ],
)
def test_replacements_that_a_check_may_fault_are_not_usual(before: str, after: str) -> None:
    assert not replacements.is_usual(before, after)
