"""The tokens of a text and the sentence around a place."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.lexicons.english.context import context_of, phrase_at

TOKEN = re.compile(r"[^\W_]+(?:[-'\u2019][^\W_]+)*|[^\w\s]|_+|\n")
TEXTS = st.lists(
    st.sampled_from(("it's", "co-worker", "U.S", "3.5", "_", "__", ".", ",", " ", "\n", "\u00e9")),
    max_size=20,
).map("".join)


@given(TEXTS, st.integers(0, 60))
def test_tokens_on_both_sides_equal_a_search_in_either_part(text: str, at: int) -> None:
    at = min(at, len(text))
    context = context_of(text)
    assert context.before(at, len(text)) == TOKEN.findall(text[:at])
    assert context.after(at, len(text) + 1) == TOKEN.findall(text[at:])


@pytest.mark.parametrize(
    ("marked", "before", "after"),
    [
        ("It rained. A \u00abBlack\u00bb nurse left. So?", ("a",), ("nurse", "left")),
        (
            "I met Dr. \u00abBlack\u00bb of the U.S. team.",
            ("i", "met", "dr"),
            ("of", "the", "u.s"),
        ),
        ("<p>One</p>A <b>\u00abBlack\u00bb</b> cook<br>Two", ("a",), ("cook",)),
        (
            "A non-\u00abBlack\u00bb-owned 3.5 shop",
            ("a", "non", "-"),
            ("-", "owned", "3.5", "shop"),
        ),
        ("An \u00abAsian\u00bb (male) US juror", ("an",), ("male", "U.S", "juror")),
        ("The \u00abold\u00bb\n\nmen", ("the",), ()),
        ("a \u00abBlack\u00bb\nhard of hearing man", ("a",), ("hard of hearing", "man")),
    ],
)
def test_the_words_of_a_sentence(
    marked: str, before: tuple[str, ...], after: tuple[str, ...]
) -> None:
    start, end = marked.index("\u00ab"), marked.index("\u00bb") - 1
    phrase = phrase_at(marked.replace("\u00ab", "").replace("\u00bb", ""), start, end)
    assert (phrase.before, phrase.after) == (before, after)
