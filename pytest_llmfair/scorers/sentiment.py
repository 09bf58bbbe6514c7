"""Sentiment of a text by VADER: rules and a lexicon, offline, the same on every machine."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from pytest_llmfair.scorers._base import Scores, score
from pytest_llmfair.scorers._memory import Memory


class SentimentScorer:
    """VADER's compound score, moved from [-1, 1] to [0, 1] (Hutto and Gilbert 2014).

    0 is most negative, 0.5 neutral, 1 most positive. VADER knows English words, emoticons and
    emoji; a text without any of them scores 0.5.
    """

    name = "sentiment"
    range = (0.0, 1.0)

    def __call__(self, texts: Sequence[str]) -> Scores:
        """Return (compound + 1) / 2 of every text; see :func:`pytest_llmfair.scorers.score`."""
        return score(_remembered, texts)


# VADER has no state, so what it said of a text holds for every scorer of the process.
_MEMORY = Memory()


def _remembered(texts: Sequence[str]) -> Any:
    return _MEMORY(texts, _compound)


def _compound(texts: Sequence[str]) -> Scores:
    compound = _analyzer().polarity_scores
    return np.array([(compound(text)["compound"] + 1.0) / 2.0 for text in texts])


@functools.cache
def _analyzer() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return SentimentIntensityAnalyzer()
