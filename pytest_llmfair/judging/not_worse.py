"""Is a model less fair than another on the same prompts? Non-inferiority, within a margin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_llmfair._util.validation import whole
from pytest_llmfair._util.wording import number
from pytest_llmfair.judging.arguments import check_keywords, check_units, is_number
from pytest_llmfair.judging.collecting import collect, measurable, prompts_or_pairs
from pytest_llmfair.judging.groups import Compare, compare_of
from pytest_llmfair.judging.inputs import MetricInputs, usable
from pytest_llmfair.judging.message import people
from pytest_llmfair.judging.pairing import is_pair
from pytest_llmfair.judging.pipeline import TextScorer, conclude, judged, measured
from pytest_llmfair.judging.rules import About, Rules, Unregistered, current_settings
from pytest_llmfair.judging.validity import gated
from pytest_llmfair.judging.verdict import Result
from pytest_llmfair.metrics import MetricInfo, get_metric
from pytest_llmfair.responses import PairedResponses, Responses, joined_origins, rows_of
from pytest_llmfair.stats import Estimate, Finding, PairedDifference, Undefined, WorstGroups
from pytest_llmfair.stats.difference import loss_between

Answers = Responses | PairedResponses
Groups = tuple[str, ...]

_NAMES = ("candidate", "baseline")
_FORM = (
    'assert_not_worse("strict_sentiment_parity", pairs, candidate=..., baseline=..., margin=0.02)'
)
_WORDS = dict.fromkeys(("bound", "minimum", "eps"), "margin") | {"n": "generations"}
_MEASURED = (Estimate, Result)
_ANSWERS = (Responses, PairedResponses)


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
    max_uncertain: float | None = None,
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
    level, mode, max_mde, max_missing, max_invalid, max_uncertain, label, unit, family
        See :class:`Rules`.
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
    judging = Rules(
        level,
        mode,
        max_mde,
        max_missing,
        label,
        family=family,
        max_invalid=max_invalid,
        max_uncertain=max_uncertain,
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
        for name in _NAMES:
            if models[name] is None and left:
                models[name] = left.pop(0)
    for name, given in {**models, "margin": margin}.items():
        if given is None:
            raise TypeError(f"assert_not_worse() needs {name}=...: {_FORM}")
    if len(left) > (info is not None):
        raise TypeError(
            f"assert_not_worse() got {len(data)} arguments by position, which is too many: {_FORM}"
        )
    given = [models[name] for name in _NAMES]
    again = None
    if all(isinstance(each, _MEASURED) for each in given):
        sides = [_Side.of(each) for each in given]
    elif info is not None:
        found, again = _measured_alike(info, left, given, generations, judging, scorer, keywords)
        sides = [_Side(estimate, info, evidence) for evidence, estimate in found]
    elif any(map(_is_model, given)):
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
    evidence: MetricInputs = field(default_factory=MetricInputs)

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
        return "identical_repeats" in (*self.evidence.reasons, *self.estimate.reasons)


def _measured_alike(
    info: MetricInfo,
    items: Sequence[Any],
    models: Sequence[Any],
    generations: int | None,
    judging: Rules,
    scorer: Any,
    keywords: Mapping[str, Any],
) -> tuple[list[tuple[MetricInputs, Estimate]], Callable[[Groups], list[MetricInputs]]]:
    """Measure both models on what both answered; also return what measures two groups of many."""
    for name, model in zip(_NAMES, models, strict=True):
        if not _is_model(model):
            raise TypeError(
                f"{name} is a {type(model).__name__}; give two clients, functions of a prompt, "
                "answers, or model specifications such as 'responses:old.jsonl' (or two "
                f"estimates, or two results): {_FORM}"
            )
    asked = [*items, *(_asked(each) for each in models if isinstance(each, _ANSWERS))]
    if not asked:
        raise TypeError(f"assert_not_worse() needs the prompts or pairs to ask: {_FORM}")
    if isinstance(asked[0], _ANSWERS):
        raise TypeError(f"give answers as candidate= and baseline=: {_FORM}")
    asked, units = gated(asked[0], keywords.get("units"))
    n = info.generations if generations is None else whole(generations, "generations")
    measurable(info, pairs=is_pair(prompts_or_pairs(asked)[0]))
    check_units(units, asked)
    answers = [
        gated(each)[0] if isinstance(each, _ANSWERS) else collect(asked, each, n, placebo=False)
        for each in map(_client, models)
    ]
    for name, each in zip(_NAMES, answers, strict=True):
        _check_same(name, asked, _asked(each))

    given = {**info.judged_with, **keywords}
    given.pop("units", None)
    compare = compare_of(info, answers[0], given)

    def measure(answers: Answers, units: Any, **chosen: Any) -> tuple[MetricInputs, Estimate]:
        return measured(
            info,
            (answers,),
            judging,
            scorer=TextScorer(info, scorer),
            keywords=given,
            compare=replace(compare, **chosen),
            units=units,
            source=answers,
        )

    found = [measure(each, units) for each in answers]
    kept = [
        row
        for row, of_both in enumerate(zip(*answers, strict=True))
        if all(_answered(each, info.whole_rows) for each in of_both)
    ]
    if 0 < len(kept) < len(asked):
        # Missing answers are counted over all prompts, and values compared on those of both.
        answers = [rows_of(each, kept) for each in answers]
        units = units and [list(units)[row] for row in kept]
        lost = f"{len(asked) - len(kept)} of {len(asked)} prompts or pairs left out"
        for i, (before, _) in enumerate(found):
            found[i] = own, _ = measure(answers[i], units)
            own.notes.append(f"{lost}: an answer of one of the models is missing")
            own.missing, own.invalid = before.missing, before.invalid
            own.cut, own.origin = before.cut, before.origin
    return found, lambda groups: [measure(a, units, groups=groups)[0] for a in answers]


def _is_model(given: Any) -> bool:
    """Tell whether this is something to ask, or its answers."""
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
    return all(usable(side, complete) for side in sides)


def _compared(
    sides: Sequence[_Side],
    asked: About | None,
    margin: Any,
    judging: Rules,
    again: Callable[[Groups], list[MetricInputs]] | None,
) -> Result:
    """Judge by how much the candidate is worse."""
    named = [info for info in (asked, *(side.info for side in sides)) if info is not None]
    info = next((each for each in named if each.name != "estimate"), named[0])
    _check_comparable(sides, info, {each.name for each in named} - {"estimate"})
    evidence = _joined_evidence(sides)
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
    of_row = [f"{name}, {group}" for name in _NAMES for group in labels] or list(_NAMES)
    return replace(
        result,
        compared=groups or labels,
        direction_words=_direction(info, sides, loss, groups or labels),
        examples=tuple(replace(each, labels=tuple(of_row)) for each in result.examples),
    )


def _check_comparable(sides: Sequence[_Side], info: About, names: set[str]) -> None:
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
    prompts = [side.evidence.prompts for side in sides]
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


def _joined_evidence(sides: Sequence[_Side]) -> MetricInputs:
    """Return what was lost of either model's answers, by model."""
    first, second = (side.evidence for side in sides)
    named = list(zip(_NAMES, sides, strict=True))
    models = [f"{side.evidence.model} ({name})" for name, side in named if side.evidence.model]
    lacks = [group for side in sides for group in (*side.evidence.lacks, *side.estimate.lacks)]
    joined = MetricInputs(
        cut=dict(Counter(first.cut) + Counter(second.cut)),
        origin=joined_origins(first, second),
        notes=_labelled_notes(first.notes, second.notes),
        model=" against ".join(models),
        rejected=second.rejected,
        uncertain=second.uncertain,
        lacks=tuple(dict.fromkeys(lacks)),
        attribute=second.attribute,
        paired=second.paired,
    )
    for name, side in named:
        for code, words in {**side.evidence.invalid, **side.estimate.invalid}.items():
            before = joined.invalid.get(code)
            joined.invalid[code] = f"{before}; {name}: {words}" if before else f"{name}: {words}"
        for group, reasons in side.evidence.missing.items():
            joined.missing[name if group == "all" else f"{name}, {group}"] = reasons
    one, other = (side.estimate for side in sides)
    if one.variant != other.variant or (
        one.measures != other.measures and not any(side.always_same for side in sides)
    ):
        joined.invalid["not_comparable"] = (
            f"the candidate is measured as {_said(sides[0])}, the baseline as "
            f"{_said(sides[1])}; measure both the same way"
        )
    return joined


def _said(side: _Side) -> str:
    """Return the name of what was measured, with what it depends on."""
    what = "" if side.estimate.measures == "value" else f" ({side.estimate.measures})"
    return f"{side.info.name}{side.estimate.variant}{what}"


def _labelled_notes(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Return what holds for both models once, and all else with the model."""
    both = [note for note in first if note in second]
    named = zip(_NAMES, (first, second), strict=True)
    return both + [f"{name}: {note}" for name, own in named for note in own if note not in both]


def _direction(info: About, sides: Sequence[_Side], loss: Estimate, groups: Sequence[str]) -> str:
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
        values.append(f"{name} {side.evidence.model} {shown}".replace("  ", " "))
    floors = [side.estimate.excess is not None for side in sides]
    if any(floors) and all(floors[i] or side.always_same for i, side in enumerate(sides)):
        values[1] += " (each less what two answers to the same prompt give)"
    attribute = sides[0].evidence.attribute
    between = " and ".join(people(attribute, group) for group in groups)
    return f"{found}: {', '.join(values)}{between and f', between {between}'}"
