"""Counterfactual pairs: a prompt and its twin, equal except for the protected attribute."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

from pytest_llmfair._util.validation import check_is_list, whole_seed
from pytest_llmfair.counterfactuals.checks import failed_checks
from pytest_llmfair.counterfactuals.omission import omitted, placebo_of
from pytest_llmfair.counterfactuals.pair_list import Pairs, pair_of
from pytest_llmfair.counterfactuals.pair_under_test import Exchange, exchange_of, read_pair
from pytest_llmfair.counterfactuals.templates.filled import pairs_of_names
from pytest_llmfair.counterfactuals.templates.fillers import known_slots
from pytest_llmfair.counterfactuals.templates.slots import slot_names
from pytest_llmfair.counterfactuals.user_pairs import (
    check_is_text,
    check_pair,
    lexicons_that_may_change,
    reasons_invalid,
)
from pytest_llmfair.lexicons.attributes import (
    Attribute,
    lexicon_for,
    lexicon_of,
    lexicon_to_mask,
    words_to_mask,
)
from pytest_llmfair.lexicons.lexicon import Lexicon
from pytest_llmfair.lexicons.name_lexicon import NameLexicon
from pytest_llmfair.lexicons.reading import Change, Mention, Reading
from pytest_llmfair.lexicons.terms import UNPAIRED
from pytest_llmfair.lexicons.writing import edits_between
from pytest_llmfair.responses import EXPLICIT, OMISSION, Pair, Rejected, Uncertain, marked
from pytest_llmfair.text import mask_words

__all__ = ["Pairs", "check_pair", "generate_pairs", "mask", "mentions"]

WhenUncertain = Literal["reject", "keep"]

_log = logging.getLogger("pytest_llmfair")


def generate_pairs(
    prompts: Iterable[str | tuple[str, str]],
    attribute: Attribute,
    groups: Sequence[str] | None = None,
    *,
    placebo: bool = False,
    seed: int = 0,
    uncertain: WhenUncertain = "reject",
) -> Pairs:
    """Make counterfactual pairs by exchanging the mentions of a protected attribute.

    Only the mentions change (and an article before them that no longer fits): case, spacing,
    quotes, addresses and code stay as they are. A pair that fails a check of the validity gate is
    in `.rejected`, with the reasons. A prompt in which a word can be read in two ways ("her" as
    him or his, "Rose" as a name or a flower) gives no pair, and is in `.uncertain`.

    A group that texts usually leave unsaid (no disability, straight, cisgender) is made in two
    ways: by omission ("my blind neighbour", "my neighbour"), where grammar allows it, and by
    naming it ("my sighted neighbour"); the pair's `variant` says which.

    Parameters
    ----------
    prompts : iterable of str or (str, str)
        Prompts; a tuple is one with your own twin, whose edits settle uncertain words.
    attribute : str, Lexicon or tuple of two of these
        Name of a shipped lexicon, or a lexicon. Two attributes make intersectional groups: all
        mentions of both change at once, in prompts that name a group of both.
    groups : (str, str), optional
        From and to, by label or alias: only mentions of the first group change. For "nationality"
        alone two peoples are groups too: ("Italian", "Nigerian"). Without it every mention is
        exchanged with its counterpart, and an attribute of more than two groups gives one pair to
        every other group. For gender this exchanges female and male only. Of two attributes a
        group is named by both: ("black female", "white male"). Of names give any number.
    placebo : bool
        Whether to give every pair a placebo twin: the original reworded within its own group.
    seed : int
        Seed of the choice of words for placebo twins.
    uncertain : {"reject", "keep"}
        How to treat prompts in which a word can be read in two ways: "reject" leaves them out,
        "keep" takes the likelier reading and records it in the `uncertain` field of the pair.

    Returns
    -------
    Pairs
        A list in the order of the prompts; empty when none has a mention.

    Raises
    ------
    ValueError
        If the attribute or a group is unknown, or `prompts` is empty, a single text, or holds
        something else than texts, or a template with a slot such as ``{person}``.

    Examples
    --------
    >>> pairs = generate_pairs(["She lost her keys.", "The train left."], "gender")
    >>> pairs[0].counterfactual, pairs.unmentioned
    ('He lost his keys.', 1)
    >>> groups = ("black female", "white male")
    >>> generate_pairs(["A Black woman called."], ("race", "gender"), groups)[0].counterfactual
    'A white man called.'
    """
    prompts = _checked(prompts)
    _check_no_slots(prompts, attribute)
    return pairs_of_part(
        prompts, attribute, groups, placebo=placebo, seed=seed, uncertain=uncertain
    )


def pairs_of_part(
    prompts: Iterable[str | tuple[str, str]],
    attribute: Attribute,
    groups: Sequence[str] | None = None,
    *,
    placebo: bool = False,
    seed: int = 0,
    uncertain: WhenUncertain = "reject",
    first_row: int = 0,
) -> Pairs:
    """Make the pairs of a part of a list that begins at `first_row` of it."""
    lexicon, seed = lexicon_for(attribute, groups), whole_seed(seed)
    texts = _checked(prompts)
    named = Pairs()
    if isinstance(lexicon, NameLexicon):
        named = pairs_of_names(texts, lexicon, placebo=placebo, seed=seed, first_row=first_row)
        texts, groups = [each for each in texts if isinstance(each, tuple)], None
    wanted = _checked_groups(lexicon, groups)
    if uncertain not in ("reject", "keep"):
        raise ValueError(f"uncertain is {uncertain!r}; choose 'reject' or 'keep'")
    exchanged = wanted[:1] if wanted else lexicon.default_groups
    pairs: list[Pair] = []
    unsure: list[Uncertain] = []
    rejected: list[Rejected] = []
    dropped: Counter[str] = Counter()
    unmentioned = 0
    for row, text in enumerate(texts, first_row):
        if isinstance(text, tuple):
            own = _own_pair(lexicon, row, *text, wanted)
            reasons = reasons_invalid(own, lexicon, lexicons_that_may_change(lexicon))
            own = replace(own, edits=edits_between(*text))
            made: list[Pair | Rejected] = [Rejected(own, reasons) if reasons else marked(own)]
            lost: list[str] = []
        else:
            found = lexicon.read(text)
            doubt = lexicon.doubt(found, exchanged) if found.doubts else None
            if doubt is not None and uncertain == "reject":
                unsure.append(Uncertain(text, doubt.start, doubt.end, doubt.why))
                continue
            made, lost = _exchanged(
                lexicon, text, found, wanted, f"{seed} {row}" if placebo else None
            )
            if doubt is not None:
                made = [
                    marked(replace(each, uncertain=doubt.why)) if isinstance(each, Pair) else each
                    for each in made
                ]
        unmentioned += not made and not lost
        dropped.update(lost)
        rejected += (each for each in made if isinstance(each, Rejected))
        pairs += (each for each in made if isinstance(each, Pair))
    left = [] if wanted else [group for group in lexicon.groups if group not in exchanged]
    _log_left_out(lexicon, left, dropped, len(rejected), unsure)
    return named + Pairs(
        pairs,
        rejected=rejected,
        uncertain=unsure,
        unmentioned=unmentioned,
        lost=dropped,
        lacks=lexicon.lacks,
        unexchanged=left,
    )


def mentions(text: str, attribute: Attribute) -> list[Mention]:
    """Return where a text names a group of the attribute.

    Parameters
    ----------
    text : str
        Any text.
    attribute : str, Lexicon or tuple of two of these
        Name of a shipped lexicon, or a lexicon.

    Returns
    -------
    list of Mention
        In order; "he/she" is two mentions.

    Raises
    ------
    ValueError
        If there is no such attribute, or `text` is not a text.

    Examples
    --------
    >>> [(each.text, each.group) for each in mentions("He thanked his aunt.", "gender")]
    [('He', 'male'), ('his', 'male'), ('aunt', 'female')]
    """
    check_is_text(text)
    return lexicon_of(attribute).mentions(text)


def mask(text: str, attribute: Attribute | Sequence[str]) -> str:
    """Return the text with a placeholder for every mention of the attribute.

    Neutral words of a lexicon ("they", "parents") are masked too, and "an" becomes "a".

    Parameters
    ----------
    text : str
        Any text.
    attribute : str, Lexicon, two of these, or sequence of str
        Name of a shipped lexicon, a lexicon, two attributes, or the words to mask.

    Returns
    -------
    str
        The same for both members of a counterfactual pair.

    Raises
    ------
    ValueError
        If there is no such attribute, a word is not a text, or `text` is not a text.

    Examples
    --------
    >>> mask("She is an actress.", "gender") == mask("He is an actor.", "gender")
    True
    >>> mask("A red car", ["red"])
    'A [MASK] car'
    """
    check_is_text(text)
    known = lexicon_to_mask(attribute)
    if known is not None:
        return known.mask(text)
    return mask_words(text, words_to_mask(attribute, "attribute"))


def _checked(prompts: Iterable[str | tuple[str, str]]) -> list[str | tuple[str, str]]:
    check_is_list(prompts)
    texts = list(prompts)
    if not texts:
        raise ValueError("there are no prompts; give at least one text")
    return [_prompt(row, text) for row, text in enumerate(texts)]


def _check_no_slots(prompts: Sequence[str | tuple[str, str]], attribute: Attribute) -> None:
    """Raise ``ValueError`` for a template, in which no group would be found."""
    braces = [(row, text) for row, text in enumerate(prompts) if "{" in text]
    known = known_slots(attribute, {})
    for row, text in braces:
        if slot := next((name for name in slot_names(str(text)) if name in known), ""):
            raise ValueError(
                f"prompt {row} has the slot {{{slot}}}, and generate_pairs takes texts as they "
                "are sent; give templates to pairs_from_templates"
            )


def _prompt(row: int, text: object) -> str | tuple[str, str]:
    if isinstance(text, str):
        return str(text)  # no text of numpy
    if isinstance(text, tuple) and len(text) == 2 and all(isinstance(each, str) for each in text):
        return str(text[0]), str(text[1])
    raise ValueError(
        f"prompt {row} is {text!r}, a {type(text).__name__}; give a text, or a tuple of a text "
        "and its twin"
    )


def _own_pair(
    lexicon: Lexicon, row: int, text: str, twin: str, wanted: tuple[str, str] | None
) -> Pair:
    """Return the pair of a prompt and its twin; its groups are those that they name."""
    if wanted is None:
        edits = edits_between(text, twin)
        there = [(edit.start, edit.end) for edit in edits]
        back = [
            (edit.counterfactual_start, edit.counterfactual_start + len(edit.after))
            for edit in edits
        ]
        found, found_twin = lexicon.read(text).with_doubts(), lexicon.read(twin).with_doubts()
        first = lexicon.first_named(found.overlapping(there), lexicon.groups)
        others = [group for group in lexicon.groups if group != first]
        second = lexicon.first_named(found_twin.overlapping(back), others)
        if first is None or second is None:
            side = "it" if first is None else "its twin"
            raise ValueError(
                f"prompt {row} has a twin of its own, and {side} names no group of "
                f"{lexicon.name} where they differ: {(text if first is None else twin)[:60]!r}; "
                "give groups=(from, to), or words that the lexicon knows"
            )
        wanted = first, second
    return Pair(text, twin, *wanted, (), lexicon.name)


def _checked_groups(lexicon: Lexicon, groups: Sequence[str] | None) -> tuple[str, str] | None:
    if groups is None:
        return None
    given = groups if isinstance(groups, (tuple, list)) else ()
    known = tuple(lexicon.group(group) for group in given)
    if len(known) != 2:
        raise ValueError(
            f"groups is {groups!r}; give two different ones: (from, to), or leave it out and give "
            "the assertion groups=... to compare more"
        )
    if known[0] == known[1]:
        raise ValueError(
            f"groups is {groups!r}, which both mean {known[0]}; give two different ones: (from, "
            "to); words of one group take each other's place in placebo twins (placebo=True)"
        )
    return known[0], known[1]


def _exchanged(
    lexicon: Lexicon,
    text: str,
    found: Reading,
    wanted: tuple[str, str] | None,
    placebo: str | None,
) -> tuple[list[Pair | Rejected], list[str]]:
    """Return the pairs of a prompt, and its words without a counterpart."""
    first = wanted[0] if wanted else lexicon.first_named(found, lexicon.default_groups)
    if first is None or not found:
        return [], [text[start:end] for start, end, own in found if own.role == UNPAIRED]
    made: list[Pair | Rejected] = []
    dropped: list[str] = []
    for exchange in _exchanges(lexicon, first, wanted):
        for changes, lost, variant in _changes_by_variant(lexicon, text, found, exchange):
            dropped += lost
            if lost or not changes:
                continue
            pair = pair_of(text, changes, exchange.groups, lexicon.name, variant)
            absent = exchange.absent_groups(variant)
            reasons = failed_checks(read_pair(pair, changes, lexicon, absent, found))
            if reasons:
                made.append(Rejected(pair, reasons))
                continue
            if placebo is not None:
                twin = placebo_of(lexicon, text, found, exchange.spread, placebo)
                pair = replace(pair, placebo=twin)
            made.append(marked(pair))
    return made, dropped


def _exchanges(lexicon: Lexicon, first: str, wanted: tuple[str, str] | None) -> list[Exchange]:
    """Return an exchange for each pair of a prompt that names this group first."""
    if wanted:
        return [exchange_of(lexicon, {wanted[0]: wanted[1]})]
    others = (group for group in lexicon.default_groups if group != first)
    return [exchange_of(lexicon, {first: group, group: first}) for group in others]


def _changes_by_variant(
    lexicon: Lexicon, text: str, found: Reading, exchange: Exchange
) -> Iterator[tuple[list[Change], list[str], str]]:
    """Yield changes, words without a counterpart and variant: omission, then explicit."""
    changes, lost = lexicon.exchanges(text, exchange.to, found)
    omittable = exchange.omittable
    if omittable and not any(sense.group in omittable.values() for *_, sense in found):
        others = [change for change in changes if change.group not in omittable]
        left = omitted(lexicon, text, found, omittable.keys(), others)
        if left is not None:
            yield left, lost if others else [], OMISSION
    yield changes, lost, EXPLICIT if omittable else ""


def _log_left_out(
    lexicon: Lexicon,
    left: list[str],
    dropped: Counter[str],
    rejected: int,
    unsure: list[Uncertain],
) -> None:
    if left:
        _log.info(
            "%s: exchanging %s only; for %s give groups=(from, to)",
            lexicon.name,
            " and ".join(lexicon.default_groups),
            ", ".join(left),
        )
    if dropped:
        words = ", ".join(f"{word!r} ({count})" for word, count in dropped.items())
        _log.info(
            "%s: prompts left out because these words have no counterpart: %s", lexicon.name, words
        )
    if unsure:
        _log.info(
            "%s: %d prompts left out because a word can be read in two ways; first: %s",
            lexicon.name,
            len(unsure),
            unsure[0].reason,
        )
    if rejected:
        _log.info("%s: %d pairs left out because they fail a check", lexicon.name, rejected)
