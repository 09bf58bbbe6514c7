"""The three generalized metrics of Czarnowska et al. (2021), for any score and comparison."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._parameters import described
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.generalized._compare import (
    ALL_AT_ONCE,
    ComparisonDesign,
    GroupContrast,
    against_background,
    all_pairs,
    first_and_second,
    measure,
    reference_names,
)
from pytest_llmfair.metrics.generalized._forms import CounterfactualForm, DataForm
from pytest_llmfair.metrics.generalized._user_rows import RowsOfGroup, read_form
from pytest_llmfair.metrics.generalized._user_scores import UserFunctions, UserScores
from pytest_llmfair.stats import Estimate, Population

__all__ = ["background_comparison", "multigroup_comparison", "pairwise_comparison"]

_EVERYTHING = float("-inf"), float("inf")

_comparison_metric = partial(
    metric,
    family="generalized",
    paper="czarnowska2021",
    direction="two-sided",
    bounds=_EVERYTHING,
    unit="example",
)

_PARAMETERS = """
    phi : callable
        Rows of one group to its score, a number or a one-dimensional array; NaN where it is not
        defined. It is given an array of the rows' probabilities (else predictions), with the
        attributes ``y_true``, ``y_pred`` and ``y_prob``.
    y_true, y_pred, y_prob : array_like
        Data by group: one entry per row. Counterfactual data: ``y_prob[example][group][class]``,
        or ``[example][group][variation][class]``, or the same of predictions without the class;
        one gold class per example.
    groups : sequence
        By group: one label per row. Counterfactual: the names in column order.
    units : sequence, optional
        One label per row or source example; rows with equal labels are one sampling unit, also
        across groups. Default: each its own.
    population : {"sampled", "fixed"}
        Whether units were drawn from a larger population, or only generations vary.
    """


@_comparison_metric(symbol="PCM", aliases=("PCM",), example=_examples.compared)
@described(_PARAMETERS)
def pairwise_comparison(
    phi: Callable[[RowsOfGroup], Any],
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
    d : callable
        Two scores to a number, such as ``lambda x, y: abs(x - y)``.
    reference : object, optional
        Of two groups that are compared with a sign, the one that is subtracted or divided by.

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
    design = all_pairs(form.names)
    if reference is not None:
        pair = first_and_second("a comparison with reference=...", form.names, reference)
        design = replace(design, terms=(GroupContrast(pair, pair[:1], pair[1:]),))
    scores = UserScores(UserFunctions(phi, d), form, examples).with_nature(design)
    if len(design.terms) > 1 and scores.nature != "distance" and scores.depends_on_order(design):
        raise ValueError(
            f"d(x, y) is not d(y, x), so that the mean over pairs of {len(form.names)} groups "
            "would depend on their order; give two groups, an absolute difference, or use "
            "background_comparison"
        )
    return measure(design, scores)


@_comparison_metric(symbol="BCM", aliases=("BCM", "VBCM"), example=_examples.compared)
@described(_PARAMETERS)
def background_comparison(
    phi: Callable[[RowsOfGroup], Any],
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
    number of groups; in counterfactual form the mean over source examples. Without `aggregate`
    it is vector-valued, and the group furthest from fair is judged.

    Parameters
    ----------
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
        If lengths differ, a label is missing, a probability is outside [0, 1], there are fewer
        than two groups, `reference` is no group, or `original` is given too.

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
    # `d` takes the score of the background first.
    design = _against(form, reference).swapped()
    scores = UserScores(UserFunctions(phi, d), form, examples).with_nature(design)
    return measure(design, scores, vector=not aggregate)


@_comparison_metric(symbol="MCM", aliases=("MCM",), example=_examples.compared_at_once)
@described(_PARAMETERS)
def multigroup_comparison(
    phi: Callable[[RowsOfGroup], Any],
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
        If lengths differ, a label is missing, a probability is outside [0, 1], or there are fewer
        than two groups.

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
    scores = UserScores(UserFunctions(phi, d), form, examples).with_nature(ALL_AT_ONCE)
    return measure(ALL_AT_ONCE, scores)


def _against(form: DataForm, reference: Any) -> ComparisonDesign:
    """Compare each group with the unperturbed example, the groups of `reference`, or all rows."""
    if isinstance(form, CounterfactualForm) and form.original is not None:
        return against_background(form.names, ())
    if reference is None:
        return against_background(form.names, None, whole=True)
    chosen = reference_names(reference, form.names)
    if chosen is not None:
        chosen = tuple(name for name in form.names if name in chosen)
    return against_background(form.names, chosen)
