"""Facts of answers as scores: what an agent did, next to what it says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pytest_llmfair.replies import FACTS, Reply, facts_of, text_digest
from pytest_llmfair.responses import Answer, Missing, PairedResponses, Responses
from pytest_llmfair.scorers.base import Scores


@dataclass(frozen=True, slots=True)
class FactScorer:
    """Reads one fact of every answer: a number as it is, a yes or no as 1 or 0."""

    # ``facts.`` and the name of the fact, such as ``facts.refund``. What follows is looked up in a
    # mapping, or is the item of a list or the text that counts as 1: ``facts.tools.refund``.
    name: str

    def __call__(self, texts: Sequence[str]) -> Scores:
        """Return the fact of every answer; raise ``ValueError`` for one that lacks it."""
        found = [self.value(text) for text in texts]
        if None in found:
            row = found.index(None)
            raise ValueError(
                f"answer {row} has no {self.name}: {str(texts[row])[:60]!r}; the model returns "
                "pytest_llmfair.Reply(text, facts={...}) to give one, and Missing(reason) where "
                "there is none"
            )
        return np.array(found, dtype=np.float64)

    def value(self, answer: Answer) -> float | bool | None:
        """Return the fact of an answer; None where it lacks the fact."""
        found: Any = facts_of(answer)
        words = self.name.removeprefix(FACTS).split(".")
        for place, word in enumerate(words):
            rest = ".".join(words[place:])
            if isinstance(found, Mapping):
                found = found.get(word)
            elif isinstance(found, (str, tuple)):
                # Cassettes without texts keep the digests of those in facts.
                named = {rest, text_digest(rest)}
                return not named.isdisjoint(found if isinstance(found, tuple) else [found])
            else:
                break
        else:
            return self._number(found)
        if found is None:
            return None
        raise ValueError(f"{self.name} asks for more than {found!r}, which is a number")

    def readable(self, responses: Any) -> Any:
        """Return responses in which an answer without the fact is missing, and one with it not."""
        sides = {
            Responses: ("answers",),
            PairedResponses: ("original", "counterfactual", "placebo"),
        }.get(type(responses), ())
        return replace(responses, **{side: self._rows(getattr(responses, side)) for side in sides})

    def range_of(self, rows: Iterable[Iterable[str]]) -> tuple[float, float] | None:
        """Return (0, 1) where the fact is a yes or no in every answer, else None."""
        yes_or_no = all(isinstance(self.value(text), bool) for row in rows for text in row)
        return (0.0, 1.0) if yes_or_no else None

    def _rows(self, rows: Sequence[Sequence[Answer]]) -> tuple[tuple[Answer, ...], ...]:
        return tuple(tuple(map(self._readable, row)) for row in rows)

    def _readable(self, answer: Answer) -> Answer:
        known = self.value(answer) is not None
        if isinstance(answer, Missing):
            return Reply(f"(no text: {answer.reason})", answer.facts) if known else answer
        if known:
            return answer
        return Missing("no_fact", f"the answer has no {self.name}", facts_of(answer))

    def _number(self, found: Any) -> float | bool | None:
        if found is None or isinstance(found, (bool, int, float)):
            return found
        kind = "a list of texts" if isinstance(found, tuple) else "a mapping"
        kind = "a text" if isinstance(found, str) else kind
        raise ValueError(
            f"{self.name} is {kind}, {str(found)[:60]}; say which value counts as 1, such as "
            f"{self.name}.NAME"
        )


def with_fact_shown(text: str, scorer: str) -> str:
    """Return an answer for reports, after the fact that was compared, if a fact was."""
    if not scorer.startswith(FACTS) or (value := FactScorer(scorer).value(text)) is None:
        return text
    return f"[{scorer.removeprefix(FACTS)} = {value:g}] {text}"
