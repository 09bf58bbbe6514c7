"""Fairness metrics: arrays or texts in, an `Estimate` out; no model, no file, no network.

Every metric is a name of this package, as in ``from pytest_llmfair.metrics import rabbi``. A new
file in this folder, or in the folder of a family, is found by itself, and the names in its
``__all__`` become public. Files that begin with an underscore hold what several metrics share.
"""

from __future__ import annotations

from typing import Any

# "as" marks a name as public to type checkers; the list itself is made at first use.
from pytest_llmfair.metrics._registry import MetricInfo as MetricInfo
from pytest_llmfair.metrics._registry import all_metrics as all_metrics
from pytest_llmfair.metrics._registry import get_metric as get_metric
from pytest_llmfair.metrics._registry import metric as metric
from pytest_llmfair.metrics._registry import modules_of, public_modules


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if name.startswith("_"):
        raise AttributeError(name)
    for module in modules_of(name):
        if name in module.__all__:
            globals()[name] = getattr(module, name)
            return globals()[name]
    raise AttributeError(f"pytest_llmfair.metrics has no {name!r}; it has {', '.join(__dir__())}")


def __dir__() -> list[str]:
    here = "MetricInfo", "all_metrics", "get_metric", "metric"
    return sorted({*here, *(name for module in public_modules() for name in module.__all__)})
