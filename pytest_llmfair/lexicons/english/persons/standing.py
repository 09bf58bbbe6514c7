"""The noun that "one" or "ones" stands for: "Black nurses earn less than white ones"."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.surroundings import Place, Words
from pytest_llmfair.lexicons.english.persons.words import (
    ends_phrase,
    is_modifier,
    is_people,
    is_person,
    is_person_compound,
    is_verb,
)


def stands_for(place: Place, word: str) -> str:
    """Return the person noun that "one" or "ones" behind the term stands for; "" for a thing.

    It is looked for in front of the term, then in the sentences before.
    """
    several = word == "ones"
    for words in (place.before, tuple(w.lower() for w in place.earlier())):
        nouns = _nouns(words, several)
        if nouns:
            return _nearest(nouns)
    return ""


def _nearest(nouns: list[tuple[str, str]]) -> str:
    """Return a noun, the nearest first, if it is a person.

    What is contrasted goes before, then what is described: "older workers learn new software more
    slowly than younger ones". Where nothing is, no thing may be there.
    """
    for kind in (_is_contrasted, is_modifier):
        described = [noun for noun, front in nouns if front and kind(front)]
        if described:
            return described[0] if is_person(described[0]) else ""
    return nouns[0][0] if all(is_person(noun) for noun, _ in nouns) else ""


def _is_contrasted(word: str) -> bool:
    return is_one_of(word, "contrasted") or is_people(word) or "-" in word or " " in word


def _nouns(words: Words, several: bool) -> list[tuple[str, str]]:
    """Return the nouns that look like it with the word in front of each, the last first.

    Of a singular only what follows a determiner or a describing word does.
    """
    found = []
    for at in range(len(words) - 1, -1, -1):
        word, front = words[at], words[at - 1] if at else ""
        if front and is_person_compound(front, word):  # "my Welsh au pair"
            word, front = "people" if several else "person", words[at - 2] if at > 1 else ""
        if not word[0].isalpha() or ends_phrase(word):
            continue
        described = bool(front) and (is_modifier(front) or is_one_of(front, "determiners"))
        if is_several(word):
            person = is_person(word)
            if person or described or not is_verb(word, ""):
                found.append((word, front))
        elif not several and described:
            following = words[at + 1] if at + 1 < len(words) else ""
            if is_person(word) or not (is_modifier(word) and not ends_phrase(following)):
                found.append((word, front))
        elif several and described and is_person(word) and _is_contrasted(front):
            found.append((word, front))  # "a Black patient waits longer than white ones"
    return found


def is_several(word: str) -> bool:
    """Whether a lower-case word looks like a plural noun."""
    if is_one_of(word, "plural_persons"):
        return True
    formed = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "'s", "us"))
    return formed and not is_one_of(word, "closed") and not is_one_of(word, "not_several")
