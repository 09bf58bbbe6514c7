"""What is compared with what, and the estimate of it, for scores of any kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pytest_llmfair.metrics.generalized._forms import CounterfactualForm, Form, GroupForm
from pytest_llmfair.metrics.generalized._phi import (
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
    GroupRow,
    JackknifeEstimate,
    MaxPairwiseDifference,
    MaxPairwiseRatio,
    MetricDistance,
    NoRepeats,
    Undefined,
)

# Numbers of the groups that are pooled on one side; none for the unperturbed example.
Side = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """One comparison: a key of the table and its two sides."""

    key: Hashable
    first: Side
    second: Side


@dataclass(frozen=True, slots=True)
class Question:
    """Comparisons whose mean is the value; without any, all groups are compared at once."""

    # `examples` has the rows of each group of each source example; empty for data by group.

    comparison: Comparison
    form: Form
    examples: list[list[Rows]]
    terms: tuple[Term, ...]

    @property
    def sides(self) -> list[Side]:
        """Everything that needs a score."""
        if not self.terms:
            return [(g,) for g in range(len(self.form.names))]
        return list(dict.fromkeys(s for term in self.terms for s in (term.first, term.second)))

    def only(self, term: Term) -> Question:
        """Return one of the comparisons alone."""
        return replace(self, terms=(term,))

    def scores(self) -> list[dict[Side, Score]]:
        """Score of every side: once for data by group, else per source example."""
        if isinstance(self.form, GroupForm):
            place = {name: g for g, name in enumerate(self.form.names)}
            groups = np.array([place[label] for label in self.form.labels])
            return [self._by_group(self.form, np.arange(len(groups)), groups)]
        return [self._of_example(self.form, j) for j in range(len(self.examples))]

    def _by_group(self, form: GroupForm, rows: Any, groups: Any) -> dict[Side, Score]:
        return {
            side: self.comparison.score(rows_at(form, rows[np.isin(groups, side)]))
            for side in self.sides
        }

    def _of_example(self, form: CounterfactualForm, j: int) -> dict[Side, Score]:
        found = {}
        for side in self.sides:
            if side:
                rows = Rows.joined([self.examples[j][g] for g in side])
            else:
                assert form.original is not None
                gold = None if form.y_true is None else np.array([form.y_true[j]])
                rows = Rows.of(gold, None, form.original[j : j + 1])
            found[side] = self.comparison.score(rows)
        return found

    def value(self, scores: Mapping[Side, Score]) -> float:
        """Mean of the comparisons, or the one of all groups."""
        if not self.terms:
            return self.comparison.among([scores[side] for side in self.sides])
        compared = [
            self.comparison.distance(scores[term.first], scores[term.second])
            for term in self.terms
        ]
        return math.fsum(compared) / len(compared)

    def nature(self) -> Nature:
        """Return whether d is a distance, a ratio or signed, from how it compares the scores."""
        found = self.scores()
        if self.terms:
            pairs = [(s[term.first], s[term.second]) for s in found for term in self.terms]
            return nature_of(self.comparison.distance, pairs)
        for scores in found:
            own = [scores[side] for side in self.sides]
            there, back = self.comparison.among(own), self.comparison.among(own[::-1])
            alike = [self.comparison.among([one] * len(own)) for one in own]
            if not (there >= 0.0 and math.isclose(there, back) and max(map(abs, alike)) < 1e-9):
                return "signed"
        return "distance"

    def estimate(self, nature: Nature, *, log: bool = False) -> Estimate:
        """Estimate the value, or its logarithm."""
        change: Callable[[float], float] = math.log if log else float
        found = self.scores()
        missing = self._missing(found)
        if missing:
            return Undefined(undefined=missing, sample=self.form.sample)
        distance = nature == "distance"
        if isinstance(self.form, CounterfactualForm):
            values = [change(self.value(scores)) for scores in found]
            return self._mean(values, distance)
        form = self.form

        def measure(rows: Any, groups: Any) -> float:
            value = self.value(self._by_group(form, rows, groups))
            return math.nan if log and not value > 0.0 else change(value)

        codes = codes_of(form)
        if distance:
            return MetricDistance.of_measure(
                measure, form.labels, codes, units=form.units, population=form.population
            )
        return JackknifeEstimate.of_measure(
            measure, form.labels, codes, units=form.units, population=form.population
        )

    def _mean(self, values: Sequence[float], distance: bool) -> Estimate:
        if self.form.population == "fixed":
            raise NoRepeats(
                "population is fixed, but each source example is compared once, so that nothing "
                "varies; leave it at sampled"
            )
        estimate = JackknifeEstimate.of_values(
            values,
            units=self.form.units,
            attainable=(0.0 if distance else -math.inf, math.inf),
        )
        return replace(estimate, rows=list(values))

    def _missing(self, found: Sequence[Mapping[Side, Score]]) -> str:
        """Say whose score or comparison is not defined, if any is not."""
        names = self.form.names
        counterfactual = isinstance(self.form, CounterfactualForm)
        for j, scores in enumerate(found):
            where = f" in example {j}" if counterfactual else ""
            for side, score in scores.items():
                if np.size(score) == 0 or np.isnan(score).any():
                    said = " or ".join(str(names[g]) for g in side) or "the original"
                    return f"phi is not defined for {said}{where}"
            if not math.isfinite(self.value(scores)):
                return f"d is {self.value(scores):g}{where}: scores cannot be compared"
        return ""

    def per_key(self, nature: Nature) -> dict[Hashable, GroupRow]:
        """Return the table: every comparison with its own estimate."""
        n = self.form.sample.generations
        found = {}
        for term in self.terms:
            part = self.only(term).estimate(nature)
            found[term.key] = GroupRow(part.value, n, estimate=part)
        return found

    def worst(self, nature: Nature, table: Mapping[Hashable, GroupRow]) -> Estimate:
        """One estimate of the comparison furthest from fair."""
        parts = {key: row.estimate for key, row in table.items() if row.estimate is not None}
        undefined = [part.undefined for part in parts.values() if part.undefined is not None]
        if undefined:
            return Undefined(undefined="; ".join(undefined), sample=self.form.sample)
        mirrored = len(parts) == 2 and self.terms[0].first == self.terms[1].second
        if len(parts) == 1 or mirrored:
            return next(iter(parts.values()))
        if nature != "ratio":
            return replace(MaxPairwiseDifference.of_pairs(parts), sample=self.form.sample)
        logs = {term.key: self.only(term).estimate(nature, log=True) for term in self.terms}
        widest = max(parts, key=lambda key: abs(math.log(parts[key].value)))
        return MaxPairwiseRatio(
            value=parts[widest].value,
            widest=widest,
            sample=self.form.sample,
            attainable=(0.0, math.inf),
            largest=MaxPairwiseDifference.of_pairs(logs),
        )
