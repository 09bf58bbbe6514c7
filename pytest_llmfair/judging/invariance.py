"""The assertion of counterfactual invariance, with its noise floor."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_llmfair._util.keywords import helpful_keywords
from pytest_llmfair.judging.collecting import AnswerRows
from pytest_llmfair.judging.groups import Compare
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.judging.pipeline import TextScorer, conclude, measure_and_judge
from pytest_llmfair.judging.rules import Rules
from pytest_llmfair.judging.verdict import Result
from pytest_llmfair.metrics import MetricInfo, get_metric
from pytest_llmfair.responses import Missing, PairedResponses, Responses
from pytest_llmfair.stats import ChangedShare, Estimate, Mean

if TYPE_CHECKING:
    from pytest_llmfair.counterfactuals import Pair


@helpful_keywords(bound="eps", minimum="eps", threshold="eps", n="generations")
def assert_counterfactual_invariance(
    pairs_or_responses: PairedResponses | Sequence[Pair] | Sequence[tuple[Any, Any]],
    eps: float,
    *,
    metric: str | Callable[[str, str], float] = "rouge_l",
    client: Any = None,
    generations: int = 2,
    baseline: str = "resample",
    on: str = "excess",
    mask: Any = "attribute",
    groups: Sequence[str] | None = None,
    reference: str | None = None,
    scorer: Any = None,
    level: float | None = None,
    mode: str | None = None,
    max_mde: float | None = None,
    max_missing: float | None = None,
    max_invalid: float | None = None,
    max_uncertain: float | None = None,
    units: Sequence[Any] | None = None,
    population: str | None = None,
    label: str = "",
    sequential: str | None = None,
    family: str = "session",
    unit: str = "",
) -> Result:
    """Assert that answers hardly change when only the group in the prompt changes.

    Counterfactual invariance of Bouchard (2024), section 3.2, E[v] <= eps, without what two
    answers to the same prompt differ by: for a model that always gives the same answer the two
    are the same.

    Parameters
    ----------
    pairs_or_responses : PairedResponses, list of Pair, or list of tuple
        Answers already collected (also as tuples of the answers to the two members, and to the
        placebo or None where that is the baseline), or pairs to collect answers for with `client`.
        Of pairs of more than two groups every two groups are compared, and the worst two decide.
    eps : float
        Largest mean dissimilarity that the group may cause, inclusive, in [0, 1).
    metric : str or callable
        The dissimilarity v: "rouge_l" (1 - ROUGE-L), "sentiment" or "toxicity" (absolute
        difference of scores), "weak_sentiment_parity" (the answers change sides), or a function of
        two texts to a number in [0, 1].
    client : ModelClient or callable, optional
        Model to collect answers from.
    generations : int
        Answers to collect per member; a noise floor needs two or more.
    baseline : {"resample", "placebo", "none"}
        The noise floor: what two answers to the same prompt differ by; or what answers to the
        original and to its placebo twin differ by, the same prompt reworded inside its own group
        (``generate_pairs(..., placebo=True)``); or none, for a model that is known to give the
        same answer always.
    on : {"excess", "value", "share"}
        "excess" judges the mean dissimilarity minus the noise floor. "value" judges the mean
        dissimilarity, and a FAIL needs the excess proven positive too. "share" judges the share of
        answers that the group changes, sqrt(excess / (1 - floor)).
    mask : "attribute", None, lexicon or list of str
        Words to mask in answers before they are compared: those of the pairs' own attribute, none,
        or others. Scores are of the answers as they are.
    groups, reference : sequence of str, str, optional
        Compare these groups only; compare each group with this one only.
    scorer : callable, optional
        Replaces the scorer that `metric` names.
    level, mode, max_mde, max_missing, max_invalid, max_uncertain, label, sequential, family, unit
        See :class:`Rules`.
    units, population
        As in every metric.

    Returns
    -------
    Result
        When the verdict is not red.

    Raises
    ------
    FairnessAssertionError
        FAIL (`BoundExceeded`) when the group is proven to cause more than eps. With one generation
        a side only PASS is possible; else UNDERPOWERED, reason ``no_noise_floor``. INVALID when no
        answers could exceed eps above this noise floor (``bound_out_of_reach``) or, with
        ``on="value"``, when the floor itself is above eps (``floor_above_bound``).

    Examples
    --------
    >>> answers = [("He is a good nurse.", "She is a good nurse.")] * 12
    >>> result = assert_counterfactual_invariance(answers, eps=0.8, baseline="none")
    >>> result.verdict.value
    'PASS'
    """
    __tracebackhide__ = True
    for name, given, legal in (
        ("baseline", baseline, ("resample", "placebo", "none")),
        ("on", on, ("excess", "value", "share")),
    ):
        if given not in legal:
            raise ValueError(f"{name} is {given!r}; choose one of {', '.join(legal)}")
    placebo, masked = baseline == "placebo", isinstance(mask, str) and mask == "attribute"
    if placebo and on == "share":
        raise ValueError("on='share' needs baseline='resample'; a placebo has no such scale")
    if on == "share" and client is not None and generations < 2:
        raise ValueError("on='share' needs two or more answers a side; raise generations")
    measure = measure_of(metric, None if masked else mask, scorer)
    info = _info(measure, pairs_or_responses, on, placebo)
    if not isinstance(pairs_or_responses, PairedResponses):
        pairs_or_responses = _rows_of_tuples(pairs_or_responses, placebo, client)
    elif placebo:
        _need_placebo(pairs_or_responses.placebo or [None] * len(pairs_or_responses))
    if placebo and client is not None:
        _need_placebo([getattr(pair, "placebo", None) for pair in pairs_or_responses])
    keywords: dict[str, Any] = {"units": units}
    if population is not None:
        keywords["population"] = population
    result = measure_and_judge(
        info,
        (pairs_or_responses,),
        eps,
        Rules(
            level,
            mode,
            max_mde,
            max_missing,
            label,
            sequential,
            None,
            family,
            max_invalid,
            unit,
            max_uncertain,
        ),
        client=client,
        scorer=measure.scorer,
        generations=generations,
        keywords=keywords,
        compare=Compare(
            groups,
            reference,
            mask=masked and measure.scorer is None,
            placebo=placebo,
            floor=baseline == "resample",
            text=measure.scorer is None,
            adapt=lambda value, evidence: _judged(value, evidence, on, baseline),
        ),
    )
    return conclude(result)


def _info(measure: Any, source: Any, on: str, placebo: bool) -> MetricInfo:
    """Return the metric that a dissimilarity makes."""
    from pytest_llmfair.metrics.counterfactual.invariance import counterfactual_invariance

    pairs = getattr(source, "pairs", source)
    first = pairs[0] if isinstance(pairs, (list, tuple)) and pairs else None
    attribute = str(getattr(first, "attribute", "") or "")
    what = [attribute, measure.symbol, "" if on == "excess" else on]

    def function(texts_a: Any, texts_b: Any, **keywords: Any) -> Estimate:
        return counterfactual_invariance(texts_a, texts_b, measure, **keywords)

    return replace(
        get_metric("counterfactual_rouge_l"),
        name=f"counterfactual invariance ({', '.join(filter(None, what))})",
        direction="lower",
        fair_value=0.0,
        generations=2,
        function=function,
    )


def _judged(value: Estimate, evidence: MetricInputs, on: str, baseline: str) -> Estimate:
    """Return what is judged of a mean dissimilarity: itself, its excess, or the share it means."""
    if baseline == "placebo":
        _note_placebo(evidence, value.floor)
    if baseline == "none":
        return replace(value, floor=None, excess=None)
    always_same = "identical_repeats" in evidence.reasons
    if on == "share" and isinstance(value, Mean) and (value.excess is not None or always_same):
        return ChangedShare.of_mean(value)
    if on == "share":
        raise ValueError("on='share' needs two or more answers a side; raise generations")
    if on == "value" or value.excess is None:
        return value
    return replace(
        value.excess,
        floor=value.floor,
        measures="excess",
        findings=tuple(dict.fromkeys((*value.findings, *value.excess.findings))),
    )


def _note_placebo(evidence: MetricInputs, floor: Estimate | None) -> None:
    pairs = len(evidence.placebo) or len(evidence.keywords["placebo"])
    if floor is None or floor.contributions is None:
        evidence.invalid["no_noise_floor"] = (
            f"none of the {pairs} pairs has enough answers to its placebo twin, so that nothing "
            "shows what rewording alone does; fix the client first"
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


def measure_of(metric: str | Callable[[str, str], float], mask: Any, scorer: Any) -> Any:
    """Return the dissimilarity of two answers that a name, or a function, stands for.

    Arguments as in :func:`assert_counterfactual_invariance`.
    """
    from pytest_llmfair.metrics.counterfactual import invariance as _invariance

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


def _rows_of_tuples(data: Any, placebo: bool, client: Any) -> Any:
    """Return answers given as tuples as rows of texts; pairs to be answered stay as they are."""
    from pytest_llmfair.metrics.arguments import text_rows

    if isinstance(data, Responses) or (
        client is not None
        and isinstance(data, (list, tuple))
        and data
        and isinstance(data[0], str)
    ):
        raise ValueError(
            "single prompts have no counterpart; make pairs of them first: "
            "counterfactual_pairs(prompts, attribute=...)"
        )
    if client is not None:
        return data
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
    twins = [row[2] for row in rows] if placebo else []
    if placebo:
        _need_placebo([twin is not None for twin in twins])
    return AnswerRows(
        text_rows([row[0] for row in rows], "answers"),
        text_rows([row[1] for row in rows], "answers of the twin"),
        [[] if twin is None else text_rows([twin], "answers of the placebo")[0] for twin in twins],
    )
