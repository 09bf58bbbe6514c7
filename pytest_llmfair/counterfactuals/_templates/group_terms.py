"""How templates name a member of a group: phrases of lexicons, names, and attributes crossed."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_llmfair.counterfactuals._lexicons.intersections import Intersection
from pytest_llmfair.counterfactuals._lexicons.loading import load_lexicons
from pytest_llmfair.counterfactuals._lexicons.names import (
    cells_of,
    name_choices,
    name_data,
    name_group,
    name_pairs,
    names,
)
from pytest_llmfair.counterfactuals._pairing.pair import EXPLICIT, OMISSION
from pytest_llmfair.counterfactuals._templates.person_phrases import (
    IDENTITY,
    left_unsaid,
    phrases,
    pronouns,
)
from pytest_llmfair.counterfactuals._templates.slots import NOUN, PEOPLE, PERSON
from pytest_llmfair.counterfactuals.attribute import Attribute, lexicon_for, lexicon_of
from pytest_llmfair.counterfactuals.lexicon import PRONOUNS, Lexicon
from pytest_llmfair.text import MASK

NAME = "name"
_NAME_SLOTS = ("first_name", "last_name")
# Of two attributes the first stands further from the noun: "an older Black woman".
_ORDER = (
    "disability",
    "age",
    "sexual_orientation",
    "race",
    "nationality",
    "religion",
    "gender",
)


@dataclass(frozen=True, slots=True)
class Term:
    """One way to name a member of a group: what is written in each slot.

    Terms of one `line` stand for each other. `variant` is "omission" or "explicit" for the term of
    an unmarked group, else "". `kin` is what terms say of the person beside the group: the
    gender, of names race too.
    """

    forms: Mapping[str, str]
    line: Hashable
    variant: str = ""
    kin: str = ""


@dataclass(frozen=True, slots=True)
class GroupTerms:
    """Terms of the groups of an attribute; a group may have none, and texts leave some unsaid."""

    attribute: str
    groups: tuple[str, ...]
    terms: Mapping[str, tuple[Term, ...]]
    slots: tuple[str, ...]
    unmarked: tuple[str, ...] = ()


def lacks_of(attribute: Attribute | None, groups: Sequence[str]) -> tuple[str, ...]:
    """Return the groups without terms; none where the names themselves are given."""
    if attribute is None:
        return ()
    if attribute != NAME:
        return lexicon_of(attribute).lacks
    by_group = any(group in name_choices() for group in groups)
    return tuple(name_data()["lacks"]) if by_group else ()


def group_slots(attribute: Attribute) -> tuple[str, ...]:
    """Return the slots that terms of an attribute fill."""
    if attribute == NAME:
        return (PERSON, *_NAME_SLOTS, *sorted(PRONOUNS))
    entries = lexicon_of(attribute).entries
    roles = dict.fromkeys(entry.role for entry in entries)
    return (PERSON, NOUN, PEOPLE, IDENTITY, *(role for role in sorted(PRONOUNS) if role in roles))


def group_terms(
    attribute: Attribute, groups: Sequence[str] | None, *, count: int, seed: int
) -> GroupTerms:
    """Return the terms of an attribute; of names, at most `count` a group.

    Raises
    ------
    ValueError
        If the attribute or a group is unknown, a group is named twice, or a "name" is none.
    """
    if attribute == NAME:
        return _of_names(("female", "male") if groups is None else groups, count, seed)
    lexicon = lexicon_for(attribute, groups)
    wanted = lexicon.default_groups
    if groups is not None:
        wanted = tuple(lexicon.group(group) for group in groups)
        _check_distinct(groups, wanted)
    terms = {
        group: tuple(
            _crossed(lexicon, group)
            if isinstance(lexicon, Intersection)
            else _listed(lexicon, group)
        )
        for group in wanted
    }
    unmarked = tuple(group for group in wanted if group in lexicon.unmarked)
    return GroupTerms(lexicon.name, wanted, terms, group_slots(attribute), unmarked)


def _check_distinct(groups: Sequence[str], wanted: Sequence[str]) -> None:
    twice = [group for group in dict.fromkeys(wanted) if wanted.count(group) > 1]
    if twice:
        raise ValueError(
            f"groups is {groups!r}, where {' and '.join(twice)} stands more than once; name each "
            "once"
        )


def _listed(lexicon: Lexicon, group: str) -> Iterator[Term]:
    """Give the terms of a group, of an unmarked one both ways."""
    unmarked = group in lexicon.unmarked
    for line, phrase in enumerate(phrases(lexicon)):
        forms = phrase.get(group)
        if forms is None:
            continue
        plain = left_unsaid(lexicon, forms) if unmarked else None
        if plain is not None:
            yield Term(plain, line, OMISSION, _gender_in(plain[NOUN]))
        variant = EXPLICIT if unmarked else ""
        yield Term(forms, line, variant, _gender_in(forms[NOUN]))


def _crossed(lexicon: Intersection, group: str) -> Iterator[Term]:
    """Give the terms of a group of two attributes: "Black" and "woman" give "Black woman"."""
    parts = zip(lexicon.parts, lexicon.cells[group], strict=True)
    outer, inner = sorted(parts, key=lambda part: _rank(part[0].name))
    for one, other in itertools.product(_listed(*outer), _listed(*inner)):
        joined = _joined(one, other)
        if joined is not None:
            yield joined


@functools.lru_cache(maxsize=1024)
def _gender_in(phrase: str) -> str:
    """Return the genders that a phrase names: "female" for "straight woman"."""
    return " ".join(mention.group for mention in load_lexicons()["gender"].mentions(phrase))


def _of_names(given: Sequence[str], count: int, seed: int) -> GroupTerms:
    groups = tuple(name_group(name) or name for name in given)
    _check_distinct(given, groups)
    if any(map(name_group, given)):
        for group in groups[1:]:
            name_pairs((groups[0], group), 1)  # says which groups can be compared
        chosen = {group: names(group, min(count, _most(group)), seed=seed) for group in groups}
    else:
        for name in groups:
            _check_person(name)
        chosen = {name: [name] for name in groups}
    terms = {
        group: tuple(_name_term(name, line) for line, name in enumerate(own))
        for group, own in chosen.items()
    }
    return GroupTerms(NAME, groups, terms, group_slots(NAME))


def _check_person(name: str) -> None:
    """Raise ``ValueError`` for words that name a group, such as "Black women"."""
    crossed = lexicon_of(("race", "gender"))
    text = f"{name} called."
    if crossed.mask(text) == f"{MASK} called.":
        meant = " ".join(mention.group for mention in crossed.mentions(text))
        raise ValueError(
            f"{name!r} is no name of a person; did you mean the group {meant!r}? Of names known "
            f"are the groups {', '.join(name_choices())}"
        )


def _most(group: str) -> int:
    """Return how many names a group has."""
    return len(name_data()["first"]) * len(cells_of(group)) * len(name_data()["last"])


def _name_term(name: str, line: int) -> Term:
    first, *others = name.split()
    forms = {PERSON: name, _NAME_SLOTS[0]: first}
    if others:
        forms[_NAME_SLOTS[1]] = others[-1]
    cell = _cells().get(first, "")
    if cell:
        forms |= pronouns(load_lexicons()["gender"], cell.split()[-1])
    return Term(forms, line, kin=cell)


@functools.cache
def _cells() -> Mapping[str, str]:
    """Group of each listed first name."""
    return {name: cell for line in name_data()["first"] for cell, (name, _) in line.items()}


def _rank(attribute: str) -> int:
    return _ORDER.index(attribute) if attribute in _ORDER else -1


def _joined(outer: Term, inner: Term) -> Term | None:
    """Put the inner phrase where the outer one says "person", or behind its adjective."""
    identity = outer.forms.get(IDENTITY)
    forms = {**outer.forms, **inner.forms}
    for key, plain in ((NOUN, r"\bperson\b"), (PEOPLE, r"\bpeople\b")):
        guest = inner.forms[key]
        if re.search(plain, outer.forms[key]):
            forms[key] = re.sub(plain, guest, outer.forms[key], count=1)
        elif identity:
            forms[key] = f"{identity} {guest}"
        else:
            return None
    if identity is not None and IDENTITY in inner.forms:
        forms[IDENTITY] = f"{identity} {inner.forms[IDENTITY]}".strip()
    else:
        forms.pop(IDENTITY, None)
    variants = [term.variant for term in (outer, inner) if term.variant]
    variant = OMISSION if OMISSION in variants else (variants or [""])[0]
    return Term(forms, (outer.line, inner.line), variant, _gender_in(forms[NOUN]))
