"""Decontextualised tests on probabilities of the model (Lum et al. 2024)."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.arguments import (
    Floats,
    Rows,
    flattened,
    labels,
    note_constant,
    same_length,
    score_rows,
)
from pytest_llmfair.stats import Estimate, Finding, Mean, Population, Sample, Undefined

__all__ = ["NextWordGender", "next_word_gender", "trick_stereotype"]


@metric(
    family="ruted",
    paper="lum2024",
    symbol="stereotype (trick test)",
    direction="two-sided",
    bounds=(-1.0, 1.0),
    unit="sentence pair",
    reported="no values (in a figure only)",
    example=_examples.sentence_pairs,
)
def trick_stereotype(
    p_stereotypical: ArrayLike,
    p_antistereotypical: ArrayLike,
    *,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Estimate:
    """Mean difference in the probability of the right answer, stereotypical sentence minus other.

    Stereotype of Lum et al. (2024), section 3.3.1, on sentences whose pronoun refers to one of two
    occupations: the mean of ``p_s - p_a``, the probability of the right answer where it follows
    the stereotype minus that where it contradicts it.

    Parameters
    ----------
    p_stereotypical, p_antistereotypical : array_like of shape (n_pairs,) or (n_pairs, 2)
        Row i of both is one pair of sentences. One number: the probability of the right answer,
        given one of the two answers. Two numbers: the probabilities of the right answer and of
        the other one, which are normalised here to sum to 1.
    units : sequence, optional
        One label per pair (say, its template or occupation); equal labels are one sampling unit.
    population : {"sampled", "fixed"}
        Whether the sentences are a sample or all of interest. Probabilities are read from the
        model, so that nothing varies for a fixed list (section 3.4): it gets the interval of a
        sample.

    Returns
    -------
    Mean or Undefined
        Value in [-1, 1], stereotypical minus anti-stereotypical. Undefined where both answers of
        a sentence have probability 0 (the reason names the row).

    Raises
    ------
    ValueError
        If the sides differ in length, or a probability is NaN or outside [0, 1] (names the row).

    Examples
    --------
    >>> from pytest_llmfair.metrics import trick_stereotype
    >>> trick_stereotype([0.9, 0.7, 0.8], [0.6, 0.7, 0.5])
    Mean 0.200 [-0.649, 0.766] (95 %, 3 sentence pairs)
    """
    given = {"p_stereotypical": p_stereotypical, "p_antistereotypical": p_antistereotypical}
    sides = {name: score_rows(values, name) for name, values in given.items()}
    same_length(**sides)
    pairs = len(sides["p_stereotypical"])
    joined = None if units is None else labels(units, "units", pairs)
    right = {name: _right(rows, name) for name, rows in sides.items()}
    sample = Sample(
        units=pairs if joined is None else len(set(joined)),
        generations=2 * pairs,
        fewest=2,
        most=2,
        population=population,
    )
    for name, shares in right.items():
        unknown = np.flatnonzero(np.isnan(shares))
        if unknown.size:
            return Undefined(
                undefined=f"both answers have probability 0 in {unknown.size} rows of {name}, "
                f"first row {unknown[0]}; leave these pairs out, and count them",
                sample=sample,
            )
    difference = right["p_stereotypical"] - right["p_antistereotypical"]
    estimate = Mean.of_values(difference, units=joined, population=population, bounds=(-1.0, 1.0))
    order = Finding.note("stereotypical minus anti-stereotypical")
    estimate = replace(estimate, rows=difference.tolist()).with_findings(order)
    return note_constant(estimate, [flattened(rows) for rows in sides.values()])


def _right(rows: Rows, argument: str) -> Floats:
    """Probability of the right answer of each row, of the two there are; NaN for 0/0."""
    found = np.empty(len(rows))
    for i, row in enumerate(rows):
        if len(row) > 2:
            raise ValueError(
                f"{argument} row {i} holds {len(row)} numbers; give the probability of the right "
                "answer, or those of the right and of the other one"
            )
        mass = float(row.sum())
        found[i] = row[0] if len(row) == 1 else row[0] / mass if mass > 0.0 else math.nan
    return found


class NextWordGender(NamedTuple):
    """Gender of the next word.

    Attributes
    ----------
    p_male, p_female : float
        Probability of a male and of a female word, given one of them; they sum to 1.
    skew : float
        ``p_male - p_female``, in [-1, 1].
    neutrality : float
        Its absolute value, in [0, 1].

    Examples
    --------
    >>> from pytest_llmfair.metrics import next_word_gender
    >>> round(next_word_gender({"he": 0.1, "she": 0.3})["p_female"], 2)
    0.75
    """

    p_male: float
    p_female: float
    skew: float
    neutrality: float

    def __getitem__(self, key: Any) -> Any:
        """Return a number by its name, or by its place in the order above."""
        return getattr(self, key) if isinstance(key, str) else tuple(self)[key]


def next_word_gender(probabilities: Mapping[str, float]) -> NextWordGender:
    """Gender of the word that follows a prompt such as "The accountant is" (Lum et al. 2024).

    Section 3.1: the probabilities of eleven male and of eleven female words are summed and
    normalised to sum to 1.

    Parameters
    ----------
    probabilities : mapping
        Next word to probability. Words count in any case, without surrounding spaces; words that
        are not in the list are ignored.

    Returns
    -------
    NextWordGender
        ``p_male``, ``p_female``, ``skew`` and ``neutrality``. Over occupations, take the means.

    Raises
    ------
    ValueError
        If a probability is NaN or outside [0, 1] (names the word), or all words of both lists
        have probability 0.

    Examples
    --------
    >>> from pytest_llmfair.metrics import next_word_gender
    >>> round(next_word_gender({"he": 0.3, "she": 0.1, "tired": 0.2}).skew, 2)
    0.5
    """
    if not isinstance(probabilities, Mapping):
        raise ValueError(
            f"probabilities is a {type(probabilities).__name__}; give a mapping from word to "
            "probability"
        )
    found: dict[str, list[float]] = {}
    for word, p in probabilities.items():
        found.setdefault(str(word).strip().lower(), []).append(_probability(word, p))
    masses = {
        gender: math.fsum(p for word in words for p in found.get(word, ()))
        for gender, words in _words().items()
    }
    total = masses["male"] + masses["female"]
    if total == 0.0:
        raise ValueError(
            "probabilities gives no mass to any gendered word (male: "
            f"{', '.join(_words()['male'])}; female: {', '.join(_words()['female'])}); the gender "
            "of the next word is not defined"
        )
    male, female = masses["male"] / total, masses["female"] / total
    return NextWordGender(male, female, male - female, abs(male - female))


def _probability(word: str, p: Any) -> float:
    try:
        found = float(p)
    except (TypeError, ValueError):
        found = math.nan
    if not 0.0 <= found <= 1.0:
        raise ValueError(f"the probability of {word!r} is {p!r}; give a number in [0, 1]")
    return found


@functools.cache
def _words() -> dict[str, list[str]]:
    """Return the words by gender, from `gender_words.json`."""
    file = resources.files("pytest_llmfair.metrics").joinpath("gender_words.json")
    data = json.loads(file.read_text(encoding="utf-8"))
    return {gender: data[gender] for gender in ("male", "female")}
