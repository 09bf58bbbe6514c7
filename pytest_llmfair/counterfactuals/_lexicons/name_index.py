"""The search of a name swap: "Pete Rose" is somebody well-known, in "Pete rose" somebody rose."""

from __future__ import annotations

import functools
import re

from pytest_llmfair.counterfactuals._lexicons.terms import Choice, Index, is_joined
from pytest_llmfair.lexicons.english.beside import one_case
from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.names.words import is_idiom
from pytest_llmfair.lexicons.english.streets import is_in_street

_WORD = re.compile(r"\w+")
_SEVERAL = re.compile(r"[\s-]")
_TWO = 2
_GOES_ON = re.compile("[-\u2010\u2011][^\\W\\d_a-z]")
_TWO_WORDS = re.compile(r"([^\W\d_]+)(?:['\u2019]s)?[^\S\n]+([^\W\d_]+)")


class NameIndex(Index):
    """The terms of a name swap; two words listed with capitals count where the text has them.

    Idioms ("rose petals") and longer phrases count in any case, as all do in a text without any.
    """

    def find(self, text: str) -> list[tuple[int, int, Choice]]:
        """Return what may be a mention, in order, with the meanings to choose from."""
        found = []
        for start, end, word in self._finder.matches(text):
            choice = self._choices.get(word)
            if choice is None:
                found += self._inside(text, start, end, word)
            elif not (word in self._in_streets and is_in_street(text, start, end)):
                found.append((start, end, choice))
        return found

    def _close(self) -> None:
        """Add what an exchange makes of a phrase; two names of one word each need no search."""
        if len(self._names) != _TWO:
            super()._close()
            return
        other = dict(zip(self._names, reversed(self._names), strict=True))
        for phrase in [*self._senses]:
            if not _SEVERAL.search(phrase) or is_joined(phrase):
                continue
            changed = _WORD.sub(lambda word: other.get(word[0], word[0]), phrase)
            self._senses.setdefault(changed, [])

    @functools.cached_property
    def _names(self) -> list[str]:
        """Return the two names in lower case; none where they have more than a word each."""
        terms = [key for key, senses in self._senses.items() if senses]
        names = [key for key in terms if self._senses[key][0].role == "name"]
        return names if all(_WORD.fullmatch(key) for key in terms) else []

    def _inside(
        self, text: str, start: int, end: int, phrase: str
    ) -> list[tuple[int, int, Choice]]:
        """Return the name in a phrase that lacks its second capital: "Pete" of "Pete rose"."""
        words = _TWO_WORDS.fullmatch(text, start, end)
        if words is None or not text[start].isupper():
            return []
        first, second = words.groups()
        choice = self._choices.get(first.casefold())
        if choice is not None and _GOES_ON.match(text, end):  # "Barry White-Jones"
            return [(start, start + len(first), choice)]
        if choice is None or not second.islower() or is_one_of(second, "closed"):
            return []
        if one_case(text)[0] or self._is_idiom(phrase):
            return []
        return [(start, start + len(first), choice)]

    def _is_idiom(self, phrase: str) -> bool:
        """Whether a phrase, or what it was before an exchange of the names, is listed as one."""
        if is_idiom(phrase):
            return True
        parts = phrase.split()
        held = [at for at, part in enumerate(parts) if part in self._choices]
        return any(
            is_idiom(" ".join([*parts[:at], other, *parts[at + 1 :]]))
            for at in held
            for other in self._choices
        )
