"""Placebo twins: the original reworded within its own group.

The difference between the answers to an original and its placebo is the effect of any rewording.
Only what a counterfactual adds to it is an effect of the group.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Container, Iterator

from pytest_llmfair.counterfactuals.checks import failed_checks
from pytest_llmfair.counterfactuals.pair_list import pair_of
from pytest_llmfair.counterfactuals.pair_under_test import read_pair
from pytest_llmfair.lexicons.lexicon import PRONOUNS, Lexicon
from pytest_llmfair.lexicons.names import name_data, name_lexicon
from pytest_llmfair.lexicons.reading import Change, Reading
from pytest_llmfair.lexicons.terms import WRITTEN, Sense, is_joined

_LETTERS = 1  # by which two names of similar length may differ


def placebo_of(
    lexicon: Lexicon, text: str, found: Reading, groups: Container[str], seed: str
) -> str | None:
    """Return the text reworded within its groups; None if no other term or name is known."""
    generator = random.Random(seed)
    for changes, own in _rewordings(lexicon, text, found, groups, generator):
        group = changes[-1].group
        pair = pair_of(text, changes, (group, changes[-1].becomes), own.name)
        case = read_pair(pair, changes, own, frozenset())
        named = [sense.group for _, sense in case.twin.values()]
        same = own is not lexicon or named == [sense.group for *_, sense in found]
        if same and not failed_checks(case):
            return pair.counterfactual
    return None


def alternatives(lexicon: Lexicon, sense: Sense) -> tuple[str, ...]:
    """Return other terms for a meaning in its group; none outdated, a slur or joined."""
    if sense.entry is None or sense.negated or sense.role in PRONOUNS:
        return ()
    term = sense.term.casefold()
    line = next((x for x in lexicon.synonyms if term in map(str.casefold, x)), None)
    if line is None:
        line = sense.entry.terms[sense.group]
        fine = [other for other in line if sense.entry.register(other) in WRITTEN]
    else:
        fine = [
            other
            for other in line
            for own in lexicon.senses(other)
            if (own.role, own.group) == (sense.role, sense.group)
            and own.entry is not None
            and own.entry.register(own.term) in WRITTEN
        ]
    own = next((place for place, other in enumerate(line) if other.casefold() == term), 0)
    order = [*line[own + 1 :], *line[:own]]
    # A term that differs only by a hyphen is no rewording.
    other_words = (other for other in order if _unhyphened(other) != _unhyphened(term))
    return tuple(other for other in other_words if other in fine and not is_joined(other))


def _unhyphened(term: str) -> str:
    return term.casefold().replace("-", " ")


def _rewordings(
    lexicon: Lexicon,
    text: str,
    found: Reading,
    groups: Container[str],
    generator: random.Random,
) -> Iterator[tuple[list[Change], Lexicon]]:
    """Yield the possible rewordings, each with the lexicon that reads it."""
    if lexicon.name == "name":
        for old, new in _other_names(lexicon, text, groups, generator):
            own = name_lexicon((old, new))
            changes, _ = own.exchanges(text, {old: new})
            if changes:
                yield changes, own
        return
    reworded = [each for each in found if each[2].group in groups]
    choices = {(sense.term, sense.role): alternatives(lexicon, sense) for *_, sense in reworded}
    most = max(map(len, choices.values()), default=0)
    first = generator.randrange(most) if most else 0
    # All terms move by the same step: "a German from Germany" becomes "an Italian from Italy".
    for turn in range(first, first + most):
        changes = []
        for each in reworded:
            terms = choices[each[2].term, each[2].role]
            if terms:
                changes += lexicon.change(text, each, terms[turn % len(terms)], each[2].group)
        yield changes, lexicon


def _other_names(
    lexicon: Lexicon, text: str, groups: Container[str], generator: random.Random
) -> Iterator[tuple[str, str]]:
    """Yield the name with replacements of its gender and group and of similar length."""
    old = next(group for group in lexicon.groups if group in groups)
    own = {part.casefold() for group in lexicon.groups for part in group.split()}
    here = text.casefold()
    columns = []
    for number, part in enumerate(old.split()):
        names = [
            name
            for name in _same_cell(part, "first" if number == 0 else "last")
            if abs(len(name) - len(part)) <= _LETTERS
            and name.casefold() not in own
            and name.casefold() not in here
        ]
        columns.append(generator.sample(names, len(names)) or [part])
    for parts in itertools.product(*columns):
        if list(parts) != old.split():
            yield old, " ".join(parts)


def _same_cell(name: str, kind: str) -> list[str]:
    """Return the other names of the same gender and race (of the same race for last names)."""
    for line in name_data()[kind]:
        for cell, (listed, *_) in line.items():
            if listed.casefold() == name.casefold():
                return [other[cell][0] for other in name_data()[kind] if other[cell][0] != listed]
    return []
