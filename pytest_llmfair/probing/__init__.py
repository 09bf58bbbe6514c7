"""Products that probe a model or a scorer: rewritten pairs, the worst pair, a scorer's own gap."""

from __future__ import annotations

from pytest_llmfair.judging.scorer_audit import Audit, self_audit
from pytest_llmfair.probing.continuations import FairPairAnswers, TooFewAnswers, collect_fairpair
from pytest_llmfair.probing.rewriting import RewrittenPairs, rewrite_pairs
from pytest_llmfair.probing.worst_pair import WorstPair, find_worst_pair

__all__ = [
    "Audit",
    "FairPairAnswers",
    "RewrittenPairs",
    "TooFewAnswers",
    "WorstPair",
    "collect_fairpair",
    "find_worst_pair",
    "rewrite_pairs",
    "self_audit",
]
