"""Rules for words that stand as nouns: "the old", "a Muslim", "most whites", "has anxiety"."""

from __future__ import annotations

import itertools

from pytest_llmfair.lexicons.english.english import is_in_ly, is_one_of
from pytest_llmfair.lexicons.english.persons.bodies import is_of_body
from pytest_llmfair.lexicons.english.persons.clauses import (
    is_contrasted,
    is_only_verb,
    is_plural_noun,
    is_told,
    trusts_persons,
)
from pytest_llmfair.lexicons.english.persons.coordinated import describes_thing_too
from pytest_llmfair.lexicons.english.persons.heads import head_of, is_home
from pytest_llmfair.lexicons.english.persons.marks import is_before_thing
from pytest_llmfair.lexicons.english.persons.proper_names import is_behind_name
from pytest_llmfair.lexicons.english.persons.subjects import is_subject_word
from pytest_llmfair.lexicons.english.persons.surroundings import (
    Place,
    Words,
    is_name_behind,
)
from pytest_llmfair.lexicons.english.persons.words import (
    JOINS,
    ends_phrase,
    is_adjective,
    is_adverbial,
    is_any,
    is_modifier,
    is_people,
    is_person,
    is_verb,
    no_noun,
    singulars,
)

_FAR = 7  # "translated the poem from the Russian"
_JOINED = frozenset((*JOINS, ","))
_OF_SEVERAL = ("who", "are", "were", "have")
_SOME = ("many", "most", "few", "several", "some", "other", "these", "those", "two", "three")
_SHARES = frozenset(("%", "percent", "per"))
_OPENED = ((",",), ("(",), ("-",), ("\u2013",))
_POSSESSIVE = ("my", "your", "his", "her", "our", "their", "its", "whose")


def is_collective(place: Place) -> bool:
    """Allow "the blind", "for the elderly", "young and old": no noun follows."""
    if place.next in _JOINED and (
        describes_thing_too(place.behind)
        or is_one_of(" ".join(place.behind[1:2]), "other_colours")  # "the black and red flag"
    ):
        return False
    joined = place.last in _JOINED or place.next in _JOINED
    if joined and (is_opposed(place) or _is_listed_people(place)):
        return True
    if place.last == "of" and place.term.people:
        return _are_counted(place)
    if place.term.people and _are_some(place):
        return True
    words = list(place.before)
    if place.term.people and place.next in _OF_SEVERAL:
        while len(words) > 1 and is_adjective(words[-1]):
            words.pop()  # "the wealthy Chinese who"
    while words and (words[-1].endswith("ly") or words[-1] in ("very", "most", "and", "or")):
        words.pop()
        while len(words) > 1 and words[-1] != "the" and is_adjective(words[-1]):
            words.pop()
    if not words or words[-1] != "the":
        return False
    if not place.term.people and "new" in (*place.before[-4:], *place.behind[:5]):
        return False
    if place.term.capital and is_of_body(place, len(words)):
        return False
    rest = _behind_joined(place.behind)
    if rest[:1] == ("alike",):
        rest = rest[1:]
    if (
        is_before_thing(place, rest)
        or _is_near_things(place)
        or (rest and is_one_of(rest[0], "behind_things"))
    ):
        return False
    if rest and is_plural_noun(rest[0]):
        return False
    begins = len(words) < 2 or words[-2] in JOINS or not words[-2][0].isalnum()
    if begins and rest and is_one_of(rest[0], "singular_verbs"):
        return False
    front = words[-2] if len(words) > 1 else ""
    opens = begins or is_one_of(front, "clause_starts")
    named = opens and front != "that" and is_told(rest)  # "the blind date was"
    if named or (is_one_of(front, "copulas") and is_one_of(rest[0] if rest else "", "noun_verbs")):
        return False  # "was the blind date"
    told = rest[1:] if rest and is_in_ly(rest[0]) else rest  # "are the Dutch really kinder"
    if front in ("are", "were") and told and (is_adjective(told[0]) or told[0].endswith("er")):
        return ends_phrase(" ".join(told[1:2]))
    if _is_ended(rest) or is_one_of(rest[0], "plural_verbs"):
        return True
    asked = front != "does" and is_one_of(front, "asking")
    counted = front == "of" and is_one_of(" ".join(words[-3:-2]), "quantities")
    if not (opens or asked or counted) or not is_verb(rest[0], "", bare=True):
        return False
    if is_only_verb(front, rest) or trusts_persons(rest):
        return True
    last = not any(is_one_of(word, "be") or is_verb(word, "", bare=True) for word in rest[1:])
    clear = front in ("do", "don't") or (asked and last) or is_one_of(rest[0], "mostly_verbs")
    clear = clear or is_contrasted(tuple(words[:-1]), rest, place.term.opposed)
    return _is_done(rest[1:], clear)


def _are_counted(place: Place) -> bool:
    """Whether many of a people are told of: "hundreds of thousands of Chinese"."""
    if not is_any(" ".join(place.before[-2:-1]), "counted_in"):
        return False
    rest = _behind_joined(place.behind)
    return not rest or ends_phrase(rest[0]) or is_one_of(rest[0], "plural_verbs")


def _are_some(place: Place) -> bool:
    """Whether several of a people are told of: "many Japanese think"; not "some French fries"."""
    number = place.last.isdigit() or is_one_of(place.last, "numbers")
    told = place.last in ("you", "we")  # "you British always talk"; not "teach you French"
    if not (number or told or place.last in _SOME):
        return False
    rest = _behind_joined(place.behind)
    while told and len(rest) > 1 and is_one_of(rest[0], "predicate_adverbs"):
        rest = rest[1:]
    first = rest[0] if rest else ""
    if first in _JOINED:
        return False
    if is_one_of(first, "plural_verbs"):
        return True
    if ends_phrase(first):
        return number or place.last in ("many", "few", "several")
    if first.endswith(("s", "ly")):
        return False
    return is_verb(first, "", bare=True) and _is_done(rest[1:], True)


def is_opposed(place: Place) -> bool:
    """Whether an opposite is joined and no noun follows: "for young and old alike"."""
    kind, words, rest = place.term.opposed, place.before, place.behind
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
    if kind == "opposed_races":  # "is rarely black and white"
        while words and is_one_of(words[-1], "predicate_adverbs"):
            words = words[:-1]
    first, following = words[-1] if words else "", rest[0] if rest else ""
    if first in ("a", "an") or is_one_of(first, "be") or is_one_of(first, "be_contracted"):
        return False  # "a black and white checked tie", "is black and white"
    alike = following == "alike"
    # "There in black and white", "depth 2 (black and white)"
    noted = first in ("in", "to") or (first == "(" and not is_person(" ".join(words[-2:-1])))
    if kind == "opposed_races" and noted and not alike:
        return False
    if is_told(rest):
        return False  # "black and white text is"
    opens = ends_phrase(first) or is_person(first) or is_verb(first, "")
    return opens and (alike or no_noun(rest, bare=True) or is_one_of(following, "plural_verbs"))


def _is_listed_people(place: Place) -> bool:
    """Whether it is joined to another people: "Germans, French and Dutch voted"."""
    rest = _behind_joined(place.behind)
    if not (no_noun(rest, bare=True) or _is_ended(rest) or is_one_of(rest[0], "plural_verbs")):
        return False
    for words in (place.before[::-1], place.behind):
        while len(words) > 1 and words[0] in _JOINED:
            first, second = (*words[1:3], "")[:2]
            if first.endswith("s") and is_people(first[:-1]):
                return True
            if first == "people" and is_one_of(second, "demonyms"):
                return True
            again = first in _JOINED
            if not (again or is_one_of(first, "demonyms")):
                break
            words = words[1 if again else 2 :]
    return False


def is_one_of_all(place: Place) -> bool:
    """Allow "the oldest" as one of persons: "the youngest nurse was 19, the oldest 61"."""
    if place.last != "the":
        return False
    if place.next == "of":
        return any(_is_ranked(word) for word in place.behind[1:4])
    number = place.next.partition("-")[0]
    if not (no_noun(place.behind) or number[:1].isdigit() or is_one_of(number, "numbers")):
        return False
    around = (*place.before, "", *place.behind)
    return any(
        is_one_of(word, "superlatives") and _is_ranked(following)
        for word, following in itertools.pairwise(around)
    )


def _is_ranked(word: str) -> bool:
    """Whether it is a person whose place in age is no matter of kin or of a bond."""
    return is_person(word) and not (is_any(word, "kin") or is_any(word, "bonds"))


def _is_ended(behind: Words) -> bool:
    """Whether no noun follows, but a verb, an adverb or what somebody does: "living alone"."""
    return no_noun(behind) or _is_followed(behind)


def _is_followed(behind: Words) -> bool:
    """Whether an adverb or a participle of what persons do follows: "living in Texas"."""
    if is_adverbial(behind):
        return True
    first, second = (*behind[:2], "", "")[:2]
    if is_one_of(first, "doing_something"):
        return True
    if not is_one_of(first, "doing"):
        return False
    return ends_phrase(second) or is_one_of(second, "closed_if_final") or second.endswith("ly")


def _is_done(behind: Words, clear: bool) -> bool:
    """Whether what follows a verb that is a noun too makes it a verb: "the elderly work longer".

    Where it is `clear` that a verb comes ("do the elderly travel to") any end of a phrase does.
    """
    first, second = (*behind[:2], "", "")[:2]
    if is_one_of(first, "objects") or first in ("themselves", "each"):
        return True
    if is_one_of(first, "determiners") and first != "that":  # "cost the state"
        return True
    if clear and ends_phrase(first) and first not in ("of", "please"):
        return True
    adverb = first.endswith("ly") and not is_one_of(first, "not_adverbs")
    how = adverb or is_one_of(first, "closed_if_final") or is_one_of(first, "how_done")
    ended = ends_phrase(second) and not is_one_of(second, "finite_forms")
    again = is_one_of(second, "closed_if_final") or is_one_of(second, "how_done")
    return how and (ended or again)


def _behind_joined(words: Words) -> Words:
    """Return what follows the adjectives that are joined to the term: "the sick and frail"."""
    rest = words
    while len(rest) > 1 and rest[0] in _JOINED and is_adjective(rest[1]):
        rest = rest[2:]
    return rest


def is_noun(place: Place) -> bool:
    """Allow "as an Italian, I", "a Muslim prayed"; not "an Italian dish", "her Italian"."""
    if place.last == "fellow" and place.behind and is_name_behind(place):
        return place.term.people  # "and fellow Italian Marco Polo"
    words = list(place.before)
    if len(words) > 1 and _is_determiner(words[-2]) and is_home(words[-1]):
        words.pop()  # "a Texas atheist"
    while words and (
        _ranks(words)
        or words[-1] == "out"
        or (is_modifier(words[-1]) and not _is_determiner(words[-1]))
    ):
        words.pop()
    at = next((at for at in (-2, -3) if words[at : at + 2 or None] == ["the", "most"]), 0)
    if at:  # "the most famous Greek of all time"
        words = words[: at + 1]
    first = words[-1] if words else ""
    if not _is_determiner(first) or is_one_of(first, "plural_determiners"):
        return False
    if place.last in ("one", "other") and _is_one_of_two(place):
        return False
    if is_behind_name(place):
        return False
    if _is_believer(place) or _does(place, first):
        return True
    if not (place.term.noun or _is_next_phrase(place.behind) or not head_of(place)[0]):
        return False
    if place.next in JOINS and _is_joined_adjective(place.behind[1:3]):
        return False
    if place.next in _JOINED and describes_thing_too(place.behind):
        return False
    several = "and" in place.before[-3:] and _are_two(place) and not is_told(place.behind)
    if place.term.people and (first in _POSSESSIVE or _is_language(place)):
        return False
    if no_noun(place.behind, bare=several or place.term.noun) or _is_followed(place.behind):
        return True
    return len(words) > 1 and _is_asked_of(words[-2], place.behind)


def _is_determiner(word: str) -> bool:
    return is_one_of(word, "determiners")


def _ranks(words: list[str]) -> bool:
    """Whether the last word compares with all others: "the oldest Sikh", "the most devout"."""
    if len(words) < 2 or not _is_determiner(words[-2]):
        return False
    return words[-1] in ("most", "least") or (len(words[-1]) > 5 and words[-1].endswith("est"))


def _is_one_of_two(place: Place) -> bool:
    """Whether each of two persons is told of: "two boys, one Sikh and one Jewish"."""
    front, rear = place.before[::-1], place.behind
    if front[0] == "one" and rear[1:2] in (("one",), ("the",)):
        return rear[0] in _JOINED and front[1:2] in _OPENED
    other = front[1 + (front[0] == "other") :]
    return (
        other[:1] != ()
        and other[0] in _JOINED
        and other[2:3] == ("one",)
        and other[3:4] in _OPENED
    )


def _does(place: Place, first: str) -> bool:
    """Whether a verb follows that is a plural noun too: "a Sikh hosts a dinner", "needs help"."""
    verb, object_, third = (*place.behind[:3], "", "", "")[:3]
    if not verb.endswith("s") or verb.endswith("ss"):
        return False
    begun = ends_phrase(object_) or _is_determiner(object_)
    if begun and is_one_of(first, "singular_determiners"):
        return is_verb(verb, object_, bare=True)
    needed = any(is_one_of(form, "before_to") for form in singulars(verb)[1:])
    return needed and ends_phrase(third) and not (ends_phrase(object_) or is_person(object_))


def _is_believer(place: Place) -> bool:
    """Whether another noun phrase is joined: "a devout Hindu and good cook"; not "and Sikh"."""
    if not is_one_of(place.last, "believing") or place.next != "and" or len(place.behind) < 3:
        return False
    word = place.behind[1]
    known = is_one_of(word, "demonyms") or is_one_of(word, "person_adjectives")
    return is_adjective(word) and not known and is_person(place.behind[2])


def _is_language(place: Place) -> bool:
    """Whether it is spoken, or a word comes from it: "a little Greek", "is from the Greek for"."""
    if place.last == "little":
        return True
    if place.last in ("some", "any", "no", "more"):
        return any(is_one_of(word, "of_languages") for word in place.before[-_FAR:])
    if place.last != "the" or place.before[-2:-1] != ("from",):
        return False
    meant = place.next in ("for", "meaning", "word", "root")
    return meant or any(is_one_of(word, "derived") for word in place.before[-_FAR:-2])


def _are_two(place: Place) -> bool:
    """Whether a person is joined in front: "a Pole and a Dane share"; not "a cup and"."""
    at = len(place.before) - 1 - place.before[::-1].index("and")
    word = place.before[at - 1] if at else ""
    return is_people(word) or is_subject_word(word, place.raw[at - 1], True)


def _is_next_phrase(behind: Words) -> bool:
    """Whether another noun phrase is joined: "a Swede and an Italian woman"."""
    if len(behind) < 2 or behind[0] not in _JOINED:
        return False
    return is_one_of(behind[1], "determiners") or behind[1].isdigit()


def _is_joined_adjective(words: Words) -> bool:
    """Whether another people and a noun are joined: "an Asian or Latino face"."""
    if len(words) < 2 or is_one_of(words[0], "peoples_nouns"):
        return False
    people = is_one_of(words[0], "demonyms") or is_one_of(words[0], "contrasted")
    return people and words[1].isalpha() and not no_noun(words[1:], bare=True)


def _is_asked_of(verb: str, behind: Words) -> bool:
    """Whether a question goes on behind its subject: "is a Dane likely", "would a Dane feel"."""
    first, second = (*behind[:2], "", "")[:2]
    if is_one_of(verb, "be"):
        said = is_one_of(first, "said_of") or is_one_of(first, "adjectives")
        return is_one_of(first, "compares") or (said and ends_phrase(second))
    if not is_one_of(verb, "asking"):
        return False
    adverb = ends_phrase(second) or is_one_of(second, "said_of") or is_one_of(second, "adjectives")
    return adverb and is_verb(first, second, bare=True)


def are_people(place: Place) -> bool:
    """Allow "most whites", "many seniors"; not "egg whites", "high school seniors"."""
    near_eyes = "eyes" in place.before or "eyes" in place.behind
    if near_eyes or _is_near_things(place):
        return False
    if place.next == "of" and not _are_of_land(place):
        return False
    if place.before[-2:] == ("in", "all"):  # dressed so
        return False
    first = place.last
    if is_one_of(first, "school_words"):
        return False
    opens = ends_phrase(first) or is_modifier(first) or is_verb(first, "")
    return (opens or is_one_of(first, "quantities")) and (
        _is_ended(place.behind)
        or is_any(place.next, "plural_verbs")
        or is_one_of(place.next, "verbs_of_several")
        or _is_share(place)
        or _they_do(place)
    )


def _are_of_land(place: Place) -> bool:
    """Whether a land or a town is theirs: "the whites of the South"; not "of his eyes"."""
    words = place.behind[1:3]
    if words[:1] != ("the",):
        return bool(words) and is_one_of(words[0], "countries")
    written = place.raw[len(place.before) + 2 : len(place.before) + 3]
    return bool(written) and (written[0][0].isupper() or is_one_of(words[1], "places_of_people"))


def _they_do(place: Place) -> bool:
    """Whether a verb that is a noun too follows a plural: "seniors ride free"."""
    if is_one_of(place.last, "singular_determiners"):
        return False
    verb, third = (*place.behind[:3:2], "", "")[:2]
    # "Seniors travel insurance is cheap"
    compound = is_one_of(third, "auxiliaries") or is_one_of(third, "finite_verbs")
    return is_verb(verb, "", bare=True) and not compound


def _is_share(place: Place) -> bool:
    """Whether a share or an age follows: "whites 60 percent"; behind another also "Blacks 38"."""
    if not place.next[:1].isdigit():
        return False
    unit, third = (*place.behind[1:3], "", "")[:2]
    if unit == "+" or (unit in ("and", "or") and is_one_of(third, "age_bounds")):
        return True  # "whites 65 and over"
    return unit in _SHARES or (ends_phrase(unit) and not _SHARES.isdisjoint(place.before))


def _is_near_things(place: Place) -> bool:
    return any(is_one_of(word, "no_people_near") for word in (*place.before, *place.behind))
