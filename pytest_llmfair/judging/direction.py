"""How the answers to two groups differ in length and in sentiment, for the failure message."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.judging.people import people
from pytest_llmfair.responses import DigestedText

# More pairs would take time, and tell the reader the same.
_MOST_PAIRS = 500


def differences_between(inputs: MetricInputs) -> tuple[dict[str, Any], ...]:
    """Return in what the answers to two groups differ: the measure, and the mean of either group.

    `worse` is the group treated worse, where the measure tells: a shorter answer can be better.
    Only differences that are proven over the pairs are named: chance alone has no direction.
    """
    answered = sum(map(_both_answered, inputs.outputs))
    step = math.ceil(answered / _MOST_PAIRS) or 1
    rows = list(islice(filter(_both_answered, inputs.outputs), None, None, step))
    texts = [text for row in rows for side in row for text in side]
    digested = any(isinstance(text, DigestedText) for text in texts)
    if len(inputs.labels) != 2 or len(rows) < 2 or digested:
        return ()
    found = []
    means = _proven_means(rows, lambda text: len(text.split()))
    # A difference that rounds to nothing is no direction, however well it is proven.
    if means is not None and round(means[0]) != round(means[1]):
        found.append({"measure": "words", "means": _by_group(inputs, means), "worse": None})
    means = _proven_means(rows, _sentiment())
    if means is not None and round(abs(means[0] - means[1]), 2) > 0.0:
        worse = inputs.labels[means[0] > means[1]]
        found.append({"measure": "sentiment", "means": _by_group(inputs, means), "worse": worse})
    return tuple(found)


def rates_between(
    groups: Sequence[Mapping[str, Any]], favourable: str | None
) -> tuple[dict[str, Any], ...]:
    """Return how the rates of the groups differ, in the same form; the metric says what is worse.

    Groups whose rates are equal, or without rates, differ in nothing.
    """
    rates = {row["key"]: row["rate"] for row in groups if not math.isnan(row["rate"])}
    if len(set(rates.values())) < 2:
        return ()
    low, high = min(rates, key=rates.__getitem__), max(rates, key=rates.__getitem__)
    worse = {"high": low, "low": high}.get(favourable or "")
    return ({"measure": "rate", "means": {low: rates[low], high: rates[high]}, "worse": worse},)


def _both_answered(row: Sequence[Any]) -> bool:
    return len(row) == 2 and all(row)


def _by_group(inputs: MetricInputs, means: tuple[float, float]) -> dict[str, float]:
    return dict(zip(inputs.labels, means, strict=True))


def direction_in_words(differences: Sequence[Mapping[str, Any]], attribute: str) -> str:
    """Describe how the answers to two groups differ; empty where that is unknown."""
    parts = []
    groups: list[str] = []
    for each in differences:
        groups = list(each["means"])
        first, second = each["means"].values()
        if each["measure"] == "words":
            word = "longer" if first > second else "shorter"
            parts.append(f"are {word} ({first:.0f} against {second:.0f} words)")
        else:
            word = "higher" if first > second else "lower"
            parts.append(f"score {abs(first - second):.2f} {word} in sentiment")
    if not parts:
        return ""
    one, other = (people(attribute, group) for group in groups)
    return f"answers about {one} {' and '.join(parts)} than those about {other}"


def _proven_means(
    rows: Sequence[tuple[list[str], ...]], measure: Callable[[str], float]
) -> tuple[float, float] | None:
    """Return the mean of either side where the pairs prove that they differ."""
    from pytest_llmfair.stats import Mean

    sides = [
        [math.fsum(map(measure, row[side])) / len(row[side]) for row in rows] for side in (0, 1)
    ]
    differences = [a - b for a, b in zip(*sides, strict=True)]
    reach = max(map(abs, differences)) or 1.0
    ends = Mean.of_values(differences, bounds=(-reach, reach)).interval()
    if ends.lower <= 0.0 <= ends.upper:
        return None
    return math.fsum(sides[0]) / len(rows), math.fsum(sides[1]) / len(rows)


@functools.cache
def _sentiment() -> Callable[[str], float]:
    from pytest_llmfair.scorers import SentimentScorer, score

    scorer = SentimentScorer()
    return lambda text: float(score(scorer, [text])[0])
