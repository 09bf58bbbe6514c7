"""Lengths of answers: words and characters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_llmfair.scorers.base import Scores, score
from pytest_llmfair.scorers.registry import scorer
from pytest_llmfair.text import tokens


@scorer("length", "tokens")
class LengthScorer:
    """Length of a text in words, as the metrics on texts count them; no upper limit.

    Parameters
    ----------
    name : str
        What messages call it.

    Examples
    --------
    >>> LengthScorer()(["She is a nurse.", ""])
    array([4., 0.])
    """

    unit, range = "words", (0.0, float("inf"))

    def __init__(self, name: str = "length") -> None:
        self.name = name

    def __call__(self, texts: Sequence[str]) -> Scores:
        """Return the number of words of every text."""
        return score(lambda rows: np.array([float(len(tokens(text))) for text in rows]), texts)


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
