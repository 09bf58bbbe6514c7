"""Sampling units: labels to clusters, and the variance of a mean over clusters.

Sums are taken in an order that depends on the numbers alone. The order of rows and the names of
units therefore never change a result, not even its last bit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats._records import Floats, Indices, NoRepeats, Population

# Planning assumes this correlation of two generations of a unit: a plan must not use the data.
PLANNING_ICC = 0.3

# A spread this small relative to the range is rounding, not evidence of variation.
_ROUNDING = 1e-12


def check_rows(values: ArrayLike, name: str, bounds: tuple[float, float]) -> Floats:
    """Return a 1-D float array, or raise ``ValueError`` that names the first wrong row."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(_unreadable(values, name)) from None
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; give one value per row")
    if array.size == 0:
        raise ValueError(f"{name} has no rows; give at least one")
    low, high = bounds
    slack = _ROUNDING * (high - low) if math.isfinite(high - low) else 0.0
    wrong = ~((array >= low - slack) & (array <= high + slack) & np.isfinite(array))
    if wrong.any():
        row = int(np.argmax(wrong))
        legal = f"give a number in [{low:g}, {high:g}]"
        if math.isinf(low) and math.isinf(high):
            legal = "give a finite number"
        raise ValueError(f"{name} row {row} is {array[row]:g}; {legal}")
    return np.clip(array, low, high)


def _unreadable(values: Any, name: str) -> str:
    for row, value in enumerate(values if isinstance(values, list | tuple) else ()):
        try:
            float(value)
        except (TypeError, ValueError):
            return f"{name} row {row} is {value!r}; give one number per row"
    return f"{name} cannot be read as numbers; give one number per row"


def check_population(population: str) -> None:
    """Raise ``ValueError`` unless `population` is "sampled" or "fixed"."""
    if population not in ("sampled", "fixed"):
        raise ValueError(f'population is {population!r}; choose "sampled" or "fixed"')


def check_bounds(bounds: tuple[float, float]) -> None:
    """Raise ``ValueError`` unless `bounds` are finite and in order."""
    low, high = bounds
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"bounds are [{low:g}, {high:g}]; give a finite range")


def cluster_index(
    units: Iterable[Hashable] | None, rows: int, name: str = "units"
) -> tuple[Indices, int]:
    """Return the unit number of each row, in order of appearance, and the number of units."""
    if units is None:
        return np.arange(rows), rows
    given = _labels(units, rows, name)
    whole = rows > 0 and (isinstance(given, np.ndarray) or set(map(type, given)) == {int})
    if whole and (array := np.asarray(given)).dtype.kind == "i":
        return _whole_numbered(array)
    found = numbered(given)
    return found, int(found.max(initial=-1)) + 1


def numbered(labels: Iterable[Hashable]) -> Indices:
    """Return the number of each label in order of appearance."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(each, len(numbers)) for each in labels], dtype=np.intp)


def _labels(units: Iterable[Hashable], rows: int, name: str) -> Any:
    """Return labels as a list, or as they are where they are an array of whole numbers."""
    if isinstance(units, np.ndarray) and units.shape == (rows,) and units.dtype.kind == "i":
        return units
    return label_list(units, rows, name)


def _whole_numbered(whole: Indices) -> tuple[Indices, int]:
    """Return the number of each whole number in order of appearance, and how many differ."""
    # A dictionary of a million numbers does not fit a processor's cache.
    n, low = len(whole), int(whole.min())
    close = int(whole.max()) - low < 4 * n
    codes = whole - low if close else np.unique(whole, return_inverse=True)[1]
    first = np.full(int(codes.max()) + 1, n)
    first[codes[::-1]] = np.arange(n)[::-1]  # the earliest row is written last
    starts = np.zeros(n, dtype=np.bool_)
    starts[first[first < n]] = True
    numbers = np.cumsum(starts) - 1
    return numbers[first[codes]], int(numbers[-1]) + 1


def common_index(
    n_a: int,
    n_b: int,
    units_a: Iterable[Hashable] | None,
    units_b: Iterable[Hashable] | None,
) -> tuple[Indices, Indices, int]:
    """Give the rows of two groups the numbers of their units; groups without labels share none."""
    if units_a is None and units_b is None:
        index = np.arange(n_a + n_b)
        return index[:n_a], index[n_a:], n_a + n_b
    # No caller's label is an object that was made here.
    given: list[Any] = [
        [object() for _ in range(n)] if units is None else _labels(units, n, name)
        for name, units, n in (("units_a", units_a, n_a), ("units_b", units_b, n_b))
    ]
    arrays = all(isinstance(own, np.ndarray) for own in given)
    labels: Any = np.concatenate(given) if arrays else list(itertools.chain(*given))
    index, n_units = cluster_index(labels, n_a + n_b)
    return index[:n_a], index[n_a:], n_units


def check_repeats(
    index: Indices,
    row: Callable[[int], str] = "row {} is the only one of its unit".format,
    per: str = "per unit",
) -> None:
    """Raise ``NoRepeats`` describing the first `row` that is the only one of its unit."""
    alone = np.bincount(index)[index] < 2
    if alone.any():
        raise NoRepeats(
            f"{row(int(np.argmax(alone)))}; a fixed population needs at least 2 {per}, since "
            "nothing else varies"
        )


def check_repeats_of_groups(index_a: Indices, index_b: Indices) -> None:
    """Raise ``NoRepeats`` naming the first row of a group that is the only one of its unit."""
    for name, index in (("x_a", index_a), ("x_b", index_b)):
        check_repeats(index, (name + " row {} has 1 generation").format, "per unit and group")


def compact(index: Indices) -> tuple[Indices, int]:
    """Renumber clusters from 0 without gaps, and count them."""
    # Counting touches memory in order, which sorting or a hash table of many clusters does not.
    numbers = np.cumsum(np.bincount(index) > 0)
    return numbers[index] - 1, int(numbers[-1])


def distinct(index: Indices) -> int:
    """Count the clusters that have a row."""
    return int(np.count_nonzero(np.bincount(index)))


def overlap(index_a: Indices, index_b: Indices) -> bool:
    """Whether a cluster has rows of both groups."""
    clusters = 1 + max(int(index_a.max()), int(index_b.max()))
    return bool((np.bincount(index_a, minlength=clusters) > 0)[index_b].any())


def as_list(units: Iterable[Hashable], name: str = "units") -> list[Any]:
    """Return labels as a list, or raise ``ValueError`` when they are one text or no sequence."""
    # A text would be read as one label per letter.
    if isinstance(units, str | bytes) or not isinstance(units, Iterable):
        raise ValueError(f"{name} is {units!r}; give a list with one label per row")
    return units.tolist() if isinstance(units, np.ndarray) else list(units)


def label_list(units: Iterable[Hashable], rows: int, name: str = "units") -> Sequence[Hashable]:
    """Return one hashable label per row, or raise ``ValueError`` that names the row."""
    labels = as_list(units, name)
    if len(labels) != rows:
        raise ValueError(f"{name} has {len(labels)} labels for {rows} rows; give one per row")
    if set(map(type, labels)) <= {int, str}:
        return labels
    for row, label in enumerate(labels):
        if label is None or label != label:
            missing = "None" if label is None else "NaN"
            raise ValueError(f"{name} row {row} is {missing}; give every row a label")
        try:
            hash(label)
        except TypeError:
            raise ValueError(
                f"{name} row {row} is {label!r}, which cannot be a label; use text or numbers"
            ) from None
    return labels


def cluster_sums(values: Floats, index: Indices, clusters: int) -> Floats:
    """Sum of `values` per cluster, the same bits in any order of rows."""
    if np.bincount(index).max(initial=0) > 2:  # two numbers have the same sum in either order
        order = np.argsort(values, kind="stable")
        values, index = values[order], index[order]
    sums = np.bincount(index, weights=values, minlength=clusters)
    return np.asarray(sums, dtype=np.float64)


def weighted_rows(values: Floats, weights: Floats | None) -> Floats:
    """Return rows whose plain mean, with its variance, is the weighted mean of `values`.

    Each row is the weighted mean plus its influence on it (jackknife), so that rows may leave the
    range of the values.

    Examples
    --------
    >>> rows = weighted_rows(np.array([0.0, 1.0, 1.0]), np.array([2.0, 1.0, 1.0]))
    >>> round(float(rows.mean()), 3)
    0.5
    """
    if weights is None:
        return values
    total = math.fsum(weights.tolist())
    mean = math.fsum((weights * values).tolist()) / total
    others = np.maximum(total - weights, _ROUNDING * total)
    influence = (len(values) - 1.0) * weights / others * (values - mean)
    return np.asarray(mean + influence - exact_mean(influence))


def exact_mean(values: Floats) -> float:
    """Correctly rounded mean."""
    return math.fsum(values.tolist()) / len(values)


def is_constant(values: Floats, scale: float = 1.0) -> bool:
    """Whether all values are equal except for rounding; `scale` is the range of the quantity."""
    return float(values.max() - values.min()) <= _ROUNDING * scale


def mean_influence(values: Floats, index: Indices, clusters: int) -> Floats:
    """Influence of each cluster on the mean over rows, in ascending order."""
    # With unequal clusters the mean is a ratio (sum over number of rows), so sizes vary too.
    centred = values - exact_mean(values)
    if clusters == len(values):
        return np.sort(centred)
    return np.sort(left_out_influence(centred, index, clusters))


def left_out_influence(centred: Floats, index: Indices, clusters: int) -> Floats:
    """Change of the mean when each cluster is left out, times the number of others (jackknife)."""
    # Unlike the residual of a ratio this allows for a large cluster that attracts the mean.
    others = len(centred) - np.bincount(index, minlength=clusters)
    sums = cluster_sums(centred, index, clusters) * (clusters - 1.0)
    return np.divide(sums, others, out=np.zeros(clusters), where=others > 0)


def effective_clusters(sizes: Floats) -> float:
    """Clusters of equal size that would weigh as unevenly (Kish): (sum n)^2 / sum n^2."""
    return float(sizes.sum()) ** 2 / float((sizes * sizes).sum())


def kurtosis_df(influence: Floats) -> float:
    """Degrees of freedom of a variance from N influence values: the kurtosis matters."""
    # Satterthwaite's 2 v^2 / Var(v) with the variance of a sample variance,
    # (m4 - v^2 (N - 3) / (N - 1)) / N; clipped to [1, N - 1].
    n = len(influence)
    if n < 2:
        return math.nan
    centred = influence - influence.mean()
    squares = centred * centred
    v = float(squares.mean())
    if v == 0.0:
        return float(n - 1)
    scaled = squares / v
    m4 = float((scaled * scaled).mean())
    return min(max(2.0 * n / (m4 - (n - 3) / (n - 1)), 1.0), float(n - 1))


def standard_skewness(influence: Floats) -> float:
    """Skewness of the influence values, third central moment over cubed standard deviation."""
    centred = influence - influence.mean()
    deviation = math.sqrt(float((centred * centred).mean()))
    return float(((centred / deviation) ** 3).mean()) if deviation > 0.0 else 0.0


def variance_of_mean(influence: Floats) -> float:
    """Squared standard error of a mean from the influence values of its clusters."""
    n = len(influence)
    if n < 2:
        return math.nan
    centred = influence - influence.mean()
    return float((centred * centred).sum()) / (n * (n - 1))


def planned_variance(rows: int, units: int, population: Population) -> float:
    """Squared error of a mean known from sizes alone, for rows of variance 1."""
    between = PLANNING_ICC / units if population == "sampled" else 0.0
    return (1.0 - PLANNING_ICC) / rows + between


def satterthwaite(variances: Floats, df: Floats) -> float:
    """Degrees of freedom of a sum of independent variances with their own `df`."""
    total = float(np.sort(variances).sum())
    if total <= 0.0:
        return float(df.sum())
    return 1.0 / float(np.sort((variances / total) ** 2 / df).sum())


def intraclass_correlation(sums: Floats, sizes: Floats, sum_of_squares: float) -> float:
    """One-way analysis-of-variance estimate of the correlation inside clusters."""
    clusters, total = len(sums), float(sizes.sum())
    if clusters < 2 or total <= clusters or sum_of_squares <= 0.0:
        return math.nan
    between = float(np.sort(sums * sums / sizes).sum())
    within = max(0.0, sum_of_squares - between) / (total - clusters)
    between /= clusters - 1
    size = (total - float((sizes * sizes).sum()) / total) / (clusters - 1)
    scale = between + (size - 1.0) * within
    return (between - within) / scale if scale > 0.0 else math.nan
