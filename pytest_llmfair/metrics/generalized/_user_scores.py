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

from pytest_llmfair.metrics.arguments import Floats, labels
from pytest_llmfair.metrics.generalized._compare import (
    ComparableScores,
    ComparisonDesign,
    GroupContrast,
    Groups,
)
from pytest_llmfair.metrics.generalized._forms import (
    CounterfactualForm,
    DataForm,
    GroupForm,
    depth,
    read_counterfactuals,
    read_groups,
    rows_of,
)
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


class RowsOfGroup(np.ndarray[Any, Any]):
    """The rows of one group: an array of probabilities, else of predictions; others by name."""

    y_true: Any = None
    y_pred: Any = None
    y_prob: Any = None

    @classmethod
    def of(cls, y_true: Any = None, y_pred: Any = None, y_prob: Any = None) -> RowsOfGroup:
        given = [column for column in (y_prob, y_pred, y_true) if column is not None]
        found = np.array(given[0]).view(cls)
        found.y_true, found.y_pred, found.y_prob = y_true, y_pred, y_prob
        return found

    @classmethod
    def joined(cls, parts: Sequence[RowsOfGroup]) -> RowsOfGroup:
        if len(parts) == 1:
            return parts[0]
        columns = [
            None if column[0] is None else np.concatenate(column)
            for column in zip(*((p.y_true, p.y_pred, p.y_prob) for p in parts), strict=True)
        ]
        return cls.of(*columns)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) and key in ("y_true", "y_pred", "y_prob"):
            return getattr(self, key)
        return np.asarray(self)[key]


def read_form(
    y_true: Any, y_pred: Any, y_prob: Any, groups: Any, original: Any, units: Any, population: Any
) -> tuple[DataForm, list[list[RowsOfGroup]]]:
    """Read either form of data; of counterfactual data also the rows by example and group."""
    names = labels(groups, "groups")
    given = y_prob if y_prob is not None else y_pred
    counterfactual = depth(y_prob) > 2 or original is not None
    if y_prob is None and depth(y_pred) > 1 and len(dict.fromkeys(names)) == len(names):
        counterfactual = counterfactual or all(len(row) == len(names) for row in y_pred)
    if not counterfactual:
        return read_groups(y_true, y_pred, y_prob, groups, units, population), []
    if given is None:
        raise ValueError("there is no data; give y_prob or y_pred per example and group")
    if y_prob is None:
        # Predictions have no classes to check; probabilities of 1 stand in for them.
        stand_in = [[[1.0]] * len(names)] * max(len(given), 1)
        form = read_counterfactuals(y_true, stand_in, groups, None, units, population)
    else:
        form = read_counterfactuals(y_true, y_prob, groups, original, units, population)
    predicted = None if y_pred is None else _predictions(y_pred, form)

    def rows(j: int, g: int) -> RowsOfGroup:
        own = None if predicted is None else np.array(predicted[j][g])
        number = len(form.y_prob[j][g] if own is None else own)
        gold = None if form.y_true is None else np.array([form.y_true[j]] * number)
        return RowsOfGroup.of(gold, own, None if y_prob is None else form.y_prob[j][g])

    return form, [[rows(j, g) for g in range(len(names))] for j in range(len(form.y_prob))]


def _predictions(y_pred: Any, form: CounterfactualForm) -> list[list[list[Any]]]:
    """Return the predictions of each example and group, one per variation."""
    examples = rows_of(y_pred, "y_pred")
    if len(examples) != len(form.y_prob):
        raise ValueError(f"y_pred has {len(examples)} examples for {len(form.y_prob)}")
    found = []
    for j, example in enumerate(examples):
        if len(example) != len(form.names):
            raise ValueError(
                f"y_pred example {j} has {len(example)} groups for {len(form.names)} names"
            )
        rows = [own if isinstance(own, (list, tuple, np.ndarray)) else [own] for own in example]
        found.append([labels(own, f"y_pred example {j}") for own in rows])
    return found


def rows_at(form: GroupForm, rows: Sequence[int] | np.ndarray[Any, Any]) -> RowsOfGroup:
    """Return some rows of data by group."""
    chosen = np.asarray(rows, dtype=np.intp)
    true, predicted = (
        None if column is None else _column([column[i] for i in chosen])
        for column in (form.y_true, form.y_pred)
    )
    probabilities: Floats | None = None
    if form.y_prob is not None:
        probabilities = form.y_prob[chosen] if form.classes else form.y_prob[chosen, 0]
    return RowsOfGroup.of(true, predicted, probabilities)


def codes_of(form: GroupForm) -> np.ndarray[Any, Any]:
    """Rank what each row holds, so that resampling does not depend on the order of rows."""
    empty: list[Any] = [None] * len(form.labels)
    table = [[]] * len(form.labels) if form.y_prob is None else form.y_prob.tolist()
    keys = [
        (repr(t), repr(p), tuple(row))
        for t, p, row in zip(form.y_true or empty, form.y_pred or empty, table, strict=True)
    ]
    ranks = {key: k for k, key in enumerate(sorted(dict.fromkeys(keys)))}
    return np.array([ranks[key] for key in keys], dtype=np.intp)


def _column(values: list[Any]) -> np.ndarray[Any, Any]:
    if any(isinstance(value, (list, tuple, np.ndarray)) for value in values):
        found = np.empty(len(values), dtype=object)
        found[:] = values
        return found
    return np.array(values)


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
    kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    needed = [p for p in found if p.default is p.empty and p.kind in kinds]
    several = any(p.kind is p.VAR_POSITIONAL for p in found)
    return len(needed) > 1 or (several and not needed)


def _alone(term: GroupContrast) -> ComparisonDesign:
    return ComparisonDesign((term,), "pairs", 1)


@dataclass(frozen=True, slots=True)
class UserScores(ComparableScores):
    """Rows of groups with a score function and a comparison of scores."""

    comparison: UserFunctions
    form: DataForm
    # Rows of each group of each source example; empty for data by group.
    examples: list[list[RowsOfGroup]]
    nature: Nature = "signed"

    def with_nature(self, design: ComparisonDesign) -> UserScores:
        """Find out what d is from how it compares the scores of a design."""
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
        nature: Nature = "signed"
        if symmetric and all(v >= 0.0 for v in there) and all(_equal(v, 0.0) for v in same):
            nature = "distance"
        elif all(v > 0.0 for v in there) and all(_equal(v, 1.0) for v in same):
            nature = "ratio"
        return replace(self, nature=nature)

    def depends_on_order(self, design: ComparisonDesign) -> bool:
        """Return whether d(x, y) differs from d(y, x) for some pair of groups."""
        other = design.swapped()
        values = [(self._value(s, design), self._value(s, other)) for s in self._scores(design)]
        return any(abs(v - w) > _ROUNDING * max(1.0, abs(v)) for v, w in values)

    def compare(self, term: GroupContrast) -> Estimate:
        return self.mean(_alone(term))

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
        undefined = [part.undefined for part in parts.values() if part.undefined is not None]
        if undefined:
            return Undefined(undefined="; ".join(undefined), sample=self.form.sample)
        mirrored = len(parts) == 2 and design.terms[0].first == design.terms[1].second
        if len(parts) == 1 or mirrored:
            return next(iter(parts.values()))
        if self.nature != "ratio":
            return replace(MaxPairwiseDifference.of_pairs(parts), sample=self.form.sample)
        logs = {term.key: self.mean(_alone(term), log=True) for term in design.terms}
        widest = max(parts, key=lambda key: abs(math.log(parts[key].value)))
        return MaxPairwiseRatio(
            value=parts[widest].value,
            widest=widest,
            sample=self.form.sample,
            attainable=(0.0, math.inf),
            largest=MaxPairwiseDifference.of_pairs(logs),
        )

    def entries(self, groups: Groups) -> int:
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
                if _missing(score):
                    who = " or ".join(map(str, side)) or "the original"
                    return f"phi is not defined for {who}{where}"
            value = self._value(scores, design)
            if not math.isfinite(value):
                return f"d is {value:g}{where}: scores cannot be compared"
        return ""
