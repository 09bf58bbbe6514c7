"""Properties of every pair, over random texts made of lexicon terms and anything else."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.counterfactuals import Pair, generate_pairs, load_lexicons

GENDER = load_lexicons()["gender"]
TERMS = sorted({t for e in GENDER.entries for terms in e.terms.values() for t in terms})

# Female and male terms that have one line and one counterpart, and are no part of a longer term.
LINES = [
    [e.terms[group][0] for group in ("female", "male")]
    for e in GENDER.entries
    if e.terms.keys() >= {"female", "male"}
    and len(e.terms["female"]) == len(e.terms["male"]) == 1
    and not e.context
    and not {*GENDER.neutral} & {*e.terms["female"], *e.terms["male"]}
]
COUNTS = Counter(t for e in GENDER.entries for terms in e.terms.values() for t in terms)
PARTS = {part for term in TERMS if " " in term for part in term.split()}
ONE_TO_ONE = [
    term for line in LINES for term in line if all(COUNTS[t] == 1 and t not in PARTS for t in line)
]

FILLER = [
    *("the", "a", "an", "Dr.", "old", "best", "first", "Smith", "King", "person", "said", "made"),
    *(
        "'s",
        "n't",
        "of",
        "or",
        "/",
        "-",
        ",",
        ".",
        "\u201c",
        "cleaning",
        "honor",
        "in",
        "law",
        "42",
    ),
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
BLANKS = st.sampled_from([" ", "  ", "\n", "\t", "\u00a0", "", "-", "_", "'"])
CASES = [str, str.lower, str.upper, str.capitalize]
SPELLINGS = {case(term) for case in CASES for term in ONE_TO_ONE}


def texts(terms: list[str]) -> st.SearchStrategy[str]:
    piece = st.one_of(
        st.builds(lambda case, term: case(term), st.sampled_from(CASES), st.sampled_from(terms)),
        st.sampled_from(FILLER),
        st.text(max_size=3),
    )
    return st.lists(st.tuples(piece, BLANKS), min_size=1, max_size=14).map(
        lambda parts: "".join(word + blank for word, blank in parts)
    )


def rebuilt(pair: Pair) -> str:
    """Replay the edits on the original, one character after the other."""
    out, at = [], 0
    for edit in pair.edits:
        while at < edit.start:
            out.append(pair.original[at])
            at += 1
        out.append(edit.after)
        at = edit.end
    return "".join(out) + pair.original[at:]


@given(texts(TERMS), st.sampled_from([None, ("female", "male"), ("male", "nonbinary")]))
@settings(max_examples=300)
def test_edits_turn_the_original_into_the_counterfactual(
    text: str, groups: tuple[str, str] | None
) -> None:
    for pair in generate_pairs([text], attribute="gender", groups=groups):
        assert pair.original == text
        assert rebuilt(pair) == pair.counterfactual
        for edit in pair.edits:
            assert text[edit.start : edit.end] == edit.before
            end = edit.counterfactual_start + len(edit.after)
            assert pair.counterfactual[edit.counterfactual_start : end] == edit.after


@given(texts(TERMS), st.sampled_from([None, ("female", "male"), ("female", "nonbinary")]))
@settings(max_examples=300)
def test_outside_the_edits_both_are_byte_equal(text: str, groups: tuple[str, str] | None) -> None:
    for pair in generate_pairs([text], attribute="gender", groups=groups):
        kept, twin, at, twin_at = [], [], 0, 0
        for edit in pair.edits:
            kept.append(text[at : edit.start])
            twin.append(pair.counterfactual[twin_at : edit.counterfactual_start])
            at, twin_at = edit.end, edit.counterfactual_start + len(edit.after)
        kept.append(text[at:])
        twin.append(pair.counterfactual[twin_at:])
        assert kept == twin


@given(texts(TERMS), st.sampled_from([None, ("female", "male"), ("male", "nonbinary")]))
@settings(max_examples=500)
def test_both_are_equal_once_masked(text: str, groups: tuple[str, str] | None) -> None:
    for pair in generate_pairs([text], attribute="gender", groups=groups):
        assert GENDER.mask(pair.original) == GENDER.mask(pair.counterfactual)


@given(texts(ONE_TO_ONE))
@settings(max_examples=300)
def test_swapping_twice_gives_the_original_for_one_to_one_terms(text: str) -> None:
    for pair in generate_pairs([text], attribute="gender"):
        if all(m.text in SPELLINGS for m in GENDER.mentions(text)):
            (back,) = generate_pairs([pair.counterfactual], attribute="gender")
            assert back.counterfactual == text


@given(texts(TERMS))
def test_without_a_mention_there_is_no_pair_and_no_mask_of_a_group(text: str) -> None:
    pairs = generate_pairs([text], attribute="gender")
    binary = [m for m in GENDER.mentions(text) if m.group != "nonbinary"]
    assert bool(pairs) == bool(binary)


@given(st.text(max_size=200))
@settings(max_examples=300)
def test_any_text_can_be_read(text: str) -> None:
    generate_pairs([text], attribute="gender")
    GENDER.mask(text)
