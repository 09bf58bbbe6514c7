"""Sentiment of a text by VADER: rules and a lexicon, offline, the same on every machine."""

from __future__ import annotations

import functools
import heapq
from collections.abc import Sequence
from typing import Any

import numpy as np

from pytest_llmfair.scorers.base import RowCache, Scores, score
from pytest_llmfair.scorers.registry import scorer


@scorer("sentiment")
class SentimentScorer:
    """VADER's compound score, moved from [-1, 1] to [0, 1] (Hutto and Gilbert 2014).

    0 is most negative, 0.5 neutral, 1 most positive. VADER knows English words, emoticons and
    emoji; a text without any of them scores 0.5.

    Examples
    --------
    >>> SentimentScorer()(["A brilliant nurse!", "The meeting is at noon."]).round(2)
    array([0.81, 0.5 ])
    """

    name = "sentiment"
    range = (0.0, 1.0)

    def __call__(self, texts: Sequence[str]) -> Scores:
        """Return (compound + 1) / 2 of every text; see :func:`pytest_llmfair.scorers.score`."""
        return score(lambda rows: _MEMORY(rows, _compound), texts)


# VADER has no state, so one memory serves every scorer of the process.
_MEMORY = RowCache()


def _compound(texts: Sequence[str]) -> Scores:
    compound = _analyzer().polarity_scores
    return np.array([(compound(text)["compound"] + 1.0) / 2.0 for text in texts])


@functools.cache
def _analyzer() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    class Analyzer(SentimentIntensityAnalyzer):  # type: ignore[misc]
        """VADER with its three quadratic-time steps made linear, for long answers."""

        _but_check = staticmethod(_weigh_around_but)

        @staticmethod
        def _negation_check(valence: float, words: Sequence[Any], start: int, i: int) -> Any:
            near, place = _around(words, i)
            return SentimentIntensityAnalyzer._negation_check(valence, near, start, place)

        @staticmethod
        def _special_idioms_check(valence: float, words: Sequence[Any], i: int) -> Any:
            near, place = _around(words, i)
            return SentimentIntensityAnalyzer._special_idioms_check(valence, near, place)

    return Analyzer()


def _around(words: Sequence[Any], i: int) -> tuple[Sequence[Any], int]:
    """Return the words around word `i` that VADER looks at, and its place among them."""
    start = max(i - 3, 0)
    return words[start : i + 3], i - start


def _weigh_around_but(words: Sequence[Any], sentiments: list[float]) -> list[float]:
    """Weigh sentiments before the first "but" by 0.5 and after it by 1.5, as VADER does."""
    # VADER looks up each sentiment by its value and changes the first equal one, even one that it
    # has changed before; keeping the places of every value in order makes that fast.
    but = next((i for i, word in enumerate(words) if str(word).lower() == "but"), None)
    if but is None:
        return sentiments
    places: dict[float, list[int]] = {}
    for i, sentiment in enumerate(sentiments):
        places.setdefault(sentiment, []).append(i)
    for i in range(len(sentiments)):
        sentiment = sentiments[i]
        first = places[sentiment][0]
        if sentiment == 0.0 or first == but:
            continue
        changed = sentiment * (0.5 if first < but else 1.5)
        heapq.heappop(places[sentiment])
        heapq.heappush(places.setdefault(changed, []), first)
        sentiments[first] = changed
    return sentiments
