"""Kinds of `Estimate`, one per method of inference; nothing here depends on a metric."""

from __future__ import annotations

from pytest_llmfair.stats._base import Estimate, GroupRow, Table, Undefined
from pytest_llmfair.stats._clusters import weighted_rows
from pytest_llmfair.stats._records import (
    Call,
    Contributions,
    Finding,
    Interval,
    NoRepeats,
    Population,
    Sample,
)
from pytest_llmfair.stats._score_intervals import change_point
from pytest_llmfair.stats.binomial import BinomialSkew
from pytest_llmfair.stats.crossed import Crossed
from pytest_llmfair.stats.derived import IdealizedScore, RelativeDifference, Scaled
from pytest_llmfair.stats.difference import PairedDifference
from pytest_llmfair.stats.distance import Distance
from pytest_llmfair.stats.fairpair_ratio import FairPairRatio
from pytest_llmfair.stats.group_gaps import MaxDistance, Reference, distribution_gaps, rate_gaps
from pytest_llmfair.stats.group_values import BoundedJackknife, GroupValues
from pytest_llmfair.stats.joined import JoinedRatio, JoinedSum
from pytest_llmfair.stats.log_ratio import MeanAbsLogRatio, MeanLogRatio, ZeroCellLogRatio
from pytest_llmfair.stats.mean import Mean, MeanMaximum
from pytest_llmfair.stats.mean_difference import MeanDifference
from pytest_llmfair.stats.multiplicity import holm
from pytest_llmfair.stats.paired_auc import PairedAUC
from pytest_llmfair.stats.pairwise_max import MaxPairwiseDifference
from pytest_llmfair.stats.rank_biserial import RankBiserial
from pytest_llmfair.stats.rate_difference import RateDifference
from pytest_llmfair.stats.rate_ratio import MaxPairwiseRatio, RateRatio
from pytest_llmfair.stats.sequential import BettingMean, Spending
from pytest_llmfair.stats.user_function import JackknifeEstimate, MetricDistance
from pytest_llmfair.stats.worst_groups import WorstGroups

# Short names of three kinds.
LogRatio = MeanLogRatio
Range = MaxPairwiseDifference
Seminorm = Distance

__all__ = [
    "BettingMean",
    "BinomialSkew",
    "BoundedJackknife",
    "Call",
    "Contributions",
    "Crossed",
    "Distance",
    "Estimate",
    "FairPairRatio",
    "Finding",
    "GroupRow",
    "GroupValues",
    "IdealizedScore",
    "Interval",
    "JackknifeEstimate",
    "JoinedRatio",
    "JoinedSum",
    "LogRatio",
    "MaxDistance",
    "MaxPairwiseDifference",
    "MaxPairwiseRatio",
    "Mean",
    "MeanAbsLogRatio",
    "MeanDifference",
    "MeanLogRatio",
    "MeanMaximum",
    "MetricDistance",
    "NoRepeats",
    "PairedAUC",
    "PairedDifference",
    "Population",
    "Range",
    "RankBiserial",
    "RateDifference",
    "RateRatio",
    "Reference",
    "RelativeDifference",
    "Sample",
    "Scaled",
    "Seminorm",
    "Spending",
    "Table",
    "Undefined",
    "WorstGroups",
    "ZeroCellLogRatio",
    "change_point",
    "distribution_gaps",
    "holm",
    "rate_gaps",
    "weighted_rows",
]
