"""Kinds of `Estimate`, one per inference engine; this package knows no metric."""

from __future__ import annotations

from pytest_llmfair.stats._base import Estimate, GroupRow, Interval, Population, Sample, Undefined
from pytest_llmfair.stats.betting import BettingMean
from pytest_llmfair.stats.log_ratio import LogRatio
from pytest_llmfair.stats.mean import Mean
from pytest_llmfair.stats.multiplicity import holm
from pytest_llmfair.stats.rank_biserial import RankBiserial
from pytest_llmfair.stats.rate_difference import RateDifference
from pytest_llmfair.stats.rate_ratio import RateRatio
from pytest_llmfair.stats.seminorm import Seminorm
from pytest_llmfair.stats.spending import Spending

__all__ = [
    "BettingMean",
    "Estimate",
    "GroupRow",
    "Interval",
    "LogRatio",
    "Mean",
    "Population",
    "RankBiserial",
    "RateDifference",
    "RateRatio",
    "Sample",
    "Seminorm",
    "Spending",
    "Undefined",
    "holm",
]
