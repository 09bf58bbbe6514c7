"""Answers of a model and pairs of prompts, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from pytest_llmfair.replies import CutAnswer as CutAnswer
from pytest_llmfair.replies import Facts, Reply, facts_of
from pytest_llmfair.replies import is_cut as is_cut


@dataclass(frozen=True, slots=True)
class Missing:
    """A missing answer with its reason; it is counted, and never scored.

    Attributes
    ----------
    reason : str
        Short lower-case reason: "refused", "filtered", "length" (cut by the server), "empty",
        "null", "timeout", "rate_limit", "server_error", "malformed", "over_budget", "stale"
        (recorded too long ago, or of another model), "no_fact", "no_score" (the
        judge's reply was none) or "error".
    detail : str
        Message of the backend, for reports.
    facts : mapping
        What the model did though it said nothing; see :class:`Reply`.

    Examples
    --------
    >>> bool(Missing("refused"))
    False
    """

    reason: str
    detail: str = ""
    facts: Facts = field(default_factory=dict, hash=False, repr=False)

    def __bool__(self) -> bool:
        return False


REMEDY = (
    "the cassette keeps digests and scores, no texts (--llmfair-cassette-text digest), so "
    "only recorded scores can be judged again; record with --llmfair-cassette-text full"
)


class DigestedText(Reply):
    """Stand-in for an answer recorded as a digest, equal if texts were; reading it raises."""

    __slots__ = ("cut", "digest")

    digest: str
    cut: bool  # type: ignore[misc]

    def __new__(
        cls, digest: str, facts: Facts | None = None, *, cut: bool = False
    ) -> DigestedText:
        """Create the stand-in of a text."""
        made: DigestedText = super().__new__(cls, f"(text withheld, digest {digest})", facts)  # type: ignore[assignment]
        made.digest, made.cut = digest, cut
        return made

    def _refuse(self, *arguments: Any, **keywords: Any) -> NoReturn:
        raise TypeError(f"this answer cannot be read: {REMEDY}")

    # Every method that reads the text: its result would be wrong without a warning.
    __contains__ = __add__ = casefold = count = encode = endswith = find = index = _refuse
    lower = partition = replace = rpartition = rsplit = split = splitlines = startswith = _refuse
    strip = translate = upper = _refuse


Answer = str | Missing


def _check_rows(asked: Sized, **sides: Sequence[Sequence[Answer]]) -> None:
    for side, rows in sides.items():
        if len(rows) != len(asked):
            raise ValueError(
                f"rows differ: {len(asked)} asked, {len(rows)} in {side}; give one row of answers "
                "for each"
            )
        for i, row in enumerate(rows):
            # A bare text would be read as one answer per letter.
            if not isinstance(row, (tuple, list)):
                raise ValueError(f"{side} row {i} is {str(row)[:40]!r}; give a tuple of answers")
            for answer in row:
                if not isinstance(answer, (str, Missing)):
                    raise ValueError(
                        f"{side} row {i} holds {str(answer)[:40]}, a {type(answer).__name__}; "
                        "give a text, or Missing(reason) for a missing answer"
                    )


def _empty_as_missing(rows: tuple[tuple[Answer, ...], ...]) -> tuple[tuple[Answer, ...], ...]:
    """Replace empty texts by `Missing`: two empty answers are not evidence of equal answers."""
    if not any(_is_empty(answer) for row in rows for answer in row):
        return rows  # the usual case
    return tuple(
        tuple(
            Missing("empty", "an empty text", facts_of(each)) if _is_empty(each) else each
            for each in row
        )
        for row in rows
    )


def _is_empty(answer: Answer) -> bool:
    # A `DigestedText` cannot be read.
    return type(answer) in (str, Reply, CutAnswer) and not str(answer).strip()


@dataclass(frozen=True, slots=True)
class Responses:
    """Answers to prompts: one row per prompt.

    Attributes
    ----------
    prompts : tuple of str
        The prompts.
    answers : tuple of tuple of str or Missing
        One row per prompt, with one or more answers. An empty text becomes ``Missing("empty")``.
    model : str
        Name of the model; "" if unknown.
    origin : (int, int)
        Number of live and of replayed answers; (0, 0) if unknown.

    Examples
    --------
    >>> answers = Responses(("Say hi.", "Say no."), (("Hi!",), (Missing("refused"),)))
    >>> len(answers), answers[0]
    (2, ('Hi!',))
    """

    prompts: tuple[str, ...]
    answers: tuple[tuple[Answer, ...], ...]
    model: str = ""
    origin: tuple[int, int] = field(default=(0, 0), compare=False)

    def __post_init__(self) -> None:
        """Check the rows of answers."""
        _check_rows(self.prompts, answers=self.answers)
        object.__setattr__(self, "answers", _empty_as_missing(self.answers))

    def __len__(self) -> int:
        return len(self.prompts)

    def __iter__(self) -> Iterator[tuple[Answer, ...]]:
        return iter(self.answers)

    def __getitem__(self, row: int) -> tuple[Answer, ...]:
        return self.answers[row]


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement that makes the counterfactual of the original.

    Attributes
    ----------
    start, end : int
        Span in the original.
    before, after : str
        Text of the original, and text of the counterfactual.
    counterfactual_start : int
        Where `after` starts in the counterfactual.
    """

    start: int
    end: int
    before: str
    after: str
    counterfactual_start: int


# Values of `Pair.variant`, for groups that texts usually do not mention.
OMISSION = "omission"
EXPLICIT = "explicit"


@dataclass(frozen=True, slots=True)
class Pair:
    """A prompt and its counterfactual; they differ only by the edits.

    Attributes
    ----------
    original, counterfactual : str
        The two prompts.
    from_group, to_group : str
        Group that the original names, and group that the counterfactual names. If the original
        names both and they are swapped, `from_group` is the one named first.
    edits : tuple of Edit
        Replacements in order; an article that changes with its noun is an edit of its own.
    attribute : str
        The protected attribute.
    variant : {"", "omission", "explicit"}
        How a group that texts usually do not mention (no disability, straight, cisgender) is
        expressed: by omitting words, or by naming it; "" for other groups. Both variants of a
        prompt are one sampling unit.
    placebo : str or None
        The original reworded within its own group (another term, another name); None if not
        requested, or if no other term is known.
    uncertain : str
        Why the reading of the original is uncertain, for a pair kept with
        ``generate_pairs(..., uncertain="keep")``; "" for all others.
    template, filler : str
        Text of the template, and the fills of the slots that all groups share; "" for a pair that
        was not made from a template, or a template without such slots. Pairs with the same filler
        are one sampling unit.
    cue : str
        The words by which a template names the two groups, such as "woman / man"; else "".
    checked : bool
        Whether the pair passed the validity checks; a changed copy must pass them again.
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
    template: str = ""
    filler: str = ""
    cue: str = ""
    checked: bool = field(default=False, init=False, repr=False, compare=False)

    def without_placebo(self) -> Pair:
        """Return the pair without its placebo twin."""
        bare = replace(self, placebo=None)
        return marked(bare) if self.checked else bare


@dataclass(frozen=True, slots=True)
class Rejected:
    """A pair that failed a validity check.

    Attributes
    ----------
    pair : Pair
        The pair; it is not sent to a model.
    reasons : tuple of str
        The failed checks: what is wrong, a colon, and where.
    """

    pair: Pair
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Uncertain:
    """A prompt without a pair, because one of its words is ambiguous.

    Attributes
    ----------
    prompt : str
        The prompt.
    start, end : int
        Span of the word in characters.
    reason : str
        Why the word is ambiguous.
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
        """The ambiguous word."""
        return self.prompt[self.start : self.end]


def marked(pair: Pair) -> Pair:
    """Mark a new pair as having passed the validity checks."""
    # The pair is frozen, but its creator is still the only one who holds it.
    object.__setattr__(pair, "checked", True)
    return pair


@dataclass(frozen=True, slots=True)
class PairedResponses:
    """Answers to counterfactual pairs: one row per pair for each of its prompts.

    Attributes
    ----------
    pairs : tuple of Pair
        The pairs.
    original, counterfactual : tuple of tuple of str or Missing
        Answers to the originals and to the counterfactuals, one row per pair. An empty text
        becomes ``Missing("empty")``.
    model : str
        Name of the model; "" if unknown.
    placebo : tuple of tuple
        Answers to the placebo twins, one row per pair, empty for a pair without a twin; () if no
        pair has one.
    rejected : tuple of Rejected
        Pairs that were not sent to the model because a validity check failed.
    uncertain : tuple of Uncertain
        Prompts without a pair because a word is ambiguous.
    lacks : tuple of str
        Groups of the attribute for which the lexicon has no terms.
    lost : mapping of str to int
        Words without a listed counterpart, to the number of prompts lost because of them.
    unmentioned : int
        Number of prompts that name no group.
    origin : (int, int)
        Number of live and of replayed answers; (0, 0) if unknown.
    order : mapping of str to int
        Place of every prompt in the order of asking; empty if unknown.
    shared_seeds : (int, int)
        Number of seeds, and of the prompts that share them; (0, 0) where none are known to.

    Examples
    --------
    >>> edit = Edit(0, 2, "He", "She", 0)
    >>> pair = Pair("He left.", "She left.", "male", "female", (edit,), "gender")
    >>> answers = PairedResponses((pair,), original=(("Why?",),), counterfactual=(("Oh.",),))
    >>> answers[0]
    (('Why?',), ('Oh.',))
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
    order: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    shared_seeds: tuple[int, int] = field(default=(0, 0), compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check the rows of answers."""
        _check_rows(self.pairs, original=self.original, counterfactual=self.counterfactual)
        if self.placebo:
            _check_rows(self.pairs, placebo=self.placebo)
        for side in ("original", "counterfactual", "placebo"):
            object.__setattr__(self, side, _empty_as_missing(getattr(self, side)))

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[tuple[tuple[Answer, ...], tuple[Answer, ...]]]:
        return iter(zip(self.original, self.counterfactual, strict=True))

    def __getitem__(self, row: int) -> tuple[tuple[Answer, ...], tuple[Answer, ...]]:
        return self.original[row], self.counterfactual[row]


def rows_of(answers: Any, kept: Sequence[int]) -> Any:
    """Return a selection of rows, with their prompts or pairs, in the order of `kept`."""
    single, paired = ("prompts", "answers"), ("pairs", "original", "counterfactual", "placebo")
    names = single if isinstance(answers, Responses) else paired
    found = {name: getattr(answers, name) for name in names}
    return replace(
        answers, **{name: tuple(rows[i] for i in kept) for name, rows in found.items() if rows}
    )


def joined_origins(first: Any, second: Any) -> tuple[int, int]:
    """Return the summed origins of two sets of responses."""
    return first.origin[0] + second.origin[0], first.origin[1] + second.origin[1]


def left_out(source: Any) -> dict[str, Any]:
    """Return the losses of pairs, or of answers to them, as keywords of `PairedResponses`."""
    # Other data, such as a table, may have columns of these names.
    known = source if isinstance(source, (list, PairedResponses)) else None
    return {
        "rejected": tuple(getattr(known, "rejected", ())),
        "uncertain": tuple(getattr(known, "uncertain", ())),
        "lacks": tuple(getattr(known, "lacks", ())),
        "lost": dict(getattr(known, "lost", {})),
        "unmentioned": int(getattr(known, "unmentioned", 0)),
    }
