"""Scorers: texts in, one number a text out. Models load at first use and never by themselves."""

from __future__ import annotations

from pytest_llmfair.scorers._base import Scorer, score
from pytest_llmfair.scorers._load import Scorers, load_scorers
from pytest_llmfair.scorers.classifier import ClassifierScorer
from pytest_llmfair.scorers.counts import LengthScorer, TokenScorer
from pytest_llmfair.scorers.embeddings import EmbeddingScorer
from pytest_llmfair.scorers.refusals import RefusalScorer
from pytest_llmfair.scorers.self_audit import Audit, self_audit
from pytest_llmfair.scorers.sentiment import SentimentScorer
from pytest_llmfair.scorers.toxicity import ToxicityScorer

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
    "score",
    "self_audit",
]
