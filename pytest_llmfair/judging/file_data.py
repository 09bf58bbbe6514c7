"""Data from files: scores that answers already have, and arrays with rows that lack a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from pytest_llmfair.judging.inputs import (
    MetricInputs,
    Rows,
    count_missing,
    missing_data_of,
    rows_left_out,
)
from pytest_llmfair.judging.scoring import takes
from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.responses import Missing
from pytest_llmfair.results.compare import ScoredAnswers
from pytest_llmfair.stats import Finding


class FileData(dict[str, Any]):
    """Arguments of a metric from a file, without rows that lack a value; these are counted.

    `asked` maps each group to one row of a text or a `Missing` per row of the file; it is empty
    where no row was left out. `factors` are labels for ``factors=``.
    """

    def __init__(
        self,
        arguments: Mapping[str, Any],
        asked: Mapping[str, Any] | None = None,
        factors: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(arguments)
        self.asked = asked or {}
        self.factors = factors or {}


def with_rows_left_out(
    inputs: MetricInputs, asked: Mapping[str, Any], max_missing: float
) -> MetricInputs:
    """Count the rows of a file that lack a value, by group."""
    if not asked:
        return inputs
    counts = count_missing(asked, max_missing)
    names, total = tuple(asked), sum(map(len, asked.values()))
    lost = sum(isinstance(a, Missing) for rows in asked.values() for row in rows for a in row)
    units = [[(name, i) for i in range(len(asked[name]))] for name in names]
    inputs = inputs.with_findings(*counts.findings, *rows_left_out(lost, total, "rows", counts))
    data = missing_data_of(list(asked.values()), names if len(names) > 1 else (), units)
    return replace(inputs, missing=counts.missing, missing_data=data)


def check_scored(info: MetricInfo) -> None:
    """Raise ``ValueError`` for a metric that does not compare scores of any kind."""
    if not takes(info, "score_range"):
        raise ValueError(
            f"{info.name} makes its scores from texts and takes none of a file; use "
            "score_difference"
        )


def from_scored(given: ScoredAnswers, max_missing: float) -> MetricInputs:
    """Return the scores as pairs where two groups have the same units, else by group."""
    # Scores are counted as answers are: what is missing is a `Missing`.
    names, paired = tuple(given.of.grouping.names), given.of.units is not None
    by_group = {name: [row for row in given.rows if row.group == name] for name in names}
    asked = cast("Mapping[str, Rows]", {n: [r.scores for r in own] for n, own in by_group.items()})
    counts = count_missing(asked, max_missing)
    kept = [
        row._replace(scores=there)
        for own in by_group.values()
        for row in own
        if (there := [x for x in row.scores if not isinstance(x, Missing)])
    ]
    if paired:
        groups: dict[str, set[str]] = {}
        for row in kept:
            groups.setdefault(row.unit, set()).add(row.group)
        kept = [row for row in kept if len(groups[row.unit]) > 1]
    findings = [*counts.findings, *_absent(*given.of.absent, max_missing)]
    units = {row.unit for row in given.rows}
    if text := given.of.left_out:
        findings.append(Finding("rows_left_out", text, "note"))
    if not kept:
        invalid = any(each.kind == "invalid" for each in findings)
        remedy = "" if invalid else "; run the evaluation again"
        findings.append(
            Finding.undefined(f"none of {len(units)} units has scores of two groups{remedy}")
        )
    elif lost := len(units) - len({row.unit for row in kept}):
        text = f"{lost} of {len(units)} units left out: a score is missing"
        findings.append(Finding("rows_left_out", text, "note"))
    keywords: dict[str, Any] = {"score": given.score}
    if given.range is not None:
        keywords["score_range"] = given.range
    two = paired and len(names) == 2
    sides = [[row for row in kept if not two or row.group == name] for name in names[: 1 + two]]
    keywords["units"] = [row.unit for row in sides[0]]
    keywords |= {"names": names} if two else {"groups": [row.group for row in kept]}
    return MetricInputs(
        args=tuple([row.scores for row in side] for side in sides),
        keywords=keywords,
        findings=tuple(findings),
        missing=counts.missing,
        missing_data=missing_data_of(
            list(asked.values()), names, [[r.unit for r in own] for own in by_group.values()]
        ),
        origin=(0, sum(len(row.scores) for row in given.rows)),
        prompts=[tuple(row.prompt for row in rows) for rows in zip(*sides, strict=True)],
        outputs=[
            # Scores may come without their answers.
            tuple(row.answers for row in rows) if all(row.answers for row in rows) else ()
            for rows in zip(*sides, strict=True)
        ],
        labels=names if two else (),
        attribute=given.of.grouping.attribute,
        model=given.of.model,
    )


def _absent(lost: int, planned: int, max_missing: float) -> list[Finding]:
    """Report planned answers that the file does not have, which nothing says the group of."""
    if not lost:
        return []
    text = f"{lost} of {planned} planned answers are not in the file"
    if lost / planned <= max_missing:
        return [Finding("answers_absent", text, "note")]
    text += f", more than max_missing = {max_missing:.0%}; run the evaluation to its end"
    return [Finding("missing", text, "invalid")]
