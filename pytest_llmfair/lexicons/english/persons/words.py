"""Whether an English word names a person, may stand before one, or ends the noun phrase."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from pytest_llmfair.lexicons.english.english import is_one_of, tells_when

_AGENTS = (
    "er",
    "or",
    "ist",
    "ician",
    "crat",
    "eur",
    "man",
    "men",
    "woman",
    "women",
    "person",
    "people",
    "mate",
)
# Most words in these are things; "organizer" and the like are in a class.
_OF_THINGS = (
    "izer",
    "iser",
    "ifier",
    "ier",
    "meter",
    "liter",
    "corder",
    "water",
    "paper",
    "flower",
    "power",
    "burger",
    "color",
    "door",
    "floor",
)
_HISSING = ("ses", "xes", "zes", "ches", "shes", "oes")
_ADJECTIVES = ("ful", "ous", "ive", "less", "able", "ible", "ish", "ic", "al", "ing", "ed", "y")
_ABSTRACT = ("ness", "tion", "sion", "ity", "ism", "ment", "ence", "ance", "ship", "ics", "ology")
JOINS = ("and", "or", "nor", "but", "yet", "/", "&", "+", "though")


@functools.lru_cache(maxsize=4096)
def is_person(word: str) -> bool:
    """Whether a lower-case word names a person or people, by list or by its ending."""
    single, *others = _singular_nouns(bare(word))
    if any(is_one_of(form, "person_nouns") or _is_agent(form) for form in (single, *others)):
        return True
    if any(is_one_of(form, "person_adjectives") or is_aged(form) for form in others):
        return True  # "professionals", "70-year-olds"
    return "-" in word and _is_composed(bare(word))


def is_aged(word: str) -> bool:
    """Whether it is an age, which a person can be called by: "a 70-year-old"."""
    return word.endswith(("-year-old", "-month-old", "-something"))


def is_people(word: str) -> bool:
    """Whether a lower-case word is a people, which owned is a language: "her Italian is good"."""
    return is_one_of(word, "demonyms") or is_one_of(word, "peoples_nouns")


def is_person_compound(word: str, following: str) -> bool:
    """Whether two words name a person that the second alone does not: "running back"."""
    forms = singulars(bare(following)) if following else []
    return any(is_one_of(f"{word}-{form}", "person_compounds") for form in forms)


def bare(word: str) -> str:
    """Return the word without a possessive ending."""
    return word.removesuffix("'s").removesuffix("'")


def is_any(word: str, kind: str) -> bool:
    """Whether a word, its singular or its owner ("bishops", "bishop's") belongs to a class."""
    word = bare(word)
    return is_one_of(word, kind) or is_one_of(word.removesuffix("s"), kind)


def names_any(words: Sequence[str], kind: str) -> bool:
    """Whether one of the words, as `is_any` takes them, belongs to a class."""
    return any(is_any(word, kind) for word in words)


@functools.lru_cache(maxsize=4096)
def may_be_person(word: str) -> bool:
    """Whether a word is a person in some places only: "an Asian MBA", "hire a model"."""
    return is_any(word, "persons_here")


def is_modifier(word: str) -> bool:
    """Whether a lower-case word may stand between an adjective and its person noun."""
    if is_one_of(word, "person_modifiers") or is_one_of(word, "demonyms") or word[0].isdigit():
        return True
    if "-" in word or " " in word:
        return True
    formed = len(word) > 4 and word.endswith(_ADJECTIVES)
    return formed and not is_one_of(word, "not_modifiers")


def is_adjective(word: str) -> bool:
    """Whether a lower-case word may be joined to another adjective: "old and frail"."""
    return word[:1].isalpha() and not is_one_of(word, "person_nouns") and is_modifier(word)


def is_abstract(word: str) -> bool:
    """Whether a lower-case word names a material or an idea, which a sentence can begin with."""
    return is_one_of(word, "mass_nouns") or (len(word) > 6 and word.endswith(_ABSTRACT))


def ends_phrase(word: str) -> bool:
    """Whether no noun phrase goes on with this lower-case word."""
    if not word or not word[0].isalnum() or is_one_of(word, "closed"):
        return True
    if "'" not in word:
        return False  # the usual case
    first = word.partition("'")[0]
    return len(first) > 1 and is_one_of(first, "closed")  # "who've"; not "A's"


def is_verb(word: str, following: str, *, bare: bool = False) -> bool:
    """Whether a word behind a noun is its verb: "called", not "dominated area".

    Where no noun can follow, a `bare` form that is a noun too ("call") is taken for a verb.
    """
    if is_one_of(word, "modals") or is_one_of(word, "finite_verbs"):
        return True
    noun = not bare and is_one_of(word, "noun_verbs")
    forms = [form for form in singulars(word) if form != word or not noun]
    if any(is_one_of(form, kind) for form in forms for kind in ("base_verbs", "person_verbs")):
        return True
    if is_one_of(word, "acted") and is_one_of(following, "articles"):  # "hit the ball"
        return True
    if _takes_object(word, following, bare):
        return True
    adverb = word.endswith("ly") and not is_one_of(word, "not_adverbs")
    past = len(word) > 4 and word.endswith("ed") and not word.endswith("eed")
    return adverb or (past and (ends_phrase(following) or not is_one_of(word, "participles")))


def _takes_object(word: str, following: str, bare: bool) -> bool:
    """Whether an object follows a third person: "wants a seat", "needs to rest"."""
    if bare:
        return any(is_one_of(form, "transitive") for form in singulars(word))
    known = "before_to" if following == "to" else "transitive"
    if not any(is_one_of(form, known) for form in singulars(word)[1:]):
        return False
    return following == "to" or (following != "that" and is_one_of(following, "articles"))


def no_noun(words: Sequence[str], *, bare: bool = False) -> bool:
    """Whether no noun phrase goes on with these words: its end or a verb."""
    word = words[0] if words else ""
    following = words[1] if len(words) > 1 else ""
    return ends_phrase(word) or is_verb(word, following, bare=bare)


def is_adverbial(behind: Sequence[str]) -> bool:
    """Whether an adverb follows that could be part of a noun phrase: "a Dane next time"."""
    return bool(behind) and _is_adverb(behind[0], behind[1] if len(behind) > 1 else "")


@functools.lru_cache(maxsize=4096)
def _is_adverb(first: str, second: str) -> bool:
    if first == "next" and second == "door":
        return True
    if first in ("next", "last"):
        return is_one_of(second, "times")
    if tells_when(first, second):
        return True
    return (first == "first" or is_one_of(first, "closed_if_final")) and ends_phrase(second)


def singulars(word: str) -> list[str]:
    """Return a word and what it can be the plural, or the third person, of."""
    forms = [word]
    if word.endswith("ies"):
        forms.append(word[:-3] + "y")
    if word.endswith("es"):
        forms.append(word[:-2])
    if word.endswith("s") and not word.endswith("ss"):
        forms.append(word[:-1])
    return forms


def _singular_nouns(word: str) -> list[str]:
    """Return a word and what it can be the plural of; "spheres" is none of "spher"."""
    whole = not word.endswith("es") or word.endswith(("ies", *_HISSING))
    return singulars(word) if whole else [word, word[:-1]]


def _is_composed(word: str) -> bool:
    """Whether a hyphenated word names a person: "ex-wife", "sister-in-law", "mayor-elect"."""
    first, _, rest = word.partition("-")
    if is_one_of(first, "person_prefixes"):
        return is_person(rest)
    return is_one_of(rest, "behind_person") and is_person(first)


def _is_agent(word: str) -> bool:
    """Whether the ending makes a person: "welder"; not "blender", "oxidizer"."""
    if len(word) < 5 or not word.endswith(_AGENTS) or is_one_of(word, "not_persons"):
        return False
    return not word.endswith(_OF_THINGS) or is_one_of(word.rpartition("-")[2], "makers")
