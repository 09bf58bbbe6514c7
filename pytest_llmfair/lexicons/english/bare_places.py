"""The article that a house of worship needs: "goes to church", but "goes to the mosque"."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.beside import NEXT, low, word_before
from pytest_llmfair.lexicons.english.english import is_one_of, tells_when
from pytest_llmfair.lexicons.english.persons.words import ends_phrase, is_adverbial


def bare_before(text: str, start: int, end: int, after: str = "") -> tuple[int, int, str] | None:
    """Return the word before a house of worship without article, with the article for `after`.

    "Goes to church" becomes "goes to the mosque", and "after church", which is a service there,
    "after the service at the mosque". None where there is an article, where a noun
    follows ("to church matters") and where what is written in its place needs none.
    """
    word, begin = word_before(text, start)
    kind, first = "before_worship", word
    if word == "of":
        kind, first = "of_worship", word_before(text, begin)[0]
    if not is_one_of(low(first), kind) or is_one_of(after.lower(), "bare_places"):
        return None
    if text[end - 1] == "s" or not _ends(text, end):
        return None
    article = "the service at the" if is_one_of(low(first), "before_service") else "the"
    return begin, begin + len(word), f"{word} {article.upper() if after.isupper() else article}"


def missing_before(text: str, start: int, end: int) -> str:
    """Return what a house of worship lacks in front, with a blank; "" for nothing."""
    bare = bare_before(text, start, end)
    if bare is None:
        return ""
    missing = bare[2].partition(" ")[2] + " "
    return missing.upper() if text[start:end].isupper() else missing


def _ends(text: str, end: int) -> bool:
    """Whether no noun follows: "to church every week", "at church Sunday night"."""
    behind = NEXT.match(text, end)
    if behind is None:
        return not text[end : end + 1] or text[end] not in "-'\u2019"
    following = NEXT.match(text, behind.end())
    words = low(behind[1]), low(following[1]) if following else ""
    if ends_phrase(words[0]) or words[0].endswith("ly") or behind[1][0].isupper():
        return True
    return is_adverbial(words) or tells_when(*words)
