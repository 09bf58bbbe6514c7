"""From data to a result: collect if needed, measure, judge, record, raise."""

from __future__ import annotations

import functools
import inspect
import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_llmfair import session as recording
from pytest_llmfair._util.validation import whole
from pytest_llmfair.judging.arguments import check_units, last_is_bound, positional
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.collecting import (
    COLLECTED,
    collect,
    evidence_for,
    measurable,
    prompts_or_pairs,
    scored,
)
from pytest_llmfair.judging.groups import (
    Compare,
    Comparison,
    compare_of,
    comparisons_of,
    measure_every_two,
)
from pytest_llmfair.judging.inputs import MetricInputs, direction_between
from pytest_llmfair.judging.message import failure_message, first_line, people
from pytest_llmfair.judging.pairing import groups_of, is_pair, judge_selection, unfit
from pytest_llmfair.judging.power import announced, expected_sample
from pytest_llmfair.judging.rules import About, Rules, current_settings
from pytest_llmfair.judging.scorer_audit import note_audit
from pytest_llmfair.judging.scoring import scores_of
from pytest_llmfair.judging.sequential import Plan, as_betting, decide_in_looks
from pytest_llmfair.judging.validity import gated, note_unchecked
from pytest_llmfair.judging.verdict import (
    BoundExceeded,
    Example,
    Inconclusive,
    InvalidEvidence,
    Result,
    Underpowered,
    Verdict,
    error_for,
    judge,
)
from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.responses import PairedResponses
from pytest_llmfair.settings import OPTIONS, Settings
from pytest_llmfair.stats import Estimate, Finding, Sample, Undefined

_WORST = 3

# Without these another run would not repeat what a test found; the seed is always named.
_DECISIVE = (
    "model",
    "mode",
    "level",
    "inconclusive",
    "underpowered",
    "max_tokens",
    "max_missing",
    "max_invalid",
    "max_uncertain",
)

# An xfail for an exceeded bound must not hide that other evidence of the test is invalid.
_SERIOUS = (InvalidEvidence, BoundExceeded, Underpowered, Inconclusive)


def measure_and_judge(
    info: MetricInfo,
    data: tuple[Any, ...],
    bound: float | None,
    judging: Rules,
    *,
    client: Any = None,
    scorer: Any = None,
    scorers: Callable[[], Mapping[str, Any]] | None = None,
    generations: int | None = None,
    keywords: Mapping[str, Any] | None = None,
    compare: Compare | None = None,
) -> Result:
    """Collect, measure and judge, without recording or raising."""
    text_scorer = scorer if callable(scorer) and compare else TextScorer(info, scorer, scorers)
    keywords = {**info.judged_with, **(keywords or {})}
    settings = current_settings()
    if bound is None:
        data, bound = last_is_bound(info, data)
    shares = judging.largest_shares
    source = data[0] if data else None
    evidence = MetricInputs()
    source, units = gated(source, keywords.pop("units", None))
    data = (source, *data[1:]) if data else data
    if compare is None:
        compare = compare_of(info, source, keywords)

    def measure(*collected: Any, units: Any = units) -> Estimate:
        nonlocal evidence
        evidence, estimate = measured(
            info,
            collected,
            judging,
            scorer=text_scorer,
            keywords=keywords,
            compare=compare,
            units=units,
            source=source,
            bound=bound,
        )
        return estimate

    def judge_at(estimate: Estimate, level: float | None) -> Result:
        return judged(
            estimate,
            bound,
            evidence,
            replace(judging, level=level),
            info,
            compare=compare,
        )

    if client is None:
        if judging.sequential is not None:
            raise ValueError("sequential needs client=..., the model to stop asking")
        estimate = measure(*data)
        return judge_at(as_betting(estimate) if judging.method else estimate, judging.level)
    # Whatever is wrong with the call must show before the first answer is paid for.
    threshold = Bound.checked(
        bound, info.direction, info.fair_value, info.bounds, info.name, info.scale
    )
    if (refused := unfit(source, shares)) is not None:
        evidence = refused
        return judge_at(nothing(evidence), judging.level)
    asked = prompts_or_pairs([] if source is None else source)
    measurable(info, pairs=is_pair(asked[0]))
    if is_pair(asked[0]):
        compare.wanted(asked)
    rest = data[1:]
    collected = positional(info)[: COLLECTED[info.needs]]
    inspect.signature(info.function).bind_partial(*collected, *rest, **keywords)
    n = info.generations if generations is None else whole(generations, "generations")
    units = None if units is None else list(units)
    check_units(units, asked)
    kind = judging.sequential or judging.method
    whole_level = settings.level if judging.level is None else judging.level

    def ask(items: Sequence[Any]) -> Any:
        with announced(
            threshold,
            lambda: expected_sample(info, len(asked), n),
            items,
            metric=info.name,
            unit=judging.unit or info.unit,
            of=len(asked),
            generations=n,
            level=whole_level,
            max_mde=judging.max_mde,
        ):
            return collect(items, client, n, placebo=compare.placebo)

    if kind is None:
        return judge_at(measure(ask(asked), *rest, units=units), judging.level)
    _can_look(info, keywords, betting=kind == "betting")
    return decide_in_looks(
        asked,
        Plan(kind, whole_level, settings.seed),
        ask,
        lambda collected, labels: measure(collected, *rest, units=labels),
        judge_at,
        units,
    )


def measured(
    info: MetricInfo,
    collected: tuple[Any, ...],
    judging: Rules,
    *,
    scorer: Any,
    keywords: Mapping[str, Any],
    compare: Compare,
    units: Any,
    source: Any,
    bound: float | None = None,
) -> tuple[MetricInputs, Estimate]:
    """Measure a metric on answers or arrays, without judging it.

    `source` is what was asked, with the pairs that were left out; a `bound` lets the scorer be
    audited against it.
    """
    shares = judging.largest_shares
    max_missing = shares.missing

    def measure_one(
        *collected: Any, units: Any, fixed: bool = False
    ) -> tuple[MetricInputs, Estimate]:
        found = evidence_for(
            info,
            collected,
            scorer=scorer,
            max_missing=max_missing,
            fixed=fixed or keywords.get("population") == "fixed",
            mask=compare.mask,
            placebo=compare.placebo,
            units=units,
        )
        if found.undefined is not None:
            return found, nothing(found)
        given = {**found.keywords, **keywords}
        if units is not None:
            given["units"] = found.units_of(units) if found.asked else units
        by_score = info.needs == "score_pairs"
        if isinstance(scorer, TextScorer) and found.attribute and bound is not None:
            note_audit(
                found,
                scorer.chosen,
                Bound(bound, info.direction, info.fair_value, info.scale),
                lambda a, b, rows: (
                    info.function(
                        *(scored(side, scorer) if by_score else side for side in (a, b)),
                        **{**keywords, "units": rows},
                    ).value
                ),
            )
        estimate = info.function(*found.args, **given)
        return found, compare.adapt(estimate, found) if compare.adapt else estimate

    first = collected[0] if collected else None
    parts: dict[tuple[str, str], Comparison] = {}
    if isinstance(first, PairedResponses):
        check_units(units, first.pairs)
        units = None if units is None else list(units)
    if isinstance(first, PairedResponses) and first.pairs and info.needs != "scores":
        several = len(groups_of(first.pairs)) > 2
        if several or compare.groups or compare.reference:
            asked = source if isinstance(source, (list, tuple)) else first.pairs
            parts = comparisons_of(
                first,
                groups_of(asked),
                groups=compare.groups,
                reference=compare.reference,
                units=units,
                placebo=compare.placebo,
            )
            if not parts:
                # A look at a part of the pairs may miss a group.
                evidence = MetricInputs(
                    undefined="no prompt is about two of the groups to compare"
                )
                return evidence, nothing(evidence)
    if len(parts) < 2 or not isinstance(first, PairedResponses):
        for part in parts.values():
            collected, units = (part.responses, *collected[1:]), part.units
        evidence, estimate = measure_one(*collected, units=units)
    else:
        evidence, estimate = measure_every_two(
            info,
            first,
            parts,
            max_missing,
            units,
            lambda *one, **how: measure_one(*one, *collected[1:], **how),
        )
    judge_selection(evidence, source, shares)
    note_unchecked(evidence, source)
    return evidence, estimate


def _can_look(info: MetricInfo, keywords: Mapping[str, Any], *, betting: bool) -> None:
    """Raise ``ValueError`` where looks at a part of the units could not be judged."""
    own = inspect.signature(info.function).parameters.get("population")
    if keywords.get("population", own.default if own else "sampled") == "fixed":
        raise ValueError(
            f"{info.name} is judged for a fixed list of {info.unit}s here, and the first looks "
            "would see a part of the list only; pass population='sampled' if the list is a sample "
            "of more, or ask for everything at once"
        )
    if betting:
        as_betting(info.fair_sample(2))


def conclude(result: Result) -> Result:
    """Record a result; raise or skip as its mode and the policies say; return it otherwise."""
    __tracebackhide__ = True
    record(result)
    conclude_all([result])
    return result


def record(result: Result) -> None:
    """Hand a result to the running test's record; nothing outside pytest."""
    recorder = recording.active()
    if recorder is not None:
        # Data of all tests of a session would be too much to keep.
        recorder.results.append(replace(result, estimate=None, evidence=None))


def conclude_all(results: Sequence[Result]) -> None:
    """Raise for red results, in one error of the most serious kind; else follow the policies."""
    __tracebackhide__ = True
    settings = current_settings()
    red = sorted((r for r in results if r.red), key=lambda r: _SERIOUS.index(error_for(r)))
    if red:
        messages = [
            failure_message(r, show_text=settings.show_text, detailed=settings.detailed)
            for r in red
        ]
        raise error_for(red[0])(red[0], "\n\n".join(messages))
    if recording.active() is None:
        return
    for result in results:
        policy = {
            Verdict.INCONCLUSIVE: settings.inconclusive,
            Verdict.UNDERPOWERED: settings.underpowered,
        }.get(result.verdict)
        if result.mode == "gate" and policy in ("skip", "xfail"):
            import pytest

            (pytest.skip if policy == "skip" else pytest.xfail)(first_line(result))


def judged(
    estimate: Estimate,
    bound: float,
    evidence: MetricInputs,
    judging: Rules,
    info: About,
    *,
    compare: Compare | None = None,
) -> Result:
    """Judge an estimate and put what is known of its evidence into the result."""
    recorder = recording.active()
    settings = current_settings()
    flags, notes = map(Finding, evidence.reasons), map(Finding.note, evidence.notes)
    estimate = estimate.with_findings(*flags, *notes)
    total: dict[str, int] = {}
    for reasons in evidence.missing.values():
        for reason, n in reasons.items():
            total[reason] = total.get(reason, 0) + n
    label = f" {judging.label}" if judging.label else ""
    needs_floor = compare is not None and compare.floor and evidence.paired
    result = judge(
        estimate,
        bound,
        name=f"{info.name}{estimate.variant}{label}",
        direction=info.direction,
        fair_value=info.fair_value,
        scale=info.scale,
        settings=settings,
        mode=judging.mode,
        level=judging.level,
        max_mde=judging.max_mde,
        family=judging.family,
        invalid=evidence.invalid,
        needs_floor=needs_floor and "identical_repeats" not in evidence.reasons,
        reworded=compare is not None and compare.placebo,
        text=compare is not None and compare.text and not compare.placebo,
        losses=evidence.losses,
        missing=dict(sorted(total.items())),
        missing_by_group=evidence.missing,
        cut=evidence.cut,
        origin=evidence.origin,
        rejected=evidence.rejected,
        uncertain=evidence.uncertain,
        lacks=tuple(dict.fromkeys((*evidence.lacks, *estimate.lacks))),
        examples=_examples(estimate, evidence, info.direction, info.fair_value),
        nodeid=recorder.nodeid if recorder else "",
        model=evidence.model,
        options=_options(settings),
        unit=judging.unit or estimate.unit or info.unit,
        attribute=evidence.attribute,
        evidence=evidence,
        compared=getattr(estimate, "worst", evidence.labels),
    )
    if result.verdict is Verdict.PASS:
        return result
    return replace(result, direction_words=direction_between(evidence, people))


def _examples(
    estimate: Estimate, evidence: MetricInputs, direction: str, fair_value: float
) -> tuple[Example, ...]:
    """Return the rows that drive the value, the worst first; a fair row drives nothing."""
    values = getattr(estimate, "part", estimate).rows
    if not values or len(values) != len(evidence.prompts):
        return ()
    unfair = [i for i, value in enumerate(values) if value != fair_value and not math.isnan(value)]
    order = sorted(unfair, key=lambda i: values[i], reverse=direction != "higher")
    return tuple(
        Example(
            float(values[i]),
            evidence.prompts[i],
            tuple(side[0] for side in evidence.outputs[i]),
            evidence.labels,
        )
        for i in order[:_WORST]
    )


def _options(settings: Settings) -> tuple[str, ...]:
    """Return the command line options that answers and verdicts of the session depend on."""
    given = []
    for option in OPTIONS:
        value = getattr(settings, option.name)
        if option.name in _DECISIVE and value != getattr(Settings(), option.name):
            setting = shlex.quote(str(value))
            given.append(
                f"-o {option.key}={setting}" if option.ini_only else f"{option.flag} {setting}"
            )
    return (*given, f"--llmfair-seed {settings.seed}")


def nothing(evidence: MetricInputs) -> Undefined:
    """Return the estimate of evidence that holds no answer."""
    return Undefined(
        undefined=evidence.undefined, sample=Sample(units=0, generations=0, fewest=0, most=0)
    )


class TextScorer:
    """Texts to scores, by the metric's own scorer or another; it loads when there are texts."""

    def __init__(
        self,
        info: MetricInfo,
        scorer: Any,
        scorers: Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        self._asked = info.scorer if scorer is None else scorer
        self._vectors = info.needs == "embedding_pairs"
        self._scorers = scorers

    @functools.cached_property
    def chosen(self) -> Any:
        """The scorer itself."""
        if not isinstance(self._asked, str):
            return self._asked
        from pytest_llmfair.scorers import load_scorers

        return (self._scorers or load_scorers)()[self._asked]

    def __call__(self, texts: Sequence[str]) -> Any:
        """Return one score per text, or one vector for metrics on embeddings."""
        return self.chosen(texts) if self._vectors else scores_of(self.chosen, texts)
