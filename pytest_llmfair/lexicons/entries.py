"""The entries of a lexicon file, checked; every error names the file, the line and the entry."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from pytest_llmfair.lexicons.grammar import KINDS
from pytest_llmfair.lexicons.schema import (
    at_line,
    collection_in,
    date_in,
    suggestion,
    terms_in,
)
from pytest_llmfair.lexicons.terms import REGISTERS, Entry, Register

# Roles that the rules know; a file may use others.
_ROLES = (
    *("noun", "adjective", "title", "kinship", "occupation", "reflexive", "subject", "object"),
    *("possessive_determiner", "possessive_pronoun"),
)


_LISTS = ("not_before", "not_after", "only_before", "only_after")


ENTRY_KEYS = ("role", "kind", "context", *_LISTS, "determiner", "reviewed")


# Older files give entries a context instead of a kind.
_CONTEXTS = {
    "person_adjective": "before_person no_switch contrasted demonym predicate compared old "
    "superlative of_couple no_first_name no_given_name no_institution living calling",
    "person_noun": "person_noun insult people collective no_team noun no_work kin no_degree "
    "shortened deity",
    "condition": "had owned condition no_compound origin",
    "age": "years value behind_person decade aged",
    "title": "before_name not_with_word_name not_beside_name royal couple address noble",
    "plain": "field contracted scripture faith house",
}


_INSTEAD = {context: kind for kind, those in _CONTEXTS.items() for context in those.split()}


# "{20..34}-year-old" stands for fifteen terms, and so does "{twenty..thirty-four}-year-old".
_RANGE = re.compile(r"\{(\d{1,4}|[a-z-]{3,12})\.\.(\d{1,4}|[a-z-]{3,12})\}")


_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)


_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


_NUMBERS = [
    *_ONES,
    *(f"{ten}{one}" for ten in _TENS for one in ("", *(f"-{word}" for word in _ONES[1:10]))),
]


# Words before a noun that agree with it ("la", "esta"), by the name of their list and group.
_Determiners = Mapping[str, tuple[Mapping[str, str], ...]]


def entries_in(
    data: Any,
    labels: Mapping[str, str],
    source: str,
    inherited: tuple[Entry, ...],
    reviewed: date | None,
) -> Iterator[Entry]:
    """Yield the entries of a lexicon file.

    `labels` maps a name or alias of a group to the group, `source` names the file, `inherited` are
    the entries of the lexicon that the file extends, and `reviewed` is the date of entries without
    one.
    """
    determiners = _determiners_in(data, labels, source)
    owner = {
        (entry.role, term.casefold()): (group, "the lexicon that it extends")
        for entry in inherited
        for group, terms in entry.terms.items()
        for term in terms
    }
    items = collection_in(data, source, "entries", list, "a list")
    for number, item in enumerate(items, start=1):
        where = f"{at_line(source, items, number - 1)}: entry {number}"
        if not isinstance(item, Mapping):
            raise ValueError(f"{where} is {item!r}; give a mapping of role and groups to terms")
        role = item.get("role")
        if not isinstance(role, str) or not role:
            raise ValueError(f"{where} has no role; name one, such as noun or adjective")
        if role not in _ROLES and (meant := difflib.get_close_matches(role, _ROLES, 1, 0.75)):
            raise ValueError(
                f"{where}: role {role!r} is close to a known role; did you mean {meant[0]}?"
            )
        place = _where_counted(item, f"{where} ({role})")
        own = date_in(item.get("reviewed"), f"{at_line(source, item, 'reviewed')}: entry {number}")
        terms: dict[str, tuple[str, ...]] = {}
        registers: dict[str, Register] = {}
        places: dict[str, str] = {}
        for key in (key for key in item if key not in ENTRY_KEYS):
            # An entry can span several lines, so errors name the line of the group.
            here = f"{at_line(source, item, key)}: entry {number}"
            group = known_group(key, labels, f"{here} ({role})")
            if group in terms:
                raise ValueError(f"{here} ({role}): group {group!r} is given twice, as {key!r}")
            terms[group] = _registered(item[key], f"{here} ({role}, {key})", registers)
            if not terms[group]:
                raise ValueError(f"{here} ({role}): the list of {key!r} is empty; give terms")
            places[group] = here
        if not terms:
            raise ValueError(f"{where} ({role}) has no terms; give terms for at least one group")
        listed = Entry(role, terms, registers=registers, reviewed=own or reviewed, **place)
        here = f"{where} ({role})"
        after = _determined(listed, item.get("determiner"), determiners, here)
        for entry in (step for each in after for step in _numbered(each, here)):
            for group, words in entry.terms.items():
                for term in words:
                    first = owner.setdefault((role, term.casefold()), (group, f"entry {number}"))
                    if first[0] != group:
                        raise ValueError(
                            f"{places[group]} ({role}): {term!r} is in group {group} and, in "
                            f"{first[1]}, in group {first[0]}; a term names one group"
                        )
            yield entry


def known_group(name: object, labels: Mapping[str, str], where: str) -> str:
    """Return the group with a name or alias; `where` begins the error message."""
    if name not in labels:
        hint = suggestion(str(name), list(labels))
        raise ValueError(f"{where}: unknown group {name!r}; {hint}")
    return labels[str(name)]


def _where_counted(item: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the kind of an entry, and its lists of words next to a term."""
    if "context" in item:
        known = _INSTEAD.get(str(item["context"]), " or ".join(KINDS))
        raise ValueError(
            f"{where}: 'context: {item['context']}' is no longer supported; write 'kind: {known}'"
        )
    kind = item.get("kind", "")
    if kind and kind not in KINDS:
        raise ValueError(f"{where}: unknown kind {kind!r}; {suggestion(str(kind), list(KINDS))}")
    return {"kind": kind, **{key: _words(item.get(key, ()), f"{where}, {key}") for key in _LISTS}}


def _words(value: Any, where: str) -> tuple[str, ...]:
    words = value if isinstance(value, (list, tuple)) else [value]
    for word in words:
        if not isinstance(word, str) or not word.strip():
            raise ValueError(
                f"{where}: {word!r} is not a word; quote it if YAML reads it as something else"
            )
        if word != word.lower():
            raise ValueError(
                f"{where}: {word!r} has a capital; give {word.lower()!r}, which stands for both"
            )
    return tuple(" ".join(word.split()) for word in words)


def _registered(value: Any, where: str, registers: dict[str, Register]) -> tuple[str, ...]:
    """Return the terms; record the register of those that are not preferred."""
    if not isinstance(value, (list, tuple, Mapping)):
        return terms_in(value, where)
    terms: list[Any] = []
    for item in value if isinstance(value, (list, tuple)) else [value]:
        if not isinstance(item, Mapping):
            terms.append(item)
            continue
        for key in item:
            if key not in ("term", "register"):
                hint = suggestion(str(key), ["term", "register"])
                raise ValueError(f"{where}: a term has no {key!r}; {hint}")
        register: Any = item.get("register", "preferred")
        if register not in REGISTERS:
            hint = suggestion(str(register), list(REGISTERS))
            raise ValueError(f"{where}: unknown register {register!r}; {hint}")
        given = item.get("term")
        words = terms_in(given if isinstance(given, (list, tuple)) else [given], where)
        terms += words
        if register != "preferred":
            registers.update(dict.fromkeys(words, register))
    return terms_in(terms, where)


def _determiners_in(data: Any, labels: Mapping[str, str], source: str) -> _Determiners:
    given = collection_in(data, source, "determiners", dict, "name: [words by group]")
    found = {}
    for name, listed in given.items():
        here = f"{at_line(source, given, name)}: determiners {name!r}"
        if not isinstance(listed, (list, tuple)) or not listed:
            raise ValueError(f"{here} is {listed!r}; give a list of mappings from group to word")
        for words in listed:
            if not isinstance(words, Mapping):
                raise ValueError(f"{here} holds {words!r}; give a mapping from group to word")
        found[name] = tuple(
            {
                known_group(key, labels, here): terms_in([word], here)[0]
                for key, word in words.items()
            }
            for words in listed
        )
    return found


def _determined(entry: Entry, name: object, known: _Determiners, where: str) -> Iterator[Entry]:
    """Yield an entry, and one for each determiner before its terms ("la estudiante")."""
    if name is None:
        yield entry
        return
    if not isinstance(name, str) or name not in known:
        hint = suggestion(str(name), list(known)) if known else "the file lists none"
        raise ValueError(f"{where}: unknown determiners {name!r}; {hint}")
    if len(set(entry.terms.values())) > 1:
        yield entry
    for words in known[name]:
        for group in entry.terms:
            if group not in words:
                raise ValueError(
                    f"{where}: determiners {name!r} have {dict(words)}, without one for {group!r}"
                )
        yield _reworded(entry, functools.partial(_with_word, words))


def _with_word(words: Mapping[str, str], group: str, term: str) -> str:
    return f"{words[group]} {term}"


def _numbered(entry: Entry, where: str) -> Iterator[Entry]:
    """Yield an entry for every step of the ranges in its terms: "{20..34}" with "{50..64}"."""
    terms = [term for listed in entry.terms.values() for term in listed]
    ranges = [found for term in terms for found in _RANGE.findall(term)]
    for word in (word for both in ranges for word in both):
        if not (word.isdigit() or word in _NUMBERS):
            raise ValueError(f"{where}: {word!r} is not a number from zero to ninety-nine")
    steps = {_number(last) - _number(first) + 1 for first, last in ranges}
    if not steps:
        yield entry
        return
    if len(steps) > 1 or min(steps) < 1:
        raise ValueError(
            f"{where}: its ranges have {', '.join(map(str, sorted(steps)))} steps; give ranges of "
            "equally many, such as {20..34} and {50..64}"
        )
    for step in range(steps.pop()):
        yield _reworded(entry, functools.partial(_at, step))


def _at(step: int, _: str, term: str) -> str:
    def written(match: re.Match[str]) -> str:
        number = _number(match[1]) + step
        return str(number) if match[1].isdigit() else _NUMBERS[number]

    return _RANGE.sub(written, term)


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS.index(word)


def _reworded(entry: Entry, reword: Callable[[str, str], str]) -> Entry:
    """Return an entry with other terms; `reword` gets a group and a term."""
    terms: dict[str, tuple[str, ...]] = {}
    registers: dict[str, Register] = {}
    for group, listed in entry.terms.items():
        terms[group] = tuple(reword(group, term) for term in listed)
        registers |= {
            after: entry.registers[term]
            for term, after in zip(listed, terms[group], strict=True)
            if term in entry.registers
        }
    return replace(entry, terms=terms, registers=registers)
