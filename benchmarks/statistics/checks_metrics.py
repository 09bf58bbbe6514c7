"""Check 30: kinds of estimate that single metrics need, through the metrics themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from _harness import Cell, Check, Ends, Limits
from checks_smooth import cells, ends

from pytest_llmfair import metrics

Rng = np.random.Generator
Arguments = dict[str, Any]


def measured(metric: str, **keywords: Any) -> Callable[[Arguments, Rng], Ends]:
    """Interval of a metric of drawn arguments."""
    function = getattr(metrics, metric)
    return lambda given, _: ends(function(**given, **keywords))


def maxima(prompts: int, generations: int, spread: float) -> Callable[[Rng], Arguments]:
    """Scores uniform between 0 and a reach per prompt, which is drawn from 1 - `spread` to 1."""

    def draw(rng: Rng) -> Arguments:
        reach = 1.0 - spread * rng.random((prompts, 1))
        return {"scores": reach * rng.random((prompts, generations))}

    return draw


def classified(
    people: int, recall: tuple[float, ...], false_alarm: float = 0.2
) -> Callable[[Rng], Arguments]:
    """Half of the people of each group positive, found with the recall of their group."""

    def draw(rng: Rng) -> Arguments:
        groups = np.repeat(np.arange(len(recall)), people)
        y_true = np.tile(np.arange(people) % 2, len(recall))
        found = np.where(y_true == 1, np.repeat(recall, people), false_alarm)
        y_pred = (rng.random(len(groups)) < found).astype(int)
        return {"y_true": y_true, "y_pred": y_pred, "groups": groups}

    return draw


def f1(recall: float, false_alarm: float = 0.2) -> float:
    """F1 of half positives."""
    return 2.0 * recall / (recall + false_alarm + 1.0)


def occupations(shares: np.ndarray[Any, Any], kept: int) -> Callable[[Rng], Arguments]:
    """Draw how many generations of each occupation are male."""
    trials = np.full(len(shares), kept)
    return lambda rng: {"male_counts": rng.binomial(trials, shares), "kept_counts": trials}


def word_texts(texts: int, lean: float) -> Callable[[Rng], Arguments]:
    """Short texts of one group and one of four words; two words lean each way by `lean`."""
    words = ["kind", "brave", "calm", "loud"]
    female = np.array([0.5 + lean, 0.5 + lean, 0.5 - lean, 0.5 - lean])

    def draw(rng: Rng) -> Arguments:
        word = rng.integers(0, 4, texts)
        she = rng.random(texts) < female[word]
        said = [f"{'she' if s else 'he'} {words[w]}" for s, w in zip(she, word, strict=True)]
        groups = {"female": ["she"], "male": ["he"]}
        return {"responses": said, "group_words": groups, "target_words": words}

    return draw


def scored(people: int, shift: float) -> Callable[[Rng], Arguments]:
    """Probabilities of two groups, the second shifted."""

    def draw(rng: Rng) -> Arguments:
        first, second = rng.beta(2, 3, people), np.clip(rng.beta(2, 3, people) + shift, 0, 1)
        return {
            "y_prob": np.concatenate([first, second]),
            "groups": ["a"] * people + ["b"] * people,
        }

    return draw


def _cells() -> Iterable[Cell]:
    wide = Limits((93.5, 100.0), 4.0, 4.0)
    # The largest of m uniform numbers has the mean m / (m + 1).
    yield Cell(
        "expected maximum of 5, 60 prompts",
        5.0 / 6.0 * 0.75,
        maxima(60, 5, 0.5),
        measured("expected_maximum_toxicity"),
        Limits((93.5, 97.5), 4.0, 4.0),
    )
    yield Cell(
        "expected maximum of 5, 60 fixed prompts",
        5.0 / 6.0,
        maxima(60, 5, 0.0),
        measured("expected_maximum_toxicity", population="fixed"),
        wide,
        most=500,
    )
    yield Cell(
        "largest ratio of false negatives, 3 groups x 200",
        0.4 / 0.2,
        classified(400, (0.6, 0.7, 0.8)),
        measured("false_negative_rate_ratio"),
        wide,
    )
    yield Cell(
        "FPED of 4 equal groups x 100",
        0.0,
        classified(200, (0.7,) * 4),
        measured("fped_star"),
        Limits((93.5, 100.0), 4.0, 6.0),
        most=400,
    )
    yield Cell(
        "F1 difference, 100 a group",
        f1(0.9) - f1(0.6),
        classified(100, (0.9, 0.6)),
        measured("f1_difference"),
        Limits((93.0, 97.5), 4.5, 4.5),
    )
    shares = np.linspace(0.2, 0.9, 40)
    yield Cell(
        "skew of 40 occupations x 30",
        float(2.0 * shares.mean() - 1.0),
        occupations(shares, 30),
        measured("ruted_skew"),
        wide,
    )
    one_sided = np.array([0.02] * 10 + [0.98] * 10)
    yield Cell(
        "skew of 20 one-sided occupations x 10",
        0.0,
        occupations(one_sided, 10),
        measured("ruted_skew"),
        wide,
    )
    for lean in (0.0, 0.2):
        yield Cell(
            f"COBS magnitude of 4 words, 300 texts, lean {lean:g}",
            float(np.log((0.5 + lean) / (0.5 - lean))),
            word_texts(300, lean),
            measured("cooccurrence_bias_score", magnitude=True),
            Limits((93.5, 100.0), 4.0, 6.0 if lean == 0.0 else 4.0),
            most=300,
        )
    yield Cell(
        "comparison of means by a function of one's own, 60 a group",
        0.1,
        scored(60, 0.1),
        measured("pairwise_comparison", phi=lambda rows: rows.mean(), d=lambda x, y: abs(x - y)),
        Limits((93.0, 100.0), 4.5, 4.5),
        most=200,
    )


CHECKS = [Check(30, "kinds that single metrics need", cells(30, *_cells()))]
