"""The assertion on the gap between groups that people's labels show, with a judge's help."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_llmfair._util.keywords import helpful_keywords
from pytest_llmfair._util.plain_data import sha256_of
from pytest_llmfair._util.wording import number, plural
from pytest_llmfair.judging.assertion import EstimateAssertion
from pytest_llmfair.judging.inputs import MetricInputs, count_missing, missing_data_of
from pytest_llmfair.judging.outcome import conclude
from pytest_llmfair.judging.pipeline import evaluate
from pytest_llmfair.judging.result import Result
from pytest_llmfair.judging.rules import Rules, Unregistered
from pytest_llmfair.judging.scorer_audit import self_audit
from pytest_llmfair.labels.answers import Answers, Columns, read_answers
from pytest_llmfair.labels.matching import Matched, labellers_differ, match, too_few
from pytest_llmfair.labels.plan import PLAN, LabelPlan, read_labels, span_of
from pytest_llmfair.labels.strata import cells_of
from pytest_llmfair.lexicons.loading import load_lexicons
from pytest_llmfair.scorers import load_scorers
from pytest_llmfair.stats import Estimate, Finding, Sample, Undefined
from pytest_llmfair.stats.corrected_gap import corrected_gap


@helpful_keywords(eps="bound", threshold="bound")
def assert_corrected_gap_within(
    responses: Any,
    bound: float,
    *,
    labels: Any,
    plan: Any = None,
    design: str = "planned",
    scorer: Any = None,
    groups: Any = None,
    pair_by: str | None = None,
    units: str | None = None,
    text: str | None = None,
    scale: tuple[float, float] | None = None,
    ratio: bool = False,
    level: float | None = None,
    mode: str | None = None,
    max_missing: float | None = None,
    label: str = "",
    unit: str = "",
    family: str = "session",
) -> Result:
    """Assert that the gap between groups that people see is within a bound.

    A judge (a model, a classifier, a word list) that errs differently by group makes gaps or hides
    them. People label a planned sample of the answers (:func:`label_plan`), and the estimate is of
    the gap that labels of all answers would show.

    Parameters
    ----------
    responses : path, list of dict, data frame, Responses or PairedResponses
        All judged answers, those that were planned with.
    bound : float
        Largest gap in either direction, inclusive. With `ratio` the largest absolute logarithm of
        the ratio: 0.22 allows 0.8 to 1.25.
    labels : path, list of dict, data frame, or mapping of id to label
        The labelled sheet, with the columns id and label (numbers, yes or no).
    plan : path or LabelPlan, optional
        The plan; by default ``label_plan.json`` in the folder of `labels`.
    design : {"planned", "random"}
        "random" says that labelled answers are a random sample of each group, without a plan; ids
        are those of the answers.
    scorer, groups, pair_by, units, text, scale : optional
        As in :func:`label_plan`, whose choice is the default.
    ratio : bool
        Whether the mean of the first group over that of the second is judged; of more than two
        groups the largest absolute logarithm.
    level, mode, max_missing, label, unit, family
        See :class:`Rules`; `max_missing` is about answers and planned labels of a group.

    Raises
    ------
    FairnessAssertionError
        As :func:`pytest_llmfair.assert_metric`. INVALID where labels are not those of the plan
        (``labels_not_planned``), too many are missing (``labels_missing``), a stratum has none
        (``stratum_unlabelled``), there are too few (``too_few_labels``), or answers or verdicts
        changed (``answers_changed``, ``judge_changed``).
    ValueError, OSError
        If a column, a number or a file is wrong.

    Examples
    --------
    >>> from pytest_llmfair import assert_corrected_gap_within, label_plan
    >>> rows = [
    ...     {"text": f"text {i}", "group": "ab"[i % 2], "judge": i % 5 == 0} for i in range(800)
    ... ]
    >>> plan = label_plan(rows, scorer="judge", total=300, seed=1)
    >>> people = {key: text.endswith("0") for key, text in plan.texts.items()}
    >>> assert_corrected_gap_within(rows, labels=people, plan=plan, bound=0.3).verdict.value
    'PASS'
    """
    __tracebackhide__ = True
    columns, rules = Columns(scorer, groups, pair_by, units, text), Rules.of(locals())
    asked = (labels, plan, design, scale, ratio)
    return conclude(corrected_gap_result(responses, bound, rules, columns, asked))


def corrected_gap_result(
    responses: Any,
    bound: Any,
    rules: Rules,
    columns: Columns,
    asked: tuple[Any, Any, str, Any, bool],
    scorers: Callable[[], Mapping[str, Any]] = load_scorers,
) -> Result:
    """Return the result; `asked` are labels, plan, design, scale and ratio of the assertion."""
    given, plan, design, scale, ratio = asked
    if design not in ("planned", "random"):
        raise ValueError(f"design is {design!r}; choose planned or random")
    if given is None or bound is None:
        raise TypeError("corrected_gap needs labels=..., the labelled sheet, and bound=...")
    labels = read_labels(given)
    if design == "random":
        plan = None
    elif (plan := _plan_of(plan, given)) is None:
        why = (
            f"there is no {PLAN} in the folder of the labels; give plan=..., or say "
            "design='random' if every answer of a group was as likely to be labelled"
        )
        inputs = MetricInputs(findings=(Finding("labels_not_planned", why, "invalid"),))
        nothing = Undefined(undefined=why, sample=Sample.of_sizes([]))
        name = Unregistered("corrected gap")
        return evaluate(EstimateAssertion(nothing, bound, name, rules, inputs))
    else:
        chosen = (a if b is None else b for a, b in zip(plan.columns, columns, strict=True))
        columns, scale = Columns(*chosen), plan.span
    answers = read_answers(responses, columns, scorers)
    most = rules.chosen("max_missing")
    found = match(answers, labels, plan, most)
    inputs = _inputs(answers, most).with_findings(
        *found.findings, *labellers_differ(found.disagreement, bound)
    )
    names = answers.names
    two = " / " if ratio else " - "
    about = ", ".join([answers.name, *([two.join(names)] if len(names) == 2 else [])])
    estimate = _measured(answers, found, plan, span_of(answers, scale), ratio)
    kept = {"design": design, **answers.sha256}
    for what, held in (("labels", sorted(labels.items())), ("plan", plan)):
        kept |= {f"{what}_sha256": str(sha256_of(repr(held)))} if held is not None else {}
    inputs = replace(inputs, labelling={**kept, "audit": _audit(answers)})
    if not any(each.kind == "invalid" for each in found.findings):
        parts = getattr(estimate, "parts", {"": estimate}).values()
        cells = {cell[:2]: cell for part in parts for cell in getattr(part, "cells", ())}
        strata = list(dict.fromkeys(estimate.call.keywords["strata"])) if estimate.call else []
        inputs = inputs.with_findings(*too_few(list(cells.values()), strata))
    log = ratio and len(names) == 2
    metric = Unregistered(
        f"corrected {'ratio' if ratio else 'gap'} ({about})",
        "two-sided" if len(names) == 2 else "lower",
        1.0 if log else 0.0,
        "log" if log else "linear",
        "pair" if answers.paired else "prompt",
    )
    return evaluate(EstimateAssertion(estimate, bound, metric, rules, inputs))


def _plan_of(plan: Any, labels: Any) -> LabelPlan | None:
    """Return the plan that is given, or the one in the folder of the labels."""
    if plan is None and isinstance(labels, (str, Path)):
        beside = Path(labels).parent / PLAN
        plan = beside if beside.is_file() else None
    return plan if plan is None or isinstance(plan, LabelPlan) else LabelPlan.read(plan)


def _measured(
    answers: Answers,
    found: Matched,
    plan: LabelPlan | None,
    span: tuple[float, float],
    ratio: bool,
) -> Estimate:
    """Return the estimate; its strata are those that were planned with."""
    labelled = plan.total if plan else sum(not math.isnan(x) for x in found.labels)
    strata = [""] * len(answers.rows)
    units: dict[Any, int] = {}
    pairs: dict[Any, int] = {}
    for cell in cells_of(answers, labelled):
        for row in (row for item in cell.items for row in item):
            strata[row] = cell.stratum
    rows = answers.rows
    return corrected_gap(
        answers.judge,
        found.labels,
        answers.groups,
        strata=strata,
        # Numbers, since labels of units may be texts of prompts.
        units=[units.setdefault(str(row.unit), len(units)) for row in rows],
        pairs=[pairs.setdefault(row.pair, len(pairs)) for row in rows] if answers.paired else None,
        missing=found.missing,
        span=span,
        ratio=ratio,
    )


def _inputs(answers: Answers, max_missing: float) -> MetricInputs:
    """Return the answers asked for and missing, by group."""
    names = list(dict.fromkeys(row.group for row in answers.asked))
    asked = {name: [row for row in answers.asked if row.group == name] for name in names}
    texts = {name: [(row.text,) for row in rows] for name, rows in asked.items()}
    counts = count_missing(texts, max_missing)
    units = [[row.unit for row in rows] for rows in asked.values()]
    missing_data = missing_data_of(list(texts.values()), tuple(names), units)
    findings = list(counts.findings)
    if alone := sum(isinstance(row.text, str) for row in answers.asked) - len(answers.rows):
        text = f"{plural('answer', alone)} left out: no twin has an answer"
        findings.append(Finding("rows_left_out", text, "note"))
    return MetricInputs(
        findings=tuple(findings),
        missing={} if not missing_data.share else counts.missing,
        cut=counts.cut,
        missing_data=missing_data,
        prompts=[(row.prompt,) for row in answers.rows],
        outputs=[([row.text],) for row in answers.rows],
        attribute=answers.attribute,
        model=answers.model,
        scorer=answers.name,
    )


def _audit(answers: Answers) -> str:
    """Return the gap of the judge itself on neutral sentences, as a line; else empty."""
    names = answers.names
    known = answers.attribute or next(
        (name for name, each in load_lexicons().items() if {*names} <= {*each.groups}), ""
    )
    if len(names) != 2 or not known or not hasattr(answers.scorer, "range"):
        return ""
    try:
        audit = self_audit(answers.scorer, known, groups=names)
    except ValueError:
        return ""  # an attribute without templates
    sign = 1.0 if audit.furthest[1] == names[0] else -1.0
    ends = sorted((sign * audit.lower, sign * audit.upper))
    return (
        f"says {number(sign * audit.gap)} [{number(ends[0])}, {number(ends[1])}] on "
        f"{audit.sentences} sentences that differ in the group alone (self_audit)"
    )
