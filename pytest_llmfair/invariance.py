"""The assertion of counterfactual invariance, with its noise floor."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_llmfair.arguments import check_units
from pytest_llmfair.auditing import note_audit
from pytest_llmfair.bounds import Bound, one_sided
from pytest_llmfair.collecting import collect, prompts_or_pairs
from pytest_llmfair.evidence import Evidence, Texts, note_sameness
from pytest_llmfair.gating import gated, note_unchecked
from pytest_llmfair.judging import (
    Judging,
    TextScorer,
    conclude,
    current_settings,
    judged,
    nothing,
)
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.pairing import is_pair, judge_selection, paired_texts, sides_of, unfit
from pytest_llmfair.planning import announced
from pytest_llmfair.responses import Missing, PairedResponses, Responses
from pytest_llmfair.results import Result
from pytest_llmfair.sequential import Plan, decide_in_looks
from pytest_llmfair.stats import Estimate, Mean

if TYPE_CHECKING:
    from pytest_llmfair.counterfactuals import Pair


def assert_counterfactual_invariance(
    pairs_or_responses: PairedResponses | Sequence[Pair] | Sequence[tuple[Any, Any]],
    eps: float,
    *,
    metric: str | Callable[[str, str], float] = "rouge_l",
    client: Any = None,
    generations: int = 2,
    baseline: str = "resample",
    on: str = "value",
    mask: Any = None,
    scorer: Any = None,
    level: float | None = None,
    mode: str | None = None,
    max_mde: float | None = None,
    max_missing: float | None = None,
    max_invalid: float | None = None,
    units: Sequence[Any] | None = None,
    population: str | None = None,
    label: str = "",
    sequential: str | None = None,
    family: str = "session",
) -> Result:
    """Assert that answers hardly change when only the group in the prompt changes: E[v] <= eps.

    Counterfactual invariance of Bouchard (2024), section 3.2, with a noise floor: what two answers
    to one and the same prompt differ by.

    Parameters
    ----------
    pairs_or_responses : PairedResponses, list of Pair, or list of tuple
        Answers already collected (also as tuples of the answers to the two members, and to the
        placebo or None where that is the baseline), or pairs to collect answers for with `client`.
    eps : float
        Largest mean dissimilarity, inclusive, in [0, 1).
    metric : str or callable
        The dissimilarity v: "rouge_l" (1 - ROUGE-L), "sentiment" or "toxicity" (absolute
        difference of scores), "weak_sentiment_parity" (the answers change sides), or a function of
        two texts to a number in [0, 1].
    client : ModelClient or callable, optional
        Model to collect answers from.
    generations : int
        Answers to collect per member; two or more give the noise floor.
    baseline : {"resample", "placebo", "none"}
        What the noise floor is: what two answers to the same prompt differ by; or the answers to
        the original and to its placebo twin, the same prompt reworded inside its own group
        (``generate_pairs(..., placebo=True)``), so that what any rewording causes is no FAIL; or
        nothing, to judge the value alone.
    on : {"value", "excess"}
        "excess" judges the value minus the noise floor, which is on a squared scale where the
        floor is from resampling.
    mask : lexicon or list of str, optional
        Words to mask before texts are compared ("rouge_l" only).
    scorer : callable, optional
        Replaces the scorer that `metric` names.
    level, mode, max_mde, max_missing, max_invalid, label, sequential, family
        See :class:`Judging`.
    units, population
        As in every metric.

    Returns
    -------
    Result
        When the verdict is not red.

    Raises
    ------
    FairnessAssertionError
        FAIL when the value is proven above eps and above the noise floor; INVALID when the noise
        floor itself is proven above eps (reason ``floor_above_bound``).
    """
    __tracebackhide__ = True
    for name, given, legal in (
        ("baseline", baseline, ("resample", "placebo", "none")),
        ("on", on, ("value", "excess")),
    ):
        if given not in legal:
            raise ValueError(f"{name} is {given!r}; choose one of {', '.join(legal)}")
    settings = current_settings()
    placebo = baseline == "placebo"
    measure = measure_of(metric, mask, scorer)
    name = f"counterfactual invariance ({measure.symbol}{', excess' if on == 'excess' else ''})"
    judging = Judging(
        level, mode, max_mde, max_missing, label, sequential, None, family, max_invalid
    )
    most_missing, most_invalid = judging.largest_shares
    pairs_or_responses, units = gated(pairs_or_responses, units)
    found = _Found()

    def measured(answers: Any, labels: Sequence[Any] | None) -> Estimate:
        nonlocal found
        found = _found(answers, measure, labels, most_missing, population, placebo)
        judge_selection(found.evidence, pairs_or_responses, most_invalid)
        note_unchecked(found.evidence, pairs_or_responses)
        from pytest_llmfair.metrics._counterfactual.invariance import counterfactual_invariance

        if isinstance(measure.scorer, TextScorer) and found.evidence.attribute:
            note_audit(
                found.evidence,
                measure.scorer.chosen,
                Bound(eps, "lower", 0.0),
                lambda a, b, rows: counterfactual_invariance(a, b, measure, units=rows).value,
            )
        return _on_excess(found, placebo=placebo) if on == "excess" else found.estimate

    def judge_at(estimate: Estimate, at: float | None) -> Result:
        excess = None if on == "excess" or baseline == "none" else found.excess
        floor = None if excess is None else found.floor
        alpha = one_sided(settings.level if at is None else at)
        return judged(
            estimate,
            eps,
            found.evidence,
            replace(judging, level=at),
            name=name,
            direction="lower",
            fair_value=0.0,
            unit="pair",
            excess=excess,
            floor_invalid=_too_noisy(floor, eps, alpha, placebo),
            floor_words=_REWORDED if placebo else "",
        )

    if client is None:
        if sequential is not None:
            raise ValueError("sequential needs client=..., the model to stop asking")
        if placebo and isinstance(pairs_or_responses, PairedResponses):
            _need_placebo(pairs_or_responses.placebo or [None] * len(pairs_or_responses))
        return conclude(judge_at(measured(pairs_or_responses, units), level))
    # Whatever is wrong with the call must show before the first answer is paid for.
    threshold = Bound.checked(eps, "lower", 0.0, (0.0, 1.0), name)
    if (refused := unfit(pairs_or_responses, most_invalid)) is not None:
        found = _Found(refused, nothing(refused))
        return conclude(judge_at(found.estimate, level))
    asked = prompts_or_pairs(pairs_or_responses)
    if not is_pair(asked[0]):
        raise ValueError(_NO_TWIN)
    sides_of(asked)
    if placebo:
        _need_placebo([getattr(pair, "placebo", None) for pair in asked])
    check_units(units, asked)

    def ask(items: Sequence[Any]) -> Any:
        with announced(
            threshold,
            lambda: _fair_sample(len(asked), generations),
            items,
            metric=name,
            unit="pair",
            of=len(asked),
            generations=generations,
            level=settings.level if level is None else level,
            max_mde=max_mde,
        ):
            return collect(items, client, generations, placebo=placebo)

    if sequential is None:
        return conclude(judge_at(measured(ask(asked), units), level))
    if population == "fixed":
        raise ValueError(
            "the first looks would see a part of a fixed list of pairs only; leave "
            "population='fixed' or sequential out"
        )
    result = decide_in_looks(
        asked,
        Plan(sequential, settings.level if level is None else level, settings.seed),
        ask,
        measured,
        judge_at,
        units,
    )
    return conclude(result)


def _fair_sample(pairs: int, generations: int) -> Estimate:
    """Return the value of a model whose answers never differ."""
    from pytest_llmfair.metrics._counterfactual import invariance as _invariance

    rows = [["the same"] * generations] * pairs
    return _invariance.counterfactual_invariance(rows, rows, _invariance.rouge_measure())


@dataclass(frozen=True, slots=True)
class _Found:
    """What the answers show: the dissimilarity, its floor, and what was lost on the way."""

    evidence: Evidence = field(default_factory=Evidence)
    estimate: Estimate = field(default_factory=lambda: nothing(Evidence()))
    excess: Mean | None = None
    floor: Mean | None = None


def _found(
    answers: Any,
    measure: Any,
    units: Sequence[Any] | None,
    max_missing: float,
    population: str | None,
    placebo: bool,
) -> _Found:
    from pytest_llmfair.metrics._counterfactual.invariance import counterfactual_invariance

    evidence, rows_a, rows_b, found_units = _two_sides(
        answers, max_missing, fixed=population == "fixed", placebo=placebo
    )
    if evidence.undefined is not None:
        return _Found(evidence, nothing(evidence))
    # A placebo rewords the original, on whichever side of a turned pair that is.
    swapped = [
        (b, a) if t else (a, b) for a, b, t in zip(rows_a, rows_b, evidence.turned, strict=True)
    ]
    value = counterfactual_invariance(
        [original for original, _ in swapped],
        [twin for _, twin in swapped],
        measure,
        placebo=evidence.placebo if placebo else None,
        units=found_units if units is None else evidence.units_of(units),
        population="sampled" if population is None else population,  # type: ignore[arg-type]
    )
    if placebo:
        _note_placebo(evidence, value.floor)
    elif value.excess is None and "identical_repeats" in evidence.reasons:
        evidence.notes.append("its noise floor is 0, so that the value is the excess")
    elif value.excess is None:
        evidence.reasons.append("no_noise_floor")
        evidence.notes.append(
            "one answer a side gives no noise floor: sampling alone may explain the value; "
            "collect two or more generations"
        )
    return _Found(evidence, value, value.excess, value.floor)


_REWORDED = "the answers to a prompt and to the same prompt reworded inside its group"


def _note_placebo(evidence: Evidence, floor: Mean | None) -> None:
    pairs = len(evidence.placebo)
    if floor is None or floor.contributions is None:
        evidence.invalid["no_noise_floor"] = (
            f"none of the {pairs} pairs has enough answers to its placebo twin, so that nothing "
            "shows what rewording alone does; mend the client first"
        )
        return
    compared = len(floor.contributions.values)
    evidence.notes.append(f"{compared} of {pairs} pairs have a placebo twin, with its answers")


def _need_placebo(twins: Sequence[Any]) -> None:
    if not any(twins):
        raise ValueError(
            f"none of the {len(twins)} pairs has a placebo twin; make them with "
            "generate_pairs(..., placebo=True), or choose baseline='resample'"
        )


def _on_excess(found: _Found, *, placebo: bool) -> Estimate:
    """Return the excess to be judged; of a deterministic model it is the value itself."""
    if placebo:
        return found.excess or found.estimate
    if found.excess is None:
        if "no_noise_floor" in found.evidence.reasons:
            raise ValueError("on='excess' needs two or more answers a side; raise generations")
        return found.estimate
    found.evidence.notes.append(
        "the excess is on a squared scale, not that of a bound for the value: "
        f"its square root is {max(found.excess.value, 0.0) ** 0.5:.3f}"
    )
    return found.excess


def _too_noisy(floor: Estimate | None, eps: float, alpha: float, placebo: bool) -> dict[str, str]:
    if floor is None or not floor.p_exceeds(eps) < alpha:
        return {}
    why = (
        "any rewording changes the answers of this model as much; raise eps, or lower the "
        "temperature"
        if placebo
        else "no model as noisy as this could pass; lower the temperature, raise eps, or compare "
        "distributions (strict_sentiment_parity)"
    )
    return {
        "floor_above_bound": f"the noise floor {floor.value:.3f} is itself above {eps:g}: {why}"
    }


def measure_of(metric: str | Callable[[str, str], float], mask: Any, scorer: Any) -> Any:
    """Return the dissimilarity of two answers that a name, or a function, stands for.

    Arguments as in :func:`assert_counterfactual_invariance`.
    """
    from pytest_llmfair.metrics._counterfactual import invariance as _invariance

    if not isinstance(metric, str):
        return _invariance.own_measure(metric)
    if metric in ("rouge_l", "counterfactual_rouge_l"):
        return _invariance.rouge_measure(mask)
    if mask is not None:
        raise ValueError(f"mask belongs to metric='rouge_l', not to {metric!r}; leave it out")
    known = ("rouge_l", "sentiment", "toxicity", "weak_sentiment_parity")
    if metric not in known:
        near = difflib.get_close_matches(metric, known, n=1)
        raise ValueError(
            f"metric {metric!r} is no dissimilarity of two answers; "
            + (f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(known)}.")
            + " A function of two texts is also taken."
        )
    name = "sentiment" if metric == "weak_sentiment_parity" else metric
    info = get_metric("toxic_fraction" if name == "toxicity" else "weak_sentiment_parity")
    make = _invariance.sides_measure if metric != name else _invariance.score_measure
    return make(name, TextScorer(info, scorer))


_NO_TWIN = "answers to single prompts have no counterpart; collect answers to pairs"


def _two_sides(
    data: Any, max_missing: float, *, fixed: bool, placebo: bool
) -> tuple[Evidence, Texts, Texts, list[str] | None]:
    from pytest_llmfair.metrics._checks import text_rows

    if isinstance(data, PairedResponses):
        return paired_texts(data, max_missing, fixed=fixed, placebo=placebo)
    if isinstance(data, Responses):
        raise ValueError(_NO_TWIN)
    form = "(answers, answers of the twin{})".format(", of its placebo or None" * placebo)
    if isinstance(data, (str, Mapping)) or not hasattr(data, "__iter__"):
        raise ValueError(f"the answers are a {type(data).__name__}; give a list of {form}")
    rows = list(data)
    if not rows:
        raise ValueError("there are no pairs; give at least one")
    for i, row in enumerate(rows):
        if hasattr(row, "original"):
            raise ValueError("pairs need client=... to answer them, or hand over their answers")
        sides = 3 if placebo else 2
        if isinstance(row, (str, Missing)) or not hasattr(row, "__len__") or len(row) != sides:
            raise ValueError(f"row {i} is {str(row)[:40]!r}; give {form}")
    evidence = Evidence(turned=[False] * len(rows))
    twins = [row[2] for row in rows] if placebo else []
    if placebo:
        _need_placebo([twin is not None for twin in twins])
    rows_a, rows_b, evidence.placebo = note_sameness(
        evidence,
        range(len(rows)),
        text_rows([row[0] for row in rows], "answers"),
        text_rows([row[1] for row in rows], "answers of the twin"),
        [[] if twin is None else text_rows([twin], "answers of the placebo")[0] for twin in twins],
        fixed=fixed,
    )
    return evidence, rows_a, rows_b, None
