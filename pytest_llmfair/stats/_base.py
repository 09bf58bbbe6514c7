"""The base class of all estimates, and its table of groups, whose rows are estimates too."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar, Literal, Self

from pytest_llmfair._util.validation import one_sided
from pytest_llmfair._util.wording import number, p_value
from pytest_llmfair.stats._records import (
    Call,
    Contributions,
    Finding,
    Interval,
    Sample,
    Sealed,
    Shown,
)
from pytest_llmfair.stats._score_intervals import invert, normal_quantile, t_quantile, within_share

# Rows of a table that its text form shows: each computes an interval, which takes time.
_ROWS_PRINTED = 10
# From this number of units, planning uses the normal quantile instead of that of t.
_FEW = 30


@dataclass(eq=False, kw_only=True)
class Estimate(Shown, Sealed, ABC):
    """A number with its uncertainty; one subclass per inference engine.

    A subclass gives two one-sided bounds; interval, p-values and verdicts follow from them and so
    can never disagree. ``dataclasses.replace`` makes a changed copy.

    Attributes
    ----------
    value : float
        The paper's point estimate; NaN when undefined.
    sample : Sample
        Units, generations and population of the data.
    attainable : tuple of float
        Smallest and largest value that any data of this call could give.
    groups : Mapping
        Table of :class:`GroupRow` by group, pair, word or occupation; may be empty.
    rows : sequence of float
        The metric's value of each input row, where it is a mean over rows; else empty.
    contributions : Contributions or None
        What each row adds to the value, where the estimate is smooth in its rows.
    findings : tuple of Finding
        Warnings, explanations, and reasons why the value is undefined or must not be judged.
    metric, call : object, Call or None
        Metadata of the metric that made the estimate, and its call.
    variant : str
        What the value depends on besides the data, such as "@25"; variants are never compared.
    unit : str
        What a sampling unit of these data is, where it is not the metric's usual one.
    compares_answers : bool
        Whether answers to the members of each pair are compared, which differ by sampling alone.
    measures : {"value", "excess"}
        Whether this is a metric's value or its excess over the noise floor.
    floor, excess : Estimate or None
        What two answers to the same prompt give where there are several, and the value less that.

    Examples
    --------
    >>> from pytest_llmfair.stats import Mean
    >>> estimate = Mean.of_values([0.2, 0.4, 0.3, 0.6])
    >>> estimate
    Mean 0.375 [0.149, 0.751] (95 %, 4 units)
    >>> estimate.interval(0.9)
    Interval [0.177, 0.704] (90 %, Wilson on effective sample size, kurtosis-based df)
    >>> round(estimate.p_exceeds(0.05), 4)
    0.0017
    """

    value: float
    sample: Sample
    attainable: tuple[float, float] = (-math.inf, math.inf)
    groups: Mapping[Hashable, GroupRow] = field(default_factory=dict)
    rows: Sequence[float] = ()
    contributions: Contributions | None = None
    findings: tuple[Finding, ...] = ()
    metric: Any = None
    call: Call | None = None
    variant: str = ""
    unit: str = ""
    compares_answers: bool = False
    measures: Literal["value", "excess"] = "value"
    floor: Estimate | None = None
    excess: Estimate | None = None

    # What a noise floor is, in words.
    floor_words: ClassVar[str] = "the value that sampling alone would give at this sample size"
    # Whether error may be spent over interim looks as for a normal statistic; else shared evenly.
    near_normal: ClassVar[bool] = True

    method = "interval"
    of: Literal["value", "debiased"] = "value"

    def with_findings(self, *found: Finding) -> Self:
        """Return a copy that has further findings, each once."""
        findings = tuple(dict.fromkeys((*self.findings, *found)))
        return self if findings == self.findings else self._changed(findings=findings)

    def with_metric(self, metric: object, call: Call | None = None) -> Self:
        """Return a copy that carries the metadata of its metric, and the metric's call."""
        return self._changed(metric=metric, call=call)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Codes of the warnings, such as ``"thin_evidence"`` and ``"no_variance"``."""
        return tuple(dict.fromkeys(f.code for f in self.findings if f.kind == "flag"))

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings and explanations in words."""
        shown = (f for f in self.findings if f.kind != "invalid" and f.code != "uncovered_group")
        return tuple(dict.fromkeys(f.text for f in shown if f.text))

    @property
    def invalid(self) -> dict[str, str]:
        """Code to words of the reasons why a defined value must not be judged."""
        found = (f for f in self.findings if f.kind == "invalid" and f.code != "undefined")
        return {f.code: f.text for f in found}

    @property
    def undefined(self) -> str | None:
        """Reason for a NaN value, in words; None where it is defined."""
        return next((f.text for f in self.findings if f.code == "undefined"), None)

    @property
    def lacks(self) -> tuple[str, ...]:
        """Groups that were not covered, because the lexicon has no terms for them."""
        found = (f.text for f in self.findings if f.code == "uncovered_group")
        return tuple(dict.fromkeys(found))

    @abstractmethod
    def lower_bound(self, alpha: float) -> float:
        """Lower end at one-sided error rate ``alpha`` in (0, 0.5]; never falls as it grows."""

    @abstractmethod
    def upper_bound(self, alpha: float) -> float:
        """Upper end at one-sided error rate ``alpha`` in (0, 0.5]; never rises as it grows."""

    @property
    def debiased(self) -> float:
        """Bias-corrected value; the value itself where the plug-in is unbiased."""
        return self.value

    @property
    def centre(self) -> float:
        """The number that the interval surrounds: the value, or the bias-corrected one."""
        return self.debiased if self.of == "debiased" else self.value

    def interval(self, level: float = 0.95) -> Interval:
        """Two-sided interval of a confidence level in (0, 1); NaN where the value is."""
        alpha = one_sided(level)
        if self.undefined is not None:
            return Interval(math.nan, math.nan, level, "not computable", self.of)
        return Interval(
            self.lower_bound(alpha), self.upper_bound(alpha), level, self.method, self.of
        )

    def p_exceeds(self, x: float) -> float:
        """One-sided p-value of the claim that the true value is above ``x``.

        Below ``(1 - level) / 2`` exactly when the lower end of ``interval(level)`` is above ``x``
        (for :meth:`p_within` the upper end is not above it). NaN when the value is undefined.
        """
        if self.undefined is not None:
            return math.nan
        p = self._p_above(x)
        return p if p < 0.5 else 1.0 - self._p_below(x)

    def p_within(self, x: float) -> float:
        """As :meth:`p_exceeds`, of the claim that the true value is at most ``x``."""
        if self.undefined is not None:
            return math.nan
        p = self._p_below(x)
        return p if p < 0.5 else 1.0 - self._p_above(x)

    def _p_above(self, x: float) -> float:
        return invert(lambda alpha: self.lower_bound(alpha) > x)

    def _p_below(self, x: float) -> float:
        return invert(lambda alpha: self.upper_bound(alpha) <= x)

    def noise_floor(self) -> float:
        """Estimate the value of a perfectly fair model at this sample size.

        NaN where the metric is not folded, so that its fair value needs no floor.
        """
        return math.nan

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error; NaN where the kind has none.

        Without `at` the observed error; where units do not differ, that of one event more. With
        it the error planned for when the truth is `at`: from the sample size alone, with an
        intraclass correlation of 0.3 between generations of a unit.
        """
        return math.nan

    def fair_passes(
        self, allowed: tuple[float, float], fair: float, alpha: float
    ) -> Callable[[float], float]:
        """Predict the pass rate of a perfectly fair model by sample size.

        From the number of units, as a multiple of those there are, to the probability that the
        whole interval is within `allowed` (infinite on a side that does not count); NaN where
        unknown. The truth is set to the fair value; base rates and spreads are those of the data.
        By default a normal approximation with the observed error and the widths of the interval.
        """
        low, high = (end - fair for end in allowed)
        below, above = self.value - self.lower_bound(alpha), self.upper_bound(alpha) - self.value
        error = self.standard_error()

        def passes(more: float) -> float:
            shrink = math.sqrt(more)
            return within_share(error / shrink, (low, high), (below / shrink, above / shrink))

        return passes

    def minimum_detectable_effect(
        self, power: float = 0.8, *, bound: float | None = None, level: float = 0.95
    ) -> float:
        """Distance of the truth beyond a bound at which a violation is found with this power.

        Parameters
        ----------
        power : float
            Probability in (0, 1) of finding the violation.
        bound : float, optional
            With a bound the variance is the one at the bound, known from the sample size alone;
            without one it is the observed variance.
        level : float
            Two-sided confidence level of the assertion.
        """
        reach = normal_quantile(1.0 - one_sided(level)) + normal_quantile(power)
        return reach * self.standard_error(bound)

    def in_words(self, size: float) -> tuple[str, str]:
        """Return a distance as an amount, and of what; empty where the metric says that."""
        return f"{size:.2f}" if size < 10.0 else f"{size:,.0f}", ""

    def needed_units(
        self, threshold: float, *, power: float = 0.8, level: float = 0.95
    ) -> tuple[int, int] | None:
        """Estimate the number of units that would decide against ``threshold``, as a range.

        The range comes from the 50 % interval, since the distance to the threshold is itself
        uncertain. ``None`` when the value sits on the threshold or is undefined, or its 50 %
        interval has no end; the upper end is capped at a million.

        `power` is the probability in (0, 1) of a decision, `level` the two-sided confidence level
        of the assertion.
        """
        if self.undefined is not None:
            return None
        centre = self.debiased
        half = self.interval(0.5)
        alpha, beyond, error = one_sided(level), normal_quantile(power), self.standard_error()
        reach = (normal_quantile(1.0 - alpha) + beyond) * error
        distance = abs(centre - threshold)
        spread = 0.5 * half.width
        if not (reach > 0.0 and math.isfinite(reach + distance + spread)):
            return None
        far, near = distance + spread, max(distance - spread, 0.2 * distance, reach / 1e3)
        fewest = max(2, self.fewest_units(threshold, alpha))

        def enough(gap: float) -> int:
            for n in range(fewest, _FEW):
                wide = (t_quantile(1.0 - alpha, n - 1.0) + beyond) * error
                if n >= self.sample.units * (wide / gap) ** 2:
                    return n
            found = math.ceil(self.sample.units * (reach / gap) ** 2)
            return min(10**6, max(fewest, _FEW, found))

        return enough(far), enough(near)

    def fewest_units(self, threshold: float, alpha: float) -> int:
        """Return the fewest units that could decide against `threshold`; 0 where unknown."""
        return 0


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One row of ``estimate.groups``: the metric's own quantity for a group, pair or word.

    Attributes
    ----------
    value : float
        The quantity for this key.
    n : int
        Rows (or generations) used.
    rate : float
        The underlying rate, where the metric compares rates; else NaN.
    p : float
        Holm-adjusted p-value of this row, where the metric has one; else NaN.
    estimate : Estimate or None
        The row's own estimate.

    Examples
    --------
    >>> GroupRow(0.25, 40, rate=0.75)
    GroupRow 0.250 (rate 0.750, n 40)
    """

    value: float
    n: int
    rate: float = math.nan
    p: float = math.nan
    estimate: Estimate | None = None

    def __repr__(self) -> str:
        shown = [] if math.isnan(self.value) else [number(self.centre)]
        if self.estimate is not None and self.estimate.undefined is None:
            shown.append(str(self.interval()))
        facts = [] if math.isnan(self.rate) else [f"rate {number(self.rate)}"]
        facts.append(f"n {self.n:,}")
        facts += [] if math.isnan(self.p) else [p_value(self.p)]
        return f"GroupRow {' '.join([*shown, ''])}({', '.join(facts)})"

    @property
    def centre(self) -> float:
        """The number that the row's interval surrounds; its value where it has none."""
        estimate = self.estimate
        return self.value if estimate is None or estimate.of == "value" else estimate.debiased

    def interval(self, level: float = 0.95) -> Interval:
        """Interval of this row alone, without correction for looking at several rows."""
        if self.estimate is None:
            raise ValueError(
                "this row has no interval of its own: the metric prints the value only"
            )
        return self.estimate.interval(level)


class Table(Mapping[Hashable, GroupRow]):
    """A table whose rows `make` computes at first access, since every row has an interval."""

    def __init__(self, keys: Iterable[Hashable], make: Callable[[Any], GroupRow]) -> None:
        self._rows: dict[Hashable, GroupRow | None] = dict.fromkeys(keys)
        self._make = make

    def __getitem__(self, key: Hashable) -> GroupRow:
        row = self._rows[key]
        if row is None:
            row = self._rows[key] = self._make(key)
        return row

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getstate__(self) -> dict[str, Any]:
        # A pickle or a deep copy holds finished rows: the function that makes them has no name.
        return {"_rows": dict(self)}

    def __repr__(self) -> str:
        shown = [f"{key!r}: {self[key]!r}" for key in islice(self, _ROWS_PRINTED)]
        more = len(self) - len(shown)
        return f"{{{', '.join(shown)}{f', and {more:,} more' if more else ''}}}"


@dataclass(eq=False, kw_only=True, init=False)
class Undefined(Estimate):
    """A quantity that these data leave undefined; any assertion on it is INVALID.

    It takes the reason in words, and the fields of :class:`Estimate`, at least `sample`.

    Examples
    --------
    >>> nothing = Sample(units=0, generations=0, fewest=0, most=0)
    >>> Undefined(undefined="no prompt names a group", sample=nothing)
    Undefined not computable: no prompt names a group (0 units)
    """

    method = "not computable"

    def __init__(self, *, undefined: str | None = None, **fields: Any) -> None:
        fields.setdefault("value", math.nan)
        super().__init__(**fields)
        if undefined:
            why = Finding.undefined(undefined)
            object.__setattr__(self, "findings", (why, *self.findings))

    def lower_bound(self, alpha: float) -> float:
        """NaN."""
        return math.nan

    upper_bound = lower_bound
    # What is not defined has no sign either.
    signed = property(lambda self: self)
