"""What a model answered: texts, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NoReturn


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


REMEDY = (
    "the cassette keeps digests and scores, no texts (--llmfair-cassette-text digest), so that "
    "only recorded scores can be judged again; record with --llmfair-cassette-text full"
)


class DigestedText(str):
    """Stand-in for an answer recorded only as a digest; reading its text is an error.

    Two of them are equal where the texts were.

    Parameters
    ----------
    digest : str
        Digest of the text.
    cut : bool
        Whether the text ended at a limit given on purpose.
    """

    __slots__ = ("cut", "digest")

    digest: str
    cut: bool

    def __new__(cls, digest: str, *, cut: bool = False) -> DigestedText:
        """Make the stand-in of a text."""
        made = super().__new__(cls, f"(text withheld, digest {digest})")
        made.digest, made.cut = digest, cut
        return made

    def _refuse(self, *arguments: Any, **keywords: Any) -> NoReturn:
        raise TypeError(f"this answer cannot be read: {REMEDY}")

    # Whatever looks into a text: a wrong number would come of it, and nobody would know.
    __contains__ = __add__ = casefold = count = encode = endswith = find = index = _refuse
    lower = partition = replace = rpartition = rsplit = split = splitlines = startswith = _refuse
    strip = translate = upper = _refuse


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
class Edit:
    """One replacement between the members of a pair.

    Attributes
    ----------
    start, end : int
        Span in the original.
    before, after : str
        What stands there in the original and in the counterfactual.
    counterfactual_start : int
        Where `after` starts in the counterfactual.
    """

    start: int
    end: int
    before: str
    after: str
    counterfactual_start: int


# How a group is realised that texts usually leave unsaid: `Pair.variant`.
OMISSION = "omission"
EXPLICIT = "explicit"


@dataclass(frozen=True, slots=True)
class Pair:
    """A prompt and its counterfactual; outside the edits they are the same.

    Attributes
    ----------
    original, counterfactual : str
        The two prompts.
    from_group, to_group : str
        Group that the original names, and the one that takes its place. Where the original names
        both and they change places, `from_group` is the one named first.
    edits : tuple of Edit
        In order; articles that had to follow are edits of their own.
    attribute : str
        The protected attribute.
    variant : {"", "omission", "explicit"}
        How a group is realised that texts usually leave unsaid (no disability, straight,
        cisgender): by leaving words out, or by naming it; "" for every other group. Both variants
        of a prompt are one sampling unit.
    placebo : str or None
        The original reworded within its own group (another term, another name); None when it was
        not asked for, or no such term is known.
    uncertain : str
        What makes the reading of the original uncertain, of a pair kept with
        ``generate_pairs(..., uncertain="keep")``; "" for all others.
    checked : bool
        Whether it passed the validity gate; a copy that is changed has to pass it anew.
    """

    original: str
    counterfactual: str
    from_group: str
    to_group: str
    edits: tuple[Edit, ...]
    attribute: str
    variant: str = ""
    placebo: str | None = None
    uncertain: str = ""
    checked: bool = field(default=False, init=False, repr=False, compare=False)

    def without_placebo(self) -> Pair:
        """Return the pair without its placebo twin."""
        bare = replace(self, placebo=None)
        return marked(bare) if self.checked else bare


@dataclass(frozen=True, slots=True)
class Rejected:
    """A pair that fails the validity gate.

    Attributes
    ----------
    pair : Pair
        The pair; no model is asked with it.
    reasons : tuple of str
        The failed checks in words: what is wrong, a colon, and where.
    """

    pair: Pair
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Uncertain:
    """A prompt that gives no pair, since a word of it can be read in two ways.

    Attributes
    ----------
    prompt : str
        The prompt.
    start, end : int
        Span of the word in characters.
    reason : str
        What makes it uncertain.
    """

    prompt: str
    start: int
    end: int
    reason: str

    @property
    def span(self) -> tuple[int, int]:
        """Start and end of the word."""
        return self.start, self.end

    @property
    def text(self) -> str:
        """The word as it stands in the prompt."""
        return self.prompt[self.start : self.end]


def marked(pair: Pair) -> Pair:
    """Note of a pair that nobody else holds yet that it passed the validity gate."""
    object.__setattr__(pair, "checked", True)
    return pair


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
