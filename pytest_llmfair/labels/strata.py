"""Strata of the judge's verdicts, labels that each needs, and answers drawn in each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from pytest_llmfair.labels.answers import Answers
from pytest_llmfair.settings import USUAL_LEVEL

# With fewer labels of a group there is no verdict.
FEWEST_OF_GROUP = 10
# Strata of a group, at most: more have too few labels each.
_MOST, _LABELS_EACH = 10, 10
# Guesses of the share of events where the judge says no, and yes, before anyone labels.
_NO, _YES = 0.10, 0.72
# A stratum has at least so many labels, if it has as many answers.
_LEAST = 5
# Level of the interval, and probability of a PASS, for which labels are planned.
_LEVEL, _POWER = USUAL_LEVEL, 0.8


class Cell(NamedTuple):
    """A stratum of a group, or of all pairs: its rows, twins together, and what is expected."""

    group: str
    stratum: str
    items: list[tuple[int, ...]]
    share: float
    # Share of events, and mean label, which for pairs is a difference.
    rate: float
    mean: float


def cells_of(answers: Answers, labels: int) -> list[Cell]:
    """Divide the answers into strata: the judge's levels, or two halves where labels are few."""
    names = answers.names
    items: dict[Any, list[int]] = {}
    for i, row in enumerate(answers.rows):
        items.setdefault(row.pair if answers.paired else i, []).append(i)
    if answers.paired:
        sides = [
            sorted(own, key=lambda i: names.index(answers.groups[i])) for own in items.values()
        ]
        said = [[answers.judge[i] for i in own] for own in sides]
        two = len(names) == 2
        values = np.array([row[0] - row[1] if two else max(row) - min(row) for row in said])
        groups, labels = [""] * len(sides), labels // len(names)
    else:
        sides, values = list(items.values()), np.array(answers.judge)
        groups = answers.groups
    every = list(dict.fromkeys(groups))
    most = min(_MOST, labels // (_LABELS_EACH * len(every)))
    levels = np.unique(values).tolist()
    twins = names if answers.paired else ()
    named = {x: _level(x, levels, twins) for x in levels} if len(levels) <= most else {}
    found: dict[tuple[str, str], Cell] = {}
    for group in every:
        places = [i for i, own in enumerate(groups) if own == group]
        middle = float(np.median(values[places]))
        for i, value in zip(places, values[places].tolist(), strict=True):
            name, rate = named.get(value, ("every verdict", 0.5 * (_NO + _YES)))
            if not named and most > 1:
                half, rate = ("lower", _NO) if value <= middle else ("upper", _YES)
                name = f"{half} half of the judge's verdicts"
            mean = math.copysign(rate, value) * bool(value) if answers.paired else rate
            cell = found.setdefault((group, name), Cell(group, name, [], 0.0, rate, mean))
            cell.items.append(tuple(sides[i]))
    cells = [c._replace(share=len(c.items) / groups.count(c.group)) for c in found.values()]
    return sorted(cells, key=lambda cell: (every.index(cell.group), cell.rate))


def _level(value: float, levels: list[float], twins: Sequence[str]) -> tuple[str, float]:
    """Name a verdict, or the difference of two, and guess the share of events."""
    if not twins:
        plain = set(levels) <= {0.0, 1.0}
        rank = value if plain else levels.index(value) / max(len(levels) - 1, 1)
        said = ("no", "yes")[int(value)] if plain else f"{value:g}"
        return f"judge says {said}", _NO + (_YES - _NO) * rank
    if value == 0.0:
        return "judge sees no difference", _NO
    by = "" if set(levels) <= {-1.0, 0.0, 1.0} else f" by {abs(value):g}"
    if len(twins) > 2:
        return f"judge sees a difference{by}", _YES
    return f"judge puts {twins[value < 0.0]} higher{by}", _YES


def draw(cell: Cell, number: int, answers: Answers, rng: np.random.Generator) -> list[int]:
    """Draw rows of a cell, each equally likely, from as many different prompts as there are."""
    # Every k-th of all rows, sorted by unit in random order.
    units = [answers.rows[item[0]].unit for item in cell.items]
    rank = dict(zip(dict.fromkeys(units), rng.random(len(units)), strict=False))
    ties = rng.random(len(units))
    order = sorted(range(len(units)), key=lambda i: (rank[units[i]], ties[i]))
    step = len(order) / max(number, 1)
    places = (step * (np.arange(number) + rng.random())).astype(int)
    return [row for place in places for row in cell.items[order[place]]]


def allocated(
    weights: ArrayLike, rates: ArrayLike, sizes: ArrayLike, total: int
) -> NDArray[np.intp]:
    """Divide labels over strata, of `sizes` answers, by weight times spread (Neyman 1934)."""
    most = np.asarray(sizes, np.intp)
    least = np.minimum(_LEAST, most)
    total = int(np.clip(total, least.sum(), most.sum()))
    q = np.clip(np.asarray(rates, float), 0.01, 0.99)
    strength = np.asarray(weights, float) * np.sqrt(q * (1.0 - q))
    low, high = 0.0, 2.0 * total / float(strength.min())
    for _ in range(100):
        middle = 0.5 * (low + high)
        enough = np.clip(middle * strength, least, most).sum() >= total
        low, high = (low, middle) if enough else (middle, high)
    exact = np.clip(high * strength, least, most)
    found = np.floor(exact + 1e-6).astype(np.intp)
    # Largest remainders; the earlier stratum where two are alike.
    order = np.argsort(-np.where(found < most, exact - found, -1.0), kind="stable")
    found[order[: max(total - int(found.sum()), 0)]] += 1
    return np.asarray(found, np.intp)


def labels_needed(
    weights: ArrayLike, rates: ArrayLike, sizes: ArrayLike, room: float, answers: float
) -> float:
    """Return the fewest labels with which a true gap of 0 passes the bound `room`, or infinity."""
    # `answers` is the squared error that is left if all answers are labelled.
    w, q, most = np.asarray(weights, float), np.asarray(rates, float), np.asarray(sizes, np.intp)
    end, beyond = float(ndtri(0.5 + _LEVEL / 2.0)), float(ndtri(0.5 + _POWER / 2.0))

    def enough(total: int) -> bool:
        n = allocated(w, q, most, total).astype(float)
        yes, no = n * q + 1.0, n * (1.0 - q) + 1.0
        shown = float(w**2 @ ((yes * no - n * q * (1.0 - q)) / (n + 2.0) ** 2 / n))
        true = float(w**2 @ (q * (1.0 - q) / n))
        return end * math.sqrt(shown + answers) + beyond * math.sqrt(true + answers) <= room

    low, high = int(np.minimum(_LEAST, most).sum()) - 1, int(most.sum())
    if not enough(high):
        return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
