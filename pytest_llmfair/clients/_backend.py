"""What a backend of the client is: a named thing that answers requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pytest_llmfair.responses import Answer


@dataclass(frozen=True, slots=True)
class Request:
    """One sample to draw: a prompt and the seed of this sample, in [0, 2**64)."""

    prompt: str
    seed: int


class Backend(Protocol):
    """Answers requests.

    An answer depends on its own request only, never on the requests beside it.
    """

    @property
    def name(self) -> str:
        """Specification of the model, for reports."""
        ...

    @property
    def description(self) -> str:
        """What the model is, in one sentence."""
        ...

    def generate(
        self, requests: Sequence[Request], *, temperature: float, max_tokens: int
    ) -> list[Answer]:
        """Return one answer per request, in order; a failed one is a `Missing`."""
        ...


@runtime_checkable
class ScoringBackend(Backend, Protocol):
    """A backend that also knows the probabilities of its next words."""

    def probabilities(self, prompts: Sequence[str], words: Sequence[str]) -> list[list[float]]:
        """Return P(the answer starts with the word) at temperature 1, by prompt and word."""
        ...
