"""What a model answered: texts, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
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


def _check_rows(asked: Sized, **sides: Sequence[Sequence[Answer]]) -> None:
    for side, rows in sides.items():
        if len(rows) != len(asked):
            raise ValueError(
                f"rows differ: {len(asked)} asked, {len(rows)} in {side}; give one row of answers "
                "for each"
            )
        for i, row in enumerate(rows):
            # A bare text would be read as one answer per letter, and a None would go uncounted.
            if not isinstance(row, (tuple, list)):
                raise ValueError(f"{side} row {i} is {str(row)[:40]!r}; give a tuple of answers")
            for answer in row:
                if not isinstance(answer, (str, Missing)):
                    raise ValueError(
                        f"{side} row {i} holds {str(answer)[:40]}, a {type(answer).__name__}; "
                        "give a text, or Missing(reason) for an answer that is not there"
                    )


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
        _check_rows(self.prompts, answers=self.answers)

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
        _check_rows(self.pairs, original=self.original, counterfactual=self.counterfactual)

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[tuple[tuple[Answer, ...], tuple[Answer, ...]]]:
        return iter(zip(self.original, self.counterfactual, strict=True))

    def __getitem__(self, row: int) -> tuple[tuple[Answer, ...], tuple[Answer, ...]]:
        return self.original[row], self.counterfactual[row]
