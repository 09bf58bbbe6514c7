"""Formulas of equalized odds and of metrics of scores by group, written out slowly."""

from __future__ import annotations

import math
from itertools import combinations

from pytest_llmfair.testing import Case

NAN = math.nan


def draw(rng):
    """Two or three groups; three classes; 1 is the positive one."""
    groups = ["b", "a", "c"][: int(rng.integers(2, 4))]
    named = [*groups, *rng.choice(groups, int(rng.integers(12, 40))).tolist()]
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


def fair(rng):
    """The same rows in every group, with errors of both kinds."""
    y_true = [0, 0, 1, 1, *rng.integers(0, 2, 6).tolist()]
    y_pred = [0, 1, 0, 1, *rng.integers(0, 2, 6).tolist()]
    groups = ["x"] * 10 + ["y"] * 10 + ["z"] * 10
    return {"y_true": y_true * 3, "y_pred": y_pred * 3, "groups": groups}


def fair_scores(rng):
    given = fair(rng)
    del given["y_pred"]
    return given | {"y_score": (rng.integers(0, 21, 10) / 20).tolist() * 3}


def by_group(y_true, other, groups, positive):
    for name in dict.fromkeys(groups):
        rows = zip(y_true, other, groups, strict=True)
        yield [(t == positive, x) for t, x, g in rows if g == name]


def share(flags):
    return sum(flags) / len(flags) if flags else NAN


def rates(y_true, y_pred, groups, positive):
    """True and false positive rate of each group."""
    for rows in by_group(y_true, y_pred, groups, positive):
        yield (
            share([p == positive for t, p in rows if t]),
            share([p == positive for t, p in rows if not t]),
        )


def largest(values, distance):
    if any(math.isnan(x) for value in values for x in value):
        return NAN
    return max(distance(a, b) for a, b in combinations(values, 2))


def equalized(y_true, y_pred, groups, positive):
    found = list(rates(y_true, y_pred, groups, positive))
    return largest(found, lambda a, b: max(abs(a[0] - b[0]), abs(a[1] - b[1])))


def opportunity(y_true, y_pred, groups, positive):
    found = [row[:1] for row in rates(y_true, y_pred, groups, positive)]
    return largest(found, lambda a, b: abs(a[0] - b[0]))


def average(y_true, y_pred, groups, positive):
    found = list(rates(y_true, y_pred, groups, positive))
    return largest(found, lambda a, b: abs((a[0] - b[0]) + (a[1] - b[1])) / 2)


def calibration(y_true, y_score, groups, positive, bins):
    errors = []
    for rows in by_group(y_true, y_score, groups, positive):
        total = 0.0
        for b in range(bins):
            own = [(t, s) for t, s in rows if min(int(s * bins), bins - 1) == b]
            if own:
                gap = sum(t for t, _ in own) / len(own) - sum(s for _, s in own) / len(own)
                total += len(own) / len(rows) * abs(gap)
        errors.append((total,))
    return largest(errors, lambda a, b: abs(a[0] - b[0]))


def brier(y_true, y_score, groups, positive):
    found = [
        (sum((s - t) ** 2 for t, s in rows) / len(rows),)
        for rows in by_group(y_true, y_score, groups, positive)
    ]
    return largest(found, lambda a, b: abs(a[0] - b[0]))


def area(y_true, y_score, groups, positive):
    found = []
    for rows in by_group(y_true, y_score, groups, positive):
        pairs = [(s, r) for t, s in rows if t for u, r in rows if not u]
        wins = [1.0 if s > r else 0.5 if s == r else 0.0 for s, r in pairs]
        found.append((share(wins),))
    return largest(found, lambda a, b: abs(a[0] - b[0]))


def case(expected, drawn=draw, fairly=fair, column="y_pred"):
    columns = ("y_true", column, "groups")
    return Case(draw=drawn, expected=expected, rows=columns, numbers=columns, fair=fairly)


CASES = {
    "average_odds_difference": case(average),
    "brier_score_difference": case(brier, draw_scores, fair_scores, "y_score"),
    "calibration_gap": case(calibration, draw_binned, fair_scores, "y_score"),
    "equal_opportunity_difference": case(opportunity),
    "equalized_odds_difference": case(equalized),
    "roc_auc_difference": case(area, draw_scores, fair_scores, "y_score"),
}
