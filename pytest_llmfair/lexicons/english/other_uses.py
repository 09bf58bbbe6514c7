"""Nouns that name no person here: exclamations ("Man, it hurts"), verbs ("to man the desk")."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.context import (
    NEAR,
    low,
    opens_sentence,
    word_after,
    word_before,
)
from pytest_llmfair.lexicons.english.words import LETTERS, is_one_of, is_person, is_plural

_EXCLAIMED = ("man", "boy", "dude", "girl")
_COMMA = re.compile(r",[^\S\n]+([^\s,.!?;:]+)")
_COMMA_BEFORE = re.compile(rf"(?:({LETTERS})[\"'\u201d\u2019]?)?,[^\S\n]+\Z")
_END = re.compile(r"[,.!?;]|\s*\Z|\s*\n")
_OPENED_QUOTE = re.compile(r"[\s(][\"'\u201c\u2018]\Z")
_LAST_WORD = re.compile(r"[.!?]*[\"'\u201d\u2019]?\s*(?:\Z|\n)")
_WINDOW = 16
# An exclamation follows a mark, an opening quote or a word such as "but", "oh".
_FREE = re.compile(
    r"(?:\A|\n|[^\w\s'\u2019/-]\s*|(?:\A|[\s(])['\u2018]"
    r"|\b(?:but|so|cause|cuz|because|well|oh|yeah)\s+)\Z",
    re.IGNORECASE,
)
_GREETED = re.compile(
    r"(?:\A|[^\w\s'\u2019-]\s*|\n\s*)(?:hey|hi|yo|hello|thanks|thanx|thx|thank\syou|nah|nope|yeah|yep"
    r"|ok|okay|sorry|cheers|congrats|damn|dang|wow|ugh|c['\u2019]mon|come\son)\s+\Z",
    re.IGNORECASE,
)
_SUBJECT = "I|it|he|she|xe|we|you|they|this|that|there"
# "boy, did it drag", "boy does the sound clunk", "Man am I glad", "man what a day".
_INVERTED = re.compile(
    r",?\s(?:(?:am|are|is|was|were|isn't|wasn't|ain't|can|could|will|would|have|has|had|did|didn't"
    rf"|do|does|don't|doesn't)\s(?:{_SUBJECT})|what\san?)\b"
    r"|,\s(?:is|are|was|were|has|have|had|did|do|does)\s(?:the|these|those|my|your|his|her|our)\b"
)
# "Man I love this song"
_CLAUSE = re.compile(
    r"\s(?:I|we|they|you|it|he|she|xe|this|that|there|how|what)\b(?!\s(?:and|or)\b)"
)
_GOES_ON = re.compile(r"\s(?:in|at|on|of|from|with|behind|near|by|who|whose|that)\b")
_OBJECTS = {
    "man": ("up",),
    "husband": ("my", "our", "your", "their", "its", "resources", "strength"),
}


def is_exclamation(text: str, start: int, end: int) -> bool:
    """Whether it is an exclamation: "Man what a day", "but boy, did it drag", "hey man"."""
    word = text[start:end].lower()
    if word not in _EXCLAIMED:
        return False
    near = max(0, start - _WINDOW)
    if word != "boy" and word != "girl" and _GREETED.search(text, near, start):
        return _GOES_ON.match(text, end) is None
    if _is_between_commas(text, start, end):
        return True
    if word == "girl" or _FREE.search(text, near, start) is None:
        return False
    return bool(_INVERTED.match(text, end) or (word != "boy" and _CLAUSE.match(text, end)))


def _is_between_commas(text: str, start: int, end: int) -> bool:
    after = _COMMA.match(text, end)
    following = low(after[1]) if after else ""
    if following[:1].isdigit() or is_one_of(following, "person_nouns"):
        return False
    if opens_sentence(text, start) or _OPENED_QUOTE.search(text, max(0, start - 2), start):
        return after is not None
    before = _COMMA_BEFORE.search(text, max(0, start - NEAR), start)
    if before is None or not _END.match(text, end):
        return False
    if _LAST_WORD.match(text, end) and low(text[start:end]) in ("girl", "boy"):
        return before[1] is None or len(before[1]) < 3  # "Oh, boy!"; not "Come here, boy."
    return before[1] is None or not is_one_of(low(before[1]), "person_nouns")


def is_verb_here(text: str, start: int, end: int) -> bool:
    """Whether it is a verb with an object: "to man the desk", "he grooms the horses"."""
    object_ = low(word_after(text, end))
    if not object_:
        return False
    word = low(word_before(text, start)[0])
    if object_ in _OBJECTS.get(text[start:end].lower(), ()):
        return is_one_of(word, "before_verbs") or opens_sentence(text, start)
    if not is_one_of(object_, "articles"):
        return False
    if not word:
        return opens_sentence(text, start)
    if is_one_of(word, "before_verbs") or (word in ("he", "she") and text[end - 1] == "s"):
        return True
    return is_plural(word) and is_person(word)  # "volunteers man the bar"
