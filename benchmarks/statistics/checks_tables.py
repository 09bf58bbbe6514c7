"""Checks 31 to 36: metrics of scikit-learn by group, equalized odds and calibration by group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from _harness import Cell, Check, Ends, Limits, Line, Plan
from checks_smooth import cells, ends
from scipy import special
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from pytest_llmfair.metrics import (
    average_odds_difference,
    calibration_gap,
    equalized_odds_difference,
    group_metrics,
)

Table = dict[str, Any]
Draw = Callable[[np.random.Generator], Table]
METRICS = {"accuracy": accuracy_score, "f1": f1_score, "auc": roc_auc_score}
# A group of each size in every data set; clusters hold so many rows.
SIZES = (8, 30, 200, 5000)
ROWS_OF_UNIT = 4


def scored(sizes: Sequence[int], clustered: bool = False) -> Draw:
    """Scores with unit variance whose mean is 1.2 higher for positives; units share a shift."""

    def draw(rng: np.random.Generator) -> Table:
        groups = np.repeat(np.arange(len(sizes)), sizes)
        n = len(groups)
        units = np.arange(n)
        noise = rng.standard_normal(n)
        if clustered:
            units = np.concatenate([np.arange(size) // ROWS_OF_UNIT for size in sizes])
            units = units + 10_000 * groups
            shift = rng.standard_normal(int(units.max()) + 1)
            noise = np.sqrt(0.5) * (noise + shift[units])
        y_true = rng.integers(0, 2, n)
        score = 1.2 * y_true + noise
        return {
            "y_true": y_true,
            "y_pred": (score > 0.6).astype(int),
            "y_score": score,
            "groups": groups,
            "units": units.tolist(),
        }

    return draw


# A threshold halfway between the means: both rates and accuracy are the same share, and so is F1.
RIGHT = float(special.ndtr(0.6))


def truth(name: str, size: int, clustered: bool) -> float:
    """Mean of a metric in a group: rows of one unit share their shift, and are easier to order."""
    if name != "auc":
        return RIGHT
    together = (ROWS_OF_UNIT - 1.0) / (size - 1.0) if clustered else 0.0
    within, across = (float(special.ndtr(1.2 / np.sqrt(x))) for x in (1.0, 2.0))
    return together * within + (1.0 - together) * across


def in_group(name: str, group: int) -> Callable[[Table, np.random.Generator], Ends]:
    """Interval of a metric in a group."""

    def method(data: Table, _: np.random.Generator) -> Ends:
        table = group_metrics({name: METRICS[name]}, **data, bounds={name: (0.0, 1.0)})
        found = table.by_group[name][group]
        # A group without a class is undefined, and proves nothing.
        return (0.0, 1.0) if found.undefined is not None else ends(found)

    return method


def between(name: str) -> Callable[[Table, np.random.Generator], Ends]:
    """Interval of the difference of two groups of 40 and 200 rows."""

    def method(data: Table, _: np.random.Generator) -> Ends:
        table = group_metrics({name: METRICS[name]}, **data, bounds={name: (0.0, 1.0)})
        return ends(table.difference(name).groups[0, 1].estimate)

    return method


def group_cells(clustered: bool) -> list[Cell]:
    """One cell for each metric and size of group."""
    return [
        Cell(
            f"{name}, group of {size}",
            truth(name, size, clustered),
            scored((size, 20), clustered),
            in_group(name, 0),
            Limits((92.5, 100.0)),
            quick=10 if size < 1000 else 3,
        )
        for name in METRICS
        for size in SIZES
    ]


def labelled(sizes: Sequence[int], lower: float = 0.0) -> Draw:
    """Draw rates of 0.8 and 0.2 of right and wrong positives; the first of group 0 is `lower`."""

    def draw(rng: np.random.Generator) -> Table:
        groups = np.repeat(np.arange(len(sizes)), sizes)
        y_true = rng.integers(0, 2, len(groups))
        rate = np.where(y_true == 1, 0.8 - lower * (groups == 0), 0.2)
        return {
            "y_true": y_true,
            "y_pred": (rng.random(len(groups)) < rate).astype(int),
            "groups": groups,
        }

    return draw


def binned(sizes: Sequence[int], flat: Sequence[float]) -> Draw:
    """Uniform scores; the true share is 0.5 f + (1 - f) score, so a calibration error of f / 4."""

    def draw(rng: np.random.Generator) -> Table:
        groups = np.repeat(np.arange(len(sizes)), sizes)
        score = rng.random(len(groups))
        share = np.array(flat)[groups]
        chance = 0.5 * share + (1.0 - share) * score
        y_true = (rng.random(len(groups)) < chance).astype(int)
        return {"y_true": y_true, "y_score": score, "groups": groups}

    return draw


def of(metric: Callable[..., Any]) -> Callable[[Table, np.random.Generator], Ends]:
    """Interval of a metric, which has to be defined."""
    return lambda data, _: ends(metric(**data))


FALSE_ALARM = Limits(false_fail=3.5)


def plain_gaps(plan: Plan) -> Iterable[Line]:
    """Show what the difference of plain calibration errors says of calibrated groups."""
    rng = np.random.default_rng(36)
    draw = binned((50, 2000), (0.0, 0.0))
    values = [calibration_gap(**draw(rng)) for _ in range(plan.repeats(200, smoke=20))]
    plain = float(np.mean([each.value for each in values]))
    ours = float(np.mean([each.debiased for each in values]))
    yield Line(
        f"calibrated groups of 50 and 2,000: plain gap {plain:.3f} on average, without the bias "
        f"of binning {ours:.3f}",
        ours < 0.5 * plain,
    )


CHECKS = [
    Check(31, "metrics of scikit-learn by group", cells(31, *group_cells(False))),
    Check(32, "the same, four rows a person", cells(32, *group_cells(True))),
    Check(
        33,
        "differences of metrics of scikit-learn, groups of 40 and 200",
        cells(
            33,
            *(
                Cell(
                    f"{name}{', four rows a person' if clustered else ''}",
                    0.0,
                    scored((40, 200), clustered),
                    between(name),
                    Limits((92.5, 100.0)),
                    quick=10,
                )
                for name in METRICS
                for clustered in (False, True)
            ),
        ),
    ),
    Check(
        34,
        "equalized and average odds",
        cells(
            34,
            *(
                Cell(f"equalized odds, {text}", gap, labelled(sizes, gap), of(metric), FALSE_ALARM)
                for text, sizes, gap, metric in (
                    ("equal, 100 and 100", (100, 100), 0.0, equalized_odds_difference),
                    ("equal, 40, 200 and 1000", (40, 200, 1000), 0.0, equalized_odds_difference),
                    ("0.1, 200 and 200", (200, 200), 0.1, equalized_odds_difference),
                )
            ),
            Cell(
                "average odds, equal, 40 and 200",
                0.0,
                labelled((40, 200)),
                of(average_odds_difference),
                # The interval is folded, so that it errs on one side only.
                Limits(false_fail=5.5),
            ),
            Cell(
                "average odds, 0.1, 40 and 200",
                0.1,
                labelled((40, 200), 0.2),
                of(average_odds_difference),
                Limits((93.0, 100.0)),
            ),
        ),
    ),
    Check(
        35,
        "calibration gap",
        cells(
            35,
            *(
                Cell(
                    text,
                    truth,
                    binned(sizes, flat),
                    of(calibration_gap),
                    Limits((93.0, 100.0), false_fail=3.5),
                    quick=10,
                )
                for text, truth, sizes, flat in (
                    ("calibrated, 50 and 1000", 0.0, (50, 1000), (0.0, 0.0)),
                    ("both 0.1 off, 200 and 1000", 0.0, (200, 1000), (0.4, 0.4)),
                    ("0.1 and 0, 300 and 1000", 0.1, (300, 1000), (0.4, 0.0)),
                )
            ),
        ),
    ),
    Check(36, "what plain calibration errors say of calibrated groups", plain_gaps),
]
