"""Rows that share templates, terms, names or fillers: they are no independent draws."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from attacks import Attack

from pytest_llmfair import assert_metric
from pytest_llmfair.counterfactuals import Pairs, pairs_from_templates
from pytest_llmfair.responses import PairedResponses
from pytest_llmfair.stats import Interval
from pytest_llmfair.suites import get_suite
from pytest_llmfair.suites.design import Quantity
from pytest_llmfair.suites.kinds import KINDS
from pytest_llmfair.suites.questions import Asked, Question


@cache
def _pairs(templates: int, fillers: int) -> Pairs:
    texts = [f"In case {number} {{person}} works as {{a:job}}." for number in range(templates)]
    return pairs_from_templates(texts, fillers={"job": [f"job{i}" for i in range(fillers)]})


def _over_templates(
    rng: np.random.Generator, templates: int, fillers: int, share: float, alike: float
) -> Interval:
    """Share of pairs that change; a filler changes alike in all templates, as far as `alike`."""
    made = _pairs(templates, fillers)
    strength = 1.0 / alike - 1.0
    of_filler = rng.beta(share * strength, (1.0 - share) * strength, fillers)
    changed = rng.random(len(made)) < np.tile(of_filler, templates)
    answers = tuple(("1",) if each else ("0",) for each in changed)
    sides = answers, (("0",),) * len(made)
    return assert_metric(
        "weak_sentiment_parity",
        PairedResponses(tuple(made), *sides),
        0.999,
        scorer=lambda texts: [*map(float, texts)],
        mode="point",
    ).estimate.interval(0.95)


@cache
def _questions(suite: str, task: str, size: str) -> list[Question]:
    found = get_suite(suite)
    (chosen,) = (each for each in found.tasks if each.name == task)
    asked = KINDS[chosen.kind].questions(found, chosen, found.size(size))
    return [each for each in asked if each.wording == 0]


def _names(
    rng: np.random.Generator, spread: float, shift: float = 0.0, metric: str = "rabbi"
) -> Interval:
    """Judge resumes whose first names have effects of their own, and one group a worse chance."""
    questions = _questions("resume", "pointwise", "standard")
    first = [each.about[2].partition(" ")[0] for each in questions]
    names, place = np.unique(first, return_inverse=True)
    score = rng.normal(0.0, spread, len(names))[place] + rng.normal(0.0, 1.0, len(first))
    score -= shift * np.array([each.about[1] == "black female" for each in questions])
    yes = 1.0 / (1.0 + np.exp(-score))
    asked = [
        Asked(each, probabilities=(p, 1.0 - p))
        for each, p in zip(questions, yes.tolist(), strict=True)
    ]
    suite = get_suite("resume")
    made = KINDS["candidates"].measure(suite, Quantity(metric, metric), asked)
    return made.interval(0.95)


def _terms(
    rng: np.random.Generator,
    metric: str,
    spread: float,
    shift: float = 0.0,
    task: str = "names",
    size: str = "standard",
) -> tuple[Interval, tuple[str, ...]]:
    """Classify sentences whose terms have effects of their own, alike in all groups on average."""
    questions = _questions("classifier", task, size)
    templates, of_template = np.unique([each.about[0] for each in questions], return_inverse=True)
    terms, of_term = np.unique([each.about[2:] for each in questions], axis=0, return_inverse=True)
    likely = 0.5 + rng.normal(0.0, spread, len(terms))[of_term.ravel()]
    likely += rng.normal(0.0, 0.1, len(templates))[of_template]
    likely += rng.normal(0.0, 0.1, len(questions))
    likely -= shift * np.array([each.about[2] == "female" for each in questions])
    asked = []
    for each, p in zip(questions, np.clip(likely, 0.01, 0.99).tolist(), strict=True):
        rest = (1.0 - p) / (len(each.words) - 1)
        row = tuple(p if word == "positive" else rest for word in each.words)
        asked.append(Asked(each, probabilities=row))
    suite = get_suite("classifier")
    quantity = Quantity(metric, metric, {"positive": "positive"})
    found = KINDS["sentences of a class"].measure(suite, quantity, asked)
    return found.interval(0.95), found.reasons


def _misses(*design: float) -> Callable[[np.random.Generator], bool]:
    return lambda rng: design[2] not in _over_templates(rng, *design)  # type: ignore[arg-type]


def _leaves_out_0(interval: Interval) -> bool:
    return not interval.lower <= 0.0 <= interval.upper


def _silent(interval: Interval, reasons: tuple[str, ...]) -> bool:
    return _leaves_out_0(interval) and "fixed_terms" not in reasons


ATTACKS = [
    Attack(
        "F", "4 templates x 50 fillers: interval misses the truth", 0.05, _misses(4, 50, 0.3, 0.3)
    ),
    Attack("F", "10 templates x 50: misses the truth", 0.05, _misses(10, 50, 0.3, 0.3), 200),
    Attack(
        "F", "4 templates x 50, fillers do not matter: misses", 0.05, _misses(4, 50, 0.3, 1e-4)
    ),
    Attack(
        "F",
        "4 templates x 50, fillers do not matter: .2 is below .3",
        0.8,
        lambda rng: _over_templates(rng, 4, 50, 0.2, 1e-4).upper < 0.3,
        at_least=True,
    ),
    Attack(
        "F",
        "4 templates x 50: .1 is below .25",
        0.8,
        lambda rng: _over_templates(rng, 4, 50, 0.1, 0.3).upper < 0.25,
        at_least=True,
    ),
    Attack(
        "F",
        "resumes, first names sd .5, no group differs: FAIL at .1",
        0.025,
        lambda rng: _names(rng, 0.5).lower > 0.1,
        runs=200,
    ),
    Attack(
        "F",
        "resumes, first names sd .5, average score gap: 0 is left out",
        0.05,
        lambda rng: _names(rng, 0.5, metric="average_score_gap").lower > 0.0,
        runs=200,
    ),
    Attack(
        "F",
        "resumes, first names sd .5, one group 1.5 lower: FAIL at .1",
        0.8,
        lambda rng: _names(rng, 0.5, 1.5).lower > 0.1,
        runs=100,
        at_least=True,
    ),
    Attack(
        "F",
        "resumes, names do not matter, one group .8 lower: FAIL at .1",
        0.8,
        lambda rng: _names(rng, 0.0, 0.8).lower > 0.1,
        runs=100,
        at_least=True,
    ),
    *(
        Attack(
            "F",
            f"classifier, 8 names a group, sd .2, {metric}: 0 is left out",
            0.05,
            lambda rng, metric=metric: _leaves_out_0(_terms(rng, metric, 0.2)[0]),
            runs=100,
        )
        for metric in ("pos_avg_eg", "avg_gf_tc", "fned_star")
    ),
    Attack(
        "F",
        "classifier, 8 names a group, sd .1, one group .4 lower, pos_avg_eg: 0 is left out",
        0.8,
        lambda rng: _leaves_out_0(_terms(rng, "pos_avg_eg", 0.1, 0.4)[0]),
        runs=100,
        at_least=True,
    ),
    Attack(
        "F",
        "classifier, two terms a group, sd .2: 0 is left out, and no word on the terms",
        0.0,
        lambda rng: _silent(*_terms(rng, "pos_avg_eg", 0.2, task="gender")),
        runs=40,
    ),
]
