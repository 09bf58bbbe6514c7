"""The search of a name swap: "Pete Rose" is somebody well-known, in "Pete rose" somebody rose."""

from __future__ import annotations

import re

from pytest_llmfair.counterfactuals._language.beside import one_case
from pytest_llmfair.counterfactuals._language.names.words import is_idiom
from pytest_llmfair.counterfactuals._language.streets import is_in_street
from pytest_llmfair.counterfactuals._lexicons.terms import Choice, Index

_WORD = re.compile(r"[^\W\d_]+")


class NameIndex(Index):
    """The terms of a name swap; a phrase listed with capitals counts where the text has them.

    Idioms ("rose petals") count in any case, and so does every phrase in a text in lower case.
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

    def _inside(self, text: str, start: int, end: int, phrase: str) -> list[tuple[int, int, Choice]]:
        """Return the names in a phrase that lacks its capitals: "Pete" of "Pete rose"."""
        words = list(_WORD.finditer(text, start, end))
        if len(words) < 2 or all(word[0][0].isupper() for word in words):
            return []
        if one_case(text)[0] or self._is_idiom(phrase):
            return []
        return [
            (*word.span(), choice)
            for word in words
            if word[0][0].isupper() and (choice := self._choices.get(word[0].casefold()))
        ]

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
