"""Is a model less fair than another on the same prompts? Non-inferiority, within a margin."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_llmfair._util.wording import number
from pytest_llmfair.judging.arguments import is_number
from pytest_llmfair.judging.assertion import (
    Assertion,
    EstimateAssertion,
    Source,
    TextScorer,
)
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.judging.missing_data import has_answers
from pytest_llmfair.judging.pairs import is_pair
from pytest_llmfair.judging.people import people
from pytest_llmfair.judging.pipeline import Measured, ask_models, evaluate, measure
from pytest_llmfair.judging.result import Result
from pytest_llmfair.judging.rules import JudgedMetric, Rules, Unregistered, current_settings
from pytest_llmfair.judging.validity import drop_invalid_pairs
from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.responses import PairedResponses, Responses, joined_origins, rows_of
from pytest_llmfair.stats import Estimate, Finding, PairedDifference, Undefined, WorstGroups
from pytest_llmfair.stats.difference import loss_between

# What callers may have written instead of a keyword.
OTHER_WORDS = dict.fromkeys(("bound", "minimum", "eps"), "margin") | {"n": "generations"}
_NAMES = ("candidate", "baseline")
_WORSE = "worse than baseline"
_FORM = (
    'assert_not_worse("strict_sentiment_parity", pairs, candidate=..., baseline=..., margin=0.02)'
)
_MEASURED = (Estimate, Result)
_ANSWERS = (Responses, PairedResponses)


def is_metric_name(given: Any) -> bool:
    """Whether this is the name of a metric, and not the specification of a model."""
    return isinstance(given, str) and ":" not in given


def compare_models(
    info: MetricInfo | None,
    data: Sequence[Any],
    models: Mapping[str, Any],
    margin: float | None,
    rules: Rules,
    scorer: Any,
    generations: int | None,
    keywords: Mapping[str, Any],
) -> Result:
    """Judge by how much the candidate is less fair than the baseline."""
    left, models = list(data), dict(models)
    if margin is None and left and is_number(left[-1]):
        margin = left.pop()
    if info is None:
        for name in _NAMES:
            if models[name] is None and left:
                models[name] = left.pop(0)
    for name, given in {**models, "margin": margin}.items():
        if given is None:
            raise TypeError(f"assert_not_worse() needs {name}=...: {_FORM}")
    if len(left) > (info is not None):
        raise TypeError(
            f"assert_not_worse() got {len(data) + (info is not None)} arguments by position, "
            f"which is too many: {_FORM}"
        )
    _check_kinds(info, models)
    if all(isinstance(each, _MEASURED) for each in models.values()):
        return _compared([_Side.of(each) for each in models.values()], info, margin, rules)
    assert info is not None
    bound = Bound.checked(margin, "lower", 0.0, (-math.inf, math.inf), f"{info.name} {_WORSE}")
    asked, units = _asked_of_both(left, models, keywords)
    request = Assertion.of(
        info,
        (asked,),
        margin,
        rules,
        client=models,
        generations=generations,
        scorer=TextScorer(info, scorer),
        keywords={**keywords, "units": units},
    )
    items = request.check_request()
    clients = {name: _client(each) for name, each in models.items()}
    answers = ask_models(request, bound, items, clients)
    shared, found = _measured_alike(_assertions_on(request, answers))
    sides = [_Side(estimate, info, inputs) for inputs, estimate in found]
    return _compared(sides, info, margin, rules, shared)


def _check_kinds(info: MetricInfo | None, models: Mapping[str, Any]) -> None:
    """Raise ``TypeError`` unless there are two estimates or results, or a metric and models."""
    if all(isinstance(each, _MEASURED) for each in models.values()):
        return
    if info is None and any(map(_is_model, models.values())):
        raise TypeError(f"two models are compared by a metric, on prompts or pairs: {_FORM}")
    if info is None:
        odd = next(each for each in models.values() if not isinstance(each, _MEASURED))
        raise TypeError(
            f"assert_not_worse takes an Estimate, not a {type(odd).__name__}; call a metric of "
            f"pytest_llmfair.metrics on your data first, or compare two models: {_FORM}"
        )
    for name, model in models.items():
        if not _is_model(model):
            raise TypeError(
                f"{name} is a {type(model).__name__}; give two clients, functions of a prompt, "
                "answers, or model specifications such as 'responses:old.jsonl' (or two "
                f"estimates, or two results): {_FORM}"
            )


@dataclass(frozen=True, slots=True)
class _Side:
    """What is known about one of the two models."""

    estimate: Estimate
    info: JudgedMetric
    inputs: MetricInputs = field(default_factory=MetricInputs)

    @classmethod
    def of(cls, given: Estimate | Result) -> _Side:
        """Take an estimate, or the one that a result keeps."""
        if isinstance(given, Estimate):
            return cls(given, given.metric or Unregistered())
        if given.estimate is None:
            raise ValueError(
                f"this result of {given.metric} came from another process, without its data; "
                "compare results of one process, or the answers"
            )
        unregistered = Unregistered(
            given.metric, given.direction, given.fair_value, given.scale, given.unit
        )
        return cls(
            given.estimate, given.estimate.metric or unregistered, given.evidence or MetricInputs()
        )

    @property
    def always_same(self) -> bool:
        """Whether the model is known to answer a prompt in one way only."""
        return "identical_repeats" in (*self.inputs.reasons, *self.estimate.reasons)


def _asked_of_both(
    items: Sequence[Any], models: Mapping[str, Any], keywords: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Return the prompts or valid pairs that both models answer, and their units."""
    answers = [each for each in models.values() if isinstance(each, _ANSWERS)]
    asked = [*items, *map(_asked, answers)]
    if not asked:
        raise TypeError(f"assert_not_worse() needs the prompts or pairs to ask: {_FORM}")
    if isinstance(asked[0], _ANSWERS):
        raise TypeError(f"give answers as candidate= and baseline=: {_FORM}")
    return drop_invalid_pairs(asked[0], keywords.get("units"))


def _assertions_on(request: Assertion, answers: Sequence[Any]) -> list[Assertion]:
    """Return one assertion per model, which measures its answers and does not judge them."""
    asked = request.source.first
    assertions = []
    for name, each in zip(_NAMES, answers, strict=True):
        valid, _ = drop_invalid_pairs(each)
        _check_same(name, asked, _asked(valid))
        source = replace(request.source, data=(valid,), client=None)
        assertions.append(replace(request, bound=None, source=source))
    return assertions


def _measured_alike(
    assertions: Sequence[Assertion],
) -> tuple[Sequence[Assertion], list[Measured]]:
    """Measure both models on what both answered; missing answers are counted over all prompts."""
    found = [measure(each, each.source.data, each.source.units) for each in assertions]
    answers = [each.source.first for each in assertions]
    whole_rows = assertions[0].metric.whole_rows
    kept = [
        row
        for row, of_both in enumerate(zip(*answers, strict=True))
        if all(_answered(each, whole_rows) for each in of_both)
    ]
    n = len(answers[0])
    if not 0 < len(kept) < n:
        return assertions, found
    lost = f"{n - len(kept)} of {n} prompts or pairs left out"
    text = f"{lost}: an answer of one of the models is missing"
    note = Finding("not_answered_by_both", text, "note")
    shared = [_on_rows(each, kept) for each in assertions]
    for i, (each, (before, _)) in enumerate(zip(shared, found, strict=True)):
        inputs, estimate = measure(each, each.source.data, each.source.units)
        found[i] = _with_missing_of(before, inputs.with_findings(note)), estimate
    return shared, found


def _on_rows(assertion: Assertion, kept: Sequence[int]) -> Assertion:
    source = assertion.source
    units = source.units and [list(source.units)[row] for row in kept]
    return replace(assertion, source=Source((rows_of(source.first, kept),), units))


def _with_missing_of(before: MetricInputs, inputs: MetricInputs) -> MetricInputs:
    findings = [each for each in inputs.findings if each.kind != "invalid"]
    findings += [each for each in before.findings if each.kind == "invalid"]
    return replace(
        inputs,
        findings=tuple(findings),
        missing=before.missing,
        cut=before.cut,
        origin=before.origin,
    )


def _is_model(given: Any) -> bool:
    """Whether this is something to ask, or its answers."""
    named = isinstance(given, (*_ANSWERS, str, Path))
    asked = any(callable(getattr(given, way, None)) for way in ("generate", "ainvoke"))
    return not isinstance(given, (Estimate, Result)) and (named or asked or callable(given))


def _client(model: Any) -> Any:
    if not isinstance(model, (str, Path)):
        return model
    from pytest_llmfair.clients import load_client

    settings = current_settings()
    spec = f"responses:{model}" if isinstance(model, Path) else model
    return load_client(spec, seed=settings.seed, max_tokens=settings.max_tokens)


def _asked(answers: Any) -> Sequence[Any]:
    return list(answers.pairs if isinstance(answers, PairedResponses) else answers.prompts)


def _check_same(name: str, asked: Sequence[Any], answered: Sequence[Any]) -> None:
    """Raise ``ValueError`` unless a model answered the prompts or pairs asked for."""

    def texts(items: Sequence[Any]) -> list[Any]:
        return [(x.original, x.counterfactual) if is_pair(x) else x for x in items]

    if (wanted := texts(asked)) != (given := texts(answered)):
        lacking = [text for text in wanted if text not in given]
        example = f"; it lacks {str(lacking[0])[:80]!r}" if lacking else ""
        raise ValueError(
            f"the {name} answered {len(given)} prompts or pairs, other than the {len(wanted)} "
            f"asked for{example}; ask both models the same, in the same order"
        )


def _answered(row: Sequence[Any], complete: bool) -> bool:
    sides = row if row and isinstance(row[0], (tuple, list)) else (row,)
    return all(has_answers(side, complete) for side in sides)


def _compared(
    sides: Sequence[_Side],
    asked: JudgedMetric | None,
    margin: Any,
    rules: Rules,
    assertions: Sequence[Assertion] = (),
) -> Result:
    """Judge by how much the candidate is worse."""
    named = [info for info in (asked, *(side.info for side in sides)) if info is not None]
    info = next((each for each in named if each.name != "estimate"), named[0])
    _check_comparable(sides, info, {each.name for each in named} - {"estimate"})
    inputs = _joined_inputs(sides)
    estimates = [side.estimate for side in sides]
    undefined = [
        f"{name}: {each.undefined}"
        for name, each in zip(_NAMES, estimates, strict=True)
        if each.undefined is not None
    ]
    if undefined:
        sample = estimates[0].sample
        loss: Estimate = Undefined(undefined="; ".join(undefined), sample=sample)
    else:
        same = [side.always_same for side in sides]
        loss = loss_between(estimates, info.direction, info.fair_value, same)
        flags = (Finding(code) for code in loss.reasons)
        notes = map(Finding.note, _labelled_notes(*(each.notes for each in estimates)))
        invalid = (each for each in loss.findings if each.kind == "invalid")
        loss = replace(loss, findings=(*flags, *notes, *invalid))
    groups = getattr(loss, "worst", ())
    if groups and assertions:
        sides = [
            replace(side, inputs=_inputs_about(groups, assertion))
            for side, assertion in zip(sides, assertions, strict=True)
        ]
    first, second = (side.inputs for side in sides)
    labels = first.labels
    if first.prompts == second.prompts:
        outputs = [(*a, *b) for a, b in zip(first.outputs, second.outputs, strict=True)]
        inputs = replace(inputs, prompts=first.prompts, outputs=outputs)
    metric = Unregistered(f"{info.name} {_WORSE}", unit=info.unit)
    result = evaluate(EstimateAssertion(loss, margin, metric, rules, inputs))
    of_row = [f"{name}, {group}" for name in _NAMES for group in labels] or list(_NAMES)
    return replace(
        result,
        compared=groups or labels,
        direction_words=_direction(info, sides, loss, groups or labels),
        examples=tuple(replace(each, labels=tuple(of_row)) for each in result.examples),
    )


def _inputs_about(groups: Sequence[str], assertion: Assertion) -> MetricInputs:
    """Arrange the answers about two groups of several."""
    compare = replace(assertion.compare, groups=groups)
    chosen = replace(assertion, compare=compare)
    return measure(chosen, assertion.source.data, assertion.source.units)[0]


def _check_comparable(sides: Sequence[_Side], info: JudgedMetric, names: set[str]) -> None:
    if len(names) > 1:
        raise ValueError(
            f"{' and '.join(sorted(names))} cannot be compared; give one metric twice"
        )
    if info.direction == "two-sided" and info.scale == "log":
        raise ValueError(
            f"{info.name} is a ratio that is fair in the middle of its range, and no difference "
            "of two ratios is judged; compare the difference of rates, such as "
            "false_positive_rate_difference. All metrics but such ratios can be compared"
        )
    prompts = [side.inputs.prompts for side in sides]
    if all(prompts) and not isinstance(sides[0].estimate, WorstGroups):
        _check_same("baseline", *prompts)
    compared = [_groups(side) for side in sides]
    if compared[0] != compared[1] and all(compared):
        raise ValueError(
            f"the candidate's groups are {compared[0]}, the baseline's {compared[1]}; compare the "
            "same groups, with the same reference, in the same order"
        )


def _groups(side: _Side) -> str:
    """Return what is compared with what; rows without an estimate only break it down."""
    estimate = side.estimate
    if isinstance(estimate, WorstGroups):
        return ", ".join(sorted(" and ".join(key) for key in estimate.parts))
    rows = estimate.groups.items() if estimate.contributions is not None else ()
    return ", ".join(str(key) for key, row in rows if row.estimate is not None)


def _joined_inputs(sides: Sequence[_Side]) -> MetricInputs:
    """Return what was lost of either model's answers, by model."""
    first, second = (side.inputs for side in sides)
    found = [(*side.inputs.findings, *side.estimate.findings) for side in sides]
    uncovered = [each for own in found for each in own if each.code == "uncovered_group"]
    named = list(zip(_NAMES, sides, strict=True))
    models = [f"{side.inputs.model} ({name})" for name, side in named if side.inputs.model]
    notes = [
        [f.text for f in own.findings if f.kind != "invalid" and f.text and f not in uncovered]
        for own in (first, second)
    ]
    return MetricInputs(
        findings=(
            *map(Finding.note, _labelled_notes(*notes)),
            *_joined_invalid(sides),
            *uncovered,
        ),
        missing={
            name if group == "all" else f"{name}, {group}": reasons
            for name, side in named
            for group, reasons in side.inputs.missing.items()
        },
        cut=dict(Counter(first.cut) + Counter(second.cut)),
        origin=joined_origins(first, second),
        model=" against ".join(models),
        rejected=second.rejected,
        uncertain=second.uncertain,
        attribute=second.attribute,
        paired=second.paired,
    )


def _joined_invalid(sides: Sequence[_Side]) -> list[Finding]:
    """Return why either model cannot be judged, and why the two cannot be compared."""
    found: dict[str, str] = {}
    for name, side in zip(_NAMES, sides, strict=True):
        for code, text in {**side.inputs.invalid, **side.estimate.invalid}.items():
            before = f"{found[code]}; " if code in found else ""
            found[code] = f"{before}{name}: {text}"
    one, other = (side.estimate for side in sides)
    same = any(side.always_same for side in sides)
    if one.variant != other.variant or (one.measures != other.measures and not same):
        found["not_comparable"] = (
            f"the candidate is measured as {_described(sides[0])}, the baseline as "
            f"{_described(sides[1])}; measure both the same way"
        )
    return [Finding(code, text, "invalid") for code, text in found.items()]


def _described(side: _Side) -> str:
    """Return the name of what was measured, with what it depends on."""
    what = "" if side.estimate.measures == "value" else f" ({side.estimate.measures})"
    return f"{side.info.name}{side.estimate.variant}{what}"


def _labelled_notes(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Return what holds for both models once, and all else with the model."""
    both = [note for note in first if note in second]
    named = zip(_NAMES, (first, second), strict=True)
    return both + [f"{name}: {note}" for name, own in named for note in own if note not in both]


def _direction(
    info: JudgedMetric, sides: Sequence[_Side], loss: Estimate, groups: Sequence[str]
) -> str:
    """Say which side is fairer, and the value of either model."""
    two_sided = info.direction == "two-sided"
    fairer = f"around {info.fair_value:g} is fair" if two_sided else f"{info.direction} is fairer"
    found = f"{info.name}, {fairer}"
    part = getattr(loss, "part", loss)
    if not isinstance(part, PairedDifference):
        return found
    estimates = [part.candidate, part.baseline]
    if info.direction == "higher":
        estimates.reverse()
    values = []
    for name, side, each in zip(_NAMES, sides, estimates, strict=True):
        shown = number(each.value if each.of == "value" else each.debiased, 3)
        values.append(f"{name} {side.inputs.model} {shown}".replace("  ", " "))
    floors = [side.estimate.excess is not None for side in sides]
    if any(floors) and all(floors[i] or side.always_same for i, side in enumerate(sides)):
        values[1] += " (each less what two answers to the same prompt give)"
    attribute = sides[0].inputs.attribute
    between = " and ".join(people(attribute, group) for group in groups)
    return f"{found}: {', '.join(values)}{between and f', between {between}'}"
