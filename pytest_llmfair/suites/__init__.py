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

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "suites.design": ("Suite", "all_suites", "get_suite"),
            "suites.models": ("Comparison", "compare"),
            "suites.result": ("SuiteResult",),
            "suites.runner": ("run",),
        },
    )
