"""Products that ask a model about pairs: rewritten pairs, continuations, the worst pair."""

from __future__ import annotations

from pytest_llmfair.probing.continuations import (
    FairPairAnswers,
    TooFewAnswers,
    collect_fairpair,
)
from pytest_llmfair.probing.rewriting import RewrittenPairs, rewrite_pairs
from pytest_llmfair.probing.worst_pair import WorstPair, find_worst_pair

__all__ = [
    "FairPairAnswers",
    "RewrittenPairs",
    "TooFewAnswers",
    "WorstPair",
    "collect_fairpair",
    "find_worst_pair",
    "rewrite_pairs",
]
