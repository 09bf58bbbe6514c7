"""The content of a lexicon file, checked; every error names the file and the line."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from pytest_llmfair.lexicons.entries import ENTRY_KEYS, entries_in
from pytest_llmfair.lexicons.peoples import KINDS, NEEDED, People, synonyms_of
from pytest_llmfair.lexicons.schema import (
    at_line,
    collection_in,
    date_in,
    kind_of,
    load_yaml,
    suggestion,
    terms_in,
    text_in,
)

_TEXTS = ("name", "language", "version", "source", "licence", "limits")
_LISTS = ("groups", "default_groups", "exact", "neutral", "exceptions", "lacks", "unmarked")
_OTHERS = (
    *("extends", "aliases", "reviewed", "determiners", "entries"),
    *("neutral_nouns", "synonyms", "peoples"),
)
_REQUIRED = ("name", "groups", "entries")


def shipped_attributes() -> list[str]:
    """Return the attributes that the package ships a lexicon for, in alphabetical order."""
    files = (file.name for file in _folder().iterdir())
    return sorted(name.removesuffix(".yaml") for name in files if name.endswith(".yaml"))


@functools.cache
def shipped_fields(attribute: str) -> dict[str, Any]:
    """Return the fields of a shipped `Lexicon`; do not change them, they are read only once."""
    file = _folder() / f"{attribute}.yaml"
    return fields_from(load_yaml(file.read_text(encoding="utf-8"), file.name), file.name)


def _folder() -> Traversable:
    return resources.files("pytest_llmfair.lexicons") / "data"


def fields_from(data: Any, source: str) -> dict[str, Any]:
    """Check the content of a lexicon file and return the fields of a `Lexicon`."""
    if not isinstance(data, Mapping):
        content = "is empty" if data is None else f"holds a {kind_of(data)}"
        raise ValueError(f"{source} {content}; a lexicon is a mapping of name, groups and entries")
    at = functools.partial(at_line, source, data)
    known = [*_TEXTS, *_LISTS, *_OTHERS]
    for key in data:
        if key not in known:
            raise ValueError(f"{at(key)}: unknown key {key!r}; {suggestion(str(key), known)}")
    base = _base(data, source)
    for key in _REQUIRED if base is None else ():
        if not data.get(key):
            raise ValueError(f"{at(key)}: {key!r} is missing or empty; a lexicon needs it")
    fields: dict[str, Any] = {
        key: text_in(data[key], f"{at(key)}: {key}") for key in _TEXTS if data.get(key) is not None
    }
    for key in _LISTS:
        fields[key] = terms_in(data.get(key) or [], f"{at(key)}: {key}")
    fields["reviewed"] = date_in(data.get("reviewed"), at("reviewed"))
    given = {key: value for key, value in fields.items() if value}
    if base is not None:
        fields = _extended(base, fields)
    groups = fields["groups"]
    if len(set(groups)) < 2 or len(set(groups)) != len(groups):
        raise ValueError(f"{at('groups')}: groups are {list(groups)}; name two or more, each once")
    for group in groups:
        if group in ENTRY_KEYS:
            raise ValueError(
                f"{at('groups')}: a group cannot be called {group!r}, a key of every entry"
            )
    aliases = _aliases(data, groups, {} if base is None else base["aliases"], source)
    labels = {**{group: group for group in groups}, **aliases}
    for key, called in (("default_groups", "default"), ("unmarked", "unmarked")):
        for name in fields[key]:
            if name not in labels:
                hint = suggestion(name, list(labels))
                raise ValueError(f"{at(key)}: {called} group {name!r} is not a group; {hint}")
        fields[key] = tuple(labels[name] for name in fields[key])
    fields["default_groups"] = fields["default_groups"] or groups
    if len(set(fields["default_groups"])) < 2:
        raise ValueError(
            f"{at('default_groups')}: default_groups are {list(fields['default_groups'])}; name "
            "two or more, because they are exchanged with each other"
        )
    for group in given.get("lacks", ()):
        if group in labels:
            raise ValueError(f"{at('lacks')}: {group!r} is in lacks and is also a group; keep one")
    fields["lacks"] = tuple(group for group in fields["lacks"] if group not in labels)
    fields["aliases"] = aliases
    inherited = () if base is None else base["entries"]
    own = entries_in(data, labels, source, inherited, given.get("reviewed"))
    # The entries of a user come first, so that they are read and written first.
    fields["entries"] = (*own, *inherited)
    spelled = {
        term: group
        for entry in fields["entries"]
        for group, terms in entry.terms.items()
        for term in terms
    }
    for group in groups:
        if not any(group in entry.terms for entry in fields["entries"]):
            raise ValueError(
                f"{at('groups')}: no entry has a term of group {group!r}; give one, or move the "
                "group to lacks"
            )
    for term in given.get("exact", ()):
        if term not in spelled:
            raise ValueError(
                f"{at('exact')}: exact {term!r} is not a term of any entry in this spelling; "
                + suggestion(term, list(spelled))
            )
    owners = {term.casefold(): group for term, group in spelled.items()}
    fields["neutral_nouns"] = _neutral_nouns(data, owners, source)
    fields["peoples"] = _peoples(data, owners, source)
    fields["synonyms"] = (
        *(
            _of_one_group(line, owners, where)
            for where, line in _lines(data, "synonyms", "lists", source)
        ),
        *synonyms_of(fields["peoples"], owners),
    )
    if base is not None:
        fields["neutral_nouns"] = {**base["neutral_nouns"], **fields["neutral_nouns"]}
        fields["synonyms"] += base["synonyms"]
        fields["peoples"] += base["peoples"]
    return fields


def _base(data: Any, source: str) -> dict[str, Any] | None:
    """Return the fields of the shipped lexicon that the data extend, or None."""
    name = data.get("extends")
    if name is None:
        return None
    shipped = shipped_attributes()
    if name not in shipped:
        raise ValueError(
            f"{at_line(source, data, 'extends')}: extends {name!r}, which is not a lexicon that "
            f"ships with the package; {suggestion(str(name), shipped)}"
        )
    return shipped_fields(name)


def _extended(base: Mapping[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return the plain fields of a lexicon that extends another."""
    fields = {key: base[key] for key in (*_TEXTS, *_LISTS, "reviewed") if key in base}
    fields |= {key: value for key, value in own.items() if value and key not in _LISTS}
    for key in _LISTS:
        fields[key] = tuple(dict.fromkeys((*fields[key], *own[key])))
    # If all groups of the base were exchanged, added groups are exchanged too.
    if own["default_groups"] or base["default_groups"] == base["groups"]:
        fields["default_groups"] = own["default_groups"]
    return fields


def _aliases(
    data: Any, groups: tuple[str, ...], inherited: Mapping[str, str], source: str
) -> dict[str, str]:
    given = collection_in(data, source, "aliases", dict, "group: [aliases]")
    aliases = dict(inherited)
    for group in groups:
        if group in inherited:
            where = at_line(source, data, "groups")
            raise ValueError(
                f"{where}: {group!r} is another name of {inherited[group]!r}; use that"
            )
    for group, names in given.items():
        here = at_line(source, given, group)
        if group not in groups:
            hint = suggestion(str(group), groups)
            raise ValueError(f"{here}: aliases of {group!r}, which is not a group; {hint}")
        for name in terms_in(names, f"{here}: aliases of {group}"):
            if name in groups or aliases.setdefault(name, group) != group:
                owner = aliases.get(name, name)
                raise ValueError(
                    f"{here}: alias {name!r} of {group} already stands for {owner}; use it once"
                )
    return aliases


def _neutral_nouns(data: Any, owners: Mapping[str, str], source: str) -> dict[str, str]:
    """Return, by term, the noun that remains when the group is not named."""
    wanted = "noun: [terms that it takes the place of]"
    given = collection_in(data, source, "neutral_nouns", dict, wanted)
    nouns: dict[str, str] = {}
    for noun, terms in given.items():
        where = f"{at_line(source, given, noun)}: neutral_nouns, {noun}"
        (word,) = terms_in(noun, where)
        for term in terms_in(terms, where):
            _owner(term, owners, where)
            nouns[term.casefold()] = word
    return nouns


def _peoples(data: Any, owners: Mapping[str, str], source: str) -> tuple[People, ...]:
    """Return the words of each people by their kind."""
    peoples = []
    for where, people in _lines(data, "peoples", "mappings", source):
        if not isinstance(people, Mapping):
            raise ValueError(f"{where} is a {kind_of(people)}; give its words by their kind")
        for kind in people:
            if kind not in KINDS:
                hint = suggestion(str(kind), [*KINDS])
                raise ValueError(f"{where}: unknown kind {kind!r}; {hint}")
        for kind in NEEDED:
            if not people.get(kind):
                raise ValueError(f"{where}: {kind!r} is missing or empty; a people needs it")
        words = {kind: terms_in(terms, where) for kind, terms in people.items()}
        _of_one_group([term for terms in words.values() for term in terms], owners, where)
        peoples.append(words)
    return tuple(peoples)


def _lines(data: Any, key: str, wanted: str, source: str) -> Iterator[tuple[str, Any]]:
    """Yield the items of a list, each with its place in the file."""
    given = collection_in(data, source, key, list, f"a list of {wanted}")
    for number, line in enumerate(given, start=1):
        yield f"{at_line(source, given, number - 1)}: {key}, line {number}", line


def _of_one_group(value: Any, owners: Mapping[str, str], where: str) -> tuple[str, ...]:
    terms = terms_in(value, where)
    groups = list(dict.fromkeys(_owner(term, owners, where) for term in terms))
    if len(groups) > 1:
        raise ValueError(
            f"{where}: {', '.join(terms)} name the groups {' and '.join(groups)}; a line names one"
        )
    return terms


def _owner(term: str, owners: Mapping[str, str], where: str) -> str:
    if term.casefold() not in owners:
        hint = suggestion(term, [*owners])
        raise ValueError(f"{where}: {term!r} is not a term of any entry; {hint}")
    return owners[term.casefold()]
