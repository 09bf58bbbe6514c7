"""Conformance tests for metrics, the package's own and those of users.

Write a :class:`Case` (how to draw small arguments, and the formula of the metric written out) and
call :func:`check_metric` from a test.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_llmfair.metrics import MetricInfo, get_metric
from pytest_llmfair.stats import Estimate

__all__ = ["Case", "check_metric"]

Arguments = dict[str, Any]

LEVELS = (0.5, 0.8, 0.95, 0.99)
_TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True)
class Case:
    """Data and formula that :func:`check_metric` needs.

    Attributes
    ----------
    draw : callable
        Function of a random generator that returns small arguments by keyword; ties, zeros and
        undefined values should occur.
    expected : callable
        The formula written out: takes the same keyword arguments and returns the value, NaN if it
        is undefined.
    rows : tuple of str
        Names of arguments with one entry per row. Permuting or duplicating rows must not change
        the value.
    fair : callable or None
        Function of a random generator that returns arguments of a perfectly fair model.
    signed : bool
        Whether the order of first appearance of groups decides the sign of the value.
    repeats : bool
        Whether duplicating all rows keeps the value.
    numbers : tuple of str
        Names of arguments for which NaN, and no entry at all, must raise ``ValueError``.
    """

    draw: Callable[[np.random.Generator], Arguments]
    expected: Callable[..., float]
    rows: tuple[str, ...] = ()
    fair: Callable[[np.random.Generator], Arguments] | None = None
    signed: bool = False
    repeats: bool = True
    numbers: tuple[str, ...] = ()


def check_metric(metric: str | Callable[..., Estimate], case: Case, *, draws: int = 20) -> None:
    """Check that a registered metric conforms to its formula and to the rules for estimates.

    The value must equal the formula, stay within the bounds, and not depend on the order or
    duplication of rows. Intervals must be nested, hold the value and agree with the p-values. A
    fair model must score the fair value. Empty and NaN input must raise ``ValueError``. Arguments
    must stay unchanged.

    Parameters
    ----------
    metric : str or callable
        Name of a metric, or a function decorated with ``@metric``.
    case : Case
        Data and formula.
    draws : int
        Number of data sets, at least 1; their seeds are 0 to ``draws - 1``.

    Raises
    ------
    AssertionError
        If a check fails; the message names the metric, the seed of the data, the value found and
        the value expected.
    ValueError
        If there is no such metric, or `draws` is not positive.

    Examples
    --------
    >>> case = Case(
    ...     draw=lambda rng: {"scores": rng.integers(0, 5, size=12) / 4.0},
    ...     expected=lambda scores: sum(score >= 0.5 for score in scores) / len(scores),
    ...     rows=("scores",),
    ...     numbers=("scores",),
    ... )
    >>> check_metric("toxic_fraction", case, draws=3)
    """
    info = get_metric(metric if isinstance(metric, str) else metric.__name__)
    if draws < 1:
        raise ValueError(f"draws is {draws}; give at least 1")
    defined = 0
    for seed in range(draws):
        where = f"{info.name}, data of seed {seed}"
        given = case.draw(np.random.default_rng(seed))
        before = copy.deepcopy(given)
        estimate = info.function(**given)
        _check(_alike(given, before), f"{where}: the arguments were changed")
        wanted = float(case.expected(**given))
        _check_value(where, estimate, wanted)
        _check_moved(where, info, case, given, estimate, np.random.default_rng(seed))
        if estimate.undefined is None:
            defined += 1
            _check_bounds(where, info, estimate)
            _check_intervals(where, estimate)
        if case.fair is not None:
            fair = info.function(**case.fair(np.random.default_rng(seed)))
            _check(
                _same(fair.value, info.fair_value),
                f"{where}: a fair model scores {fair.value!r}, not {info.fair_value!r}",
            )
    _check(defined > 0, f"{info.name}: no data set of {draws} gave a defined value")
    _check_input(info, case)


def _check(true: bool, message: str) -> None:
    # An assert statement would do nothing under python -O.
    if not true:
        raise AssertionError(message)


def _check_value(where: str, estimate: Estimate, wanted: float) -> None:
    _check(
        _same(estimate.value, wanted),
        f"{where}: the value is {estimate.value!r}, the formula gives {wanted!r}",
    )
    undefined = estimate.undefined is not None
    _check(
        undefined == math.isnan(estimate.value),
        f"{where}: the value is {estimate.value!r} and its reason {estimate.undefined!r}; NaN "
        "needs a reason, and a number must have no reason",
    )


def _check_moved(
    where: str,
    info: MetricInfo,
    case: Case,
    given: Arguments,
    estimate: Estimate,
    rng: np.random.Generator,
) -> None:
    """Check that the value does not depend on the order and duplication of rows."""
    if not case.rows:
        return
    n = len(given[case.rows[0]])
    order = rng.permutation(n).tolist()
    changes = {"in another order": (order, case.signed)}
    if case.repeats:
        changes["each twice"] = ([i for i in range(n) for _ in range(2)], False)
    for how, (taken, sign) in changes.items():
        moved = info.function(**_taken(given, case.rows, taken))
        one, other = estimate.value, moved.value
        if sign:
            one, other = _unsigned(info, one), _unsigned(info, other)
        _check(_same(one, other), f"{where}: {one!r} became {other!r} with rows {how}")


def _unsigned(info: MetricInfo, value: float) -> float:
    if info.scale == "log":
        return abs(math.log(value)) if value > 0.0 else math.inf
    return abs(value - info.fair_value)


def _check_bounds(where: str, info: MetricInfo, estimate: Estimate) -> None:
    for name, (low, high) in {
        "the metric's bounds": info.bounds,
        "what these data could give": estimate.attainable,
    }.items():
        _check(
            low - _TOLERANCE <= estimate.value <= high + _TOLERANCE,
            f"{where}: the value {estimate.value!r} is outside {name}, {low:g} to {high:g}",
        )


def _check_intervals(where: str, estimate: Estimate) -> None:
    """Check that intervals are nested, have a width, hold the value and agree with p-values."""
    inner: tuple[float, float] | None = None
    for level in LEVELS:
        ends = estimate.interval(level)
        named = f"{where}: the {level:.0%} interval [{ends.lower!r}, {ends.upper!r}]"
        _check(
            not math.isnan(ends.lower + ends.upper) or math.isinf(ends.upper), f"{named} is NaN"
        )
        _check(ends.lower < ends.upper or math.isinf(ends.lower), f"{named} has no width")
        if inner is not None:
            nested = ends.lower <= inner[0] + _TOLERANCE and ends.upper >= inner[1] - _TOLERANCE
            _check(nested, f"{named} does not hold the narrower {inner}")
        inner = (ends.lower, ends.upper)
        alpha = (1.0 - level) / 2.0
        for x in {ends.lower, ends.upper, estimate.value} - {math.inf, -math.inf}:
            above, within = estimate.p_exceeds(x), estimate.p_within(x)
            _check(
                (above < alpha) == (ends.lower > x) and (within < alpha) == (ends.upper <= x),
                f"{named} and the p-values at {x!r} ({above!r} above, {within!r} within) disagree",
            )
        centre = estimate.value if ends.of == "value" else estimate.debiased
        _check(
            ends.lower - _TOLERANCE <= centre <= ends.upper + _TOLERANCE,
            f"{named} does not hold its own {ends.of} {centre!r}",
        )


def _check_input(info: MetricInfo, case: Case) -> None:
    for argument in case.numbers:
        for what, broken in _broken(case.draw(np.random.default_rng(0)), argument):
            try:
                estimate = info.function(**broken)
            except ValueError:
                continue
            raise AssertionError(
                f"{info.name}: {argument} {what} gave {estimate.value!r} instead of a ValueError"
            )


def _broken(given: Arguments, argument: str) -> Iterator[tuple[str, Arguments]]:
    yield (
        "without an entry",
        given | {argument: type(given[argument])()}
        if isinstance(given[argument], (list, dict))
        else given | {argument: []},
    )
    yield "with a NaN", given | {argument: _with_nan(given[argument])}


def _with_nan(values: Any) -> Any:
    """Return the same with NaN in place of the last number."""
    if isinstance(values, Mapping):
        last = list(values)[-1]
        return {**values, last: _with_nan(values[last])}
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, (list, tuple)):
        return [*values[:-1], _with_nan(values[-1])] if len(values) else [math.nan]
    return math.nan


def _taken(given: Arguments, rows: tuple[str, ...], taken: list[int]) -> Arguments:
    return given | {
        name: given[name][taken]
        if isinstance(given[name], np.ndarray)
        else [given[name][i] for i in taken]
        for name in rows
    }


def _same(one: float, other: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other or abs(one - other) <= _TOLERANCE * max(1.0, abs(one))


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_alike, one, other))
    return one is other or bool(one == other)
