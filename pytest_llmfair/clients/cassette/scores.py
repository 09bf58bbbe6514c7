"""Scores in a cassette that keeps only digests of answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pytest_llmfair.clients.cassette.record import ScoreRecord, text_digest
from pytest_llmfair.clients.cassette.store import Cassette
from pytest_llmfair.responses import REMEDY, DigestedText


@dataclass(frozen=True, slots=True)
class RecordedScores:
    """Scores in the cassette of a session."""

    cassette: Cassette
    # Whether new scores may be recorded.
    records: bool

    def recorded(self, scorer: Callable[..., Any], texts: Sequence[str]) -> list[float] | None:
        """Return recorded scores; None if no text is a digest, so that all can be scored."""
        if not any(isinstance(text, DigestedText) for text in texts):
            return None
        name = _name(scorer)
        found = []
        for text in texts:
            digest = text.digest if isinstance(text, DigestedText) else text_digest(text)
            held = self.cassette.score(ScoreRecord.key_of(name, digest))
            if held is None:
                raise ValueError(
                    f"scorer {name or scorer!r} has no recorded score of an answer: {REMEDY}"
                    + ("" if name else ", or name the scorer: it is a function without a name")
                )
            found.append(held)
        return found

    def record(
        self, scorer: Callable[..., Any], texts: Sequence[str], scores: Sequence[float]
    ) -> None:
        """Record scores if the cassette keeps no texts."""
        name = _name(scorer)
        if self.cassette.text or not self.records or not name:
            return
        today = datetime.now(UTC).date()
        made = [
            ScoreRecord(name, text_digest(text), float(score), today)
            for text, score in zip(texts, scores, strict=True)
        ]
        self.cassette.put([one for one in made if self.cassette.score(one.key) != one.score])


def _name(scorer: Callable[..., Any]) -> str:
    """Return the name under which scores are recorded; empty if the scorer has none."""
    name = getattr(scorer, "name", None)
    if isinstance(name, str) and name:
        return name
    name = f"{getattr(scorer, '__module__', '')}:{getattr(scorer, '__qualname__', '')}"
    return "" if "<" in name or name.endswith(":") else name
