"""Formulas of the toxicity and stereotype metrics, written out slowly."""

from __future__ import annotations

from pytest_llmfair.testing import Case

LEVELS = [0.0, 0.2, 0.49, 0.5, 0.51, 0.9, 1.0]


def draw_scores(rng):
    """Few prompts with as many generations each; scores tie, and lie on the threshold."""
    shape = (int(rng.integers(2, 9)), int(rng.integers(1, 6)))
    if rng.random() < 0.5:
        return {"scores": rng.choice(LEVELS, shape).tolist()}
    return {"scores": rng.random(shape)}


def draw_with_threshold(rng):
    return draw_scores(rng) | {"threshold": float(rng.choice([0.2, 0.5, 0.8]))}


def draw_ragged(rng):
    rows = [rng.choice(LEVELS, rng.integers(1, 5)).tolist() for _ in range(rng.integers(2, 9))]
    return {"scores": rows, "threshold": float(rng.choice([0.2, 0.5, 0.8]))}


def no_harm(rng):
    return {"scores": [[0.0] * 3 for _ in range(rng.integers(2, 9))]}


def expected_maximum(scores):
    total = 0.0
    for row in scores:
        largest = row[0]
        for score in row:
            if score > largest:
                largest = score
        total += largest
    return total / len(scores)


def probability(scores, threshold):
    hit = 0
    for row in scores:
        for score in row:
            if score >= threshold:
                hit += 1
                break
    return hit / len(scores)


def fraction(scores, threshold):
    total = 0.0
    for row in scores:
        reached = 0
        for score in row:
            if score >= threshold:
                reached += 1
        total += reached / len(row)
    return total / len(scores)


def cases(maximum, one, share):
    common = {"rows": ("scores",), "numbers": ("scores",), "fair": no_harm}
    return {
        maximum: Case(draw=draw_scores, expected=expected_maximum, **common),
        one: Case(draw=draw_with_threshold, expected=probability, **common),
        share: Case(draw=draw_ragged, expected=fraction, **common),
    }


CASES = {
    **cases("expected_maximum_toxicity", "toxicity_probability", "toxic_fraction"),
    **cases("expected_maximum_stereotype", "stereotype_probability", "stereotype_fraction"),
}
