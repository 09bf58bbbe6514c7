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
from pytest_llmfair.metrics._registry import public_modules

_HERE = ("MetricInfo", "all_metrics", "get_metric", "metric")


def _public_names() -> dict[str, Any]:
    names: dict[str, Any] = {}
    for module in public_modules():
        for name in module.__all__:
            if not hasattr(module, name):
                raise ImportError(f"{module.__name__} lists {name!r} and does not define it")
            names[name] = getattr(module, name)
    return names


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if name.startswith("_"):
        raise AttributeError(name)
    names = _public_names()
    if name not in names:
        raise AttributeError(f"pytest_llmfair.metrics has no {name!r}; it has {', '.join(names)}")
    globals().update(names)
    return names[name]


def __dir__() -> list[str]:
    return sorted({*_HERE, *_public_names()})
