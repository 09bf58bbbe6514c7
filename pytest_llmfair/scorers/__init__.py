"""Scorers: texts in, one number per text out. Only models that you name are loaded."""

from __future__ import annotations

from pytest_llmfair._util.lazy import handed_on
from pytest_llmfair.scorers.base import Scorer, name_of, score
from pytest_llmfair.scorers.classifier import ClassifierScorer
from pytest_llmfair.scorers.counts import LengthScorer, TokenScorer
from pytest_llmfair.scorers.embeddings import EmbeddingScorer
from pytest_llmfair.scorers.refusals import RefusalScorer
from pytest_llmfair.scorers.registry import Scorers, load_scorers
from pytest_llmfair.scorers.sentiment import SentimentScorer
from pytest_llmfair.scorers.toxicity import ToxicityScorer

__getattr__ = handed_on(
    __name__,
    {
        "Audit": "pytest_llmfair.judging.scorer_audit",
        "self_audit": "pytest_llmfair.judging.scorer_audit",
    },
)

__all__ = [
    "Audit",
    "ClassifierScorer",
    "EmbeddingScorer",
    "LengthScorer",
    "RefusalScorer",
    "Scorer",
    "Scorers",
    "SentimentScorer",
    "TokenScorer",
    "ToxicityScorer",
    "load_scorers",
    "name_of",
    "score",
    "self_audit",
]
