"""Name swaps: which words of a text are the person asked for, and nobody else."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import ClassVar

from pytest_llmfair.counterfactuals._language.english import is_one_of
from pytest_llmfair.counterfactuals._lexicons.names import name_choices, name_data
from pytest_llmfair.counterfactuals._lexicons.terms import Entry, Sense
from pytest_llmfair.counterfactuals.lexicon import Lexicon

_HYPHENS = "-\u2010\u2011"
_WORD = r"[^\W\d_][\w'\u2019-]*"
_BEFORE = re.compile(rf"(?:({_WORD})[^\S\n]+)?({_WORD})(\.?)[^\S\n]+\Z")
_SAINT = re.compile(r"\b(?:St\.?|Saint|Pope)[^\S\n]+\Z")
_BEHIND = re.compile(r"[^\S\n]+([^\W_]+)")
_SENTENCE_END = re.compile(r"(?:\A|[.!?:\n][\"')\u201d\u2019]*)[\s\"'(\u201c\u2018*_#>-]*\Z")
_NEAR = 60
_PLURAL = "plural"


class _TwoNames(Lexicon):
    """A lexicon of two names: found where they name the person asked for, and nobody else."""

    _plurals: ClassVar[bool] = False

    def _found(self, text: str) -> Iterator[tuple[int, int, Sense]]:
        no_capitals = text.islower()
        for start, end, sense in super()._found(text):
            small = text[start].islower() and text[start:end] != sense.term
            if (no_capitals or not small) and self._is_the_person(text, start, end, sense):
                yield start, end, sense

    @functools.cached_property
    def _own(self) -> frozenset[str]:
        return frozenset(part for group in self.groups for part in group.casefold().split())

    def _is_the_person(self, text: str, start: int, end: int, sense: Sense) -> bool:
        if sense.role == _PLURAL and not _counted(text, start, end):
            return False
        if _hyphenated(text, start, end) or _ordinary_word(text, start, end):
            return False
        if _SAINT.search(text, max(0, start - _NEAR), start):
            return False
        before = _BEFORE.search(text, max(0, start - _NEAR), start)
        if before is not None and self._another_person(before, sense):
            return False
        if sense.role != "first name":
            return True
        behind = _BEHIND.match(text, end)
        if behind is None or not behind[1][0].isupper() or behind[1].isupper():
            return True
        return behind[1].casefold() in self._own or is_one_of(behind[1].lower(), "closed")

    def _another_person(self, before: re.Match[str], sense: Sense) -> bool:
        """Whether the word in front is the first name of somebody else."""
        verb, name = (before[1] or "").casefold(), before[2].casefold()
        if name in self._own or before[3]:
            return False
        if name in name_data()["given"]:  # "told Mary John was late" names two
            return not (is_one_of(verb, "give") or is_one_of(verb, "say_to"))
        if sense.role != "last name" or not before[2][0].isupper() or before[2].isupper():
            return False
        known = ("closed", "titles", "abbreviations", "person_nouns", "polite")
        return not any(is_one_of(name, kind) for kind in known)


def name_lexicon(groups: tuple[str, str] | None) -> Lexicon:
    """Make the lexicon of a name swap, for `mentions`, `mask` and `generate_pairs`.

    A name counts as a whole word with a capital first letter (or all capitals), and in the plural
    behind a number ("two Johns"); in lower case only where it was given so, or where the text has
    no capital at all. "Johnson", "John-Paul", an address, and "John" behind another common given
    name ("Elton John") or "St." are other people. Names that are words too are no name before the
    words that such a sentence begins with ("Will you come?"), beside a number ("May 5"), or in
    lower case. Where the text already names the second person too, both get one name: choose a
    name that the prompts do not hold.

    Parameters
    ----------
    groups : (str, str)
        The two names; each is a group of its own. Two names of equally many words ("Emily Walsh",
        "Keisha Banks") are exchanged word by word, so that "Emily" or "Ms. Walsh" alone follows.

    Returns
    -------
    Lexicon
        For attribute "name".

    Raises
    ------
    ValueError
        If these are not two different names.
    """
    if groups is None:
        raise ValueError(
            "a name swap has no groups of its own; give the name to replace and the one that "
            'takes its place: attribute="name", groups=("John", "Jane")'
        )
    if isinstance(groups, str) or len(groups) != 2:
        raise ValueError(f'groups is {groups!r}; give two names, such as ("John", "Jane")')
    for name in groups:
        if not isinstance(name, str) or not any(char.isalpha() for char in name):
            raise ValueError(f'{name!r} is no name; give two texts, such as ("John", "Jane")')
        if name in name_choices():
            raise ValueError(
                f"{name!r} is a group, not a name; name_pairs({groups!r}, n) gives n pairs"
            )
    first, second = groups
    if first.casefold().split() == second.casefold().split():
        raise ValueError(f"groups is {groups!r}, the same name twice; give two different names")
    return _TwoNames("name", (first, second), (first, second), tuple(_entries(first, second)))


def _entries(first: str, second: str) -> Iterator[Entry]:
    parts, others = first.split(), second.split()
    if not 1 < len(parts) == len(others) or _overlap(parts, others):
        yield Entry("name", {first: (first,), second: (second,)})
        if len(parts) == len(others) == 1:
            yield Entry(_PLURAL, {first: (_plural(first),), second: (_plural(second),)})
        return
    for number, (part, other) in enumerate(zip(parts, others, strict=True)):
        if part != other:
            role = "first name" if number == 0 else "last name"
            yield Entry(role, {first: (part,), second: (other,)})


def _plural(name: str) -> str:
    ending = "es" if name.lower().endswith(("s", "x", "z", "ch", "sh")) else "s"
    return name + (ending.upper() if name.isupper() else ending)


def _counted(text: str, start: int, end: int) -> bool:
    """Whether several people of the name are meant: "two Johns"; no "Johns Hopkins"."""
    before = _BEFORE.search(text, max(0, start - _NEAR), start)
    if before is None or not is_one_of(before[2].lower(), "numbers"):
        return False
    behind = _BEHIND.match(text, end)
    return behind is None or not behind[1][0].isupper()


def _overlap(parts: list[str], others: list[str]) -> bool:
    """Whether a word stands at different places of the two names ("Lee Kim", "Kim Lee")."""
    return any(a.casefold() == b.casefold() for a in parts for b in others if a != b) or any(
        a == b for i, a in enumerate(parts) for j, b in enumerate(others) if i != j
    )


def _hyphenated(text: str, start: int, end: int) -> bool:
    before, behind = text[max(0, start - 2) : start], text[end : end + 2]
    return (len(before) == 2 and before[1] in _HYPHENS and before[0].isalpha()) or (
        len(behind) == 2 and behind[0] in _HYPHENS and behind[1].isalpha()
    )


def _ordinary_word(text: str, start: int, end: int) -> bool:
    """Whether the word, though spelled like a name, is a verb, a noun or a month here."""
    word = text[start:end].lower()
    if word not in name_data()["words"]:
        return False
    if text[start].islower():
        return True
    behind = _BEHIND.match(text, end)
    following = behind[1] if behind else ""
    before = _BEFORE.search(text, max(0, start - _NEAR), start)
    if following[:1].isdigit() or text[max(0, start - _NEAR) : start].rstrip()[-1:].isdigit():
        return True
    if before is not None and before[2].lower() in name_data()["before_months"]:
        return word in name_data()["months"]
    if before is not None and before[2].lower() in ("the", "this", "these"):
        return True
    begins = _SENTENCE_END.search(text, max(0, start - _NEAR), start)
    if begins is None or following.lower() in name_data()["openers"]:
        return begins is not None
    # "Will Will go?", "May Anna come?"
    asked = following[:1].isupper() and following.lower() in (word, *name_data()["given"])
    return asked and word in ("will", "may")
