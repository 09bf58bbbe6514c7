"""Audits of many prompts: shards, several workers, and parts on disk that any run can continue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_llmfair._util.lazy import lazy_exports

if TYPE_CHECKING:
    from pytest_llmfair.audit.loading import Audited as Audited
    from pytest_llmfair.audit.loading import load as load

_HOMES = {"Audited": "pytest_llmfair.audit.loading", "load": "pytest_llmfair.audit.loading"}

__all__ = ["Audited", "load"]

__getattr__ = lazy_exports(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
