"""The protocol of scorers, the check of what they return, and a memory of their scores."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pytest_llmfair._util.background import resolved
from pytest_llmfair.responses import REMEDY, DigestedText, Missing
from pytest_llmfair.session import score_store

Scores = NDArray[np.float64]

# Bytes kept per scorer, and what a row takes besides its numbers; a full memory is emptied, which
# costs time only.
_MOST = 256_000_000
_EACH = 200


@runtime_checkable
class Scorer(Protocol):
    """A callable from texts to numbers.

    Attributes
    ----------
    name : str
        What reports call it.
    range : tuple of float
        Smallest and largest score possible.

    Examples
    --------
    >>> from pytest_llmfair.scorers import SentimentScorer
    >>> isinstance(SentimentScorer(), Scorer)
    True
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
        Texts to scores; a plain or an async function will do, or one that returns a list of
        awaitables. Scores outside its `range`, if it has one, are an error.
    texts : sequence of str
        Zero or more texts.

    Returns
    -------
    numpy.ndarray of shape (n,)
        Scores in order.

    Raises
    ------
    TypeError
        If a row is not a text (leave missing answers out before scoring), or the scorer returns
        anything but numbers.
    ValueError
        If the scorer returns another number of scores, one that is not finite, or one outside its
        range; the message names the row and the text.

    Examples
    --------
    >>> score(lambda texts: [len(text) for text in texts], ["yes", "", "yes"])
    array([3., 0., 3.])
    """
    if isinstance(scorer, type):
        raise TypeError(
            f"scorer is the class {scorer.__name__}; give an instance, made with (...)"
        )
    rows = checked_texts(texts, digests=True)
    if not rows:
        return np.empty(0)
    distinct = {text: i for i, text in enumerate(dict.fromkeys(rows))}
    name = name_of(scorer)
    store = score_store()
    recorded = None if store is None else store.recorded(scorer, list(distinct))
    if recorded is None:
        checked_texts(rows)
    try:
        given = resolved(scorer(list(distinct))) if recorded is None else recorded
    except (AttributeError, TypeError) as error:
        # Most often the function takes a single text.
        error.add_note(f"scorer {name} gets a list of texts, and returns one number per text")
        raise
    scores = _numbers(given, len(distinct), name)
    low, high = getattr(scorer, "range", (-np.inf, np.inf))
    for wrong, fault in (
        (~np.isfinite(scores), "which is not a finite number"),
        ((scores < low) | (scores > high), f"outside its range [{low:g}, {high:g}]"),
    ):
        if wrong.any():
            first = int(np.argmax(wrong))
            text = list(distinct)[first]
            raise ValueError(
                f"scorer {name} gave {scores[first]} for row {rows.index(text)}, {fault} "
                f"({int(wrong.sum())} of {len(distinct)} distinct texts); text: {text[:60]!r}. "
                "Fix the scorer: such a score is never counted as 0"
            )
    if recorded is None and store is not None:
        store.record(scorer, list(distinct), scores.tolist())
    return scores[[distinct[text] for text in rows]]


def name_of(scorer: Any) -> str:
    """Return the name of a scorer in reports.

    Examples
    --------
    >>> name_of(len)
    'len'
    """
    name = getattr(scorer, "name", None) or getattr(scorer, "__name__", None)
    return str(name or type(scorer).__name__)


def _numbers(given: Any, n: int, name: str) -> Scores:
    """Return the result of a scorer as `n` numbers; texts, tables and labels are errors."""
    wanted = f"it must return one number per text, {n} in all"
    if hasattr(given, "detach"):  # a tensor of any precision on any device
        given = given.detach().cpu().double()
    try:
        found = np.asarray(given)
        if found.dtype.kind not in "biufO":  # numpy would read the digits of a text
            raise TypeError
        scores = found.astype(np.float64)
    except (TypeError, ValueError):
        shown = str(given)[:60]
        if hasattr(given, "close"):  # a generator
            given.close()
        raise TypeError(
            f"scorer {name} returned {shown}, a {type(given).__name__}; {wanted}"
        ) from None
    if scores.shape != (n,):
        what = "None" if given is None else f"an array of shape {scores.shape}"
        raise ValueError(f"scorer {name} returned {what} for {n} texts; {wanted}, shape ({n},)")
    return scores


def checked_texts(texts: Sequence[str], *, digests: bool = False) -> list[str]:
    """Return the texts as a list; raise for a row that is no text, or a digest not allowed."""
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
        if isinstance(text, DigestedText) and not digests:
            raise ValueError(f"row {row} is a digest and has no recorded score: {REMEDY}")
    return rows


class RowCache:
    """Rows of numbers by the digest of their text, so that a model reads a text once."""

    def __init__(self) -> None:
        self._rows: dict[bytes, Any] = {}
        self._bytes = 0

    def __call__(
        self, texts: Sequence[str], compute: Callable[[Sequence[str]], Any]
    ) -> NDArray[Any]:
        """Return one row per text; `compute` gets each text that is new once."""
        digests = [_digest(text) for text in texts]
        found = {digest: self._rows[digest] for digest in digests if digest in self._rows}
        new = {d: text for d, text in zip(digests, texts, strict=True) if d not in found}
        if new:
            rows = np.asarray(compute([*new.values()]))
            if rows.shape[:1] != (len(new),):
                return rows  # the check of the caller names what is wrong
            made = dict(zip(new, rows, strict=True))
            size = rows.nbytes + _EACH * len(rows)
            if self._bytes + size > _MOST:
                self._rows, self._bytes = {}, 0
            self._rows.update(made)
            self._bytes += size
            found.update(made)
        return np.array([found[digest] for digest in digests])


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
