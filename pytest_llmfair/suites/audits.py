"""Classified sentences: as rows for the generalized metrics, and as tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_llmfair.metrics import friedman, wilcoxon
from pytest_llmfair.stats import Estimate, Mean
from pytest_llmfair.stats.crossed import over_factors
from pytest_llmfair.stats.multiplicity import holm
from pytest_llmfair.suites.kind import Answered, Table, interval_text
from pytest_llmfair.suites.questions import Asked, why_not_answered

# Probabilities that differ by less are the same.
SAME = 1e-6


@dataclass(frozen=True, slots=True)
class Rows:
    """The answers of a model about sentences, one row each."""

    # What the columns of the scores are.
    classes: tuple[str, ...]
    templates: list[str]
    groups: list[str]
    terms: list[str]
    # Column of the class that the sentence has.
    gold: list[int]
    # Probability of each class, of shape (n_rows, n_classes).
    scores: NDArray[np.float64]
    # Column of the class that the model gives; -1 for none.
    predicted: list[int]
    # Whether they are names in sentences, which a tagger found (column 0) or not.
    tagged: bool

    @property
    def factors(self) -> dict[str, list[str]]:
        """Return the level of each row in what is drawn from more; all groups share templates."""
        return {"template": self.templates, "term": self.terms}

    def by_template(self) -> dict[str, dict[str, list[int]]]:
        """Return rows by source example and group."""
        found: dict[str, dict[str, list[int]]] = {}
        for row, (template, group) in enumerate(zip(self.templates, self.groups, strict=True)):
            found.setdefault(template, {}).setdefault(group, []).append(row)
        return found


def rows_of(asked: Sequence[Asked]) -> Rows | str:
    """Return the mean answer to each sentence over its wordings, by complete templates."""
    if why := why_not_answered(asked):
        return why
    found: dict[tuple[str, ...], list[NDArray[np.float64]]] = {}
    lost = {each.question.about[0] for each in asked if _empty(each)}
    for each in asked:
        template, label, group, term = each.question.about
        if template in lost:
            continue
        classes = each.question.words or (label,)
        values = np.array(each.probabilities)
        # A tagger gives the probability of the class, and whether it found the name.
        if each.question.words:
            values = np.append(values / values.sum(), math.nan)
        found.setdefault((template, label, group, term), []).append(values)
    if not found:
        return "no sentence has an answer"
    means = np.array([np.mean(values, axis=0) for values in found.values()])
    scores, hits = means[:, :-1], means[:, -1]
    templates, labels, groups, terms = map(list, zip(*found, strict=True))
    return Rows(
        classes,
        templates,
        groups,
        terms,
        [classes.index(label) for label in labels],
        scores,
        [
            _likeliest(row) if math.isnan(hit) else (0 if hit else -1)
            for row, hit in zip(scores, hits, strict=True)
        ],
        not asked[0].question.words,
    )


def _empty(asked: Asked) -> bool:
    return not (any(asked.probabilities) if asked.question.words else asked.probabilities)


def _likeliest(row: NDArray[np.float64]) -> int:
    """Return the column of the largest probability; -1 if two share it."""
    best = np.flatnonzero(row >= row.max() - 1e-12)
    return int(best[0]) if best.size == 1 else -1


def why_undefined(rows: Rows, positive: str | None, of_predictions: bool) -> str:
    """Return the reason a metric of a class is undefined; empty where it is defined."""
    if positive is not None and positive not in rows.classes:
        return f"the model has no label for {positive}"
    # Rounding errors are no differences.
    constant = bool((np.ptp(rows.scores, axis=0) < SAME).all())
    if constant and not rows.tagged:
        return "the model gives every sentence the same probabilities"
    only = set(rows.predicted)
    # A tagger that finds every name may be as sure of all of them.
    if constant and only == {-1}:
        return "the model finds no name"
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


def by_group(task: str, rows: Rows, column: int, signed: Estimate) -> Table:
    """Return a row for each group: how often the model is right, and how likely the class is."""
    name = rows.classes[column]
    found: list[tuple[str | int | float, ...]] = []
    for group in dict.fromkeys(rows.groups):
        own = [i for i, known in enumerate(rows.groups) if known == group]
        factors = {name: [levels[i] for i in own] for name, levels in rows.factors.items()}
        right = [float(rows.predicted[i] == rows.gold[i]) for i in own]
        likely = [float(rows.scores[i, column]) for i in own]
        part = None if signed.undefined else signed.groups[group]
        found.append(
            (
                group,
                len(own),
                *_with_interval(right, factors),
                *_with_interval(likely, factors),
                math.nan if part is None else part.centre,
                "" if part is None or part.estimate is None else interval_text(part.estimate),
            )
        )
    return Table(
        f"{task}: each group",
        ("group", "sentences", "right", "95 %", f"P({name})", "95 %", "AvgEG", "95 %"),
        tuple(found),
        f"AvgEG: probability that a {name} sentence of the group scores above one of the other "
        "groups, less one half",
    )


def heat_map(found: Sequence[Answered]) -> Table:
    """Return the value of each metric by task, and the task whose value is furthest from fair."""
    names = dict.fromkeys(name for each in found for name in each.values)
    rows: list[tuple[str | int | float, ...]] = []
    for name in names:
        estimates = [each.values.get(name) for each in found]
        cells = [math.nan if one is None or one.undefined else one.centre for one in estimates]
        fair = 1.0 if name.endswith("_ratio") else 0.0
        sizes = [_distance(cell, fair) for cell in cells]
        widest = max(sizes)
        largest = found[sizes.index(widest)].task.name if widest > 0.0 else ""
        rows.append((name, *cells, largest))
    return Table(
        "heat map: metrics by task",
        ("metric", *(each.task.name for each in found), "furthest from fair"),
        tuple(rows),
        "compare within a row; metrics have different scores, and a value without its interval "
        "is no verdict",
    )


def significance(tested: Mapping[str, tuple[Rows, int] | None]) -> Table:
    """Return tests of equal scores in all groups, with Holm's correction over the tasks."""
    results = {name: _test(*given) if given else None for name, given in tested.items()}
    adjusted = holm([math.nan if each is None else each[3] for each in results.values()])
    rows: list[tuple[str | int | float, ...]] = []
    for (name, each), p in zip(results.items(), adjusted, strict=True):
        test, examples, statistic, raw = each or ("none: no scores", 0, math.nan, math.nan)
        rows.append((name, test, examples, statistic, _p(raw), _p(p)))
    return Table(
        "significance: are the scores of all groups equal?",
        ("task", "test", "templates", "statistic", "p", "p (Holm)"),
        tuple(rows),
        "scores are probabilities of the class, the mean over the terms of a group; a small p "
        "shows that groups differ, not by how much",
    )


def _test(rows: Rows, column: int) -> tuple[str, int, float, float]:
    groups = list(dict.fromkeys(rows.groups))
    # Rounding errors are no differences.
    table = [
        [round(float(rows.scores[own[group], column].mean()), 9) for group in groups]
        for own in rows.by_template().values()
    ]
    name, found = "Friedman", None
    if len(groups) == 2:
        name = "Wilcoxon"
        found = wilcoxon([row[0] for row in table], [row[1] for row in table])
    else:
        found = friedman(table)
    if found.flag:
        return f"{name}: {found.flag}", len(table), math.nan, math.nan
    return name, len(table), found.statistic, found.p


def _p(p: float) -> str:
    return "undefined" if math.isnan(p) else f"{p:.2g}"


def _distance(value: float, fair: float) -> float:
    if math.isnan(value):
        return -1.0
    if not fair:
        return abs(value)
    # A ratio of 0 is as far from 1 as its inverse, which is infinite.
    return abs(math.log(value)) if value > 0.0 else math.inf


def _with_interval(values: list[float], factors: Mapping[str, Sequence[str]]) -> tuple[float, str]:
    mean = over_factors(
        lambda units: Mean.of_values(values, units=units), factors, ["all"] * len(values)
    )
    return mean.value, interval_text(mean)
