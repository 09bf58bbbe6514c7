"""Words that are slurs of a person and innocent of a thing: armour has a chink, a river a dyke."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.nouns import is_noun
from pytest_llmfair.lexicons.english.persons.proper_names import is_behind_name
from pytest_llmfair.lexicons.english.persons.surroundings import Place
from pytest_llmfair.lexicons.english.persons.words import no_noun

_FAR = 7
_CALLED = frozenset(("you", "u", "ya", "yer", "fucking", "bloody", "damn", "goddamn"))
_ENDS = ("", ".", "!", "?")


def is_insult(place: Place) -> bool:
    """Allow "that retard", "you fag", "they hate dykes"; not "to retard growth", "fag ends"."""
    near = (*place.before[-_FAR:], *place.behind[:_FAR])
    if any(is_one_of(word, "beside_innocent") for word in near):
        return False
    if place.term.plural:
        if place.last == "the" and any(is_one_of(word, "sports_words") for word in near):
            return False  # "the redskins beat the giants"
        if place.before[-2:] in (("along", "the"), ("atop", "the")):
            return False  # "along the dykes"
        return not (_is_verb(place) or is_behind_name(place)) and no_noun(place.behind, bare=True)
    if is_noun(place):
        return True
    called = not _CALLED.isdisjoint(place.before[-3:]) and not is_one_of(place.next, "determiners")
    return (called and no_noun(place.behind)) or (place.last == "," and place.next in _ENDS)


def _is_verb(place: Place) -> bool:
    """Whether an object follows: "the tax cripples the trade", "cold retards growth"."""
    if not is_one_of(place.next, "determiners") and not is_one_of(place.next, "owners"):
        return False
    return not (place.last == "" or is_one_of(place.last, "determiners"))
