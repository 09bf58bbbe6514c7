"""English context rules: whether a word such as "black" or "old" speaks of a person here.

Every rule looks at the words around the term only, never at the spelling of the term itself, so
that the members of a counterfactual pair are read alike. What no rule allows is no mention: the
rules rather miss a person than take a colour for one.
"""

from __future__ import annotations

import re

from pytest_llmfair.counterfactuals._english import is_one_of

_WORD = r"[^\W_]+(?:[-'\u2019][^\W_]+)*"
_GAP = r"[^\S\n]*+(?:\n[^\S\n]*+)?"
_NEXT = re.compile(rf"{_GAP}({_WORD}|\S|\n)?")
_BEFORE = re.compile(rf"{_WORD}|[^\w\s]|\n\s*\n")
_NEAR = 160
_FAR = 5  # words that may lie between the term and its noun or subject


def describes_person(text: str, start: int, end: int) -> bool:
    """Whether the adjective ``text[start:end]`` describes a person.

    It does before a person noun of the same noun phrase ("a Black software engineer"), as the
    predicate of a person ("he is gay", "proud to be Italian"), behind "identify as", and as a
    collective ("the blind are"). It does not as a part of a hyphenated word ("off-white").
    """
    if text[max(0, start - 1) : start] == "-" or text[end : end + 1] == "-":
        return False
    if _person_follows(text, end):
        return True
    behind = _low(_next(text, end)[0])
    before = _before(text, start)
    if before and before[-1].lower() == "the" and is_one_of(behind, "plural_verbs"):
        return True
    return _ends_phrase(behind) and _said_of_person(before, behind)


def names_person(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` is a noun of its own: "as an Italian, I", not "an Italian dish".

    A determiner or a describing word stands before it, and the noun phrase ends behind it.
    """
    before = _before(text, start)
    if not before or text[end : end + 1] == "-":
        return False
    first, behind = before[-1].lower(), _low(_next(text, end)[0])
    opens = is_one_of(first, "determiners") or is_one_of(first, "person_modifiers")
    return opens and (_ends_phrase(behind) or is_one_of(behind, "finite_verbs"))


def _person_follows(text: str, end: int) -> bool:
    joined = False
    for _ in range(_FAR):
        raw, end = _next(text, end)
        word = _low(raw)
        if word in (",", "and", "or") and not joined:
            joined = True
            continue
        if not joined and _is_person(word):
            return True
        if not is_one_of(word, "person_modifiers"):
            return False
        joined = False
    return False


def _said_of_person(before: list[str], behind: str) -> bool:
    if is_one_of(behind, "not_said_of_person"):
        return False
    words = list(before)
    while words and is_one_of(_low(words[-1]), "predicate_adverbs"):
        words.pop()
    if not words:
        return False
    verb = _low(words.pop())
    if is_one_of(verb, "person_subjects"):  # a question: "are you straight?"
        return bool(words) and is_one_of(_low(words[-1]), "be")
    if is_one_of(verb, "be_contracted"):
        return True
    if verb == "as":
        return bool(words) and is_one_of(_low(words[-1]), "identify")
    if not is_one_of(verb, "be"):
        return False
    if verb == "be" and len(words) > 1 and is_one_of(_low(words[-2]), "before_to_be"):
        return _low(words[-1]) == "to"
    while words and is_one_of(_low(words[-1]), "verb_chain"):
        words.pop()
    return bool(words) and _is_subject(words, verb)


def _is_subject(words: list[str], verb: str) -> bool:
    word = _low(words[-1])
    if is_one_of(word, "person_subjects") or _is_person(word):
        return True
    if not words[-1][0].isupper() or is_one_of(word, "closed") or is_one_of(word, "mass_nouns"):
        return False
    # A capital makes a name, unless "the" or a plural verb tells otherwise ("Walls are white").
    article = _low(words[-2]) if len(words) > 1 else ""
    owned = article != "that" and is_one_of(article, "determiners")
    return not owned and verb not in ("are", "were", "aren't", "weren't")


def _is_person(word: str) -> bool:
    word = word.removesuffix("'s").removesuffix("'")
    forms = [word]
    if word.endswith("ies"):
        forms.append(word[:-3] + "y")
    if word.endswith("es"):
        forms.append(word[:-2])
    if word.endswith("s"):
        forms.append(word[:-1])
    return any(is_one_of(form, "person_nouns") for form in forms)


def _ends_phrase(word: str) -> bool:
    return not word or not word[0].isalnum() or is_one_of(word, "closed")


def _low(word: str) -> str:
    return word.lower().replace("\u2019", "'")


def _next(text: str, at: int) -> tuple[str, int]:
    match = _NEXT.match(text, at)
    return (match[1] or "", match.end()) if match else ("", at)


def _before(text: str, start: int) -> list[str]:
    """Return the words of the same sentence in front of `start`, the nearest last."""
    found = _BEFORE.findall(text, max(0, start - _NEAR), start)
    for place in range(len(found) - 1, -1, -1):
        if not found[place][0].isalnum():
            return list(found[place + 1 :])
    return list(found)
