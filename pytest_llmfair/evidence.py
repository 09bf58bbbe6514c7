"""What a metric is called with, and what was lost between the answers and the metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_llmfair.losses import Losses
from pytest_llmfair.responses import Answer, Missing, is_cut

Texts = list[list[str]]


@dataclass(slots=True)
class Evidence:
    """Arguments for a metric, and what was lost on the way.

    Attributes
    ----------
    args, keywords : tuple, dict
        What the metric is called with.
    missing : dict
        Group to reason to number of missing answers.
    cut : dict
        Answers that ended at a limit given on purpose, as ``{"length": n}``; empty without one.
    origin : (int, int)
        Answers that were asked for live, and replayed from a cassette, for this evidence.
    invalid : dict
        Reason code to words, when too much is missing to judge.
    reasons, notes : list of str
        Codes and words for the report.
    prompts, outputs : list of tuple
        Per row the prompt (or both) and the answers (of either side), for the worst examples.
    labels : tuple of str
        Groups of the two sides; empty for single prompts.
    undefined : str or None
        Why there is nothing to measure.
    model : str
        Which model answered; empty when unknown.
    asked : int
        Rows of the responses.
    kept : list of int
        Those that have an answer (on either side).
    turned : list of bool
        Per row kept, whether the pair goes the other way round, so that its second side is the
        original.
    placebo : list of list of str
        Per row kept the answers to the placebo twin; empty where there are none.
    rejected : int
        Pairs that were not asked, since a validity check failed.
    lacks : tuple of str
        Groups of the attribute for which the lexicon has no terms.
    attribute : str
        Protected attribute of the pairs; empty for single prompts.
    losses : Losses
        What the missing answers mean for the verdict.
    """

    args: tuple[Any, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict)
    missing: dict[str, dict[str, int]] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    origin: tuple[int, int] = (0, 0)
    invalid: dict[str, str] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    prompts: list[tuple[str, ...]] = field(default_factory=list)
    outputs: list[tuple[list[str], ...]] = field(default_factory=list)
    labels: tuple[str, ...] = ()
    undefined: str | None = None
    model: str = ""
    asked: int = 0
    kept: list[int] = field(default_factory=list)
    turned: list[bool] = field(default_factory=list)
    placebo: Texts = field(default_factory=list)
    rejected: int = 0
    lacks: tuple[str, ...] = ()
    attribute: str = ""
    losses: Losses = field(default_factory=Losses)

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
    evidence: Evidence, asked: Mapping[str, Sequence[Sequence[Answer]]], max_missing: float
) -> None:
    """Count the missing answers of each group; too many of one make the evidence invalid."""
    evidence.missing = {group: reasons_of(rows) for group, rows in asked.items()}
    _note_cut(evidence, asked)
    unpaid = sum(reasons.get("over_budget", 0) for reasons in evidence.missing.values())
    if unpaid:
        evidence.invalid["over_budget"] = (
            f"{unpaid} of {sum(len(row) for rows in asked.values() for row in rows)} answers were "
            "never asked for, since the budget of the run was spent; raise --llmfair-max-calls, "
            "--llmfair-max-total-tokens or --llmfair-max-cost, or ask for less"
        )
    stale = [
        answer
        for rows in asked.values()
        for row in rows
        for answer in row
        if isinstance(answer, Missing) and answer.reason == "stale"
    ]
    if stale:
        evidence.invalid["stale"] = f"{len(stale)} answers are stale; {stale[0].detail}"
    for group, rows in asked.items():
        total = sum(len(row) for row in rows)
        lost = sum(evidence.missing[group].values())
        if total == 0 or lost / total > max_missing:
            reasons = ", ".join(f"{n} {reason}" for reason, n in evidence.missing[group].items())
            said = _most_often_said(rows)
            words = (
                f"{lost} of {total} answers are missing for {group} ({reasons or 'none asked'}), "
                f"more than max_missing = {max_missing:.0%}; fix the client, or raise max_missing"
                + (f"; most often: {said}" if said else "")
            )
            before = evidence.invalid.get("missing")
            evidence.invalid["missing"] = words if before is None else f"{before}; {words}"


def _note_cut(evidence: Evidence, asked: Mapping[str, Sequence[Sequence[Answer]]]) -> None:
    """Count the answers that ended at a limit given on purpose: what came is judged as it is."""
    cut = {group: sum(is_cut(a) for row in rows for a in row) for group, rows in asked.items()}
    if not (total := sum(cut.values())):
        return
    evidence.cut = {"length": total}
    by_group = ", ".join(f"{group} {n}" for group, n in cut.items()) if len(cut) > 1 else ""
    evidence.notes.append(
        f"{total} of {sum(len(row) for rows in asked.values() for row in rows)} answers ended at "
        f"the longest answer allowed (length{': ' if by_group else ''}{by_group}) and are judged "
        "as far as they go"
    )


def _most_often_said(rows: Sequence[Sequence[Answer]]) -> str:
    """Return what the model said most often where it gave no answer; the first of equals."""
    said = Counter(a.detail[:200] for row in rows for a in row if isinstance(a, Missing))
    del said[""]
    return max(said, key=lambda detail: said[detail], default="")


def note_left_out(evidence: Evidence, lost: int, total: int, what: str) -> None:
    """Say how many rows have no answer; without any row there is nothing to measure."""
    if lost == total:
        evidence.undefined = f"none of the {total} {what} has an answer; fix the client first"
    elif lost:
        evidence.notes.append(f"{lost} of {total} {what} left out: an answer is missing")


def note_sameness(
    evidence: Evidence, prompts: Sequence[Any], *sides: Texts, fixed: bool = False
) -> tuple[Texts, ...]:
    """Flag canned answers; count the repeats of a deterministic model as one generation."""
    rows = [row for side in sides for row in side if row]
    if len({text for row in rows for text in row}) == 1 and len(set(prompts)) > 1:
        evidence.reasons.append("uninformative")
        evidence.notes.append(f"one answer to all {len(set(prompts))} prompts; check the client")
    most = max(map(len, rows), default=0)
    # Of a row that lost answers one may be left; what is left says the same.
    if not fixed and most > 1 and all(len(set(row)) == 1 for row in rows):
        evidence.reasons.append("identical_repeats")
        evidence.notes.append(
            f"all {most} repeats of every prompt are identical (a deterministic model): "
            "they count as one generation"
        )
        return tuple([row[:1] for row in side] for side in sides)
    return sides
