"""A list of counterfactual pairs that also records what was left out, and prints as a table."""

from __future__ import annotations

import itertools
import shutil
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, SupportsIndex, overload

from pytest_llmfair.lexicons.reading import Change
from pytest_llmfair.responses import Edit, Pair, Rejected, Uncertain
from pytest_llmfair.text import replaced


class Pairs(list[Pair]):
    """Counterfactual pairs that pass the validity gate, and what was left out.

    A slice, a copy, a sum and ``Pairs(pairs)`` keep the record of what was left out; a
    comprehension and ``list(pairs)`` lose it.

    Attributes
    ----------
    rejected : tuple of Rejected
        Pairs that fail a check.
    uncertain : tuple of Uncertain
        Prompts left out because a word can be read in two ways; one entry a prompt.
    unmentioned : int
        Prompts that name no group to exchange.
    lost : dict
        Word without a counterpart in the lexicon to the number of prompts and groups that it
        excluded.
    lacks : tuple of str
        Groups of the attribute that the lexicon has no terms for.
    unexchanged : tuple of str
        Groups whose mentions were not exchanged because no groups were asked for.

    Examples
    --------
    >>> from pytest_llmfair.counterfactuals import generate_pairs
    >>> pairs = generate_pairs(["She called.", "The ballerina called."], "gender")
    >>> len(pairs), pairs.lost
    (1, {'ballerina': 1})
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
        self.rejected: tuple[Rejected, ...] = _left_out_of(rejected, pairs, "rejected")
        self.uncertain: tuple[Uncertain, ...] = _left_out_of(uncertain, pairs, "uncertain")
        self.unmentioned: int = (
            getattr(pairs, "unmentioned", 0) if unmentioned is None else unmentioned
        )
        self.lost: dict[str, int] = dict(getattr(pairs, "lost", {}) if lost is None else lost)
        self.lacks: tuple[str, ...] = _left_out_of(lacks, pairs, "lacks")
        self.unexchanged: tuple[str, ...] = _left_out_of(unexchanged, pairs, "unexchanged")

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
        """Return other pairs with the record of what was left out of these."""
        held = type(self)(self)
        held[:] = pairs
        return held

    def __add__(self, other: Iterable[Pair]) -> Pairs:  # type: ignore[override]
        """Return the pairs of both, with what was left out of either."""
        other_pairs = other if isinstance(other, Pairs) else Pairs()
        return Pairs(
            [*self, *other],
            rejected=self.rejected + other_pairs.rejected,
            uncertain=self.uncertain + other_pairs.uncertain,
            unmentioned=self.unmentioned + other_pairs.unmentioned,
            lost=Counter(self.lost) + Counter(other_pairs.lost),
            lacks=dict.fromkeys(self.lacks + other_pairs.lacks),
            unexchanged=dict.fromkeys(self.unexchanged + other_pairs.unexchanged),
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
        with the ways to settle it.

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
        return _shown(self._summary(), self, self.rejected, self.uncertain, width, limit)

    def _summary(self) -> str:
        """Return the number of pairs and the prompts left out."""
        pair = "pair" if len(self) == 1 else "pairs"
        prompt = "prompt" if self.unmentioned == 1 else "prompts"
        parts = [
            f"{len(self)} {pair}",
            f"{len(self.rejected)} rejected",
            f"{len(self.uncertain)} uncertain",
            f"{self.unmentioned} {prompt} without a mention",
        ]
        if self.lost:
            words = ", ".join(f"{word!r} ({count})" for word, count in self.lost.items())
            parts.append(f"no counterpart for {words}")
        if self.unexchanged:
            groups = ", ".join(self.unexchanged)
            parts.append(f"left as they are without groups=(from, to): {groups}")
        if self.lacks:
            parts.append(f"groups without terms: {', '.join(self.lacks)}")
        return "; ".join(parts)


def _left_out_of(given: Iterable[Any] | None, pairs: object, kind: str) -> tuple[Any, ...]:
    """Return the prompts left out: as given, or from the pairs if they record it."""
    return tuple(getattr(pairs, kind, ()) if given is None else given)


def pair_of(
    text: str,
    changes: Iterable[Change],
    groups: tuple[str, str],
    attribute: str,
    variant: str = "",
) -> Pair:
    """Return the pair of a text and the changes that make its counterfactual."""
    edits = []
    shift = 0
    for start, end, after, *_ in changes:
        edits.append(Edit(start, end, text[start:end], after, start + shift))
        shift += len(after) - (end - start)
    twin = replaced(text, [(edit.start, edit.end, edit.after) for edit in edits])
    return Pair(text, twin, *groups, tuple(edits), attribute, variant)


def misplaced_edit(pair: Pair) -> str | None:
    """Return the edit that is not where it claims to be, or a sign that more differs, or None."""
    last, shift = 0, 0
    text = pair.original
    parts: list[str] = []
    for edit in pair.edits:
        start, after = edit.start, edit.after
        if start < last or text[start : edit.end] != edit.before:
            return f"an edit does not match the original: {edit.before!r}"
        if start + shift != edit.counterfactual_start:
            return f"an edit does not match the counterfactual: {after!r}"
        parts += (text[last:start], after)
        last = edit.end
        shift += len(after) - len(edit.before)
    rebuilt = "".join(parts) + text[last:]
    return None if rebuilt == pair.counterfactual else "the texts differ outside the edits"


_NARROWEST = 60
_GAP = "  "
_REMEDY = (
    "To settle one: put a slot such as {person} or {subject} in its place; or give the prompt and "
    "its twin yourself, as a tuple in the same list; or list in the entry of your lexicon which "
    "words may stand next to the term (not_before, not_after, only_before); or take the likelier "
    "reading with uncertain='keep'."
)
Cell = list[str]


def _shown(
    summary: str,
    pairs: Sequence[Pair],
    rejected: Sequence[Rejected],
    uncertain: Sequence[Uncertain],
    width: int | None,
    limit: int | None,
) -> str:
    """Return the summary, then pairs and rejected pairs as columns, then uncertain prompts."""
    width = width or shutil.get_terminal_size().columns
    if width < _NARROWEST:
        raise ValueError(f"width is {width}; a table needs {_NARROWEST} characters or more")
    if limit is not None and limit < 0:
        raise ValueError(f"limit is {limit}; give the most pairs to show, 0 or more")
    kept = [[*_cells(pair), ["all passed"]] for pair in pairs]
    left = [[*_cells(one.pair), list(one.reasons)] for one in rejected]
    lines = textwrap.wrap(summary, width)
    for rows, last in ((kept, "checks"), (left, "rejected because")):
        if rows:
            head: list[Cell] = [["original"], ["counterfactual"], ["edits"], [last]]
            lines += ["", *_columns([head, *rows[:limit]], width)]
        if limit is not None and len(rows) > limit:
            lines.append(f"and {len(rows) - limit} more")
    if uncertain[:limit]:
        lines += ["", *_uncertain(uncertain[:limit], width)]
        if limit is not None and len(uncertain) > limit:
            lines.append(f"and {len(uncertain) - limit} more")
    return "\n".join(lines)


def _uncertain(prompts: Sequence[Uncertain], width: int) -> Iterator[str]:
    """Yield the lines that list uncertain prompts, and how to settle one."""
    yield "uncertain, so left out"
    yield "-" * len("uncertain, so left out")
    for one in prompts:
        yield from textwrap.wrap(_visible(one.prompt), width)
        indent = "  "
        yield from textwrap.wrap(
            _visible(one.reason), width, initial_indent=indent, subsequent_indent=indent
        )
    yield ""
    yield from textwrap.wrap(_REMEDY, width)


def _cells(pair: Pair) -> list[Cell]:
    """Return the cells: original (and placebo), counterfactual, groups and edits."""
    original = [_visible(pair.original)]
    if pair.placebo is not None:
        original.append(f"placebo: {_visible(pair.placebo)}")
    groups = f"{pair.from_group} -> {pair.to_group}"
    edits = [
        f"{_visible(edit.before.strip())} -> {_visible(edit.after.strip()) or '(left out)'}"
        for edit in pair.edits
    ]
    variant = [pair.variant] if pair.variant else []
    return [original, [_visible(pair.counterfactual)], [groups, *variant, *edits]]


def _visible(text: str) -> str:
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _columns(rows: Sequence[Sequence[Cell]], width: int) -> Iterator[str]:
    """Yield the lines of a table, its first row underlined."""
    room = width - 3 * len(_GAP)
    last = room // 5
    edits = room // 4
    original = (room - last - edits) // 2
    widths = (original, room - last - edits - original, edits, last)
    for number, row in enumerate(rows):
        wrapped = [
            [part for line in cell for part in textwrap.wrap(line, size) or [""]]
            for cell, size in zip(row, widths, strict=True)
        ]
        for parts in itertools.zip_longest(*wrapped, fillvalue=""):
            padded = [part.ljust(size) for part, size in zip(parts, widths, strict=True)]
            yield _GAP.join(padded).rstrip()
        yield _GAP.join("-" * size for size in widths) if number == 0 else ""
