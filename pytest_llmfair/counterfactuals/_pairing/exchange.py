"""Which groups take each other's place in a pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pytest_llmfair.counterfactuals._pairing.pair import OMISSION
from pytest_llmfair.counterfactuals.lexicon import Lexicon


class Exchange(NamedTuple):
    """Which groups take each other's place in a pair.

    `to` maps a group to the one in its place, `spread` the same for groups of mentions, which
    differ for intersections; `unsaid` maps groups that can be left out to what this leaves unsaid.
    """

    groups: tuple[str, str]
    to: Mapping[str, str]
    spread: Mapping[str, str]
    unsaid: Mapping[str, str]

    def vanishing(self, variant: str) -> frozenset[str]:
        """Return the groups that a counterfactual must not name."""
        if variant == OMISSION:
            return frozenset(self.unsaid)
        return frozenset(self.spread).difference(self.spread.values())


def exchange_of(lexicon: Lexicon, to: Mapping[str, str]) -> Exchange:
    """Return the exchange of groups, the first two of which are from and to."""
    groups = next(iter(to.items()))
    return Exchange(groups, to, lexicon.spread(to), lexicon.left_unsaid(*groups))
