"""Labels put to their answers, and what is wrong with them: other ids, gaps, changed answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pytest_llmfair._util.wording import listed, plural
from pytest_llmfair.labels.answers import Answers
from pytest_llmfair.labels.plan import LabelPlan, opaque_id
from pytest_llmfair.labels.strata import FEWEST_OF_GROUP
from pytest_llmfair.stats import Finding
from pytest_llmfair.stats.corrected_gap import LabelCell

# A stratum this small may be without labels.
_SMALL = 0.02
_FEWEST_OF_STRATUM = 3
_MOST_NAMED = 3


class Matched(NamedTuple):
    """One label per answer, NaN where there is none; where one is missing; and findings."""

    labels: list[float]
    missing: list[bool]
    findings: tuple[Finding, ...]
    # How often two people disagree about a text, by group; empty where there is one label each.
    disagreement: Mapping[str, float]


def match(
    answers: Answers,
    labels: Mapping[str, Sequence[float]],
    plan: LabelPlan | None,
    max_missing: float,
) -> Matched:
    """Put labels to answers, by the plan or, without one, by the ids of the answers."""
    if plan is None:
        keys, wanted = [row.id for row in answers.rows], set(labels)
        findings = _strange(labels.keys() - set(keys), "which no answer has", "check the file")
    else:
        keys, wanted = [opaque_id(plan.seed, key) for key in answers.keys], set(plan.drawn)
        remedy = "give the sheet of this plan; design='random' is for labels without a plan"
        findings = _strange(labels.keys() - wanted, "which the plan did not draw", remedy)
        findings += _changed(plan, answers)
    own = [list(labels.get(key, ())) for key in keys]
    missing = [not row and key in wanted for row, key in zip(own, keys, strict=True)]
    findings += _missing(answers.groups, [key in wanted for key in keys], missing, max_missing)
    return Matched(
        [math.fsum(row) / len(row) if row else math.nan for row in own],
        missing,
        tuple(findings),
        _disagreement(answers, own),
    )


def _strange(ids: Iterable[str], which: str, remedy: str) -> list[Finding]:
    if not (named := sorted(ids)):
        return []
    text = f"{plural('label', len(named))} of ids {which}: {listed(named, _MOST_NAMED)}; {remedy}"
    return [Finding("labels_not_planned", text, "invalid")]


def _changed(plan: LabelPlan, answers: Answers) -> list[Finding]:
    now, found = answers.sha256, []
    for code, what in (("answers", "answers"), ("judge", "judge's verdicts")):
        if now[f"{code}_sha256"] != getattr(plan, f"{code}_sha256"):
            text = (
                f"the {what} are not those of the plan, so its strata and labels do not fit them"
            )
            remedy = "give those of the plan, or plan and label again"
            found.append(Finding(f"{code}_changed", f"{text}; {remedy}", "invalid"))
    return found[:1]


def _missing(
    groups: Sequence[str], wanted: Sequence[bool], missing: Sequence[bool], most: float
) -> list[Finding]:
    """Report labels that were asked for and are missing, in all and by group."""
    if not any(missing):
        return []
    asked = Counter(group for group, each in zip(groups, wanted, strict=True) if each)
    lost = Counter(group for group, each in zip(groups, missing, strict=True) if each)
    by_group = ", ".join(f"{group} {lost[group]} of {n}" for group, n in asked.items())
    text = f"{plural('planned label', sum(lost.values()))} missing: {by_group}"
    if any(lost[group] > most * n for group, n in asked.items()):
        text += (
            f", more than max_missing = {most:.0%} of a group; label them, or raise max_missing"
        )
        return [Finding("labels_missing", text, "invalid")]
    return [Finding("labels_missing", f"{text}; the interval holds whatever they would be")]


def _disagreement(answers: Answers, labels: Sequence[Sequence[float]]) -> dict[str, float]:
    """Share of the texts with several labels whose labels differ, by group."""
    by_group: dict[str, list[bool]] = {group: [] for group in answers.names}
    for row, own in zip(answers.rows, labels, strict=True):
        if len(own) > 1:
            by_group[row.group].append(len(set(own)) > 1)
    return {group: float(np.mean(each)) for group, each in by_group.items() if each}


def labellers_differ(disagreement: Mapping[str, float], bound: float) -> tuple[Finding, ...]:
    """Report that people disagree more about one group than about another."""
    if len(disagreement) < 2:
        return ()
    shown = ", ".join(f"{group} {100 * x:.0f} %" for group, x in disagreement.items())
    text = f"two people disagree on the label of a text: {shown}"
    if max(disagreement.values()) - min(disagreement.values()) > bound / 2:
        text += "; the groups differ by more than half of the bound, which nothing corrects"
        return (Finding("labellers_differ", text),)
    return (Finding.note(text),)


def too_few(cells: Sequence[LabelCell], names: Sequence[str]) -> tuple[Finding, ...]:
    """Report strata and groups with too few labels; `names` are those of the strata."""
    found = []
    for cell in cells:
        of_all = isinstance(cell.group, tuple)
        where = names[cell.stratum] if of_all else f"{cell.group} / {names[cell.stratum]}"
        if cell.share > _SMALL and not cell.labels:
            text = f"{where}: none of {plural('answer', cell.answers)} is labelled; label some"
            found.append(Finding("stratum_unlabelled", text, "invalid"))
        elif cell.share > _SMALL and cell.labels < _FEWEST_OF_STRATUM:
            text = f"{where}: {plural('label', cell.labels)}; give {_FEWEST_OF_STRATUM} or more"
            found.append(Finding("too_few_labels", text, "invalid"))
    of_group: Counter[object] = Counter()
    for cell in cells:
        of_group[cell.group] += cell.labels
    for group, n in of_group.items():
        if n < FEWEST_OF_GROUP:
            about = " and ".join(group) if isinstance(group, tuple) else group
            text = f"{about}: {plural('label', n)}; give {FEWEST_OF_GROUP} or more of each group"
            found.append(Finding("too_few_labels", text, "invalid"))
    return tuple(found)
