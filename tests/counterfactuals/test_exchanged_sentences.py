"""Every entry of the shipped attributes in a sentence, exchanged between every two groups."""

from __future__ import annotations

from itertools import chain

import pytest

from pytest_llmfair.counterfactuals import Entry, generate_pairs, load_lexicons

NAMES = ["age", "disability", "nationality", "race", "religion", "sexual_orientation"]
# One sentence per context, with an article where a term of the entry can have one.
SENTENCES = {
    "condition": "They live with {}.",
    "had": "She lives with {}.",
    "owned": "We spoke about her {}.",
    "before_person": "Yesterday {a} {} teacher's dog barked.",
    "no_switch": "Yesterday {a} {} teacher's dog barked.",
    "contrasted": "Most {} kiss friends and LGBTQ posters.",
    "demonym": "Yesterday {a} {} teacher's dog barked.",
    "compared": "Yesterday {a} {} teacher's dog barked.",
    "old": "Yesterday {a} {} teacher's dog barked.",
    "predicate": "Our teacher is {}, they say.",
    "collective": "We wrote about the {}.",
    "person_noun": "Yesterday {a} {} slept.",
    "insult": "Yesterday the {} slept.",
    "noble": "Yesterday the {} and the peasants slept.",
    "people": "Most {} slept.",
    "origin": "Our teacher comes from {}.",
    "no_given_name": "These {} songs are loud.",
    "no_institution": "These {} songs are loud.",
    "house": "We walked past {a} {}.",
    "scripture": "We read {a} {}.",
    "of_couple": "We wrote about {} couples.",
    "faith": "We wrote about {}.",
    "behind_person": "We wrote about people {}.",
    "decade": "We wrote about people in their {}.",
    "superlative": "Yesterday {a} {} cashier's dog barked.",
    "value": "Age: {}",
    "years": "Our teacher is {}, they say.",
}
PLURALS = ("people", "children")
# What sounds otherwise than it is spelled.
NOT_AN = ("European", "Uruguayan")
AN = (*"aeiou8", "18")


def is_plural(term: str) -> bool:
    last = term.split()[-1]
    return (
        last in PLURALS
        or last.endswith(("men", "gaz"))
        or (last.endswith("s") and not last.endswith(("ss", "ese")))
    )


def sentence(entry: Entry, term: str) -> str:
    article = "an" if term.lower().startswith(AN) and not term.startswith(NOT_AN) else "a"
    terms = [t for own in entry.terms.values() for t in own]
    several = is_plural(term) or entry.role != "noun"
    plain = "We spoke about {}." if several else "It was {a} {}."
    if entry.role == "attribute":
        plain = "We wrote about people {}."
    if any(t.startswith("no ") for t in terms):
        plain = "They live with {}."
    return SENTENCES.get(entry.context, plain).format(term, a=article)


def lines(name: str) -> list[tuple[Entry, str, str]]:
    """Entries with two groups, where the term written for the first is read by this entry."""
    lexicon = load_lexicons()[name]
    found = []
    for entry in lexicon.entries:
        if "hearing" in chain(*entry.terms.values()):
            continue  # counts beside the other only: "deaf and hearing children"
        for one in entry.terms:
            term = entry.written(one)
            readers = [e for e in lexicon.entries if term in e.terms.get(one, ())]
            if readers and readers[0] is entry:
                found += [(entry, one, other) for other in entry.terms if other != one]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_article_and_place_follow_the_written_term(name: str) -> None:
    made = 0
    for entry, one, other in lines(name):
        term, twin = entry.written(one), entry.written(other)
        if term is None or twin is None:
            continue
        pairs = generate_pairs([sentence(entry, term)], name, groups=(one, other))
        named = [pair.counterfactual for pair in pairs if pair.variant != "omission"]
        assert named == [sentence(entry, twin)], (term, twin)
        made += 1
    assert made > 5


@pytest.mark.parametrize("name", NAMES)
def test_nouns_of_an_entry_agree_in_number(name: str) -> None:
    for entry in load_lexicons()[name].entries:
        # "The young are", "has diabetes"
        counted = entry.context not in ("collective", "had", "owned")
        if counted and entry.role in ("noun", "clergy", "place"):
            numbers = {
                is_plural(term)
                for terms in entry.terms.values()
                for term in terms
                if not term.endswith(("epilepsy", "loss")) and "disabilit" not in term
            }
            assert len(numbers) < 2, entry


@pytest.mark.parametrize("name", NAMES)
def test_the_role_stays(name: str) -> None:
    lexicon = load_lexicons()[name]
    for entry, one, other in lines(name):
        term = entry.written(one)
        if term is None:
            continue
        for pair in generate_pairs([sentence(entry, term)], name, groups=(one, other)):
            if pair.variant != "omission":
                (mention,) = lexicon.mentions(pair.counterfactual)
                assert (mention.role, mention.group) == (entry.role, other), pair


@pytest.mark.parametrize("name", NAMES)
def test_only_preferred_and_neutral_terms_are_written(name: str) -> None:
    lexicon = load_lexicons()[name]
    poor = [
        (entry, term)
        for entry in lexicon.entries
        for terms in entry.terms.values()
        for term in terms
        if entry.register(term) in ("outdated", "slur")
    ]
    for entry, term in poor:
        for pair in generate_pairs([sentence(entry, term)], name, placebo=True):
            texts = (pair.counterfactual, pair.placebo or "")
            registers = {m.register for text in texts for m in lexicon.mentions(text)}
            assert registers <= {"preferred", "neutral"}, pair
