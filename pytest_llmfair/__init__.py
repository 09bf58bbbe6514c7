"""Fairness tests for language models, with honest uncertainty. PYTEST_DONT_REWRITE.

Every public name loads at first use, so that pytest sessions without fairness tests pay nothing.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # "as" marks a name as public to type checkers.
    from pytest_llmfair import metrics as metrics
    from pytest_llmfair._util.keywords import UnknownName as UnknownName
    from pytest_llmfair._util.version import __version__ as __version__
    from pytest_llmfair.assertions import *  # noqa: F403
    from pytest_llmfair.fairness import Fairness as Fairness
    from pytest_llmfair.judging.result import BoundExceeded as BoundExceeded
    from pytest_llmfair.judging.result import FairnessAssertionError as FairnessAssertionError
    from pytest_llmfair.judging.result import Inconclusive as Inconclusive
    from pytest_llmfair.judging.result import InvalidEvidence as InvalidEvidence
    from pytest_llmfair.judging.result import Result as Result
    from pytest_llmfair.judging.result import Underpowered as Underpowered
    from pytest_llmfair.judging.result import Verdict as Verdict
    from pytest_llmfair.labels import LabelPlan as LabelPlan
    from pytest_llmfair.labels import label_plan as label_plan
    from pytest_llmfair.labels.model_judge import ModelJudge as ModelJudge
    from pytest_llmfair.metric_assertions import *  # noqa: F403
    from pytest_llmfair.replies import Reply as Reply
    from pytest_llmfair.responses import Missing as Missing
    from pytest_llmfair.responses import PairedResponses as PairedResponses
    from pytest_llmfair.responses import Responses as Responses
    from pytest_llmfair.stats import Estimate as Estimate
    from pytest_llmfair.stats import Interval as Interval
    from pytest_llmfair.text.turns import conversation as conversation

_HOMES = {
    "BoundExceeded": "judging.result",
    "Estimate": "stats",
    "Fairness": "fairness",
    "FairnessAssertionError": "judging.result",
    "Inconclusive": "judging.result",
    "Interval": "stats",
    "InvalidEvidence": "judging.result",
    "LabelPlan": "labels",
    "Missing": "responses",
    "ModelJudge": "labels.model_judge",
    "PairedResponses": "responses",
    "Reply": "replies",
    "Responses": "responses",
    "Result": "judging.result",
    "Underpowered": "judging.result",
    "UnknownName": "_util.keywords",
    "Verdict": "judging.result",
    "conversation": "text.turns",
    "__version__": "_util.version",
    "label_plan": "labels",
}


def __getattr__(name: str) -> Any:
    value: Any
    if name == "__all__":
        # Made at first use: most assertions are made from the list of metrics, written nowhere.
        assertions = importlib.import_module("pytest_llmfair.assertions")
        value = sorted({*_HOMES, "metrics", *dir(assertions)} - {"__version__"})
    elif name.startswith("assert_"):
        try:
            value = getattr(importlib.import_module("pytest_llmfair.assertions"), name)
        except AttributeError as error:
            # `from pytest_llmfair import ...` would put a text of its own in place of this one.
            if sys._getframe(1).f_code.co_name != "_handle_fromlist":
                raise
            raise ImportError(error) from None
    elif name in _HOMES:
        value = getattr(importlib.import_module(f"pytest_llmfair.{_HOMES[name]}"), name)
    elif name == "metrics":
        value = importlib.import_module("pytest_llmfair.metrics")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
