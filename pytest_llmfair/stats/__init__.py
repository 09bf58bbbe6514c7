"""Kinds of `Estimate`, one per inference engine; this package knows no metric."""

from __future__ import annotations

from pytest_llmfair.stats._base import Estimate, NoRepeats, Undefined
from pytest_llmfair.stats._records import GroupRow, Interval, Population, Sample, Table
from pytest_llmfair.stats.betting import BettingMean
from pytest_llmfair.stats.binomial import Lean
from pytest_llmfair.stats.changed_share import ChangedShare
from pytest_llmfair.stats.difference import Difference
from pytest_llmfair.stats.fairpair_ratio import FairPairRatio
from pytest_llmfair.stats.group_gaps import Against, distribution_gaps, rate_gaps
from pytest_llmfair.stats.log_ratio import LogRatio, Magnitude, OneSided
from pytest_llmfair.stats.maxima import Maxima
from pytest_llmfair.stats.mean import Mean
from pytest_llmfair.stats.mean_difference import MeanDifference
from pytest_llmfair.stats.multiplicity import holm
from pytest_llmfair.stats.range import Range, WorstDistance
from pytest_llmfair.stats.rank_biserial import RankBiserial
from pytest_llmfair.stats.rate_difference import RateDifference
from pytest_llmfair.stats.rate_ratio import RateRatio
from pytest_llmfair.stats.ratio_range import RatioRange
from pytest_llmfair.stats.scaled import Scaled
from pytest_llmfair.stats.seminorm import Seminorm
from pytest_llmfair.stats.spending import Spending
from pytest_llmfair.stats.spread import Spread
from pytest_llmfair.stats.user_function import AnyDistance, Smooth
from pytest_llmfair.stats.worst_groups import WorstGroups

__all__ = [
    "Against",
    "AnyDistance",
    "BettingMean",
    "ChangedShare",
    "Difference",
    "Estimate",
    "FairPairRatio",
    "GroupRow",
    "Interval",
    "Lean",
    "LogRatio",
    "Magnitude",
    "Maxima",
    "Mean",
    "MeanDifference",
    "NoRepeats",
    "OneSided",
    "Population",
    "Range",
    "RankBiserial",
    "RateDifference",
    "RateRatio",
    "RatioRange",
    "Sample",
    "Scaled",
    "Seminorm",
    "Smooth",
    "Spending",
    "Spread",
    "Table",
    "Undefined",
    "WorstDistance",
    "WorstGroups",
    "distribution_gaps",
    "holm",
    "rate_gaps",
]
