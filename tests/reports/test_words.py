"""Numbers, names and texts as reports show them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair._util.wording import (
    LONGEST_LINE,
    difference,
    escape,
    number,
    p_value,
    plural,
    rounded,
    shorten,
)


@pytest.mark.parametrize(
    ("x", "shown"),
    [
        (0.0826, "0.083"),
        (-0.0826, "-0.083"),
        (0.0, "0.000"),
        (-0.0001, "0.000"),
        (12.3456, "12.346"),
        (123_456.7, "1.235e+05"),
        (None, "n/a"),
        ("inf", "inf"),
        ("-inf", "-inf"),
    ],
)
def test_numbers(x, shown):
    assert number(x) == shown


@pytest.mark.parametrize(
    ("p", "shown"),
    [(0.0004, "p = 0.0004"), (0.00001, "p < 0.0001"), (0.0, "p < 0.0001"), (0.25, "p = 0.250")],
)
def test_p_values(p, shown):
    assert p_value(p) == shown


@pytest.mark.parametrize(
    ("n", "shown"), [(2, 2), (99, 99), (202, 210), (610, 610), (2345, 2400), (999, 1000)]
)
def test_counts_are_rounded_up_to_two_digits(n, shown):
    assert rounded(n) == shown


@pytest.mark.parametrize(
    ("word", "n", "shown"),
    [("pair", 1, "1 pair"), ("pair", 2000, "2,000 pairs"), ("person", 3, "3 people")],
)
def test_plurals(word, n, shown):
    assert plural(word, n) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines", "two\\nlines"),
        ("red \x1b[31m", "red \\x1b[31m"),
        ("nul \x00", "nul \\x00"),
        ("lone \ud800", "lone \\ud800"),
        ("turned \u202e", "turned \\u202e"),
        ("Zoë, 王, Ольга", "Zoë, 王, Ольга"),
    ],
)
def test_control_characters_and_lone_surrogates_are_escaped(text, shown):
    assert escape(text) == shown


anything = st.text(st.characters(codec=None, categories=None))


@given(anything)
def test_escaped_text_is_one_printable_line_that_can_be_encoded(text):
    shown = escape(text)
    assert shown.isprintable()
    shown.encode("utf-8")


@pytest.mark.parametrize("character", ["a", "\x00", "\U000e0001"])
def test_long_text_is_cut_and_says_how_long_it_is(character):
    shown = escape(character * 10_000_000)
    assert len(shown) <= LONGEST_LINE
    assert shown.endswith("... (10,000,000 characters)")


def test_text_of_the_longest_line_is_not_cut():
    assert escape("a" * LONGEST_LINE) == "a" * LONGEST_LINE


@given(st.text(), st.integers(1, 60))
def test_short_names_fit_and_keep_both_ends(text, width):
    shown = shorten(text, width)
    assert len(shown) <= width
    assert text.startswith(shown[: width // 2 - 3 if width > 8 else 0])
    if len(text) <= width:
        assert shown == text
    elif width >= 8:
        head, _, tail = shown.rpartition("...")
        assert text.startswith(head)
        assert text.endswith(tail)
        assert tail


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        (
            "Write a reference for Anna, a nurse",
            "Write a reference for Adam, a nurse",
            "Write a reference for {Anna|Adam}, a nurse",
        ),
        ("She said her name.", "He said his name.", "{She|He} said {her|his} name."),
        ("same", "same", "same"),
        ("", "added", "{|added}"),
    ],
)
def test_difference_marks_what_changed(first, second, shown):
    assert difference(first, second) == shown


# Braces and bars of the texts themselves would make the marks ambiguous.
unmarked = st.text(st.characters(exclude_characters="{|}"), max_size=30)


@given(unmarked, unmarked)
def test_both_texts_can_be_read_from_the_difference(first, second):
    shown = difference(first, second)
    assert re.sub(r"\{([^|]*)\|[^}]*\}", r"\1", shown) == first
    assert re.sub(r"\{[^|]*\|([^}]*)\}", r"\1", shown) == second
