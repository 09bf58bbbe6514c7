"""The true gap between groups, from a judge of all answers and people's labels of some."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats._base import Estimate, GroupRow, Undefined
from pytest_llmfair.stats._clusters import numbered
from pytest_llmfair.stats._records import (
    Call,
    Contributions,
    Ends,
    Floats,
    Indices,
    Passes,
    Sample,
)
from pytest_llmfair.stats._score_intervals import t_quantile
from pytest_llmfair.stats.worst_groups import WorstGroups

CORRECTED_GAP = "corrected_gap"
# From these degrees of freedom on t is the normal distribution.
_NORMAL_DF = 1e6
# Labels of 0 or 1, differences of two of these, or anything else.
Kind = Literal["count", "twins", "scale"]
# Pseudo-labels at either end of the range, in the variance only.
_PSEUDO = {"count": 1.0, "twins": 0.5, "scale": 0.0}
# With fewer labels of a group a slope would add more noise than it takes away.
_FEWEST_FOR_SLOPE = 20
# Smaller sums of squares, and smaller variances, are rounding.
_NO_SQUARES, _NO_VARIANCE = 1e-12, 1e-16


@dataclass(eq=False, kw_only=True)
class CorrectedGap(Estimate):
    """Mean of people's labels in the first group minus that in the second, or their ratio.

    The judge sets the strata, and predicts inside them where labels are numbers; labelled answers,
    drawn at random inside each stratum, correct it (Tenenbein 1970 for a judge that says yes or
    no). The variance adds the influence of every answer, summed by unit, to what the labels of a
    stratum leave open.
    """

    # The gap, or the logarithm of the ratio; its squared error and degrees of freedom.
    gap: float
    variance: float
    df: float
    ratio: bool
    absolute: bool
    # What the judge alone gives, with its squared error, on the scale of `gap`.
    judge_gap: float
    judge_variance: float
    # Squared errors if every answer were labelled, and of the same labels without a judge.
    least_variance: float
    alone_variance: float
    cells: tuple[LabelCell, ...]
    # Labels of people, counted by answer.
    labels: int
    # The same with missing labels at either extreme; empty where none is missing.
    extremes: tuple[CorrectedGap, ...] = ()
    method: str = "strata of the judge, Satterthwaite df"

    def lower_bound(self, alpha: float) -> float:
        """Lower end at one-sided error rate `alpha`."""
        low, high = self._ends(alpha)
        return max(0.0, low, -high) if self.absolute else self.on_scale(low)

    def upper_bound(self, alpha: float) -> float:
        """Upper end at one-sided error rate `alpha`."""
        low, high = self._ends(alpha)
        return max(high, -low) if self.absolute else self.on_scale(high)

    def _ends(self, alpha: float) -> Ends:
        wide = t_quantile(1.0 - alpha, self.df) * math.sqrt(self.variance)
        ends = [(self.gap - wide, self.gap + wide), *(x._ends(alpha) for x in self.extremes)]
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        most = math.inf if self.ratio else self.attainable[1]
        return max(low, -most), min(high, most)

    def on_scale(self, x: float) -> float:
        """Return a gap, or the ratio whose logarithm it is."""
        return math.exp(min(x, 700.0)) if self.ratio and not self.absolute else x

    @property
    def saved(self) -> int:
        """Labels that the judge saves: so many more would be needed without it."""
        return round(self.labels * (self.alone_variance / self.variance - 1.0))

    def standard_error(self, at: float | None = None) -> float:
        """Return the observed standard error, also for planning: labels show how they vary."""
        return math.sqrt(self.variance) * (self.value if self.fair else 1.0)

    @property
    def fair(self) -> float:
        """Value of equal groups: 1 for a ratio, else 0."""
        return float(self.ratio and not self.absolute)

    def fair_passes(self, allowed: Ends, fair: float, alpha: float) -> Passes:
        """As :meth:`Estimate.fair_passes`, as if no label were missing."""
        if self.absolute:
            allowed = -allowed[1], allowed[1]
        elif self.ratio:
            allowed = math.log(allowed[0]), math.log(allowed[1])
        signed = replace(self, value=self.gap, ratio=False, absolute=False, extremes=())
        return super(CorrectedGap, signed).fair_passes(allowed, 0.0, alpha)


def corrected_gap(
    judge: ArrayLike,
    labels: ArrayLike,
    groups: Sequence[Hashable],
    *,
    strata: Sequence[Hashable] | None = None,
    units: Sequence[Hashable] | None = None,
    pairs: Sequence[Hashable] | None = None,
    missing: Sequence[bool] | None = None,
    span: tuple[float, float] = (0.0, 1.0),
    ratio: bool = False,
) -> Estimate:
    """Gap of people's labels between groups, from a judge of all answers and labels of some.

    `judge` and `labels` have a number per answer; labels are NaN where there is none. The gap is
    that of the first of `groups` to appear minus the second; of more than two groups every two are
    compared, and the largest size is the value. Labelled answers are a random sample of each of
    the `strata` (by default the judge's values) of a group. Answers with equal `units` are one
    sampling unit; with equal `pairs` they are twins, whose differences are compared. Where labels
    are `missing` the interval holds whatever they are. `span` is the range of labels. `ratio`
    divides the means; of more than two groups it is the absolute logarithm.
    """
    given = {"strata": strata, "units": units, "pairs": pairs, "missing": missing}
    call = Call(CORRECTED_GAP, (judge, labels, groups), {**given, "span": span, "ratio": ratio})
    rows, groups = _checked(judge, labels, groups, given, span), list(groups)
    names = list(dict.fromkeys(groups))
    if len(names) < 2:
        raise ValueError(f"all answers are of group {names[0]!r}; give those of two or more")
    number = numbered(groups)
    sides = {name: rows.at(number == place) for place, name in enumerate(names)}
    form = _Form(span, ratio, pairs is not None and not ratio, len(names) > 2)
    parts: dict[Any, Estimate] = {
        pair: _between(pair, [sides[name] for name in pair], form)
        for pair in combinations(names, 2)
    }
    if len(parts) == 1:
        return replace(*parts.values(), call=call)
    distinct = len(np.unique(rows.units))
    worst = WorstGroups.of_parts(parts, "lower", units=distinct, generations=len(rows.judge))
    return replace(worst, call=call, unit="")


class _Form(NamedTuple):
    """Range of the labels, and what is made of two groups."""

    span: Ends
    ratio: bool
    paired: bool
    absolute: bool


def _checked(judge: Any, labels: Any, groups: Any, given: dict[str, Any], span: Ends) -> Judged:
    f, y = np.asarray(judge, float), np.asarray(labels, float)
    for name, each in {"labels": y, "groups": groups, **given}.items():
        if each is not None and len(each) != len(f):
            raise ValueError(
                f"{name} has {len(each)} rows for {len(f)} answers; give one for each"
            )
    if not np.isfinite(f).all():
        row = int(np.argmin(np.isfinite(f)))
        raise ValueError(f"judge row {row} is {f[row]}; leave the answer out, and count it")
    if (outside := ~np.isnan(y) & ~((y >= span[0]) & (y <= span[1]))).any():
        row = int(np.argmax(outside))
        raise ValueError(
            f"labels row {row} is {y[row]:g}, outside {span[0]:g} to {span[1]:g}; correct it, or "
            "give the range of labels"
        )
    every = range(len(f))
    strata, units, pairs = (
        numbered(given[name] or default)
        for name, default in (("strata", f.tolist()), ("units", every), ("pairs", every))
    )
    lost = np.zeros(len(f), np.bool_) if given["missing"] is None else np.array(given["missing"])
    return Judged(f, y, strata, units, pairs, lost)


def _between(pair: tuple[Hashable, Hashable], sides: list[Judged], form: _Form) -> Estimate:
    """Compare two groups; with missing labels also at both extremes of these."""
    found = _two_groups(pair, sides, form)
    if not isinstance(found, CorrectedGap) or not any(side.missing.any() for side in sides):
        return found
    extremes = []
    for ends in (form.span, form.span[::-1]):
        filled = [
            side._replace(labels=np.where(side.missing, end, side.labels))
            for side, end in zip(sides, ends, strict=True)
        ]
        if not isinstance(each := _two_groups(pair, filled, form), CorrectedGap):
            return each
        extremes.append(each)
    return replace(found, extremes=tuple(extremes))


def _two_groups(pair: tuple[Hashable, Hashable], sides: list[Judged], form: _Form) -> Estimate:
    span, ratio, paired, absolute = form
    labels = np.concatenate([side.labels for side in sides])
    kind: Kind = "count" if span == (0.0, 1.0) and _only(labels, 0.0, 1.0) else "scale"
    parts = [corrected(side, kind, span, name) for side, name in zip(sides, pair, strict=True)]
    means, rows = [part.value for part in parts], sides
    sizes = np.unique(np.concatenate([side.units for side in sides]), return_counts=True)[1]
    sample = Sample.of_sizes(sizes)
    table: dict[Hashable, GroupRow] = {
        name: GroupRow(math.nan, len(side.judge), rate=mean)
        for name, side, mean in zip(pair, sides, means, strict=True)
    }
    judged, most = [float(side.judge.mean()) for side in sides], span[1] - span[0]
    gap, judge_gap, signs = means[0] - means[1], judged[0] - judged[1], np.array([1.0, -1.0])
    if ratio:
        if empty := [str(name) for name, mean in zip(pair, means, strict=True) if not mean > 0.0]:
            why = f"no label of {' and of '.join(empty)} is an event, and a ratio needs one"
            return Undefined(undefined=f"{why}; judge the gap, or label more", sample=sample)
        gap, signs = math.log(means[0] / means[1]), signs / means
        judge_gap = math.log(judged[0] / judged[1]) if min(judged) > 0.0 else math.nan
    if paired:
        rows, wide = [_twins(*sides)], (-most, most)
        kind = (
            "twins" if wide == (-1.0, 1.0) and _only(rows[0].labels, -1.0, 0.0, 1.0) else "scale"
        )
        parts, signs = [corrected(rows[0], kind, wide, pair)], np.array([1.0])
        gap, judge_gap = parts[0].value, float(rows[0].judge.mean())
    units, squares = np.concatenate([side.units for side in rows]), signs**2
    influence = _joined(signs, [part.influence for part in parts])
    errors = np.concatenate(
        [part.errors * (c, c, 1.0) for c, part in zip(squares, parts, strict=True)]
    )
    variance = by_unit(influence, units) + float(errors[:, 0].sum())
    df = variance**2 / max(float((errors[:, 1] ** 2 / errors[:, 2]).sum()), 1e-300)
    between = by_unit(_joined(signs, [part.between for part in parts]), units)
    alone = least = 0.0
    for c, part in zip(squares, parts, strict=True):
        n, spread = len(part.between), float((part.between**2).sum()) * len(part.between)
        least += c * part.within / n
        alone += c * (part.within + spread) / max(sum(cell.labels for cell in part.cells), 1)
    judge_signs = signs if not ratio else np.array([1.0, -1.0]) / np.maximum(judged, 1e-9)
    own = [(side.judge - side.judge.mean()) / len(side.judge) for side in rows]
    flip = math.copysign(1.0, gap) if absolute else 1.0
    return CorrectedGap(
        value=abs(gap) if absolute else math.exp(gap) if ratio else gap,
        sample=sample,
        attainable=(0.0 if absolute or ratio else -most, math.inf if ratio else most),
        groups=table,
        contributions=Contributions(flip * influence * len(units) + gap, units.tolist(), most),
        gap=gap,
        variance=variance,
        df=df if df < _NORMAL_DF else math.inf,
        ratio=ratio,
        absolute=absolute,
        judge_gap=judge_gap,
        judge_variance=by_unit(_joined(judge_signs, own), units),
        least_variance=between + least,
        alone_variance=alone,
        cells=tuple(cell for part in parts for cell in part.cells),
        labels=int((~np.isnan(labels)).sum()),
    )


def _only(labels: Floats, *possible: float) -> bool:
    return bool(np.isin(labels[~np.isnan(labels)], possible).all())


def _twins(first: Judged, second: Judged) -> Judged:
    """Return the differences of twins; an answer without its twin has none."""
    _, a, b = np.intersect1d(first.pairs, second.pairs, return_indices=True)
    if not len(a):
        raise ValueError("no two answers are a pair; give twins the same label in pairs")
    one, other = first.at(a), second.at(b)
    return one._replace(judge=one.judge - other.judge, labels=one.labels - other.labels)


def _joined(signs: Any, parts: Sequence[Floats]) -> Floats:
    return np.concatenate([sign * part for sign, part in zip(signs, parts, strict=True)])


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
