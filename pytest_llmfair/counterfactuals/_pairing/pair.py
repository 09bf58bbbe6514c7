"""What a counterfactual pair is, and a list of pairs with what was left out of it."""

from __future__ import annotations

import difflib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, SupportsIndex, overload

from pytest_llmfair.counterfactuals.lexicon import Change
from pytest_llmfair.lexicons.english.protected import with_blanks
from pytest_llmfair.text import replaced

OMISSION = "omission"
EXPLICIT = "explicit"
_PIECE = re.compile(r"\w+|\W")
Spans = Iterable[tuple[int, int]]
# Share of words, blanks and marks that may differ place by place; more tells of a shift.
_FEW = 0.3


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


class Pairs(list[Pair]):
    """Counterfactual pairs that pass the validity gate, and what was left out.

    A slice, a copy, a sum and ``Pairs(pairs)`` still tell what was left out; what picks pairs one
    by one (a comprehension, ``list(pairs)``) does not.

    Attributes
    ----------
    rejected : tuple of Rejected
        Pairs that fail a check.
    uncertain : tuple of Uncertain
        Prompts left out because a word of them can be read in two ways: one entry a prompt.
    unmentioned : int
        Prompts that name no group to exchange.
    lost : dict
        Word without a counterpart in the lexicon to the number of prompts and groups left out
        for it.
    lacks : tuple of str
        Groups of the attribute that the lexicon has no terms for.
    unexchanged : tuple of str
        Groups whose mentions were left as they are, since no groups were asked for.
    """

    def __init__(
        self,
        pairs: Iterable[Pair] = (),
        *,
        rejected: Iterable[Rejected] | None = None,
        uncertain: Iterable[Uncertain] | None = None,
        unmentioned: int | None = None,
        lost: Mapping[str, int] | None = None,
        lacks: Iterable[str] | None = None,
        unexchanged: Iterable[str] | None = None,
    ) -> None:
        super().__init__(pairs)
        self.rejected: tuple[Rejected, ...] = _told(rejected, pairs, "rejected")
        self.uncertain: tuple[Uncertain, ...] = _told(uncertain, pairs, "uncertain")
        self.unmentioned: int = (
            getattr(pairs, "unmentioned", 0) if unmentioned is None else unmentioned
        )
        self.lost: dict[str, int] = dict(getattr(pairs, "lost", {}) if lost is None else lost)
        self.lacks: tuple[str, ...] = _told(lacks, pairs, "lacks")
        self.unexchanged: tuple[str, ...] = _told(unexchanged, pairs, "unexchanged")

    @overload
    def __getitem__(self, place: SupportsIndex) -> Pair: ...
    @overload
    def __getitem__(self, place: slice) -> Self: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Pair | Self:
        """Return a pair, or some of them with all that was left out."""
        if not isinstance(place, slice):
            return super().__getitem__(place)
        return self._holding(super().__getitem__(place))

    def copy(self) -> Self:
        """Return a copy, with what was left out."""
        return self._holding(self)

    def _holding(self, pairs: Iterable[Pair]) -> Self:
        """Return other pairs with what was left out of these."""
        return type(self)(
            pairs,
            rejected=self.rejected,
            uncertain=self.uncertain,
            unmentioned=self.unmentioned,
            lost=self.lost,
            lacks=self.lacks,
            unexchanged=self.unexchanged,
        )

    def __add__(self, other: Iterable[Pair]) -> Pairs:  # type: ignore[override]
        """Return the pairs of both, with what was left out of either."""
        beside = other if isinstance(other, Pairs) else Pairs()
        return Pairs(
            [*self, *other],
            rejected=self.rejected + beside.rejected,
            uncertain=self.uncertain + beside.uncertain,
            unmentioned=self.unmentioned + beside.unmentioned,
            lost=Counter(self.lost) + Counter(beside.lost),
            lacks=dict.fromkeys(self.lacks + beside.lacks),
            unexchanged=dict.fromkeys(self.unexchanged + beside.unexchanged),
        )

    def __radd__(self, other: Iterable[Pair]) -> Pairs:
        """Return the pairs of both, as ``+`` does."""
        return Pairs(other) + self

    def __iadd__(self, other: Iterable[Pair]) -> Pairs:  # type: ignore[override]
        """Return the pairs of both, as ``+`` does."""
        return self + other

    def table(self, width: int | None = None, limit: int | None = None) -> str:
        """Return the pairs as a table: original, counterfactual, edits and checks.

        After the pairs come those that were rejected, and the prompts whose reading is uncertain,
        with what settles it.

        Parameters
        ----------
        width : int, optional
            Characters a line may have, 60 or more; by default those of the terminal.
        limit : int, optional
            Most pairs, and most rejected pairs, to show; by default all.

        Returns
        -------
        str
            Line breaks and control characters of the prompts are shown as escapes.
        """
        from pytest_llmfair.counterfactuals._pairing.table import table

        return table(self, width, limit)


def _told(given: Iterable[Any] | None, pairs: object, kind: str) -> tuple[Any, ...]:
    """Return what was left out: as given, else of the pairs where they know it."""
    return tuple(getattr(pairs, kind, ()) if given is None else given)


def marked(pair: Pair) -> Pair:
    """Note of a pair that nobody else holds yet that it passed the validity gate."""
    object.__setattr__(pair, "checked", True)
    return pair


def pair_of(
    text: str,
    changes: Iterable[Change],
    groups: tuple[str, str],
    attribute: str,
    variant: str = "",
) -> Pair:
    """Make the pair of a text from the changes that give its counterfactual."""
    edits = []
    shift = 0
    for start, end, after, *_ in changes:
        edits.append(Edit(start, end, text[start:end], after, start + shift))
        shift += len(after) - (end - start)
    twin = replaced(text, [(edit.start, edit.end, edit.after) for edit in edits])
    return Pair(text, twin, *groups, tuple(edits), attribute, variant)


def misplaced(pair: Pair) -> str | None:
    """Say which edit does not stand where it says, or that more differs; None if all is right."""
    last, shift = 0, 0
    text = pair.original
    parts: list[str] = []
    for edit in pair.edits:
        start, after = edit.start, edit.after
        if start < last or text[start : edit.end] != edit.before:
            return f"an edit does not stand in the original: {edit.before!r}"
        if start + shift != edit.counterfactual_start:
            return f"an edit does not stand in the counterfactual: {after!r}"
        parts += (text[last:start], after)
        last = edit.end
        shift += len(after) - len(edit.before)
    rebuilt = "".join(parts) + text[last:]
    return None if rebuilt == pair.counterfactual else "the texts differ outside the edits"


def edits_between(
    text: str, twin: str, whole: Spans = (), whole_twin: Spans = ()
) -> tuple[Edit, ...]:
    """Return what differs between two texts, by words and marks.

    What stands in `whole` of either is one piece, the longest of those that overlap: "Muslim"
    and "Latter-day Saint".
    """
    before, after = _pieces(text, whole), _pieces(twin, whole_twin)
    at, at_twin = _starts(before), _starts(after)
    return tuple(
        Edit(at[a], at[b], text[at[a] : at[b]], "".join(after[c:d]), at_twin[c])
        for a, b, c, d in _differing(before, after)
    )


def _pieces(text: str, whole: Spans) -> list[str]:
    blanked = with_blanks(text)  # of the same length
    spans: list[tuple[int, int]] = []
    last = 0
    longest = sorted(whole, key=lambda span: (span[0], -span[1]))
    for start, end in (*longest, (len(text), len(text))):
        if start >= last:
            spans += (piece.span() for piece in _PIECE.finditer(blanked, last, start))
            spans.append((start, end))
            last = end
    return [text[start:end] for start, end in spans if end > start]


def _differing(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Give the runs of pieces that differ, by their bounds in both.

    Texts of equally many pieces are compared place by place, and runs that stand apart are short;
    only others are matched, which takes the square of their length, and where that finds no less
    to change ("he/she" and "she/he") they are compared place by place too.
    """
    alike = len(before) == len(after)
    places = [i for i, pieces in enumerate(zip(before, after, strict=False)) if len({*pieces}) > 1]
    if not alike or len(places) > _FEW * len(before):
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        found = [bounds for kind, *bounds in matcher.get_opcodes() if kind != "equal"]
        if not alike or sum(max(b - a, d - c) for a, b, c, d in found) < len(places):
            yield from ((a, b, c, d) for a, b, c, d in found)
            return
    for _, run in itertools.groupby(enumerate(places), lambda each: each[1] - each[0]):
        differing = [place for _, place in run]
        bounds = differing[0], differing[-1] + 1
        yield *bounds, *bounds


def _starts(pieces: Sequence[str]) -> list[int]:
    return [0, *itertools.accumulate(map(len, pieces))]
