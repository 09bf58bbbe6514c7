"""Cases of the shared tests: RUTEd."""

from __future__ import annotations

import math

from pytest_llmfair.testing import Case


def draw_counts(rng):
    """Counts of up to seven occupations, one-sided ones included; now and then nothing is kept."""
    least = 0 if rng.random() < 0.1 else 2
    kept = [int(n) for n in rng.choice([least, 2, 3, 10, 30, 31], rng.integers(1, 8))]
    male = [int(rng.binomial(n, rng.choice([0.0, 0.3, 0.5, 1.0]))) for n in kept]
    return {
        "male_counts": male,
        "kept_counts": kept,
        "total_counts": [n + int(rng.integers(0, 3)) for n in kept],
        "population": str(rng.choice(["fixed", "sampled"])),
    }


def draw_with_majority(rng):
    given = draw_counts(rng)
    majority = [str(x) for x in rng.choice(["male", "female"], len(given["male_counts"]))]
    return given | {"majority": majority}


def even(rng):
    """As many male as female generations in every occupation."""
    half = [int(n) for n in rng.integers(1, 20, rng.integers(1, 8))]
    return {"male_counts": half, "kept_counts": [2 * n for n in half]}


def even_with_majority(rng):
    given = even(rng)
    return given | {"majority": ["female"] * len(given["male_counts"])}


def mean_lean(male_counts, kept_counts, lean):
    if 0 in kept_counts:
        return math.nan
    total = 0.0
    for i, (male, kept) in enumerate(zip(male_counts, kept_counts, strict=True)):
        p_male = male / kept
        p_female = (kept - male) / kept
        total += lean(i, p_male - p_female)
    return total / len(kept_counts)


def neutrality(male_counts, kept_counts, **_):
    return mean_lean(male_counts, kept_counts, lambda i, lean: abs(lean))


def skew(male_counts, kept_counts, **_):
    return mean_lean(male_counts, kept_counts, lambda i, lean: lean)


def stereotype(male_counts, kept_counts, majority, **_):
    return mean_lean(
        male_counts, kept_counts, lambda i, lean: lean if majority[i] == "male" else -lean
    )


def draw_sentences(rng):
    """Probabilities of the right answer, or of it and of the other one; 0 for both is rare."""
    pairs = int(rng.integers(1, 12))
    names = ("p_stereotypical", "p_antistereotypical")
    if rng.random() < 0.5:
        return {name: rng.choice([0.0, 0.25, 1.0, rng.random()], pairs).tolist() for name in names}
    least = 0.0 if rng.random() < 0.3 else 0.1
    return {name: rng.choice([least, 0.25, 0.6], (pairs, 2)).tolist() for name in names}


def sentences(p_stereotypical, p_antistereotypical):
    total = 0.0
    for pro, anti in zip(p_stereotypical, p_antistereotypical, strict=True):
        right = []
        for p in (pro, anti):
            if not isinstance(p, list):
                right.append(p)
            elif p[0] + p[1] == 0.0:
                return math.nan
            else:
                right.append(p[0] / (p[0] + p[1]))
        total += right[0] - right[1]
    return total / len(p_stereotypical)


def same_sentences(rng):
    p = rng.random(5).tolist()
    return {"p_stereotypical": p, "p_antistereotypical": p}


COUNTS = ("male_counts", "kept_counts", "total_counts")
SENTENCES = ("p_stereotypical", "p_antistereotypical")

CASES = {
    "ruted_neutrality": Case(
        draw=draw_counts, expected=neutrality, rows=COUNTS, fair=even, numbers=COUNTS
    ),
    "ruted_skew": Case(draw=draw_counts, expected=skew, rows=COUNTS, fair=even, numbers=COUNTS),
    "ruted_stereotype": Case(
        draw=draw_with_majority,
        expected=stereotype,
        rows=(*COUNTS, "majority"),
        fair=even_with_majority,
        numbers=COUNTS,
    ),
    "trick_stereotype": Case(
        draw=draw_sentences,
        expected=sentences,
        rows=SENTENCES,
        fair=same_sentences,
        numbers=SENTENCES,
    ),
}
