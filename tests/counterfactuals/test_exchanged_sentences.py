"""Every entry of the shipped attributes in a sentence, exchanged between every two groups."""

from __future__ import annotations

import functools
from itertools import chain
from typing import Any

import pytest

from pytest_llmfair.counterfactuals import Entry, generate_pairs, load_lexicons

NAMES = ["age", "disability", "nationality", "race", "religion", "sexual_orientation"]


@functools.cache
def lines(name: str, carriers: Any) -> list[tuple[Entry, str, str, str]]:
    """Entries with two groups and the sentence of the first, where this entry reads its term."""
    lexicon = load_lexicons()[name]
    found = []
    for entry in lexicon.entries:
        if "hearing" in chain(*entry.terms.values()):
            continue  # counts beside the other only: "deaf and hearing children"
        for one in entry.terms:
            term = entry.written(one)
            text = term and carriers.carrier(lexicon, entry, one, term)
            if term and text and carriers.reads(lexicon, entry, carriers.filled(text, term)):
                found += [(entry, one, other, text) for other in entry.terms if other != one]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_article_and_place_follow_the_written_term(name: str, carriers: Any) -> None:
    made = 0
    for entry, one, other, text in lines(name, carriers):
        term, twin = entry.written(one), entry.written(other)
        if term is None or twin is None:
            continue
        pairs = generate_pairs([carriers.filled(text, term)], name, groups=(one, other))
        named = [pair.counterfactual for pair in pairs if pair.variant != "omission"]
        assert named == [carriers.filled(text, twin)], (term, twin)
        made += 1
    assert made > 5


@pytest.mark.parametrize("name", NAMES)
def test_nouns_of_an_entry_agree_in_number(name: str, carriers: Any) -> None:
    for entry in load_lexicons()[name].entries:
        # "The young are", "has diabetes"
        counted = entry.kind != "condition"
        if counted and entry.role in ("noun", "clergy", "place"):
            numbers = {
                carriers.is_plural(term)
                for terms in entry.terms.values()
                for term in terms
                if not term.endswith(("epilepsy", "loss")) and "disabilit" not in term
            }
            assert len(numbers) < 2, entry


@pytest.mark.parametrize("name", NAMES)
def test_the_role_stays(name: str, carriers: Any) -> None:
    lexicon = load_lexicons()[name]
    for entry, one, other, text in lines(name, carriers):
        term = entry.written(one)
        if term is None:
            continue
        for pair in generate_pairs([carriers.filled(text, term)], name, groups=(one, other)):
            if pair.variant != "omission":
                (mention,) = lexicon.mentions(pair.counterfactual)
                roles = {role.replace("collective", "noun") for role in (mention.role, entry.role)}
                assert len(roles) == 1, pair
                assert mention.group == other, pair


@pytest.mark.parametrize("name", NAMES)
def test_only_preferred_and_neutral_terms_are_written(name: str, carriers: Any) -> None:
    lexicon = load_lexicons()[name]
    poor = [
        carriers.filled(text, term)
        for entry in lexicon.entries
        for group, terms in entry.terms.items()
        for term in terms
        if entry.register(term) in ("outdated", "slur")
        and (text := carriers.carrier(lexicon, entry, group, term))
    ]
    for text in poor:
        for pair in generate_pairs([text], name, placebo=True):
            texts = (pair.counterfactual, pair.placebo or "")
            registers = {m.register for text in texts for m in lexicon.mentions(text)}
            assert registers <= {"preferred", "neutral"}, pair
