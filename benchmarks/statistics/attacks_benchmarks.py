"""Questions of benchmarks that are made from few templates are no independent draws."""

from __future__ import annotations

from functools import partial

import numpy as np
from attacks import Attack

from pytest_llmfair.metrics import bbq_bias

# Per template, how often a question is answered and how often then by the stereotype.
_ANSWERED, _BIASED = (2.0, 2.0), (3.0, 1.5)
_TRUTH = {
    "ambiguous": 0.5 * (2.0 * 3.0 / 4.5 - 1.0),
    "disambiguated": 2.0 * 3.0 / 4.5 - 1.0,
}


def _misses(
    rng: np.random.Generator, context: str, templates: int, questions: int, clusters: bool
) -> bool:
    """Whether the interval of a bias score leaves out the truth for all possible templates."""
    answered = rng.beta(*_ANSWERED, templates)[:, None]
    biased = rng.beta(*_BIASED, templates)[:, None]
    shape = templates, questions
    sides = (rng.random(shape) < answered) * np.where(rng.random(shape) < biased, 1, -1)
    units = np.repeat(np.arange(templates), questions) if clusters else None
    found = bbq_bias(sides.ravel().tolist(), context=context, units=units).interval(0.95)
    return not found.lower <= _TRUTH[context] <= found.upper


ATTACKS = [
    *(
        Attack(
            "R",
            f"BBQ {context}, {templates} templates of {questions} questions: truth left out",
            0.05,
            partial(
                _misses, context=context, templates=templates, questions=questions, clusters=True
            ),
            runs=1000,
        )
        for context in _TRUTH
        for templates, questions in ((8, 4), (25, 12), (25, 60))
    ),
    Attack(
        "R",
        "the same with questions as units, which is why templates are: truth left out",
        0.3,
        partial(_misses, context="ambiguous", templates=25, questions=60, clusters=False),
        runs=1000,
        at_least=True,
    ),
]
