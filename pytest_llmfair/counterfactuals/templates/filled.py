"""Pairs of filled templates: the two texts, their differences and their checks."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from pytest_llmfair.counterfactuals.checks import (
    articles_fit,
    changes_something,
    equal_outside,
    no_doubled_words,
    no_residual_term,
    one_determiner,
)
from pytest_llmfair.counterfactuals.pair_list import Pairs, pair_of
from pytest_llmfair.counterfactuals.pair_under_test import PairUnderTest, read_pair
from pytest_llmfair.counterfactuals.templates.fillers import Fillers, Forms, GroupTerm
from pytest_llmfair.counterfactuals.templates.slots import Part, text_of
from pytest_llmfair.counterfactuals.templates.template import Template
from pytest_llmfair.lexicons.attributes import Attribute, lexicon_for, lexicon_of
from pytest_llmfair.lexicons.intersections import NOUN
from pytest_llmfair.lexicons.name_lexicon import is_names
from pytest_llmfair.lexicons.reading import Change
from pytest_llmfair.responses import Pair, Rejected, marked

_WORDS = re.compile(r"(\s+)")
# Only the checks that apply where a slot shows which words are mentions.
_CHECKS = (
    changes_something,
    equal_outside,
    no_residual_term,
    articles_fit,
    one_determiner,
    no_doubled_words,
)


def filled_pair(
    template: Template,
    terms: tuple[GroupTerm, GroupTerm],
    fills: Forms,
    groups: tuple[str, str],
    known: Fillers,
) -> Pair:
    """Return the pair of a template that terms of two groups fill."""
    before, after = (template.parts({**term.forms, **fills}) for term in terms)
    changes = [Change(*change, groups[0]) for change in differences(before, after)]
    variant = terms[0].variant or terms[1].variant
    pair = pair_of(text_of(before), changes, groups, known.attribute, variant)
    cue = " / ".join(_words(term, template, fills) for term in terms)
    return replace(pair, **labels(template, fills), cue=cue)


def labels(template: Template, fills: Forms) -> dict[str, Any]:
    """Return the template of a pair, and the fills that all groups share."""
    filler = ", ".join(fills[slot] for slot in sorted(fills))
    return {"template": template.text, "filler": filler}


def _words(term: GroupTerm, template: Template, fills: Forms) -> str:
    """Return the words that a term puts into the slots of a template."""
    own = (slot for slot in template.slots if slot not in fills)
    return " ".join(term.forms.get(slot, term.forms.get(NOUN, "")) for slot in own)


def reworded(
    text: str,
    term: GroupTerm,
    template: Template,
    terms: Sequence[GroupTerm],
    fills: Forms,
    seed: str,
) -> str | None:
    """Return the text with another term of its group; None if there is none."""
    others = [
        other
        for own in terms
        if (own.variant, own.kin) == (term.variant, term.kin)
        and (other := text_of(template.parts({**own.forms, **fills}))) != text
    ]
    return random.Random(seed).choice(others) if others else None


def checked(pairs: Iterable[Pair], attribute: Attribute) -> Pairs:
    """Put pairs through the validity gate."""
    passed, rejected = [], []
    for pair in pairs:
        case = _case(pair, attribute)
        reasons = tuple(reason for check in _CHECKS if (reason := check(case)) is not None)
        if reasons:
            rejected.append(Rejected(pair, reasons))
        else:
            passed.append(marked(pair))
    return Pairs(passed, rejected=rejected)


def _case(pair: Pair, attribute: Attribute) -> PairUnderTest:
    changes = [Change(edit.start, edit.end, edit.after, pair.from_group) for edit in pair.edits]
    if is_names(attribute):  # other people of a text may have the gender of the source group
        lexicon, gone = lexicon_of("gender"), frozenset[str]()
    else:
        lexicon = lexicon_for(attribute, (pair.from_group, pair.to_group))
        becomes = lexicon.spread({pair.from_group: pair.to_group})
        gone = frozenset(becomes) - frozenset(becomes.values())
    return read_pair(pair, changes, lexicon, gone)


def differences(before: Sequence[Part], after: Sequence[Part]) -> list[tuple[int, int, str]]:
    """Return the changes between two fillings of one template: start, end and new text."""
    found = []
    at = 0
    for differs, run in itertools.groupby(
        zip(before, after, strict=True), lambda pair: pair[0].text != pair[1].text
    ):
        pairs = list(run)
        old, new = ("".join(pair[side].text for pair in pairs) for side in (0, 1))
        if differs:
            start, stop = _common(_WORDS.split(old), _WORDS.split(new))
            found.append((at + start, at + len(old) - stop, new[start : len(new) - stop]))
        at += len(old)
    return found


def _common(old: list[str], new: list[str]) -> tuple[int, int]:
    """Return the length of the whole words that two texts begin and end with."""
    start = stop = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    most = min(len(old), len(new)) - start
    while stop < most and old[-1 - stop] == new[-1 - stop]:
        stop += 1
    return len("".join(old[:start])), len("".join(old[len(old) - stop :]))
