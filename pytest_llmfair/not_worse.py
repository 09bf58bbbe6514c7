"""Is a model less fair than another on the same prompts? Non-inferiority, within a margin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pytest_llmfair.arguments import check_keywords, check_units, is_number
from pytest_llmfair.checks import whole
from pytest_llmfair.collecting import collect, measurable, prompts_or_pairs
from pytest_llmfair.comparing import Compare, compare_of
from pytest_llmfair.evidence import Evidence, usable
from pytest_llmfair.gating import gated
from pytest_llmfair.judging import TextScorer, conclude, judged, measured
from pytest_llmfair.metrics import MetricInfo, get_metric
from pytest_llmfair.pairing import is_pair
from pytest_llmfair.reports._people import people
from pytest_llmfair.reports._words import direction as side_of
from pytest_llmfair.responses import PairedResponses, Responses
from pytest_llmfair.results import Result
from pytest_llmfair.rules import About, Judging, Unregistered, current_settings
from pytest_llmfair.stats import Difference, Estimate, Mean, RateDifference, Undefined, WorstGroups
from pytest_llmfair.wording import number

Answers = Responses | PairedResponses
Groups = tuple[str, ...]

_FORM = (
    'assert_not_worse("strict_sentiment_parity", pairs, candidate=..., baseline=..., margin=0.02)'
)
_WORDS = dict.fromkeys(("bound", "minimum", "eps"), "margin") | {"n": "generations"}
_NAMES = ("candidate", "baseline")
_ANSWERS, _MEASURED = (Responses, PairedResponses), (Estimate, Result)


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
        sides, again = _measured(info, left, given, generations, judging, scorer, keywords)
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
    evidence: Evidence | None = None

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
        return cls(given.estimate, given.estimate.metric or unregistered, given.evidence)

    @property
    def model(self) -> str:
        return self.evidence.model if self.evidence else ""

    @property
    def prompts(self) -> list[tuple[str, ...]]:
        return self.evidence.prompts if self.evidence else []

    @property
    def always_same(self) -> bool:
        """Whether the model is known to answer a prompt in one way only."""
        of_evidence = self.evidence.reasons if self.evidence else ()
        return "identical_repeats" in (*of_evidence, *self.estimate.reasons)


def _measured(
    info: MetricInfo,
    items: Sequence[Any],
    models: Sequence[Any],
    generations: int | None,
    judging: Judging,
    scorer: Any,
    keywords: Mapping[str, Any],
) -> tuple[list[_Side], Callable[[Groups], list[Evidence]]]:
    """Measure both models on the prompts that both answered.

    Also return what gives the evidence for two of several groups.
    """
    for name, model in zip(_NAMES, models, strict=True):
        if not _is_model(model):
            raise TypeError(
                f"{name} is a {type(model).__name__}; give two clients, functions of a prompt, "
                "answers, or model specifications such as 'responses:old.jsonl' (or two "
                f"estimates, or two results): {_FORM}"
            )
    known = next((each for each in models if isinstance(each, _ANSWERS)), None)
    if items and isinstance(items[0], _ANSWERS):
        raise TypeError(f"give answers as candidate= and baseline=: {_FORM}")
    if not items and known is None:
        raise TypeError(f"assert_not_worse() needs the prompts or pairs to ask: {_FORM}")
    asked, units = gated(items[0] if items else _asked(known), keywords.get("units"))
    n = info.generations if generations is None else whole(generations, "generations")
    measurable(info, pairs=is_pair(prompts_or_pairs(asked)[0]))
    check_units(units, asked)
    answers = [
        gated(each)[0] if isinstance(each, _ANSWERS) else collect(asked, each, n, placebo=False)
        for each in map(_client, models)
    ]
    for name, each in zip(_NAMES, answers, strict=True):
        _check_same(name, asked, _asked(each))

    def measure(answers: Answers, units: Any, **chosen: Any) -> tuple[Evidence, Estimate]:
        given = {**info.judged_with, **keywords}
        given.pop("units", None)
        compare = replace(compare_of(info, answers, given), **chosen)
        text_scorer = TextScorer(info, scorer)
        return measured(
            info,
            (answers,),
            judging,
            scorer=text_scorer,
            keywords=given,
            compare=compare,
            units=units,
            source=answers,
        )

    found = [_Side(estimate, info, own) for own, estimate in (measure(a, units) for a in answers)]
    kept = [
        row
        for row in range(len(asked))
        if all(_answered(each[row], info.whole_rows) for each in answers)
    ]
    if 0 < len(kept) < len(asked):
        # Missing answers are counted over all prompts, and values compared on those of both.
        answers = [_rows(each, kept) for each in answers]
        units = units and [list(units)[row] for row in kept]
        lost = f"{len(asked) - len(kept)} of {len(asked)} prompts or pairs left out"
        for i, side in enumerate(found):
            own, estimate = measure(answers[i], units)
            own.notes.append(f"{lost}: an answer of one of the models is missing")
            if (before := side.evidence) is not None:
                own.missing, own.invalid = before.missing, before.invalid
                own.cut, own.origin = before.cut, before.origin
            found[i] = _Side(estimate, info, own)
    return found, lambda groups: [measure(a, units, groups=groups)[0] for a in answers]


def _is_model(given: Any) -> bool:
    named = isinstance(given, (*_ANSWERS, str, Path))
    asked = any(callable(getattr(given, way, None)) for way in ("generate", "ainvoke"))
    return not isinstance(given, _MEASURED) and (named or asked or callable(given))


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
    def texts(items: Sequence[Any]) -> list[Any]:
        return [(x.original, x.counterfactual) if is_pair(x) else x for x in items]

    if (wanted := texts(asked)) != (given := texts(answered)):
        lacking = [text for text in wanted if text not in given]
        example = f"; it lacks {str(lacking[0])[:80]!r}" if lacking else ""
        raise ValueError(
            f"the {name} answered {len(given)} prompts or pairs, other than the {len(wanted)} "
            f"asked for{example}; ask both models the same, in the same order"
        )


def _rows(answers: Answers, kept: Sequence[int]) -> Answers:
    def take(rows: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(rows[row] for row in kept)

    if isinstance(answers, Responses):
        return replace(answers, prompts=take(answers.prompts), answers=take(answers.answers))
    return replace(
        answers,
        pairs=take(answers.pairs),
        original=take(answers.original),
        counterfactual=take(answers.counterfactual),
        placebo=(),
    )


def _answered(row: Sequence[Any], complete: bool) -> bool:
    sides = row if row and isinstance(row[0], tuple) else (row,)
    return all(usable(side, complete) for side in sides)


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
        for name, each in zip(_NAMES, estimates, strict=True)
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
    labels = sides[0].evidence.labels if sides[0].evidence else ()
    if sides[0].prompts and sides[0].prompts == sides[1].prompts:
        evidence.prompts = sides[0].prompts
        outputs = [side.evidence.outputs for side in sides if side.evidence]
        evidence.outputs = [(*a, *b) for a, b in zip(*outputs, strict=True)]
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
    if all(side.prompts for side in sides) and not several:
        _check_same("baseline", *(side.prompts for side in sides))
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
    for name, side in zip(_NAMES, sides, strict=True):
        own = side.evidence or Evidence()
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
    joined.notes = list(_labelled_notes([s.evidence.notes if s.evidence else () for s in sides]))
    return joined


def _said(side: _Side) -> str:
    """Return the name of what was measured, with what it depends on."""
    what = "" if side.estimate.measures == "value" else f" ({side.estimate.measures})"
    return f"{side.info.name}{side.estimate.variant}{what}"


def _labelled_notes(notes: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return what holds for both models once, and all else with the model."""
    first, second = notes
    found = [note for note in first if note in second]
    for name, own, other in ((_NAMES[0], first, second), (_NAMES[1], second, first)):
        found += [f"{name}: {note}" for note in own if note not in other]
    return tuple(found)


def _direction(info: About, sides: Sequence[_Side], loss: Estimate, groups: Sequence[str]) -> str:
    """Say which side is fairer, and the value of either model."""
    found = f"{info.name}, {side_of({'direction': info.direction, 'fair_value': info.fair_value})}"
    part = getattr(loss, "part", loss)
    if not isinstance(part, Difference):
        return found
    estimates = [part.candidate, part.baseline]
    values = []
    for name, side, each in zip(
        _NAMES, sides, estimates[:: -1 if info.direction == "higher" else 1], strict=True
    ):
        shown = number(each.value if each.of == "value" else each.debiased, 3)
        values.append(f"{name} {side.model} {shown}".replace("  ", " "))
    with_floor = [side.estimate.excess is not None for side in sides]
    if any(with_floor) and all(
        x or side.always_same for x, side in zip(with_floor, sides, strict=True)
    ):
        values[1] += " (each less what two answers to the same prompt give)"
    attribute = sides[0].evidence.attribute if sides[0].evidence else ""
    between = " and ".join(people(attribute, group) for group in groups)
    return f"{found}: {', '.join(values)}{between and f', between {between}'}"
