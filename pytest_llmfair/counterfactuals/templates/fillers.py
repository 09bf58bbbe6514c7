"""Fills for the slots of a template: fillers, phrases of a lexicon or of two, and names."""

from __future__ import annotations

import functools
import itertools
import re
import zlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.located import shipped
from pytest_llmfair._util.validation import check_is_list, whole
from pytest_llmfair.counterfactuals.templates.slots import PERSON
from pytest_llmfair.counterfactuals.templates.template import NAME, Template, TemplateSet
from pytest_llmfair.lexicons.attributes import Attribute, lexicon_for, lexicon_of
from pytest_llmfair.lexicons.intersections import (
    IDENTITY,
    NOUN,
    PEOPLE,
    Intersection,
    left_unsaid,
    phrases,
    pronouns,
)
from pytest_llmfair.lexicons.lexicon import PRONOUNS, Lexicon
from pytest_llmfair.lexicons.loading import load_lexicons
from pytest_llmfair.lexicons.names import (
    cells_of,
    name_choices,
    name_data,
    name_group,
    name_pairs,
    names,
)
from pytest_llmfair.responses import EXPLICIT, OMISSION
from pytest_llmfair.sampling import sampled_product
from pytest_llmfair.text import MASK

Forms = dict[str, str]

_NAME_SLOTS = ("first_name", "last_name")
# Word order of two attributes: "an older Black woman", with age before race and gender.
_ORDER = (
    "disability",
    "age",
    "sexual_orientation",
    "race",
    "nationality",
    "religion",
    "gender",
)
_FILE = "counterfactuals/templates/fillers.yaml"


@dataclass(frozen=True, slots=True)
class GroupTerm:
    """One way to name a member of a group: the text for each slot."""

    forms: Mapping[str, str]
    line: Hashable  # terms of one line are counterparts
    variant: str = ""  # "omission" or "explicit" for an unmarked group
    kin: str = ""  # what it names besides the group: gender, and for a name also race


_NONE = GroupTerm({}, 0)


@dataclass(frozen=True, slots=True)
class Fillers:
    """Fills by slot: shared by all groups, the caller's own by group, and terms."""

    shared: Mapping[str, tuple[str, ...]]
    own: Mapping[str, Mapping[str, tuple[str, ...]]]
    groups: tuple[str, ...]
    terms: Mapping[str, tuple[GroupTerm, ...]]
    attribute: str
    slots: tuple[str, ...]  # those that terms fill
    unmarked: tuple[str, ...]

    @property
    def known(self) -> list[str]:
        """All slots that can be filled."""
        return list(dict.fromkeys([*self.slots, *self.own, *self.shared]))

    def has_group(self, template: Template) -> bool:
        """Whether the text of a template depends on the group."""
        return any(name in self.known and name not in self.shared for name in template.slots)

    def combinations(self, template: Template, number: int, limit: int, seed: int) -> list[Forms]:
        """Return at most `limit` fills of the slots that all groups share."""
        limit = whole(limit, "fill_limit")
        for name in template.slots:
            if name not in self.known:
                hint = "" if self.attribute else "; give attribute=... for slots such as {person}"
                raise ValueError(template.unknown(name, self.known) + hint)
        slots = [name for name in template.slots if name in self.shared]
        own_seed = zlib.crc32(f"{seed}:{number}".encode())
        rows = sampled_product([self.shared[name] for name in slots], limit, own_seed)
        return [dict(zip(slots, row, strict=True)) for row in rows]

    def terms_of(self, template: Template, group: str) -> list[GroupTerm]:
        """Return the terms of a group that fit the template and give different texts."""
        listed = self.terms.get(group, ())
        names = [name for name in template.slots if name in self.own]
        own = [self.own[name][group] for name in names]
        slots = [name for name in template.slots if name not in {*self.shared, *names}]
        fitting = [term for term in listed if _fits(term, template, slots)] if slots else [_NONE]
        if not fitting:
            lacking = next((s for s in slots if not any(_has(t, s) for t in listed)), slots[0])
            raise ValueError(
                f"{template.named()}: slot {{{lacking}}}: no word of group {group!r} is known "
                f'that fits there; give some, as in fillers={{"{lacking}": {{"{group}": [...], '
                f"...}}}}, use another slot ({', '.join(self.known)}), or leave the group out; of "
                "a lexicon adjectives and nouns for one person are used, of English ones only"
            )
        found: dict[tuple[str, ...], GroupTerm] = {}
        for term in fitting:
            used = [term.forms[name if name in term.forms else NOUN] for name in slots]
            for row in itertools.product(*map(enumerate, own)):
                extra = [fill for _, fill in row]
                forms = {**term.forms, **dict(zip(names, extra, strict=True))}
                line = (term.line, *(place for place, _ in row))
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
    """Check fillers, and add the terms of an attribute; of names, at most `count` a group."""
    if groups is not None:
        check_is_list(groups, "groups", "groups")
        groups = tuple(groups)
    shared = {slot: tuple(fills) for slot, fills in shipped(_FILE)["fillers"].items()}
    own: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, value in fillers.items():
        if not isinstance(name, str) or not name.isidentifier() or not name[0].islower():
            raise ValueError(
                f"filler {name!r} is not a slot name; use letters, the first in lower case "
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
    terms: dict[str, tuple[GroupTerm, ...]] = {}
    unmarked: tuple[str, ...] = ()
    if attribute == NAME:
        terms = _of_names(("female", "male") if groups is None else groups, count, seed)
    elif attribute is not None:
        lexicon = lexicon_for(attribute, groups)
        wanted = lexicon.default_groups if groups is None else tuple(map(lexicon.group, groups))
        _check_distinct(groups, wanted)
        terms = {group: tuple(_terms(lexicon, group)) for group in wanted}
        unmarked = tuple(group for group in wanted if group in lexicon.unmarked)
    groups = tuple(terms) or groups or next(map(tuple, own.values()), ())
    for name, by_group in own.items():
        for group in groups:
            if group not in by_group:
                hint = suggestion(str(group), list(map(str, by_group)))
                raise ValueError(f"filler {name!r} has no fills for group {group!r}; {hint}")
    called = "" if attribute is None else NAME if attribute == NAME else lexicon.name
    slots = () if attribute is None else group_slots(attribute)
    return Fillers(shared, own, groups, terms, called, slots, unmarked)


def attribute_of_templates(templates: object) -> str:
    """Return the attribute of a template set; "" for other templates."""
    return templates.attribute if isinstance(templates, TemplateSet) else ""


def all_fillers(templates: object, fillers: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the caller's fillers, and those of a template set that they do not replace."""
    if fillers is not None and not isinstance(fillers, Mapping):
        raise ValueError(f"fillers is {fillers!r}; give a mapping of slot to a list of texts")
    own = templates.fillers if isinstance(templates, TemplateSet) else {}
    return {**own, **(fillers or {})}


def known_slots(attribute: Attribute, fillers: Mapping[str, Any]) -> list[str]:
    """Return the slots of an attribute, of fillers and of the package."""
    return list(dict.fromkeys([*group_slots(attribute), *fillers, *shipped(_FILE)["fillers"]]))


def _fills(value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ValueError(f"{where} is {value!r}; give a list of texts")
    for fill in value:
        if not isinstance(fill, str) or not fill.strip():
            raise ValueError(f"{where} holds {fill!r}; give texts that are not empty")
    if not value:
        raise ValueError(f"{where} is empty; give at least one text")
    return tuple(dict.fromkeys(value))


def _fits(term: GroupTerm, template: Template, slots: Sequence[str]) -> bool:
    """Whether a term has a word for every slot; an empty one must be allowed there."""
    return all(
        _has(term, name) and (term.forms.get(name) != "" or template.may_be_empty(name))
        for name in slots
    )


def _has(term: GroupTerm, name: str) -> bool:
    return name in term.forms or (name == PERSON and NOUN in term.forms)


def uncovered_groups(attribute: Attribute | None, groups: Sequence[str]) -> tuple[str, ...]:
    """Return the groups without terms; empty if names themselves are given."""
    if attribute is None:
        return ()
    if attribute != NAME:
        return lexicon_of(attribute).lacks
    by_group = not set(groups).isdisjoint(name_choices())
    return tuple(name_data()["lacks"]) if by_group else ()


def group_slots(attribute: Attribute) -> tuple[str, ...]:
    """Return the slots that terms of an attribute fill."""
    if attribute == NAME:
        return (PERSON, *_NAME_SLOTS, *sorted(PRONOUNS))
    roles = {entry.role for entry in lexicon_of(attribute).entries}
    return (PERSON, NOUN, PEOPLE, IDENTITY, *sorted(PRONOUNS & roles))


def _check_distinct(given: object, groups: Sequence[str]) -> None:
    twice = [group for group in dict.fromkeys(groups) if groups.count(group) > 1]
    if twice:
        raise ValueError(
            f"groups is {given!r}, where {' and '.join(twice)} is repeated; name each once"
        )


def _terms(lexicon: Lexicon, group: str) -> Iterator[GroupTerm]:
    """Yield the terms of a group: of an unmarked one both variants, of two attributes combined."""
    if isinstance(lexicon, Intersection):
        parts = zip(lexicon.parts, lexicon.cells[group], strict=True)
        outer, inner = sorted(parts, key=lambda part: _rank(part[0].name))
        joined = itertools.starmap(_joined, itertools.product(_terms(*outer), _terms(*inner)))
        yield from (term for term in joined if term is not None)
        return
    unmarked = group in lexicon.unmarked
    for line, phrase in enumerate(phrases(lexicon)):
        forms = phrase.get(group)
        if forms is None:
            continue
        plain = left_unsaid(lexicon, forms) if unmarked else None
        if plain is not None:
            yield GroupTerm(plain, line, OMISSION, _gender_in(plain[NOUN]))
        variant = EXPLICIT if unmarked else ""
        yield GroupTerm(forms, line, variant, _gender_in(forms[NOUN]))


@functools.lru_cache(maxsize=1024)
def _gender_in(phrase: str) -> str:
    """Return the genders that a phrase names: "female" for "straight woman"."""
    return " ".join(mention.group for mention in load_lexicons()["gender"].mentions(phrase))


def _of_names(given: Sequence[str], count: int, seed: int) -> dict[str, tuple[GroupTerm, ...]]:
    groups = tuple(name_group(name) or name for name in given)
    _check_distinct(given, groups)
    by_group = any(map(name_group, given))
    if by_group:
        for group in groups[1:]:
            name_pairs((groups[0], group), 1)  # fails for groups that cannot be compared
    terms = {}
    for group in groups:
        chosen = [group]
        if not by_group:
            _check_person(group)
        else:
            data = name_data()
            most = len(data["first"]) * len(cells_of(group)) * len(data["last"])
            chosen = names(group, min(count, most), seed=seed)
        terms[group] = tuple(_name_term(name, line) for line, name in enumerate(chosen))
    return terms


def _check_person(name: str) -> None:
    """Raise ``ValueError`` for words that name a group, such as "Black women"."""
    crossed = lexicon_of(("race", "gender"))
    text = f"{name} called."
    if crossed.mask(text) == f"{MASK} called.":
        meant = " ".join(mention.group for mention in crossed.mentions(text))
        raise ValueError(
            f"{name!r} is not a person's name; did you mean the group {meant!r}? Names are known "
            f"are the groups {', '.join(name_choices())}"
        )


def _name_term(name: str, line: int) -> GroupTerm:
    first, *others = name.split()
    forms = {PERSON: name, _NAME_SLOTS[0]: first}
    if others:
        forms[_NAME_SLOTS[1]] = others[-1]
    cell = _cells().get(first, "")
    if cell:
        forms |= pronouns(load_lexicons()["gender"], cell.split()[-1])
    return GroupTerm(forms, line, kin=cell)


@functools.cache
def _cells() -> Mapping[str, str]:
    """Group of each listed first name."""
    return {name: cell for line in name_data()["first"] for cell, (name, _) in line.items()}


def _rank(attribute: str) -> int:
    return _ORDER.index(attribute) if attribute in _ORDER else -1


def _joined(outer: GroupTerm, inner: GroupTerm) -> GroupTerm | None:
    """Put the inner phrase in place of "person" in the outer one, or after its adjective."""
    identity = outer.forms.get(IDENTITY)
    forms = {**outer.forms, **inner.forms}
    for key, plain in ((NOUN, r"\bperson\b"), (PEOPLE, r"\bpeople\b")):
        guest = inner.forms[key]
        forms[key], count = re.subn(plain, guest, outer.forms[key], count=1)
        if not count and identity:
            forms[key] = f"{identity} {guest}"
        elif not count:
            return None
    if identity is not None and IDENTITY in inner.forms:
        forms[IDENTITY] = f"{identity} {inner.forms[IDENTITY]}".strip()
    else:
        forms.pop(IDENTITY, None)
    variants = [term.variant for term in (outer, inner) if term.variant]
    variant = OMISSION if OMISSION in variants else (variants or [""])[0]
    return GroupTerm(forms, (outer.line, inner.line), variant, _gender_in(forms[NOUN]))
