"""Whether an adjective names all persons of a group: "the blind", "young and old alike"."""

from __future__ import annotations

import re
from typing import NamedTuple

from pytest_llmfair.lexicons.english.context import Phrase, Rule, Words, decide
from pytest_llmfair.lexicons.english.words import (
    JOINED,
    JOINS,
    ends_phrase,
    in_classes,
    is_adjective,
    is_adverbial,
    is_any,
    is_ly_adverb,
    is_one_of,
    is_people,
    is_person,
    is_verb,
    noun_phrase_ends,
    singulars,
    without_end,
)

_OPPOSED = ("opposed_ages", "opposed_abilities", "opposed_orientations", "opposed_races")
_OF_SEVERAL = ("who", "are", "were", "have")
_SOME = ("many", "most", "few", "several", "some", "other", "these", "those", "two", "three")
_CODE = re.compile(
    r"[^\S\n]+(?:`|'\w|\u2018\w|[\[{$\\]\w|_?[a-z]+_[a-z]|<(?:code|tt|kbd|var|samp|pre|a)\b)"
)


class _Collective(NamedTuple):
    """An adjective that may name all: `words` end before "the", `rest` follows what is joined."""

    phrase: Phrase
    words: Words
    rest: Words
    people: bool
    next: str
    front: str

    def begins(self) -> bool:
        """Whether a clause can begin with "the"."""
        return not self.front or self.front in JOINS or not self.front[0].isalnum()


def is_collective(phrase: Phrase) -> bool:
    """Whether an adjective names all: "the blind", "for the elderly", "young and old"."""
    words, people = list(phrase.before), is_people(phrase.word)
    if people and phrase.next in _OF_SEVERAL:
        words[1:] = without_end(words[1:], is_adjective)  # "the wealthy Chinese who"
    while words and (words[-1].endswith("ly") or words[-1] in ("very", "most", "and", "or")):
        words.pop()
        words[1:] = without_end(words[1:], lambda word: word != "the" and is_adjective(word))
    rest = _after_joined(phrase.after)
    following, front = rest[0] if rest else "", words[-2] if len(words) > 1 else ""
    place = _Collective(phrase, tuple(words), rest, people, following, front)
    return decide(COLLECTIVES, place, False)


def _is_joined(place: _Collective) -> bool:
    joined = place.phrase.last in JOINED or place.phrase.next in JOINED
    return joined and (_is_joined_to_opposite(place.phrase) or _is_joined_to_people(place.phrase))


def _is_of_body(place: _Collective) -> bool:
    named = place.phrase.has_capital and place.front in ("of", "for")
    return named and is_any("".join(place.words[-3:-2]), "bodies_named")


def _is_subject(place: _Collective) -> bool:
    """Whether a verb can follow that can be a noun too."""
    opens = place.begins() or is_one_of(place.front, "clause_starts") or _is_asked(place)
    counted = place.front == "of" and is_one_of(" ".join(place.words[-3:-2]), "quantities")
    return (opens or counted) and is_verb(place.next, "", bare=True)


def _is_asked(place: _Collective) -> bool:
    return place.front != "does" and is_one_of(place.front, "asking")


def _acts(place: _Collective) -> bool:
    clear = place.front in ("do", "don't") or is_one_of(place.next, "mostly_verbs")
    return _is_verb_phrase(place.rest[1:], clear or _is_asked(place))


COLLECTIVES: tuple[Rule[_Collective, bool], ...] = (
    Rule(_is_joined, True, "A show for young and «old» alike."),
    Rule(
        lambda p: p.phrase.last == "of" and p.people and len(p.phrase.before) > 1,
        lambda p: is_any(p.phrase.before[-2], "counted_in") and noun_phrase_ends(p.phrase.after),
        "There are millions of «Japanese».",
    ),
    Rule(lambda p: p.people and _are_some(p.phrase), True, "Many «Japanese» think so."),
    Rule(lambda p: p.words[-1:] != ("the",), False, "I bought some «French» fries."),
    Rule(
        lambda p: describes_thing_too(p.phrase.after),
        False,
        "The «French» and the Greek constitution differ.",
    ),
    Rule(lambda p: _CODE.match(p.phrase.text, p.phrase.end), False, "Set the «blind» `flag`."),
    Rule(lambda p: is_near_things(p.phrase), False, "Clean the «blind» slats."),
    Rule(lambda p: is_one_of(p.next, "nouns_of_things_after"), False, "The «old» ones broke."),
    Rule(
        lambda p: _is_plural_noun(p.next) or is_one_of(p.next, "other_colours"),
        False,
        "We learned the «old» dances.",
    ),
    Rule(_is_of_body, False, "She runs the Institute for the «Blind»."),
    Rule(
        lambda p: p.begins() and is_one_of(p.next, "singular_verbs"),
        False,
        "The «old» has to go.",
    ),
    Rule(
        lambda p: (
            noun_phrase_ends(p.rest) or is_followed(p.rest) or is_one_of(p.next, "plural_verbs")
        ),
        True,
        "He cares for the «elderly».",
    ),
    Rule(_is_subject, _acts, "The «elderly» benefit most."),
)


def _are_some(phrase: Phrase) -> bool:
    """Whether several of a people are named: "many Japanese think"; not "some French fries"."""
    number = phrase.last.isdigit() or is_one_of(phrase.last, "numbers")
    you = phrase.last in ("you", "we")  # "you British always talk"
    if not (number or you or phrase.last in _SOME):
        return False
    rest = _after_joined(phrase.after)
    while you and len(rest) > 1 and is_one_of(rest[0], "predicate_adverbs"):
        rest = rest[1:]
    first = rest[0] if rest else ""
    if first in JOINED:
        return False
    if is_one_of(first, "plural_verbs"):
        return True
    if ends_phrase(first):
        return number or phrase.last in ("many", "few", "several")
    if first.endswith(("s", "ly")):
        return False
    return is_verb(first, "", bare=True) and _is_verb_phrase(rest[1:], True)


def _is_joined_to_opposite(phrase: Phrase) -> bool:
    """Whether its opposite is joined and no noun follows: "for young and old alike"."""
    kind = next((kind for kind in _OPPOSED if is_one_of(phrase.word, kind)), "")
    words, rest = phrase.before, phrase.after
    if not kind:
        return False
    if len(words) > 1 and words[-1] in ("and", "or") and is_one_of(words[-2], kind):
        words = words[:-2]
    elif len(rest) > 1 and rest[0] in ("and", "or") and is_one_of(rest[1], kind):
        rest = rest[2:]
    else:
        return False
    while words and words[-1] in ("both", "either", "the"):
        words = words[:-1]
    while words and kind == "opposed_races" and is_one_of(words[-1], "predicate_adverbs"):
        words = words[:-1]  # "is rarely black and white"
    first, following = words[-1] if words else "", rest[0] if rest else ""
    if first in ("a", "an") or in_classes(first, "be", "be_contracted"):
        return False  # "a black and white checked tie", "is black and white"
    alike = following == "alike"
    if kind == "opposed_races" and first in ("in", "to") and not alike:
        return False  # "there in black and white"
    opens = ends_phrase(first) or is_person(first) or is_verb(first, "")
    return opens and (
        alike or noun_phrase_ends(rest, bare=True) or is_one_of(following, "plural_verbs")
    )


def _is_joined_to_people(phrase: Phrase) -> bool:
    """Whether it is joined to the plural of a people: "Spaniards, Portuguese and Italians pay"."""
    rest = _after_joined(phrase.after)
    if rest[:1] and rest[0] in JOINED:
        rest = rest[2:]
    others = (*phrase.before[-2:-1], *phrase.after[1:2])
    people = any(word.endswith("s") and is_people(word[:-1]) for word in others)
    return people and is_people(phrase.word) and noun_phrase_ends(rest, bare=True)


def is_followed(after: Words) -> bool:
    """Whether an adverb or a participle of a person's action follows: "living in Texas"."""
    first, second = (*after[:2], "", "")[:2]
    if is_adverbial(first, second) or is_one_of(first, "doing_something"):
        return True
    if not is_one_of(first, "doing"):
        return False
    return ends_phrase(second) or is_one_of(second, "closed_if_final") or second.endswith("ly")


def _is_verb_phrase(after: Words, clear: bool) -> bool:
    """Whether the words after a verb that can be a noun make it one: "the elderly (work)"."""
    first, second = (*after[:2], "", "")[:2]
    if is_one_of(first, "objects") or first in ("themselves", "each"):
        return True
    if is_one_of(first, "determiners") and first != "that":  # "cost the state"
        return True
    if clear and ends_phrase(first) and first not in ("of", "please"):
        return True
    how = is_ly_adverb(first) or in_classes(first, "closed_if_final", "how_done")
    ended = ends_phrase(second) and not is_one_of(second, "finite_forms")
    return how and (ended or in_classes(second, "closed_if_final", "how_done"))


def _after_joined(words: Words) -> Words:
    """Return the end of the adjectives joined to the term: "the sick and frail"."""
    rest = words
    while len(rest) > 1 and rest[0] in JOINED and is_adjective(rest[1]):
        rest = rest[2:]
    return rest


def _is_plural_noun(word: str) -> bool:
    """Whether a verb in -s has to be a noun, as its subject is plural: "the old dances"."""
    if not word.endswith("s") or word.endswith(("ss", "us")) or ends_phrase(word):
        return False
    forms = singulars(word)[1:]
    return any(in_classes(form, "base_verbs", "person_verbs", "noun_verbs") for form in forms)


def describes_thing_too(after: Words) -> bool:
    """Whether "and the Greek constitution" follows: another people with an article and a thing."""
    if len(after) < 4 or after[0] not in JOINED or not in_classes(after[1], "articles"):
        return False
    if not (is_people(after[2]) or in_classes(after[2], "contrasted", "person_adjectives")):
        return False
    return not (
        noun_phrase_ends(after[3:], bare=True)
        or after[3] in ("alike", "each")
        or is_person(after[3])
    )


def is_near_things(phrase: Phrase) -> bool:
    """Whether the sentence is about grapes, blinds and the like."""
    return any(is_one_of(word, "no_people_near") for word in (*phrase.before, *phrase.after))
