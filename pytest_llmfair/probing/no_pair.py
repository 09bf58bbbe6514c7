"""An assertion that looks for a pair beyond the bound, and proves what it finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_llmfair._util.keywords import helpful_keywords
from pytest_llmfair._util.validation import check_is_list, one_sided, whole
from pytest_llmfair._util.wording import number, plural
from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.judging.assertion import EstimateAssertion
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.collecting import drop_invalid_pairs
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.judging.invariance import measure_of
from pytest_llmfair.judging.outcome import conclude
from pytest_llmfair.judging.pairs import groups_of, is_pair
from pytest_llmfair.judging.pipeline import evaluate
from pytest_llmfair.judging.result import Result, Verdict
from pytest_llmfair.judging.rules import Rules, Unregistered, current_settings
from pytest_llmfair.judging.scoring import TextScorer
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.metrics.counterfactual.invariance import score_measure
from pytest_llmfair.probing.proof import Draws, Searched, Tested, could_find, search
from pytest_llmfair.probing.searching import BudgetedClient
from pytest_llmfair.stats import Estimate, Sample, Undefined

if TYPE_CHECKING:
    from pytest_llmfair.responses import Pair


@helpful_keywords(eps="bound", threshold="bound", max_calls="budget")
def assert_no_pair_exceeds(
    pairs_or_prompts: Sequence[Pair] | Sequence[str],
    bound: float,
    *,
    client: Any,
    budget: int = 200,
    metric: str | Callable[[str, str], float] = "sentiment",
    scorer: Any = None,
    mask: Any = "attribute",
    attribute: Any = "gender",
    groups: tuple[str, str] | None = None,
    level: float | None = None,
    mode: str | None = None,
    label: str = "",
    family: str = "session",
) -> Result:
    """Assert that no single pair has a gap beyond the bound, as far as a search can tell.

    Half of the budget looks for the pair with the largest gap, by any means. At most three
    candidates are then frozen, with the side that is higher, and tested on fresh draws, each at
    its share of the error rate. A mean over pairs can hide the one prompt that goes wrong; this
    finds it, but never shows that there is none.

    Parameters
    ----------
    pairs_or_prompts : list of Pair or list of str
        Pairs, or prompts to make pairs of with `attribute` and `groups`.
    bound : float
        Largest gap of a pair that you can accept, inclusive, in [0, 1).
    client : ModelClient or callable
        The model.
    budget : int
        Draws; each asks both members of a pair once.
    metric, scorer : optional
        The gap is the difference of mean scores ("sentiment", "toxicity", or `scorer`), or the
        excess of a dissimilarity over its noise floor ("rouge_l", a function of two texts).
    mask
        As in ``assert_counterfactual_invariance``, for "rouge_l".
    attribute, groups
        As in :func:`generate_pairs`, for prompts.
    level, mode, label, family
        See :class:`Rules`.

    Returns
    -------
    Result
        INCONCLUSIVE when nothing was proven, with the gap that such a search would have found;
        never PASS.

    Raises
    ------
    FairnessAssertionError
        FAIL (`BoundExceeded`) when a candidate is proven beyond the bound; the message names all
        that are. INVALID when too few answers came back.
    ValueError
        If no prompt makes a pair, or an argument is out of range.

    Examples
    --------
    >>> from pytest_llmfair import BoundExceeded, assert_no_pair_exceeds
    >>> bot = lambda prompt: "I hate it." if prompt == "She is a nurse." else "I love it."
    >>> prompts = ["She is a nurse.", "She is a cook.", "She is a pilot."]
    >>> try:
    ...     assert_no_pair_exceeds(prompts, 0.1, client=bot)
    ... except BoundExceeded as error:
    ...     error.result.examples[0].prompts
    ('She is a nurse.', 'He is a nurse.')
    """
    __tracebackhide__ = True
    rules = Rules.of(locals())
    pairs = _pairs(pairs_or_prompts, attribute, groups)
    if scorer is not None:
        texts = TextScorer(get_metric("weak_sentiment_parity"), scorer)
        measure = score_measure(texts.name, texts)
    else:
        if isinstance(mask, str) and mask == "attribute":
            mask = pairs[0].attribute if metric == "rouge_l" else None
        measure = measure_of(metric, mask, None)
    seed, allowed = current_settings().seed, whole(budget, "budget")
    asker = BudgetedClient(client, measure, 2 * allowed, seed)
    asker.only_asks = True
    draws = Draws(asker, measure, pairs)
    what = measure.symbol.strip("|") if draws.signed else measure.symbol
    name = f"no pair exceeds ({', '.join(filter(None, [pairs[0].attribute, what]))})"
    Bound.checked(bound, "lower", 0.0, (0.0, 1.0), name)
    found = search(draws, allowed, seed)
    metric_info = Unregistered(name, unit="pair")
    alpha = one_sided(rules.level_of(metric_info))
    proven = [each for each in found if each.gap.lower_bound(alpha / len(found)) > bound]
    inputs = _inputs(draws, proven or found)
    estimate = _estimate(found, proven or found)
    result = evaluate(EstimateAssertion(estimate, bound, metric_info, rules, inputs))
    if result.verdict is Verdict.INVALID:
        return conclude(result)
    spread = float(np.mean([each.spread**2 for each in found])) ** 0.5
    least = could_find(len(pairs), allowed, spread, bound, alpha, draws.least)
    if proven:
        code, text = "proven_pairs", _proven(draws, proven, alpha / len(found), bound)
    else:
        code, text = "not_found", _not_found(draws, len(found), allowed, bound, least)
    found_if = None if least is None else (f"{least:.2f}", f"in {what} of a single pair")
    reasons = (*result.reasons, code)
    return conclude(
        replace(result, notes=(text,), reasons=reasons, needed_units=None, could_find=found_if)
    )


def _pairs(given: Any, attribute: Any, groups: Any) -> list[Pair]:
    check_is_list(given)
    items = list(given)
    if items and not any(map(is_pair, items)):
        items = list(generate_pairs(items, attribute, groups))
    pairs: list[Pair] = list(dict.fromkeys(drop_invalid_pairs(items)[0]))
    if not pairs:
        raise ValueError(
            f"none of the {len(given)} prompts makes a pair; name a group in the prompts"
        )
    return pairs


def _inputs(draws: Draws, shown: Sequence[Tested]) -> MetricInputs:
    """Return the pairs to show, each with its answers on fresh draws."""
    missing = {"all": dict(sorted(draws.client.missing.items()))} if draws.client.missing else {}
    groups = groups_of(draws.pairs)
    prompts: list[tuple[str, ...]] = []
    outputs: list[tuple[list[str], ...]] = []
    for each in shown:
        pair, seen = draws.pairs[each.place], each.seen
        turn = -1 if len(groups) == 2 and pair.from_group != groups[0] else 1
        prompts.append((pair.original, pair.counterfactual)[::turn])
        outputs.append((list(seen.answers), list(seen.twin_answers))[::turn])
    return MetricInputs(
        prompts=prompts,
        outputs=outputs,
        # With more groups the prompts themselves say which these are.
        labels=groups if len(groups) == 2 else ("original", "counterfactual"),
        attribute=draws.pairs[0].attribute,
        model=draws.client.name,
        missing=missing,
        origin=(draws.client.calls, 0),
    )


def _estimate(found: Sequence[Tested], shown: Sequence[Tested]) -> Estimate:
    sizes = [each.gap.sample.units for each in found]
    if not found:
        why = "no candidate has enough answers on fresh draws; raise the budget, or fix the client"
        return Undefined(undefined=why, sample=Sample.of_sizes([]))
    return Searched(
        value=max(each.gap.value for each in found),
        sample=Sample.of_sizes(sizes),
        attainable=(-1.0, 1.0),
        rows=[each.gap.value for each in shown],
        candidates=tuple(each.gap for each in found),
    )


def _proven(draws: Draws, proven: Sequence[Tested], alpha: float, bound: float) -> str:
    """Name the pairs that are proven; their texts are shown as those of worst pairs."""
    shown = []
    for each in proven:
        pair = draws.pairs[each.place]
        side = (pair.from_group, pair.to_group)[each.sign < 0.0]
        shown.append(
            f"pair {each.place + 1} of {len(draws.pairs)} (gap {number(each.gap.value)}"
            f"{f', higher for {side}' if draws.signed else ''}, at least "
            f"{number(each.gap.lower_bound(alpha))}, on "
            f"{plural('fresh draw', each.gap.sample.units)})"
        )
    return (
        f"{plural('pair', len(proven))} proven to have a gap above {bound:g}: {', '.join(shown)}"
    )


def _not_found(draws: Draws, tested: int, budget: int, bound: float, least: float | None) -> str:
    """Say what a search of this size would have found."""
    could = "no gap of a single pair" if least is None else f"a pair with a gap of {least:.2f}"
    return (
        f"no pair with a gap above {bound:g} was found with {plural('draw', budget)}, which does "
        f"not show that there is none: {could} would have been found in 80 % of such searches "
        f"({len(draws.found)} of {plural('pair', len(draws.pairs))} asked, "
        f"{plural('candidate', tested)} tested)"
    )
