"""A pair on trial: all that the checks of validity look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pytest_llmfair.counterfactuals._lexicons.terms import Sense
from pytest_llmfair.counterfactuals._pairing.pair import Edit, Pair
from pytest_llmfair.counterfactuals.lexicon import Change, Lexicon, Reading


class Case(NamedTuple):
    """A pair on trial.

    Attributes
    ----------
    pair : Pair
        The pair.
    changes : list of Change
        Its edits, with what the words mean.
    found : list
        What the lexicon reads in the original.
    twin : dict
        What it reads in the counterfactual: start to end and meaning.
    gone : frozenset of str
        Groups that nothing may name any more.
    lexicon : Lexicon
        Of the attribute.
    named : list
        The changes of words that name a group: change, meaning and edit.
    """

    pair: Pair
    changes: list[Change]
    found: Reading
    twin: Mapping[int, tuple[int, Sense]]
    gone: frozenset[str]
    lexicon: Lexicon
    named: list[tuple[Change, Sense, Edit]]


def case_of(
    pair: Pair,
    changes: list[Change],
    lexicon: Lexicon,
    gone: frozenset[str],
    found: Reading | None = None,
) -> Case:
    """Put a pair on trial: read its counterfactual, and the original unless `found` is given."""
    twin: dict[int, tuple[int, Sense]] = {}
    for start, end, sense in lexicon.read(pair.counterfactual):
        twin.setdefault(start, (end, sense))  # of two at one place the first counts
    known = lexicon.read(pair.original) if found is None else found
    named = [
        (change, change.sense, edit)
        for change, edit in zip(changes, pair.edits, strict=True)
        if change.sense is not None
    ]
    return Case(pair, changes, known, twin, gone, lexicon, named)
