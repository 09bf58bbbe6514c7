"""The one pipeline of all assertions: collect, arrange, measure, judge.

An `Assertion` is plain data. `evaluate` turns it into a `Result` in four steps::

    answers = collect(...)                  # collecting.py, or the data as given
    inputs = arrange(assertion, answers)    # arrange.py: arguments of the metric, and findings
    estimate = metric.function(...)         # for several groups on every two of them
    result = judge(estimate, ...)           # verdict.py

With early looks the four steps are repeated on growing parts of the items. An `EstimateAssertion`
brings its estimate and takes the last step only.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from pytest_llmfair.judging.arrange import arrange
from pytest_llmfair.judging.assertion import Assertion, EstimateAssertion, quantity_of
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.collecting import (
    NOTHING_ASKED,
    check_units,
    collect,
    selection_of,
    unchecked_pairs,
)
from pytest_llmfair.judging.inputs import MetricInputs, texts_of
from pytest_llmfair.judging.pairs import (
    NO_CLIENT,
    TwoGroups,
    comparisons_of,
    fixed_wordings,
    groups_of,
    inputs_of_groups,
    is_pair,
    pair_units,
    wanted_groups,
)
from pytest_llmfair.judging.power import expected_power, expected_sample
from pytest_llmfair.judging.result import Result, Verdict
from pytest_llmfair.judging.rules import current_settings
from pytest_llmfair.judging.scorer_audit import audit_scorer, changes_of
from pytest_llmfair.judging.scoring import reads, scored, takes
from pytest_llmfair.judging.sequential import Looks, as_betting, check_looks, joined
from pytest_llmfair.judging.verdict import judge
from pytest_llmfair.responses import PairedResponses, Responses
from pytest_llmfair.results.compare import ScoredAnswers
from pytest_llmfair.session import asking, current_session
from pytest_llmfair.stats import (
    Estimate,
    Finding,
    Sample,
    Undefined,
    WorstGroups,
)
from pytest_llmfair.stats.crossed_mean import over_levels

Measured = tuple[MetricInputs, Estimate]


def evaluate(assertion: Assertion | EstimateAssertion) -> Result:
    """Return the result of an assertion, without recording it or raising for it."""
    if isinstance(assertion, EstimateAssertion):
        estimate, inputs = assertion.estimate, assertion.inputs
        return judge(estimate, assertion.bound, assertion.metric, assertion.rules, inputs)
    source, rules = assertion.source, assertion.rules
    if source.client is None:
        if rules.sequential is not None:
            raise ValueError("sequential needs client=..., the model to stop asking")
        if is_pair(next(iter(source.first), None) if isinstance(source.first, list) else None):
            raise ValueError(NO_CLIENT)
        return _judge(assertion, *measure(assertion, source.data, source.units))
    # Whatever is wrong with the call must show before the first answer is paid for.
    bound = Bound.of_metric(assertion.bound, assertion.metric)
    if selection_of(source.first, rules).invalid:
        return _judge(assertion, *_nothing_asked(assertion))
    items = assertion.check_request()
    if rules.looks is not None:
        return _evaluate_in_looks(assertion, bound, items)
    answers = ask(assertion, bound, source.client, items, len(items))
    return _judge(assertion, *measure(assertion, (answers, *source.rest), source.units))


def _evaluate_in_looks(assertion: Assertion, bound: Bound, items: Sequence[Any]) -> Result:
    """Ask in looks until the verdict is PASS or FAIL, or everything is asked."""
    source, rules = assertion.source, assertion.rules
    own = inspect.signature(assertion.metric.function).parameters.get("population")
    population = assertion.keywords.get("population", own.default if own else "sampled")
    kind = "betting" if rules.method else "obf"
    check_looks(assertion.metric, population, kind)
    seed = current_settings().seed
    looks = Looks(kind, rules.level_of(assertion.metric), seed, items, source.units)
    answers = None
    while True:
        answers = joined(answers, ask(assertion, bound, source.client, looks.take(), len(items)))
        inputs, estimate = measure(assertion, (answers, *source.rest), looks.labels)
        level = looks.level_of(estimate)
        if level is None:
            continue
        at_level = replace(assertion, rules=replace(rules, level=level))
        cost = looks.cost(answers)
        result = _judge(at_level, inputs.with_findings(looks.note(cost, level)), estimate)
        if looks.last or result.verdict in (Verdict.PASS, Verdict.FAIL):
            over_looks = looks.over_all(result.p_exceeds, estimate)
            return replace(result, looks=looks.count, calls=cost, over_looks=over_looks)


def ask(
    assertion: Assertion, bound: Bound, client: Any, items: Sequence[Any], of: int, name: str = ""
) -> Any:
    """Ask one model for the answers to `items`, some or all `of` the prompts or pairs."""
    n, rules, info = assertion.source.generations, assertion.rules, assertion.metric
    session, crossed = current_session(), assertion.cells is not None
    noted: AbstractContextManager[None] = nullcontext()
    if session is not None and session.settings.plan:
        unit = rules.unit or info.unit
        noted = asking(
            metric=info.name,
            bound=bound.value,
            direction=bound.direction,
            unit=unit,
            units=of,
            generations=n,
            items=len(items),
            all_items=of,
            compared=name,
            **expected_power(
                lambda: expected_sample(info, of, n, name, crossed=crossed),
                bound,
                rules.level_of(info),
                rules.max_mde,
                unit,
            ),
        )
    with noted:
        return collect(items, client, n, placebo=assertion.compare.placebo)


def _judge(assertion: Assertion, inputs: MetricInputs, estimate: Estimate) -> Result:
    """Judge what was measured, with a confidence sequence where the rules ask for one."""
    if assertion.rules.method is not None:
        estimate = as_betting(estimate)
    bound, info, rules = assertion.bound, assertion.metric, assertion.rules
    assert bound is not None
    return evaluate(EstimateAssertion(estimate, bound, info, rules, inputs))


def measure(assertion: Assertion, data: tuple[Any, ...], units: Any) -> Measured:
    """Measure the metric on answers or arrays; for several groups on every two of them."""
    if isinstance(data[0] if data else None, (Responses, PairedResponses)):
        fact = assertion.scorer.fact
        data = data if fact is None else (fact.readable(data[0]), *data[1:])
    first = data[0] if data else None
    if isinstance(first, PairedResponses):
        check_units(units, first.pairs)
        units = None if units is None else list(units)
        parts = _comparisons(assertion, first, units)
        if parts is None:
            found = _measure_one(assertion, data, units)
        elif not parts:
            # A look at a part of the pairs may miss a group.
            why = Finding.undefined("no prompt is about two of the groups to compare")
            return _undefined(MetricInputs(findings=(why,)))
        elif len(parts) == 1:
            (part,) = parts.values()
            found = _measure_one(assertion, (part.responses, *data[1:]), part.units)
        else:
            found = _measure_every_two(assertion, first, parts, data[1:], units)
    else:
        found = _measure_one(assertion, data, units)
    inputs, estimate = found
    if isinstance(first, PairedResponses) and units is None:
        fixed = fixed_wordings(first.pairs)
        if fixed is not None:
            inputs = replace(inputs.with_findings(fixed), unit="filler")
    inputs = replace(_with_selection(assertion, inputs), scorer_version=assertion.scorer.version)
    return inputs.with_findings(
        *unchecked_pairs(assertion.source.first),
        *changes_of(inputs, assertion.metric.needs, getattr(first, "order", {})),
    ), estimate


def _measure_one(
    assertion: Assertion, data: tuple[Any, ...], units: Any, *, fixed: bool = False
) -> Measured:
    inputs = arrange(assertion, data, units, fixed=fixed)
    if inputs.undefined is not None:
        return _undefined(inputs)
    inputs = inputs.with_findings(*_audited(assertion, inputs))
    estimate = assertion.metric.function(*inputs.args, **inputs.keywords)
    if assertion.compare.placebo:
        inputs = inputs.with_findings(_placebo_answers(inputs, estimate.floor))
    estimate = _judged_quantity(assertion, estimate)
    if (cells := assertion.cells) is not None:
        estimate = over_levels(estimate, cells.labels, assertion.metric.direction)
    return inputs, estimate


def _comparisons(
    assertion: Assertion, responses: PairedResponses, units: Sequence[Any] | None
) -> dict[tuple[str, str], TwoGroups] | None:
    """Return the comparisons of every two groups; None where there are only two to compare."""
    compare, source = assertion.compare, assertion.source.first
    if not responses.pairs or assertion.metric.needs == "scores":
        return None
    if len(groups_of(responses.pairs)) < 3 and not compare.groups and not compare.reference:
        return None
    known = groups_of(source if isinstance(source, (list, tuple)) else responses.pairs)
    wanted = wanted_groups(known, compare.groups, compare.reference)
    return comparisons_of(responses, wanted, units, placebo=compare.placebo)


def _measure_every_two(
    assertion: Assertion,
    responses: PairedResponses,
    parts: dict[tuple[str, str], TwoGroups],
    rest: tuple[Any, ...],
    units: Sequence[Any] | None,
) -> Measured:
    """Measure every comparison of two groups, and return the worst."""
    info = assertion.metric
    direction = info.direction
    if direction == "two-sided":
        if not takes(info, "absolute"):
            raise ValueError(
                f"{info.name} is fair in the middle of its range, so none of {len(parts)} "
                "comparisons is the worst; give groups=(one, other)"
            )
        # The worst is the largest size.
        keywords = {**assertion.keywords, "absolute": True}
        assertion, direction = replace(assertion, keywords=keywords), "lower"
    texts = [pair.original for pair in responses.pairs]
    texts += [pair.counterfactual for pair in responses.pairs]
    rows = dict(zip(texts, responses.original + responses.counterfactual, strict=True)).values()
    # Repeats count once only where all of them are identical, in all groups.
    repeats = [row for row in map(texts_of, rows) if len(row) > 1]
    same = all(len(set(row)) == 1 for row in repeats)
    measured = {
        key: _measure_one(assertion, (part.responses, *rest), part.units, fixed=not same)
        for key, part in parts.items()
    }
    estimate = WorstGroups.of_parts(
        {key: each for key, (_, each) in measured.items()},
        direction,
        units=len({label for part in parts.values() for label in part.units}),
        generations=sum(map(len, rows)),
    )
    inputs = inputs_of_groups(
        responses,
        pair_units(responses.pairs) if units is None else units,
        [each for each, _ in measured.values()],
        measured[getattr(estimate, "worst", next(iter(parts)))][0],
        assertion.rules.chosen("max_missing"),
    )
    return inputs, estimate


def _with_selection(assertion: Assertion, inputs: MetricInputs) -> MetricInputs:
    """Add what was left out before anything was asked."""
    selection = selection_of(assertion.source.first, assertion.rules)
    return replace(
        inputs.with_findings(*selection.findings),
        rejected=selection.rejected,
        uncertain=selection.uncertain,
    )


def _nothing_asked(assertion: Assertion) -> Measured:
    why = Finding.undefined(NOTHING_ASKED)
    inputs = MetricInputs(findings=(why,), baseline=assertion.compare.baseline)
    return _undefined(_with_selection(assertion, inputs))


def _undefined(inputs: MetricInputs) -> Measured:
    """Return the estimate of data that hold no answer."""
    sample = Sample(units=0, generations=0, fewest=0, most=0)
    return inputs, Undefined(undefined=inputs.undefined, sample=sample)


def _audited(assertion: Assertion, inputs: MetricInputs) -> tuple[Finding, ...]:
    """Report the gap that the scorer sees by itself, where a bound says what is too much."""
    info, scorer = assertion.metric, assertion.scorer
    if not inputs.attribute or assertion.bound is None or reads(info):
        return ()
    if isinstance(assertion.source.first, ScoredAnswers):
        # What gave these scores cannot be asked.
        return ()

    def measure_sentences(
        first: list[list[str]], second: list[list[str]], rows: list[int]
    ) -> float:
        sides: Any = (first, second)
        if info.needs == "score_pairs":
            sides = [scored(side, scorer) for side in sides]
        return info.function(*sides, **{**assertion.keywords, "units": rows}).value

    bound = Bound(assertion.bound, info.direction, info.fair_value, info.scale)
    with scorer.remembering():
        return audit_scorer(
            scorer.chosen, inputs.attribute, inputs.labels, bound, measure_sentences
        )


def _placebo_answers(inputs: MetricInputs, floor: Estimate | None) -> Finding:
    """Count the pairs with answers to a placebo twin."""
    pairs = len(inputs.keywords["placebo"])
    if floor is None or floor.contributions is None:
        text = (
            f"none of the {pairs} pairs has enough answers to its placebo twin, so the "
            "effect of rewording cannot be estimated; fix the client first"
        )
        return Finding("no_noise_floor", text, "invalid")
    compared = len(floor.contributions.values)
    text = f"{compared} of {pairs} pairs have a placebo twin, with its answers"
    return Finding("placebo_answers", text, "note")


def _judged_quantity(assertion: Assertion, estimate: Estimate) -> Estimate:
    """Return the quantity to judge: the value, or its excess over the noise floor."""
    on = assertion.compare.on
    if assertion.compare.baseline == "none":
        return quantity_of(estimate, "no floor")
    return estimate if on == "excess" and estimate.excess is None else quantity_of(estimate, on)
