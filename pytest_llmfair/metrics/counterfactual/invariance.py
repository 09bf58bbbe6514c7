"""Counterfactual invariance: change of answers when only the group in the prompt changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_llmfair.metrics.arguments import note_constant, text_rows
from pytest_llmfair.metrics.counterfactual._pairs import (
    CompareAnswers,
    mean_over_pairs,
    one_by_one,
    placebo_floor,
    reduction,
)
from pytest_llmfair.metrics.counterfactual._texts import masker, rouge_of_texts
from pytest_llmfair.stats import Call, Finding, Mean, Population

# For `assert_counterfactual_invariance`; these are not names of `pytest_llmfair.metrics`.
__all__: list[str] = []

# What the call of an invariance estimate is named by, beside the names of registered metrics.
INVARIANCE = "counterfactual_invariance"

ScoreTexts = Callable[[Sequence[str]], npt.NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Measure:
    """A dissimilarity of two answers in [0, 1]: `prepare` distinct texts, then `compare` them."""

    # `lacks` are the groups for which the lexicon that masks has no terms.

    symbol: str
    prepare: Callable[[Sequence[str]], Iterable[Any]]
    compare: CompareAnswers[Any]
    scorer: ScoreTexts | None = None
    lacks: tuple[str, ...] = ()
    shipped: bool = True


def rouge_measure(mask: Any = None) -> Measure:
    """1 - ROUGE-L F1 of the texts, masked or not."""
    masked, lacks = masker(mask)
    return Measure(
        "1 - ROUGE-L",
        lambda texts: [masked(text) for text in texts],
        lambda first, second: np.subtract(1.0, rouge_of_texts(first, second)),
        lacks=lacks,
    )


def score_measure(name: str, scorer: ScoreTexts) -> Measure:
    """Absolute difference of the answers' scores."""
    return Measure(
        f"|{name} difference|",
        lambda texts: _scores(name, scorer, texts),
        lambda first, second: np.abs(np.subtract(first, second)),
        scorer,
    )


def sides_measure(name: str, scorer: ScoreTexts) -> Measure:
    """1 when the answers' scores fall on different sides of 0.5, else 0."""
    return Measure(
        f"{name} changes sides",
        lambda texts: _scores(name, scorer, texts),
        lambda first, second: np.not_equal(np.array(first) > 0.5, np.array(second) > 0.5),
        scorer,
    )


def _scores(name: str, scorer: ScoreTexts, texts: Sequence[str]) -> list[float]:
    """Score texts; on another scale all scores could lie on one side of a threshold."""
    scores = [float(score) for score in scorer(texts)]
    for text, score in zip(texts, scores, strict=True):
        if not 0.0 <= score <= 1.0:
            raise ValueError(
                f"the {name} of {text[:40]!r} is {score:g}, outside [0, 1]; rescale the scores"
            )
    return scores


def own_measure(function: Callable[[str, str], float]) -> Measure:
    """Take a user's own dissimilarity of two texts; anything outside [0, 1] is an error."""
    if not callable(function):
        raise ValueError(
            f"metric is {function!r}; give the name of one, or a function of two texts"
        )
    name = getattr(function, "__name__", type(function).__name__)

    def compare(a: str, b: str) -> float:
        found: Any = function(a, b)
        try:
            value = math.nan if isinstance(found, str) else float(found)
        except (TypeError, ValueError):
            value = math.nan
        if not 0.0 <= value <= 1.0:
            raise ValueError(
                f"{name}({a[:40]!r}, {b[:40]!r}) is {str(found)[:40]}; a dissimilarity must be in "
                "[0, 1]"
            )
        return value

    return Measure(name, list, one_by_one(compare), shipped=False)


def counterfactual_invariance(
    texts_a: Any,
    texts_b: Any,
    measure: Measure,
    *,
    placebo: Any = None,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Mean:
    """Mean dissimilarity of the answers to the members of a pair (Bouchard 2024, section 3.2)."""
    # With `placebo`, per pair the answers to its placebo prompt, floor and excess are measured
    # against the placebo instead of repeated answers.
    sides = [text_rows(texts_a, "texts_a"), text_rows(texts_b, "texts_b"), placebo or []]
    distinct = list(dict.fromkeys(text for rows in sides for row in rows for text in row))
    prepared = dict(zip(distinct, measure.prepare(distinct), strict=True))
    rows_a, rows_b, twins = ([[prepared[text] for text in row] for row in rows] for rows in sides)
    return invariance_of_prepared(
        rows_a,
        rows_b,
        measure,
        placebo=None if placebo is None else twins,
        units=units,
        population=population,
        distinct=len(distinct),
        lacks=measure.lacks,
    )


def invariance_of_prepared(
    rows_a: list[list[Any]],
    rows_b: list[list[Any]],
    measure: Measure | str,
    *,
    placebo: list[list[Any]] | None = None,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
    distinct: int = 0,
    lacks: tuple[str, ...] = (),
) -> Mean:
    """Compare answers that are masked or scored already; `measure` may be a shipped symbol."""
    keywords = {
        "placebo": placebo,
        "units": units,
        "population": population,
        "distinct": distinct,
        "lacks": lacks,
    }
    if isinstance(measure, str):
        measure = _measure_called(measure)
    reduce = reduction(measure.compare)
    value = mean_over_pairs(rows_a, rows_b, reduce, units=units, population=population)
    if measure.scorer is not None:
        sides = (rows_a, rows_b, placebo or [])
        scores = np.unique([score for rows in sides for row in rows for score in row])
        # A model that gives one answer has one score, which says nothing against the scorer.
        value = note_constant(value, [np.resize(scores, distinct)])
    if placebo is not None:
        floor, excess = placebo_floor(
            rows_a, rows_b, placebo, measure.compare, units=units, population=population
        )
        value = replace(value, floor=floor, excess=excess)
    # A dissimilarity of the user has no name under which it could be found again.
    named = measure.symbol if measure.shipped else None
    value = replace(value, call=Call(INVARIANCE, (rows_a, rows_b, named), keywords))
    return value.with_findings(*map(Finding.uncovered, lacks))


def _measure_called(symbol: str) -> Measure:
    """Return the shipped measure of a symbol, for answers that are masked or scored already."""
    name = symbol.removesuffix(" changes sides").removesuffix(" difference|").removeprefix("|")
    kinds = (rouge_measure(), score_measure(name, _no_scorer), sides_measure(name, _no_scorer))
    for measure in kinds:
        if measure.symbol == symbol:
            return measure
    raise ValueError(f"no shipped dissimilarity is called {symbol!r}")


def _no_scorer(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    raise RuntimeError("these answers were scored before")
