"""What a scorer is, and the one check of what a scorer returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

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
        If a row is no text (missing answers are left out before, never scored), or what the
        scorer returns holds anything but numbers.
    ValueError
        If the scorer returns another number of scores, one that is not finite, or one outside its
        range; the message names the row and the text.
    """
    if isinstance(scorer, type):
        raise TypeError(f"scorer is the class {scorer.__name__}; give one of it, made with (...)")
    rows = checked_texts(texts)
    if not rows:
        return np.empty(0)
    distinct = {text: i for i, text in enumerate(dict.fromkeys(rows))}
    name = name_of(scorer)
    scores = _numbers(scorer(list(distinct)), len(distinct), name)
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
    return scores[[distinct[text] for text in rows]]


def name_of(scorer: Any) -> str:
    """Return what reports call a scorer."""
    name = getattr(scorer, "name", None) or getattr(scorer, "__name__", None)
    return str(name or type(scorer).__name__)


def _numbers(given: Any, n: int, name: str) -> Scores:
    """Return what a scorer gave as `n` numbers; texts, tables and labels are none."""
    wanted = f"it must return one number a text, {n} in all"
    if hasattr(given, "detach"):  # a tensor, of any precision and wherever it lies
        given = given.detach().cpu().double()
    try:
        found = np.asarray(given)
        if found.dtype.kind not in "biufO":  # numpy would read the digits of a text
            raise TypeError
        scores = found.astype(np.float64)
    except (TypeError, ValueError):
        shown = str(given)[:60]
        if hasattr(given, "close"):  # a coroutine that nobody awaits, or a generator
            given.close()
        raise TypeError(
            f"scorer {name} returned {shown}, a {type(given).__name__}; {wanted}"
        ) from None
    if scores.shape != (n,):
        what = "None" if given is None else f"an array of shape {scores.shape}"
        raise ValueError(f"scorer {name} returned {what} for {n} texts; {wanted}, shape ({n},)")
    return scores


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
