"""Pairs of filled templates, and of prompts with the names of groups; their checks."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_llmfair._util.validation import whole
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
from pytest_llmfair.counterfactuals.templates.fillers import (
    Fillers,
    Forms,
    GroupTerm,
    read_fillers,
)
from pytest_llmfair.counterfactuals.templates.people import (
    FIRST,
    LAST,
    Found,
    Shown,
    person_of,
    shown_gender,
)
from pytest_llmfair.counterfactuals.templates.slots import PERSON, Part, text_of
from pytest_llmfair.counterfactuals.templates.template import Template
from pytest_llmfair.lexicons.attributes import Attribute, lexicon_for, lexicon_of
from pytest_llmfair.lexicons.intersections import NOUN
from pytest_llmfair.lexicons.name_lexicon import NameLexicon, is_names
from pytest_llmfair.lexicons.reading import Change
from pytest_llmfair.responses import Pair, Rejected, Uncertain, marked
from pytest_llmfair.session import note_used

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


def pairs_of_names(
    prompts: Sequence[Any],
    lexicon: NameLexicon,
    *,
    fillers: Mapping[str, Any] | None = None,
    fill_limit: int = 100,
    placebo: bool = False,
    seed: int = 0,
    first_row: int = 0,
) -> Pairs:
    """Make the pairs of texts and templates; those of one prompt are one unit."""
    note_used("lexicon", lexicon.name, lexicon)
    known = read_fillers(fillers or {}, lexicon, None)
    repeats = whole(lexicon.names_per_prompt, "names_per_prompt")
    made: list[Pair] = []
    unsure: list[Uncertain] = []
    unmentioned = 0
    for row, prompt in enumerate(prompts, first_row):
        texts = _asked(prompt, row, lexicon, known, fill_limit, seed)
        for number, (text, found, fills) in enumerate(texts, row):
            if not isinstance(found, Found):
                unmentioned += found is None
                unsure += [] if found is None else [found]
                continue
            if isinstance(prompt, str) and LAST in found.template.slots and not lexicon.parts[1]:
                why = "the prompt has a last name, and the names of the groups have none"
                unsure.append(Uncertain(text, 0, len(text), why))
                continue
            gender, why = shown_gender(found.template, found.gender)
            terms = [known.terms_of(found.template, group, gender) for group in known.groups]
            if not all(terms) and shown_gender(found.template) == Shown():
                # The name alone told the gender.
                terms = [known.terms_of(found.template, group) for group in known.groups]
            if not (why or all(terms)):
                group = known.groups[terms.index([])]
                why = f"words around the name are {gender}; no name of {group!r} is known to be"
            if why:
                unsure.append(Uncertain(text, 0, len(text), why))
                continue
            own = _places(terms, found.first)
            told: dict[tuple[str, str, str], Pair] = {}  # last names can be fewer than names
            for repeat in range(repeats):
                turn = number * repeats
                chosen = _chosen(terms, own, turn, repeat, seed, found.template.text)
                for group, term in zip(known.groups[1:], chosen[1:], strict=True):
                    both = known.groups[0], group
                    written = _cased(chosen[0], found), _cased(term, found)
                    pair = filled_pair(found.template, written, fills, both, known)
                    twin = None
                    if placebo:
                        others = [_cased(other, found) for other in terms[0]]
                        rest = found.template, others, fills, f"{seed} {turn} {repeat}"
                        twin = reworded(pair.original, chosen[0], *rest)
                    cue = " / ".join(each.forms[PERSON] for each in (chosen[0], term))
                    unit = pair.filler or text
                    pair = replace(pair, filler=unit, cue=cue, placebo=twin)
                    if pair.edits:
                        told.setdefault((pair.original, pair.counterfactual, group), pair)
            made += told.values()
            if not told:
                why = "the names of the groups differ in nothing that the prompt says"
                unsure.append(Uncertain(text, 0, len(text), why))
    left_out = Pairs(uncertain=unsure, unmentioned=unmentioned, lacks=lexicon.lacks)
    return checked(made, lexicon) + left_out


def _asked(
    prompt: Any, row: int, lexicon: NameLexicon, known: Fillers, fill_limit: int, seed: int
) -> Iterator[tuple[str, Found | Uncertain | None, Forms]]:
    """Yield the texts of a prompt, each with its person, and with what fills its other slots."""
    where = f"prompt {row}"
    if isinstance(prompt, str):
        yield prompt, person_of(prompt, lexicon, where), {}
    elif isinstance(prompt, Template):
        for fills in known.combinations(prompt, row, fill_limit, seed):
            if known.has_group(prompt):
                slots = {name: f"{{{name}}}" for name in prompt.slots}
                yield text_of(prompt.parts(slots | fills)), Found(prompt), fills
            else:
                text = prompt.fill(fills)
                yield text, person_of(text, lexicon, where), {}


def _cased(term: GroupTerm, found: Found) -> GroupTerm:
    return replace(term, forms={slot: found.case(fill) for slot, fill in term.forms.items()})


def _places(terms: Sequence[Sequence[GroupTerm]], own: str) -> list[int]:
    """Return where a group lists the name that a prompt had: it stays the name of that group."""
    own = own.casefold()
    return [
        at
        for names in terms
        for at, term in enumerate(names)
        if own == term.forms[FIRST].casefold()
    ]


def _chosen(
    terms: Sequence[Sequence[GroupTerm]],
    own: Sequence[int],
    turn: int,
    repeat: int,
    seed: int,
    text: str,
) -> list[GroupTerm]:
    """Return the name of each group at one place, from that of the prompt's own name on.

    It depends on the number of the prompt and not on earlier ones: audits make parts of a list.
    """
    every = list(range(max(map(len, terms))))
    # Another person of the text may have a listed name.
    taken = [any(x[at % len(x)].forms[FIRST] in text for x in terms) for at in every]
    free = [at for at in every if at in own or not taken[at]]
    places = free or every
    round_, first = (0, 0) if own else divmod(turn, len(places))
    random.Random(f"{seed} names {round_ or ''}".rstrip()).shuffle(places)
    first = places.index(own[0]) if own else first
    at = places[(first + repeat) % len(places)]
    return [listed[at % len(listed)] for listed in terms]
