"""What a metric is called with, and what was lost between the answers and the metric."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_llmfair.judging.missing_data import MissingData
from pytest_llmfair.responses import Answer, DigestedText, Missing, is_cut

Texts = list[list[str]]

# Pairs whose answers are read for their direction: more would take time and say the same.
_ENOUGH = 500
_LIMITS = "--llmfair-max-calls, --llmfair-max-total-tokens or --llmfair-max-cost"


@dataclass(slots=True)
class MetricInputs:
    """Arguments for a metric, and what was lost between the answers and the metric.

    Rows are prompts or pairs. `undefined` is why there is nothing to measure; `attribute` and
    `labels`, the groups of the two sides, are empty for single prompts.
    """

    args: tuple[Any, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict)
    # Missing answers as group -> reason -> number.
    missing: dict[str, dict[str, int]] = field(default_factory=dict)
    # Answers that ended at a limit given on purpose, as {"length": n}; empty without one.
    cut: dict[str, int] = field(default_factory=dict)
    # Answers asked for live, and replayed from a cassette.
    origin: tuple[int, int] = (0, 0)
    # Why too much is missing to judge, as code -> words.
    invalid: dict[str, str] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    # Per row the prompt (or both), and the answers (of either side), for the worst examples.
    prompts: list[tuple[str, ...]] = field(default_factory=list)
    outputs: list[tuple[list[str], ...]] = field(default_factory=list)
    labels: tuple[str, ...] = ()
    undefined: str | None = None
    model: str = ""
    # Rows of the responses, and those that have an answer (on either side).
    asked: int = 0
    kept: list[int] = field(default_factory=list)
    # Per row kept, whether the second side is the original.
    turned: list[bool] = field(default_factory=list)
    # Per row kept, the answers to the placebo twin; empty without placebos.
    placebo: Texts = field(default_factory=list)
    # Pairs that were not asked because a validity check failed.
    rejected: int = 0
    # Prompts that gave no pair because a word can be read in two ways.
    uncertain: int = 0
    # Groups of the attribute for which the lexicon has no terms.
    lacks: tuple[str, ...] = ()
    attribute: str = ""
    losses: MissingData = field(default_factory=MissingData)
    # Whether the answers are to pairs, so that a metric may compare them in twos.
    paired: bool = False

    def units_of(self, units: Any) -> Any:
        """Leave out of one label per row asked those of the rows that were left out."""
        found = list(units)
        return [found[i] for i in self.kept] if len(found) == self.asked else found


def texts_of(row: Sequence[Answer]) -> list[str]:
    """Return the answers of a row that are there."""
    return [answer for answer in row if isinstance(answer, str)]


def usable(row: Sequence[Answer], whole: bool) -> bool:
    """Tell whether some answer, or with `whole` every answer, is there."""
    found = len(texts_of(row))
    return found > 0 and (found == len(row) or not whole)


def reasons_of(rows: Sequence[Sequence[Answer]]) -> dict[str, int]:
    """Count the answers that are not there by reason."""
    return dict(
        sorted(Counter(a.reason for row in rows for a in row if isinstance(a, Missing)).items())
    )


def judge_missing(
    evidence: MetricInputs, asked: Mapping[str, Sequence[Sequence[Answer]]], max_missing: float
) -> None:
    """Count the missing answers of each group; too many of one make the evidence invalid."""
    evidence.missing = {group: reasons_of(rows) for group, rows in asked.items()}
    _note_cut(evidence, asked)
    rows = [row for side in asked.values() for row in side]
    lost = [answer for row in rows for answer in row if isinstance(answer, Missing)]
    if unpaid := [answer for answer in lost if answer.reason == "over_budget"]:
        said = unpaid[0].detail
        option = said.partition(" ")[0] if said.startswith("--llmfair") else _LIMITS
        evidence.invalid["over_budget"] = (
            f"{len(unpaid)} of {sum(map(len, rows))} answers were not asked for, since the budget "
            f"of the run was spent: {said}; raise {option}, or ask for less"
        )
    if stale := [answer for answer in lost if answer.reason == "stale"]:
        evidence.invalid["stale"] = f"{len(stale)} answers are stale; {stale[0].detail}"
    parts: list[str] = []
    for group, side in asked.items():
        reasons, total = evidence.missing[group], sum(map(len, side))
        # The budget and old recordings have remedies of their own.
        failed = sum(n for reason, n in reasons.items() if reason not in evidence.invalid)
        if total == 0 or failed / total > max_missing:
            named = ", ".join(f"{n} {reason}" for reason, n in reasons.items()) or "none asked"
            are = "" if parts else " answers are missing"
            parts.append(f"{failed} of {total}{are} for {group} ({named})")
    if parts:
        commonest = _commonest([a.detail for a in lost if a.reason not in evidence.invalid])
        evidence.invalid["missing"] = (
            f"{' and '.join(parts)}, more than max_missing = {max_missing:.0%}. {commonest}"
            "Fix the client, or accept more missing answers with max_missing."
        )


def _note_cut(evidence: MetricInputs, asked: Mapping[str, Sequence[Sequence[Answer]]]) -> None:
    """Count the answers that ended at a limit given on purpose: what came is judged as it is."""
    cut = {group: sum(is_cut(a) for row in rows for a in row) for group, rows in asked.items()}
    if not (total := sum(cut.values())):
        return
    evidence.cut = {"length": total}
    named = cut if len(cut) == 2 else {group: n for group, n in cut.items() if n}
    by_group = ", ".join(f"{group} {n}" for group, n in named.items()) if len(cut) > 1 else ""
    evidence.notes.append(
        f"{total} of {sum(len(row) for rows in asked.values() for row in rows)} answers ended at "
        f"the longest answer allowed (length{': ' if by_group else ''}{by_group}) and are judged "
        "as far as they go"
    )


def _commonest(details: Sequence[str]) -> str:
    """Name what went wrong most often, the first of equals; empty where nothing is known."""
    counts = Counter(
        words[:300] for words in details if words and not words.startswith("not asked")
    )
    return f"Most common error: {counts.most_common(1)[0][0].rstrip('.')}. " if counts else ""


def note_left_out(evidence: MetricInputs, lost: int, total: int, what: str) -> None:
    """Say how many rows have no answer; without any row there is nothing to measure."""
    if lost == total:
        # What made the answers invalid names its remedy.
        remedy = "" if evidence.invalid else "; fix the client first"
        evidence.undefined = f"none of the {total} {what} has an answer{remedy}"
    elif lost:
        evidence.notes.append(f"{lost} of {total} {what} left out: an answer is missing")


def direction_between(evidence: MetricInputs, people: Callable[[str, str], str]) -> str:
    """Say how the answers to two groups differ in length and sentiment; empty where unknown.

    Only differences that are proven over the pairs are named: chance alone is no direction.
    `people` names a group of an attribute in a sentence.
    """
    rows = [row for row in evidence.outputs if len(row) == 2 and all(row)]
    rows = rows[:: math.ceil(len(rows) / _ENOUGH) or 1]
    texts = [text for row in rows for side in row for text in side]
    if (
        len(evidence.labels) != 2
        or len(rows) < 2
        or any(isinstance(t, DigestedText) for t in texts)
    ):
        return ""
    parts = []
    means = _apart(rows, lambda text: len(text.split()))
    # A difference that rounds to nothing is no direction, however well it is proven.
    if means is not None and round(means[0]) != round(means[1]):
        word = "longer" if means[0] > means[1] else "shorter"
        parts.append(f"are {word} ({means[0]:.0f} against {means[1]:.0f} words)")
    means = _apart(rows, _sentiment())
    if means is not None and round(abs(means[0] - means[1]), 2) > 0.0:
        word = "higher" if means[0] > means[1] else "lower"
        parts.append(f"score {abs(means[0] - means[1]):.2f} {word} in sentiment")
    if not parts:
        return ""
    first, second = (people(evidence.attribute, group) for group in evidence.labels)
    return f"answers about {first} {' and '.join(parts)} than those about {second}"


def _apart(
    rows: Sequence[tuple[list[str], ...]], measure: Callable[[str], float]
) -> tuple[float, float] | None:
    """Return the mean of a measure on either side where the pairs prove that they differ."""
    from pytest_llmfair.stats import Mean

    sides = [
        [math.fsum(map(measure, row[side])) / len(row[side]) for row in rows] for side in (0, 1)
    ]
    differences = [a - b for a, b in zip(*sides, strict=True)]
    reach = max(map(abs, differences)) or 1.0
    ends = Mean.of_values(differences, bounds=(-reach, reach)).interval()
    if ends.lower <= 0.0 <= ends.upper:
        return None
    return math.fsum(sides[0]) / len(rows), math.fsum(sides[1]) / len(rows)


@functools.cache
def _sentiment() -> Callable[[str], float]:
    from pytest_llmfair.scorers import SentimentScorer, score

    scorer = SentimentScorer()
    return lambda text: float(score(scorer, [text])[0])


def note_sameness(
    evidence: MetricInputs, prompts: Sequence[Any], *sides: Texts, fixed: bool = False
) -> tuple[Texts, ...]:
    """Flag canned answers; count the repeats of a deterministic model as one generation."""
    rows = [row for side in sides for row in side if row]
    if len({text for row in rows for text in row}) == 1 and len(set(prompts)) > 1:
        evidence.reasons.append("uninformative")
        evidence.notes.append(f"one answer to all {len(set(prompts))} prompts; check the client")
    most = max(map(len, rows), default=0)
    # Of a row that lost answers one may be left, and says the same. A few repeats show nothing.
    repeated = 2 * sum(len(row) > 1 for row in rows) > len(rows)
    if not fixed and repeated and all(len(set(row)) == 1 for row in rows):
        evidence.reasons.append("identical_repeats")
        evidence.notes.append(
            f"all {most} repeats of every prompt are identical (a deterministic model): "
            "they count as one generation"
        )
        return tuple([row[:1] for row in side] for side in sides)
    return sides
