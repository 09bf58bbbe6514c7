"""Designs against means: rare values, missing answers, early looks, excesses at the bound."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from attacks import Attack
from scipy.special import ndtr

from pytest_llmfair import (
    FairnessAssertionError,
    Responses,
    Result,
    Verdict,
    assert_expected_maximum_toxicity_within,
    assert_not_worse,
    assert_toxic_fraction_within,
)
from pytest_llmfair.judging.sequential import LOOKS
from pytest_llmfair.reports.record import adjust
from pytest_llmfair.responses import Missing
from pytest_llmfair.stats import Mean, MeanMaximum, Spending
from pytest_llmfair.stats.difference import PairedDifference

_ALPHA = 0.025
_FLOOR = 0.02


def _excess(rng: np.random.Generator, pairs: int, changed: float, size: float = 0.9) -> Mean:
    """Excess of pairs of which a share changes by `size`, over a small floor."""
    values = np.where(rng.random(pairs) < changed, size, 0.0) + rng.normal(0.0, 1e-6, pairs)
    reach = (-_FLOOR, 1.0 - _FLOOR)
    return Mean.of_values(values, bounds=(-1.0, 1.0), reach=reach)


def _rare_change_passes(pairs: int) -> Attack:
    return Attack(
        "A",
        f"3 % of {pairs} prompts change by .9: PASS of excess <= .02",
        _ALPHA,
        lambda rng: _excess(rng, pairs, 0.03).upper_bound(_ALPHA) <= 0.02,
    )


def _loss(rng: np.random.Generator, rows: int, size: float, share: float) -> PairedDifference:
    old = rng.beta(2.0, 2.0, rows) * 0.05 + (0.95 if size < 0.0 else 0.0)
    new = np.clip(old + np.where(rng.random(rows) < share, size, 0.0), 0.0, 1.0)
    new = np.clip(new + rng.normal(0.0, 1e-6, rows), 0.0, 1.0)
    return PairedDifference.between(Mean.of_values(new), Mean.of_values(old), folded=False)


def _rare_loss_passes(rows: int) -> Attack:
    return Attack(
        "A",
        f"second model loses .9 on 4 % of {rows} prompts: no loss above .02 proven",
        _ALPHA,
        lambda rng: _loss(rng, rows, -0.9, 0.04).lower_bound(_ALPHA) >= -0.02,
    )


def _rare_gain_fails(rng: np.random.Generator) -> bool:
    # Few gain .75, the others lose .022: on average nothing is lost beyond .02.
    old = np.full(40, 0.1)
    new = np.where(rng.random(40) < 0.03, 0.85, 0.0779) + rng.normal(0.0, 1e-6, 40)
    loss = PairedDifference.between(Mean.of_values(new), Mean.of_values(old), folded=False)
    return loss.upper_bound(_ALPHA) < -0.02


def _spikes_pass(rng: np.random.Generator) -> bool:
    scores = rng.beta(2.0, 40.0, (50, 5))
    scores = np.where(rng.random((50, 5)) < 0.0061, rng.beta(18.0, 2.0, (50, 5)), scores)
    return MeanMaximum.of_generations(scores).upper_bound(_ALPHA) <= 0.1


def _result(check: Callable[..., Result], *data: Any, **keywords: Any) -> Result:
    """Return the result of an assertion, also where it is red."""
    try:
        return check(*data, **keywords)
    except FairnessAssertionError as error:
        return error.result


def _is_bad(texts: list[str]) -> list[float]:
    return [float(text == "bad") for text in texts]


def _answers(
    rng: np.random.Generator, n: int, bad: float, refused_bad: float, refused: float = 0.0
) -> Responses:
    """Answers of which a share is bad; bad ones and all others may be refused."""
    toxic, lost = rng.random(n) < bad, rng.random(n)
    rows = [
        Missing("refused") if gone < (refused_bad if is_bad else refused) else said
        for is_bad, gone, said in zip(toxic, lost, np.where(toxic, "bad", "good"), strict=True)
    ]
    asked = tuple(f"prompt {i}" for i in range(n))
    return Responses(asked, tuple((row,) for row in rows), "model")


def _not_worse(
    rng: np.random.Generator, n: int, bad: float, refused_bad: float, refused: float = 0.0
) -> bool:
    """Whether a second model is green in a release, where the first has 4 % bad answers."""
    result = _result(
        assert_not_worse,
        "toxic_fraction",
        candidate=_answers(rng, n, bad, refused_bad, refused),
        baseline=_answers(rng, n, 0.04, refused, refused),
        margin=0.04,
        scorer=_is_bad,
        mode="strict",
    )
    return not result.red


def _toxicity(rng: np.random.Generator, n: int, **shares: float) -> Verdict:
    """Verdict of the gate on the share of bad answers, with a bound of 8 %."""
    data = _answers(rng, n, **shares)
    return _result(assert_toxic_fraction_within, data, bound=0.08, scorer=_is_bad).verdict


def _looking(draw: Callable[[], float], n: int, bound: float) -> Result:
    """Look early at a model that answers with its own score."""
    return _result(
        assert_expected_maximum_toxicity_within,
        [f"prompt {i}" for i in range(n)],
        bound=bound,
        client=lambda prompt: f"{draw():.9f}",
        scorer=lambda texts: [float(text) for text in texts],
        generations=1,
        sequential="obf",
    )


def _mostly_high(rng: np.random.Generator) -> float:
    """Draw a score of .9 to 1, or 0 in 4 % of draws: .912 on average."""
    return 0.0 if rng.random() < 0.04 else rng.uniform(0.9, 1.0)


_SHARES = np.arange(1, LOOKS["obf"] + 1) / LOOKS["obf"]


@functools.cache
def _spent(looks: int) -> tuple[Spending, float]:
    """Return the state after some looks, and the nominal error rate of the last."""
    spending = Spending(_ALPHA)
    return spending, [spending.look(fraction) for fraction in _SHARES[:looks]][-1]


def _family(rng: np.random.Generator, shift: float) -> bool:
    """Whether Holm's correction finds any of 40 tests with looks whose drift is `shift`."""
    steps = rng.normal(shift * _SHARES[0], math.sqrt(_SHARES[0]), (40, _SHARES.size))
    nominal = ndtr(-steps.cumsum(axis=1) / np.sqrt(_SHARES))
    rates = [_spent(look)[1] for look in range(1, _SHARES.size + 1)]
    out = nominal < rates
    last = np.where(out.any(axis=1), out.argmax(axis=1), _SHARES.size - 1)
    records = [
        {
            "family": "session",
            "p_exceeds": row[look],
            "over_looks": (_spent(int(look) + 1)[0].p_value(row[look]), 0.95),
        }
        for row, look in zip(nominal, last, strict=True)
    ]
    adjust(records)
    return any(record["p_adjusted"] < _ALPHA for record in records)


def _binary_excess(
    rng: np.random.Generator, pairs: int, answers: int, a: float, b: float, changed: float = 1.0
) -> Mean:
    """Excess of yes/no answers with other rates of yes in a share of the pairs."""
    rates = np.where(rng.random(pairs) < changed, b, a)
    first, second = rng.binomial(answers, a, pairs), rng.binomial(answers, rates)
    other = answers - first, answers - second
    cross = (first * other[1] + second * other[0]) / answers**2
    within = (first * other[0] + second * other[1]) / (answers * (answers - 1))
    floor = float(within.mean())
    return Mean.of_values(cross - within, bounds=(-1.0, 1.0), reach=(-floor, 1.0 - floor))


ATTACKS = [
    *map(_rare_change_passes, (20, 40, 60, 100)),
    *map(_rare_loss_passes, (20, 40)),
    Attack(
        "A", "few gain much, the rest lose little: FAIL of a loss of .02", _ALPHA, _rare_gain_fails
    ),
    Attack("A", "rare toxic spikes, truth above the bound: PASS", _ALPHA, _spikes_pass),
    Attack(
        "A",
        "nothing changes in 100 prompts: PASS of excess <= .05",
        0.95,
        lambda rng: _excess(rng, 100, 0.0).upper_bound(_ALPHA) <= 0.05,
        at_least=True,
    ),
    Attack(
        "A",
        "10 % of 200 prompts change by .9: FAIL of excess <= .02",
        0.8,
        lambda rng: _excess(rng, 200, 0.1).lower_bound(_ALPHA) > 0.02,
        at_least=True,
    ),
    Attack(
        "D",
        "a model refuses half of its toxic answers (4 %): green as not worse in a release",
        _ALPHA,
        lambda rng: _not_worse(rng, 1_000, 0.0801, 0.5),
        runs=150,
    ),
    Attack(
        "D",
        "neither model is worse, 0.5 % refused at random: green as not worse in a release",
        0.8,
        lambda rng: _not_worse(rng, 1_000, 0.04, 0.005, 0.005),
        runs=100,
        at_least=True,
    ),
    Attack(
        "D",
        "half of the 8.01 % toxic answers refused: PASS of <= .08 at the gate",
        _ALPHA,
        lambda rng: _toxicity(rng, 1_000, bad=0.0801, refused_bad=0.5) is Verdict.PASS,
        runs=150,
    ),
    Attack(
        "D",
        "4 % toxic, 1 % refused at random: PASS of <= .08 at the gate",
        0.8,
        lambda rng: (
            _toxicity(rng, 1_000, bad=0.04, refused_bad=0.01, refused=0.01) is Verdict.PASS
        ),
        runs=100,
        at_least=True,
    ),
    Attack(
        "E",
        "early looks at 100 scores of .9 to 1 with 4 % zeros: FAIL at the bound",
        _ALPHA,
        lambda rng: _looking(lambda: _mostly_high(rng), 100, 0.912).verdict is Verdict.FAIL,
    ),
    Attack(
        "E",
        "early looks at 200 log-normal scores: PASS at the bound",
        # Very skewed scores hold a little less often than promised, which the guide says.
        0.05,
        lambda rng: (
            (
                _looking(
                    lambda: min(1.0, 0.02 * math.exp(rng.normal())), 200, 0.02 * math.exp(0.5)
                )
            ).verdict
            is Verdict.PASS
        ),
    ),
    Attack(
        "E",
        "early looks at 500 scores far below the bound: PASS before all are asked",
        0.9,
        lambda rng: (
            (found := _looking(lambda: rng.beta(2.0, 30.0), 500, 0.15)).verdict is Verdict.PASS
            and found.calls[0] < found.calls[1]
        ),
        runs=100,
        at_least=True,
    ),
    Attack(
        "E",
        "early looks at 200 scores far beyond the bound: FAIL",
        0.9,
        lambda rng: _looking(lambda: rng.beta(3.0, 3.0), 200, 0.4).verdict is Verdict.FAIL,
        runs=100,
        at_least=True,
    ),
    Attack(
        "E",
        "Holm over 40 tests with early looks, all at their bounds: any FAIL holds",
        _ALPHA,
        lambda rng: _family(rng, 0.0),
        runs=2_000,
    ),
    Attack(
        "E",
        "Holm over 40 tests with early looks, all 4 errors beyond: any FAIL holds",
        0.95,
        lambda rng: _family(rng, 4.0),
        at_least=True,
    ),
    *(
        Attack(
            "J",
            f"yes/no answers, {pairs} pairs x {answers}, excess at .05: PASS",
            # The excess is skewed, which is not wholly corrected, as the guide says.
            0.04,
            lambda rng, pairs=pairs, answers=answers, a=a, b=b, changed=changed: (
                _binary_excess(rng, pairs, answers, a, b, changed).upper_bound(_ALPHA) <= 0.05
            ),
            runs=2_000,
        )
        for pairs, answers, a, b, changed in (
            (40, 5, 0.1, 0.9, 0.05 / 0.64),
            (40, 2, 0.2 - 0.05**0.5 / 2.0, 0.2 + 0.05**0.5 / 2.0, 1.0),
            (100, 5, 0.5 - 0.05**0.5 / 2.0, 0.5 + 0.05**0.5 / 2.0, 1.0),
            (300, 5, 0.2 - 0.05**0.5 / 2.0, 0.2 + 0.05**0.5 / 2.0, 1.0),
        )
    ),
    Attack(
        "J",
        "yes/no answers alike, 300 pairs x 5: PASS of excess <= .05",
        0.8,
        lambda rng: _binary_excess(rng, 300, 5, 0.5, 0.5).upper_bound(_ALPHA) <= 0.05,
        at_least=True,
    ),
    Attack(
        "M",
        "2 % of 200 answers missing at random, 5 % allowed: INVALID",
        _ALPHA,
        lambda rng: _toxicity(rng, 200, bad=0.0, refused_bad=0.0, refused=0.02) is Verdict.INVALID,
        runs=200,
    ),
    Attack(
        "M",
        "10 % of 200 answers missing, 5 % allowed: INVALID",
        0.95,
        lambda rng: _toxicity(rng, 200, bad=0.0, refused_bad=0.0, refused=0.1) is Verdict.INVALID,
        runs=100,
        at_least=True,
    ),
]
