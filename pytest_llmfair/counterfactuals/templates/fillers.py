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
from pytest_llmfair.counterfactuals.templates.people import (
    FIRST,
    LAST,
    NAME_SLOTS,
    Shown,
    shown_gender,
)
from pytest_llmfair.counterfactuals.templates.slots import PERSON
from pytest_llmfair.counterfactuals.templates.template import Template, TemplateSet
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
from pytest_llmfair.lexicons.name_lexicon import (
    NAMES,
    OF_GROUPS,
    Person,
    is_names,
    names_of_groups,
)
from pytest_llmfair.lexicons.name_lists import gender_of, name_choices
from pytest_llmfair.responses import EXPLICIT, OMISSION
from pytest_llmfair.sampling import sampled_product
from pytest_llmfair.text import MASK

Forms = dict[str, str]

_FILE = "counterfactuals/templates/fillers.yaml"


@dataclass(frozen=True, slots=True)
class GroupTerm:
    """One way to name a member of a group: the text for each slot."""

    forms: Mapping[str, str]
    line: Hashable  # terms of one line are counterparts
    variant: str = ""  # "omission" or "explicit" for an unmarked group
    kin: str = ""  # what it names besides the group: gender, and for a name also origin


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
    lacks: tuple[str, ...] = ()  # groups of the attribute without terms

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

    def gender_in(self, template: Template) -> str:
        """Return the gender that names have to agree with; "" for any, and for other terms."""
        gender, why = shown_gender(template) if self.attribute == OF_GROUPS else Shown()
        for group, terms in self.terms.items():
            if gender and not any(gender in term.kin.split() for term in terms):
                why = f"words around the name are {gender}; no name of {group!r} is known to be"
        if why:
            raise ValueError(f"{template.named()}: {why}; change the words around the slot")
        return gender

    def terms_of(self, template: Template, group: str, gender: str = "") -> list[GroupTerm]:
        """Return the terms of a group that fit the template and give different texts."""
        listed = [
            term for term in self.terms.get(group, ()) if not gender or gender in term.kin.split()
        ]
        names = [name for name in template.slots if name in self.own]
        own = [self.own[name][group] for name in names]
        slots = [name for name in template.slots if name not in {*self.shared, *names}]
        fitting = [term for term in listed if _fits(term, template, slots)] if slots else [_NONE]
        if gender and not listed:
            return []
        if not fitting:
            lacking = next((s for s in slots if not any(_has(t, s) for t in listed)), slots[0])
            raise ValueError(
                f"{template.named()}: slot {{{lacking}}}: no word of group {group!r} is known "
                f'that fits there; give some, as in fillers={{"{lacking}": {{"{group}": [...], '
                f"...}}}}, use another slot ({', '.join(self.known)}), or leave the group out; of "
                "a lexicon adjectives and nouns for one person are used, of English ones only"
            )
        found: dict[Hashable, GroupTerm] = {}
        for term in fitting:
            used = [term.forms[name if name in term.forms else NOUN] for name in slots]
            for row in itertools.product(*map(enumerate, own)):
                extra = [fill for _, fill in row]
                forms = {**term.forms, **dict(zip(names, extra, strict=True))}
                line = (term.line, *(place for place, _ in row))
                # Names at one place belong together, also where groups have fewer of them.
                key: Hashable = line if self.attribute == OF_GROUPS else (*used, *extra)
                found.setdefault(key, replace(term, forms=forms, line=line))
        return list(found.values())


def read_fillers(
    fillers: Mapping[str, Any],
    attribute: Attribute | None,
    groups: Sequence[str] | None,
) -> Fillers:
    """Check fillers, and add the terms of an attribute."""
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
    people = names_of_groups(attribute, groups)
    called, lacks = "", tuple[str, ...]()
    if people is not None:
        terms = {group: tuple(_name_terms(people.people[group])) for group in people.groups}
        called, lacks = OF_GROUPS, people.lacks
    elif is_names(attribute):
        terms = _of_two_names(groups or ())
        called = NAMES[0]
    elif attribute is not None:
        lexicon = lexicon_for(attribute, groups)
        called, lacks = lexicon.name, lexicon.lacks
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
    slots = () if attribute is None else group_slots(attribute)
    return Fillers(shared, own, groups, terms, called, slots, unmarked, lacks)


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


def group_slots(attribute: Attribute) -> tuple[str, ...]:
    """Return the slots that terms of an attribute fill."""
    if is_names(attribute):
        return (*NAME_SLOTS, *sorted(PRONOUNS))
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
        outer, inner = sorted(parts, key=lambda part: part[0].word_order)
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


def _of_two_names(given: Sequence[str]) -> dict[str, tuple[GroupTerm, ...]]:
    """Return the terms of two names of the caller, each of which is a group."""
    _check_distinct(given, given)
    for name in given:
        _check_person(name)
    split = [(name, name.split()) for name in given]
    return {
        name: tuple(_name_terms([Person(first, " ".join(others), gender_of(first))]))
        for name, (first, *others) in split
    }


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


def _name_terms(people: Sequence[Person]) -> Iterator[GroupTerm]:
    """Yield what each name puts into the slots of a template."""
    for line, person in enumerate(people):
        forms = {PERSON: f"{person.first} {person.last}".strip(), FIRST: person.first}
        if person.last:
            forms[LAST] = person.last
        if person.gender:
            forms |= pronouns(load_lexicons()["gender"], person.gender)
        yield GroupTerm(forms, line, kin=person.cell)


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
