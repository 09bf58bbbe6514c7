"""Counterfactual pairs from templates: the same fills, two groups."""

from __future__ import annotations

import difflib
import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_llmfair._util.validation import check_is_list, whole_seed
from pytest_llmfair.counterfactuals.pair_list import Pairs
from pytest_llmfair.counterfactuals.pairs import WhenUncertain, pairs_of_part
from pytest_llmfair.counterfactuals.templates.filled import (
    checked,
    filled_pair,
    labels,
    pairs_of_names,
    reworded,
)
from pytest_llmfair.counterfactuals.templates.fillers import (
    Fillers,
    Forms,
    GroupTerm,
    all_fillers,
    attribute_of_templates,
    known_slots,
    read_fillers,
)
from pytest_llmfair.counterfactuals.templates.slots import (
    almost_slots,
    as_written,
    slot_names,
)
from pytest_llmfair.counterfactuals.templates.template import Template, as_template
from pytest_llmfair.lexicons.attributes import Attribute, lexicon_of
from pytest_llmfair.lexicons.name_lexicon import NAMES, NameLexicon, is_names, names_of_groups
from pytest_llmfair.responses import Pair, marked

__all__ = ["pairs_from_templates"]

_NEAR = 0.8


def pairs_from_templates(
    prompts: Iterable[str | tuple[str, str] | Template],
    attribute: Attribute | None = None,
    groups: Sequence[str] | None = None,
    *,
    fillers: Mapping[str, Any] | None = None,
    fill_limit: int = 100,
    placebo: bool = False,
    seed: int = 0,
    uncertain: WhenUncertain = "reject",
    names: Mapping[str, Any] | None = None,
    names_per_prompt: int | None = None,
) -> Pairs:
    """Make counterfactual pairs of templates and of texts.

    A text with a slot that is known is a template; every other text is a prompt as it stands,
    whatever its braces hold, and its mentions are exchanged by ``generate_pairs``; only a misspelt
    slot is an error. Known are the slots of the attribute (see :func:`fill_templates`) and those
    of the fillers. A `Template` is a template always. One without a slot of a group is filled, and
    its mentions are exchanged.

    Each template and combination of fillers gives one pair, with terms of the two groups that
    stand for each other; terms and names take turns in an order that the seed decides. A group
    that texts leave unsaid gives two: by omission, and named.

    Parameters
    ----------
    prompts : iterable of str, (str, str) or Template
        Texts, templates, and texts with a twin of your own.
    attribute : str, Lexicon, "names", or tuple of two, optional
        Protected attribute, as in :func:`fill_templates`; by default that of a set of templates,
        else gender. "names" puts names of every group in the place of the one that a prompt has.
    groups : (str, str), optional
        From and to. Without it the first group is paired with every other; where the lexicon has a
        group that texts leave unsaid, every other is paired with that one. Of names any number.
    fillers : mapping, optional
        Fillers by slot, as in :func:`fill_templates`.
    fill_limit : int
        Most combinations of fillers a template.
    placebo : bool
        Whether to give every pair a placebo twin: the original with another term or name of its
        own group.
    seed : int
        Of all choices.
    uncertain : {"reject", "keep"}
        What becomes of texts in which a word can be read in two ways, as in `generate_pairs`.
        A prompt whose name is uncertain is always left out.
    names : mapping, optional
        Your own names by group, as :meth:`NameLexicon.from_dict` takes them, for "names".
    names_per_prompt : int, optional
        Names of each group that a prompt is asked with, 1 by default. A prompt stays one unit.

    Returns
    -------
    Pairs
        In the order of the prompts; what fails the checks of the validity gate is in `.rejected`.

    Raises
    ------
    ValueError
        If the attribute, a group or a slot is unknown or misspelt, a filler is empty, a brace of a
        template is neither doubled nor part of a slot, or there are no prompts.

    Examples
    --------
    >>> pairs = pairs_from_templates(["Write to {person}, {a:occupation}."], fill_limit=1)
    >>> pairs[0].from_group, pairs[0].to_group
    ('female', 'male')
    """
    check_is_list(prompts)
    seed = whole_seed(seed)
    if names is not None:
        if attribute not in (None, *NAMES):
            raise ValueError(f'names go with attribute="names", not with {attribute!r}')
        attribute = NameLexicon.from_dict(names)
    attribute = attribute if attribute is not None else attribute_of_templates(prompts) or "gender"
    people = names_of_groups(attribute, groups)
    if names_per_prompt is not None:
        if people is None:
            raise ValueError(
                f"names_per_prompt is {names_per_prompt!r}, and {attribute!r} has no groups of "
                'names; give attribute="names"'
            )
        people = replace(people, names_per_prompt=names_per_prompt)
    filled = all_fillers(prompts, fillers)
    slots = known_slots(attribute, filled)
    read = [_read(prompt, row, slots) for row, prompt in enumerate(prompts)]

    def exchanged(texts: list[Any]) -> Pairs:
        return pairs_of_part(
            texts, attribute, groups, placebo=placebo, seed=seed, uncertain=uncertain
        )

    if people is not None:
        named = pairs_of_names(
            read, people, fillers=filled, fill_limit=fill_limit, placebo=placebo, seed=seed
        )
        twins = [each for each in read if isinstance(each, tuple)]
        return named + exchanged(twins) if twins else named
    if not any(isinstance(each, Template) for each in read):
        return exchanged(read)
    if groups is not None and (not isinstance(groups, (tuple, list)) or len(groups) != 2):
        raise ValueError(f"groups is {groups!r}; give two different ones: (from, to)")
    known = read_fillers(filled, attribute, groups)
    made = Pairs()
    for is_pair, run in itertools.groupby(
        _made(read, known, fill_limit, placebo, seed), lambda each: isinstance(each, Pair)
    ):
        own = list(run)
        made += checked(own, attribute) if is_pair else exchanged(own)
    labelled = {
        each.fill(fills): labels(each, fills)
        for row, each in enumerate(read)
        if isinstance(each, Template) and not known.has_group(each)
        for fills in known.combinations(each, row, fill_limit, seed)
    }
    for place, pair in enumerate(made):
        if pair.original in labelled:
            made[place] = marked(replace(pair, **labelled[pair.original]))
    unexchanged = []
    if not is_names(attribute) and not groups:
        unexchanged = [
            group for group in lexicon_of(attribute).groups if group not in known.groups
        ]
    return Pairs(made, lacks=known.lacks, unexchanged=unexchanged)


def _read(prompt: Any, row: int, slots: Sequence[str]) -> Any:
    """Return a template, or the text itself if no slot is known."""
    if isinstance(prompt, tuple):
        return prompt
    if not isinstance(prompt, str):
        return as_template(prompt, f"prompt {row}")
    found = slot_names(prompt)
    known = next((name for name in found if name in slots), None)
    if known is not None:
        return as_template(prompt, f"prompt {row}, a template for its slot {{{known}}}")
    meant = {f"{{{as_written(name)}}}": name.lower() for name in found}
    for written, name in (*almost_slots(prompt), *meant.items()):
        near = difflib.get_close_matches(name, slots, n=1, cutoff=_NEAR)
        if near:
            raise ValueError(
                f"prompt {row} ({prompt[:40]!r}): {written} is not a slot; did you mean "
                f"{{{near[0]}}}? For braces of the text itself double them in Template(text)"
            )
    return prompt


def _made(
    read: Sequence[Any], known: Fillers, limit: int, placebo: bool, seed: int
) -> Iterator[Any]:
    """Yield texts unchanged, filled templates without a group slot, and pairs of the others."""
    for row, each in enumerate(read):
        if not isinstance(each, Template):
            yield each
            continue
        combinations = known.combinations(each, row, limit, seed)
        if known.has_group(each):
            yield from _pairs(row, each, combinations, known, placebo, seed)
        else:
            yield from map(each.fill, combinations)


def _pairs(
    row: int,
    template: Template,
    combinations: list[Forms],
    known: Fillers,
    placebo: bool,
    seed: int,
) -> Iterator[Pair]:
    """Yield the pairs of a template: per combination of fillers, two groups and variant."""
    turns = {
        (first, second): _turns(template, known, (first, second), f"{seed} {row}")
        for first, second in _group_pairs(known)
    }
    for number, fills in enumerate(combinations):
        for (first, second), variants in turns.items():
            for terms in variants.values():
                one, other = terms[number % len(terms)]
                pair = filled_pair(template, (one, other), fills, (first, second), known)
                if placebo:
                    own, turn = known.terms_of(template, first), f"{seed} {row} {number}"
                    twin = reworded(pair.original, one, template, own, fills, turn)
                    pair = replace(pair, placebo=twin)
                yield pair


def _group_pairs(known: Fillers) -> list[tuple[str, str]]:
    groups, unmarked = known.groups, known.unmarked
    if len(groups) > 2 and unmarked:
        return [(group, unmarked[0]) for group in groups if group != unmarked[0]]
    return [(groups[0], group) for group in groups[1:]]


def _turns(
    template: Template, known: Fillers, groups: tuple[str, str], seed: str
) -> dict[str, list[tuple[GroupTerm, GroupTerm]]]:
    """Return, by variant, the shuffled counterpart terms of two groups."""
    every = list(itertools.product(*(known.terms_of(template, group) for group in groups)))
    aligned = [pair for pair in every if pair[0].line == pair[1].line] or every
    found: dict[str, list[tuple[GroupTerm, GroupTerm]]] = {}
    for one, other in aligned:
        found.setdefault(one.variant or other.variant, []).append((one, other))
    generator = random.Random(f"{seed} {groups}")
    for pairs in found.values():
        generator.shuffle(pairs)
    return found
