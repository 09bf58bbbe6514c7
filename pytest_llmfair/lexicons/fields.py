"""The content of a lexicon file, checked; every error names the file and the line."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    given = _plain_fields(data, at)
    fields = given if base is None else _extended(base, given)
    _check_groups(fields["groups"], at("groups"))
    aliases = _aliases(data, fields["groups"], {} if base is None else base["aliases"], source)
    labels = {**{group: group for group in fields["groups"]}, **aliases}
    fields |= {"aliases": aliases, **_groups_of_kind(fields, given["lacks"], labels, at)}
    inherited = () if base is None else base["entries"]
    own = entries_in(data, labels, source, inherited, given["reviewed"])
    # The entries of a user come first, so that they are read and written first.
    fields["entries"] = (*own, *inherited)
    spelled = _spelled(fields, given["exact"], at)
    owners = {term.casefold(): group for term, group in spelled.items()}
    fields["neutral_nouns"] = _neutral_nouns(data, owners, source)
    fields["peoples"] = _peoples(data, owners, source)
    lines = _lines(data, "synonyms", "lists", source)
    listed = tuple(_of_one_group(line, owners, where) for where, line in lines)
    fields["synonyms"] = (*listed, *synonyms_of(fields["peoples"], owners))
    if base is not None:
        fields["neutral_nouns"] = {**base["neutral_nouns"], **fields["neutral_nouns"]}
        fields["synonyms"] += base["synonyms"]
        fields["peoples"] += base["peoples"]
    return fields


def _plain_fields(data: Any, at: Callable[[str], str]) -> dict[str, Any]:
    """Return texts, lists and the date as the file gives them."""
    fields: dict[str, Any] = {
        key: text_in(data[key], f"{at(key)}: {key}") for key in _TEXTS if data.get(key) is not None
    }
    for key in _LISTS:
        fields[key] = terms_in(data.get(key) or [], f"{at(key)}: {key}")
    fields["reviewed"] = date_in(data.get("reviewed"), at("reviewed"))
    return fields


def _check_groups(groups: tuple[str, ...], where: str) -> None:
    if len(set(groups)) < 2 or len(set(groups)) != len(groups):
        raise ValueError(f"{where}: groups are {list(groups)}; name two or more, each once")
    for group in groups:
        if group in ENTRY_KEYS:
            raise ValueError(f"{where}: a group cannot be called {group!r}, a key of every entry")


def _groups_of_kind(
    fields: dict[str, Any],
    lacks: Sequence[str],
    labels: Mapping[str, str],
    at: Callable[[str], str],
) -> dict[str, tuple[str, ...]]:
    """Return the default, the unmarked and the lacking groups; `lacks` are those of the file."""
    found = {}
    for key, called in (("default_groups", "default"), ("unmarked", "unmarked")):
        for name in fields[key]:
            if name not in labels:
                hint = suggestion(name, list(labels))
                raise ValueError(f"{at(key)}: {called} group {name!r} is not a group; {hint}")
        found[key] = tuple(labels[name] for name in fields[key])
    found["default_groups"] = found["default_groups"] or fields["groups"]
    if len(set(found["default_groups"])) < 2:
        raise ValueError(
            f"{at('default_groups')}: default_groups are {list(found['default_groups'])}; name "
            "two or more, because they are exchanged with each other"
        )
    for group in lacks:
        if group in labels:
            raise ValueError(f"{at('lacks')}: {group!r} is in lacks and is also a group; keep one")
    return {**found, "lacks": tuple(group for group in fields["lacks"] if group not in labels)}


def _spelled(
    fields: Mapping[str, Any], exact: Sequence[str], at: Callable[[str], str]
) -> dict[str, str]:
    """Return the group of every term; each group needs one, and `exact` are terms."""
    spelled = {
        term: group
        for entry in fields["entries"]
        for group, terms in entry.terms.items()
        for term in terms
    }
    for group in fields["groups"]:
        if not any(group in entry.terms for entry in fields["entries"]):
            raise ValueError(
                f"{at('groups')}: no entry has a term of group {group!r}; give one, or move the "
                "group to lacks"
            )
    for term in exact:
        if term not in spelled:
            raise ValueError(
                f"{at('exact')}: exact {term!r} is not a term of any entry in this spelling; "
                + suggestion(term, list(spelled))
            )
    return spelled


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
