"""The content of a lexicon file, checked: every error names the file, the line and the entry."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from pytest_llmfair.counterfactuals._lexicons.determiners import (
    Determiners,
    determined,
    determiners_in,
)
from pytest_llmfair.counterfactuals._lexicons.loading import (
    at_line,
    kind_of,
    load_lexicons,
    suggestion,
)
from pytest_llmfair.counterfactuals._lexicons.peoples import KINDS, NEEDED, People, synonyms_of
from pytest_llmfair.counterfactuals._lexicons.ranges import numbered
from pytest_llmfair.counterfactuals._lexicons.terms import REGISTERS, Entry, Register
from pytest_llmfair.counterfactuals._lexicons.where import WHERE, where_counted
from pytest_llmfair.text import tokens

if TYPE_CHECKING:
    from pytest_llmfair.counterfactuals.lexicon import Lexicon

_TEXTS = ("name", "language", "version", "source", "licence", "limits")
_LISTS = ("groups", "default_groups", "exact", "neutral", "exceptions", "lacks", "unmarked")
_OTHERS = (
    *("extends", "aliases", "reviewed", "determiners", "entries"),
    *("neutral_nouns", "synonyms", "peoples"),
)
_REQUIRED = ("name", "groups", "entries")
# Roles that rules or reports read; any other word is a role too.
_ROLES = (
    "noun",
    "adjective",
    "title",
    "kinship",
    "occupation",
    "reflexive",
    "subject",
    "object",
    "possessive_determiner",
    "possessive_pronoun",
)
_OF_ENTRY = ("role", *WHERE, "determiner", "reviewed")


def fields_from(data: Any, source: str) -> dict[str, Any]:
    """Check the content of a lexicon file and return the fields of a `Lexicon`."""
    if not isinstance(data, Mapping):
        held = "is empty" if data is None else f"holds a {kind_of(data)}"
        raise ValueError(f"{source} {held}; a lexicon is a mapping of name, groups and entries")
    known = [*_TEXTS, *_LISTS, *_OTHERS]
    for key in data:
        if key not in known:
            where = at_line(source, data, key)
            raise ValueError(f"{where}: unknown key {key!r}; {suggestion(str(key), known)}")
    base = _base(data, source)
    for key in _REQUIRED if base is None else ():
        if not data.get(key):
            where = at_line(source, data, key)
            raise ValueError(f"{where}: {key!r} is missing or empty; a lexicon needs it")
    fields: dict[str, Any] = {
        key: text_in(data[key], f"{at_line(source, data, key)}: {key}")
        for key in _TEXTS
        if data.get(key) is not None
    }
    for key in _LISTS:
        fields[key] = _terms(data.get(key) or [], f"{at_line(source, data, key)}: {key}")
    fields["reviewed"] = date_in(data.get("reviewed"), at_line(source, data, "reviewed"))
    given = {key: value for key, value in fields.items() if value}
    if base is not None:
        fields = _upon(base, fields)
    groups = fields["groups"]
    if len(set(groups)) < 2 or len(set(groups)) != len(groups):
        where = at_line(source, data, "groups")
        raise ValueError(f"{where}: groups are {list(groups)}; name two or more, each once")
    for group in groups:
        if group in _OF_ENTRY:
            where = at_line(source, data, "groups")
            raise ValueError(f"{where}: a group cannot be called {group!r}, a key of every entry")
    aliases = _aliases(data, groups, {} if base is None else base.aliases, source)
    labels = {**{group: group for group in groups}, **aliases}
    for key in ("default_groups", "unmarked"):
        fields[key] = tuple(_label(name, labels, data, key, source) for name in fields[key])
    fields["default_groups"] = fields["default_groups"] or groups
    if len(set(fields["default_groups"])) < 2:
        where = at_line(source, data, "default_groups")
        raise ValueError(
            f"{where}: default_groups are {list(fields['default_groups'])}; name two or more, for "
            "they are exchanged with each other"
        )
    for group in given.get("lacks", ()):
        if group in labels:
            raise ValueError(
                f"{at_line(source, data, 'lacks')}: {group!r} is lacking and a group; keep one"
            )
    fields["lacks"] = tuple(group for group in fields["lacks"] if group not in labels)
    fields["aliases"] = aliases
    inherited = () if base is None else base.entries
    entries = data.get("entries") or []
    start = at_line(source, data, "entries")
    determiners = determiners_in(data, labels, source)
    reviewed = given.get("reviewed")
    own = _entries(entries, labels, determiners, source, start, inherited, reviewed)
    # The entries of a user come first, so that they are read and written first.
    fields["entries"] = (*own, *inherited)
    for group in groups:
        if not any(group in entry.terms for entry in fields["entries"]):
            raise ValueError(
                f"{at_line(source, data, 'groups')}: no entry has a term of group {group!r}; give "
                "one, or move the group to lacks"
            )
    _check_exact(fields["entries"], given.get("exact", ()), at_line(source, data, "exact"))
    owners = {
        term.casefold(): group
        for entry in fields["entries"]
        for group, terms in entry.terms.items()
        for term in terms
    }
    fields["neutral_nouns"] = _neutral_nouns(data, owners, source)
    fields["peoples"] = _peoples(data, owners, source)
    fields["synonyms"] = _synonyms(data, owners, source)
    fields["synonyms"] += (*synonyms_of(fields["peoples"], owners),)
    if base is not None:
        fields["neutral_nouns"] = {**base.neutral_nouns, **fields["neutral_nouns"]}
        fields["synonyms"] += base.synonyms
        fields["peoples"] += base.peoples
    return fields


def _check_exact(entries: Iterable[Entry], exact: Iterable[str], where: str) -> None:
    """Check that every exact spelling is one of a term."""
    spelled = [term for one in entries for terms in one.terms.values() for term in terms]
    for term in exact:
        if term not in spelled:
            raise ValueError(
                f"{where}: exact {term!r} is no term of an entry in this spelling; "
                + suggestion(term, spelled)
            )


def _base(data: Any, source: str) -> Lexicon | None:
    """Return the shipped lexicon that the data extend, or None."""
    name = data.get("extends")
    if name is None:
        return None
    try:
        return load_lexicons()[name]
    except (KeyError, TypeError):
        known = suggestion(str(name), list(load_lexicons()))
        raise ValueError(
            f"{at_line(source, data, 'extends')}: extends {name!r}, which is no lexicon that "
            f"ships with the package; {known}"
        ) from None


def _upon(base: Lexicon, own: dict[str, Any]) -> dict[str, Any]:
    """Return the plain fields of a lexicon that extends another."""
    fields = {key: getattr(base, key) for key in (*_TEXTS, *_LISTS, "reviewed")}
    fields |= {key: value for key, value in own.items() if value and key not in _LISTS}
    for key in _LISTS:
        fields[key] = tuple(dict.fromkeys((*fields[key], *own[key])))
    # Every group is exchanged where it was so before; else those that the file names.
    if own["default_groups"] or base.default_groups == base.groups:
        fields["default_groups"] = own["default_groups"]
    return fields


def _label(name: str, labels: dict[str, str], data: Any, key: str, source: str) -> str:
    if name not in labels:
        said = "default group" if key == "default_groups" else f"{key} group"
        raise ValueError(
            f"{at_line(source, data, key)}: {said} {name!r} is no group; "
            + suggestion(name, list(labels))
        )
    return labels[name]


def _neutral_nouns(data: Any, owners: dict[str, str], source: str) -> dict[str, str]:
    """Return by term the noun that is left when its group is not named."""
    given = data.get("neutral_nouns") or {}
    if not isinstance(given, Mapping):
        where = at_line(source, data, "neutral_nouns")
        raise ValueError(
            f"{where}: neutral_nouns is a {kind_of(given)}; give noun: [terms that it "
            "takes the place of]"
        )
    nouns: dict[str, str] = {}
    for noun, terms in given.items():
        where = f"{at_line(source, given, noun)}: neutral_nouns, {noun}"
        (word,) = _terms(noun, where)
        for term in _terms(terms, where):
            _owner(term, owners, where)
            nouns[term.casefold()] = word
    return nouns


def _synonyms(data: Any, owners: dict[str, str], source: str) -> tuple[tuple[str, ...], ...]:
    """Return the lines of terms that stand for each other within their group."""
    lines = []
    for where, line in _lines(data, "synonyms", "lists", source):
        terms = _terms(line, where)
        _check_one_group(terms, owners, where)
        lines.append(terms)
    return tuple(lines)


def _peoples(data: Any, owners: dict[str, str], source: str) -> tuple[People, ...]:
    """Return the words of each people by their kind."""
    peoples = []
    for where, people in _lines(data, "peoples", "mappings", source):
        if not isinstance(people, Mapping):
            raise ValueError(f"{where} is a {kind_of(people)}; give its words by their kind")
        for kind in people:
            if kind not in KINDS:
                raise ValueError(
                    f"{where}: unknown kind {kind!r}; {suggestion(str(kind), [*KINDS])}"
                )
        for kind in NEEDED:
            if not people.get(kind):
                raise ValueError(f"{where}: {kind!r} is missing or empty; a people needs it")
        words = {kind: _terms(terms, where) for kind, terms in people.items()}
        _check_one_group([term for terms in words.values() for term in terms], owners, where)
        peoples.append(words)
    return tuple(peoples)


def _lines(data: Any, key: str, wanted: str, source: str) -> Iterator[tuple[str, Any]]:
    """Give the items of a list, and where each stands."""
    given = data.get(key) or []
    if not isinstance(given, (list, tuple)):
        where = at_line(source, data, key)
        raise ValueError(f"{where}: {key} is a {kind_of(given)}; give a list of {wanted}")
    for number, line in enumerate(given, start=1):
        yield f"{at_line(source, given, number - 1)}: {key}, line {number}", line


def _check_one_group(terms: Sequence[str], owners: dict[str, str], where: str) -> None:
    groups = list(dict.fromkeys(_owner(term, owners, where) for term in terms))
    if len(groups) > 1:
        raise ValueError(
            f"{where}: {', '.join(terms)} name the groups {' and '.join(groups)}; a line names one"
        )


def _owner(term: str, owners: dict[str, str], where: str) -> str:
    if term.casefold() not in owners:
        raise ValueError(
            f"{where}: {term!r} is no term of an entry; {suggestion(term, [*owners])}"
        )
    return owners[term.casefold()]


def _aliases(
    data: Any, groups: tuple[str, ...], inherited: Mapping[str, str], source: str
) -> dict[str, str]:
    given = data.get("aliases") or {}
    if not isinstance(given, Mapping):
        where = at_line(source, data, "aliases")
        raise ValueError(f"{where}: aliases is a {kind_of(given)}; give group: [aliases]")
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
            raise ValueError(
                f"{here}: aliases of {group!r}, which is no group; "
                + suggestion(str(group), groups)
            )
        for name in _terms(names, f"{here}: aliases of {group}"):
            if name in groups or aliases.setdefault(name, group) != group:
                owner = aliases.get(name, name)
                raise ValueError(
                    f"{here}: alias {name!r} of {group} already stands for {owner}; use it once"
                )
    return aliases


def text_in(value: Any, where: str) -> str:
    """Return the text that a file holds for a key; `where` begins the message if it is none."""
    if isinstance(value, (Mapping, list, tuple)) or not str(value).strip():
        raise ValueError(f"{where} is a {kind_of(value)}; give a text")
    return str(value).strip()


def date_in(value: Any, where: str) -> date | None:
    """Return the date of a review, None where the file has none."""
    if value is None:
        return value
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        raise ValueError(
            f"{where}: reviewed is {value!r}; give a date such as 2026-11-01"
        ) from None


def _entries(
    data: Any,
    labels: dict[str, str],
    determiners: Determiners,
    source: str,
    start: str,
    inherited: tuple[Entry, ...],
    reviewed: date | None,
) -> Iterator[Entry]:
    if not isinstance(data, (list, tuple)):
        raise ValueError(f"{start}: entries is a {kind_of(data)}; give a list")
    owner = {
        (entry.role, term.casefold()): (group, "the lexicon that it extends")
        for entry in inherited
        for group, terms in entry.terms.items()
        for term in terms
    }
    for number, item in enumerate(data, start=1):
        where = f"{at_line(source, data, number - 1)}: entry {number}"
        if not isinstance(item, Mapping):
            raise ValueError(f"{where} is {item!r}; give a mapping of role and groups to terms")
        role = item.get("role")
        if not isinstance(role, str) or not role:
            raise ValueError(f"{where} has no role; name one, such as noun or adjective")
        if role not in _ROLES and (meant := difflib.get_close_matches(role, _ROLES, 1, 0.75)):
            raise ValueError(
                f"{where}: role {role!r} is near one that the rules read; did you mean {meant[0]}?"
            )
        place = where_counted(item, f"{where} ({role})")
        own = date_in(item.get("reviewed"), f"{at_line(source, item, 'reviewed')}: entry {number}")
        terms: dict[str, tuple[str, ...]] = {}
        registers: dict[str, Register] = {}
        places: dict[str, str] = {}
        for key, value in item.items():
            if key in _OF_ENTRY:
                continue
            # An entry can run over several lines; the line of the group is the nearer one.
            here = f"{at_line(source, item, key)}: entry {number}"
            if key not in labels:
                raise ValueError(
                    f"{here} ({role}): unknown group {key!r}; "
                    + suggestion(str(key), list(labels))
                )
            group = labels[key]
            if group in terms:
                raise ValueError(f"{here} ({role}): group {group!r} is given twice, as {key!r}")
            words, marked = _registered(value, f"{here} ({role}, {key})")
            if not words:
                raise ValueError(f"{here} ({role}): the list of {key!r} is empty; give terms")
            terms[group] = words
            registers.update(marked)
            places[group] = here
        if not terms:
            raise ValueError(f"{where} ({role}) has no terms; give terms for at least one group")
        listed = Entry(role, terms, registers=registers, reviewed=own or reviewed, **place)
        here = f"{where} ({role})"
        behind = determined(listed, item.get("determiner"), determiners, here)
        for entry in (step for each in behind for step in numbered(each, here)):
            for group, words in entry.terms.items():
                for term in words:
                    first = owner.setdefault((role, term.casefold()), (group, f"entry {number}"))
                    if first[0] != group:
                        raise ValueError(
                            f"{places[group]} ({role}): {term!r} is in group {group} and, in "
                            f"{first[1]}, in group {first[0]}; a term names one group"
                        )
            yield entry


def _registered(value: Any, where: str) -> tuple[tuple[str, ...], dict[str, Register]]:
    """Return the terms, and the register of those that are not simply preferred."""
    terms: list[Any] = []
    registers: dict[str, Register] = {}
    for item in value if isinstance(value, (list, tuple)) else [value]:
        if not isinstance(item, Mapping):
            terms.append(item)
            continue
        for key in item:
            if key not in ("term", "register"):
                raise ValueError(
                    f"{where}: a term has no {key!r}; "
                    + suggestion(str(key), ["term", "register"])
                )
        register: Any = item.get("register", "preferred")
        if register not in REGISTERS:
            raise ValueError(
                f"{where}: unknown register {register!r}; "
                + suggestion(str(register), list(REGISTERS))
            )
        given = item.get("term")
        words = _terms(given if isinstance(given, (list, tuple)) else [given], where)
        terms += words
        if register != "preferred":
            registers.update(dict.fromkeys(words, register))
    return _terms(terms if isinstance(value, (list, tuple, Mapping)) else value, where), registers


def _terms(value: Any, where: str) -> tuple[str, ...]:
    """Return a term, or a list of them, with single blanks between its words."""
    terms = [value] if isinstance(value, str) else value
    if not isinstance(terms, (list, tuple)) or (isinstance(value, str) and not value):
        raise ValueError(
            f"{where}: {value!r} is neither a term nor a list of terms; put a term in quotes, for "
            "YAML reads no, on, 1990 and the like as something else"
        )
    for term in terms:
        if not isinstance(term, str) or not tokens(term):
            raise ValueError(
                f"{where}: {term!r} is no word; quote it if YAML reads it as something else"
            )
        if any(unicodedata.category(char) == "Cc" and not char.isspace() for char in term):
            raise ValueError(f"{where}: {term!r} holds a control character; leave it out")
    return tuple(" ".join(term.split()) for term in terms)
