"""Formulas of the classification metrics, written out slowly."""

from __future__ import annotations

import math
from itertools import combinations

from pytest_llmfair.testing import Case

NAN = math.nan


def draw(rng):
    """Two or three groups, some small; three classes; 1 is the positive one."""
    groups = ["b", "a", "c"][: int(rng.integers(2, 4))]
    n = int(rng.integers(6, 40))
    named = [*groups, *rng.choice(groups, n).tolist()]
    return {
        "y_true": rng.integers(0, 3, len(named)),
        "y_pred": rng.integers(0, 3, len(named)).tolist(),
        "groups": named,
        "positive": 1,
    }


def draw_predictions(rng):
    given = draw(rng)
    del given["y_true"]
    return given


def draw_with_share(rng):
    return draw_predictions(rng) | {"minimum_share": float(rng.choice([0.0, 0.1, 0.3]))}


def fair(rng):
    """The same rows in every group, with errors of both kinds."""
    y_true = [0, 0, 1, 1, *rng.integers(0, 2, 6).tolist()]
    y_pred = [0, 1, 0, 1, *rng.integers(0, 2, 6).tolist()]
    return {
        "y_true": y_true * 3,
        "y_pred": y_pred * 3,
        "groups": ["x"] * 10 + ["y"] * 10 + ["z"] * 10,
    }


def fair_predictions(rng):
    given = fair(rng)
    del given["y_true"]
    return given


def selection_rates(y_pred, groups, positive):
    rates = {}
    for name in dict.fromkeys(groups):
        chosen = [p == positive for p, g in zip(y_pred, groups, strict=True) if g == name]
        rates[name] = sum(chosen) / len(chosen)
    return rates


def confusion(y_true, y_pred, groups, positive):
    """Yield true and false positives and negatives of each group, in order of appearance."""
    for name in dict.fromkeys(groups):
        tp = fp = tn = fn = 0
        for t, p, g in zip(y_true, y_pred, groups, strict=True):
            if g != name:
                continue
            if p == positive:
                tp += t == positive
                fp += t != positive
            else:
                fn += t == positive
                tn += t != positive
        yield tp, fp, tn, fn


def over(a, b):
    return a / b if b else NAN


ERRORS = {
    "false_negative_rate": lambda tp, fp, tn, fn: over(fn, fn + tp),
    "false_omission_rate": lambda tp, fp, tn, fn: over(fn, fn + tn),
    "false_positive_rate": lambda tp, fp, tn, fn: over(fp, fp + tn),
    "false_discovery_rate": lambda tp, fp, tn, fn: over(fp, fp + tp),
}


def largest_difference(rates):
    if any(math.isnan(rate) for rate in rates):
        return NAN
    return max(abs(a - b) for a, b in combinations(rates, 2))


def furthest_ratio(rates):
    """First over second of the pair with the largest absolute log ratio."""
    if any(math.isnan(rate) for rate in rates):
        return NAN
    chosen, furthest = NAN, -1.0
    for a, b in combinations(rates, 2):
        if a == b == 0:
            continue
        distance = abs(math.log(a) - math.log(b)) if a and b else math.inf
        if distance > furthest:
            chosen, furthest = (a / b if b else math.inf), distance
    return chosen


def demographic_parity(y_pred, groups, positive):
    return largest_difference(selection_rates(y_pred, groups, positive).values())


def impact_ratio(y_pred, groups, positive, minimum_share):
    rates = []
    for name, rate in selection_rates(y_pred, groups, positive).items():
        if groups.count(name) / len(groups) >= minimum_share:
            rates.append(rate)
    if len(rates) < 2 or max(rates) == 0:
        return NAN
    return min(rates) / max(rates)


def error_case(rate, combine, **about):
    def expected(y_true, y_pred, groups, positive):
        return combine([rate(*counts) for counts in confusion(y_true, y_pred, groups, positive)])

    columns = ("y_true", "y_pred", "groups")
    return Case(draw=draw, expected=expected, rows=columns, numbers=columns, fair=fair, **about)


CASES = {
    "demographic_parity_difference": Case(
        draw=draw_predictions,
        expected=demographic_parity,
        rows=("y_pred", "groups"),
        numbers=("y_pred", "groups"),
        fair=fair_predictions,
    ),
    "impact_ratio": Case(
        draw=draw_with_share,
        expected=impact_ratio,
        rows=("y_pred", "groups"),
        numbers=("y_pred", "groups"),
        fair=fair_predictions,
    ),
    **{
        f"{name}_difference": error_case(rate, largest_difference) for name, rate in ERRORS.items()
    },
    **{
        f"{name}_ratio": error_case(rate, furthest_ratio, signed=True)
        for name, rate in ERRORS.items()
    },
}
