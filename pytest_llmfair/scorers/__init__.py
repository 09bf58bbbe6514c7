"""Scorers: texts in, one number per text out. Only models that you name are loaded."""

from __future__ import annotations

from pytest_llmfair.scorers.base import Scorer, name_of, score
from pytest_llmfair.scorers.classifier import ClassifierScorer
from pytest_llmfair.scorers.counts import CharacterScorer, LengthScorer
from pytest_llmfair.scorers.embeddings import EmbeddingScorer
from pytest_llmfair.scorers.refusals import RefusalScorer
from pytest_llmfair.scorers.registry import Scorers, load_scorers, scorer
from pytest_llmfair.scorers.sentiment import SentimentScorer
from pytest_llmfair.scorers.toxicity import ToxicityScorer

__all__ = [
    "CharacterScorer",
    "ClassifierScorer",
    "EmbeddingScorer",
    "LengthScorer",
    "RefusalScorer",
    "Scorer",
    "Scorers",
    "SentimentScorer",
    "ToxicityScorer",
    "load_scorers",
    "name_of",
    "score",
    "scorer",
]
