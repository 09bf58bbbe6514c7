"""Lengths of answers: tokens and characters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_llmfair.scorers._base import Scores, score
from pytest_llmfair.text import tokens


class TokenScorer:
    """Number of words of a text, as the metrics on texts count them; no upper limit."""

    name = "tokens"
    range = (0.0, float("inf"))

    def __call__(self, texts: Sequence[str]) -> Scores:
        """Return the number of tokens of every text."""
        return score(lambda rows: np.array([float(len(tokens(text))) for text in rows]), texts)


class LengthScorer:
    """Number of characters of a text; no upper limit."""

    name = "length"
    range = (0.0, float("inf"))

    def __call__(self, texts: Sequence[str]) -> Scores:
        """Return the number of characters of every text."""
        return score(lambda rows: np.array([float(len(text)) for text in rows]), texts)
