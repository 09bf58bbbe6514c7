"""Designs of papers as ready-made suites: data in YAML, and one runner for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_llmfair._util.lazy import lazy_exports

if TYPE_CHECKING:
    from pytest_llmfair.suites.design import Suite as Suite
    from pytest_llmfair.suites.design import all_suites as all_suites
    from pytest_llmfair.suites.design import get_suite as get_suite
    from pytest_llmfair.suites.models import Comparison as Comparison
    from pytest_llmfair.suites.models import compare as compare
    from pytest_llmfair.suites.result import SuiteResult as SuiteResult
    from pytest_llmfair.suites.runner import run as run

_HOMES = {
    "Comparison": "pytest_llmfair.suites.models",
    "Suite": "pytest_llmfair.suites.design",
    "SuiteResult": "pytest_llmfair.suites.result",
    "all_suites": "pytest_llmfair.suites.design",
    "compare": "pytest_llmfair.suites.models",
    "get_suite": "pytest_llmfair.suites.design",
    "run": "pytest_llmfair.suites.runner",
}

__all__ = ["Comparison", "Suite", "SuiteResult", "all_suites", "compare", "get_suite", "run"]

__getattr__ = lazy_exports(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
