"""A list of counterfactual pairs that also records what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Self, SupportsIndex, overload

from pytest_llmfair.counterfactuals.table import table
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
        return table(self._summary(), self, self.rejected, self.uncertain, width, limit)

    def _summary(self) -> str:
        """Return how many pairs there are, and what was left out."""
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
    """Return what was left out: as given, or from the pairs if they record it."""
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
    """Return which edit is not where it claims to be, or that more differs, or None."""
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
