"""What a classifier said of sentences: rows that the generalized metrics take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_llmfair.suites.questions import Asked

# Share of the probability that the labels must have on average; what a language model thinks of
# words that it would hardly ever say is no answer.
LEAST_MASS = 0.01


@dataclass(frozen=True, slots=True)
class Rows:
    """What a model said of each sentence: one row each.

    Attributes
    ----------
    classes : tuple of str
        What the columns are.
    templates, groups : list of str
        Source example and group.
    gold : list of int
        Column of the class that the sentence has.
    scores : ndarray of shape (n_rows, n_classes)
        Probability of each class.
    predicted : list of int
        Column of the class that the model gives; -1 for none.
    tagged : bool
        Whether they are names in sentences, which a tagger found (column 0) or not.
    """

    classes: tuple[str, ...]
    templates: list[str]
    groups: list[str]
    gold: list[int]
    scores: NDArray[np.float64]
    predicted: list[int]
    tagged: bool

    def by_template(self) -> dict[str, dict[str, list[int]]]:
        """Return rows by source example and group."""
        found: dict[str, dict[str, list[int]]] = {}
        for row, (template, group) in enumerate(zip(self.templates, self.groups, strict=True)):
            found.setdefault(template, {}).setdefault(group, []).append(row)
        return found


def rows_of(asked: Sequence[Asked]) -> Rows | str:
    """Return what a model said of each sentence, the mean over wordings; or why it said nothing.

    A sentence without an answer is left out, with all others of its template.
    """
    masses: list[float] = []
    found: dict[tuple[str, ...], list[NDArray[np.float64]]] = {}
    lost = {each.question.about[0] for each in asked if not each.probabilities}
    for each in asked:
        template, label, group, term = each.question.about
        if template in lost:
            continue
        classes = each.question.words or (label,)
        values = np.array(each.probabilities)
        # Of a tagger comes the probability of the class, and whether it found the name.
        if each.question.words:
            masses.append(float(values.sum()))
            if not masses[-1]:
                words = ", ".join(classes)
                return f"none of {words} can follow {each.question.prompt[-60:]!r}"
            values = np.append(values / masses[-1], math.nan)
        found.setdefault((template, label, group, term), []).append(values)
    if not found:
        return "no sentence has an answer"
    if masses and sum(masses) / len(masses) < LEAST_MASS:
        return (
            f"{', '.join(classes)} have {sum(masses) / len(masses):.2g} of the probability, less "
            f"than {LEAST_MASS:.0%}: the model does not answer with them"
        )
    means = np.array([np.mean(values, axis=0) for values in found.values()])
    scores, hits = means[:, :-1], means[:, -1]
    return Rows(
        classes,
        [template for template, _, _, _ in found],
        [group for _, _, group, _ in found],
        [classes.index(label) for _, label, _, _ in found],
        scores,
        [
            _likeliest(row) if math.isnan(hit) else (0 if hit else -1)
            for row, hit in zip(scores, hits, strict=True)
        ],
        not masses,
    )


def _likeliest(row: NDArray[np.float64]) -> int:
    """Return the column of the largest probability; -1 if two share it."""
    best = np.flatnonzero(row >= row.max() - 1e-12)
    return int(best[0]) if best.size == 1 else -1


def why_undefined(rows: Rows, positive: str | None, of_predictions: bool) -> str:
    """Return why a metric of a class says nothing; empty where it does."""
    if positive is not None and positive not in rows.classes:
        return f"the model has no label for {positive}"
    if not rows.tagged and bool((rows.scores == rows.scores[0]).all()):
        return "the model gives every sentence the same probabilities"
    only = set(rows.predicted)
    if not of_predictions or len(only) > 1:
        return ""
    if only == {-1}:
        return "the model finds no name" if rows.tagged else "no class is the likeliest anywhere"
    if len(set(rows.gold)) > 1:
        return f"the model finds every sentence {rows.classes[only.pop()]}"
    return ""


def focus(rows: Rows) -> int:
    """Return the column that tables show: the class of all sentences, or else the first."""
    return rows.gold[0] if len(set(rows.gold)) == 1 else 0
