"""What a model answered: texts, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pytest_llmfair.counterfactuals import Pair, Rejected, Uncertain


@dataclass(frozen=True, slots=True)
class Missing:
    """An answer that is not there; never scored, always counted.

    Attributes
    ----------
    reason : str
        Short lower-case reason: "refused", "filtered", "length" (cut against our wish), "empty",
        "null", "timeout", "rate_limit", "server_error", "malformed", "over_budget", "stale"
        (recorded too long ago, or of another model) or "error".
    detail : str
        What the backend said, for the report.
    """

    reason: str
    detail: str = ""

    def __bool__(self) -> bool:
        return False


class CutAnswer(str):
    """An answer that ended at a limit given on purpose: a text like any other, and counted."""

    __slots__ = ()

    cut: ClassVar[bool] = True


Answer = str | Missing


def is_cut(answer: object) -> bool:
    """Tell whether an answer ended at a limit given on purpose."""
    return bool(getattr(answer, "cut", False))


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


def _blanks_missing(rows: tuple[tuple[Answer, ...], ...]) -> tuple[tuple[Answer, ...], ...]:
    """Count an empty text as missing, whoever collected it: two of them are no equal answers."""
    if not any(_is_blank(answer) for row in rows for answer in row):
        return rows  # the usual case
    empty = Missing("empty", "an empty text")
    return tuple(tuple(empty if _is_blank(answer) else answer for answer in row) for row in rows)


def _is_blank(answer: Answer) -> bool:
    # Other kinds of text are withheld by a cassette, and may not be read.
    return type(answer) in (str, CutAnswer) and not str(answer).strip()


@dataclass(frozen=True, slots=True)
class Responses:
    """Answers to single prompts: one row per prompt, in order, each with n answers.

    `model` names the model that answered; empty when unknown. `origin` is how many answers were
    asked for live, and how many were replayed from a cassette; (0, 0) when unknown. An empty text
    counts as missing.
    """

    prompts: tuple[str, ...]
    answers: tuple[tuple[Answer, ...], ...]
    model: str = ""
    origin: tuple[int, int] = field(default=(0, 0), compare=False)

    def __post_init__(self) -> None:
        """Raise ``ValueError`` unless every prompt has its row of answers."""
        _check_rows(self.prompts, answers=self.answers)
        object.__setattr__(self, "answers", _blanks_missing(self.answers))

    def __len__(self) -> int:
        return len(self.prompts)

    def __iter__(self) -> Iterator[tuple[Answer, ...]]:
        return iter(self.answers)

    def __getitem__(self, row: int) -> tuple[Answer, ...]:
        return self.answers[row]


@dataclass(frozen=True, slots=True)
class PairedResponses:
    """Answers to counterfactual pairs: per pair the answers to the original and to its twin.

    Attributes
    ----------
    pairs : tuple of Pair
        What was asked.
    original, counterfactual : tuple of tuple
        Per pair the answers to either member. An empty text counts as missing.
    model : str
        The model that answered; empty when unknown.
    placebo : tuple of tuple
        Per pair the answers to its placebo twin, none where it has no such twin; empty when no
        pair has one.
    rejected : tuple of Rejected
        Pairs that were made and not asked, since a validity check failed.
    uncertain : tuple of Uncertain
        Prompts that gave no pair, since a word of them can be read in two ways.
    lacks : tuple of str
        Groups of the attribute for which the lexicon has no terms.
    lost : mapping
        Words that left prompts without a pair, since no counterpart is listed, to how often.
    unmentioned : int
        Prompts that name no group to exchange, which gave no pair.
    origin : (int, int)
        Answers asked for live, and replayed from a cassette; (0, 0) when unknown.
    """

    pairs: tuple[Pair, ...]
    original: tuple[tuple[Answer, ...], ...]
    counterfactual: tuple[tuple[Answer, ...], ...]
    model: str = ""
    placebo: tuple[tuple[Answer, ...], ...] = ()
    rejected: tuple[Rejected, ...] = ()
    uncertain: tuple[Uncertain, ...] = ()
    lacks: tuple[str, ...] = ()
    lost: Mapping[str, int] = field(default_factory=dict)
    unmentioned: int = 0
    origin: tuple[int, int] = field(default=(0, 0), compare=False)

    def __post_init__(self) -> None:
        """Raise ``ValueError`` unless every pair has its rows of answers."""
        _check_rows(self.pairs, original=self.original, counterfactual=self.counterfactual)
        if self.placebo:
            _check_rows(self.pairs, placebo=self.placebo)
        for side in ("original", "counterfactual", "placebo"):
            object.__setattr__(self, side, _blanks_missing(getattr(self, side)))

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[tuple[tuple[Answer, ...], tuple[Answer, ...]]]:
        return iter(zip(self.original, self.counterfactual, strict=True))

    def __getitem__(self, row: int) -> tuple[tuple[Answer, ...], tuple[Answer, ...]]:
        return self.original[row], self.counterfactual[row]


def rows_of(answers: Any, kept: Sequence[int]) -> Any:
    """Return some rows of answers, in the order of `kept`, with what was asked for them."""
    single, paired = ("prompts", "answers"), ("pairs", "original", "counterfactual", "placebo")
    names = single if isinstance(answers, Responses) else paired
    found = {name: getattr(answers, name) for name in names}
    return replace(
        answers, **{name: tuple(rows[i] for i in kept) for name, rows in found.items() if rows}
    )


def joined_origins(first: Any, second: Any) -> tuple[int, int]:
    """Return where the answers of two sets of responses came from, taken together."""
    return first.origin[0] + second.origin[0], first.origin[1] + second.origin[1]


def left_behind(source: Any) -> dict[str, Any]:
    """Return what a set of pairs from ``generate_pairs``, or the answers to it, left out.

    As keywords of :class:`PairedResponses`. Anything else left nothing out.
    """
    # A table of the caller's may well have a column of such a name.
    known = source if isinstance(source, (list, PairedResponses)) else None
    return {
        "rejected": tuple(getattr(known, "rejected", ())),
        "uncertain": tuple(getattr(known, "uncertain", ())),
        "lacks": tuple(getattr(known, "lacks", ())),
        "lost": dict(getattr(known, "lost", {})),
        "unmentioned": int(getattr(known, "unmentioned", 0)),
    }
