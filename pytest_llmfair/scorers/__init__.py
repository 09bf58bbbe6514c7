"""Scorers: texts in, one number per text out. Only models that you name are loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_llmfair._util.lazy import lazy_exports
from pytest_llmfair.scorers.base import Scorer, name_of, score
from pytest_llmfair.scorers.classifier import ClassifierScorer
from pytest_llmfair.scorers.counts import CharacterScorer, LengthScorer, TokenScorer
from pytest_llmfair.scorers.embeddings import EmbeddingScorer
from pytest_llmfair.scorers.refusals import RefusalScorer
from pytest_llmfair.scorers.registry import Scorers, load_scorers, scorer
from pytest_llmfair.scorers.sentiment import SentimentScorer
from pytest_llmfair.scorers.toxicity import ToxicityScorer

# These names live in a room above this one and load at first use.
if TYPE_CHECKING:
    from pytest_llmfair.judging.scorer_audit import Audit as Audit
    from pytest_llmfair.judging.scorer_audit import self_audit as self_audit
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "Audit": "pytest_llmfair.judging.scorer_audit",
            "self_audit": "pytest_llmfair.judging.scorer_audit",
        },
    )


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "Audit",
    "CharacterScorer",
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
    "scorer",
    "self_audit",
]
