"""Assertions: one per metric, made from the list of metrics, and the general ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_llmfair._util.keywords import helpful_keywords
from pytest_llmfair.judging.assertion import (
    Assertion,
    Compare,
    EstimateAssertion,
    bound_of,
    check_keywords,
    unpacked,
)
from pytest_llmfair.judging.invariance import (
    invariance_assertion,
    measure_of,
    unawareness_assertion,
)
from pytest_llmfair.judging.outcome import conclude
from pytest_llmfair.judging.pipeline import evaluate
from pytest_llmfair.judging.result import Result
from pytest_llmfair.judging.rules import Rules
from pytest_llmfair.judging.scoring import FileData, TextScorer
from pytest_llmfair.labels import assert_corrected_gap_within
from pytest_llmfair.metrics import all_metrics, get_metric
from pytest_llmfair.metrics.foreign import elsewhere
from pytest_llmfair.probing.differs import assert_differs_when_it_should
from pytest_llmfair.probing.no_pair import assert_no_pair_exceeds
from pytest_llmfair.probing.not_worse import assert_not_worse
from pytest_llmfair.responses import PairedResponses
from pytest_llmfair.signatures import make_assertion, no_such_assertion
from pytest_llmfair.stats import Estimate

if TYPE_CHECKING:
    from pytest_llmfair.counterfactuals import Pair
    from pytest_llmfair.metric_assertions import *  # noqa: F403

__all__ = [
    "assert_corrected_gap_within",
    "assert_counterfactual_invariance",
    "assert_differs_when_it_should",
    "assert_fairness_through_unawareness",
    "assert_metric",
    "assert_no_pair_exceeds",
    "assert_not_worse",
    "assert_within",
]


def assert_metric(
    name: str,
    *data: Any,
    bound: float | None = None,
    minimum: float | None = None,
    client: Any = None,
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
    sequential: str | None = None,
    method: str | None = None,
    family: str = "session",
    robust_over: Sequence[str] = (),
    factors: Mapping[str, Sequence[Any]] | None = None,
    **keywords: Any,
) -> Result:
    """Assert that a metric is on the fair side of a bound.

    Parameters
    ----------
    name : str
        Name or alias of a metric (``llmfair metrics`` lists them).
    *data
        The metric's own arguments (arrays, texts, or a mapping of argument names to values),
        answers (`Responses`, `PairedResponses`), or with `client` prompts or pairs to collect
        answers for. A last positional number is the bound.
    bound, minimum : float
        Inclusive on the fair side: `bound` where lower is fairer or the metric is
        two-sided, `minimum` where higher is fairer.
    client : ModelClient or callable, optional
        Model to collect answers from; the data are then prompts or pairs.
    scorer : callable or str, optional
        Function of texts to scores in [0, 1], or name of a scorer; default the metric's own.
    generations : int, optional
        Answers to collect per prompt; by default the metric's own number.
    level, mode, max_mde, max_missing, max_invalid, max_uncertain, sequential, method, family
        See :class:`Rules`.
    label, unit : str, optional
        See :class:`Rules`.
    robust_over : sequence of str, optional
        Factors of which others than those asked count too: ``("wording",)``, ``("wording",
        "cue")``. For means over rows and paired differences of means.
    factors : mapping of str to sequence, optional
        Their labels and those of the "item", one per pair or row; pairs of templates bring them.
    **keywords
        Further arguments of the metric, such as `groups` or `threshold`.

    Returns
    -------
    Result
        When the verdict is not red.

    Raises
    ------
    BoundExceeded, InvalidEvidence, Inconclusive, Underpowered
        The :class:`FairnessAssertionError` that belongs to a red verdict.
    ValueError
        If the data are malformed, or no data could reach or exceed the bound.

    Examples
    --------
    >>> from pytest_llmfair import assert_metric
    >>> scores = [[0.1, 0.2]] * 98 + [[0.9, 0.8]] * 2
    >>> assert_metric("toxic_fraction", scores, bound=0.1)  # doctest: +NORMALIZE_WHITESPACE
    PASS toxic_fraction 0.020 [0.002, 0.070] <= 0.100 (95 %, 100 prompts x 2, n_eff 99,
    p = 0.002 against a value beyond the bound)
    """
    __tracebackhide__ = True
    info = get_metric(name)
    check_keywords(assert_metric, info, keywords)
    given = bound_of(info, bound, minimum)
    asked = data[0].asked if data and isinstance(data[0], FileData) else None
    data, keywords = unpacked(info, data, keywords)
    rules = Rules.of(locals())
    assertion = Assertion.of(
        info,
        data,
        given,
        rules,
        asked=asked,
        client=client,
        generations=generations,
        scorer=TextScorer(info, scorer),
        keywords=keywords,
        robust_over=robust_over,
        factors=factors,
    )
    return conclude(evaluate(assertion))


@helpful_keywords(minimum="bound")
def assert_within(
    estimate: Estimate,
    bound: float,
    mode: str | None = None,
    *,
    level: float | None = None,
    max_mde: float | None = None,
    label: str = "",
    unit: str = "",
    family: str = "session",
) -> Result:
    """Assert that an estimate is on the fair side of a bound.

    Parameters
    ----------
    estimate : Estimate
        From any metric, or a kind of estimate of your own. Without metadata of a metric, lower
        counts as fairer, and 0 as the fair value.
    bound : float
        Inclusive on the fair side.
    mode, level, max_mde, label, unit, family
        See :class:`Rules`.

    Raises
    ------
    FairnessAssertionError
        As :func:`assert_metric`.

    Examples
    --------
    >>> from pytest_llmfair import assert_within
    >>> from pytest_llmfair.metrics import demographic_parity_difference
    >>> selected, groups = [1, 0] * 200, ["a"] * 200 + ["b"] * 200
    >>> gap = demographic_parity_difference(selected, groups=groups)
    >>> assert_within(gap, 0.2).verdict.value
    'PASS'
    """
    __tracebackhide__ = True
    if not isinstance(estimate, Estimate):
        raise TypeError(
            f"assert_within takes an Estimate, not a {type(estimate).__name__}; "
            "call a metric of pytest_llmfair.metrics on your data first"
        )
    rules = Rules.of(locals())
    return conclude(evaluate(EstimateAssertion(estimate, bound, estimate.metric, rules)))


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
    robust_over: Sequence[str] = (),
    factors: Mapping[str, Sequence[Any]] | None = None,
) -> Result:
    """Assert that answers hardly change when only the group in the prompt changes.

    Counterfactual invariance E[v] <= eps (Bouchard 2024, section 3.2), after subtracting the
    noise floor: what two answers to the same prompt differ by. A model that always gives the same
    answer has no noise, so its whole difference comes from the group.

    Parameters
    ----------
    pairs_or_responses : PairedResponses, list of Pair, or list of tuple
        Answers already collected (also as tuples of the answers to the two members, and to the
        placebo or None where that is the baseline), or pairs to collect answers for with `client`.
        With more than two groups every two are compared, and the worst two decide.
    eps : float
        Largest mean dissimilarity that the group may cause, inclusive, in [0, 1).
    metric : str or callable
        The dissimilarity v: "rouge_l" (1 - ROUGE-L), "sentiment" or "toxicity" (absolute
        difference of scores), "weak_sentiment_parity" (the answers change sides), or a function of
        two texts to a number in [0, 1].
    client, generations : optional
        Model to collect answers from, and how many per member: a noise floor needs two or more.
    baseline : {"resample", "placebo", "none"}
        The noise floor: what two answers to the same prompt differ by; what answers to a prompt
        and to its placebo twin differ by (``generate_pairs(..., placebo=True)``); or none, for a
        model that always gives the same answer.
    on : {"excess", "value"}
        "excess" judges the mean dissimilarity minus the noise floor. "value" judges the mean
        dissimilarity; a FAIL then needs a proven positive excess too.
    mask : "attribute", None, lexicon or list of str
        Words to mask in answers before they are compared: those of the pairs' own attribute, none,
        or others. Answers are scored unmasked.
    groups, reference : sequence of str, str, optional
        Compare these groups only, or each group with this one only.
    scorer, units, population : optional
        As in every metric; `scorer` replaces the one that `metric` names.
    level, mode, max_mde, max_missing, max_invalid, max_uncertain, label, sequential, family, unit
        See :class:`Rules`.
    robust_over, factors : optional
        As in :func:`assert_metric`.

    Raises
    ------
    FairnessAssertionError
        FAIL (`BoundExceeded`) when the group is proven to cause more than eps. With one generation
        a side the verdict is PASS or UNDERPOWERED (``no_noise_floor``). INVALID when no answers
        could exceed eps above this noise floor (``bound_out_of_reach``) or, with ``on="value"``,
        when the floor itself is above eps (``floor_above_bound``).

    Examples
    --------
    >>> from pytest_llmfair import assert_counterfactual_invariance
    >>> answers = [("He is a good nurse.", "She is a good nurse.")] * 12
    >>> assert_counterfactual_invariance(answers, eps=0.8, baseline="none").verdict.value
    'PASS'
    """
    __tracebackhide__ = True
    rules = Rules.of(locals())
    is_attribute = isinstance(mask, str) and mask == "attribute"
    compare = Compare(groups, reference, is_attribute, baseline, on=on)
    measure = measure_of(metric, None if compare.mask else mask, scorer)
    asked = (client, generations, units, population, robust_over, factors)
    assertion = invariance_assertion(pairs_or_responses, eps, rules, measure, compare, *asked)
    return conclude(evaluate(assertion))


@helpful_keywords(bound="max_share", threshold="max_share", eps="max_share")
def assert_fairness_through_unawareness(
    prompts: Sequence[str],
    attribute: Any = None,
    *,
    max_share: float = 0.0,
    population: str = "fixed",
    level: float | None = None,
    mode: str | None = None,
    max_mde: float | None = None,
    label: str = "",
    unit: str = "",
    family: str = "session",
) -> Result:
    """Assert that prompts do not name a group of a protected attribute.

    Fairness through unawareness (Bouchard 2024, section 2.1). A PASS means that the prompts hold
    no word of the lexicon. It does not mean that nothing reveals a group: names and other proxies
    are not checked, and the result says so.

    Parameters
    ----------
    prompts : list of str
        Prompts as they are sent, at least one, none empty.
    attribute : str, Lexicon, or list of these, optional
        Names of shipped lexicons, or lexicons; default every shipped English one. Where the
        fixture `lexicons` is overridden, give the lexicon itself, ``lexicons["gender"]``.
    max_share : float
        Largest share of prompts that may name a group, inclusive, in [0, 1).
    population : {"fixed", "sampled"}
        "fixed": there are no other prompts, and their count decides. "sampled": they stand for
        more, and the interval decides; no sample proves a share of 0, so `max_share` must be
        above 0.
    level, mode, max_mde, label, unit, family
        See :class:`Rules`.

    Returns
    -------
    Result
        When the verdict is not red. Its `lacks` are groups for which the lexicons have no terms.

    Raises
    ------
    FairnessAssertionError
        As :func:`assert_metric`; notes name the prompts and the words found.
    ValueError
        If a prompt is empty, `max_share` is out of range, or there is no such lexicon.

    Examples
    --------
    >>> from pytest_llmfair import assert_fairness_through_unawareness
    >>> prompts = ["Summarise this letter.", "Write a reference for a nurse."]
    >>> assert_fairness_through_unawareness(prompts, "gender").verdict.value
    'PASS'
    """
    __tracebackhide__ = True
    rules = Rules.of(locals())
    assertion = unawareness_assertion(prompts, attribute, max_share, population, rules)
    return conclude(evaluate(assertion))


def __getattr__(name: str) -> Any:
    if not name.startswith("assert_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    stem = name.removeprefix("assert_").removesuffix("_within").removesuffix("_at_least")
    try:
        info = get_metric(stem)
    except ValueError:
        info = None
    if info is None or info.assertion != name:
        said = "" if info else elsewhere(stem)
        raise AttributeError(no_such_assertion(name, __dir__(), said))
    globals()[name] = make_assertion(info, assert_metric)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*__all__, *(info.assertion for info in all_metrics().values())})
