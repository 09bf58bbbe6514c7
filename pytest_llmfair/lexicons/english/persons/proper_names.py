"""Whether a word is part of a proper name: "Gay Talese", "the Muslim Brotherhood"."""

from __future__ import annotations

import itertools

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.old_names import is_of_class
from pytest_llmfair.lexicons.english.persons.lists import is_listed
from pytest_llmfair.lexicons.english.persons.portions import is_portion
from pytest_llmfair.lexicons.english.persons.surroundings import (
    Place,
    Words,
    is_name_behind,
    is_title,
    names_place,
    place_at,
)
from pytest_llmfair.lexicons.english.persons.words import (
    JOINS,
    ends_phrase,
    is_adjective,
    is_any,
    is_modifier,
    is_person,
    is_verb,
    no_noun,
)

_NO_NAMES = ("closed", "determiners", "quantities", "person_modifiers", "demonyms")
_QUOTES = "\"'`\u2018\u2019\u201c\u201d"
_SAID_SO = ("be", "be_contracted", "determiners", "predicate_adverbs", "turning", "identify")
_LANDS = ("states", "countries", "nations")
_NO_LANDS = ("nation", "republic", "motherland", "fatherland", "homeland")
_COUNTING = ("all", "many", "most", "some", "several", "other", "these", "those", "between")
_AROUND = " \n.?!\"'()*"


def are_no_team(place: Place) -> bool:
    """Allow "many Indians"; not "the Cleveland Indians"."""
    if not place.before or not place.raw[len(place.before) - 1][:1].isupper():
        return True
    if place.raw[len(place.before) :] and is_title(place.raw):
        return True
    if _is_no_name(place.last) or is_adjective(place.last):
        return True
    # "Dear Imam", "Tell Rabbi Cohen"
    first = len(place.before) == 1
    return first and (is_one_of(place.last, "polite") or is_verb(place.last, "", bare=True))


def is_no_team(place: Place) -> bool:
    """Allow the same, and "Neapolitan priests", whom a small letter keeps from being a team."""
    return are_no_team(place) or not (place.term.capital or place.term.people)


def _is_no_name(word: str) -> bool:
    return any(is_one_of(word, kind) for kind in _NO_NAMES)


def is_no_first_name(place: Place) -> bool:
    """Allow "gay rights", "Gay Pride", "Gay Asian men"; not "Gay Talese", nor "Enola Gay"."""
    if not are_no_team(place) or _is_merry(place) or (place.term.capital and _has_locals(place)):
        return False
    if not place.term.capital:
        return True
    if _is_name_alone(place):
        return False
    if not place.behind or not is_name_behind(place):
        return True
    if is_one_of(place.next, "places"):
        return not names_place(place) and any(is_person(word) for word in place.behind[1:3])
    known = ("person_adjectives", "mass_nouns", "causes")
    return (
        is_person(place.next)
        or is_modifier(place.next)
        or any(is_one_of(place.next, kind) for kind in known)
    )


def _is_name_alone(place: Place) -> bool:
    """Whether a capital inside a sentence makes it a name: "told Gay", "what Gay said"."""
    if not place.before or place.term.one_case or is_title(place.raw) or not no_noun(place.behind):
        return False
    last = place.last
    said = last in (*JOINS, ",", "as", "being", "openly") or any(
        is_one_of(last, kind) for kind in _SAID_SO
    )
    return not said and place.next not in (*JOINS, ",")


def _has_locals(place: Place) -> bool:
    """Whether a street is named whose residents a title speaks of: "Gay Street Residents"."""
    return is_one_of(" ".join(place.behind[1:2]), "locals") and names_place(place)


def _is_beside_merry(place: Place) -> bool:
    """Whether a word of a bright mood is joined: "quick, light and gay"."""
    front = place.last in JOINS and is_one_of(" ".join(place.before[-2:-1]), "merry_moods")
    return front or (place.next in JOINS and is_one_of(" ".join(place.behind[1:2]), "merry_moods"))


def _is_merry(place: Place) -> bool:
    """Whether a thing is bright or merry: "gay ribbons", "the meadow was gay with poppies"."""
    if is_any(place.next, "merry_things") or _is_beside_merry(place):
        return True
    at = len(place.before) - 1
    while at > 0 and is_one_of(place.before[at], "predicate_adverbs"):
        at -= 1
    if at < 1:
        return False
    subject, verb = place.before[at - 1 : at + 1]
    looked = is_one_of(verb, "looking") or verb in ("seemed", "seem", "seems", "felt", "feels")
    if not (looked or is_one_of(verb, "be")):
        return False
    merry = is_any(subject, "merry_things") or is_any(subject, "merry_places")
    return merry and (looked or place.next == "with" or is_any(subject, "merry_things"))


def is_no_given_name(place: Place) -> bool:
    """Allow "a Christian", "Christian values", "he is Christian"; not "Christian said"."""
    if _is_fare(place) or is_behind_name(place):
        return False
    if place.term.one_case or _is_word(place):
        return True
    if _is_before_surname(place):
        return False
    if place.behind and is_name_behind(place):
        if _is_before_land(place):
            return True
        kinds = ("demonyms", "of_faith")
        known = place.last == "the" or any(is_any(place.next, kind) for kind in kinds)
        return known and is_no_institution(place)
    joined = place.next in JOINS and len(place.behind) > 1 and is_modifier(place.behind[1])
    if joined or _is_joined(place.before):
        return True
    if not place.raw and not (place.front + place.rear).strip(_AROUND):
        return True  # a text of one word
    noun = place.next[:1].isalpha() and not place.next.endswith("ing")
    if is_portion(place.raw, place.before, place.earlier):
        return True
    asked = is_one_of(place.last, "asking")  # "Did Christian call?"
    if _is_determined(place) or (noun and not no_noun(place.behind, bare=asked)):
        return True
    alone = place.next != "and" and "and" not in place.behind[1:2]  # not "41, Christian and Ann"
    return alone and place.last in (",", "(") and is_listed(place.raw, place.before, place.behind)


def _is_word(place: Place) -> bool:
    """Whether it stands alone in quotes and is no name: 'the answer "Christian"'."""
    front = place.front[:-1].rstrip()[-1:]  # of a field the rule for values decides
    if not front.isalnum() or place.front[-1:] not in _QUOTES or place.rear[:1] not in _QUOTES:
        return False
    return bool(place.rear) and not any(is_one_of(word, "called") for word in place.before[-3:])


def is_no_institution(place: Place) -> bool:
    """Allow "Muslim leaders", "Jewish New Yorkers"; not "the Muslim Brotherhood", "Jewish rye"."""
    if _is_fare(place) or is_behind_name(place):
        return False
    if not place.term.capital or not place.behind or not is_name_behind(place):
        return True
    if place.next == "national":
        return False  # "the Muslim National Guard"
    if place.next in _LANDS and place.last in _COUNTING:
        return True  # "all Islamic States"
    if place.next == "new" and is_person(" ".join(place.behind[1:2])):
        return True
    if place.last.endswith("ly") and not is_one_of(place.last, "not_adverbs"):
        return True  # "the staunchly Protestant Edward VI"
    if _is_before_land(place) or _is_before_person(place):
        return True
    known = ("demonyms", "person_adjectives", "of_faith")
    return is_person(place.next) or any(is_any(place.next, kind) for kind in known)


def _is_before_land(place: Place) -> bool:
    """Whether a land follows, and no name goes on: "in Buddhist China"."""
    if not is_one_of(place.last, "places_in") or not is_one_of(place.next, "countries"):
        return False
    following = place.raw[len(place.before) + 1 :]
    return place.next not in _NO_LANDS and not (following and following[0][0].isupper())


def _is_before_person(place: Place) -> bool:
    """Whether a name follows, and no more of one: "the Catholic Anne Lee", "the Sikh Anne"."""
    written = place.raw[len(place.before) : len(place.before) + 3]
    given = is_one_of(place.next, "given_names") or is_of_class(place.next, "given")
    if not given or not is_one_of(place.last, "determiners"):
        return False
    capitals = [word[0].isupper() for word in written]
    return capitals[:2] != [True, True] or capitals[2:] in ([], [False])


def is_behind_name(place: Place) -> bool:
    """Whether a preposition and "The" begin a name: "according to The Hindu"."""
    if place.last != "the" or len(place.before) < 2:
        return False
    written = place.raw[len(place.before) - 1] == "The"
    if not written or not is_one_of(place.before[-2], "prepositions"):
        return False
    return "the" in place.raw or not is_title(place.raw)


def _is_before_surname(place: Place) -> bool:
    """Whether names are listed, which look like a title: "(Ivan Petrov, Christian Brabandt)"."""
    if not place.behind or not (
        place.last in (",", "(", "by", "&") or _is_behind_full_name(place)
    ):
        return False
    written = place.raw[len(place.before)]
    ended = place.behind[1:2] in ((), (",",), (")",), ("and",), ("&",))
    several = written[-1] == "s" and not is_one_of(place.next, "surnames_in_s")
    if not (ended and written[0].isupper()) or several or is_person(place.next):
        return len(written) == 1 and written.isupper()
    return not (is_modifier(place.next) or is_any(place.next, "of_faith"))


def _is_behind_full_name(place: Place) -> bool:
    """Whether "and" joins it to a full name: "by Ralph Lee and Christian Voss"."""
    at = len(place.before) - 3
    if place.last != "and" or at < 0 or not is_of_class(place.before[at], "given"):
        return False
    return place.raw[at][0].isupper() and place.raw[at + 1][0].isupper()


def _is_fare(place: Place) -> bool:
    """Whether food follows, who sells it, or a feast: "Jewish rye", "the Muslim holiday of"."""
    for word, following in itertools.zip_longest(
        place.behind[:3], place.behind[1:4], fillvalue=""
    ):
        if is_any(word, "fare") or is_any(word, "feasts"):
            return not (is_person(following) or is_any(following, "lodgings"))
        if ends_phrase(word) or is_person(word):
            return False
    return False


def _is_determined(place: Place) -> bool:
    """Whether no name can follow the words in front; one can in "is Christian in?"."""
    first = place.last
    if is_one_of(first, "be"):
        return len(place.before) > 1 and not is_one_of(place.before[-2], "called")
    kinds = ("determiners", "predicate_adverbs", "be_contracted", "begun", "person_modifiers")
    return first in ("as", "%", "percent") or any(is_one_of(first, kind) for kind in kinds)


def _is_joined(before: Words) -> bool:
    """Whether another describing word is joined in front: "Jewish and Christian"."""
    return len(before) > 1 and before[-1] in (*JOINS, ",") and is_adjective(before[-2])


def is_in_name(text: str, start: int, end: int) -> bool:
    """Whether a term behind a capitalised word ends a name: "Wonder Woman", not "Black Women".

    It does not in a title, where all words but the closed ones have their capital.
    """
    place = place_at(text, start, end)
    word = place.last
    adjective = is_adjective(word) and (not word.endswith("y") or is_one_of(word, "adjectives"))
    if _is_no_name(word) or adjective:
        return False
    return any(word[0].islower() and not is_one_of(word, "closed") for word in place.raw)
