"""By how much a model is worse than another one: two measured models become one result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_llmfair._util.wording import number
from pytest_llmfair.judging.assertion import Assertion, EstimateAssertion
from pytest_llmfair.judging.bound import WORSE
from pytest_llmfair.judging.facts import people
from pytest_llmfair.judging.inputs import MetricInputs, MissingData
from pytest_llmfair.judging.pairs import is_pair
from pytest_llmfair.judging.pipeline import evaluate, measure
from pytest_llmfair.judging.result import Result
from pytest_llmfair.judging.rules import JudgedMetric, Rules, Unregistered
from pytest_llmfair.responses import joined_origins
from pytest_llmfair.stats import (
    Call,
    Estimate,
    Finding,
    PairedDifference,
    Undefined,
    WorstGroups,
)
from pytest_llmfair.stats.difference import IN_WORDS, Pairing, loss_between, pairing_of

# Name of the call that compares two models.
LOSS = "not_worse"
NAMES = ("candidate", "baseline")


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two models: its estimate, metric and data."""

    estimate: Estimate
    info: JudgedMetric
    inputs: MetricInputs = field(default_factory=MetricInputs)

    @classmethod
    def of(cls, given: Estimate | Result) -> Side:
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


def compared(
    sides: Sequence[Side],
    asked: JudgedMetric | None,
    margin: Any,
    rules: Rules,
    assertions: Sequence[Assertion] = (),
    how: Pairing | None = None,
) -> Result:
    """Judge by how much the candidate is worse; `how` says which rows belong together."""
    named = [info for info in (asked, *(side.info for side in sides)) if info is not None]
    info = next((each for each in named if each.name != "estimate"), named[0])
    _check_comparable(sides, info, {each.name for each in named} - {"estimate"})
    inputs = _joined_inputs(sides)
    estimates = [side.estimate for side in sides]
    undefined = [
        f"{name}: {each.undefined}"
        for name, each in zip(NAMES, estimates, strict=True)
        if each.undefined is not None
    ]
    if undefined:
        sample = estimates[0].sample
        loss: Estimate = Undefined(undefined="; ".join(undefined), sample=sample)
    else:
        same = [side.always_same for side in sides]
        prompts = [side.inputs.prompts for side in sides]
        if how is None and all(prompts) and prompts[0] == prompts[1]:
            how = "prompts"
        about = (info.direction, info.fair_value, same, how or pairing_of(*estimates))
        loss = loss_between(estimates, *about)
        flags = (Finding(code) for code in loss.reasons)
        notes = map(Finding.note, _labelled_notes(*(each.notes for each in estimates)))
        invalid = (each for each in loss.findings if each.kind == "invalid")
        call = Call(LOSS, (*estimates, *about))
        loss = replace(loss, findings=(*flags, *notes, *invalid), call=call)
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
    metric = Unregistered(f"{info.name} {WORSE}", unit=info.unit, level=info.level)
    result = evaluate(EstimateAssertion(loss, margin, metric, rules, inputs))
    of_row = [f"{name}, {group}" for name in NAMES for group in labels] or list(NAMES)
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


def _check_comparable(sides: Sequence[Side], info: JudgedMetric, names: set[str]) -> None:
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
        check_same("baseline", *prompts)
    compared = [_groups(side) for side in sides]
    if compared[0] != compared[1] and all(compared):
        raise ValueError(
            f"the candidate's groups are {compared[0]}, the baseline's {compared[1]}; compare the "
            "same groups, with the same reference, in the same order"
        )


def _groups(side: Side) -> str:
    """Name the comparisons of an estimate; rows without an estimate only break it down."""
    estimate = side.estimate
    if isinstance(estimate, WorstGroups):
        return ", ".join(sorted(" and ".join(key) for key in estimate.parts))
    rows = estimate.groups.items() if estimate.contributions is not None else ()
    return ", ".join(str(key) for key, row in rows if row.estimate is not None)


def _joined_inputs(sides: Sequence[Side]) -> MetricInputs:
    """Return the losses among either model's answers, by model."""
    first, second = (side.inputs for side in sides)
    found = [(*side.inputs.findings, *side.estimate.findings) for side in sides]
    uncovered = [each for own in found for each in own if each.code == "uncovered_group"]
    named = list(zip(NAMES, sides, strict=True))
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
        # A loss has twice the range of a value, and a missing answer moves one of its two sides.
        missing_data=MissingData(
            min(1.0, 0.5 * (first.missing_data.share + second.missing_data.share)),
            bounded=first.missing_data.bounded and second.missing_data.bounded,
        ),
        cut=dict(Counter(first.cut) + Counter(second.cut)),
        origin=joined_origins(first, second),
        model=" against ".join(models),
        rejected=second.rejected,
        uncertain=second.uncertain,
        attribute=second.attribute,
        paired=second.paired,
    )


def _joined_invalid(sides: Sequence[Side]) -> list[Finding]:
    """Return the reasons against judging either model, and against comparing them."""
    found: dict[str, str] = {}
    for name, side in zip(NAMES, sides, strict=True):
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
    if sides[0].inputs.scorer_version != sides[1].inputs.scorer_version:
        found["not_comparable"] = (
            f"the scorer {sides[0].inputs.scorer} is another one than before, or has another "
            "rubric; measure both the same way"
        )
    return [Finding(code, text, "invalid") for code, text in found.items()]


def _described(side: Side) -> str:
    """Return the name of what was measured, with what it depends on."""
    what = "" if side.estimate.measures == "value" else f" ({side.estimate.measures})"
    return f"{side.info.name}{side.estimate.variant}{what}"


def _labelled_notes(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Return the notes that both models share once, and the others with their model."""
    both = [note for note in first if note in second]
    named = zip(NAMES, (first, second), strict=True)
    return both + [f"{name}: {note}" for name, own in named for note in own if note not in both]


def _direction(
    info: JudgedMetric, sides: Sequence[Side], loss: Estimate, groups: Sequence[str]
) -> str:
    """Name the fairer side, and the value of either model."""
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
    for name, side, each in zip(NAMES, sides, estimates, strict=True):
        values.append(f"{name} {side.inputs.model} {number(each.centre, 3)}".replace("  ", " "))
    floors = [side.estimate.excess is not None for side in sides]
    if any(floors) and all(floors[i] or side.always_same for i, side in enumerate(sides)):
        values[1] += " (each minus the difference between two answers to the same prompt)"
    attribute = sides[0].inputs.attribute
    between = " and ".join(people(attribute, group) for group in groups)
    between = between and f", between {between}"
    return f"{found}: {', '.join(values)}{between}, {IN_WORDS[part.how]}"


def check_same(name: str, asked: Sequence[Any], answered: Sequence[Any]) -> None:
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
