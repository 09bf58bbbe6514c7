"""The three generalized metrics of Czarnowska et al. (2021), for any score and comparison."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from numpy.typing import ArrayLike

from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.generalized._backgrounds import (
    first_and_second,
    reference_names,
    with_groups,
)
from pytest_llmfair.metrics.generalized._compare import Question, Side, Term
from pytest_llmfair.metrics.generalized._forms import CounterfactualForm, Form
from pytest_llmfair.metrics.generalized._phi import Comparison, Rows, read_form
from pytest_llmfair.stats import Estimate, Population

__all__ = ["background_comparison", "multigroup_comparison", "pairwise_comparison"]

_EVERYTHING = float("-inf"), float("inf")


@metric(
    family="generalized",
    paper="czarnowska2021",
    symbol="PCM",
    direction="two-sided",
    bounds=_EVERYTHING,
    unit="example",
    aliases=("PCM",),
    example=_examples.compared,
)
def pairwise_comparison(
    phi: Callable[[Rows], Any],
    d: Callable[[Any, Any], Any],
    *,
    y_true: ArrayLike | None = None,
    y_pred: ArrayLike | None = None,
    y_prob: ArrayLike | None = None,
    groups: ArrayLike,
    reference: Any = None,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Estimate:
    """Mean distance of the scores of two groups, over all pairs of groups.

    Pairwise Comparison Metric of Czarnowska et al. (2021), equations 1 and 2, divided by the
    number of pairs; in counterfactual form the mean over source examples.

    Parameters
    ----------
    phi : callable
        Rows of one group to its score, a number or a one-dimensional array. It is given an array
        of the rows' probabilities (else predictions), with the attributes ``y_true``, ``y_pred``
        and ``y_prob``. NaN where the score is not defined.
    d : callable
        Two scores to a number, such as ``lambda x, y: abs(x - y)``.
    y_true, y_pred, y_prob : array_like
        Data by group: one entry per row. Counterfactual data: ``y_prob[example][group][class]``,
        or ``[example][group][variation][class]``, or the same of predictions without the class;
        one gold class per example.
    groups : sequence
        By group: one label per row. Counterfactual: the names in column order.
    reference : object, optional
        Of two groups that are compared with a sign, the one that is subtracted or divided by.
    units : sequence, optional
        One label per row or source example; rows with equal labels are one sampling unit, also
        across groups. Default: each its own.
    population : {"sampled", "fixed"}
        Whether units were drawn from a larger population, or only generations vary.

    Returns
    -------
    Estimate
        Every pair is in ``.groups``, and each group's mean over its pairs. Assertions bound the
        distance from 0.

    Raises
    ------
    ValueError
        If lengths differ, a label is missing, a probability is outside [0, 1], there are fewer
        than two groups, or `d` depends on the order of more than two groups.

    Examples
    --------
    >>> import numpy as np
    >>> from pytest_llmfair.metrics import pairwise_comparison
    >>> def distance(x, y):
    ...     return abs(x - y)
    >>> y_prob = [0.9, 0.6, 0.3, 0.2, 0.7, 0.4]
    >>> groups = ["a"] * 3 + ["b"] * 3
    >>> round(pairwise_comparison(np.mean, distance, y_prob=y_prob, groups=groups).value, 3)
    0.167
    """
    form, examples = read_form(y_true, y_pred, y_prob, groups, None, units, population)
    names = form.names
    pairs = list(combinations(range(len(names)), 2))
    if reference is not None:
        first, second = first_and_second("a comparison with reference=...", names, reference)
        pairs = [(names.index(first), names.index(second))]
    terms = {(names[a], names[b]): Term((names[a], names[b]), (a,), (b,)) for a, b in pairs}
    question = Question(Comparison(phi, d), form, examples, tuple(terms.values()))
    nature = question.nature()
    if len(pairs) > 1 and nature != "distance" and _depends_on_order(question):
        raise ValueError(
            f"d(x, y) is not d(y, x), so that the mean over pairs of {len(names)} groups would "
            "depend on their order; give two groups, an absolute difference, or use "
            "background_comparison"
        )
    estimate = question.estimate(nature)
    table = question.per_key(nature)
    n = form.sample.generations

    def mean_of(name: Hashable) -> Estimate:
        own = tuple(term for key, term in terms.items() if name in key)
        return replace(question, terms=own).estimate(nature)

    rows = with_groups(table, names, lambda _: n, lambda _: float("nan"), mean_of)
    return replace(estimate, groups=rows)


@metric(
    family="generalized",
    paper="czarnowska2021",
    symbol="BCM",
    direction="two-sided",
    bounds=_EVERYTHING,
    unit="example",
    aliases=("BCM", "VBCM"),
    example=_examples.compared,
)
def background_comparison(
    phi: Callable[[Rows], Any],
    d: Callable[[Any, Any], Any],
    *,
    y_true: ArrayLike | None = None,
    y_pred: ArrayLike | None = None,
    y_prob: ArrayLike | None = None,
    groups: ArrayLike,
    reference: Any = None,
    original: ArrayLike | None = None,
    aggregate: bool = True,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Estimate:
    """Mean distance of the score of a group from that of its background, over groups.

    Background Comparison Metric of Czarnowska et al. (2021), equations 3 and 4, divided by the
    number of groups; in counterfactual form the mean over source examples. With `aggregate` off
    the vector-valued one: the group furthest from fair is judged.

    Parameters
    ----------
    phi, y_true, y_pred, y_prob, groups, units, population
        As in :func:`pairwise_comparison`.
    d : callable
        Score of the background and score of the group, in this order, to a number.
    reference : object, list or "rest", optional
        The background: a group, several (pooled), or every group but the own. Default: all rows,
        or all variations of the source example.
    original : array_like of shape (n_examples, n_classes), optional
        Counterfactual form: probabilities of the unperturbed examples, which are the background.
    aggregate : bool
        Whether to take the mean over groups.

    Returns
    -------
    Estimate
        Every group is in ``.groups``. Assertions bound the distance from 0.

    Raises
    ------
    ValueError
        As :func:`pairwise_comparison`; or if `reference` is no group, or `original` is given too.

    Examples
    --------
    >>> import numpy as np
    >>> from pytest_llmfair.metrics import background_comparison
    >>> def distance(x, y):
    ...     return abs(x - y)
    >>> y_prob = [0.9, 0.6, 0.3, 0.2, 0.7, 0.4]
    >>> groups = ["a"] * 3 + ["b"] * 3
    >>> round(background_comparison(np.mean, distance, y_prob=y_prob, groups=groups).value, 3)
    0.083
    """
    form, examples = read_form(y_true, y_pred, y_prob, groups, original, units, population)
    if original is not None and reference is not None:
        raise ValueError("give original or reference, not both: each is the background")
    terms = tuple(
        Term(form.names[g], background, (g,)) for g, background in _backgrounds(form, reference)
    )
    question = Question(Comparison(phi, d), form, examples, terms)
    nature = question.nature()
    table = question.per_key(nature)
    estimate = question.estimate(nature) if aggregate else question.worst(nature, table)
    return replace(estimate, groups=table)


@metric(
    family="generalized",
    paper="czarnowska2021",
    symbol="MCM",
    direction="two-sided",
    bounds=_EVERYTHING,
    unit="example",
    aliases=("MCM",),
    example=_examples.compared_at_once,
)
def multigroup_comparison(
    phi: Callable[[Rows], Any],
    d: Callable[..., Any],
    *,
    y_true: ArrayLike | None = None,
    y_pred: ArrayLike | None = None,
    y_prob: ArrayLike | None = None,
    groups: ArrayLike,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Estimate:
    """Compare the scores of all groups at once, such as by their standard deviation.

    Multi-group Comparison Metric of Czarnowska et al. (2021), equations 5 and 6; in counterfactual
    form the mean over source examples.

    Parameters
    ----------
    phi, y_true, y_pred, y_prob, groups, units, population
        As in :func:`pairwise_comparison`.
    d : callable
        The list of all scores to a number, such as ``np.std``; or all of them one by one, when its
        parameters are ``*scores``.

    Returns
    -------
    Estimate
        Assertions bound the distance from 0.

    Raises
    ------
    ValueError
        As :func:`pairwise_comparison`.

    Examples
    --------
    >>> import numpy as np
    >>> from pytest_llmfair.metrics import multigroup_comparison
    >>> y_prob = [0.9, 0.6, 0.3, 0.2, 0.7, 0.4]
    >>> groups = ["a"] * 3 + ["b"] * 3
    >>> round(multigroup_comparison(np.mean, np.std, y_prob=y_prob, groups=groups).value, 3)
    0.083
    """
    form, examples = read_form(y_true, y_pred, y_prob, groups, None, units, population)
    question = Question(Comparison(phi, d), form, examples, ())
    return question.estimate(question.nature())


def _backgrounds(form: Form, reference: Any) -> list[tuple[int, Side]]:
    """Return each group that is compared, with the groups of its background."""
    everyone = tuple(range(len(form.names)))
    if isinstance(form, CounterfactualForm) and form.original is not None:
        return [(g, ()) for g in everyone]
    if reference is None:
        return [(g, everyone) for g in everyone]
    chosen = reference_names(reference, form.names)
    if chosen is None:
        return [(g, tuple(other for other in everyone if other != g)) for g in everyone]
    pooled = tuple(g for g in everyone if form.names[g] in chosen)
    return [(g, pooled) for g in everyone if g not in pooled]


def _depends_on_order(question: Question) -> bool:
    turned = tuple(Term(t.key, t.second, t.first) for t in question.terms)
    other = Question(question.comparison, question.form, question.examples, turned)
    values = [(question.value(s), other.value(s)) for s in question.scores()]
    return any(abs(v - w) > 1e-9 * max(1.0, abs(v)) for v, w in values)
