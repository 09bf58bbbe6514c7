"""Assertions: one per metric, made from the list of metrics, and the general ones."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pytest_llmfair._util.keywords import helpful_keywords
from pytest_llmfair.judging.arguments import bound_of, check_keywords, unpacked
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.judging.invariance import assert_counterfactual_invariance
from pytest_llmfair.judging.not_worse import assert_not_worse
from pytest_llmfair.judging.pipeline import conclude, judged, measure_and_judge
from pytest_llmfair.judging.rules import Rules, Unregistered
from pytest_llmfair.judging.unawareness import assert_fairness_through_unawareness
from pytest_llmfair.judging.verdict import Result
from pytest_llmfair.metrics import MetricInfo, all_metrics, get_metric
from pytest_llmfair.signatures import documentation_of, signature_of, word_of
from pytest_llmfair.stats import Estimate

if TYPE_CHECKING:
    from pytest_llmfair.metric_assertions import *  # noqa: F403

__all__ = [
    "assert_counterfactual_invariance",
    "assert_fairness_through_unawareness",
    "assert_metric",
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
    **keywords: Any,
) -> Result:
    """Assert that a metric is on the fair side of a bound.

    Parameters
    ----------
    name : str
        Name or alias of a metric (``llmfair metrics`` lists them).
    *data
        The metric's own arguments: arrays, texts, or a mapping of argument names to values; or
        answers (`Responses`, `PairedResponses`); or, with `client`, prompts or pairs to collect
        answers for. A last positional number is the bound.
    bound, minimum : float
        Inclusive on the fair side: `bound` where lower is fairer or the metric is
        two-sided, `minimum` where higher is fairer.
    client : ModelClient or callable, optional
        Model to collect answers from; the data are then prompts or pairs.
    scorer : callable or str, optional
        Texts to scores in [0, 1], or the name of a scorer; by default the metric's own.
    generations : int, optional
        Answers to collect per prompt; by default the metric's own number.
    level, mode, max_mde, max_missing, max_invalid, max_uncertain, label, unit, sequential,
    method, family
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
        The kind that belongs to the verdict: `BoundExceeded`, `InvalidEvidence`, `Inconclusive`,
        `Underpowered`.
    ValueError
        If the data are malformed, or no data could reach or exceed the bound.
    """
    __tracebackhide__ = True
    info = get_metric(name)
    check_keywords(assert_metric, info, keywords)
    given = bound_of(info, bound, minimum)
    data, keywords = unpacked(info, data, keywords)
    result = measure_and_judge(
        info,
        data,
        given,
        Rules(
            level,
            mode,
            max_mde,
            max_missing,
            label,
            sequential,
            method,
            family,
            max_invalid,
            unit,
            max_uncertain,
        ),
        client=client,
        scorer=scorer,
        generations=generations,
        keywords=keywords,
    )
    return conclude(result)


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
        From any metric, or from a kind of estimate of your own; without metric metadata lower is
        taken as fairer, with 0 as the fair value.
    bound : float
        Inclusive on the fair side.
    mode, level, max_mde, label, unit, family
        See :class:`Rules`.

    Returns
    -------
    Result
        When the verdict is not red.

    Raises
    ------
    FairnessAssertionError
        As :func:`assert_metric`.
    """
    __tracebackhide__ = True
    if not isinstance(estimate, Estimate):
        raise TypeError(
            f"assert_within takes an Estimate, not a {type(estimate).__name__}; "
            "call a metric of pytest_llmfair.metrics on your data first"
        )
    result = judged(
        estimate,
        bound,
        MetricInputs(),
        Rules(level, mode, max_mde, label=label, family=family, unit=unit),
        estimate.metric or Unregistered(),
    )
    return conclude(result)


def _make(info: MetricInfo) -> Callable[..., Result]:
    """Make the assertion of a metric."""

    def assertion(*data: Any, **keywords: Any) -> Result:
        __tracebackhide__ = True
        return assert_metric(info.name, *data, **keywords)

    assertion.__name__ = assertion.__qualname__ = info.assertion
    assertion.__module__ = __name__
    assertion.__doc__ = documentation_of(info, assert_metric)
    assertion.__signature__ = signature_of(info, assert_metric)  # type: ignore[attr-defined]
    words = dict.fromkeys(("bound", "minimum", "threshold", "eps"), word_of(info))
    return helpful_keywords(n="generations", **words)(assertion)


def __getattr__(name: str) -> Any:
    if not name.startswith("assert_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = {info.assertion: info for info in all_metrics().values()}
    if name in made:
        globals()[name] = _make(made[name])
        return globals()[name]
    raise ImportError(_no_such_assertion(name, list(made)))


def _no_such_assertion(name: str, made: list[str]) -> str:
    stem = name.removesuffix("_within").removesuffix("_at_least")
    own = [other for other in made if other.startswith(f"{stem}_") and name != other]
    near = [o for o in own if o.removesuffix("_within").removesuffix("_at_least") == stem]
    near = near or difflib.get_close_matches(name, [*made, *__all__], n=3, cutoff=0.5)
    hint = f"use {' or '.join(near)}" if near else "`llmfair metrics` lists all metrics"
    return f"there is no {name}; {hint}"


def __dir__() -> list[str]:
    return sorted({*__all__, *(info.assertion for info in all_metrics().values())})
