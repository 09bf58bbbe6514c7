"""What is said in passing between a subject and its verb: "Jo, 41, is", "Ann, who left, is"."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.english import is_number, is_one_of, is_participle
from pytest_llmfair.lexicons.english.persons.words import is_adjective, is_aged

_BEHIND_AGE = ("and", "years", "year", "months")
_LONGEST = 12  # words
_OLD = (
    "aged",
    "age",
    "now",
    "then",
    "only",
    "just",
    "nearly",
    "almost",
    "barely",
    "about",
    "over",
)


def without_aside(words: list[str]) -> list[str]:
    """Return the words up to the asides that they end with; all if they end with none.

    What a comma ends is an aside by its first word: an age, a relative pronoun, a preposition, a
    participle. Others ("my boss, a potter,") tell as much as their subject and are kept.
    """
    if not words or words[-1] not in (",", ")"):
        return words
    rest = words[:-1] if words[-1] == "," else words
    while rest:
        opening, end = ("(", len(rest) - 1) if rest[-1] == ")" else (",", len(rest))
        begin = end - 1
        while begin and rest[begin] != opening and end - begin < _LONGEST:
            begin -= 1
        if not begin or rest[begin] != opening:
            break
        if opening == "," and not _is_aside(rest[begin + 1 : end]):
            break
        rest = rest[:begin]
    return rest


def _is_aside(words: list[str]) -> bool:
    """Whether a part between commas tells the age of the subject, or where it is, or does."""
    while len(words) > 1 and (words[0] in _OLD or words[0].endswith("ly")):
        words = words[1:]
    if not words:
        return False
    first = words[0]
    if first in ("who", "whose", "born", "no", "also") or is_one_of(first, "prepositions"):
        return True
    if is_aged(first) or is_number(first.partition("-")[0]):
        year = len(first) > 3 and first.isdigit()
        return not year and (len(words) == 1 or words[1] in _BEHIND_AGE)
    if len(words) < 2 or not is_adjective(first):
        return False
    done = is_participle(first) and is_one_of(words[1], "prepositions")
    return done or first.endswith("ing")
