"""Answers of the two sides of FairPair, and dissimilarities between all answers to a prompt."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Hashable, Sequence, Set
from dataclasses import dataclass
from itertools import chain, pairwise
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from scipy import special

from pytest_llmfair.metrics.arguments import Dissimilarity, Floats, RowsByLabel, listed
from pytest_llmfair.responses import Missing
from pytest_llmfair.text.vocabulary import VOCABULARY, Ids

AnswerKind = Literal["texts", "token sets", "scores"]
PromptAnswers = list[Sequence[Any]]
ReadAnswer = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class SideAnswers:
    """Answers of both sides, prompt by prompt, in order: texts, token sets or scores."""

    kind: AnswerKind
    sides: tuple[PromptAnswers, PromptAnswers]

    @classmethod
    def read(cls, **given: Any) -> SideAnswers:
        """Read two arguments; ``ValueError`` names the argument, the prompt and the remedy."""
        rows = {name: _prompts(values, name) for name, values in given.items()}
        first, second = rows.values()
        if len(first) != len(second):
            sizes = ", ".join(f"{name} has {len(side)}" for name, side in rows.items())
            raise ValueError(f"lengths differ: {sizes}; row i of both is one prompt")
        first_kind: AnswerKind | None = None
        for name, side in rows.items():
            for i, answers in enumerate(side):
                if len(answers) < 2:
                    raise ValueError(
                        f"{name} row {i} has {len(answers)} answers; the variability of a side "
                        "needs at least 2"
                    )
                for answer in answers:
                    kind = _kind(answer, name, i)
                    first_kind = first_kind or kind
                    if kind != first_kind:
                        raise ValueError(
                            f"{name} row {i} holds {kind} among {first_kind}; give all answers "
                            "of one kind"
                        )
        assert first_kind is not None  # every prompt has answers
        return cls(first_kind, (first, second))

    @property
    def counts(self) -> list[int]:
        """Answers per prompt, both sides."""
        return [len(a) + len(b) for a, b in zip(*self.sides, strict=True)]

    def lengths(self) -> list[Floats]:
        """Mean number of words of the answers to each prompt, per side; empty for scores."""
        if self.kind == "scores":
            return []
        length = _words if self.kind == "texts" else len
        return [
            np.array([math.fsum(map(length, row)) / len(row) for row in side])
            for side in self.sides
        ]

    def ids(self) -> ReadAnswer:
        """Return the function from an answer to token numbers, equal where tokens are equal."""
        if self.kind == "scores":
            raise ValueError("jaccard compares words; give texts or token sets, not scores")
        return VOCABULARY.ids if self.kind == "texts" else _TokenNumbers().ids

    def scores(self) -> ReadAnswer:
        """Return the function from an answer to its sentiment: given, or by VADER."""
        if self.kind == "token sets":
            raise ValueError("sentiment scores texts; give texts or scores, not token sets")
        return float if self.kind == "scores" else _compound


class _TokenNumbers(dict[Hashable, int]):
    """Token to number; a token not seen before gets the next one."""

    def __missing__(self, token: Hashable) -> int:
        self[token] = len(self)
        return self[token]

    def ids(self, tokens: Collection[Hashable]) -> Ids:
        """Return the numbers of tokens."""
        # Numbers follow the order of a set, which varies between runs. Overlaps do not use it.
        return np.fromiter(map(self.__getitem__, tokens), np.int32, len(tokens))


def fold_count(folds: Any) -> int | None:
    """Return the number of folds, at least 2; None for no folds."""
    if folds is None:
        return None
    if isinstance(folds, bool) or not isinstance(folds, Integral) or folds < 2:
        raise ValueError(f"folds is {folds!r}; give a whole number of at least 2, or None")
    return int(folds)


def folded(
    answers: list[Any], prompt: int, k: int | None, join: Callable[[list[Any]], Any]
) -> list[Any]:
    """Join the answers of one side of a prompt to contiguous folds."""
    if k is None:
        return answers
    size, more = divmod(len(answers), k)
    if size == 0:
        raise ValueError(
            f"folds is {k}, but prompt {prompt} has {len(answers)} answers on a side; give at "
            "most as many folds as answers"
        )
    ends = [size * j + min(j, more) for j in range(k + 1)]
    return [join(answers[start:end]) for start, end in pairwise(ends)]


def describe_lengths(lengths: Sequence[Floats], units: Sequence[Hashable] | None) -> str:
    """Mean length on either side in words, and a paired t test over prompts (or their units)."""
    first, second = lengths
    means = first - second
    if units is not None:
        rows = RowsByLabel(units, len(units)).values()
        means = np.array([math.fsum(means[own].tolist()) / len(own) for own in rows])
    spread = float(means.std(ddof=1)) if len(means) > 1 else 0.0
    test = "no test: the prompts do not differ" if len(means) > 1 else "no test: one prompt"
    if spread > 0.0:
        t = float(means.mean()) / spread * math.sqrt(len(means))
        p = 2.0 * float(special.stdtr(len(means) - 1, -abs(t)))
        shown = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
        test = f"paired t test over {len(means)} prompts: {shown}"
    return (
        f"answers are {first.mean():.1f} words long on the perturbed side and {second.mean():.1f} "
        f"on the other, {(first - second).mean():+.1f} ({test})"
    )


def _words(text: str) -> int:
    return len(VOCABULARY.ids(text))


# F is computed on the same texts again: by wording, and for fewer of the answers.
@functools.lru_cache(maxsize=2**16)
def _compound(text: str) -> float:
    return float(_vader().polarity_scores(text)["compound"])


@functools.cache
def _vader() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return SentimentIntensityAnalyzer()


def _prompts(values: Any, argument: str) -> PromptAnswers:
    given = listed(values, argument)
    rows = [listed(row, f"{argument} row {i}") for i, row in enumerate(given)]
    if not rows:
        raise ValueError(f"{argument} is empty; give the answers to at least one prompt")
    return rows


def _kind(answer: Any, argument: str, row: int) -> AnswerKind:
    if isinstance(answer, str):
        return "texts"
    if isinstance(answer, Real):
        if not math.isfinite(answer):
            raise ValueError(
                f"{argument} row {row} holds {answer}; leave out and count the answers without a "
                "score"
            )
        return "scores"
    if isinstance(answer, (Set, Sequence, np.ndarray)) and not isinstance(answer, bytes):
        return "token sets"
    shown = f"missing ({answer.reason})" if isinstance(answer, Missing) else repr(answer)
    raise ValueError(
        f"{argument} row {row} holds {shown[:60]}; give texts, token sets or scores, and leave "
        "out and count the answers that are not there"
    )


@dataclass(frozen=True, slots=True)
class PreparedDissimilarity:
    """A dissimilarity, and what turns an answer into what it takes."""

    # `negative_type`: equal sides are known to give the smallest possible F.

    name: str
    read: ReadAnswer
    between_all: Callable[[list[Any]], Floats]
    join: Callable[[list[Any]], Any]
    negative_type: bool = True


def prepared(dissimilarity: Dissimilarity, answers: SideAnswers) -> PreparedDissimilarity:
    """Prepare a dissimilarity, by its name or a function, for answers of a kind."""
    if isinstance(dissimilarity, str):
        if dissimilarity == "jaccard":
            return PreparedDissimilarity("jaccard", answers.ids(), jaccard, np.concatenate)
        if dissimilarity == "sentiment":
            return PreparedDissimilarity("sentiment", answers.scores(), differences, _mean)
    if not callable(dissimilarity):
        raise ValueError(
            f"dissimilarity is {dissimilarity!r}; choose jaccard, sentiment, or give a function "
            "of two answers"
        )
    joins: dict[str, Callable[[list[Any]], Any]] = {
        "texts": _no_fold,
        "token sets": lambda sets: frozenset(chain(*sets)),
        "scores": _mean,
    }
    return PreparedDissimilarity(
        getattr(dissimilarity, "__name__", type(dissimilarity).__name__),
        lambda answer: answer,
        functools.partial(by_calling, dissimilarity),
        joins[answers.kind],
        negative_type=False,
    )


def _mean(scores: list[float]) -> float:
    return float(np.mean(scores))


def _no_fold(texts: list[str]) -> str:
    if len(texts) > 1:
        raise ValueError(
            "folds of texts have no meaning for a dissimilarity of your own; give token sets (a "
            "fold is their union), scores (their mean), or folds=None"
        )
    return texts[0]


def jaccard(answers: Sequence[Ids]) -> Floats:
    """Return the Jaccard distance of each two answers, which are token numbers with repeats."""
    sizes = [len(ids) for ids in answers]
    if not any(sizes):
        return np.zeros((len(answers), len(answers)))
    # Renumbered so that the table is only as wide as this prompt's vocabulary.
    words, column = np.unique(np.concatenate(answers), return_inverse=True)
    table = np.zeros((len(answers), len(words)), dtype=np.float32)
    table[np.repeat(np.arange(len(answers)), sizes), column] = 1.0
    # Sums of ones below 2^24 are exact in single precision.
    shared = (table @ table.T).astype(np.float64)
    own = np.diag(shared)
    union = own[:, None] + own - shared
    return np.divide(union - shared, union, out=np.zeros_like(union), where=union > 0.0)


def differences(answers: Sequence[float]) -> Floats:
    """Absolute difference of each two scores."""
    scores = np.array(answers, dtype=np.float64)
    return np.abs(scores[:, None] - scores)


def by_calling(dissimilarity: Callable[[Any, Any], Any], answers: Sequence[Any]) -> Floats:
    """Call a symmetric dissimilarity on each two answers, the earlier answer first."""
    matrix = np.zeros((len(answers), len(answers)))
    for i, first in enumerate(answers):
        for j in range(i + 1, len(answers)):
            found = dissimilarity(first, answers[j])
            if not isinstance(found, Real):
                raise ValueError(
                    f"dissimilarity returned {found!r} for {str(first)[:40]!r} and "
                    f"{str(answers[j])[:40]!r}; it must return a number of at least 0"
                )
            matrix[i, j] = matrix[j, i] = found
    return matrix
