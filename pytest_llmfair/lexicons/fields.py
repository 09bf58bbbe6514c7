"""The content of a lexicon file, checked; every problem names the file and the line."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import chain
from pathlib import Path
from typing import Any

from pytest_llmfair._util.documents import Document, day, place_of, schema_of
from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.located import load_yaml
from pytest_llmfair.lexicons.entries import ENTRY_KEYS, entries_of, terms_in

_SCHEMA = "lexicons/lexicon.schema.json"
_TEXTS = ("name", "language", "version", "source", "licence", "limits")
# What a lexicon that extends no other inherits.
_NOTHING: dict[str, Any] = {"aliases": {}, "members": {}, "word_order": 0, "entries": ()}
_LISTS = ("groups", "default_groups", "exact", "neutral", "exceptions", "lacks", "unmarked")

# The words of a people by kind: "Italian", "Italians", "Italy".
People = Mapping[str, tuple[str, ...]]

# Noun phrases for people, by attribute and group, of the user's lexicons that this process read:
# a result holds nothing of a lexicon but these two names.
_OWN_MEMBERS: dict[tuple[str, str], str] = {}


def shipped_attributes() -> list[str]:
    """Return the attributes that the package ships a lexicon for, in alphabetical order."""
    files = (file.name for file in _folder().iterdir())
    return sorted(name.removesuffix(".yaml") for name in files if name.endswith(".yaml"))


@functools.cache
def shipped_fields(attribute: str) -> dict[str, Any]:
    """Return the fields of a shipped `Lexicon`; do not change them, they are read only once."""
    file = _folder() / f"{attribute}.yaml"
    # The tests compare the files of the package with the schema.
    content = load_yaml(file.read_text(encoding="utf-8"), file.name)
    return _fields(Document(content, file.name, None))


def _folder() -> Traversable:
    return resources.files("pytest_llmfair.lexicons") / "data"


def fields_in(path: str | Path) -> dict[str, Any]:
    """Return the fields of the lexicon in a file."""
    return _own_fields(Document.read(path, schema_of(_SCHEMA)))


def fields_from(data: Any, source: str) -> dict[str, Any]:
    """Return the fields of the lexicon that a mapping holds."""
    return _own_fields(Document(data, source, schema_of(_SCHEMA)))


def _own_fields(document: Document) -> dict[str, Any]:
    """Return the fields of a user's lexicon, and remember its noun phrases for messages."""
    fields = _fields(document)
    own = fields["members"].items()
    _OWN_MEMBERS.update({(fields["name"], group): phrase for group, phrase in own})
    return fields


def members_of(attribute: str, group: str) -> str | None:
    """Return the noun phrase for the people of a group; None where no known lexicon has one."""
    own = _OWN_MEMBERS.get((attribute, group))
    if attribute not in shipped_attributes():
        return own
    # Words of a user's lexicon by the same name must not change what is said of others.
    fields = shipped_fields(attribute)
    phrase: str | None = fields["members"].get(fields["aliases"].get(group, group), own)
    return phrase


def _fields(document: Document) -> dict[str, Any]:
    """Return the fields of a `Lexicon`; raise ``ValueError`` with all that is wrong."""
    data, add = document.content, document.add
    base = _base(document)
    fields: dict[str, Any] = {
        key: str(data[key]).strip() for key in _TEXTS if data.get(key) is not None
    }
    for key in _LISTS:
        fields[key] = terms_in(data.get(key))
    fields["reviewed"] = day(data["reviewed"]) if data.get("reviewed") else None
    given = {key: value for key, value in fields.items() if value}
    if base is not None:
        fields = _extended(base, fields)
    groups = fields["groups"]
    if document.is_right("groups") and len(set(groups)) < max(2, len(groups)):
        add(("groups",), f"groups are {list(groups)}; name two or more, each once")
    for group in groups:
        if group in ENTRY_KEYS:
            add(("groups",), f"a group cannot be called {group!r}, a key of every entry")
    if not groups or not document.is_right("groups"):
        # Whatever follows would name groups that are not known.
        document.check()
    inherited = base or _NOTHING
    aliases = _aliases(document, groups, inherited["aliases"])
    labels = {**{group: group for group in groups}, **aliases}
    for key, called in (("default_groups", "default"), ("unmarked", "unmarked")):
        for name in fields[key]:
            if name not in labels:
                hint = suggestion(name, labels)
                add((key,), f"{called} group {name!r} is not a group; {hint}")
        fields[key] = tuple(labels[name] for name in fields[key] if name in labels)
    fields["default_groups"] = fields["default_groups"] or groups
    if document.is_right("default_groups") and len(set(fields["default_groups"])) < 2:
        add(
            ("default_groups",),
            f"default_groups are {list(fields['default_groups'])}; name two or more, because they "
            "are exchanged with each other",
        )
    for group in given.get("lacks", ()):
        if group in labels:
            add(("lacks",), f"{group!r} is in lacks and is also a group; keep one")
    fields["lacks"] = tuple(group for group in fields["lacks"] if group not in labels)
    fields["aliases"] = aliases
    members = dict(_by_group(document, "members", groups))
    fields["members"] = {**inherited["members"], **members}
    fields["word_order"] = data.get("word_order", inherited["word_order"])
    own = entries_of(document, labels, inherited["entries"], given.get("reviewed"))
    # The entries of a user come first, so that they are read and written first.
    fields["entries"] = (*own, *inherited["entries"])
    spelled = {
        term: group
        for entry in fields["entries"]
        for group, terms in entry.terms.items()
        for term in terms
    }
    if document.is_right("entries"):
        fields |= _on_terms(document, spelled, groups, given.get("exact", ()), fields["entries"])
    document.check()
    if base is not None:
        fields["neutral_nouns"] = {**base["neutral_nouns"], **fields["neutral_nouns"]}
        fields["synonyms"] += base["synonyms"]
        fields["peoples"] += base["peoples"]
    return fields


def _on_terms(
    document: Document,
    spelled: Mapping[str, str],
    groups: tuple[str, ...],
    exact: tuple[str, ...],
    entries: tuple[Any, ...],
) -> dict[str, Any]:
    """Return the fields a file gives for the terms of its entries."""
    for group in groups:
        if not any(group in entry.terms for entry in entries):
            document.add(
                ("groups",),
                f"no entry has a term of group {group!r}; give one, or move the group to lacks",
            )
    for term in exact:
        if term not in spelled:
            hint = suggestion(term, spelled)
            document.add(
                ("exact",), f"exact {term!r} is not a term of any entry in this spelling; {hint}"
            )
    owners = {term.casefold(): group for term, group in spelled.items()}
    nouns: dict[str, str] = {}
    for noun, terms in (document.content.get("neutral_nouns") or {}).items():
        of_noun = _known(document, ("neutral_nouns", noun), terms, owners)
        nouns |= {term.casefold(): terms_in(noun)[0] for term in of_noun}
    peoples = [
        {kind: terms_in(terms) for kind, terms in people.items()}
        for path, people in _items(document, "peoples")
        if _of_one_group(document, path, [terms_in(terms) for terms in people.values()], owners)
    ]
    lines = [
        terms_in(line)
        for path, line in _items(document, "synonyms")
        if _of_one_group(document, path, [terms_in(line)], owners)
    ]
    joined = _synonyms_of(peoples, owners) if document.is_right("peoples") else ()
    return {"neutral_nouns": nouns, "peoples": tuple(peoples), "synonyms": (*lines, *joined)}


def _synonyms_of(peoples: Sequence[People], owners: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return lines of words of one kind and one group, for placebo twins."""
    lines: dict[tuple[str, str], list[str]] = {}
    for kind in ("adjective", "person", "country", "people"):
        for people in peoples:
            group = owners[people["adjective"][0].casefold()]
            if kind in people:
                lines.setdefault((kind, group), []).append(people[kind][0])
    return [tuple(line) for line in lines.values()]


def people_called(peoples: Sequence[People], name: str) -> People | None:
    """Return the people that one of its words names, in any case; None if there is none."""
    wanted = _plain(name)
    return next((one for one in peoples if wanted in map(_plain, chain(*one.values()))), None)


def _plain(word: str) -> str:
    return word.strip().casefold().removeprefix("the ")


def _items(document: Document, key: str) -> Iterator[tuple[tuple[str, int], Any]]:
    """Yield the items of a list, each with its path."""
    for place, item in enumerate(document.content.get(key) or []):
        if item is not None:
            yield (key, place), item


def _of_one_group(
    document: Document,
    path: tuple[Any, ...],
    words: list[tuple[str, ...]],
    owners: Mapping[str, str],
) -> bool:
    """Whether terms name one group; add what is wrong with them."""
    terms = [term for listed in words for term in listed]
    known = _known(document, path, terms, owners)
    groups = list(dict.fromkeys(owners[term.casefold()] for term in known))
    if len(groups) > 1:
        document.add(
            path,
            f"{place_of(path)}: {', '.join(terms)} name the groups {' and '.join(groups)}; a line "
            "names one",
        )
    return bool(known)


def _known(
    document: Document, path: tuple[Any, ...], terms: Any, owners: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the terms that an entry has; add what is wrong with others."""
    terms = terms_in(terms)
    for term in terms:
        if term.casefold() not in owners:
            hint = suggestion(term, owners)
            document.add(path, f"{place_of(path)}: {term!r} is not a term of any entry; {hint}")
    return tuple(term for term in terms if term.casefold() in owners)


def _base(document: Document) -> dict[str, Any] | None:
    """Return the fields of the shipped lexicon that the data extend, or None."""
    if not document.is_right("extends"):
        document.check()
    name = document.content.get("extends")
    if name is None:
        return None
    shipped = shipped_attributes()
    if name not in shipped:
        document.add(
            ("extends",),
            f"extends {name!r}, which is not a lexicon that ships with the package; "
            + suggestion(name, shipped),
        )
        document.check()
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
    document: Document, groups: tuple[str, ...], inherited: Mapping[str, str]
) -> dict[str, str]:
    aliases = dict(inherited)
    for group in groups:
        if group in inherited:
            document.add(
                ("groups",), f"{group!r} is another name of {inherited[group]!r}; use that"
            )
    for group, names in _by_group(document, "aliases", groups):
        for name in terms_in(names):
            if name in groups or aliases.setdefault(name, group) != group:
                owner = aliases.get(name, name)
                document.add(
                    ("aliases", group),
                    f"alias {name!r} of {group} already stands for {owner}; use it once",
                )
    return aliases


def _by_group(document: Document, key: str, groups: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield what a mapping says of each group; add what is wrong with its other keys."""
    for group, given in (document.content.get(key) or {}).items():
        if group in groups:
            yield group, given
        else:
            hint = suggestion(str(group), groups)
            document.add((key, group), f"{key} of {group!r}, which is not a group; {hint}")
