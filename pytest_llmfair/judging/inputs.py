"""Arguments of a metric, with everything that is known about their data, and what is missing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any

from pytest_llmfair._util.validation import one_sided
from pytest_llmfair._util.wording import plural
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.responses import Answer, Missing, is_cut
from pytest_llmfair.stats import Estimate, Finding, Interval

Rows = Sequence[Sequence[Answer]]

# Above this share of rows the worst case is reported even when it changes nothing.
_WORTH_REPORTING = 0.01
# Code of the finding that answers which are missing could refute a PASS.
WORST_CASE_EXCEEDS = "worst_case_exceeds"
_LIMITS = "--llmfair-max-calls, --llmfair-max-total-tokens or --llmfair-max-cost"


def texts_of(row: Sequence[Answer]) -> list[str]:
    """Return the answers of a row that are not missing."""
    return [answer for answer in row if isinstance(answer, str)]


def has_answers(row: Sequence[Answer], whole: bool) -> bool:
    """Return whether a row has an answer; with `whole`, whether none of its answers is missing."""
    found = len(texts_of(row))
    return found > 0 and (found == len(row) or not whole)


def count_missing(asked: Mapping[str, Rows], max_missing: float) -> MetricInputs:
    """Count the missing answers of each group; too many in one group make the data invalid."""
    missing = {
        group: dict(
            sorted(
                Counter(a.reason for row in rows for a in row if isinstance(a, Missing)).items()
            )
        )
        for group, rows in asked.items()
    }
    cut, findings = _cut_answers(asked)
    lost = [a for rows in asked.values() for row in rows for a in row if isinstance(a, Missing)]
    answers = sum(len(row) for rows in asked.values() for row in rows)
    # The budget and old recordings have remedies of their own.
    explained: set[str] = set()
    if unpaid := [answer for answer in lost if answer.reason == "over_budget"]:
        explained.add("over_budget")
        detail = unpaid[0].detail
        option = detail.partition(" ")[0] if detail.startswith("--") else _LIMITS
        text = (
            f"{len(unpaid)} of {answers} answers were not asked for, since the budget "
            f"of the run was spent: {detail}; raise {option}, or ask for less"
        )
        findings.append(Finding("over_budget", text, "invalid"))
    if stale := [answer for answer in lost if answer.reason == "stale"]:
        explained.add("stale")
        text = f"{len(stale)} answers are stale; {stale[0].detail}"
        findings.append(Finding("stale", text, "invalid"))
    parts: list[str] = []
    for group, side in asked.items():
        reasons, total = missing[group], sum(map(len, side))
        failed = sum(n for reason, n in reasons.items() if reason not in explained)
        if total == 0 or failed / total > max_missing:
            named = ", ".join(f"{n} {reason}" for reason, n in reasons.items()) or "none asked"
            are = "" if parts else " answers are missing"
            parts.append(f"{failed} of {total}{are} for {group} ({named})")
    if parts:
        error = _most_common_error([a.detail for a in lost if a.reason not in explained])
        text = (
            f"{' and '.join(parts)}, more than max_missing = {max_missing:.0%} (a rule about "
            f"data quality, not a test). {error}"
            "Fix the client, or accept more missing answers with max_missing."
        )
        findings.append(Finding("missing", text, "invalid"))
    return MetricInputs(missing=missing, cut=cut, findings=tuple(findings))


def _cut_answers(asked: Mapping[str, Rows]) -> tuple[dict[str, int], list[Finding]]:
    """Count the answers that ended at a limit the user set; they are judged as they are."""
    cut = {group: sum(is_cut(a) for row in rows for a in row) for group, rows in asked.items()}
    if not (total := sum(cut.values())):
        return {}, []
    named = cut if len(cut) == 2 else {group: n for group, n in cut.items() if n}
    by_group = ", ".join(f"{group} {n}" for group, n in named.items()) if len(cut) > 1 else ""
    text = (
        f"{total} of {sum(len(row) for rows in asked.values() for row in rows)} answers were cut "
        f"at the length limit (length{': ' if by_group else ''}{by_group}); the part received is "
        "judged"
    )
    return {"length": total}, [Finding("cut_answers", text, "note")]


def _most_common_error(details: Sequence[str]) -> str:
    """Name the most common error; an empty string where no detail is known."""
    counts = Counter(
        words[:300] for words in details if words and not words.startswith("not asked")
    )
    if not counts:
        return ""
    found = f"Most common error: {counts.most_common(1)[0][0].rstrip('.')}. "
    skipped = sum(words.startswith("not asked") for words in details)
    return f"{found}{plural('answer', skipped)} not asked for after that. " if skipped else found


def rows_left_out(lost: int, total: int, what: str, counts: MetricInputs) -> tuple[Finding, ...]:
    """Report lost rows; without any row left there is nothing to measure."""
    if lost == total:
        # A finding that makes the data invalid names its own remedy.
        remedy = "" if counts.invalid else "; fix the client first"
        return (Finding.undefined(f"none of the {total} {what} has an answer{remedy}"),)
    if not lost:
        return ()
    text = f"{lost} of {total} {what} left out: an answer is missing"
    return (Finding("rows_left_out", text, "note"),)


@dataclass(frozen=True)
class MissingData:
    """The missing answers, and their largest effect on a value."""

    # Share of the rows with a missing answer, added over the sides, at most 1. A quantity within
    # a span that one row moves by at most its own weight (a mean, a rate, a difference or a
    # distance of these) cannot be worse than measured by more than this share of the span.
    share: float = 0.0
    groups: tuple[str, ...] = ()
    # Share of missing answers by group.
    rates: tuple[float, ...] = ()
    # Whether the weight of a row is known. Where words are counted, one long answer can outweigh
    # all others.
    bounded: bool = True
    # What the difference is measured on: whether an answer is missing, its group and its unit.
    flags: tuple[list[int], list[str], list[Hashable]] | None = None

    @cached_property
    def difference(self) -> Estimate | None:
        """Largest absolute difference of the missing rates of two groups, with pairs as units."""
        from pytest_llmfair.metrics import demographic_parity_difference

        if self.flags is None:
            return None
        missing, groups, units = self.flags
        found: Estimate = demographic_parity_difference(missing, groups=groups, units=units)
        return found

    def unequal(self, bound: Bound, level: float) -> tuple[Finding, ...]:
        """Report missing rates that differ by more than the bound itself."""
        if self.difference is None or not bound.reach < math.inf:
            return ()
        if not self.difference.interval(level).lower > bound.reach:
            return ()
        text = f"{self._rates(level)}, which is itself beyond the bound"
        return (Finding("missing_rates_differ", text),)

    def rates_note(self, level: float) -> tuple[Finding, ...]:
        """Report the missing rates where more than a few answers are missing."""
        if self.difference is None or self.share <= _WORTH_REPORTING:
            return ()
        return (Finding("missing_rates", self._rates(level), "note"),)

    def worst_case(
        self, estimate: Estimate, bound: Bound, interval: Interval, *, passed: bool
    ) -> tuple[Finding, ...]:
        """Report the worst case of the missing answers, and whether a PASS survives it."""
        telling = self.share > _WORTH_REPORTING
        if self.share == 0.0 or not (passed or telling):
            return ()
        low, high = estimate.attainable
        if not (self.bounded and math.isfinite(low) and math.isfinite(high)):
            why = (
                "this metric has no largest value"
                if self.bounded
                else "one long answer could outweigh all others"
            )
            text = (
                f"{self.share:.1%} of the rows miss an answer; their possible effect is not "
                f"known, since {why}"
            )
            return (Finding("worst_case_unknown", text, "flag" if passed else "note"),)
        slack = self.share * (high - low)
        # Dropping a pair drops both answers, so a difference of sides can shrink by up to twice
        # the missing share; it can grow by no more than the pair's weight.
        shrink = 2.0 * slack if self.groups and bound.direction == "lower" else slack
        # The share is that of a sample too; both answers to a prompt may be missing together.
        error = (high - low) * math.sqrt(2.0 * self.share / estimate.sample.units)
        reach = NormalDist().inv_cdf(1.0 - one_sided(interval.level)) * error
        below = math.hypot(max(0.0, estimate.debiased - interval.lower), reach)
        above = math.hypot(max(0.0, interval.upper - estimate.debiased), reach)
        lower = max(low, min(interval.lower, estimate.debiased - below) - shrink)
        upper = min(high, max(interval.upper, estimate.debiased + above) + slack)
        text = f"worst case of the missing answers: the value lies in [{lower:.3f}, {upper:.3f}]"
        if passed and not bound.sides(lower, upper)[0]:
            known = "the answers received are within the bound, the missing ones could undo it; "
            remedy = "ask for them again, or find out why they are missing"
            return (Finding(WORST_CASE_EXCEEDS, f"{known}{text}; {remedy}"),)
        return (Finding("worst_case", text, "note"),) if telling else ()

    def _rates(self, level: float) -> str:
        assert self.difference is not None
        ends = self.difference.interval(level)
        rates = ", ".join(
            f"{group} {rate:.1%}" for group, rate in zip(self.groups, self.rates, strict=True)
        )
        return (
            f"missing answers by group: {rates}; difference {self.difference.value:.3f} "
            f"[{ends.lower:.3f}, {ends.upper:.3f}]"
        )


def missing_data_of(
    rows: Sequence[Rows],
    groups: tuple[str, ...],
    units: Sequence[Sequence[Hashable]],
    *,
    bounded: bool = True,
) -> MissingData:
    """Count what is missing by group, rows with equal labels in `units` as one unit."""
    share = math.fsum(
        sum(not row or any(isinstance(a, Missing) for a in row) for row in side)
        / max(len(side), 1)
        for side in rows
    )
    if share == 0.0 or len(groups) < 2:
        return MissingData(min(share, 1.0), bounded=bounded)
    counts = [[isinstance(a, Missing) for row in side for a in row] for side in rows]
    rates = tuple(sum(side) / len(side) if side else math.nan for side in counts)
    if any(map(math.isnan, rates)):
        return MissingData(min(share, 1.0), bounded=bounded)
    flags_of = (
        [int(flag) for side in counts for flag in side],
        [group for group, side in zip(groups, counts, strict=True) for _ in side],
        [
            label
            for labels, side in zip(units, rows, strict=True)
            for label, row in zip(labels, side, strict=True)
            for _ in row
        ],
    )
    return MissingData(min(share, 1.0), groups, rates, bounded, flags_of)


@dataclass(frozen=True, slots=True)
class MetricInputs:
    """Arguments for a metric, and what was lost between the answers and the metric."""

    args: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    # Missing answers as group -> reason -> number.
    missing: dict[str, dict[str, int]] = field(default_factory=dict)
    # Answers that ended at a limit the user set, as {"length": n}; empty without one.
    cut: dict[str, int] = field(default_factory=dict)
    missing_data: MissingData = field(default_factory=MissingData)
    # Answers asked for live, and replayed from a cassette.
    origin: tuple[int, int] = (0, 0)
    # Per row the prompt (or both), and the answers (of either side), for the worst examples.
    prompts: Sequence[tuple[str, ...]] = ()
    outputs: Sequence[tuple[list[str], ...]] = ()
    labels: tuple[str, ...] = ()
    attribute: str = ""
    model: str = ""
    # Rows of the responses, and those that have an answer (on either side).
    asked: int = 0
    kept: Sequence[int] = ()
    # Whether a metric may compare the answers to the two members of a pair.
    paired: bool = False
    # Pairs and prompts that were left out before anything was asked.
    rejected: int = 0
    uncertain: int = 0
    # How answers to pairs were compared; see `Compare`.
    baseline: str = "resample"
    # Answers by group and prompt, where `outputs` are those of two groups of several.
    every: Mapping[str, Any] = field(default_factory=dict)
    # What a sampling unit is, where the pairs say so.
    unit: str = ""
    # What turned texts into scores, by name.
    scorer: str = ""
    scorer_version: str = ""
    # Of people's labels: how they were drawn, digests, and the judge's own gap in words.
    labelling: Mapping[str, str] = field(default_factory=dict)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Codes of what does not make the data invalid."""
        return tuple(each.code for each in self.findings if each.kind == "flag")

    @property
    def invalid(self) -> dict[str, str]:
        """Code to words of what makes the data invalid."""
        found = (each for each in self.findings if each.kind == "invalid")
        return {each.code: each.text for each in found if each.code != "undefined"}

    @property
    def undefined(self) -> str | None:
        """Why there is nothing to measure; None where there is something."""
        return next((each.text for each in self.findings if each.code == "undefined"), None)

    @property
    def needs_floor(self) -> bool:
        """Whether a value that compares answers is a FAIL only with a noise floor."""
        known = "identical_repeats" in self.reasons
        return self.baseline == "resample" and self.paired and not known

    def with_findings(self, *found: Finding) -> MetricInputs:
        """Return a copy with further findings."""
        return replace(self, findings=(*self.findings, *found))

    def units_of(self, units: Any) -> Any:
        """Return the labels of the rows kept, from one label per row asked."""
        found = list(units)
        return [found[i] for i in self.kept] if len(found) == self.asked else found
