"""Scores of users: groups scored by a function phi and compared by a function d."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pytest_llmfair.metrics.generalized._compare import Design, Groups, Term
from pytest_llmfair.metrics.generalized._forms import CounterfactualForm, Form, GroupForm
from pytest_llmfair.metrics.generalized._user_data import (
    Comparison,
    Nature,
    Rows,
    Score,
    codes_of,
    nature_of,
    rows_at,
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


@dataclass(frozen=True, slots=True)
class UserScores:
    """Rows of groups with a score function and a comparison of scores."""

    comparison: Comparison
    form: Form
    # Rows of each group of each source example; empty for data by group.
    examples: list[list[Rows]]
    nature: Nature = "signed"

    @property
    def names(self) -> list[Hashable]:
        """Groups, in order of appearance."""
        return self.form.names

    def with_nature(self, design: Design) -> UserScores:
        """Find out what d is from how it compares the scores of a design."""
        return replace(self, nature=self._nature(design))

    def _nature(self, design: Design) -> Nature:
        found = self._scores(design)
        if design.terms:
            pairs = [(s[term.first], s[term.second]) for s in found for term in design.terms]
            return nature_of(self.comparison.distance, pairs)
        for scores in found:
            own = list(scores.values())
            there, back = self.comparison.among(own), self.comparison.among(own[::-1])
            equal = [self.comparison.among([one] * len(own)) for one in own]
            if not (there >= 0.0 and math.isclose(there, back) and max(map(abs, equal)) < 1e-9):
                return "signed"
        return "distance"

    def depends_on_order(self, design: Design) -> bool:
        """Return whether d(x, y) differs from d(y, x) for some pair of groups."""
        other = design.swapped()
        values = [(self._value(s, design), self._value(s, other)) for s in self._scores(design)]
        return any(abs(v - w) > 1e-9 * max(1.0, abs(v)) for v, w in values)

    def compare(self, term: Term) -> Estimate:
        """Estimate one comparison."""
        return self.mean(Design((term,), "pairs", 1))

    def mean(self, design: Design, *, log: bool = False) -> Estimate:
        """Estimate the mean of the comparisons, or its logarithm."""
        change: Callable[[float], float] = math.log if log else float
        found = self._scores(design)
        missing = self._missing(found, design)
        if missing:
            return Undefined(undefined=missing, sample=self.form.sample)
        if isinstance(self.form, CounterfactualForm):
            return self._over_examples([change(self._value(s, design)) for s in found])
        form = self.form

        def measure(rows: Any, groups: Any) -> float:
            value = self._value(self._by_group(form, rows, groups, design), design)
            return math.nan if log and not value > 0.0 else change(value)

        kind = MetricDistance if self.nature == "distance" else JackknifeEstimate
        return kind.of_measure(
            measure, form.labels, codes_of(form), units=form.units, population=form.population
        )

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

    def worst(self, design: Design, parts: Mapping[Hashable, Estimate]) -> Estimate:
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
            term.key: self.mean(Design((term,), "pairs", 1), log=True) for term in design.terms
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

    def rate(self, name: Hashable) -> float:
        """Return NaN: phi is no rate."""
        return math.nan

    def _sides(self, design: Design) -> list[Groups]:
        if not design.terms:
            return [(name,) for name in self.names]
        return list(dict.fromkeys(s for term in design.terms for s in (term.first, term.second)))

    def _scores(self, design: Design) -> list[dict[Groups, Score]]:
        """Return the score of every side: once for data by group, else per source example."""
        if isinstance(self.form, GroupForm):
            place = {name: g for g, name in enumerate(self.names)}
            groups = np.array([place[label] for label in self.form.labels])
            return [self._by_group(self.form, np.arange(len(groups)), groups, design)]
        return [self._of_example(self.form, j, design) for j in range(len(self.examples))]

    def _by_group(
        self, form: GroupForm, rows: Any, groups: Any, design: Design
    ) -> dict[Groups, Score]:
        place = {name: g for g, name in enumerate(self.names)}
        return {
            side: self.comparison.score(
                rows_at(form, rows[np.isin(groups, [place[name] for name in side])])
            )
            for side in self._sides(design)
        }

    def _of_example(self, form: CounterfactualForm, j: int, design: Design) -> dict[Groups, Score]:
        found = {}
        for side in self._sides(design):
            if side:
                own = [self.examples[j][self.names.index(name)] for name in side]
                rows = Rows.joined(own)
            else:
                assert form.original is not None
                gold = None if form.y_true is None else np.array([form.y_true[j]])
                rows = Rows.of(gold, None, form.original[j : j + 1])
            found[side] = self.comparison.score(rows)
        return found

    def _value(self, scores: Mapping[Groups, Score], design: Design) -> float:
        if not design.terms:
            return self.comparison.among(list(scores.values()))
        compared = [
            self.comparison.distance(scores[term.first], scores[term.second])
            for term in design.terms
        ]
        return math.fsum(compared) / len(compared)

    def _missing(self, found: Sequence[Mapping[Groups, Score]], design: Design) -> str:
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
