"""English context rules: whether a word such as "black", "old" or "French" speaks of a person.

The rules look at the words around the term, hardly ever at the term itself, so that the members of
a counterfactual pair are read alike. What no rule allows is no mention: the rules rather miss a
person than take a colour for one. `RULES` holds them by the name of the context.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pytest_llmfair.counterfactuals._language.compounds import (
    compound_at,
    is_no_double_name,
    is_part,
)
from pytest_llmfair.counterfactuals._language.english import is_one_of
from pytest_llmfair.counterfactuals._language.labels import is_value
from pytest_llmfair.counterfactuals._language.person_words import (
    JOINS,
    bare,
    ends_phrase,
    is_adjective,
    is_aged,
    is_modifier,
    is_person,
    is_person_compound,
    is_verb,
)
from pytest_llmfair.counterfactuals._language.places import Place, Words, place_at
from pytest_llmfair.counterfactuals._language.predicates import (
    is_predicate,
    is_subject_word,
    tells_group,
)

_SHARES = ("all", "majority", "mostly", "predominantly")
_COMPOUNDS = ("before_person", "demonym", "no_first_name")
_NO_VALUES = ("person_noun", "people", "collective", "no_team")
_ARTICLES = {"a": ("a", "an"), "an": ("a", "an"), "the": ("the",), "one": ("another",)}
_NO_NAMES = ("closed", "determiners", "quantities", "person_modifiers", "demonyms")
_AROUND = " \n.?!\"'()*"
_FAR = 7  # words that may lie between the term and its noun


def _describes(place: Place) -> bool:
    """Allow "a Black engineer", "he is gay", "the old are"; not a thing, nor "jet-black"."""
    if _is_before_person(place) or _is_said(place) or tells_group(place.before, place.behind):
        return True
    return is_one_of(place.next, "plural_verbs") and _is_collective(place)


def _is_attribute(place: Place) -> bool:
    """Allow "an older worker"; not "my older brother", which compares, nor "he is older"."""
    head, thing = _head(place)
    return bool(head) and not (thing or _is_any(head, "kin"))


def _is_old(place: Place) -> bool:
    """Allow "my old mother"; not "my old friend", where the bond has lasted."""
    head, thing = _head(place)
    return bool(head) and not (thing or _is_any(head, "bonds"))


def _is_said(place: Place) -> bool:
    """Allow "my roommate is straight", "two officers, both white,"; not "the road is straight"."""
    return is_predicate(place.raw, place.before, place.behind, place.earlier)


def _is_national(place: Place) -> bool:
    """Allow what `_describes` allows, but no persons of a language: "Spanish speakers"."""
    if _is_before_person(place) and not _is_any(_head(place)[0], "language_persons"):
        return True
    return _is_said(place) or tells_group(place.before, place.behind)


def _is_collective(place: Place) -> bool:
    """Allow "the blind", "for the elderly", "the French are": no noun follows."""
    words = list(place.before)
    while words and (words[-1].endswith("ly") or words[-1] in ("very", "most", "and", "or")):
        words.pop()
        while len(words) > 1 and words[-1] != "the" and is_adjective(words[-1]):
            words.pop()
    if not words or words[-1] != "the" or "new" in (*place.before[-4:], *place.behind[:4]):
        return False
    rest = _behind_joined(place.behind)
    if _is_near_things(place) or (rest and is_one_of(rest[0], "behind_things")):
        return False
    begins = len(words) < 2 or words[-2] in JOINS or not words[-2][0].isalnum()
    if begins and rest and is_one_of(rest[0], "singular_verbs"):
        return False
    asked = len(words) > 1 and words[-2] in ("are", "were")
    if asked and len(rest) > 1 and (is_adjective(rest[0]) or rest[0].endswith("er")):
        return ends_phrase(rest[1])
    return _no_noun(rest) or is_one_of(rest[0], "plural_verbs")


def _is_noun(place: Place) -> bool:
    """Allow "as an Italian, I", "a Muslim prayed"; not "an Italian dish"."""
    words = list(place.before)
    while words and is_modifier(words[-1]) and not is_one_of(words[-1], "determiners"):
        words.pop()
    if not words or not is_one_of(words[-1], "determiners"):
        return False
    if _head(place)[0] and not _is_next_phrase(place.behind):
        return False
    several = "and" in place.before[-3:]  # "a Pole and a Dane share"
    if _no_noun(place.behind, bare=several) or _is_adverbial(place.behind):
        return True
    return len(words) > 1 and _is_asked_of(words[-2], place.behind)


def _is_next_phrase(behind: Words) -> bool:
    """Whether another noun phrase is joined: "a Swede and an Italian woman"."""
    if len(behind) < 2 or behind[0] not in (*JOINS, ","):
        return False
    return is_one_of(behind[1], "determiners") or behind[1].isdigit()


def _is_adverbial(behind: Words) -> bool:
    """Whether an adverb follows that could be part of a noun phrase: "a Dane next time"."""
    first, second = (*behind[:2], "", "")[:2]
    if first in ("next", "last"):
        return is_one_of(second, "times") or second == "door"
    return (first == "first" or is_one_of(first, "closed_if_final")) and ends_phrase(second)


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


def _are_people(place: Place) -> bool:
    """Allow "most whites", "many seniors"; not "egg whites", "high school seniors"."""
    if _is_near_things(place) or place.next == "of":
        return False
    first = place.last
    if is_one_of(first, "school_words"):
        return False
    opens = ends_phrase(first) or is_modifier(first) or is_verb(first, "")
    return (opens or is_one_of(first, "quantities")) and (
        _no_noun(place.behind)
        or _is_adverbial(place.behind)
        or is_one_of(place.next, "plural_verbs")
        or is_one_of(place.next, "verbs_of_several")
    )


def _are_no_team(place: Place) -> bool:
    """Allow "many Indians"; not "the Cleveland Indians"."""
    if not place.before or not place.raw[len(place.before) - 1][:1].isupper():
        return True
    if place.raw[len(place.before) :] and _is_title(place.raw):
        return True
    return _is_no_name(place.last) or is_adjective(place.last)


def _is_no_name(word: str) -> bool:
    return any(is_one_of(word, kind) for kind in _NO_NAMES)


def _is_no_first_name(place: Place) -> bool:
    """Allow "gay rights", "Gay Pride", "Gay Asian men"; not "Gay Talese", nor "Enola Gay"."""
    if not _are_no_team(place):
        return False
    if not place.word[:1].isupper() or not place.behind or not _is_name_behind(place):
        return True
    known = ("person_adjectives", "mass_nouns", "causes")
    return (
        is_person(place.next)
        or is_modifier(place.next)
        or any(is_one_of(place.next, kind) for kind in known)
    )


def _is_had(place: Place) -> bool:
    """Allow "a student with depression", "has severe anxiety"; not "the Great Depression"."""
    words = list(place.before)
    while words and is_modifier(words[-1]):
        words.pop()
    had = len(words)
    while words and (is_one_of(words[-1], "having") or (len(words) < had and _is_aux(words[-1]))):
        words.pop()
    if not words or len(words) == had or not _no_noun(place.behind):
        return False
    owner, written = words[-1], place.raw[len(words) - 1]
    known = is_one_of(owner, "person_subjects") or is_one_of(owner, "person_objects")
    return known or is_subject_word(owner, written, True)


def _is_aux(word: str) -> bool:
    """Whether it may stand between a person and "living with": "has recently been"."""
    return word.endswith("ly") or is_one_of(word, "be") or is_one_of(word, "verb_chain")


def _is_origin(place: Place) -> bool:
    """Allow "a man from Kenya", "born in Turkey"; not "wine from France"."""
    words, raw = place.before, place.raw[: len(place.before)]
    if not words or (place.raw[len(words) :][:1] and _is_name_behind(place)):
        return False
    while len(words) > 2 and words[-1] in (*JOINS, ",") and raw[-2][:1].isupper():
        words, raw = words[:-2], raw[:-2]  # "from Mexico and Haiti"
    if words[-1] == "in" and len(words) > 1:
        return is_one_of(words[-2], "born_in")
    if words[-1] == "of" and len(words) > 1:
        return is_one_of(words[-2], "belong_to")
    if words[-1] != "from" or len(words) < 2:
        return False
    words, raw = words[:-1], raw[:-1]
    while words and is_one_of(words[-1], "behind_moved"):
        words, raw = words[:-1], raw[:-1]
    verb = words[-1] if words else ""
    if is_person(verb) or is_one_of(verb, "indefinite") or is_one_of(verb, "person_objects"):
        return True
    if is_one_of(verb, "come_from"):
        words, raw = (*words[:-1], "is"), (*raw[:-1], "is")
    return is_predicate(raw, words, (), place.earlier)


def _is_no_given_name(place: Place) -> bool:
    """Allow "a Christian", "Christian values", "he is Christian"; not "Christian said"."""
    if place.word.islower() or place.word.isupper():
        return True
    if place.behind and _is_name_behind(place):
        the = place.last == "the" or is_one_of(place.next, "demonyms")
        return the and _is_no_institution(place)
    joined = place.next in JOINS and len(place.behind) > 1 and is_modifier(place.behind[1])
    if joined or _is_joined(place.before):
        return True
    if not place.raw and place.text.strip(_AROUND) == place.word:
        return True  # a text of one word
    noun = place.next[:1].isalpha() and not place.next.endswith("ing")
    asked = is_one_of(place.last, "asking")  # "Did Christian call?"
    return _is_determined(place) or (noun and not _no_noun(place.behind, bare=asked))


def _is_no_institution(place: Place) -> bool:
    """Allow "Muslim leaders", "Jewish New Yorkers"; not "the Muslim Brotherhood"."""
    if not place.word[:1].isupper() or not place.behind or not _is_name_behind(place):
        return True
    if place.next == "new" and is_person(" ".join(place.behind[1:2])):
        return True
    known = ("demonyms", "person_adjectives", "of_faith")
    return is_person(place.next) or any(_is_any(place.next, kind) for kind in known)


def _is_determined(place: Place) -> bool:
    """Whether no name can follow the words in front; one can in "is Christian in?"."""
    first = place.last
    if is_one_of(first, "be"):
        return len(place.before) > 1 and not is_one_of(place.before[-2], "called")
    kinds = ("determiners", "predicate_adverbs", "be_contracted", "begun", "person_modifiers")
    return first == "as" or any(is_one_of(first, kind) for kind in kinds)


def _is_near_things(place: Place) -> bool:
    return any(is_one_of(word, "no_people_near") for word in (*place.before, *place.behind))


def _is_joined(before: Words) -> bool:
    """Whether another describing word is joined in front: "Jewish and Christian"."""
    return len(before) > 1 and before[-1] in (*JOINS, ",") and is_modifier(before[-2])


def _is_name_behind(place: Place) -> bool:
    behind = place.raw[len(place.before) :]
    return behind[0][:1].isupper() and not _is_title(place.raw)


def _is_title(raw: Words) -> bool:
    """Whether nearly all long words begin with a capital, as in headlines."""
    long = [word for word in raw if len(word) > 3 and word[0].isalpha()]
    return len(long) > 2 and sum(word[0].isupper() for word in long) >= 0.8 * len(long)


def _is_any(word: str, kind: str) -> bool:
    word = bare(word)
    return is_one_of(word, kind) or is_one_of(word.removesuffix("s"), kind)


def _is_before_person(place: Place) -> bool:
    """Whether a person noun follows; of a group ("the Black student union") also in a compound."""
    head, thing = _head(place)
    return bool(head) and (not thing or _is_any(head, "peoples"))


def _head(place: Place) -> tuple[str, bool]:
    """Return the person noun that the term stands before, and whether it is part of a thing.

    "" for none. "An old user account" is a thing.
    """
    if _is_surname(place):
        return "", False
    head, thing = _person_head(place.behind, _is_alone(place.before), place.last)
    if head == "lives" and _is_one(place.before):  # the verb, not "Black lives"
        return "", False
    return head, thing or (is_one_of(head, "chessmen") and _is_chess(place, head))


def _is_one(before: Words) -> bool:
    """Whether the determiner in front is singular: "a devout"."""
    words = list(before)
    while words and is_modifier(words[-1]) and words[-1] != "one":
        words.pop()
    return bool(words) and is_one_of(words[-1], "singular_determiners")


def _is_chess(place: Place, head: str) -> bool:
    """Whether the game is spoken of: "the black bishop takes a pawn"."""
    others = [word for word in (*place.before, *place.behind) if word != head]
    return any(_is_any(word, "chessmen") or is_one_of(word, "chess_words") for word in others)


def _is_surname(place: Place) -> bool:
    """Whether a name stands in front: "Jack Black fans", "Ms. White"."""
    if not place.before or not place.raw[len(place.before) - 1][:1].isupper():
        return False
    return is_one_of(place.last, "given_names") or is_one_of(place.last, "titles")


def _is_alone(before: Words) -> bool:
    """Whether the term is a predicate, so that a clause of its own can be joined to it."""
    words = [word for word in before if not is_one_of(word, "predicate_adverbs")]
    if not words or not (is_one_of(words[-1], "be") or is_one_of(words[-1], "be_contracted")):
        return False
    return len(words) < 2 or not is_one_of(words[-2], "before_plural_be")


def _person_head(words: Words, alone: bool, last: str) -> tuple[str, bool]:
    """Find the first person noun that only modifiers, joined or not, part from the term.

    An article or a number can be said twice: "a white and a Black man", "one white and two Black".
    """
    counted = is_one_of(last, "quantities") or last.isdigit()
    again = _ARTICLES.get(last, ())
    joined = False
    for place, word in enumerate(words[:_FAR]):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word in JOINS or word == ",":
            if alone:
                break
            joined = True
        elif joined and words[place - 1] in JOINS and _is_again(word, again, counted):
            continue
        elif not joined and is_person_compound(word, following):
            return word, False
        elif not joined and is_person(word):
            return word, word == bare(word) and is_one_of(following, "thing_heads")
        elif not joined and is_one_of(word, "origins"):
            return word, False
        elif not is_modifier(word):
            break
        elif (is_one_of(word, "person_adjectives") or is_aged(word)) and _no_noun((following,)):
            return word, False
        else:
            joined = False
    return "", False


def _is_again(word: str, articles: Words, counted: bool) -> bool:
    return word in articles or (counted and (is_one_of(word, "quantities") or word.isdigit()))


def _behind_joined(words: Words) -> Words:
    """Return what follows the adjectives that are joined to the term: "the sick and frail"."""
    rest = words
    while len(rest) > 1 and rest[0] in (*JOINS, ",") and is_adjective(rest[1]):
        rest = rest[2:]
    return rest


def _no_noun(words: Sequence[str], *, bare: bool = False) -> bool:
    word = words[0] if words else ""
    following = words[1] if len(words) > 1 else ""
    return ends_phrase(word) or is_verb(word, following, bare=bare)


RULES: Mapping[str, Callable[[Place], bool]] = {
    "before_person": _describes,
    "demonym": _is_national,
    "predicate": _is_said,
    "compared": _is_attribute,
    "old": _is_old,
    "collective": _is_collective,
    "person_noun": _is_noun,
    "people": _are_people,
    "no_team": _are_no_team,
    "no_first_name": _is_no_first_name,
    "had": _is_had,
    "origin": _is_origin,
    "no_given_name": _is_no_given_name,
    "no_institution": _is_no_institution,
}


def describes_person(text: str, start: int, end: int) -> bool:
    """Whether the adjective ``text[start:end]`` describes a person."""
    return speaks_of_person(text, start, end, "before_person")


def speaks_of_person(text: str, start: int, end: int, context: str) -> bool:
    """Whether ``text[start:end]`` speaks of a person, by the rule of a context."""
    if is_part(text, start, end):
        return _is_compound(text, start, end, context)
    if RULES[context](place_at(text, start, end, end)):
        return True
    return context not in _NO_VALUES and is_value(text, start, end)


def _is_compound(text: str, start: int, end: int, context: str) -> bool:
    """Whether a part of a hyphenated word speaks of persons: "Black-owned"; not "off-white".

    An adjective that only names of institutions take ("ex-Muslim") always does.
    """
    if context == "no_institution":
        return True
    if context == "no_given_name":
        return is_no_double_name(text, start, end)
    whole = compound_at(text, start, end)
    named = context in _COMPOUNDS
    if whole is None or (whole.prefix and not named):
        return False
    if whole.done:
        return named
    place = place_at(text, whole.begin, end, whole.end)
    if whole.prefix == "anti":
        return _is_any(place.next, "hostility")
    if whole.prefix in _SHARES and _is_any(place.next, "made_of_persons"):
        return True
    return RULES[context](place)


def is_in_name(text: str, start: int, end: int) -> bool:
    """Whether a term behind a capitalised word ends a name: "Wonder Woman", not "Black Women".

    It does not in a title, where all words but the closed ones have their capital.
    """
    place = place_at(text, start, end, end)
    word = place.last
    adjective = is_adjective(word) and (not word.endswith("y") or is_one_of(word, "adjectives"))
    if _is_no_name(word) or adjective:
        return False
    return any(word[0].islower() and not is_one_of(word, "closed") for word in place.raw)
