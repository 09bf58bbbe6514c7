"""Pairs that others made, put through the validity gate before a model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pytest_llmfair.counterfactuals._pairing.pair import Pairs
from pytest_llmfair.counterfactuals.pairs import check_pair
from pytest_llmfair.lexicons.attributes import lexicon_of_pair
from pytest_llmfair.responses import Pair, Rejected, marked


def through_gate(pairs: Sequence[Any]) -> tuple[Pairs, list[int]]:
    """Put those pairs of a list through the gate that did not pass it yet.

    Those that pass come back marked, with those that no lexicon of the package can judge as they
    are, and the rows of both; those that fail are in `.rejected`.
    """
    kept: dict[int, Any] = {}
    rejected: list[Rejected] = []
    lacks = dict.fromkeys(getattr(pairs, "lacks", ()))
    for row, pair in enumerate(pairs):
        if getattr(pair, "checked", False) or why_unjudged(pair):
            kept[row] = pair
            continue
        lexicon = lexicon_of_pair(pair)
        lacks |= dict.fromkeys(lexicon.lacks)
        if reasons := check_pair(pair, lexicon):
            rejected.append(Rejected(pair, reasons))
        else:
            kept[row] = marked(replace(pair))
    before = Pairs(pairs)  # with what was left out of them
    rejected = [*before.rejected, *rejected]
    before[:] = kept.values()
    return Pairs(before, rejected=rejected, lacks=lacks), list(kept)


def why_unjudged(pair: Any) -> str:
    """Say why no lexicon of the package can judge a pair; empty where one can."""
    if not isinstance(pair, Pair):
        return f"a {type(pair).__name__} is no Pair"
    try:
        lexicon = lexicon_of_pair(pair)
        for group in (pair.from_group, pair.to_group):
            lexicon.group(group)
    except ValueError as error:
        return str(error)
    if any(lexicon.read(text).with_doubts() for text in (pair.original, pair.counterfactual)):
        return ""
    return f"the lexicon {lexicon.name} knows no word of them"
