"""What can go into the slots of a template: lists of fillers, and terms of groups."""

from __future__ import annotations

import functools
import itertools
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

from pytest_llmfair.checks import check_is_list, whole
from pytest_llmfair.counterfactuals._lexicons.loading import load_yaml, suggestion
from pytest_llmfair.counterfactuals._templates.group_terms import GroupTerms, Term, group_terms
from pytest_llmfair.counterfactuals._templates.slots import NOUN, PERSON
from pytest_llmfair.counterfactuals._templates.template import Template
from pytest_llmfair.counterfactuals._templates.template_files import TemplateSet
from pytest_llmfair.counterfactuals.attribute import Attribute
from pytest_llmfair.sampling import sampled_product

Forms = dict[str, str]

_FILE = "fillers.yaml"
_NONE = Term({}, 0)


@dataclass(frozen=True, slots=True)
class Fillers:
    """Fills by slot: those that all groups share, and by group those of the caller, or `terms`."""

    shared: Mapping[str, tuple[str, ...]]
    own: Mapping[str, Mapping[str, tuple[str, ...]]]
    terms: GroupTerms | None
    groups: tuple[str, ...]

    @property
    def known(self) -> list[str]:
        """All slots that can be filled."""
        listed = self.terms.slots if self.terms is not None else ()
        return list(dict.fromkeys([*listed, *self.own, *self.shared]))

    def has_group(self, template: Template) -> bool:
        """Whether what a template says depends on the group."""
        return any(name in self.known and name not in self.shared for name in template.slots)

    def combinations(self, template: Template, number: int, limit: int, seed: int) -> list[Forms]:
        """Return the fills of the slots that all groups share, at most `limit` of them.

        Raises
        ------
        ValueError
            If the template has a slot that is unknown, or `limit` is below 1.
        """
        limit = whole(limit, "fill_limit")
        for name in template.slots:
            if name not in self.known:
                hint = "" if self.terms else "; give attribute=... for slots such as {person}"
                raise ValueError(template.unknown(name, self.known) + hint)
        slots = [name for name in template.slots if name in self.shared]
        rows = sampled_product([self.shared[name] for name in slots], limit, _mixed(seed, number))
        return [dict(zip(slots, row, strict=True)) for row in rows]

    def terms_of(self, template: Template, group: str) -> list[Term]:
        """Return the terms of a group that fit the template, different in what they write there.

        Raises
        ------
        ValueError
            If there is none.
        """
        listed = self.terms.terms[group] if self.terms is not None else ()
        slots = [name for name in template.slots if name not in self.shared]
        own = [self.own[name][group] for name in slots if name in self.own]
        slots = [name for name in slots if name not in self.own]
        fitting = [term for term in listed if _fits(term, template, slots)] if slots else [_NONE]
        if not fitting:
            lacking = next((s for s in slots if not any(_has(t, s) for t in listed)), slots[0])
            raise ValueError(
                f"{template.named()}: slot {{{lacking}}}: no word of group {group!r} is known "
                f'that fits there; give some, as in fillers={{"{lacking}": {{"{group}": [...], '
                f"...}}}}, use another slot ({', '.join(self.known)}), or leave the group out; of "
                "a lexicon adjectives and nouns for one person are used, of English ones only"
            )
        names = [name for name in template.slots if name in self.own]
        found: dict[tuple[str, ...], Term] = {}
        for term in fitting:
            used = [term.forms[name if name in term.forms else NOUN] for name in slots]
            for places in itertools.product(*(range(len(fills)) for fills in own)):
                extra = [fills[place] for fills, place in zip(own, places, strict=True)]
                forms = {**term.forms, **dict(zip(names, extra, strict=True))}
                line = (term.line, *places)
                found.setdefault((*used, *extra), replace(term, forms=forms, line=line))
        return list(found.values())


def read_fillers(
    fillers: Mapping[str, Any],
    attribute: Attribute | None,
    groups: Sequence[str] | None,
    *,
    count: int,
    seed: int,
) -> Fillers:
    """Check fillers, and take the terms of an attribute beside them.

    Raises
    ------
    ValueError
        If a filler is empty, no list of texts or lacks a group, or the attribute or a group is
        unknown or named twice.
    """
    if groups is not None:
        check_is_list(groups, "groups", "groups")
        groups = tuple(groups)
    shared = dict(_shipped())
    own: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, value in fillers.items():
        if not isinstance(name, str) or not name.isidentifier() or not name[0].islower():
            raise ValueError(
                f"filler {name!r} is no name of a slot; give letters, the first one small "
                "({Person} is slot person with a capital)"
            )
        shared.pop(name, None)
        if isinstance(value, Mapping):
            own[name] = {
                group: _fills(fills, f"filler {name!r}, group {group!r}")
                for group, fills in value.items()
            }
        else:
            shared[name] = _fills(value, f"filler {name!r}")
    terms = None
    if attribute is not None:
        terms = group_terms(attribute, groups, count=count, seed=seed)
        groups = terms.groups
    elif groups is None:
        groups = next((tuple(fills) for fills in own.values()), ())
    for name, fills in own.items():
        for group in groups:
            if group not in fills:
                raise ValueError(
                    f"filler {name!r} has no fills for group {group!r}; "
                    + suggestion(str(group), [str(key) for key in fills])
                )
    return Fillers(shared, own, terms, tuple(groups))


def own_attribute(templates: object) -> str:
    """Return the attribute that a template set is about; "" for none, and for other templates."""
    return templates.attribute if isinstance(templates, TemplateSet) else ""


def all_fillers(templates: object, fillers: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the fillers of a template set, and those that the caller gives before them.

    Raises
    ------
    ValueError
        If these are no mapping.
    """
    if fillers is not None and not isinstance(fillers, Mapping):
        raise ValueError(f"fillers is {fillers!r}; give a mapping of slot to a list of texts")
    own = templates.fillers if isinstance(templates, TemplateSet) else {}
    return {**own, **(fillers or {})}


def filler_slots(fillers: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the slots that fillers fill, those of the package among them."""
    return tuple(dict.fromkeys([*fillers, *_shipped()]))


def _fills(value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ValueError(f"{where} is {value!r}; give a list of texts")
    for fill in value:
        if not isinstance(fill, str) or not fill.strip():
            raise ValueError(f"{where} holds {fill!r}; give texts that are not empty")
    if not value:
        raise ValueError(f"{where} is empty; give at least one text")
    return tuple(dict.fromkeys(value))


def _fits(term: Term, template: Template, slots: Sequence[str]) -> bool:
    """Whether a term has a word for every slot; an empty one must be allowed there."""
    return all(
        _has(term, name) and (term.forms.get(name) != "" or template.may_be_empty(name))
        for name in slots
    )


def _has(term: Term, name: str) -> bool:
    return name in term.forms or (name == PERSON and NOUN in term.forms)


def _mixed(seed: int, number: int) -> int:
    """Return the seed of one template of many."""
    return zlib.crc32(f"{seed}:{number}".encode())


@functools.cache
def _shipped() -> Mapping[str, tuple[str, ...]]:
    path = resources.files("pytest_llmfair.counterfactuals") / _FILE
    data = load_yaml(path.read_text(encoding="utf-8"), _FILE)
    return {name: tuple(fills) for name, fills in data["fillers"].items()}
