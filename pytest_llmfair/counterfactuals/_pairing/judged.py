"""What is wrong with a pair that somebody else made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_llmfair.counterfactuals._pairing.case import case_of
from pytest_llmfair.counterfactuals._pairing.exchange import exchange_of
from pytest_llmfair.counterfactuals._pairing.minimal import not_minimal
from pytest_llmfair.counterfactuals._pairing.pair import (
    OMISSION,
    Edit,
    Pair,
    edits_between,
    misplaced,
)
from pytest_llmfair.counterfactuals.lexicon import Change, Lexicon, Reading
from pytest_llmfair.counterfactuals.validity import failed
from pytest_llmfair.lexicons.english.possessives import possessive_behind

# What a place has in front of it where another stands bare: "after church".
_LEADS = ("the service at the ", "the ")


def reasons_against(pair: Pair, lexicon: Lexicon, beside: Sequence[Lexicon]) -> tuple[str, ...]:
    """Return what is wrong with a pair that somebody else made; see :func:`check_pair`.

    `beside` are the lexicons whose words may change.
    """
    groups = lexicon.group(pair.from_group), lexicon.group(pair.to_group)
    if groups[0] == groups[1]:
        return (f"both members are of one group, which makes a placebo: {groups[0]}",)
    readings = [lexicon.read(text) for text in (pair.original, pair.counterfactual)]
    told = [{sense.group for *_, sense in reading} for reading in readings]
    unsaid = [lexicon.left_unsaid(*groups[::-1]), lexicon.left_unsaid(*groups)]
    if not pair.variant and unsaid[1] and told[1].isdisjoint(unsaid[1].values()):
        pair = replace(pair, variant=OMISSION)
    elif not pair.variant and unsaid[0] and told[0].isdisjoint(unsaid[0].values()):
        turned = Pair(
            pair.counterfactual, pair.original, *groups[::-1], (), pair.attribute, OMISSION
        )
        return reasons_against(turned, lexicon, beside)
    spans = [[(start, end) for start, end, _ in reading] for reading in readings]
    if pair.edits and (said := misplaced(pair)) is not None:
        return (said,)
    if pair.variant == OMISSION:  # "users' votes" beside "people's votes"
        text = pair.original
        spans[0] = [(start, end + len(possessive_behind(text, end))) for start, end in spans[0]]
    edits = pair.edits or tuple(
        part
        for edit in edits_between(pair.original, pair.counterfactual, *spans)
        for part in _parts(edit, *readings)
    )
    pair = replace(pair, from_group=groups[0], to_group=groups[1], edits=edits)
    senses = {
        (start, stop): sense
        for start, end, sense in reversed(readings[0])  # the first of two counts
        if sense.entry is not None
        for stop in (end + len(possessive_behind(pair.original, end)), end)
    }
    to = {pair.from_group: pair.to_group}
    edited = {senses[span].group for e in pair.edits if (span := (e.start, e.end)) in senses}
    spread = lexicon.spread(to)
    if not edited.isdisjoint(spread.values()):  # the two change places
        if told[0].isdisjoint(spread):
            return (f"the groups are the wrong way round: the original names {groups[1]}",)
        to[pair.to_group] = pair.from_group
    exchange = exchange_of(lexicon, to)
    becomes = exchange.spread
    left_out = exchange.unsaid if pair.variant == OMISSION else {}
    changes = []
    for edit in pair.edits:
        sense = senses.get((edit.start, edit.end))
        named = sense is not None and edit.after and sense.group not in left_out
        group = becomes.get(sense.group, sense.group) if sense is not None and named else ""
        known = sense if group else None
        changes.append(Change(edit.start, edit.end, edit.after, pair.from_group, known, group))
    case = case_of(pair, changes, lexicon, exchange.vanishing(pair.variant))
    return (*failed(case), *not_minimal(case, beside))


def _parts(edit: Edit, found: Reading, twin: Reading) -> Iterator[Edit]:
    """Part what leads to a place from its name, as an exchange does: "church", "the mosque"."""
    at, place = edit.start, edit.counterfactual_start
    leads = _article(found, at, edit.before), _article(twin, place, edit.after)
    if leads[0] == leads[1] or not at:
        yield edit
        return
    # The blank before the name is that of both texts: "to", " the", " mosque".
    before, after = (f" {lead}".removesuffix(" ") for lead in leads)
    yield Edit(at - 1, at - 1 + len(before), before, after, place - 1)
    start, starts = at + len(leads[0]), place + len(leads[1])
    yield Edit(start, edit.end, edit.before[len(leads[0]) :], edit.after[len(leads[1]) :], starts)


def _article(reading: Reading, start: int, part: str) -> str:
    """Return what leads to a place in a part of a text; "" for none."""
    lead = next((part[: len(lead)] for lead in _LEADS if part.lower().startswith(lead)), "")
    at = start + len(lead)
    named = any(begin == at and sense.role == "place" for begin, _, sense in reading)
    return lead if named else ""
