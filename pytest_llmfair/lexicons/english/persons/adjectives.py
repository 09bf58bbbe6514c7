"""Rules for adjectives: "a Black engineer", "my old mother", "he is gay", "Italian cooks"."""

from __future__ import annotations

import itertools
import re

from pytest_llmfair.lexicons.english.english import is_one_of, is_owner, words_of
from pytest_llmfair.lexicons.english.old_names import is_of_class
from pytest_llmfair.lexicons.english.persons.heads import (
    head_of,
    is_before_person,
    is_of_tale,
)
from pytest_llmfair.lexicons.english.persons.lists import is_name
from pytest_llmfair.lexicons.english.persons.nouns import (
    is_collective,
    is_one_of_all,
    is_opposed,
)
from pytest_llmfair.lexicons.english.persons.predicates import (
    is_beside_colour,
    is_predicate,
    tells_group,
)
from pytest_llmfair.lexicons.english.persons.surroundings import (
    Place,
    Words,
    is_name_behind,
    is_title,
)
from pytest_llmfair.lexicons.english.persons.words import (
    ends_phrase,
    is_any,
    is_modifier,
    is_person,
    names_any,
    no_noun,
)

# "His 4yrs old son"
_MEASURED = re.compile(r"\d*(?:yrs?|mos?|wks?|years?|months?|weeks?|days?)")
# Behind "got depressed" it is told since when, or of what.
_VERBS = ("paralyzed", "paralysed")
_BEFORE_DONE = ("determiners", "quantities", "prepositions", "conjunctions", "predicate_adverbs")
_BECAME = ("after", "since", "about", "because", "when", "following", "and", "but")


def describes(place: Place) -> bool:
    """Allow "a Black engineer", "he is gay", "the old are"; not a thing, nor "jet-black"."""
    if place.term.doubtful and _is_otherwise(place):
        return False
    if place.term.doubtful == "depressed" and place.next == "about":
        return is_predicate(place.raw, place.before, (), place.earlier)
    if place.last == "and" and is_beside_colour(place.before, ()):
        return False  # "the Blue and White football team"
    if place.term.opposed == "opposed_races" and _is_of_colours(place):
        return False
    if is_before_person(place) or is_said(place) or tells_group(place.before, place.behind):
        return True
    if place.raw[len(place.before) :] and _is_before_name(place):
        return True
    if place.term.seldom and _is_made_so(place):
        return True
    if is_one_of(place.last, "shares") and is_one_of(place.next, "made_of_persons"):
        return no_noun(place.behind[1:])  # "a mostly white town"; not "town hall"
    if "alike" in place.behind[:3] and is_opposed(place):
        return True
    if not is_one_of(place.next, "plural_verbs") or _is_one_who(place.behind):
        return False
    return is_collective(place)


def _is_of_colours(place: Place) -> bool:
    """Whether another of its kind has a colour: "the red team beat the white team"."""
    words = (*place.before, "", *place.behind)
    if words_of("other_colours").isdisjoint(words):
        return False  # the usual case at less cost
    head = head_of(place)[0]
    beside = itertools.pairwise(words)
    return bool(head) and any(is_one_of(w, "other_colours") and two == head for w, two in beside)


def _is_one_who(behind: Words) -> bool:
    """Whether one is told of, or may be: "the diabetic who lives here"; not "who live here"."""
    verb = behind[1] if len(behind) > 1 and behind[0] == "who" else ""
    return verb.endswith(("s", "ed"))


def _is_otherwise(place: Place) -> bool:
    """Whether the peoples of another land, what is painted or done, or a mood is meant."""
    if place.term.doubtful == "indigenous":
        earlier = (word.lower() for word in place.earlier())
        return names_any((*place.before, *place.behind, *earlier), "lands_abroad")
    front = " ".join(place.before[-2:-1])
    if place.term.doubtful in _VERBS:  # "the strike paralyzed commuters"
        return bool(place.last) and not any(is_one_of(place.last, kind) for kind in _BEFORE_DONE)
    if place.term.doubtful == "depressed":  # "get depressed for long", "get so depressed"
        lasting = not place.next[:1].isalnum() or place.next in _BECAME
        became = is_one_of(place.last, "turning")
        return (became and not lasting) or is_one_of(front, "turning")
    painted = place.last == "being" and is_one_of(front, "be")  # "are being colored"
    asked = place.last == "be" and (is_one_of(front, "asking") or front == "must")
    return painted or asked or place.last == "now"


def is_attribute(place: Place) -> bool:
    """Allow "an older worker"; not "my older brother", which compares, nor "he is older"."""
    head, thing = head_of(place)
    if _is_last_name(place):
        return False
    return bool(head) and not (thing or is_any(head, "kin"))


def is_old(place: Place) -> bool:
    """Allow "my old mother"; not "my old friend", where the bond has lasted."""
    head, thing = head_of(place)
    if not head:
        return _is_before_name(place)
    if _is_last_name(place) or _MEASURED.fullmatch(place.last):
        return False
    if is_any(head, "small_children") and not is_owner(place.last):
        return False  # nobody is a middle-aged child
    return not (thing or is_any(head, "bonds"))


def _is_last_name(place: Place) -> bool:
    """Whether a capital behind another makes it a name: "the Cy Young winner"."""
    if not place.term.capital or not place.before:
        return False
    named = place.raw[len(place.before) - 1][:1].isupper() and not is_one_of(place.last, "closed")
    opens = len(place.before) == 1 and not is_of_class(place.last, "given")
    return named and not opens and not is_title(place.raw)


def _is_before_name(place: Place) -> bool:
    """Whether a name follows, and no noun: "by young Ann Lee", "old Mrs. Lee"; not "old Ann"."""
    written = place.raw[len(place.before) : len(place.before) + 2]
    if len(written) < 2 or not written[0][:1].isupper():
        return False  # the usual case
    abbreviated = is_one_of(place.next, "abbreviations") and place.next != "st"
    if (abbreviated or is_one_of(place.next, "titles")) and written[1][:1].isupper():
        return not is_title(place.raw)
    if place.term.capital:
        return False
    initial = len(written[1]) == 1 and written[1].isupper()  # "Eric L. Ramsey"
    if not (
        is_one_of(place.next, "given_names") and (initial or is_name(place.behind[1], written[1]))
    ):
        return False
    no_title = not is_title(place.raw) and not is_one_of(place.behind[1], "places")
    return no_title and ends_phrase(place.last) and no_noun(place.behind[2 + initial :])


def is_superlative(place: Place) -> bool:
    """Allow "our oldest clerk", "the oldest was 61" behind it; not "my oldest son", "friend"."""
    return is_one_of_all(place) or (is_attribute(place) and is_old(place))


def is_said(place: Place) -> bool:
    """Allow "my roommate is straight", "two officers, both white,"; not "the road is straight"."""
    if is_predicate(place.raw, place.before, place.behind, place.earlier):
        return True
    return place.term.seldom and _is_said_of_tale(place)


def _is_said_of_tale(place: Place) -> bool:
    """Whether it is said of a person in a tale: "the old king was blind"."""
    words = list(place.before)
    while words and is_one_of(words[-1], "predicate_adverbs"):
        words.pop()
    told = len(words) > 1 and is_one_of(words[-1], "be") and is_of_tale(words[-2])
    return told and ends_phrase(place.next) and not is_one_of(place.next, "not_said_of_person")


def _is_made_so(place: Place) -> bool:
    """Whether somebody is made so: "it can make a woman blind", "left him deaf"."""
    words = list(place.before)
    owner = words.pop() if words else ""
    if not (is_person(owner) or is_one_of(owner, "person_objects")):
        return False
    if not ends_phrase(place.next) or is_one_of(place.next, "not_said_of_person"):
        return False
    while words and (is_modifier(words[-1]) or is_one_of(words[-1], "determiners")):
        words.pop()
    return bool(words) and is_one_of(words[-1], "makes_so")


def is_age(place: Place) -> bool:
    """Allow what `is_said` allows, and "too young to vote", "people too old to drive"."""
    if place.last == "too" and _is_program(place):
        return False
    if is_said(place) or _is_made_so(place):
        return True
    if place.last != "too" or place.next != "to" or len(place.before) < 2:
        return False
    before = place.before[:-1]
    return is_person(before[-1]) or is_predicate(place.raw, before, (), place.earlier)


def _is_program(place: Place) -> bool:
    """Whether the subject is written in capitals alone: "JDK is too old"."""
    at = len(place.before) - 3
    if at < 0 or not is_one_of(place.before[at + 1], "be"):
        return False
    return place.raw[at].isupper() and place.before[at] != "i" and any(map(str.islower, place.raw))


def is_national(place: Place) -> bool:
    """Allow what `describes` allows, but no persons of a language: "Spanish speakers"."""
    if is_any(place.next.partition("-")[0], "written_signs") or _is_royal(place):
        return False
    if is_before_person(place, national=True) and not (
        place.term.language and is_any(head_of(place)[0], "language_persons")
    ):
        return True
    return is_said(place) or tells_group(place.before, place.behind)


def _is_royal(place: Place) -> bool:
    """Whether a body is named: "the Royal Canadian Mounted Police"."""
    if place.last != "royal" or not place.raw[len(place.before) - 1][0].isupper():
        return False
    return bool(place.behind) and is_name_behind(place)
