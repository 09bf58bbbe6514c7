"""Properties of every pair, over random texts made of lexicon terms and anything else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.counterfactuals import (
    Lexicon,
    Pair,
    Pairs,
    check_pair,
    generate_pairs,
    load_lexicons,
    mask,
    mentions,
)
from pytest_llmfair.counterfactuals import strategies as fair

# One attribute of pronouns, one of words that count by context, one with a group left unsaid.
ATTRIBUTES = ("gender", "race", "disability")
GROUPS = {
    "gender": [None, ("female", "male"), ("male", "nonbinary")],
    "race": [None, ("black", "white"), ("asian", "hispanic")],
    "disability": [None, ("visual disability", "no disability"), ("epilepsy", "short stature")],
}


@cache
def terms_of(attribute: str) -> list[str]:
    entries = load_lexicons()[attribute].entries
    return sorted({t for e in entries for terms in e.terms.values() for t in terms})


@cache
def one_to_one() -> list[str]:
    """Return terms with one line and one counterpart that name a person of any gender nowhere.

    They are no part of a longer term.
    """
    gender = load_lexicons()["gender"]
    counts = Counter(t for e in gender.entries for terms in e.terms.values() for t in terms)
    parts = {part for term in terms_of("gender") if " " in term for part in term.split()}
    unfit = parts | {*gender.neutral} | {term for term, count in counts.items() if count > 1}
    lines = [
        {term for group in ("female", "male") for term in entry.terms.get(group, ())}
        for entry in gender.entries
        if not entry.kind and all(len(entry.terms.get(g, ())) == 1 for g in ("female", "male"))
    ]
    return sorted(term for line in lines for term in line if not line & unfit)


FILLER = [
    *("the", "a", "an", "Dr.", "old", "best", "first", "Smith", "King", "person", "said", "made"),
    *("'s", "n't", "of", "or", "/", "-", ",", ".", "\u201c", "cleaning", "honor", "in", "law"),
    *("42", "is", "was", "nurse", "people", "with", "who", "as", "I", "my", "called"),
    *(
        "caf\u00e9",
        "\u5979",
        "\U0001f469\u200d\u2695\ufe0f",
        "@he",
        "`him`",
        "<b>",
        "http://x.y/he",
    ),
]
# What trips up code that walks over texts: a lone surrogate, NUL, the marks that turn the
# direction of reading, combining and enclosing marks, joiners, letters that grow or shrink in
# another case, line ends of other systems.
HAZARDS = [
    *("\ud800", "\udfff", "\x00", "\x1b[0m", "\u202e", "\u200f", "\u2067", "\ufeff", "\u00ad"),
    *("e\u0301", "\u0301", "a\u20dd", "\u200d", "\u200c", "\ufe0f", "\U0001f3fd"),
    *("\u00df", "\u1e9e", "\u0130", "\u0131", "\ufb01", "\u01c5", "\u03c2", "\u1f88"),
    *("\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\u3000", "\u200b"),
    *(
        "\u05e9\u05dc\u05d5\u05dd",
        "\u0645\u0631\u062d\u0628\u0627",
        "\u4ed6\u3002",
        "\u0e40\u0e02\u0e32",
    ),
    *(
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U0001f1e9\U0001f1ea",
        "\U0010ffff",
        "\ue000",
    ),
]
BLANKS = [" ", "  ", "\n", "\t", "\u00a0", "", "-", "_", "'"]
CASES = [str, str.lower, str.upper, str.capitalize]
ANYTHING = st.text(st.characters() | st.characters(categories=["Cs"]), max_size=3)


def texts(terms: list[str]) -> st.SearchStrategy[str]:
    piece = st.one_of(
        st.builds(lambda case, term: case(term), st.sampled_from(CASES), st.sampled_from(terms)),
        st.sampled_from(FILLER + HAZARDS),
        ANYTHING,
    )
    return st.lists(st.tuples(piece, st.sampled_from(BLANKS)), min_size=1, max_size=14).map(
        lambda parts: "".join(word + blank for word, blank in parts)
    )


def cases(attribute: str) -> st.SearchStrategy[Pairs]:
    """Pairs of scrambled terms, and of whole sentences, with and without groups."""
    text = texts(terms_of(attribute)) | fair.prompts(attribute)
    groups = st.sampled_from(GROUPS[attribute])
    return st.builds(
        lambda text, groups: generate_pairs([text], attribute, groups, placebo=True),
        text,
        groups,
    )


def all_of(made: Pairs) -> list[Pair]:
    return [*made, *(each.pair for each in made.rejected)]


def assert_byte_equal_outside(pair: Pair) -> None:
    at = twin_at = 0
    for edit in pair.edits:
        end = edit.counterfactual_start + len(edit.after)
        assert pair.original[edit.start : edit.end] == edit.before
        assert pair.counterfactual[edit.counterfactual_start : end] == edit.after
        between = pair.original[at : edit.start]
        assert between == pair.counterfactual[twin_at : edit.counterfactual_start]
        at, twin_at = edit.end, end
    assert pair.original[at:] == pair.counterfactual[twin_at:]


def assert_edits_are_mentions_and_articles(pair: Pair, lexicon: Lexicon) -> None:
    spans = [(m.start, m.end) for m in lexicon.mentions(pair.original)]
    for edit in pair.edits:
        touched = any(edit.start <= end and start <= edit.end for start, end in spans)
        after = pair.original[edit.end :]
        gap = len(after) - len(after.lstrip(' \t\n\u00a0*_~"\u201c\u2018\u00ab('))
        before = any(start == edit.end + gap for start, _ in spans)
        assert touched or (before and edit.before.lower() in ("a", "an"))


def assert_stays_in_its_group(pair: Pair, lexicon: Lexicon) -> None:
    assert pair.placebo not in (None, pair.original)
    groups, own = (
        [m.group for m in lexicon.mentions(text)] for text in (pair.placebo, pair.original)
    )
    assert groups == own
    assert lexicon.mask(pair.placebo) == lexicon.mask(pair.original)


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_every_pair_is_sound(attribute: str, rebuilt: Callable[[Pair], str]) -> None:
    lexicon = load_lexicons()[attribute]
    placebos = []

    @given(cases(attribute))
    @settings(max_examples=60)
    def check(made: Pairs) -> None:
        for pair in all_of(made):
            assert rebuilt(pair) == pair.counterfactual
            assert_byte_equal_outside(pair)
        for pair in made:
            assert check_pair(pair, attribute) == ()
            if pair.variant != "omission":
                assert lexicon.mask(pair.original) == lexicon.mask(pair.counterfactual)
                assert_edits_are_mentions_and_articles(pair, lexicon)
            if pair.placebo is not None:
                placebos.append(pair)
                assert_stays_in_its_group(pair, lexicon)
        for each in made.rejected:
            assert check_pair(each.pair, attribute) != ()

    check()
    assert placebos


@pytest.mark.parametrize("attributes", [("gender", "race"), ("age",), ("religion",)])
@given(data=st.data())
@settings(max_examples=12)
def test_pairs_of_other_attributes_are_equal_once_masked(
    attributes: tuple[str, ...], data: st.DataObject
) -> None:
    text = " ".join(data.draw(fair.prompts(attribute)) for attribute in attributes)
    attribute = attributes if len(attributes) > 1 else attributes[0]
    for pair in generate_pairs([text], attribute):
        if pair.variant != "omission":
            assert mask(pair.original, attribute) == mask(pair.counterfactual, attribute)


@given(st.deferred(lambda: texts(one_to_one())))
@settings(max_examples=150)
def test_swapping_twice_gives_the_original_for_one_to_one_terms(text: str) -> None:
    spellings = {case(term) for case in CASES for term in one_to_one()}
    for pair in generate_pairs([text], attribute="gender"):
        # Possessives have two spellings: "abbess'" comes back as "abbess's".
        if all(
            m.text in spellings and text[m.end : m.end + 1] not in ("'", "\u2019")
            for m in mentions(text, "gender")
        ):
            (back,) = generate_pairs([pair.counterfactual], attribute="gender")
            assert back.counterfactual == text


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_without_a_mention_there_is_no_pair(attribute: str) -> None:
    lexicon = load_lexicons()[attribute]

    @given(texts(terms_of(attribute)))
    @settings(max_examples=80)
    def check(text: str) -> None:
        made = generate_pairs([text], attribute)
        groups = {m.group for m in lexicon.mentions(text)} & {*lexicon.default_groups}
        assert bool(made) <= bool(groups)
        assert bool(made.rejected) <= bool(groups)
        assert made.unmentioned == (not groups)

    check()


@given(st.deferred(lambda: st.lists(texts(terms_of("gender")), min_size=2, max_size=6)))
@settings(max_examples=20)
def test_pairs_do_not_depend_on_their_neighbours(prompts: list[str]) -> None:
    together = generate_pairs(prompts, "gender")
    alone = [pair for text in prompts for pair in generate_pairs([text], "gender")]
    assert list(together) == alone


@given(ANYTHING.flatmap(lambda part: st.integers(0, 400).map(lambda n: part * n)))
@settings(max_examples=100)
def test_any_text_can_be_read(text: str) -> None:
    generate_pairs([text], attribute="gender")
    mask(text, "gender")


def test_gaps_longer_than_a_window_can_be_read() -> None:
    for word in ["her", "his", "Her", "him"]:
        for gap in [" " * 100, "_" * 100, "*" * 100, "\t" * 100, "\n" * 100]:
            for text in (
                f"Saw {word}{gap}long, dark hair.",
                f"{word}{gap}",
                f"{gap}{word} early, clumsy",
            ):
                for pair in generate_pairs([text], "gender"):
                    assert gap in pair.counterfactual
