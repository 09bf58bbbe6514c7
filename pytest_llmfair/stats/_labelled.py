"""Mean label of one group, from a judge of all answers and people's labels of some."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, Literal, NamedTuple

import numpy as np

from pytest_llmfair.stats._records import Ends, Floats, Indices

# Labels of 0 or 1, differences of two of these, or anything else.
Kind = Literal["count", "twins", "scale"]
# Pseudo-labels at either end of the range, in the variance only.
_PSEUDO = {"count": 1.0, "twins": 0.5, "scale": 0.0}
# With fewer labels of a group a slope would add more noise than it takes away.
_FEWEST_FOR_SLOPE = 20
# Smaller sums of squares, and smaller variances, are rounding.
_NO_SQUARES, _NO_VARIANCE = 1e-12, 1e-16


class LabelCell(NamedTuple):
    """A stratum of a group: share, answers, labelled units, mean and variance of one label."""

    group: Hashable
    stratum: int
    share: float
    answers: int
    labels: int
    mean: float
    variance: float


class Judged(NamedTuple):
    """Judged answers of one group, or differences of twins; missing labels were asked for."""

    judge: Floats
    labels: Floats
    strata: Indices
    units: Indices
    pairs: Indices
    missing: Any

    def at(self, places: Any) -> Judged:
        """Return some of the rows."""
        return Judged(*(each[places] for each in self))


class Corrected(NamedTuple):
    """The corrected mean of one group, or the mean difference of twins."""

    value: float
    # By stratum: what the influence leaves out of the squared error, all of it, and its df.
    errors: Floats
    # Influence of each answer on the value, and the part that is left if all are labelled.
    influence: Floats
    between: Floats
    cells: list[LabelCell]

    @property
    def within(self) -> float:
        """Variance of a label inside the strata."""
        return math.fsum(cell.share * cell.variance for cell in self.cells)


def corrected(rows: Judged, kind: Kind, span: Ends, group: Any) -> Corrected:
    """Correct the judge's mean of some rows by the labels among them."""
    known, names = ~np.isnan(rows.labels), np.unique(rows.strata)
    slope = 0.0 if kind != "scale" else _slope(rows.at(known))
    predicted, pull = slope * rows.judge, np.zeros(len(rows.judge))
    errors, cells = [], []
    for name in names:
        inside = rows.strata == name
        at, share = inside & known, float(inside.mean())
        residual = rows.labels[at] - slope * rows.judge[at]
        if count := len(units := np.unique(rows.units[at], return_inverse=True)[1]):
            own = np.bincount(units, residual) / np.bincount(units)
            count, mean = len(own), float(residual.mean())
            variance, df = _squared_error(own, kind, span, float(slope != 0.0) / len(names))
            centred, more = (residual - mean) / len(residual), count / max(count - 1, 1)
            shown = float((np.bincount(units, centred) ** 2).sum()) * more
            beyond = max(variance - shown, 0.0) if kind != "scale" else 0.0
            predicted[inside] += mean
            pull[at] = share * centred * math.sqrt(more)
        else:
            # A small stratum without a label may hold anything.
            mean = predicted[inside] = 0.5 * (span[0] + span[1])
            variance = beyond = (span[1] - span[0]) ** 2 / 12.0
            df = math.inf
        errors.append((share**2 * beyond, share**2 * variance, df))
        own_cell = int(name), share, int(inside.sum()), count, mean, variance * max(count, 1)
        cells.append(LabelCell(group, *own_cell))
    value = float(predicted.mean())
    between = (predicted - value) / len(predicted)
    return Corrected(value, np.array(errors), between + pull, between, cells)


def _slope(rows: Judged) -> float:
    """Least squares of labels on the judge inside strata."""
    if len(rows.labels) < _FEWEST_FOR_SLOPE:
        return 0.0
    sizes = np.maximum(np.bincount(rows.strata), 1)
    sides = (rows.judge, rows.labels)
    f, y = (x - (np.bincount(rows.strata, x) / sizes)[rows.strata] for x in sides)
    square = float(f @ f)
    return float(f @ y) / square if square > _NO_SQUARES else 0.0


def _squared_error(y: Floats, kind: Kind, span: Ends, lost: float) -> tuple[float, float]:
    """Squared error of the mean label of a stratum, and its degrees of freedom."""
    n, wide = len(y), (span[1] - span[0]) ** 2
    if extra := _PSEUDO[kind]:
        total = n + 2.0 * extra
        first = float(y.sum()) + extra * (span[0] + span[1])
        second = float(y @ y) + extra * (span[0] ** 2 + span[1] ** 2)
        return (second / total - (first / total) ** 2) / n, math.inf
    if n - 1 - lost < 1:
        return wide / 12.0, math.inf
    squares = (y - y.mean()) ** 2
    variance = float(squares.sum()) / (n - 1 - lost)
    if variance <= _NO_VARIANCE:
        # Equal labels prove little.
        return wide / (2.0 * n * (n + 2)), math.inf
    kurtosis = float(((squares / squares.mean()) ** 2).mean())
    df = 2.0 * n / (kurtosis - (n - 3) / (n - 1)) - lost
    return variance / n, min(max(df, 1.0), n - 1.0 - lost)


def by_unit(influence: Floats, units: Indices) -> float:
    """Squared error of a sum of influences, with units as draws."""
    sums = np.bincount(np.unique(units, return_inverse=True)[1], influence)
    return float(sums @ sums) * len(sums) / max(len(sums) - 1, 1)
