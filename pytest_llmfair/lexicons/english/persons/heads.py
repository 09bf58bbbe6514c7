"""The person noun that a word such as "black" stands before: "a Black and a white engineer"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.english import is_one_of, is_participle
from pytest_llmfair.lexicons.english.old_names import is_of_class
from pytest_llmfair.lexicons.english.persons.endings import ends_with_adjective
from pytest_llmfair.lexicons.english.persons.fields import is_field
from pytest_llmfair.lexicons.english.persons.standing import stands_for
from pytest_llmfair.lexicons.english.persons.surroundings import Place, Words, names_place
from pytest_llmfair.lexicons.english.persons.words import (
    JOINS,
    bare,
    ends_phrase,
    is_aged,
    is_any,
    is_modifier,
    is_people,
    is_person,
    is_person_compound,
    may_be_person,
    names_any,
    no_noun,
)

_ITEM_ENDS = re.compile(r" \* |[^\S\n]*\n\s*[-*\u2022]\s")
_ARTICLES = {"a": ("a", "an"), "an": ("a", "an"), "the": ("the",), "one": ("another",)}
_COLOURS = ("black", "white", "brown")
_FAR = 7  # words that may lie between the term and its noun


def is_before_person(place: Place, *, national: bool = False) -> bool:
    """Whether a person noun follows; of a group ("the Black student union") also in a compound.

    What is `national` belongs to an instrument or a dish in front of the person.
    """
    head, thing = head_of(place, national=national)
    return bool(head) and (not thing or is_any(head, "peoples"))


def head_of(place: Place, *, national: bool = False) -> tuple[str, bool]:
    """Return the person noun that the term stands before, and whether it is part of a thing.

    "" for none. "An old user account" is a thing.
    """
    if _is_surname(place) or names_place(place) or _is_movement(place):
        return "", False
    if _ITEM_ENDS.match(place.rear):
        return "", False
    head, thing = _person_head(place, national)
    if is_any(head, "signs") and _is_sign(place):
        return "", False
    if head == "lives" and (_is_one(place.before) or _is_housed(place)):
        return "", False  # the verb, not "Black lives"
    played = not national and is_one_of(head, "chessmen") and _is_chess(place, head)
    return head, thing or played


def _is_housed(place: Place) -> bool:
    """Whether it is told where somebody lives: "who likes white lives next to Ann"."""
    following = " ".join(place.behind[1:2])
    told = following.endswith("ly") or is_one_of(following, "prepositions") or following == "next"
    return not {"who", "whoever"}.isdisjoint(place.before[-3:]) and told


def is_home(word: str) -> bool:
    """Whether it is a land, a region or a town, whose people follow: "a young Texas nurse"."""
    return any(is_of_class(word, kind) for kind in ("lands", "regions", "places"))


def _is_one(before: Words) -> bool:
    """Whether the determiner in front is singular: "a devout"."""
    words = list(before)
    while words and is_modifier(words[-1]) and words[-1] != "one":
        words.pop()
    return bool(words) and is_one_of(words[-1], "singular_determiners")


def _is_chess(place: Place, head: str) -> bool:
    """Whether the game is spoken of: "the black bishop takes a pawn"."""
    others = [word for word in (*place.before, *place.behind) if word != head]
    return any(is_any(word, "chessmen") or is_one_of(word, "chess_words") for word in others)


def _is_sign(place: Place) -> bool:
    """Whether a text or a screen is spoken of: "a white character ends the line"."""
    return names_any((*place.before, *place.behind), "sign_words")


def _is_movement(place: Place) -> bool:
    """Whether "Black Lives Matter" is named; not in "Black lives matter", which says so."""
    at = len(place.before)
    return place.raw[at : at + 2] == ("Lives", "Matter")


def _is_surname(place: Place) -> bool:
    """Whether a name stands in front: "Jack Black fans", "Ms. White"."""
    if not place.before or not place.raw[len(place.before) - 1][:1].isupper():
        return False
    kinds = ("given_names", "titles", "abbreviations")
    return any(is_one_of(place.last, kind) for kind in kinds)


def _is_alone(before: Words) -> bool:
    """Whether the term is a predicate, so that a clause of its own can be joined to it."""
    words = (word for word in reversed(before) if not is_one_of(word, "predicate_adverbs"))
    verb = next(words, "")
    if not (is_one_of(verb, "be") or is_one_of(verb, "be_contracted")):
        return False
    return not is_one_of(next(words, ""), "before_plural_be")


def _person_head(place: Place, national: bool) -> tuple[str, bool]:
    """Find the first person noun that only modifiers, joined or not, part from the term.

    An article or a number can be said twice: "a white and a Black man", "one white and two Black".
    """
    words, alone, last = place.behind, _is_alone(place.before), place.last
    joined = False
    held = ""
    for at, word in enumerate(words[:_FAR]):
        following = words[at + 1] if at + 1 < len(words) else ""
        if word in JOINS or word == ",":
            if alone:
                break
            joined = True
        elif joined and words[at - 1] in JOINS and _is_again(word, last):
            continue
        elif not joined and is_person_compound(word, following):
            return word, False
        elif not joined and is_person(word) and not _is_describing(place, at):
            if not at and _is_deed_of_one(place, word, following):
                break
            return word, word == bare(word) and _is_thing(words[at + 1 : at + 3])
        elif not joined and _is_other_head(place, at):
            return word, False
        elif word in ("one", "ones") and not joined and _is_pronoun(word, following):
            return stands_for(place, word), False
        elif word in ("f", "m") and _is_patient(place, at):
            return word, False
        elif (
            (following in JOINS or following == ",")
            and _is_thing_beside(word, words[at + 2 : at + 3])
        ) or (is_participle(word) and _is_deed(words[at + 1 : at + 3])):
            break
        elif not joined and place.raw[len(place.before) + at][0].isupper() and is_home(word):
            continue
        elif place.term.seldom and not joined and is_of_tale(word) and no_noun(words[at + 1 :]):
            return word, False
        elif not is_modifier(word):
            if ends_phrase(word):  # "a Caucasian female presenting with chest pain"
                return held, False
            if joined:
                break
            if may_be_person(word) and _is_person_here(place, at, national):
                return word, False
            if alone or not (_is_initialism(place, at) or is_field(place, at, national)):
                break
        elif (
            (is_one_of(word, "person_adjectives") or is_aged(word))
            and not (joined and national and is_people(word))  # "French, Italian and Greek food"
            and ends_with_adjective(words[at + 1 : at + 4], _is_one(place.before))
        ):
            return word, False
        else:
            joined = False
            if is_one_of(word, "person_adjectives") and following.endswith("ing"):
                held = word
    return "", False


def _is_thing(behind: Words) -> bool:
    """Whether a noun behind a person noun makes a thing of it: "old user accounts"."""
    first, second = (*behind[:2], "", "")[:2]
    if is_one_of(first, "thing_heads"):  # but "the runner guides the boy"
        return not (first.endswith("s") and is_one_of(second, "determiners"))
    # but "a Black customer service agent"
    return is_one_of(first, "serving_bodies") and not is_person(second)


def _is_thing_beside(word: str, behind: Words) -> bool:
    """Whether another of a people is joined to a thing: "Italian opera and Italian men"."""
    if not behind or not any(
        is_one_of(word, kind) for kind in ("fields", "mass_nouns", "of_callings")
    ):
        return False
    return is_people(behind[0]) or is_one_of(behind[0], "contrasted")


def _is_other_head(place: Place, at: int) -> bool:
    """Whether it is where persons come from, or one of a people: "a Black Briton"."""
    word = place.behind[at]
    if is_one_of(word, "origins") or _is_background(place, word):
        return True
    if place.term.capital or not is_any(word, "peoples_only_nouns"):
        return False  # "Young Turks"
    return place.raw[len(place.before) + at][0].isupper()  # not "a black pole"


def _is_background(place: Place, word: str) -> bool:
    """Whether persons come from it: "people of Chinese origin"; not "on a white background"."""
    if not is_one_of(word, "backgrounds"):
        return False
    words = list(place.before)
    while words and (words[-1] in ("a", "an") or is_modifier(words[-1])):
        words.pop()
    if len(words) < 2 or words[-1] not in ("of", "from"):
        return False
    front = words[-2]
    return any(is_one_of(front, kind) for kind in ("person_subjects", "be")) or is_person(front)


def _is_describing(place: Place, at: int) -> bool:
    """Whether a person is an adjective here: "Chinese academic customs"; not "official says"."""
    rest = place.behind[at + 1 :]
    if not rest or not is_one_of(place.behind[at], "describing_persons"):
        return False
    second = " ".join(rest[1:2])
    several = rest[0].endswith("s")
    if place.behind[at] == "folk" and (several or is_one_of(place.last, "singular_determiners")):
        return True  # "Mexican folk dances", "a Mexican folk song"
    if second != "that" and is_one_of(second, "determiners"):
        return False  # "an executive challenging her assistant"
    return not no_noun(rest, bare=True)


def _is_initialism(place: Place, at: int) -> bool:
    """Whether it tells in capitals whose person follows: "Asian T2DM patients", "NHS nurses"."""
    written = place.raw[len(place.before) + at]
    if sum(map(str.isupper, written)) < 2 or not written.isupper():
        return False
    following = " ".join(place.behind[at + 1 : at + 2])
    told = is_person(following) and not is_any(following, "dealers")
    return told and any(map(str.islower, place.raw))


def _is_deed_of_one(place: Place, word: str, following: str) -> bool:
    """Whether it is a verb, as one person is spoken of: "a diabetic guards the gate"."""
    several = word.endswith("s") and is_person(word[:-1]) and ends_phrase(following)
    return several and place.last in ("a", "an")


def _is_person_here(place: Place, at: int, national: bool) -> bool:
    """Whether it is a person here: one with a degree ("an Asian MBA"), a model, subjects."""
    word, behind = place.behind[at], place.behind[at + 1 :]
    if is_any(word, "studied"):  # "older subjects"; not "older subjects in school"
        taught = names_any((*place.before, *behind), "where_taught")
        return word.endswith("s") and not (national or taught) and no_noun(behind)
    if is_any(word, "models"):
        asked = is_one_of(" ".join(place.before[-2:-1]), "casting") and _is_one(place.before)
        told = any(is_one_of(other, "fashion_words") for other in (*place.before, *behind))
        return (asked or told) and no_noun(behind) and behind[:1] != ("of",)
    if is_any(word, "faces"):  # "an Asian or Latino face"; not "white and grey faces"
        others = place.behind[:at] if at > 1 and place.next in JOINS else place.before[-2:]
        return not {*others}.isdisjoint(JOINS) and any(map(_is_no_colour, others))
    if word == "voices":
        return True
    if word == "majority":
        return no_noun(behind)
    if is_any(word, "royals"):  # of a people; black and white ones are told of in tales and games
        following = place.raw[len(place.before) + at + 1 :]
        owner = word.endswith(("'s", "s'"))  # "the Danish queen's dog"
        told = owner or no_noun(behind) or following[0][0].isupper()
        return national and told and "," not in place.behind[:at]
    if is_any(word, "partisans"):
        return national and behind[:1] != ("of",) and no_noun(behind)
    return sum(map(str.isupper, place.raw[len(place.before) + at])) > 1 and no_noun(behind)


def is_of_tale(word: str) -> bool:
    """Whether it is a person in a tale, and elsewhere a piece or a work: "a deaf king"."""
    return is_any(word, "persons_of_tales")


def _is_no_colour(word: str) -> bool:
    known = is_one_of(word, "demonyms") or is_one_of(word, "person_adjectives")
    return known and word not in _COLOURS


def _is_deed(behind: Words) -> bool:
    """Whether it is told to how many something was done: "hired two nurses", by White, a man."""
    counted, following = (*behind, "", "")[:2]
    if counted.startswith("one"):
        return False
    digits = counted.isdigit() and not following.startswith("year")
    return digits or is_one_of(counted, "numbers") or is_one_of(counted, "quantities")


def _is_pronoun(word: str, following: str) -> bool:
    """Whether it is the pronoun "one" or "ones"; not "the old one hundred"."""
    return word == "ones" or no_noun((following,))


def _is_patient(place: Place, at: int) -> bool:
    """Whether the letter behind an age is a sex: "a 45yo Black F with chest pain"."""
    written, words = place.raw[len(place.before) + at], place.behind[at + 1 :]
    aged = any(word[0].isdigit() for word in place.before[-3:])
    return aged and written.isupper() and ends_with_adjective(words, True)


def _is_again(word: str, last: str) -> bool:
    """Whether the determiner in front, `last`, is said a second time."""
    counted = is_one_of(last, "quantities") or last.isdigit()
    again = word in _ARTICLES.get(last, ())
    return again or (counted and (is_one_of(word, "quantities") or word.isdigit()))
