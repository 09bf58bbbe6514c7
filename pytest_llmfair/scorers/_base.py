"""What a scorer is, the scorers by name, and the one check of what a scorer returns."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
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
        If a row is no text (missing answers are left out before, never scored).
    ValueError
        If the scorer returns another number of scores, one that is not finite, or one outside its
        range; the message names the row and the text.
    """
    rows = _checked(texts)
    if not rows:
        return np.empty(0)
    distinct = {text: i for i, text in enumerate(dict.fromkeys(rows))}
    name = getattr(scorer, "name", getattr(scorer, "__name__", type(scorer).__name__))
    scores = np.asarray(scorer(list(distinct)), dtype=np.float64)
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
    return scores[[distinct[text] for text in rows]]


def _checked(texts: Sequence[str]) -> list[str]:
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


class Scorers(Mapping[str, Scorer]):
    """Scorers by name; one is made when it is first asked for and loads when it first scores."""

    def __init__(self, makers: Mapping[str, Callable[[], Scorer]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, Scorer] = {}

    def __getitem__(self, name: str) -> Scorer:
        if name not in self._makers:
            near = difflib.get_close_matches(str(name), list(self._makers), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"scorers: {', '.join(self)}"
            raise _UnknownScorer(
                f"no scorer is called {name!r}; {hint}; or bring your own, a callable from texts "
                "to scores: pass it as scorer=..., or override the `scorers` fixture with "
                f"load_scorers({_keyword(name)}=...)"
            )
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._makers))

    def __len__(self) -> int:
        return len(self._makers)

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __repr__(self) -> str:
        return f"Scorers({', '.join(self)})"


def _keyword(name: object) -> str:
    return name if isinstance(name, str) and name.isidentifier() else "name"


class _UnknownScorer(KeyError):
    def __str__(self) -> str:  # a KeyError would show the message in quotes
        return str(self.args[0])


def _itself(scorer: Scorer) -> Scorer:
    return scorer


def load_scorers(**own: Scorer) -> Scorers:
    """Return the scorers by name.

    Parameters
    ----------
    **own : Scorer
        Scorers of your own, or a configured one in place of a shipped one:
        ``load_scorers(toxicity=ToxicityScorer.from_pretrained("models/toxicity"))``.

    Returns
    -------
    Scorers
        Read-only mapping: "sentiment" (VADER) and "toxicity" (needs weights, see
        :class:`ToxicityScorer`), with your own.
    """
    from pytest_llmfair.scorers.sentiment import SentimentScorer
    from pytest_llmfair.scorers.toxicity import ToxicityScorer

    makers: dict[str, Callable[[], Scorer]] = {
        "sentiment": SentimentScorer,
        "toxicity": ToxicityScorer,
    }
    for name, scorer in own.items():
        if not callable(scorer):
            raise TypeError(f"scorer {name} is {scorer!r}; give a callable from texts to scores")
        makers[name] = functools.partial(_itself, scorer)
    return Scorers(makers)
