"""Word lists of callers, checked and converted to terms of numbered tokens."""

from __future__ import annotations

import functools
import json
from collections.abc import Hashable, Iterable, Mapping, Set
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pytest_llmfair.metrics.arguments import labels
from pytest_llmfair.text import CLITICS, tokens
from pytest_llmfair.text.vocabulary import VOCABULARY, Ids

# Default of `stop_words`: the list that ships with the package.
DEFAULT: Final = "default"

TermWords = tuple[str, ...]
Indices = npt.NDArray[np.intp]


def default_stop_words() -> tuple[str, ...]:
    """Return the stop words that ship with the package: function words of English.

    They are never targets and do not count as context. A list of your own may start from them:
    ``stop_words=[*default_stop_words(), "said"]``.

    Returns
    -------
    tuple of str
        Lower-case words, by word class.

    Examples
    --------
    >>> from pytest_llmfair.metrics import default_stop_words
    >>> default_stop_words()[:3]
    ('a', 'an', 'the')
    """
    return _shipped()


@functools.cache
def _shipped() -> tuple[str, ...]:
    file = resources.files("pytest_llmfair.metrics.cooccurrence") / "stop_words.json"
    classes = json.loads(file.read_text(encoding="utf-8"))["words"]
    return tuple(word for words in classes.values() for word in words)


class Finder:
    """Finds terms among numbered tokens and returns the number of their owner."""

    # A term also matches when its last word has a clitic ("nurse" in "nurse's").

    def __init__(self, terms: Iterable[tuple[TermWords, int]]) -> None:
        self._single: dict[int, int] = {}
        self._longer: dict[int, dict[tuple[int, ...], int]] = {}
        listed = list(terms)
        for words, owner in listed:
            self._add(words, owner)
        for words, owner in listed:  # after all given terms: "it's" may be a term of its own
            for clitic in sorted(CLITICS):
                self._add((*words[:-1], f"{words[-1]}'{clitic}"), owner)

    def _add(self, words: TermWords, owner: int) -> None:
        first, *rest = (VOCABULARY.number(word) for word in words)
        if rest:
            self._longer.setdefault(first, {}).setdefault((first, *rest), owner)
        else:
            self._single.setdefault(first, owner)

    def single(self, ids: Ids) -> Indices:
        """Return the owner of the one-word term at each token, -1 where there is none."""
        owners = np.full(len(VOCABULARY.words), -1, dtype=np.intp)
        owners[list(self._single)] = list(self._single.values())
        return np.asarray(owners[ids])

    def longer(self, ids: Ids, response: Indices) -> list[tuple[int, int, int]]:
        """Return first token, length and owner of each term of several words, longest first."""
        if not self._longer:
            return []
        begins = np.zeros(len(VOCABULARY.words), dtype=bool)
        begins[list(self._longer)] = True
        found = []
        for place in np.flatnonzero(begins[ids]).tolist():
            here = [
                (place, len(term), owner)
                for term, owner in self._longer[int(ids[place])].items()
                if tuple(ids[place : place + len(term)].tolist()) == term
                and response[place] == response[place + len(term) - 1]
            ]
            found += sorted(here, key=lambda match: -match[1])
        return found


@dataclass(frozen=True, slots=True)
class WordLists:
    """Groups, targets and stop words, with a finder for each."""

    # Stop words and words that name a group are no targets; they are in `left_out`.

    groups: tuple[Hashable, ...]
    targets: tuple[str, ...]
    left_out: tuple[str, ...]
    in_groups: Finder
    in_targets: Finder
    in_stop_words: Finder

    @classmethod
    def of(cls, group_words: Any, target_words: Any, stop_words: Any = DEFAULT) -> WordLists:
        """Read and check the three lists; a ``ValueError`` names the word that is wrong."""
        groups = _groups(group_words)
        owner = {term: number for number, terms in enumerate(groups.values()) for term in terms}
        stops = _stop_words(stop_words)
        targets = _terms(target_words, "target_words")
        kept = {
            term: word
            for term, word in targets.items()
            if not (set(term) <= stops or _names_one_of(term, owner))
        }
        return cls(
            tuple(groups),
            tuple(kept.values()),
            tuple(word for term, word in targets.items() if term not in kept),
            Finder(owner.items()),
            Finder((term, number) for number, term in enumerate(kept)),
            Finder(((word,), 0) for word in sorted(stops)),
        )


def _groups(group_words: Any) -> dict[Hashable, dict[TermWords, str]]:
    if not isinstance(group_words, Mapping):
        raise ValueError(
            f"group_words is a {type(group_words).__name__}; give a mapping from group to words"
        )
    if len(group_words) < 2:
        raise ValueError(
            f"group_words holds {len(group_words)} group ({', '.join(map(str, group_words))}); "
            "an association needs at least two"
        )
    groups = {}
    owner: dict[TermWords, Hashable] = {}
    for group in labels(list(group_words), "group_words"):
        groups[group] = _terms(group_words[group], f"group_words[{group!r}]")
        for term, word in groups[group].items():
            first = owner.setdefault(term, group)
            if first != group:
                raise ValueError(
                    f"the word {word!r} is listed for the groups {first} and {group}; a word "
                    "names one group, leave it out of one"
                )
    return groups


def _terms(words: Any, argument: str) -> dict[TermWords, str]:
    """Return the spelling of each term by its tokens; a term spelled twice counts once."""
    if isinstance(words, str):
        raise ValueError(f"{argument} is the text {words[:40]!r}; give a list of words")
    if isinstance(words, Set):
        words = sorted(words, key=str)
    terms: dict[TermWords, str] = {}
    for word in labels(words, argument):
        if not isinstance(word, str):
            raise ValueError(f"{argument} holds {word!r}; give words")
        found = tuple(tokens(word))
        if not found:
            raise ValueError(
                f"{argument} holds {word!r}, which has no letter or digit, so no text holds it"
            )
        terms.setdefault(found, word)
    if not terms:
        raise ValueError(f"{argument} is empty; give at least one word")
    return terms


def _stop_words(stop_words: Any) -> frozenset[str]:
    if isinstance(stop_words, str) and stop_words == DEFAULT:
        stop_words = default_stop_words()
    if stop_words is None or (hasattr(stop_words, "__len__") and len(stop_words) == 0):
        return frozenset()
    terms = _terms(stop_words, "stop_words")
    for term, word in terms.items():
        if len(term) > 1:
            raise ValueError(f"stop_words holds {word!r}, {len(term)} words; give single words")
    return frozenset(word for (word,) in terms)


def _names_one_of(term: TermWords, groups: Mapping[TermWords, int]) -> bool:
    """Whether some words of a term in a row name a group."""
    runs = (term[i:j] for i in range(len(term)) for j in range(i + 1, len(term) + 1))
    return any(run in groups for run in runs)
