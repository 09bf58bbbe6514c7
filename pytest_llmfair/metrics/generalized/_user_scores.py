"""Scores of users: groups scored by a function phi and compared by a function d."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from pytest_llmfair.metrics.generalized._compare import (
    ComparableScores,
    ComparisonDesign,
    GroupContrast,
    Groups,
)
from pytest_llmfair.metrics.generalized._forms import CounterfactualForm, DataForm, GroupForm
from pytest_llmfair.metrics.generalized._user_rows import RowsOfGroup, codes_of, rows_at
from pytest_llmfair.stats import (
    Estimate,
    JackknifeEstimate,
    MaxPairwiseDifference,
    MaxPairwiseRatio,
    MetricDistance,
    NoRepeats,
    Undefined,
)

Score = Any  # np.float64, or a one-dimensional array of them
Nature = Literal["distance", "ratio", "signed"]

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class UserFunctions:
    """A score function of the rows of one group, and a function that compares scores."""

    phi: Callable[[RowsOfGroup], Any]
    d: Callable[..., Any]

    def __post_init__(self) -> None:
        for name, function in (("phi", self.phi), ("d", self.d)):
            if not callable(function):
                raise TypeError(f"{name} is {function!r}; give a function")

    def score(self, rows: RowsOfGroup) -> Score:
        """Score of some rows."""
        if len(rows) == 0:
            return np.float64(math.nan)
        given = _quiet(self.phi, rows)
        try:
            found = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"phi gave {str(given)[:40]!r}; it gives one number or a 1-D array"
            ) from None
        if found.ndim > 1:
            raise ValueError(
                f"phi gave an array of shape {found.shape}; it gives one number or a 1-D array"
            )
        return found if found.ndim else found[()]

    def distance(self, *scores: Score) -> float:
        """Compare two scores."""
        return math.nan if any(map(_missing, scores)) else float(_quiet(self.d, *scores))

    def among(self, *scores: Score) -> float:
        """Compare any number of scores at once."""
        if any(map(_missing, scores)):
            return math.nan
        one_by_one = _takes_several(self.d)
        return float(_quiet(self.d, *scores) if one_by_one else _quiet(self.d, list(scores)))


def _quiet(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a user's function; a division by nothing is NaN, and no warning that breaks a run."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return function(*arguments)
        except ZeroDivisionError:
            return math.nan


def _missing(score: Score) -> bool:
    return bool(np.isnan(score).any()) or np.size(score) == 0


def _equal(v: float, w: float) -> bool:
    return v == w or abs(v - w) <= _ROUNDING * max(1.0, abs(v))


def _takes_several(function: Callable[..., Any]) -> bool:
    """Whether scores are its arguments one by one, as in ``lambda *scores: ...``."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    needed = [
        p
        for p in found
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    several = any(p.kind is p.VAR_POSITIONAL for p in found)
    return len(needed) > 1 or (several and not needed)


@dataclass(frozen=True, slots=True)
class UserScores(ComparableScores):
    """Rows of groups with a score function and a comparison of scores."""

    comparison: UserFunctions
    form: DataForm
    # Rows of each group of each source example; empty for data by group.
    examples: list[list[RowsOfGroup]]
    nature: Nature = "signed"

    @property
    def names(self) -> list[Hashable]:
        """Groups, in order of appearance."""
        return self.form.names

    def with_nature(self, design: ComparisonDesign) -> UserScores:
        """Find out what d is from how it compares the scores of a design."""
        return replace(self, nature=self._nature(design))

    def _nature(self, design: ComparisonDesign) -> Nature:
        # A distance is symmetric, not negative and 0 for equal scores; a ratio is positive and 1
        # for equal scores; anything else is signed.
        found = self._scores(design)
        compare: Callable[..., float] = self.comparison.among
        sides = [list(scores.values()) for scores in found]
        if design.terms:
            compare = self.comparison.distance
            sides = [[scores[t.first], scores[t.second]] for scores in found for t in design.terms]
            sides = [pair for pair in sides if not any(map(_missing, pair))]
        there = [compare(*own) for own in sides]
        back = [compare(*own[::-1]) for own in sides]
        same = [compare(*[one] * len(own)) for own in sides for one in own]
        symmetric = all(_equal(v, w) for v, w in zip(there, back, strict=True))
        if symmetric and all(v >= 0.0 for v in there) and all(_equal(v, 0.0) for v in same):
            return "distance"
        positive = all(v > 0.0 for v in there)
        return "ratio" if positive and all(_equal(v, 1.0) for v in same) else "signed"

    def depends_on_order(self, design: ComparisonDesign) -> bool:
        """Return whether d(x, y) differs from d(y, x) for some pair of groups."""
        other = design.swapped()
        values = [(self._value(s, design), self._value(s, other)) for s in self._scores(design)]
        return any(abs(v - w) > _ROUNDING * max(1.0, abs(v)) for v, w in values)

    def compare(self, term: GroupContrast) -> Estimate:
        """Estimate one comparison."""
        return self.mean(ComparisonDesign((term,), "pairs", 1))

    def mean(self, design: ComparisonDesign, *, log: bool = False) -> Estimate:
        """Estimate the mean of the comparisons, or its logarithm."""
        found = self._scores(design)
        missing = self._missing(found, design)
        if missing:
            return Undefined(undefined=missing, sample=self.form.sample)
        if isinstance(self.form, CounterfactualForm):
            values = [self._value(s, design) for s in found]
            return self._over_examples([math.log(x) for x in values] if log else values)
        form = self.form
        kind = MetricDistance if self.nature == "distance" else JackknifeEstimate
        return kind.of_measure(
            # Not a function defined here, which could not be pickled.
            partial(self._resampled, form, design, log),
            form.labels,
            codes_of(form),
            units=form.units,
            population=form.population,
        )

    def _resampled(
        self, form: GroupForm, design: ComparisonDesign, log: bool, rows: Any, groups: Any
    ) -> float:
        value = self._value(self._by_group(form, rows, groups, design), design)
        if not log:
            return value
        return math.log(value) if value > 0.0 else math.nan

    def _over_examples(self, values: list[float]) -> Estimate:
        if self.form.population == "fixed":
            raise NoRepeats(
                "population is fixed, but each source example is compared once, so that nothing "
                "varies; leave it at sampled"
            )
        estimate = JackknifeEstimate.of_values(
            values,
            units=self.form.units,
            attainable=(0.0 if self.nature == "distance" else -math.inf, math.inf),
        )
        return replace(estimate, rows=values)

    def worst(self, design: ComparisonDesign, parts: Mapping[Hashable, Estimate]) -> Estimate:
        """Estimate the comparison furthest from fair."""
        undefined = [part.undefined for part in parts.values() if part.undefined is not None]
        if undefined:
            return Undefined(undefined="; ".join(undefined), sample=self.form.sample)
        mirrored = len(parts) == 2 and design.terms[0].first == design.terms[1].second
        if len(parts) == 1 or mirrored:
            return next(iter(parts.values()))
        if self.nature != "ratio":
            return replace(MaxPairwiseDifference.of_pairs(parts), sample=self.form.sample)
        logs = {
            term.key: self.mean(ComparisonDesign((term,), "pairs", 1), log=True)
            for term in design.terms
        }
        widest = max(parts, key=lambda key: abs(math.log(parts[key].value)))
        return MaxPairwiseRatio(
            value=parts[widest].value,
            widest=widest,
            sample=self.form.sample,
            attainable=(0.0, math.inf),
            largest=MaxPairwiseDifference.of_pairs(logs),
        )

    def entries(self, groups: Groups) -> int:
        """Return the number of rows."""
        return self.form.sample.generations

    def _sides(self, design: ComparisonDesign) -> list[Groups]:
        if not design.terms:
            return [(name,) for name in self.names]
        return list(dict.fromkeys(s for term in design.terms for s in (term.first, term.second)))

    def _scores(self, design: ComparisonDesign) -> list[dict[Groups, Score]]:
        """Return the score of every side: once for data by group, else per source example."""
        if isinstance(self.form, GroupForm):
            place = {name: g for g, name in enumerate(self.names)}
            groups = np.array([place[label] for label in self.form.labels])
            return [self._by_group(self.form, np.arange(len(groups)), groups, design)]
        return [self._of_example(self.form, j, design) for j in range(len(self.examples))]

    def _by_group(
        self, form: GroupForm, rows: Any, groups: Any, design: ComparisonDesign
    ) -> dict[Groups, Score]:
        place = {name: g for g, name in enumerate(self.names)}
        return {
            side: self.comparison.score(
                rows_at(form, rows[np.isin(groups, [place[name] for name in side])])
            )
            for side in self._sides(design)
        }

    def _of_example(
        self, form: CounterfactualForm, j: int, design: ComparisonDesign
    ) -> dict[Groups, Score]:
        found = {}
        for side in self._sides(design):
            if side:
                own = [self.examples[j][self.names.index(name)] for name in side]
                rows = RowsOfGroup.joined(own)
            else:
                assert form.original is not None
                gold = None if form.y_true is None else np.array([form.y_true[j]])
                rows = RowsOfGroup.of(gold, None, form.original[j : j + 1])
            found[side] = self.comparison.score(rows)
        return found

    def _value(self, scores: Mapping[Groups, Score], design: ComparisonDesign) -> float:
        if not design.terms:
            return self.comparison.among(*scores.values())
        compared = [
            self.comparison.distance(scores[term.first], scores[term.second])
            for term in design.terms
        ]
        return math.fsum(compared) / len(compared)

    def _missing(self, found: Sequence[Mapping[Groups, Score]], design: ComparisonDesign) -> str:
        """Name the score or comparison that is not defined, if any."""
        for j, scores in enumerate(found):
            where = f" in example {j}" if isinstance(self.form, CounterfactualForm) else ""
            for side, score in scores.items():
                if np.size(score) == 0 or np.isnan(score).any():
                    who = " or ".join(map(str, side)) or "the original"
                    return f"phi is not defined for {who}{where}"
            value = self._value(scores, design)
            if not math.isfinite(value):
                return f"d is {value:g}{where}: scores cannot be compared"
        return ""
