"""The rank-allocational-based bias index (RABBI) of scores of candidates."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.allocation._candidates import Candidates, note_quota
from pytest_llmfair.stats import MaxPairwiseDifference, Population, RankBiserial, Undefined

__all__ = ["rabbi"]


@metric(
    family="allocation",
    paper="rabbi",
    symbol="R",
    direction="two-sided",
    bounds=(-1.0, 1.0),
    unit="candidate",
    reported=(
        "values in figures only; over ten models they correlate .86 (resumes) and .94 (essays) "
        "with the selection gap at k = 1"
    ),
    aliases=("RABBI",),
    example=_examples.candidates,
)
def rabbi(
    scores: ArrayLike | Mapping[Any, float],
    *,
    groups: ArrayLike | Mapping[Any, Any],
    reference: Any,
    rounds: Sequence[Hashable] | None = None,
    qualified: ArrayLike | Mapping[Any, Any] | None = None,
    strata: ArrayLike | Mapping[Any, Any] | None = None,
    k: int | None = None,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> RankBiserial | MaxPairwiseDifference | Undefined:
    """Share of pairs that a group wins minus the share that it loses to the reference group.

    The rank-allocational-based bias index: the mean over candidates a of the group and b of the
    reference of ``[s_a > s_b] - [s_a < s_b]``, which is the rank-biserial correlation. All pairs
    are compared, also across rounds. A bound on it does not bound selection at a quota: use
    :func:`demographic_parity_gap` for that, or give `k` to see both.

    Parameters
    ----------
    scores : array_like of shape (n_candidates,), or mapping
        One score per candidate, higher is better; or scores by (pool, candidate) as
        :func:`pairwise_scores` gives them, with `groups` from candidate to group.
    groups : array_like of shape (n_candidates,)
        Protected-attribute label of each candidate.
    reference : object, list or "rest"
        Label of the reference group, a list of labels (their union), or "rest": everyone outside
        the group that is compared.
    rounds : sequence, optional
        Pool of each candidate: the sampling unit. The same as `units`; giving both is an error.
    qualified : array_like of bool, optional
        Only qualified candidates are compared (equal opportunity).
    strata : array_like of shape (n_candidates,), optional
        Job or topic of each candidate: pairs are compared inside a stratum only and the worst is
        judged, so that opposite biases of two jobs do not cancel.
    k : int, optional
        Quota in deployment: the notes then show the selection gap at it; needs rounds.
    population : {"sampled", "fixed"}
        Whether the units were drawn from a larger population or are all of it.

    Returns
    -------
    RankBiserial or MaxPairwiseDifference
        Value in [-1, 1], group minus reference: above 0 the group is favoured. More groups or
        strata: the value furthest from 0, each in ``.groups``; interval and p-values are those of
        the largest absolute value. NaN where a group has no qualified candidate. Of two groups,
        ``.mann_whitney_p`` is the usual p-value, for comparison only.

    Raises
    ------
    ValueError
        If a score is NaN, lengths differ, the reference is no group, or there is one group only.
    TypeError
        If both `rounds` and `units` are given.

    Examples
    --------
    >>> from pytest_llmfair.metrics import rabbi
    >>> scores = [5.0, 4.0, 2.0, 3.0, 1.0, 2.0]
    >>> groups = ["women"] * 3 + ["men"] * 3
    >>> rabbi(scores, groups=groups, reference="men")
    RankBiserial 0.667 [-0.601, 0.980] (95 %, 6 candidates)
    """
    candidates = Candidates.read(
        scores, groups, rounds=rounds, units=units, qualified=qualified, strata=strata
    )
    estimate = candidates.compare_scores(reference, population, RankBiserial.of_scores)
    if k is not None:
        estimate = note_quota(estimate, candidates, reference, k)
    return estimate
