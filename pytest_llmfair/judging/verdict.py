"""One judge for assertions, checks and the command line: estimate and bound in, `Result` out."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_llmfair._util.validation import one_sided
from pytest_llmfair.judging.assertion import EstimateAssertion
from pytest_llmfair.judging.bound import NO_FLOOR, REWORDED, Bound
from pytest_llmfair.judging.inputs import WORST_CASE_EXCEEDS, MetricInputs
from pytest_llmfair.judging.power import (
    Power,
    could_find,
    judge_outside,
    labelled,
    no_number,
    planted_effect,
    power_of,
    too_few_answers,
    units_to_decide,
)
from pytest_llmfair.judging.result import Example, Result, Verdict
from pytest_llmfair.judging.robustness import TOO_FEW, robustness, too_few_levels, worst_level
from pytest_llmfair.judging.rules import (
    JudgedMetric,
    Rules,
    Unregistered,
    current_settings,
    options_to_repeat,
)
from pytest_llmfair.judging.sentences import (
    differences_between,
    direction_in_words,
    rates_between,
    words_apart,
)
from pytest_llmfair.metrics.counterfactual.invariance import INVARIANCE
from pytest_llmfair.scorers.facts import with_fact_shown
from pytest_llmfair.session import active
from pytest_llmfair.settings import Settings
from pytest_llmfair.stats import Estimate, Finding, Interval, PairedAUC
from pytest_llmfair.stats.corrected_gap import CorrectedGap
from pytest_llmfair.stats.crossed_mean import FEW_ITEMS

_WORST_ROWS = 3

# In mode strict these hide a reason to doubt a PASS.
_DOUBTS = {"model_changed", "parts_exceed", "uninformative", "worst_case_unknown"}


@dataclass(frozen=True, slots=True)
class _Judgement:
    """A verdict, the findings that decided it, further findings, and the power of the test."""

    verdict: Verdict
    decisive: tuple[Finding, ...] = ()
    further: tuple[Finding, ...] = ()
    power: Power = field(default_factory=Power)

    @property
    def codes(self) -> list[str]:
        """Codes that a result reports as reasons."""
        return [f.code for f in (*self.further, *self.decisive) if f.kind != "note"]

    def notes(self, known: Iterable[str]) -> list[str]:
        """Return all notes, with those already `known` about the data."""
        # Fields of the result say how often a fair model would pass.
        enough = self.power.share >= 0.5
        decisive = [f.text for f in self.decisive if f.code != "underpowered" or enough]
        rest = [*known, *(f.text for f in self.further)]
        # What decides against the value comes before everything else.
        missing = {"missing_rates_differ", WORST_CASE_EXCEEDS}
        first = self.verdict is Verdict.INVALID or not missing.isdisjoint(self.codes)
        return [text for text in ([*decisive, *rest] if first else [*rest, *decisive]) if text]


def judge(
    estimate: Estimate,
    bound: float,
    metric: JudgedMetric | None = None,
    rules: Rules | None = None,
    inputs: MetricInputs | None = None,
) -> Result:
    """Judge an estimate against a bound that data could reach, inclusive on the fair side."""
    rules, inputs = rules or Rules(), inputs or MetricInputs()
    assertion = EstimateAssertion(estimate, bound, metric, rules, inputs)
    estimate, metric = assertion.judged, metric or Unregistered()
    settings, recorder = current_settings(), active()
    level, mode = rules.level_of(metric), rules.chosen("mode")
    label = f" {rules.label}" if rules.label else ""
    name = f"{metric.name}{estimate.variant}{label}"
    limit = Bound.checked(
        bound, metric.direction, metric.fair_value, estimate.attainable, name, metric.scale
    )
    unit = rules.unit or inputs.unit or estimate.unit or metric.unit
    interval = estimate.interval(level)
    strict = mode == "strict"
    estimate = estimate.with_findings(*judge_outside(estimate, level))
    found = _decide(estimate, limit, interval, inputs, unit, rules.max_mde, strict=strict)
    found = _with_missing_data(found, estimate, limit, interval, inputs)
    verdict, sample = found.verdict, estimate.sample
    reasons = tuple(dict.fromkeys((*estimate.reasons, *found.codes)))
    needed, unknown = _needed_units(found, estimate, limit, level, reasons, unit)
    notes = [*found.notes(estimate.notes), *(each.text for each in unknown)]
    p_exceeds, p_within = limit.p_values(estimate)
    missing = inputs.missing_data.difference if "missing_rates_differ" in reasons else None
    if missing is not None:
        p_exceeds = missing.p_exceeds(limit.reach)
    red = _red(verdict, mode, settings, limit.allows(estimate.value), reasons)
    postponed = (
        verdict is Verdict.FAIL
        and mode == "gate"
        and settings.family == "holm"
        and settings.failing == "fail"
    )
    value = estimate.debiased if interval.of == "debiased" else estimate.value
    gap = 0.0 if missing is None else missing.value
    waiver = _waiver(settings, verdict, name, limit, value, gap) if red or postponed else ""
    scorer, score_unit = _scores_of(estimate, inputs)
    groups = tuple(estimate.table(level))
    between = () if verdict is Verdict.PASS else differences_between(inputs)
    words = words_apart(estimate, inputs), direction_in_words(between, inputs.attribute)
    blind = verdict is Verdict.INVALID or "no_noise_floor" in reasons
    measured_in = _measured_in(estimate, inputs, metric.name)
    return Result(
        metric=name,
        verdict=verdict,
        value=estimate.value,
        lower=interval.lower,
        upper=interval.upper,
        level=level,
        bound=limit.value,
        direction=metric.direction,
        mode=mode,
        red=red and not postponed and not waiver,
        waiver=waiver,
        postponed=postponed and not waiver,
        fair_value=metric.fair_value,
        scale=metric.scale,
        debiased=estimate.debiased,
        of=interval.of,
        method=interval.method,
        p_exceeds=p_exceeds,
        p_within=p_within,
        noise_floor=estimate.noise_floor(),
        floor_words=REWORDED if inputs.baseline == "placebo" else estimate.floor_words,
        unit=unit,
        units=sample.units,
        generations=sample.generations,
        effective=sample.effective,
        population=sample.population,
        detectable=found.power.detectable,
        could_find=None if blind else could_find(limit, estimate, interval, measured_in),
        fair_pass_share=found.power.share,
        units_for_fair_pass=None if sample.population == "fixed" else found.power.needed,
        needed_units=needed,
        missing=dict(sorted(sum(map(Counter, inputs.missing.values()), Counter()).items())),
        missing_by_group=inputs.missing,
        cut=inputs.cut,
        origin=inputs.origin,
        rejected=inputs.rejected,
        uncertain=inputs.uncertain,
        lacks=estimate.lacks,
        reasons=reasons,
        notes=tuple(dict.fromkeys(notes)),
        groups=groups,
        examples=_examples(estimate, inputs, metric),
        nodeid=recorder.nodeid if recorder else "",
        model=inputs.model,
        family=rules.family,
        options=options_to_repeat(settings),
        attribute=inputs.attribute,
        compared=getattr(estimate, "compared", ()) or inputs.labels,
        judged=estimate.measures,
        differences=(*between, *rates_between(groups, metric.favourable)),
        direction_words="; ".join(filter(None, words)),
        scorer=scorer,
        score_unit=score_unit,
        robustness={} if verdict is Verdict.INVALID else robustness(estimate, limit, level),
        labelled=labelled(estimate, limit, level, inputs.labelling, verdict),
        assertion=assertion,
    )


def _invalid(estimate: Estimate, interval: Interval, inputs: MetricInputs) -> tuple[Finding, ...]:
    """Return the reasons against judging, by code: the estimate's, then the data's."""
    known = {**estimate.invalid, **inputs.invalid}
    ends = f"[{interval.lower}, {interval.upper}]"
    if estimate.undefined is not None:
        known["not_computable"] = estimate.undefined
    elif any(map(math.isnan, (estimate.value, interval.lower, interval.upper))):
        known["not_computable"] = (
            f"the estimate is {estimate.value} {ends}; an estimate that is not defined must say "
            "why with `findings=(Finding.undefined(...),)`"
        )
    elif interval.lower > interval.upper:
        known["not_computable"] = f"the interval {ends} has its lower end above its upper"
    return tuple(Finding(code, text, "invalid") for code, text in known.items())


def _decide(
    estimate: Estimate,
    bound: Bound,
    interval: Interval,
    inputs: MetricInputs,
    unit: str,
    max_mde: float | None,
    *,
    strict: bool,
) -> _Judgement:
    """Return the verdict on the answers that are there; `strict` demands it of every wording."""
    alpha, reworded = one_sided(interval.level), inputs.baseline == "placebo"
    invalid = _invalid(estimate, interval, inputs) or bound.out_of_reach(estimate, alpha)
    if invalid:
        return _Judgement(Verdict.INVALID, invalid)
    if few := tuple(f for f in estimate.findings if f.code == FEW_ITEMS):
        return _Judgement(Verdict.UNDERPOWERED, few)
    within, exceeds = bound.sides(interval.lower, interval.upper)
    every, beyond = worst_level(estimate, bound, interval.level) if strict else (True, ())
    demanded: tuple[Finding, ...] = ()
    if within and not every:
        within, text = False, "mode strict asks this of every wording, and some are still open"
        demanded = (Finding("worst_level_open", text),)
    no_floor = inputs.needs_floor and estimate.compares_answers and estimate.excess is None
    # The noise of two models may hide a loss, and noise looks like a difference that should be
    # there; otherwise noise cannot make one model look fairer.
    two_models = bound.direction == "lower" and estimate.attainable[0] < 0.0
    if within and not (no_floor and (two_models or estimate.measures == "excess")):
        # Where what is beyond the bound would not have been found, the power below says so.
        planted = planted_effect(estimate, interval.level)
        if not planted > bound.distance:
            parts = bound.hidden_parts(estimate, interval.level)
            small = () if no_floor else bound.small_difference(estimate, alpha)
            return _Judgement(Verdict.PASS, parts, small, Power(planted))
    if no_floor:
        return _Judgement(Verdict.UNDERPOWERED, (Finding("no_noise_floor", NO_FLOOR),))
    if beyond or (exceeds and bound.beyond_noise(estimate, alpha)):
        return _Judgement(Verdict.FAIL, beyond)
    if above := bound.floor_beyond(estimate, alpha, reworded=reworded):
        return _Judgement(Verdict.INVALID, above)
    further = demanded
    if exceeds:
        words = REWORDED if reworded else estimate.floor_words
        further = (Finding("within_noise", f"{words} may differ as much"),)
    power = power_of(bound, estimate, interval.level)
    too_little = too_few_levels(estimate, bound, interval.level)
    too_little = too_little or too_few_answers(estimate, bound, interval.level)
    too_little = too_little or power.too_little(estimate, unit, max_mde)
    verdict = Verdict.UNDERPOWERED if too_little else Verdict.INCONCLUSIVE
    return _Judgement(verdict, too_little, further, power)


def _with_missing_data(
    found: _Judgement,
    estimate: Estimate,
    bound: Bound,
    interval: Interval,
    inputs: MetricInputs,
) -> _Judgement:
    """Add what the missing answers mean: FAIL where their rates differ beyond the bound."""
    missing, level = inputs.missing_data, interval.level
    invalid = found.verdict is Verdict.INVALID
    if not invalid and (unequal := missing.unequal(bound, level)):
        found = replace(found, verdict=Verdict.FAIL, decisive=(*unequal, *found.decisive))
    else:
        found = replace(found, further=(*found.further, *missing.rates_note(level)))
    if invalid:
        return found
    passed = found.verdict is Verdict.PASS
    worst = missing.worst_case(estimate, bound, interval, passed=passed)
    if any(each.code == WORST_CASE_EXCEEDS for each in worst):
        return replace(found, verdict=Verdict.INCONCLUSIVE, decisive=(*worst, *found.decisive))
    return replace(found, further=(*found.further, *worst))


def _needed_units(
    found: _Judgement,
    estimate: Estimate,
    bound: Bound,
    level: float,
    reasons: tuple[str, ...],
    unit: str,
) -> tuple[tuple[int, int] | None, tuple[Finding, ...]]:
    """Return the range of units that would decide, and a note where no number is known."""
    # More units answer nothing that is missing.
    if found.verdict is Verdict.INVALID or {"no_noise_floor", WORST_CASE_EXCEEDS, *TOO_FEW} & set(
        reasons
    ):
        return None, ()
    # Labels decide, and not the number of prompts alone.
    if isinstance(getattr(estimate, "part", estimate), CorrectedGap):
        return None, ()
    needed = bound.needed_units(estimate, level)
    # Within the noise, more units decide about the excess.
    if estimate.excess is not None and "within_noise" in reasons:
        needed = estimate.excess.needed_units(0.0, level=level)
    if found.verdict not in (Verdict.INCONCLUSIVE, Verdict.UNDERPOWERED):
        return needed, ()
    needed = units_to_decide(bound, estimate, level, needed)
    return needed, () if needed else (no_number(estimate, unit),)


def _scores_of(estimate: Estimate, inputs: MetricInputs) -> tuple[str, str]:
    """Return the scorer and the unit of its scores; empty where unknown."""
    call = getattr(estimate, "part", estimate).call
    given = {} if call is None else call.keywords
    return inputs.scorer or given.get("score", ""), given.get("unit", "")


def _measured_in(estimate: Estimate, inputs: MetricInputs, name: str) -> str:
    """Return the unit of a distance: that of a score, a score, or the metric."""
    scorer, unit = _scores_of(estimate, inputs)
    call = getattr(estimate, "part", estimate).call
    if call is not None and call.metric == INVARIANCE and call.args[2]:
        name = call.args[2].strip("|").removesuffix(" difference")
    # A function without a name says nothing about what it measures.
    known = inputs.attribute and scorer and not scorer.startswith("<")
    return unit or f"in {scorer if known else name.replace('_', ' ')}"


def _examples(
    estimate: Estimate, inputs: MetricInputs, metric: JudgedMetric
) -> tuple[Example, ...]:
    """Return the rows that drive the value, the worst first; a fair row drives nothing."""
    part = getattr(estimate, "part", estimate)
    values, fair = part.rows, metric.fair_value
    if not values or len(values) != len(inputs.prompts):
        return ()
    unfair = (i for i, value in enumerate(values) if value != fair and not math.isnan(value))
    worst = heapq.nsmallest if metric.direction == "higher" else heapq.nlargest
    order: list[Any] = list(values)
    # The first answer of every side: two, or four where two models are compared.
    shown: list[Sequence[int]] = [[0] * len(sides) for sides in inputs.outputs]
    if isinstance(part, PairedAUC):
        order = list(zip(values, part.reading.margins.tolist(), strict=True))
        shown = part.reading.surest.tolist()
    return tuple(
        Example(
            float(values[i]),
            inputs.prompts[i],
            tuple(
                with_fact_shown(side[k], inputs.scorer)
                for side, k in zip(inputs.outputs[i], shown[i], strict=True)
            ),
            inputs.labels,
        )
        for i in worst(_WORST_ROWS, unfair, key=lambda i: order[i])
    )


def _red(
    verdict: Verdict, mode: str, settings: Settings, allowed: bool, reasons: tuple[str, ...]
) -> bool:
    if verdict is Verdict.INVALID:
        return True
    if mode == "point":
        return not allowed or "missing_rates_differ" in reasons
    if mode == "strict":
        return verdict is not Verdict.PASS or not _DOUBTS.isdisjoint(reasons)
    if verdict is Verdict.INCONCLUSIVE:
        return settings.inconclusive == "fail"
    if verdict is Verdict.UNDERPOWERED:
        return settings.underpowered == "fail"
    return verdict is Verdict.FAIL and settings.failing == "fail"


def _waiver(
    settings: Settings, verdict: Verdict, metric: str, bound: Bound, value: float, gap: float
) -> str:
    """Return the waiver that covers a red result and the `gap` of missing rates."""
    recorder = active()
    if verdict is Verdict.INVALID or recorder is None:
        return ""
    covering = (
        each
        for each in settings.waivers
        if each.covers(recorder.nodeid, metric)
        and (
            each.worst is None
            or ((worst := replace(bound, value=each.worst)).allows(value) and gap <= worst.reach)
        )
    )
    return str(next(covering, ""))
