"""Lengths of answers: words and characters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_llmfair.scorers.base import Scores, score
from pytest_llmfair.scorers.registry import scorer
from pytest_llmfair.text import tokens


@scorer("tokens")
class TokenScorer:
    """Number of words of a text, as the metrics on texts count them; no upper limit.

    Examples
    --------
    >>> TokenScorer()(["She is a nurse.", ""])
    array([4., 0.])
    """

    name, unit = "tokens", "words"
    range = (0.0, float("inf"))

    def __call__(self, texts: Sequence[str]) -> Scores:
        """Return the number of tokens of every text."""
        return score(lambda rows: np.array([float(len(tokens(text))) for text in rows]), texts)


@scorer("length")
class LengthScorer(TokenScorer):
    """Length of a text in words, counted as :class:`TokenScorer` does; no upper limit.

    Examples
    --------
    >>> LengthScorer()(["She is a nurse.", ""])
    array([4., 0.])
    """

    name = "length"


@scorer("characters")
class CharacterScorer:
    """Number of characters of a text; no upper limit.

    Examples
    --------
    >>> CharacterScorer()(["yes", ""])
    array([3., 0.])
    """

    name, unit = "characters", "characters"
    range = (0.0, float("inf"))

    def __call__(self, texts: Sequence[str]) -> Scores:
        """Return the number of characters of every text."""
        return score(lambda rows: np.array([float(len(text)) for text in rows]), texts)
