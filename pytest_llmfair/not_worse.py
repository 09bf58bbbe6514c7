"""Is a model less fair than another on the same prompts? Non-inferiority, within a margin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pytest_llmfair.arguments import check_keywords, is_number
from pytest_llmfair.comparing import Compare
from pytest_llmfair.evidence import Evidence
from pytest_llmfair.judging import conclude, judged
from pytest_llmfair.metrics import MetricInfo, get_metric
from pytest_llmfair.reports.message import people
from pytest_llmfair.results import Result
from pytest_llmfair.rules import About, Judging, Unregistered
from pytest_llmfair.stats import Difference, Estimate, Mean, RateDifference, Undefined, WorstGroups
from pytest_llmfair.two_models import NAMES, Groups, check_same, is_model, measured_alike
from pytest_llmfair.wording import number

_FORM = (
    'assert_not_worse("strict_sentiment_parity", pairs, candidate=..., baseline=..., margin=0.02)'
)
_WORDS = dict.fromkeys(("bound", "minimum", "eps"), "margin") | {"n": "generations"}
_MEASURED = (Estimate, Result)


def assert_not_worse(
    *data: Any,
    candidate: Any = None,
    baseline: Any = None,
    margin: float | None = None,
    scorer: Any = None,
    generations: int | None = None,
    level: float | None = None,
    mode: str | None = None,
    max_mde: float | None = None,
    max_missing: float | None = None,
    max_invalid: float | None = None,
    label: str = "",
    unit: str = "",
    family: str = "session",
    **keywords: Any,
) -> Result:
    """Assert that a model is not less fair than another on the same prompts, beyond a margin.

    Non-inferiority: the value judged is by how much the candidate is worse, in the direction of
    the metric. Where both models show how much two answers to the same prompt differ, or one
    always gives the same answer, this noise is taken off both. Of more than two groups every two
    are compared, and the largest loss is judged.

    Parameters
    ----------
    *data
        Name of a metric, then prompts or pairs, which can be left out where answers are given.
        Without a metric: candidate, baseline and margin, in this order.
    candidate, baseline
        The two models. With a metric each is a client or a function of a prompt, answers
        (`Responses`, `PairedResponses`), a model specification such as "responses:old.jsonl", or
        the `Path` of recorded answers. Without one both are estimates of the same metric, or
        results of the same assertion. Signed metrics are compared by their distance to 0.
    margin : float
        Largest loss that is accepted, inclusive, on the metric's scale.
    scorer, generations
        As in :func:`pytest_llmfair.assert_metric`.
    level, mode, max_mde, max_missing, max_invalid, label, unit, family
        See :class:`Judging`.
    **keywords
        Further arguments of the metric, such as `groups` or `threshold`.

    Returns
    -------
    Result
        When the verdict is not red.

    Raises
    ------
    FairnessAssertionError
        As :func:`pytest_llmfair.assert_metric`.
    TypeError
        If something is missing, or is of a kind that cannot be compared.
    ValueError
        If the two were measured by different metrics, or on different prompts.

    Examples
    --------
    >>> from pytest_llmfair.metrics import toxic_fraction
    >>> old = toxic_fraction([[0.9, 0.1]] * 40 + [[0.2, 0.3]] * 60)
    >>> new = toxic_fraction([[0.9, 0.1]] * 30 + [[0.2, 0.3]] * 70)
    >>> result = assert_not_worse(candidate=new, baseline=old, margin=0.02)
    >>> result.verdict.value, round(result.value, 3)
    ('PASS', -0.05)
    """
    __tracebackhide__ = True
    judging = Judging(
        level,
        mode,
        max_mde,
        max_missing,
        label,
        family=family,
        max_invalid=max_invalid,
        unit=unit,
    )
    left = list(data)
    info = None
    if left and isinstance(left[0], str) and ":" not in left[0]:
        info = get_metric(left.pop(0))
    check_keywords(assert_not_worse, info, keywords, _WORDS)
    if margin is None and left and is_number(left[-1]):
        margin = left.pop()
    models = {"candidate": candidate, "baseline": baseline}
    if info is None:
        for name in NAMES:
            if models[name] is None and left:
                models[name] = left.pop(0)
    for name, given in {**models, "margin": margin}.items():
        if given is None:
            raise TypeError(f"assert_not_worse() needs {name}=...: {_FORM}")
    if len(left) > (info is not None):
        raise TypeError(
            f"assert_not_worse() got {len(data)} arguments by position, which is too many: {_FORM}"
        )
    given = [models[name] for name in NAMES]
    again = None
    if all(isinstance(each, _MEASURED) for each in given):
        sides = [_Side.of(each) for each in given]
    elif info is not None:
        found, again = measured_alike(
            info, left, given, generations, judging, scorer, keywords, _FORM
        )
        sides = [_Side(estimate, info, evidence) for evidence, estimate in found]
    elif any(map(is_model, given)):
        raise TypeError(f"two models are compared by a metric, on prompts or pairs: {_FORM}")
    else:
        odd = next(each for each in given if not isinstance(each, _MEASURED))
        raise TypeError(
            f"assert_not_worse takes an Estimate, not a {type(odd).__name__}; call a metric of "
            f"pytest_llmfair.metrics on your data first, or compare two models: {_FORM}"
        )
    return conclude(_compared(sides, info, margin, judging, again))


@dataclass(frozen=True, slots=True)
class _Side:
    """What is known of one of the two models."""

    estimate: Estimate
    info: About
    evidence: Evidence = field(default_factory=Evidence)

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
            given.estimate, given.estimate.metric or unregistered, given.evidence or Evidence()
        )

    @property
    def always_same(self) -> bool:
        """Whether the model is known to answer a prompt in one way only."""
        return "identical_repeats" in (*self.evidence.reasons, *self.estimate.reasons)


def _compared(
    sides: Sequence[_Side],
    asked: MetricInfo | None,
    margin: Any,
    judging: Judging,
    again: Callable[[Groups], list[Evidence]] | None,
) -> Result:
    """Judge by how much the candidate is worse."""
    named = [side.info for side in sides if side.info.name != "estimate"]
    info: About = asked or (named or [sides[0].info])[0]
    _check_comparable(sides, info, named)
    evidence = _joined_evidence(sides)
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
        loss = _loss(estimates, info, [side.always_same for side in sides])
        loss.notes = _labelled_notes([each.notes for each in estimates])
    groups = getattr(loss, "worst", ())
    if groups and again is not None:
        sides = [replace(s, evidence=own) for s, own in zip(sides, again(groups), strict=True)]
    first, second = (side.evidence for side in sides)
    labels = first.labels
    if first.prompts == second.prompts:
        evidence.prompts = first.prompts
        evidence.outputs = [(*a, *b) for a, b in zip(first.outputs, second.outputs, strict=True)]
    result = judged(
        loss,
        margin,
        evidence,
        judging,
        Unregistered(f"{info.name} worse than baseline", unit=info.unit),
        compare=Compare(),
    )
    of_row = [f"{name}, {group}" for name in NAMES for group in labels] or list(NAMES)
    return replace(
        result,
        compared=groups or labels,
        direction_words=_direction(info, sides, loss, groups or labels),
        examples=tuple(replace(each, labels=tuple(of_row)) for each in result.examples),
    )


def _check_comparable(sides: Sequence[_Side], info: About, named: Sequence[About]) -> None:
    names = {info.name, *(each.name for each in named)}
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
    several = isinstance(sides[0].estimate, WorstGroups)
    prompts = [side.evidence.prompts for side in sides]
    if all(prompts) and not several:
        check_same("baseline", *prompts)
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


def _loss(estimates: Sequence[Estimate], info: About, always_same: Sequence[bool]) -> Estimate:
    """Return by how much the candidate is worse: of several groups the largest loss."""
    candidate, baseline = estimates
    if isinstance(candidate, WorstGroups) and isinstance(baseline, WorstGroups):
        parts = {
            key: _loss((part, baseline.parts[key]), info, always_same)
            for key, part in candidate.parts.items()
        }
        return WorstGroups.of_parts(
            parts,
            "lower",
            units=candidate.sample.units,
            generations=sum(each.sample.generations for each in estimates),
        )
    compares = candidate.compares_answers and not all(always_same)
    excesses = [
        _excess(one, other, info.fair_value, same)
        for one, other, same in zip(estimates, estimates[::-1], always_same, strict=True)
    ]
    if excesses[0] is not None and excesses[1] is not None:
        candidate, baseline, compares = excesses[0], excesses[1], False
    folded = info.direction == "two-sided" or (
        isinstance(candidate, RateDifference) and candidate.absolute
    )
    if info.direction == "higher":
        candidate, baseline = baseline, candidate
    loss = Difference.between(candidate, baseline, folded=folded)
    loss.compares_answers = compares
    return loss


def _excess(one: Estimate, other: Estimate, fair: float, always_same: bool) -> Estimate | None:
    """Return what is left without the noise floor, where `other` has one too."""
    if one.excess is not None or not always_same:
        return one.excess
    if not isinstance(other.excess, Mean) or one.contributions is None:
        return None
    parts = one.contributions
    # Two answers to the same prompt are the same, so that the floor is the fair value.
    excess = Mean.of_values(parts.values - fair, units=parts.units, bounds=other.excess.bounds)
    excess.rows = (np.asarray(one.rows) - fair).tolist()
    return excess


def _joined_evidence(sides: Sequence[_Side]) -> Evidence:
    """Return what was lost of either model's answers, by model."""
    joined = Evidence()
    names = []
    for name, side in zip(NAMES, sides, strict=True):
        own = side.evidence
        for code, words in {**own.invalid, **side.estimate.invalid}.items():
            before = [joined.invalid[code]] if code in joined.invalid else []
            joined.invalid[code] = "; ".join([*before, f"{name}: {words}"])
        for group, reasons in own.missing.items():
            joined.missing[name if group == "all" else f"{name}, {group}"] = reasons
        for reason, n in own.cut.items():
            joined.cut[reason] = joined.cut.get(reason, 0) + n
        joined.origin = (joined.origin[0] + own.origin[0], joined.origin[1] + own.origin[1])
        joined.rejected, joined.attribute = own.rejected, own.attribute
        joined.paired = own.paired
        joined.lacks = tuple(dict.fromkeys((*joined.lacks, *own.lacks, *side.estimate.lacks)))
        names += [f"{own.model} ({name})"] if own.model else []
    joined.model = " against ".join(names)
    first, second = (side.estimate for side in sides)
    if first.variant != second.variant or (
        first.measures != second.measures and not any(side.always_same for side in sides)
    ):
        joined.invalid["not_comparable"] = (
            f"the candidate is measured as {_said(sides[0])}, the baseline as "
            f"{_said(sides[1])}; measure both the same way"
        )
    joined.notes = list(_labelled_notes([side.evidence.notes for side in sides]))
    return joined


def _said(side: _Side) -> str:
    """Return the name of what was measured, with what it depends on."""
    what = "" if side.estimate.measures == "value" else f" ({side.estimate.measures})"
    return f"{side.info.name}{side.estimate.variant}{what}"


def _labelled_notes(notes: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return what holds for both models once, and all else with the model."""
    first, second = notes
    found = [note for note in first if note in second]
    for name, own, other in ((NAMES[0], first, second), (NAMES[1], second, first)):
        found += [f"{name}: {note}" for note in own if note not in other]
    return tuple(found)


def _direction(info: About, sides: Sequence[_Side], loss: Estimate, groups: Sequence[str]) -> str:
    """Say which side is fairer, and the value of either model."""
    fairer = {"two-sided": f"around {info.fair_value:g} is fair"}
    found = f"{info.name}, {fairer.get(info.direction, f'{info.direction} is fairer')}"
    part = getattr(loss, "part", loss)
    if not isinstance(part, Difference):
        return found
    estimates = [part.candidate, part.baseline]
    values = []
    for name, side, each in zip(
        NAMES, sides, estimates[:: -1 if info.direction == "higher" else 1], strict=True
    ):
        shown = number(each.value if each.of == "value" else each.debiased, 3)
        values.append(f"{name} {side.evidence.model} {shown}".replace("  ", " "))
    with_floor = [side.estimate.excess is not None for side in sides]
    if any(with_floor) and all(
        x or side.always_same for x, side in zip(with_floor, sides, strict=True)
    ):
        values[1] += " (each less what two answers to the same prompt give)"
    attribute = sides[0].evidence.attribute
    between = " and ".join(people(attribute, group) for group in groups)
    return f"{found}: {', '.join(values)}{between and f', between {between}'}"
