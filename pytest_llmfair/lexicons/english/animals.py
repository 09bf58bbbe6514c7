"""Whether "male" or "female" is said of a plug, an animal or a plant, and of no person."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.english import is_one_of, words_of
from pytest_llmfair.lexicons.english.phrase import FAR, NEXT, low, word_after, word_before
from pytest_llmfair.lexicons.english.words import bare, ends_phrase, is_person, is_verb

_OBJECTS = ("the", "a", "an", "its", "their", "his", "her", "my", "our", "your", "it", "them")
_MARKS = str.maketrans(".,;:-/?()!", " " * 10)
# "The cat is", "whether your puppy is a": an animal that is told male or female.
_ANIMAL_IS = re.compile(
    r"\b(?:the|my|your|our|his|her|their|its|this|that|these|those|one|each|every|both)\s+"
    r"(?:\w+\s+){0,2}?(?P<named>[\w-]+)"
    r"(?:\s+(?:is|are|was|were|isn't|wasn't|must\sbe|may\sbe|might\sbe))?"
    r"(?:\s+(?:not|probably|also|definitely|either|an?|male|female|or|and))*\s*\Z",
    re.IGNORECASE,
)
# Words that an exchange changes too, where it leaves the animal: "the female and her cubs".
_EXCHANGED_AFTER = re.compile(
    r"\b(?:s?he|him|hers?|his|himself|herself|(?:fe)?males"
    r"|(?:the|an?|one|each)\s(?:fe)?male(?!\s[a-z]+(?<!s)\b))\b",
    re.IGNORECASE,
)
_EXCHANGED_BEFORE = re.compile(
    r"\b(?:s?he(?:['\u2019]s|\s(?:is|was))|(?:fe)?males)\b[^.!?;]*\Z", re.IGNORECASE
)


def is_of_thing_or_animal(text: str, start: int, end: int) -> bool:
    """Whether it is said of a plug or an animal: "a female plug", "a male lion".

    An animal counts as a person where a word near it would change alone: "the female and her".
    """
    after = NEXT.match(text, end)
    head = low(after[1]) if after else ""
    at = end
    if after and head in ("and", "or", "to"):
        following = NEXT.match(text, after.end())
        if following and is_one_of(low(following[1]), "sexes"):  # "male to female adapter"
            at = following.end()
            head = low(word_after(text, at))
        elif head != "to":
            head = ""
        elif low(word_before(text, start)[0]) in ("a", "the"):  # "the female to my left"
            return False
    if is_one_of(head, "binary_things") and text[start] in "nN":
        return True
    if {head, head.removesuffix("s"), head.partition("-")[0]} & words_of("connectors"):
        return True  # "a male USB-C"
    if not head or is_one_of(head, "cables"):
        near = text[max(0, start - FAR) : end + FAR].translate(_MARKS)
        if not words_of("plugs").isdisjoint(near.split()):
            return True
    if not (
        _names_animal(text, start, at) or (ends_phrase(head) and _is_animal_said(text, start))
    ):
        return False
    near_begin = max(0, start - FAR)
    return not (
        _EXCHANGED_AFTER.search(text, end, end + FAR)
        or _EXCHANGED_BEFORE.search(text, near_begin, start)
    )


def _is_animal_said(text: str, start: int) -> bool:
    animal = _ANIMAL_IS.search(text, max(0, start - FAR), start)
    return animal is not None and _is_animal(low(animal["named"]), "")


def _names_animal(text: str, start: int, at: int) -> bool:
    """Whether an animal is the head of the phrase: "elephants"; not "dog trainer"."""
    words, closed_by = _phrase(text, at)
    for index, word in enumerate(words[:4]):
        if _is_animal(word, words[index - 1] if index else ""):
            after = words[index + 1 :]
            plural = word.endswith("s") and _is_animal(word[:-1], "")
            if len(after) == 1 and closed_by in _OBJECTS and (plural or after[0].endswith("s")):
                return True  # "male dogs guard it", "a female octopus guards its eggs"
            if after and after[0].endswith("s") and not plural:  # "a female octopus guards eggs"
                after = after[1:]
            return not any(is_person(other) for other in after)
        named = is_one_of(word, "animal_names")
        if not named and (is_person(word) or is_verb(word, "") or is_one_of(word, "acted")):
            return False
    return False


def _phrase(text: str, at: int) -> tuple[list[str], str]:
    """Return the words to the end of the noun phrase, six at most, and the word after them."""
    words: list[str] = []
    while len(words) < 6 and (after := NEXT.match(text, at)) is not None:
        word = low(after[1])
        if ends_phrase(word):
            return words, word
        words.append(word)
        at = after.end()
    return words, ""


def _is_animal(word: str, before: str) -> bool:
    single = bare(word)
    forms = [single, single.removesuffix("s"), single.removesuffix("es")]
    if single.endswith("ies"):
        forms.append(single[:-3] + "y")
    return any(
        is_one_of(form, "animals") or is_one_of(f"{before}-{form}", "animals") for form in forms
    )
