"""Counterfactual pairs of names: prompts as they are and templates, with the names of groups."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_llmfair._util.validation import whole
from pytest_llmfair.counterfactuals.pair_list import Pairs
from pytest_llmfair.counterfactuals.templates.filled import checked, filled_pair, reworded
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
from pytest_llmfair.counterfactuals.templates.slots import PERSON, text_of
from pytest_llmfair.counterfactuals.templates.template import Template
from pytest_llmfair.lexicons.name_lexicon import NameLexicon
from pytest_llmfair.responses import Pair, Uncertain
from pytest_llmfair.session import note_used


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
