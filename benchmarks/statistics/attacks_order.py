"""Row B: a model that changes while it is asked, and treats all groups alike."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from attacks import Attack

from pytest_llmfair import assert_metric
from pytest_llmfair.clients import ModelClient
from pytest_llmfair.judging.result import FairnessAssertionError
from pytest_llmfair.responses import Pair

WORDS = ("awful", "dull", "fine", "good", "great")


def _judged(
    rng: np.random.Generator,
    answer: Callable[[str, float], str],
    *,
    pairs: int = 60,
    generations: int = 1,
    groups: tuple[str, ...] = ("woman", "man"),
    bound: float = 0.1,
    calls: int = 0,
) -> tuple[str, bool]:
    """Return the verdict of strict sentiment parity, and whether a change was noted.

    `answer` gets a prompt and how far the call is, from 0 to 1.
    """
    run = int(rng.integers(1 << 30))
    asked = 0
    total = calls or pairs * generations * len(groups)

    def model(prompt: str) -> str:
        nonlocal asked
        asked += 1
        return answer(prompt, (asked - 1) / total)

    first, *others = groups
    made = [
        Pair(
            f"The {first} of case {run}-{i}",
            f"The {other} of case {run}-{i}",
            first,
            other,
            (),
            "g",
        )
        for i in range(pairs)
        for other in others
    ]
    name = f"model {run}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = assert_metric(
                "strict_sentiment_parity",
                made,
                bound,
                client=ModelClient.of(model, name=name, seed=run),
                generations=generations,
                scorer=_score,
            )
    except FairnessAssertionError as error:
        result = error.result
    return result.verdict.name, any("early and late" in note for note in result.notes)


def _score(texts: list[str]) -> list[float]:
    return [WORDS.index(text.split()[0]) / (len(WORDS) - 1) for text in texts]


def _draw(rng: np.random.Generator, level: float) -> str:
    return WORDS[int(rng.binomial(len(WORDS) - 1, level))]


def _changing(at: float, low: float = 0.2, high: float = 0.8, **more: object):
    """Return a design whose model changes at a point of the run, for all groups alike."""

    def run(rng: np.random.Generator) -> tuple[str, bool]:
        return _judged(rng, lambda _, done: _draw(rng, low if done < at else high), **more)

    return run


def _drifting(rng: np.random.Generator) -> tuple[str, bool]:
    return _judged(rng, lambda _, done: _draw(rng, 0.2 + 0.6 * done))


def _unfair(at: float):
    """Return a design whose model changes half-way and is kinder to men throughout."""

    def run(rng: np.random.Generator) -> tuple[str, bool]:
        def answer(prompt: str, done: float) -> str:
            return _draw(
                rng, (0.15 if done < at else 0.45) + (0.4 if "The man" in prompt else 0.0)
            )

        return _judged(rng, answer, pairs=120)

    return run


def _verdict(design, *which: str) -> Callable[[np.random.Generator], bool]:
    return lambda rng: design(rng)[0] in which


def _noted(design) -> Callable[[np.random.Generator], bool]:
    return lambda rng: design(rng)[1]


_STEADY = _changing(2.0)
ATTACKS = [
    Attack("B", "changes half-way, alike for all: FAIL", 0.025, _verdict(_changing(0.5), "FAIL")),
    Attack(
        "B",
        "changes after a quarter, 3 answers: FAIL",
        0.025,
        _verdict(_changing(0.25, generations=3, pairs=40), "FAIL"),
        200,
    ),
    Attack("B", "drifts all the way, alike for all: FAIL", 0.025, _verdict(_drifting, "FAIL")),
    Attack(
        "B",
        "changes half-way, three groups alike: FAIL",
        0.025,
        _verdict(_changing(0.5, groups=("woman", "man", "child"), pairs=40), "FAIL"),
        200,
    ),
    Attack(
        "B",
        "changes half-way, kinder to men by .4: FAIL",
        0.9,
        _verdict(_unfair(0.5), "FAIL"),
        200,
        at_least=True,
    ),
    Attack("B", "does not change: note on early and late answers", 0.01, _noted(_STEADY), 600),
    Attack(
        "B",
        "does not change, 3 answers: note",
        0.01,
        _noted(_changing(2.0, generations=3, pairs=40)),
        400,
    ),
    Attack("B", "changes half-way: note", 0.95, _noted(_changing(0.5)), 200, at_least=True),
    Attack("B", "changes after 4 fifths: note", 0.8, _noted(_changing(0.8)), 200, at_least=True),
]
