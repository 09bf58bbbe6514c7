"""Whether male or female is said of people: of no plug, no animal and no plant."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.beside import FAR, NEXT, low, word_before
from pytest_llmfair.lexicons.english.english import is_one_of, words_of
from pytest_llmfair.lexicons.english.persons.words import (
    bare,
    ends_phrase,
    is_person,
    is_verb,
)

_OBJECTS = ("the", "a", "an", "its", "their", "his", "her", "my", "our", "your", "it", "them")
_MARKS = str.maketrans(".,;:-/?()!", " " * 10)
# "The cat is", "whether your puppy is a", "Is the horse": what is told male or female behind it.
_TOLD = re.compile(
    r"(?:\A|[.!?:,;\n(\"]|\b(?:if|whether|that|because|since|and|is|are|was|were|when|so|think|thinks|thought"
    r"|say|says|said|know|knows|knew|believe|hope|guess|sure))"
    r"\s*\b(?:the|my|your|our|his|her|their|its|this|that|these|those|one|each|every|both)\s+"
    r"(?:\w+\s+){0,2}?(?P<named>[\w-]+)"
    r"(?:\s+(?:is|are|was|were|isn't|wasn't|must\sbe|may\sbe|might\sbe))?"
    r"(?:\s+(?:not|probably|also|definitely|either|an?|male|female|or|and))*\s*\Z",
    re.IGNORECASE,
)
# Words that change where the animal's would not: "the female and her cubs".
_SEXES = re.compile(
    r"\b(?:(?:fe)?males|(?:the|an?|one|each|its)\s(?:fe)?male(?=\s*(?:[.,;:!?)]|\Z)"
    r"|\s(?:and|or)\s(?:the|an?)\b"
    r"|\s(?:is|was|does|has|will|can|then|while|with|to|in|on|of|who|that|by)\b"
    r"|\s(?P<act>[a-z]{2,}s)\b))\b",
    re.IGNORECASE,
)
# Words beside an animal that would change alone: "the female octopus and her eggs".
_EXCHANGED_BEHIND = re.compile(r"\b(?:s?he|him|hers?|his|himself|herself)\b", re.IGNORECASE)
_EXCHANGED_BEFORE = re.compile(r"\bs?he(?:['\u2019]s|\s(?:is|was))\b[^.!?;]*\Z", re.IGNORECASE)


def is_said_of_people(text: str, start: int, end: int) -> bool:
    """Whether it is said of no plug and of no animal: "a female plug", "a male lion".

    Of an animal it counts where a word beside it would change alone: "the female and her cubs".
    """
    behind = NEXT.match(text, end)
    head = low(behind[1]) if behind else ""
    at = end
    if behind and head in ("and", "or", "to"):
        following = NEXT.match(text, behind.end())
        if following and low(following[1]) in ("male", "female"):  # "male to female adapter"
            at = following.end()
            behind = NEXT.match(text, at)
            head = low(behind[1]) if behind else ""
        elif head != "to":
            head = ""
        elif low(word_before(text, start)[0]) in ("a", "the"):  # "the female to my left"
            return True
    known = words_of("connectors")
    if {head, head.removesuffix("s"), head.partition("-")[0]} & known:  # "a male USB-C"
        return False
    if (not head or is_one_of(head, "cables")) and _is_of_plugs(text, start, end):
        return False
    if _names_animal(text, start, at) or (ends_phrase(head) and _is_told_of_animal(text, start)):
        near = max(0, start - FAR)
        if _EXCHANGED_BEHIND.search(text, end, end + FAR):
            return True
        if _EXCHANGED_BEFORE.search(text, near, start):
            return True
        return _names_sex(text, end, end + FAR) or _names_sex(text, near, start)
    return True


def _names_sex(text: str, begin: int, stop: int) -> bool:
    """Whether a male or a female is named without the animal: "the male waits"."""
    return any(
        other["act"] is None or _is_act(low(other["act"]))
        for other in _SEXES.finditer(text, begin, stop)
    )


def _is_act(word: str) -> bool:
    """Whether a word in -s behind "the male" is its verb: "waits", not "lions", "nurses"."""
    return not (_is_animal(word, "") or is_person(word))


def _is_of_plugs(text: str, start: int, end: int) -> bool:
    near = text[max(0, start - FAR) : end + FAR].translate(_MARKS)
    return not words_of("plugs").isdisjoint(near.split())


def _is_told_of_animal(text: str, start: int) -> bool:
    told = _TOLD.search(text, max(0, start - FAR), start)
    return told is not None and _is_animal(low(told["named"]), "")


def _names_animal(text: str, start: int, at: int) -> bool:
    """Whether an animal is the head that follows: "African elephants"; not "dog trainer"."""
    words, closed_by = _phrase(text, at)
    for index, word in enumerate(words[:4]):
        if _is_animal(word, words[index - 1] if index else ""):
            behind = words[index + 1 :]
            plural = word.endswith("s") and _is_animal(word[:-1], "")
            if len(behind) == 1 and closed_by in _OBJECTS and (plural or behind[0].endswith("s")):
                return True  # "male dogs guard it", "a female octopus guards its eggs"
            if behind and behind[0].endswith("s"):  # "a female octopus guards eggs"
                single = is_one_of(low(word_before(text, start)[0]), "singular_determiners")
                behind = behind[1:] if single and not plural else behind
            return not any(is_person(other) for other in behind)
        named = is_one_of(word, "animal_names")
        if not named and (is_person(word) or is_verb(word, "") or is_one_of(word, "acted")):
            return False
    return False


def _phrase(text: str, at: int) -> tuple[list[str], str]:
    """Return the next words to the end of the noun phrase, six at most, and the word behind."""
    words: list[str] = []
    while len(words) < 6 and (behind := NEXT.match(text, at)) is not None:
        word = low(behind[1])
        if ends_phrase(word):
            return words, word
        words.append(word)
        at = behind.end()
    return words, ""


def _is_animal(word: str, before: str) -> bool:
    single = bare(word)
    forms = [single, single.removesuffix("s"), single.removesuffix("es")]
    if single.endswith("ies"):
        forms.append(single[:-3] + "y")
    return any(
        is_one_of(form, "animals") or is_one_of(f"{before}-{form}", "animals") for form in forms
    )
