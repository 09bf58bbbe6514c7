"""What a scorer is, and the one check of what a scorer returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pytest_llmfair.clients.scores import record_scores, recorded_scores
from pytest_llmfair.responses import Missing

Scores = NDArray[np.float64]


@runtime_checkable
class Scorer(Protocol):
    """A callable from texts to numbers.

    Attributes
    ----------
    name : str
        What reports call it.
    range : tuple of float
        Smallest and largest score possible.
    """

    name: str
    range: tuple[float, float]

    def __call__(self, texts: Sequence[str]) -> Scores:
        """Return float64 scores of shape (n,), one per text and in order."""
        ...


def score(scorer: Callable[[Sequence[str]], Any], texts: Sequence[str]) -> Scores:
    """Score texts, each distinct one once, and check what comes back.

    Parameters
    ----------
    scorer : Scorer or callable
        Texts to scores; a plain function will do. What it says of its `range` is checked too.
    texts : sequence of str
        Any number of texts, none included.

    Returns
    -------
    numpy.ndarray of shape (n,)
        Scores in order.

    Raises
    ------
    TypeError
        If a row is no text (missing answers are left out before, never scored).
    ValueError
        If the scorer returns another number of scores, one that is not finite, or one outside its
        range; the message names the row and the text.
    """
    rows = checked_texts(texts)
    if not rows:
        return np.empty(0)
    distinct = {text: i for i, text in enumerate(dict.fromkeys(rows))}
    name = getattr(scorer, "name", getattr(scorer, "__name__", type(scorer).__name__))
    recorded = recorded_scores(scorer, list(distinct))
    given = scorer(list(distinct)) if recorded is None else recorded
    scores = np.asarray(given, dtype=np.float64)
    if scores.shape != (len(distinct),):
        raise ValueError(
            f"scorer {name} returned an array of shape {scores.shape} for {len(distinct)} texts; "
            f"it must return one number a text, shape ({len(distinct)},)"
        )
    low, high = getattr(scorer, "range", (-np.inf, np.inf))
    for wrong, said in (
        (~np.isfinite(scores), "which is no finite number"),
        ((scores < low) | (scores > high), f"outside its range [{low:g}, {high:g}]"),
    ):
        if wrong.any():
            first = int(np.argmax(wrong))
            text = list(distinct)[first]
            raise ValueError(
                f"scorer {name} gave {scores[first]} for row {rows.index(text)}, {said} "
                f"({int(wrong.sum())} of {len(distinct)} distinct texts); text: {text[:60]!r}. "
                "Mend the scorer: such a score is never counted as 0"
            )
    if recorded is None:
        record_scores(scorer, list(distinct), scores.tolist())
    return scores[[distinct[text] for text in rows]]


def checked_texts(texts: Sequence[str]) -> list[str]:
    """Return the texts as a list; a row that is none raises ``TypeError`` and is named."""
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"texts is one text, {texts[:40]!r}; give a list of texts")
    rows: list[Any] = list(texts)
    for row, text in enumerate(rows):
        if isinstance(text, Missing):
            raise TypeError(
                f"row {row} is a missing answer ({text.reason}); leave it out and count it, it is "
                "never scored as text"
            )
        if not isinstance(text, str):
            raise TypeError(f"row {row} is {text!r}, a {type(text).__name__}; give texts")
    return rows
