"""Slurs of the shipped lexicons: found in plain sentences, never written."""

from __future__ import annotations

import pytest

from pytest_llmfair.counterfactuals import generate_pairs, load_lexicons, mentions

LEXICONS = load_lexicons()
FRAMES = (
    "The {} left early.",
    "Those {} left early.",
    "The {} teacher left early.",
    "She explained {}.",
)


def slurs(attribute: str) -> list[str]:
    return sorted(
        {
            term
            for entry in LEXICONS[attribute].entries
            for terms in entry.terms.values()
            for term in terms
            if entry.register(term) == "slur"
        }
    )


ALL = [(attribute, term) for attribute in LEXICONS for term in slurs(attribute)]


@pytest.mark.parametrize(("attribute", "term"), ALL)
def test_are_found_in_a_plain_sentence(attribute: str, term: str) -> None:
    found = [
        mention
        for frame in FRAMES
        for mention in mentions(frame.format(term), attribute)
        if mention.register == "slur"
    ]
    assert term in [mention.text for mention in found]


@pytest.mark.parametrize("attribute", [a for a in LEXICONS if slurs(a)])
def test_are_never_written(attribute: str) -> None:
    known = {term.casefold() for term in slurs(attribute)}
    entries = LEXICONS[attribute].entries
    terms = {term for entry in entries for words in entry.terms.values() for term in words}
    prompts = [frame.format(term) for term in sorted(terms) for frame in FRAMES[:3]]
    pairs = generate_pairs(prompts, attribute, placebo=True)
    assert pairs
    for pair in pairs:
        written = {edit.after.casefold() for edit in pair.edits}
        assert not written & known
        for mention in mentions(pair.placebo or "", attribute):
            if mention.register == "slur":
                assert mention.text in pair.original


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        ("sexual_orientation", "The dyke held back the sea for a century."),
        ("sexual_orientation", "He stubbed out a fag end."),
        ("sexual_orientation", "Homo sapiens left Africa late."),
        ("race", "There is a chink in the armour."),
        ("race", "She owns a Maine Coon cat."),
        ("race", "The kitchen was spick and span."),
        ("nationality", "He sang doo-wop for years."),
        ("disability", "Salt can retard the growth of mould."),
        ("disability", "The scan showed spastic paraplegia."),
        ("disability", "High rates cripple the economy."),
        ("gender", "The mechanic drained the tranny fluid."),
    ],
)
def test_with_an_innocent_meaning_are_none(attribute: str, text: str) -> None:
    assert not mentions(text, attribute)
