"""Scores of texts, with the cassette where it keeps scores and no texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytest_llmfair.clients.scores import record_scores, recorded_scores
from pytest_llmfair.scorers import score


def scores_of(scorer: Callable[..., Any], texts: Sequence[str]) -> Any:
    """Return one score per text: recorded ones where texts are withheld, else new ones."""
    distinct = list(dict.fromkeys(texts))
    recorded = recorded_scores(scorer, distinct)
    if recorded is not None:
        by_text = dict(zip(distinct, recorded, strict=True))
        return score(lambda rows: [by_text[text] for text in rows], texts)
    scores = score(scorer, texts)
    by_row = dict(zip(texts, scores.tolist(), strict=True))
    record_scores(scorer, distinct, [by_row[text] for text in distinct])
    return scores
