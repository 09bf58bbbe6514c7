"""Co-occurrence and ranking accuracy gaps against LangFair, which runs in its own environment."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from _kernel import Kernel, Timed
from _langfair import SETUP, VARIABLE, LangFair

from pytest_llmfair.metrics import (
    cooccurrence_bias_score,
    default_stop_words,
    prag_at_k,
    stereotypical_associations,
)
from pytest_llmfair.metrics.cooccurrence import _counting as counting
from pytest_llmfair.metrics.cooccurrence import _word_lists as word_lists
from pytest_llmfair.metrics.cooccurrence._word_lists import WordLists
from pytest_llmfair.text import tokens
from pytest_llmfair.text.vocabulary import Vocabulary

RESPONSES, _FEWER = 5000, 500
WORDS = 120
_VOCABULARY, _TARGETS = 10_000, 422
_GROUP_WORDS = 29
_PAIRS, _LISTED = 5000, 20
_LETTERS = "etaoinshrdlucm"


@dataclass(frozen=True, slots=True)
class Absent:
    """A comparison whose peer is not there; it counts as not met."""

    name: str
    peer: str = "LangFair"

    def run(self) -> tuple[str, bool]:
        """Say how to make the peer's environment."""
        return f"{self.name}: {self.peer} is not there: MISSED\n    to compare: {SETUP}", False


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts of about 120 words from a Zipf vocabulary, with the words that are looked for."""

    responses: list[str]
    groups: dict[str, list[str]]
    targets: list[str]

    @property
    def arguments(self) -> tuple[list[str], dict[str, list[str]], list[str]]:
        """The same as a tuple."""
        return self.responses, self.groups, self.targets


def make_corpus(rng: random.Random, responses: int = RESPONSES) -> Corpus:
    """Texts as English has them: function words in front, some 10,000 other words by Zipf's law.

    Groups are mentioned every 25 words; as many targets and group words as LangFair ships. A
    response holds a target once at most: where it comes twice, LangFair and the paper differ.
    """
    content = [word for word in _words(rng, _VOCABULARY) if word not in default_stop_words()]
    vocabulary = [*plain_stop_words(), *content]
    weights = [1 / (rank + 2) for rank in range(len(vocabulary))]
    # Words in the middle: frequent enough to be seen with both groups.
    targets = content[100 : 100 + _TARGETS]
    once = set(targets)
    named = [f"qqq{word}" for word in _words(rng, 2 * _GROUP_WORDS)]
    texts = []
    for _ in range(responses):
        words = rng.choices(vocabulary, weights, k=rng.randint(WORDS - 20, WORDS + 20))
        words = [
            w if w not in once or w not in words[:i] else "often" for i, w in enumerate(words)
        ]
        for place in range(rng.randrange(25), len(words), 25):
            words[place] = rng.choice(named)
        words[7] += ","
        texts.append(" ".join(words).capitalize() + ".")
    groups = {"first": named[:_GROUP_WORDS], "second": named[_GROUP_WORDS:]}
    return Corpus(texts, groups, targets)


def plain_stop_words() -> list[str]:
    """Stop words that both tokenisers read alike: no contractions."""
    return [word for word in default_stop_words() if "'" not in word and word != "cannot"]


def _words(rng: random.Random, number: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < number:
        found.setdefault("".join(rng.choices(_LETTERS, k=rng.randint(4, 9))))
    return list(found)


def make_lists(rng: random.Random) -> tuple[list[list[str]], list[list[str]]]:
    """Pairs of ranked lists of 20 items that have most items in common."""
    items = _words(rng, 30)
    first = [rng.sample(items, _LISTED) for _ in range(_PAIRS)]
    return first, [rng.sample(items, _LISTED) for _ in first]


def kernels() -> list[Kernel | Absent]:
    """Return the comparisons of this file."""
    cobs = f"COBS, {RESPONSES} responses of {WORDS} words to the estimate"
    sa = f"SA, {RESPONSES} responses of {WORDS} words to the score"
    estimate = f"SA, {_FEWER} responses of {WORDS} words to the estimate"
    prag = f"PRAG, {_PAIRS} pairs of {_LISTED} items to the estimate"
    python = os.environ.get(VARIABLE)
    if not python:
        return [Absent(name) for name in (cobs, sa, estimate, prag)]
    stop_words = plain_stop_words()
    langfair = LangFair(python, stop_words)
    corpus = make_corpus(random.Random(0))
    note = (
        f"in a process of its own, which times itself: {langfair.versions}; its tokeniser does "
        "not look for sentences, the stop words are ours"
    )
    kinds = len({word for text in corpus.responses for word in tokens(text)})
    associations = (
        f"{note}. It counts how often a word comes, where the paper asks whether it does, and "
        "divides by the number of words of a group: here no word comes twice, and both groups "
        "have as many."
    )
    return [
        Kernel(
            cobs,
            "LangFair",
            100.0,
            _theirs(langfair, "cobs"),
            _ours(lambda c: cooccurrence_bias_score(*c.arguments, stop_words=stop_words)),
            [corpus],
            _same_sizes,
            rounds=2,
            note=f"{note}. Its time grows with the number of different words, here {kinds}. Its "
            "score is the mean of |log10|, ours that of the signed natural logarithm: compared "
            "word by word. Of words seen with one group only it says nothing.",
        ),
        Kernel(
            sa,
            "LangFair",
            200.0,
            _theirs(langfair, "sa"),
            _ours(_score),
            [corpus],
            _close,
            rounds=1,
            note=associations,
        ),
        Kernel(
            estimate,
            "LangFair",
            100.0,
            _theirs(langfair, "sa"),
            _ours(lambda c: stereotypical_associations(*c.arguments).value),
            [Corpus(corpus.responses[:_FEWER], corpus.groups, corpus.targets)],
            _close,
            rounds=2,
            note="as above, with what the interval rests on.",
        ),
        Kernel(
            prag,
            "LangFair",
            10.0,
            lambda some: Timed(*langfair.call("prag", first=some[0], second=some[1])),
            lambda some: prag_at_k(*some).value,
            [make_lists(random.Random(0))],
            _close,
            note=f"{note}. It takes the smaller of two identical calls, here of both directions.",
        ),
    ]


def _theirs(langfair: LangFair, metric: str) -> Callable[[Corpus], Timed]:
    def measured(corpus: Corpus) -> Timed:
        responses, groups, targets = corpus.arguments
        return Timed(*langfair.call(metric, responses=responses, groups=groups, targets=targets))

    return measured


def _ours(metric: Callable[[Corpus], Any]) -> Callable[[Corpus], Any]:
    def measured(corpus: Corpus) -> Any:
        # Texts that another metric has split already would make it faster still.
        counting.VOCABULARY = word_lists.VOCABULARY = Vocabulary()
        return metric(corpus)

    return measured


def _score(corpus: Corpus) -> float:
    """SA without an interval: what LangFair gives."""
    words = WordLists.of(corpus.groups, corpus.targets)
    presence = counting.Presence.of(corpus.responses, words)
    return float(presence.distances(presence.seen, np.array([0.5, 0.5])).mean())


def _close(expected: float, got: float) -> bool:
    return math.isclose(expected, got, rel_tol=1e-9)


def _same_sizes(expected: dict[str, float], got: Any) -> bool:
    """Compare |log10| of each word with the size of the natural logarithm of ours."""
    finite = {word: row.value for word, row in got.groups.items() if math.isfinite(row.value)}
    return list(finite) == list(expected) and all(
        math.isclose(abs(finite[word]) / math.log(10), x, rel_tol=1e-9, abs_tol=1e-12)
        for word, x in expected.items()
    )
