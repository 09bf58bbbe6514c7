"""The mirror of invariance: contexts in which the group matters, and the answers should differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_llmfair._util.keywords import helpful_keywords
from pytest_llmfair._util.wording import number, plural
from pytest_llmfair.judging.assertion import Assertion, Compare, quantity_of
from pytest_llmfair.judging.invariance import invariance_assertion, measure_of
from pytest_llmfair.judging.outcome import conclude
from pytest_llmfair.judging.pairs import groups_of
from pytest_llmfair.judging.pipeline import evaluate
from pytest_llmfair.judging.result import Result, Verdict
from pytest_llmfair.judging.rules import Rules
from pytest_llmfair.judging.scoring import TextScorer, scored
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.metrics.arguments import row_means, score_rows
from pytest_llmfair.metrics.counterfactual.invariance import score_measure
from pytest_llmfair.responses import PairedResponses
from pytest_llmfair.stats import Estimate, Mean

if TYPE_CHECKING:
    from pytest_llmfair.responses import Pair

# Stands with a result that has no such companion.
_ALONE = (
    "a model that treats groups differently everywhere passes this too; judge "
    "assert_counterfactual_invariance on prompts for which nothing is due to a group, or give "
    "such pairs as not_due"
)


@helpful_keywords(bound="minimum", threshold="minimum", eps="minimum", n="generations")
def assert_differs_when_it_should(
    pairs: PairedResponses | Sequence[Pair] | Sequence[tuple[Any, Any]],
    minimum: float,
    *,
    metric: str | Callable[[str, str], float] = "rouge_l",
    due: Any = None,
    not_due: PairedResponses | Sequence[Pair] | Sequence[tuple[Any, Any]] | None = None,
    client: Any = None,
    generations: int = 2,
    groups: Sequence[str] | None = None,
    scorer: Any = None,
    level: float | None = None,
    mode: str | None = None,
    max_mde: float | None = None,
    max_missing: float | None = None,
    max_invalid: float | None = None,
    max_uncertain: float | None = None,
    units: Sequence[Any] | None = None,
    label: str = "",
    family: str = "session",
    unit: str = "",
) -> Result:
    """Assert that answers differ where the group in the prompt matters.

    The mirror of counterfactual invariance, for contexts such as dosing by sex, prayer, dress and
    law (difference awareness: Wang et al. 2025). With `due` the answers to one group contain what
    is due to it more often than answers to the other do. Without it they differ, by more than two
    answers to the same prompt do.

    Parameters
    ----------
    pairs : PairedResponses, list of Pair, or list of tuple
        As in ``assert_counterfactual_invariance``; all prompts should be of such a context.
    minimum : float
        Smallest difference that you can accept, inclusive, in (0, 1]: of the rates of what is
        due, or of the mean dissimilarity over its noise floor.
    metric, scorer : optional
        Without `due`: the dissimilarity, as in ``assert_counterfactual_invariance``.
    due : callable, str or mapping, optional
        Preferred, since it says which difference is right: a scorer (or its name) that maps texts
        to numbers in [0, 1], 1 where a text contains what is due to the group that the first pair
        starts from. ``{"male": scorer}`` names another group.
    not_due : optional
        Pairs, or answers to pairs, of contexts in which nothing is due to a group. How much these
        answers differ is printed with the result.
    client, generations : optional
        Model to collect answers from, and how many per member. With one answer a side there is no
        noise floor: without `due` the verdict is then never PASS.
    groups, units : optional
        As in ``assert_counterfactual_invariance``.
    level, mode, max_mde, max_missing, max_invalid, max_uncertain, label, family, unit
        See :class:`Rules`.

    Returns
    -------
    Result
        When the verdict is not red. Its notes say how answers differ where nothing is due.

    Raises
    ------
    FairnessAssertionError
        FAIL (`BoundExceeded`) when the difference is proven to be below `minimum`. INVALID when
        no answers could reach it above this noise floor (``bound_out_of_reach``).
    ValueError
        If `minimum` is out of range, or `due` is for one of more than two groups.

    Examples
    --------
    >>> from pytest_llmfair import assert_differs_when_it_should
    >>> answers = [(["Take 5 mg."] * 2, ["Take 10 mg."] * 2)] * 30
    >>> low_dose = lambda texts: [float("5 mg" in text) for text in texts]
    >>> assert_differs_when_it_should(answers, 0.5, due=low_dose).verdict.value
    'PASS'
    """
    __tracebackhide__ = True
    rules = Rules.of(locals())
    measure = measure_of(metric, None, scorer)
    order = groups
    if isinstance(due, Mapping):
        order, due = _first(due, pairs, groups)
    of_due = None if due is None else TextScorer(get_metric("weak_sentiment_parity"), due)
    compared = measure if of_due is None else score_measure("", of_due)
    asked = (client, generations, units, None)
    made = invariance_assertion(
        pairs, minimum, rules, compared, Compare(order, on="excess"), *asked
    )
    assertion = _mirrored(made, of_due)
    beside = _ALONE
    if not_due is not None:
        # Only the numbers are printed; above 0.01 there is hardly a floor that leaves no room.
        compare = Compare(groups, on="excess")
        other = evaluate(
            invariance_assertion(
                not_due, 0.01, Rules(), measure, compare, client, generations, None, None
            )
        )
        beside = _beside(other)
    result = evaluate(assertion)
    found = replace(
        result, notes=(*result.notes, beside), reasons=(*result.reasons, "where_nothing_is_due")
    )
    return conclude(found)


def _mirrored(made: Assertion, due: TextScorer | None) -> Assertion:
    """Return an assertion of invariance in the other direction."""
    known = made.metric

    def excess(*args: Any, **keywords: Any) -> Estimate:
        return quantity_of(known.function(*args, **keywords), "excess")

    def difference(first: Any, second: Any, *, units: Any = None) -> Estimate:
        """Mean over pairs of the rate of the first group minus that of the second."""
        assert due is not None
        rates = [row_means(score_rows(scored(side, due), "due")) for side in (first, second)]
        sizes = [min(map(len, rows)) for rows in zip(first, second, strict=True)]
        return Mean.of_values(
            rates[0] - rates[1], units=units, bounds=(-1.0, 1.0), generations=sizes
        )

    name = known.name.replace("counterfactual invariance", "differs when it should")
    if due is not None:
        name = name.replace("| difference|", f"due: {due.name}")
    mirrored = replace(
        known,
        name=name,
        direction="higher",
        bounds=(0.0, 1.0),
        fair_value=1.0,
        function=excess if due is None else difference,
    )
    return replace(made, metric=mirrored)


def _first(
    due: Mapping[str, Any], pairs: Any, groups: Sequence[str] | None
) -> tuple[list[str], Any]:
    """Return the two groups, first the one that something is due to, and its scorer."""
    known = list(groups or groups_of(getattr(pairs, "pairs", pairs)))
    if len(due) != 1 or len(known) != 2 or not set(due) <= set(known):
        raise ValueError(
            f"due is for {', '.join(map(str, due)) or 'no group'}, and the pairs compare "
            f"{', '.join(known)}; give a scorer for one group, and choose two by groups=..."
        )
    return sorted(known, key=lambda group: group not in due), next(iter(due.values()))


def _beside(other: Result) -> str:
    """Say by how much answers differ where nothing is due."""
    if other.verdict is Verdict.INVALID:
        return f"where nothing is due: not known, {'; '.join(other.notes)}"
    ends = f"{number(other.value)} [{number(other.lower)}, {number(other.upper)}]"
    more = " more than two answers to the same prompt do" if other.judged == "excess" else ""
    return (
        f"where nothing is due, answers differ by {ends}{more} "
        f"({plural(other.unit, other.units)}, {other.metric})"
    )
