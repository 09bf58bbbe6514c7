"""Whether a name is a common word where it stands: "a Christian", "Nile River"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.beside import low, opens_sentence, word_before
from pytest_llmfair.lexicons.english.english import (
    is_adverb,
    is_one_of,
    is_predicative,
)
from pytest_llmfair.lexicons.english.names.initials import is_no_name
from pytest_llmfair.lexicons.english.names.words import (
    is_bare,
    is_of_class,
    kinds_of,
    word_behind,
)
from pytest_llmfair.lexicons.english.persons.words import is_adjective, is_person, is_verb

_PARTS = frozenset(("words", "places", "firms", "adjectives"))
_BREAKS = re.compile("[^\\w \u2019'-]")
# "Baron Wolfgang von Kempelen"; "King James" alone is told elsewhere.
_TITLED = re.compile(
    r"[^\S\n]+[A-Z][\w-]+[^\S\n]+(?:(?:of|the|v[ao]n|de|di|[A-Z]\.)[^\S\n]+){0,2}[A-Z][a-z]"
)
_NUMBERED = re.compile(r"[^\S\n]+[A-Z][\w-]+[^\S\n]+(?:[VX]|[IVX]*I[IVX]*)(?!\w)")
_AND = re.compile(r",?[^\S\n]+(?:and|or|nor)[^\S\n]+([A-Z][\w-]+)")
_TOO = re.compile(r"['\u2019]s(?=[^\S\n]*(?:[.,;!?]|\Z|\n))")
_STATES = ("is", "was", "are", "were", "isn't", "wasn't", "aren't", "weren't")
_FEWEST, _MOST = 1, 6


def is_common(text: str, start: int, end: int) -> bool:
    """Whether a name that is a people's word or a landform's too is that word here."""
    kinds = kinds_of(text[start:end].lower())
    if "adjectives" in kinds and _describes(text, start, end):
        return True
    if "title_names" in kinds and _TITLED.match(text, end):
        behind = word_behind(text, end).lower()
        return behind == "general" or is_of_class(behind, "given")
    if "title_names" in kinds and _is_office(text, start, end):
        return True
    if "ruler_titles" in kinds and word_behind(text, end)[:1].isupper():
        ruler = word_behind(text, end).lower()
        return is_of_class(ruler, "given") or _NUMBERED.match(text, end) is not None
    if "styles" in kinds and text[start].isupper():
        return low(word_before(text, start)[0]) in ("his", "her", "your", "their")
    return "landforms" in kinds and _is_landform(text, start, end)


def _is_office(text: str, start: int, end: int) -> bool:
    """Whether somebody serves as it: "reigned as King"; not "known as King"."""
    before, at = word_before(text, start)
    if before != "as" or word_behind(text, end)[:1].isupper():
        return False
    return is_of_class(low(word_before(text, at)[0]), "serving_as")


def _describes(text: str, start: int, end: int) -> bool:
    """Whether it is said of somebody or something: "a devout Christian", "Norman kings"."""
    if not text[start].isupper() or text[start:end].isupper():
        return False
    before, at = word_before(text, start)
    front, following = low(before), word_behind(text, end)
    if is_one_of(front, "titles") or is_one_of(front, "abbreviations"):
        return False
    if front == "the":
        return not is_of_class(following.lower(), "families")
    if following[:1].isupper():
        return False
    other = _AND.match(text, end)
    if other is not None and is_one_of(low(other[1]), "demonyms"):
        return True
    if front in ("a", "an"):
        return True
    earlier = low(word_before(text, at)[0]) if before else ""
    # "helped Christian move" speaks of him.
    modified = before.islower() and not front.endswith(("ed", "ing"))
    modified = (modified or is_one_of(front, "demonyms")) and _is_adjective(front)
    if modified and earlier in ("a", "an"):
        return True
    if front in _STATES and earlier in ("he", "she", "they", "who", "we"):
        return text[end : end + 1] != ","  # "he is Christian, the new boy"
    if front in ("you", "he", "she", "they") and earlier in _STATES:
        return text[end : end + 1] in ("?", ".", "!")  # "Are you Christian?"
    noun = following.removesuffix("'s")
    if noun.endswith("s") and is_of_class(noun, "things_of_peoples") and not is_verb(noun, ""):
        return True  # "Did Christian kingdoms fall?"
    if not noun.islower() or is_one_of(noun, "closed") or not text[end : end + 1].isspace():
        return False
    person = is_person(noun)
    if is_one_of(front, "determiners") or modified or front.endswith("'s"):
        return person or is_bare(noun) or noun.endswith("s")
    if is_one_of(front, "prepositions") or front in ("and", "or", "as"):
        known = person or is_of_class(noun, "things_of_peoples")
        return known or (front in ("in", "of") and is_bare(noun))
    if not before.islower() or is_one_of(front, "closed") or is_adverb(front):
        return False  # "usually Christian cooks"
    told = is_one_of(front, "give") or is_one_of(front, "say_to")
    if person or told:
        return person and noun.endswith(("s", "men"))
    return is_of_class(noun, "things_of_peoples")


def _is_adjective(word: str) -> bool:
    return is_adjective(word) or is_predicative(word)


def _is_landform(text: str, start: int, end: int) -> bool:
    """Whether a capital in front makes it a river or a church: "the Nile River"."""
    before, at = word_before(text, start)
    if before in ("the", "The"):  # "the Lake"
        following = word_behind(text, end)
        named = following[:1].isupper() or is_of_class(following, "families")
        return text[start].isupper() and not named
    if not before[:1].isupper() or text[at + len(before)] == ".":
        return False
    front = low(before)
    if opens_sentence(text, at) or is_no_name(front) or is_one_of(front, "closed"):
        return False
    return not (is_of_class(front, "given") or is_of_class(front, "no_first_names"))


def is_its_own_object(text: str, before: tuple[int, int], start: int, end: int) -> bool:
    """Whether what a person does is done to a thing of the same name: "Ford drives a Ford".

    `before` is the mention in front; somebody who did it to herself would be named by a pronoun.
    """
    kinds = kinds_of(text[start:end].lower())
    if _PARTS.isdisjoint(kinds):
        return False
    between = text[before[1] : start]
    if len(between) > 60 or between[:1] != " " or _BREAKS.search(between):
        return False
    words = low(between).split()
    if not _FEWEST <= len(words) <= _MOST or not between.strip()[0].islower():
        return False
    joins = any(is_of_class(word, "between_namesakes") for word in words)
    if joins or is_of_class(words[0], "not_done") or is_of_class(words[-1], "reports"):
        return False
    plural = words[0].endswith("s") and not is_one_of(words[0], "closed")
    if plural and len(words) > 1 and is_verb(words[1], "", bare=True):
        return False  # "Ruby slippers suit Ruby"
    if text[end : end + 1] in ("'", "\u2019"):
        sold = "firms" in kinds or words[-1] in ("at", "from", "to")
        return sold and _TOO.match(text, end) is not None
    following = low(word_behind(text, end))
    if not following:
        return True
    if is_one_of(following, "modals") or is_of_class(following, "not_objects"):
        return False
    if is_one_of(following, "closed"):
        return True
    several = following.endswith("s") and not is_verb(following[:-1], "", bare=True)
    # "Ford loves Ford cars"
    return is_bare(following[:-1] if several else following) and not is_adverb(following)
