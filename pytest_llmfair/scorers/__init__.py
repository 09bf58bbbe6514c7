"""Scorers: texts in, one number a text out. Models load at first use and never by themselves."""

from __future__ import annotations

from pytest_llmfair.scorers._base import Scorer, Scorers, load_scorers, score
from pytest_llmfair.scorers.sentiment import SentimentScorer
from pytest_llmfair.scorers.toxicity import ToxicityScorer

__all__ = ["Scorer", "Scorers", "SentimentScorer", "ToxicityScorer", "load_scorers", "score"]
