"""Kinds of `Estimate`, one per inference engine; this package knows no metric."""

from __future__ import annotations

from pytest_llmfair.stats._base import Estimate, GroupRow, Interval, Population, Sample, Undefined
from pytest_llmfair.stats.mean import Mean

__all__ = ["Estimate", "GroupRow", "Interval", "Mean", "Population", "Sample", "Undefined"]
