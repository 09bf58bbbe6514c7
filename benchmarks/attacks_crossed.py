"""Rows that share templates, terms, names or fillers: units that are no independent draws."""

from __future__ import annotations

from functools import cache

import numpy as np

from pytest_llmfair import assert_metric
from pytest_llmfair.counterfactuals import Pairs, pairs_from_templates
from pytest_llmfair.judging.result import FairnessAssertionError, Result
from pytest_llmfair.responses import PairedResponses

_BOUND = 0.1


@cache
def _pairs(templates: int, fillers: int) -> Pairs:
    texts = [f"In case {number} {{person}} works as {{a:job}}." for number in range(templates)]
    return pairs_from_templates(texts, fillers={"job": [f"job{i}" for i in range(fillers)]})


def _templates(
    rng: np.random.Generator, templates: int, fillers: int, gap: float, shared: float
) -> Result:
    """Judge scores of women and men; a filler has a gap of its own, the same in all templates."""
    made = _pairs(templates, fillers)
    places = np.tile(np.arange(fillers), templates)
    own = rng.normal(gap, shared, fillers)[places]
    women, men = (0.5 + side * own / 2 + rng.normal(0.0, 0.05, len(made)) for side in (1, -1))
    texts = [tuple((f"{x:.6f}",) for x in np.clip(each, 0.0, 1.0)) for each in (women, men)]
    try:
        return assert_metric(
            "paired_score_gap" if False else "weak_sentiment_parity",
            PairedResponses(tuple(made), *texts),
            _BOUND,
            scorer=lambda rows: [float(text) for text in rows],
        )
    except FairnessAssertionError as error:
        return error.result
