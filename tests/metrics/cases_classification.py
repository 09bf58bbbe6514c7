"""Formulas of the metrics of tables of people, written out slowly."""

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


def draw_scores(rng):
    given = draw(rng)
    del given["y_pred"]
    return given | {"y_score": (rng.integers(0, 21, len(given["groups"])) / 20).tolist()}


def draw_binned(rng):
    return draw_scores(rng) | {"bins": int(rng.choice([1, 4, 10]))}


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


def fair_scores(rng):
    given = fair(rng)
    del given["y_pred"]
    return given | {"y_score": (rng.integers(0, 21, 10) / 20).tolist() * 3}


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


def both_odds(combine):
    """Largest of any two groups, of the differences of their true and false positive rates."""

    def expected(y_true, y_pred, groups, positive):
        counts = list(confusion(y_true, y_pred, groups, positive))
        found = [(over(tp, tp + fn), over(fp, fp + tn)) for tp, fp, tn, fn in counts]
        if any(math.isnan(x) for row in found for x in row):
            return NAN
        return max(combine(a[0] - b[0], a[1] - b[1]) for a, b in combinations(found, 2))

    return expected


def scored(measure):
    """Largest difference of what is measured of the (outcome, score) rows of each group."""

    def expected(y_true, y_score, groups, positive, **more):
        found = []
        for name in dict.fromkeys(groups):
            rows = zip(y_true, y_score, groups, strict=True)
            found.append(measure([(t == positive, s) for t, s, g in rows if g == name], **more))
        return largest_difference(found)

    return expected


def calibration(rows, bins):
    total = 0.0
    for b in range(bins):
        own = [(t, s) for t, s in rows if min(int(s * bins), bins - 1) == b]
        if own:
            gap = sum(t for t, _ in own) / len(own) - sum(s for _, s in own) / len(own)
            total += len(own) / len(rows) * abs(gap)
    return total


def brier(rows):
    return sum((s - t) ** 2 for t, s in rows) / len(rows)


def area(rows):
    pairs = [(s, r) for t, s in rows if t for u, r in rows if not u]
    return over(sum(1.0 if s > r else 0.5 if s == r else 0.0 for s, r in pairs), len(pairs))


def error_case(rate, combine, **about):
    def expected(y_true, y_pred, groups, positive):
        return combine([rate(*counts) for counts in confusion(y_true, y_pred, groups, positive)])

    return case(expected, **about)


def case(expected, drawn=draw, fairly=fair, column="y_pred", **about):
    columns = ("y_true", column, "groups")
    return Case(draw=drawn, expected=expected, rows=columns, numbers=columns, fair=fairly, **about)


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
    "equal_opportunity_difference": error_case(
        lambda tp, fp, tn, fn: over(tp, tp + fn), largest_difference
    ),
    "equalized_odds_difference": case(both_odds(lambda tpr, fpr: max(abs(tpr), abs(fpr)))),
    "average_odds_difference": case(both_odds(lambda tpr, fpr: abs(tpr + fpr) / 2)),
    "brier_score_difference": case(scored(brier), draw_scores, fair_scores, "y_score"),
    "calibration_gap": case(scored(calibration), draw_binned, fair_scores, "y_score"),
    "roc_auc_difference": case(scored(area), draw_scores, fair_scores, "y_score"),
}
