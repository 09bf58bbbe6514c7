"""What a model answered: texts, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_llmfair.counterfactuals import Pair


@dataclass(frozen=True, slots=True)
class Missing:
    """An answer that is not there; never scored, always counted.

    Attributes
    ----------
    reason : str
        Short lower-case reason: "error", "empty", "filtered", "length", "null", "refused".
    detail : str
        What the backend said, for the report.
    """

    reason: str
    detail: str = ""

    def __bool__(self) -> bool:
        return False


Answer = str | Missing


def _same_rows(**parts: Sized) -> None:
    lengths = {name: len(part) for name, part in parts.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{n} {name}" for name, n in lengths.items())
        raise ValueError(f"rows differ: {said}; give one row of answers for each")


@dataclass(frozen=True, slots=True)
class Responses:
    """Answers to single prompts: one row per prompt, in order, each with n answers.

    `model` names the model that answered; empty when unknown.
    """

    prompts: tuple[str, ...]
    answers: tuple[tuple[Answer, ...], ...]
    model: str = ""

    def __post_init__(self) -> None:
        """Raise ``ValueError`` unless every prompt has its row of answers."""
        _same_rows(prompts=self.prompts, answers=self.answers)

    def __len__(self) -> int:
        return len(self.prompts)

    def __iter__(self) -> Iterator[tuple[Answer, ...]]:
        return iter(self.answers)

    def __getitem__(self, row: int) -> tuple[Answer, ...]:
        return self.answers[row]


@dataclass(frozen=True, slots=True)
class PairedResponses:
    """Answers to counterfactual pairs: per pair the answers to the original and to its twin.

    `model` names the model that answered; empty when unknown.
    """

    pairs: tuple[Pair, ...]
    original: tuple[tuple[Answer, ...], ...]
    counterfactual: tuple[tuple[Answer, ...], ...]
    model: str = ""

    def __post_init__(self) -> None:
        """Raise ``ValueError`` unless every pair has its rows of answers."""
        _same_rows(pairs=self.pairs, original=self.original, counterfactual=self.counterfactual)

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[tuple[tuple[Answer, ...], tuple[Answer, ...]]]:
        return iter(zip(self.original, self.counterfactual, strict=True))

    def __getitem__(self, row: int) -> tuple[tuple[Answer, ...], tuple[Answer, ...]]:
        return self.original[row], self.counterfactual[row]
