"""How an estimate was made, as data: what is needed to make the same one again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_llmfair.judging.plain_data import CannotRecord
from pytest_llmfair.judging.sequential import as_betting
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.metrics.counterfactual.invariance import INVARIANCE, invariance_of_prepared
from pytest_llmfair.stats import (
    BettingMean,
    Estimate,
    Sample,
    Undefined,
    WorstGroups,
)
from pytest_llmfair.stats.crossed import CROSSED, Crossed
from pytest_llmfair.stats.crossed_mean import ROBUST, over_levels
from pytest_llmfair.stats.difference import loss_between

# What the call of a comparison of two models is named by.
LOSS = "not_worse"
# Calls whose arguments are estimates.
JOINED = (LOSS, CROSSED, ROBUST)


def quantity_of(estimate: Estimate, quantity: str) -> Estimate:
    """Return what is judged: the value, or its excess over the noise floor."""
    if quantity == "value":
        return estimate
    call = estimate.call and replace(estimate.call, quantity=quantity)
    if quantity == "no floor":
        return replace(estimate, floor=None, excess=None, call=call)
    if estimate.excess is None:
        # Without a floor an excess is judged all the same, of a size that is not known.
        return replace(estimate, measures="excess", call=call)
    return replace(
        estimate.excess,
        floor=estimate.floor,
        measures="excess",
        findings=tuple(dict.fromkeys((*estimate.findings, *estimate.excess.findings))),
        call=call,
    )


def recipe_of(estimate: Estimate) -> dict[str, Any]:
    """Return how an estimate was made, as calls of metrics with their arguments.

    Raises
    ------
    CannotRecord
        If it, or a part of it, was not made by a metric of the package.
    """
    call = estimate.call
    if call is None and isinstance(estimate, Undefined):
        sample = estimate.sample
        return {"undefined": [estimate.undefined, sample.units, sample.generations]}
    if call is None and isinstance(estimate, WorstGroups):
        parts = [[key, recipe_of(part)] for key, part in estimate.parts.items()]
        sample = estimate.sample
        return {"worst_of": parts, "about": [estimate.direction, sample.units, sample.generations]}
    if call is None:
        kind = type(estimate).__name__
        raise CannotRecord(f"the {kind} was not made by a metric, so nothing can repeat it")
    args = [recipe_of(each) if isinstance(each, Estimate) else each for each in call.args]
    made = {"metric": call.metric, "args": args, "keywords": dict(call.keywords)}
    if call.metric in JOINED:
        made["findings"] = list(estimate.findings)
    if call.metric == INVARIANCE and call.args[2] is None:
        raise CannotRecord("the dissimilarity is a function of the user, which is not recorded")
    return {**made, "quantity": call.quantity, "betting": isinstance(estimate, BettingMean)}


def estimate_of(recipe: dict[str, Any]) -> Estimate:
    """Return the estimate that a recipe describes."""
    if "undefined" in recipe:
        why, units, generations = recipe["undefined"]
        sample = Sample(units=units, generations=generations, fewest=0, most=0)
        return Undefined(undefined=why, sample=sample)
    if "worst_of" in recipe:
        direction, units, generations = recipe["about"]
        parts = {tuple(key): estimate_of(part) for key, part in recipe["worst_of"]}
        return WorstGroups.of_parts(parts, direction, units=units, generations=generations)
    name, args, keywords = recipe["metric"], recipe["args"], recipe["keywords"]
    if name == LOSS:
        sides, about = args[:2], args[2:]
        loss = loss_between([estimate_of(side) for side in sides], *about)
        return replace(loss, findings=tuple(recipe["findings"]))
    if name == CROSSED:
        crossed = Crossed.join(*map(estimate_of, args))
        return replace(crossed, findings=tuple(recipe["findings"]))
    if name == ROBUST:
        found = over_levels(estimate_of(args[0]), **keywords)
        return replace(found, findings=tuple(recipe["findings"]))
    if name == INVARIANCE:
        first, second, symbol = args
        estimate: Estimate = invariance_of_prepared(first, second, symbol, **keywords)
    else:
        estimate = get_metric(name).function(*args, **keywords)
    found = quantity_of(estimate, recipe["quantity"])
    if "findings" in recipe:
        found = replace(found, findings=tuple(recipe["findings"]))
    return as_betting(found) if recipe["betting"] else found
