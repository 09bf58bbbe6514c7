"""The entries of a lexicon file, checked; every error names the file, the line and the entry."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from pytest_llmfair._util.documents import Document, day, place_of
from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair.lexicons.terms import Entry, Register

# Roles that the rules know; a file may use others.
_ROLES = (
    *("noun", "adjective", "title", "kinship", "occupation", "reflexive", "subject", "object"),
    *("possessive_determiner", "possessive_pronoun"),
)
_LISTS = ("not_before", "not_after", "only_before", "only_after")
ENTRY_KEYS = ("role", "kind", *_LISTS, "determiner", "reviewed")

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
# Adds what is wrong with an entry, and the key that it is about.
_Add = Callable[..., None]


def entries_of(
    document: Document,
    labels: Mapping[str, str],
    inherited: tuple[Entry, ...],
    reviewed: date | None,
) -> list[Entry]:
    """Return the entries of a lexicon file; what is wrong with them is added to its problems."""
    determiners = _determiners_in(document, labels)
    owner = {
        (entry.role, term.casefold()): (group, "the lexicon that it extends")
        for entry in inherited
        for group, terms in entry.terms.items()
        for term in terms
    }
    entries: list[Entry] = []
    for place, item in enumerate(document.content.get("entries") or []):
        if item is None or "role" not in item:  # the schema refuses it
            continue
        where, role = ("entries", place), item["role"]
        add = functools.partial(_add, document, f"{place_of(where)} ({role})", where)
        if role not in _ROLES and (meant := difflib.get_close_matches(role, _ROLES, 1, 0.75)):
            add(f"role {role!r} is close to a known role; did you mean {meant[0]}?")
        own = day(item["reviewed"]) if item.get("reviewed") else reviewed
        keys = _keys(item, labels, add)
        registers: dict[str, Register] = {}
        terms = {group: _registered(item[key], registers) for group, key in keys.items()}
        terms = {group: words for group, words in terms.items() if words}
        if not terms and document.is_right(*where):
            add("there are no terms; give terms for at least one group")
        words_around = {key: _words(item.get(key, ()), key, add) for key in _LISTS}
        listed = Entry(
            role, terms, item.get("kind", ""), registers=registers, reviewed=own, **words_around
        )
        try:
            after = _determined(listed, item.get("determiner"), determiners)
            made = [step for each in after for step in _numbered(each)]
        except ValueError as error:
            add(str(error))
            continue
        for entry, group in ((each, group) for each in made for group in each.terms):
            for term in entry.terms[group]:
                own_place = group, f"entry {place + 1}"
                first = owner.setdefault((role, term.casefold()), own_place)
                if first[0] != group:
                    add(
                        f"{term!r} is in group {group} and, in {first[1]}, in group {first[0]}; "
                        "a term names one group",
                        keys[group],
                    )
        entries += made
    return entries


def _keys(item: Mapping[str, Any], labels: Mapping[str, str], add: _Add) -> dict[str, str]:
    """Return the key of each group in an entry: its label or an alias."""
    keys: dict[str, str] = {}
    for key in (key for key in item if key not in ENTRY_KEYS):
        if key not in labels:
            add(f"unknown group {key!r}; {suggestion(str(key), labels)}", key)
        elif keys.setdefault(labels[key], key) != key:
            add(f"group {labels[key]!r} is given twice, as {key!r}", key)
    return keys


def _add(
    document: Document, named: str, path: tuple[Any, ...], problem: str, key: str | None = None
) -> None:
    document.add(path if key is None else (*path, key), f"{named}: {problem}")


def _words(value: Any, key: str, add: _Add) -> tuple[str, ...]:
    words = terms_in(value)
    for word in words:
        if word != word.lower():
            add(
                f"{key}: {word!r} has a capital; give {word.lower()!r}, which stands for both", key
            )
    return words


def terms_in(value: Any) -> tuple[str, ...]:
    """Return one or several terms as a tuple, with single spaces between words."""
    terms = [value] if isinstance(value, str) else value or ()
    return tuple(" ".join(term.split()) for term in terms if term is not None)


def _registered(value: Any, registers: dict[str, Register]) -> tuple[str, ...]:
    """Return the terms; record the register of those that are not preferred."""
    terms: list[str] = []
    for item in value if isinstance(value, (list, tuple)) else [value]:
        own = item if isinstance(item, Mapping) else {"term": item}
        words = terms_in(own.get("term"))
        terms += words
        register: Any = own.get("register", "preferred")
        if register != "preferred":
            registers.update(dict.fromkeys(words, register))
    return tuple(terms)


def _determiners_in(document: Document, labels: Mapping[str, str]) -> _Determiners:
    found = {}
    for name, listed in (document.content.get("determiners") or {}).items():
        for words in filter(None, listed):
            for key in words:
                if key not in labels:
                    hint = suggestion(str(key), labels)
                    path = ("determiners", name)
                    document.add(path, f"determiners {name!r}: unknown group {key!r}; {hint}")
        found[name] = tuple(
            {labels[key]: terms_in(word)[0] for key, word in words.items() if key in labels}
            for words in filter(None, listed)
        )
    return found


def _determined(entry: Entry, name: str | None, known: _Determiners) -> Iterator[Entry]:
    """Yield an entry, and one for each determiner before its terms ("la estudiante")."""
    if name is None:
        yield entry
        return
    if name not in known:
        hint = suggestion(name, known) if known else "the file lists none"
        raise ValueError(f"unknown determiners {name!r}; {hint}")
    if len(set(entry.terms.values())) > 1:
        yield entry
    for words in known[name]:
        for group in entry.terms:
            if group not in words:
                raise ValueError(
                    f"determiners {name!r} have {dict(words)}, without one for {group!r}"
                )
        yield _reworded(entry, functools.partial(_with_word, words))


def _with_word(words: Mapping[str, str], group: str, term: str) -> str:
    return f"{words[group]} {term}"


def _numbered(entry: Entry) -> Iterator[Entry]:
    """Yield an entry for every step of the ranges in its terms: "{20..34}" with "{50..64}"."""
    terms = [term for listed in entry.terms.values() for term in listed]
    ranges = [found for term in terms for found in _RANGE.findall(term)]
    for word in (word for both in ranges for word in both):
        if not (word.isdigit() or word in _NUMBERS):
            raise ValueError(f"{word!r} is not a number from zero to ninety-nine")
    steps = {_number(last) - _number(first) + 1 for first, last in ranges}
    if not steps:
        yield entry
        return
    if len(steps) > 1 or min(steps) < 1:
        raise ValueError(
            f"its ranges have {', '.join(map(str, sorted(steps)))} steps; give ranges of "
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
