"""Scores in a cassette that keeps only digests of answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from pytest_llmfair.clients.cassette.record import ScoreRecord, text_digest
from pytest_llmfair.clients.session import current_runner
from pytest_llmfair.responses import REMEDY, DigestedText


def recorded_scores(scorer: Callable[..., Any], texts: Sequence[str]) -> list[float] | None:
    """Return the recorded scores of texts; None if no text is a digest, so that all can be scored.

    Raises
    ------
    ValueError
        If a score was not recorded.
    """
    if not any(isinstance(text, DigestedText) for text in texts):
        return None
    name = _name(scorer)
    replay = current_runner().replay
    found = []
    for text in texts:
        digest = text.digest if isinstance(text, DigestedText) else text_digest(text)
        held = None if replay is None else replay.cassette.score(ScoreRecord.key_of(name, digest))
        if held is None:
            raise ValueError(
                f"scorer {name or scorer!r} has no recorded score of an answer: {REMEDY}"
                + ("" if name else ", or name the scorer: it is a function without a name")
            )
        found.append(held)
    return found


def record_scores(
    scorer: Callable[..., Any], texts: Sequence[str], scores: Sequence[float]
) -> None:
    """Record scores if the cassette of the session keeps no texts."""
    replay = current_runner().replay
    name = _name(scorer)
    if replay is None or replay.cassette.text or not replay.records or not name:
        return
    today = datetime.now(UTC).date()
    made = [
        ScoreRecord(name, text_digest(text), float(score), today)
        for text, score in zip(texts, scores, strict=True)
    ]
    replay.cassette.put([one for one in made if replay.cassette.score(one.key) != one.score])


def _name(scorer: Callable[..., Any]) -> str:
    """Return the name under which scores are recorded; empty if the scorer has none."""
    name = getattr(scorer, "name", None)
    if isinstance(name, str) and name:
        return name
    name = f"{getattr(scorer, '__module__', '')}:{getattr(scorer, '__qualname__', '')}"
    return "" if "<" in name or name.endswith(":") else name
