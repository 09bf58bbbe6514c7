"""English word classes and forms that substitution needs."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources
from typing import NamedTuple

WORD = r"[^\W_]++(?:[-'\u2019][^\W_]++)*+"
LETTERS = r"[^\W\d_][\w'\u2019-]*"
TAG = r"</?[A-Za-z][^<>\n]{0,80}>"
# The same, but for those that part lines as a mark does.
_BLOCKS = r"p|div|li|[ou]l|d[dlt]|t[dhr]|table|h[1-6r]|blockquote|section|article"
INLINE_TAG = (
    rf"</?(?!(?:{_BLOCKS})\b|br\b[^<>\n]{{0,9}}>\s{{0,9}}[A-Z][a-z])[A-Za-z][^<>\n]{{0,80}}>"
)


class Around(NamedTuple):
    """Words around a pronoun, lower case; "" where the clause ends.

    `next` holds three words behind it, `before` two in front of it, the nearer one last. The
    pronoun is ``text[start:end]``, with what encloses it.
    """

    before: tuple[str, str]
    next: tuple[str, str, str]
    next_raw: str
    text: str
    start: int
    end: int


def is_one_of(word: str, kind: str) -> bool:
    """Whether a lower-case word belongs to a class of the word list, such as "closed"."""
    return word in _CLASSES[kind]


def words_of(kind: str) -> frozenset[str]:
    """Return a class of the word list."""
    return _CLASSES[kind]


def is_final(word: str) -> bool:
    """Whether the phrase ends with a lower-case word: no word, a mark or a closed one."""
    return not word or not word[0].isalnum() or is_closed(word)


def is_closed(word: str) -> bool:
    """Whether a word cannot begin the noun phrase of "her" or "his"; "you're" too."""
    closed = word_classes()["closed"]
    return word in closed or ("'" in word and word.partition("'")[0] in closed)  # "you're"


def tells_when(word: str, following: str) -> bool:
    """Whether a time begins: "last week", "Monday morning", "two years"."""
    words = word_classes()
    if word in ("last", "next"):
        return not following or following in words["times"]
    if word in words["calendar"]:
        return is_final(following) or following in words["times"]
    return bool(word) and is_number(word) and following in words["spans"]


def is_predicative(word: str) -> bool:
    """Whether a lower-case word is an adjective that is said of persons, by list or ending."""
    words = word_classes()
    formed = word.endswith(("ous", "less", "ful", "able", "ible"))
    return word in words["adjectives"] or (formed and word not in words["not_adjectives"])


def is_adverb(word: str) -> bool:
    """Whether a lower-case word is an adverb, or one where a phrase ends ("more")."""
    return is_in_ly(word) or word in word_classes()["closed_if_final"]


def is_in_ly(word: str) -> bool:
    """Whether it is an adverb in -ly."""
    return word.endswith("ly") and word not in word_classes()["not_adverbs"]


def is_participle(word: str) -> bool:
    """Whether it may be a participle in -ed."""
    return len(word) > 4 and word.endswith("ed") and not word.endswith("eed")


def is_owner(word: str) -> bool:
    """Whether a lower-case word tells whose somebody is: "my", "Ann's"."""
    return word in word_classes()["owners"] or word.endswith(("'s", "s'"))


def is_number(word: str) -> bool:
    """Whether a lower-case word is a number, "sixty-four" too, or begins with a digit."""
    numbers = word_classes()["numbers"]
    if word in numbers or word[0].isdigit():
        return True
    return "-" in word and numbers.issuperset(word.split("-"))


def word_classes() -> Mapping[str, frozenset[str]]:
    """Return the word lists by name."""
    if not _CLASSES:
        _CLASSES.update(_read())
    return _CLASSES


def _read() -> dict[str, frozenset[str]]:
    """Read the lists; a class that several files name is their union."""
    import yaml

    folder = resources.files("pytest_llmfair.lexicons") / "english"
    load = functools.partial(yaml.load, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    classes: dict[str, frozenset[str]] = {}
    old = ("en.yaml", "en_persons.yaml", "en_things.yaml", "en_work.yaml")
    new = sorted(each.name for each in folder.iterdir() if each.name.startswith("words_"))
    for file in (*old, *new):
        for key, lines in load((folder / file).read_text(encoding="utf-8")).items():
            if key != "language":
                words = frozenset(word for line in lines for word in line.split())
                classes[key] = classes.get(key, frozenset()) | words
    return classes


class _Classes(dict[str, frozenset[str]]):
    """The word lists by name, read when the first is asked for."""

    def __missing__(self, kind: str) -> frozenset[str]:
        classes = word_classes()
        if kind not in classes:
            raise KeyError(kind)
        return classes[kind]


# Rules ask a hundred times for a mention: a look into a dict costs least.
_CLASSES = _Classes()
