"""Fairness tests for language models, with honest uncertainty. PYTEST_DONT_REWRITE.

Every public name loads at first use, so that pytest sessions without fairness tests pay nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_llmfair import metrics
    from pytest_llmfair.assertions import (
        assert_counterfactual_invariance,
        assert_metric,
        assert_not_worse,
        assert_within,
    )
    from pytest_llmfair.fairness import Fairness
    from pytest_llmfair.responses import Missing, PairedResponses, Responses
    from pytest_llmfair.results import (
        BoundExceeded,
        FairnessAssertionError,
        Inconclusive,
        InvalidEvidence,
        Result,
        Underpowered,
        Verdict,
    )
    from pytest_llmfair.stats import Estimate, Interval

__version__ = "0.1.0"

__all__ = [
    "BoundExceeded",
    "Estimate",
    "Fairness",
    "FairnessAssertionError",
    "Inconclusive",
    "Interval",
    "InvalidEvidence",
    "Missing",
    "PairedResponses",
    "Responses",
    "Result",
    "Underpowered",
    "Verdict",
    "assert_counterfactual_invariance",
    "assert_metric",
    "assert_not_worse",
    "assert_within",
    "metrics",
]

_HOMES = {
    "BoundExceeded": "results",
    "Estimate": "stats",
    "Fairness": "fairness",
    "FairnessAssertionError": "results",
    "Inconclusive": "results",
    "Interval": "stats",
    "InvalidEvidence": "results",
    "Missing": "responses",
    "PairedResponses": "responses",
    "Responses": "responses",
    "Result": "results",
    "Underpowered": "results",
    "Verdict": "results",
}


def __getattr__(name: str) -> Any:
    value: Any
    if name.startswith("assert_"):
        # Most assertions are made from the list of metrics, not written anywhere.
        value = getattr(importlib.import_module("pytest_llmfair.assertions"), name)
    elif name in _HOMES:
        value = getattr(importlib.import_module(f"pytest_llmfair.{_HOMES[name]}"), name)
    elif name == "metrics":
        value = importlib.import_module("pytest_llmfair.metrics")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    assertions = importlib.import_module("pytest_llmfair.assertions")
    return sorted({*globals(), *__all__, *dir(assertions)})
