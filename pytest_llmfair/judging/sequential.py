"""Asking in looks: stop once the verdict is decided, with the error rates of a single look."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmfair.judging.bound import one_sided
from pytest_llmfair.judging.pairing import is_pair, pair_units
from pytest_llmfair.judging.verdict import Result, Verdict
from pytest_llmfair.responses import Answer, PairedResponses, Responses, joined_origins
from pytest_llmfair.stats import BettingMean, Estimate, Finding, Mean, Spending

_LOOKS = {"obf": 5, "betting": 20}

# Below this an error rate makes a level that is 1 to the last digit: such a look can stop nothing.
_LEAST_SHARE = 1e-14


@dataclass(frozen=True, slots=True)
class Plan:
    """When to look, and what a look costs.

    Attributes
    ----------
    kind : {"obf", "betting"}
        O'Brien-Fleming spending of the error over planned looks, or a confidence sequence, which
        may be looked at whenever one likes.
    level : float
        Two-sided confidence level over all looks together.
    seed : int
        Seed of the order in which items are asked.
    """

    kind: str
    level: float
    seed: int


def decide_in_looks(
    items: Sequence[Any],
    plan: Plan,
    ask: Callable[[Sequence[Any]], Responses | PairedResponses],
    measure: Callable[[Responses | PairedResponses, list[Hashable] | None], Estimate],
    judge_at: Callable[[Estimate, float], Result],
    units: Sequence[Hashable] | None = None,
) -> Result:
    """Ask in looks until the verdict is PASS or FAIL, or everything is asked.

    `ask` takes items to their answers, `measure` all answers so far (and the labels of their
    units where there are any) to an estimate, `judge_at` that and the level of this look to a
    result. Without `units` equal prompts are one. Raises ``ValueError`` if bets are planned on
    units of unequal size.
    """
    if plan.kind == "betting" and (why := _unequal(_labels(items, units))):
        raise ValueError(f"betting {why}; make them equal, or use sequential='obf'")
    batches = in_looks(items, _LOOKS[plan.kind], plan.seed, units)
    alpha = one_sided(plan.level)
    spending = Spending(alpha)
    answers: Responses | PairedResponses | None = None
    asked: list[int] = []
    look = 0
    for batch in batches:
        look += 1
        answers = _joined(answers, ask([items[i] for i in batch]))
        asked += batch
        estimate = measure(answers, None if units is None else [units[i] for i in asked])
        share = spending.look(len(asked) / len(items))
        if plan.kind == "betting":
            estimate, share = as_betting(estimate), alpha
        elif not estimate.near_normal:
            share = alpha / len(batches)
        if share < _LEAST_SHARE and look < len(batches):
            continue
        result = judge_at(estimate, 1.0 - 2.0 * share)
        if result.verdict in (Verdict.PASS, Verdict.FAIL):
            break
    return _reported(result, plan, look, len(batches), _answers(answers), len(asked) / len(items))


def in_looks(
    items: Sequence[Any], looks: int, seed: int, units: Sequence[Hashable] | None = None
) -> list[list[int]]:
    """Part items into looks: seeded order, groups spread evenly, units never parted.

    Returns
    -------
    list of list of int
        Positions of the items of each look.
    """
    members: dict[Hashable, list[int]] = {}
    for i, label in enumerate(_labels(items, units)):
        members.setdefault(label, []).append(i)
    strata: dict[Hashable, list[list[int]]] = {}
    for unit in members.values():
        strata.setdefault(_stratum(items[unit[0]]), []).append(unit)
    placed: list[tuple[float, int, list[int]]] = []
    for number, stratum in enumerate(strata.values()):
        random.Random(seed + number).shuffle(stratum)
        placed += [((i + 0.5) / len(stratum), number, unit) for i, unit in enumerate(stratum)]
    ordered = [unit for _, _, unit in sorted(placed, key=lambda place: place[:2])]
    looks = min(looks, len(ordered))
    cuts = [math.ceil(len(ordered) * k / looks) for k in range(looks + 1)]
    return [
        [i for unit in ordered[start:end] for i in unit] for start, end in itertools.pairwise(cuts)
    ]


def as_betting(estimate: Estimate) -> Estimate:
    """Replace the interval of a mean over rows by a confidence sequence in their order.

    Each unit is one bet, so that units of unequal size would be bets on another mean: INVALID.

    Raises
    ------
    ValueError
        If the estimate is not a mean over rows, or its units are a fixed population.
    """
    if estimate.undefined is not None:
        return estimate
    if not isinstance(estimate, Mean) or estimate.contributions is None:
        raise ValueError(
            f"betting is for means over rows, not for a {type(estimate).__name__}; "
            "use sequential='obf'"
        )
    if estimate.sample.population == "fixed":
        raise ValueError(
            "betting takes the units as draws from more, and these are fixed; leave method out"
        )
    rows = estimate.contributions
    sequence = BettingMean.of_values(rows.values, units=rows.units, bounds=estimate.attainable)
    findings = estimate.findings
    if rows.units is not None and (why := _unequal(rows.units)):
        unequal = Finding("unequal_units", f"betting {why}; leave it out", "invalid")
        findings = (*findings, unequal)
    return replace(
        sequence,
        rows=estimate.rows,
        findings=findings,
        metric=estimate.metric,
        # A value that compares answers is beyond the bound only where it exceeds their noise too.
        compares_answers=estimate.compares_answers,
        floor=estimate.floor,
        excess=None if estimate.excess is None else as_betting(estimate.excess),
    )


def _labels(items: Sequence[Any], units: Sequence[Hashable] | None) -> Sequence[Hashable]:
    if units is not None:
        return units
    if items and is_pair(items[0]):
        return pair_units(items)
    return [str(item) for item in items]


def _unequal(labels: Iterable[Hashable]) -> str:
    """Say how unequal units are; an empty string when they are equal."""
    sizes = Counter(labels).values()
    if min(sizes) == max(sizes):
        return ""
    return f"needs units of one size, and these have {min(sizes)} to {max(sizes)} rows"


def _stratum(item: Any) -> Hashable:
    return getattr(item, "from_group", None), getattr(item, "to_group", None)


def _joined(first: Any, second: Any) -> Any:
    if first is None:
        return second
    if isinstance(first, Responses):
        return replace(
            first,
            prompts=first.prompts + second.prompts,
            answers=first.answers + second.answers,
            origin=joined_origins(first, second),
        )
    return replace(
        first,
        pairs=first.pairs + second.pairs,
        original=first.original + second.original,
        counterfactual=first.counterfactual + second.counterfactual,
        placebo=_twins(first) + _twins(second),
        origin=joined_origins(first, second),
    )


def _twins(responses: PairedResponses) -> tuple[tuple[Answer, ...], ...]:
    """Return a row of answers to the placebo of every pair, also where no pair has one."""
    return responses.placebo or ((),) * len(responses)


def _answers(responses: Any) -> int:
    if isinstance(responses, Responses):
        return sum(len(row) for row in responses)
    return sum(
        len(row)
        for side in (responses.original, responses.counterfactual, responses.placebo)
        for row in side
    )


def _reported(
    result: Result, plan: Plan, look: int, looks: int, spent: int, share: float
) -> Result:
    planned = round(spent / share)
    name = "O'Brien-Fleming" if plan.kind == "obf" else "betting"
    note = (
        f"look {look} of {looks} ({name}): {spent} of {planned} answers asked for, "
        f"{planned - spent} saved"
    )
    if plan.kind == "obf":
        note += (
            f"; the interval is this look's ({100 * result.level:.4g} %), "
            f"for {100 * plan.level:g} % over all looks"
        )
    return replace(
        result, notes=(*result.notes, note), looks=(look, looks), calls=(spent, planned)
    )
