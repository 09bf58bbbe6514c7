"""A pair under test, and the groups that take each other's place in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pytest_llmfair.lexicons.lexicon import Lexicon
from pytest_llmfair.lexicons.reading import Change, Doubt, Reading
from pytest_llmfair.lexicons.terms import Sense
from pytest_llmfair.responses import OMISSION, Edit, Pair


class Exchange(NamedTuple):
    """The groups that take each other's place in a pair."""

    groups: tuple[str, str]
    to: Mapping[str, str]
    spread: Mapping[str, str]  # `to` for the groups of mentions, which intersections split
    omittable: Mapping[str, str]  # group to omit -> the group that this implies

    def absent_groups(self, variant: str) -> frozenset[str]:
        """Return the groups that the counterfactual must not name."""
        if variant == OMISSION:
            return frozenset(self.omittable)
        return frozenset(self.spread).difference(self.spread.values())


def exchange_of(lexicon: Lexicon, to: Mapping[str, str]) -> Exchange:
    """Return the exchange of groups; the first two are from and to."""
    groups = next(iter(to.items()))
    return Exchange(groups, to, lexicon.spread(to), lexicon.left_unsaid(*groups))


class PairUnderTest(NamedTuple):
    """A pair with its changes and what the lexicon reads in both members."""

    pair: Pair
    changes: list[Change]
    found: Reading
    twin: Mapping[int, tuple[int, Sense]]  # start -> end and meaning in the counterfactual
    doubts: tuple[Doubt, ...]  # of the counterfactual
    absent: frozenset[str]  # groups that the counterfactual must not name
    lexicon: Lexicon
    named: list[tuple[Change, Sense, Edit]]  # the changes of words for a group

    def doubt_in_one_member(self) -> Doubt | None:
        """Return a word that does not change and is uncertain in one member only."""
        if not self.found.doubts and not self.doubts:
            return None
        edits = self.pair.edits
        own = _unchanged(self.found.doubts, [(edit.start, edit.end, 0) for edit in edits])
        moved = [
            (start, start + len(edit.after), len(edit.before) - len(edit.after))
            for edit in edits
            for start in (edit.counterfactual_start,)
        ]
        twin = _unchanged(self.doubts, moved)
        alone = own.keys() ^ twin.keys()
        return {**own, **twin}[min(alone)] if alone else None


def _unchanged(doubts: Sequence[Doubt], edits: Sequence[tuple[int, int, int]]) -> dict[int, Doubt]:
    """Return uncounted doubts outside edits (start, end, how far they move what follows)."""
    return {
        doubt.start + sum(shift for start, _, shift in edits if start < doubt.start): doubt
        for doubt in doubts
        if not doubt.counted
        and not any(start < doubt.end and doubt.start < end for start, end, _ in edits)
    }


def read_pair(
    pair: Pair,
    changes: list[Change],
    lexicon: Lexicon,
    absent: frozenset[str],
    found: Reading | None = None,
    found_twin: Reading | None = None,
) -> PairUnderTest:
    """Return a pair under test; its members are read unless their readings are given."""
    twin: dict[int, tuple[int, Sense]] = {}
    known = lexicon.read(pair.original) if found is None else found
    read = found_twin
    if read is None:  # a word that is a mention in both is not uncertain in one
        read = lexicon.read(pair.counterfactual, doubts=known.passed)
    for start, end, sense in read:
        twin.setdefault(start, (end, sense))  # of two at one place the first counts
    named = [
        (change, change.sense, edit)
        for change, edit in zip(changes, pair.edits, strict=True)
        if change.sense is not None
    ]
    return PairUnderTest(pair, changes, known, twin, read.doubts, absent, lexicon, named)
