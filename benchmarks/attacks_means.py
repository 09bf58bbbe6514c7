"""Designs against intervals of means: values so rare that the sample may not show one."""

from __future__ import annotations

import numpy as np
from attacks import Attack

from pytest_llmfair.stats import Mean, MeanMaximum
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
]
