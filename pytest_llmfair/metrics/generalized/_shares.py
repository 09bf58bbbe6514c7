"""Scores of predictions, each a share: the sum of hits over the sum of counted entries."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from pytest_llmfair.metrics._classes import constant_predictions, is_positive
from pytest_llmfair.metrics.arguments import Floats, RowNumbers, labels
from pytest_llmfair.metrics.generalized._compare import (
    ComparableScores,
    ComparisonDesign,
    GroupContrast,
    Groups,
    furthest,
)
from pytest_llmfair.metrics.generalized._forms import GroupForm, sample_of
from pytest_llmfair.metrics.generalized._table import NamedRow
from pytest_llmfair.stats import (
    Estimate,
    Finding,
    MaxPairwiseRatio,
    NoRepeats,
    RateDifference,
    RateRatio,
    Scaled,
    Undefined,
    rate_gaps,
)
from pytest_llmfair.text.bilou import class_of, spans

E = TypeVar("E", RateDifference, RateRatio)

# By score: what true positives, false positives, false negatives and true negatives add to the
# numerator and to the denominator, and the rows without which it is not defined.
_SCORES: dict[str, tuple[tuple[int, ...], tuple[int, ...], str]] = {
    "FPR": ((0, 1, 0, 0), (0, 1, 0, 1), "of another gold class"),
    "FNR": ((0, 0, 1, 0), (1, 0, 1, 0), "of this gold class"),
    "TPR": ((1, 0, 0, 0), (1, 0, 1, 0), "of this gold class"),
    "TNR": ((0, 0, 0, 1), (0, 1, 0, 1), "of another gold class"),
    "F1": ((2, 0, 0, 0), (2, 1, 1, 0), "of this class, gold or predicted"),
    "accuracy": ((1, 0, 0, 1), (1, 1, 1, 1), "at all"),
    "selection": ((1, 1, 0, 0), (1, 1, 1, 1), "at all"),
}
# Only rows of one gold class count for these; other rows are not evidence.
_OF_GOLD = ("FPR", "FNR", "TPR", "TNR")
_OF_SPANS = ("FNR", "TPR", "F1")


@dataclass(frozen=True)
class Shares(ComparableScores):
    """A score of predictions, row by row: what each adds to numerator and denominator."""

    # F1 counts a true positive twice, as a gold and as a predicted example, so that it is a
    # share too. A sequence has one entry per span or token. `among` describes the rows that
    # count; `constant` is the warning for predictions that are all the same.

    row: NamedRow
    among: str
    hits: Floats
    counted: Floats
    form: GroupForm
    constant: str

    @property
    def names(self) -> list[Hashable]:
        """Groups, in order of appearance."""
        return self.form.names

    def entries(self, groups: Groups) -> int:
        """Return the evidence that counts in some groups."""
        return self._counted(self.form.rows_of(groups))

    def rate(self, name: Hashable) -> float:
        """Return the share of a group; NaN where nothing counts."""
        rows = self.form.members[name]
        below = float(self.counted[rows].sum())
        return float(self.hits[rows].sum()) / below if below > 0.0 else math.nan

    @property
    def evidence(self) -> Shares:
        """The same without rows that are no evidence."""
        kept = np.flatnonzero(self.counted > 0.0)
        if self.row.score not in _OF_GOLD or len(kept) == len(self.counted):
            return self
        return replace(
            self,
            hits=self.hits[kept],
            counted=self.counted[kept],
            form=self.form.take(kept),
        )

    def compare(self, term: GroupContrast) -> Estimate:
        """Compare two sides, of which the second may contain the first."""
        others = term.others
        one = term.first[0], self.form.rows_of(term.first)
        name = others[0] if len(others) == 1 else f"everyone but {term.first[0]}"
        other = name, self.form.rows_of(others)
        if self.row.is_ratio:
            return self._compared(RateRatio.of_outcomes, one, other)
        difference = partial(RateDifference.of_outcomes, absolute=not self.row.signed)
        part = self._compared(difference, one, other)
        if others == term.second or isinstance(part, Undefined):
            return part
        # The share of all rows is the mean of the group's and the others', weighted by their
        # entries, so the difference shrinks by the group's part.
        own = float(self.counted[one[1]].sum()) / float(self.counted.sum())
        return Scaled.times(part, 1.0 - own)

    def mean(self, design: ComparisonDesign) -> Estimate:
        """Estimate the sum of all comparisons over the divisor."""
        form = self.form
        if missing := self._missing(form.members.items()):
            return Undefined(undefined=missing, sample=form.sample)
        factor = 1.0 / design.divisor
        if len(form.names) == 2:
            # All terms are the same difference, which has a sharper bound than their sum.
            difference = self._compared(RateDifference.of_outcomes, *form.members.items())
            factor = 2.0 * factor if design.against == "rest" else factor
            return difference if factor == 1.0 else Scaled.times(difference, factor)
        return rate_gaps(
            self.hits,
            self.counted,
            form.labels,
            against=design.against,
            factor=factor,
            units=form.units,
            population=form.population,
        )

    def worst(self, design: ComparisonDesign, parts: Mapping[Hashable, Estimate]) -> Estimate:
        """Estimate the comparison furthest from fair."""
        return furthest(parts, self.names, self.form.sample, MaxPairwiseRatio.of_pairs)

    def note(self, estimate: Estimate) -> Estimate:
        """Add every group's share, and a warning of constant predictions."""
        counts = {name: self._counted(rows) for name, rows in self.form.members.items()}
        shown = ", ".join(
            f"{name} {self.rate(name):.3f} of {count}" if count else f"{name} none"
            for name, count in counts.items()
        )
        estimate = estimate.with_findings(Finding.note(f"{self.row.score}: {shown}"))
        if self.constant:
            estimate = estimate.with_findings(Finding("uninformative", self.constant))
        return estimate

    def _counted(self, rows: RowNumbers) -> int:
        return int(self.counted[rows].sum())

    def _missing(self, groups: Iterable[tuple[Any, RowNumbers]]) -> str:
        """Say which of some named sets of rows have no such share."""
        return "; ".join(
            f"{name} has no example {self.among}: its {self.row.score} is not defined"
            for name, rows in groups
            if self._counted(rows) == 0
        )

    def _compared(
        self,
        compare: Callable[..., E],
        one: tuple[Any, RowNumbers],
        other: tuple[Any, RowNumbers],
    ) -> E | Undefined:
        """Compare the shares of two named sets of rows, if both have one."""
        form = self.form
        if missing := self._missing([one, other]):
            return Undefined(undefined=missing, sample=form.sample)
        both = [one[1], other[1]]
        several = float(self.counted.max()) > 1.0
        population = form.population
        if several and population == "fixed":
            self._need_repeats(both)
            # Rows are then the independent draws; differences of units widen the interval.
            population, form = "sampled", replace(form, units=None)
        sides = [self._entries_of(rows, form, several) for rows in both]
        estimate = compare(
            sides[0][0],
            sides[1][0],
            units_a=sides[0][1],
            units_b=sides[1][1],
            population=population,
        )
        if not several:
            return estimate
        counted = [i for i in np.concatenate(both).tolist() if self.counted[i] > 0.0]
        units = self.form.units or range(len(self.form.labels))
        found = estimate.sample
        sample = replace(
            sample_of([units[i] for i in counted], self.form),
            effective=found.effective,
            icc=found.icc,
            design_effect=found.design_effect,
        )
        # Equal entries of one row are not identical repeats.
        kept = tuple(f for f in estimate.findings if f.code != "identical_repeats")
        return replace(estimate, findings=kept, sample=sample)

    def _entries_of(
        self, rows: RowNumbers, form: GroupForm, several: bool
    ) -> tuple[Floats, list[Hashable] | None]:
        """Return one outcome per entry, and its unit where rows are not their own."""
        hits = self.hits[rows].astype(np.intp)
        counted = self.counted[rows].astype(np.intp)
        outcomes = np.repeat(
            np.tile([1.0, 0.0], len(counted)), np.stack([hits, counted - hits], axis=1).ravel()
        )
        units = form.units_of(rows)
        if units is None and several:
            units = rows.tolist()
        if units is not None:
            units = [units[i] for i in np.repeat(np.arange(len(counted)), counted)]
        return outcomes, units

    def _need_repeats(self, sides: Sequence[RowNumbers]) -> None:
        units = self.form.units or range(len(self.form.labels))
        for side in sides:
            rows = side.tolist()
            repeats = Counter(units[i] for i in rows)
            for i in rows:
                if repeats[units[i]] < 2:
                    raise NoRepeats(
                        f"row {i} is the only one of its unit and group; a fixed population needs "
                        "at least 2, since nothing else varies"
                    )


def read_shares(row: NamedRow, form: GroupForm, positive: Any) -> Shares:
    """Read a score of predictions."""
    score, true, predicted = row.score, form.y_true, form.y_pred
    if predicted is None or (true is None and score != "selection"):
        lacks = "y_pred" if predicted is None else "y_true"
        raise ValueError(f"{score} needs {lacks}")
    true = predicted if true is None else true
    if score == "LAS":
        hits, counted, among, constant = *_attachments(true, predicted), "at all", ""
    else:
        above, below, among = _SCORES[score]
        table, constant = _confusions(score, true, predicted, positive)
        hits, counted = table @ np.array(above, float), table @ np.array(below, float)
    return Shares(row, among, hits, counted, form, constant)


def _confusions(
    score: str, true: list[Any], predicted: list[Any], positive: Any
) -> tuple[Floats, str]:
    """Count true positives, false positives, false negatives and true negatives of every row."""
    kinds = set(map(type, true)) | set(map(type, predicted))
    nested = {issubclass(kind, (list, tuple, np.ndarray)) for kind in kinds}
    if True in nested:
        if len(nested) > 1:
            raise ValueError(
                "some rows of y_true and y_pred are lists of tags and some are labels"
            )
        return _of_sequences(score, true, predicted, positive), ""
    gold = np.array(is_positive(true, "y_true", positive))
    positives = is_positive(predicted, "y_pred", positive)
    guess = np.array(positives)
    table = np.stack([gold & guess, ~gold & guess, gold & ~guess, ~gold & ~guess], axis=1)
    return table.astype(np.float64), constant_predictions(positives)


def _of_sequences(score: str, true: list[Any], predicted: list[Any], positive: Any) -> Floats:
    """Count spans where the score needs no true negative, else tokens."""
    if score in ("FPR", "TNR"):
        raise ValueError(
            f"{score} is not defined for sequences of tags: spans that are not there cannot be "
            "counted; use a score of FNR, TPR or F1"
        )
    rows, seen = [], {}
    for i, (gold, guess) in enumerate(zip(true, predicted, strict=True)):
        if len(gold) != len(guess):
            raise ValueError(f"row {i} has {len(gold)} tags in y_true, {len(guess)} in y_pred")
        if score in _OF_SPANS:
            own = dict.fromkeys(spans(gold, f"y_true row {i}", strict=True))
            found = dict.fromkeys(spans(guess, f"y_pred row {i}", strict=False))
            seen.update(dict.fromkeys(span[2] for span in (*own, *found)))
            own_c = [span for span in own if span[2] == positive]
            found_c = [span for span in found if span[2] == positive]
            both = sum(span in found for span in own_c)
            rows.append([both, len(found_c) - both, len(own_c) - both, 0])
            continue
        pairs = [
            (class_of(a, f"y_true row {i}"), class_of(b, f"y_pred row {i}"))
            for a, b in zip(gold, guess, strict=True)
        ]
        seen.update(dict.fromkeys(name for pair in pairs for name in pair))
        hits = [(a == positive, b == positive) for a, b in pairs]
        rows.append([hits.count(kind) for kind in _KINDS])
    if positive not in seen:
        raise ValueError(
            f"no tag is of class positive={positive!r}; classes are {', '.join(map(str, seen))}"
        )
    return np.array(rows, dtype=np.float64)


_KINDS = [(True, True), (False, True), (True, False), (False, False)]


def _attachments(true: list[Any], predicted: list[Any]) -> tuple[Floats, Floats]:
    """Count tokens with the right head and label, and all tokens, of every row."""
    hits, counted = [], []
    for i, (gold, guess) in enumerate(zip(true, predicted, strict=True)):
        a, b = _tokens(gold, f"y_true row {i}"), _tokens(guess, f"y_pred row {i}")
        if len(a) != len(b):
            raise ValueError(f"row {i} has {len(a)} tokens in y_true, {len(b)} in y_pred")
        hits.append(sum(x == y for x, y in zip(a, b, strict=True)))
        counted.append(len(a))
    return np.array(hits, dtype=np.float64), np.array(counted, dtype=np.float64)


def _tokens(row: Any, where: str) -> list[Any]:
    """Return a sentence as (head, label) pairs; a row may also be one token."""
    if not isinstance(row, (list, tuple, np.ndarray)):
        return [row]
    nested = len(row) > 0 and isinstance(row[0], (list, tuple, np.ndarray))
    return [tuple(labels(token, where)) for token in (row if nested else [row])]
