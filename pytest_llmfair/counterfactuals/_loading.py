"""From YAML files to checked lexicons: every error names the file, the line and the entry."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_llmfair.counterfactuals._terms import CONTEXTS, REGISTERS, Entry, Register
from pytest_llmfair.text import tokens

if TYPE_CHECKING:
    from pytest_llmfair.counterfactuals.lexicon import Lexicon

_TEXTS = ("name", "language", "version", "source", "licence", "limits")
_LISTS = ("groups", "default_groups", "exact", "neutral", "exceptions", "lacks")
_REQUIRED = ("name", "groups", "entries")


class _Map(dict[Any, Any]):
    """A mapping of a YAML file, with the line of each key."""

    lines: dict[Any, int]


class _List(list[Any]):
    """A list of a YAML file, with the line of each item."""

    lines: dict[Any, int]


def load_yaml(text: str, source: str) -> Any:
    """Read YAML with the safe loader; mappings and lists know the lines of what they hold.

    Raises
    ------
    ValueError
        If it is no YAML; the message names the source and the place.
    """
    import yaml

    try:
        return yaml.load(text, Loader=_line_loader())
    except yaml.YAMLError as error:
        raise ValueError(f"{source} is no valid YAML: {error}") from None


@functools.cache
def _line_loader() -> Any:
    import yaml

    loader: Any = type("LineLoader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})

    def read_map(self: Any, node: Any) -> Iterator[_Map]:
        data = _Map()
        scalars = [key for key, _ in node.value if isinstance(key.value, str)]
        data.lines = {key.value: key.start_mark.line + 1 for key in scalars}
        yield data
        data.update(self.construct_mapping(node))

    def read_list(self: Any, node: Any) -> Iterator[_List]:
        data = _List()
        data.lines = {place: item.start_mark.line + 1 for place, item in enumerate(node.value)}
        yield data
        data.extend(self.construct_sequence(node))

    loader.add_constructor("tag:yaml.org,2002:map", read_map)
    loader.add_constructor("tag:yaml.org,2002:seq", read_list)
    return loader


def _at(source: str, holder: Any, key: Any) -> str:
    """Name the source, and the line of a key or item where it is known."""
    line = getattr(holder, "lines", {}).get(key)
    return source if line is None else f"{source}, line {line}"


def fields_from(data: Any, source: str) -> dict[str, Any]:
    """Check the content of a lexicon file and return the fields of a `Lexicon`."""
    if not isinstance(data, Mapping):
        raise ValueError(f"{source} holds a {type(data).__name__}; a lexicon is a mapping")
    known = [*_TEXTS, *_LISTS, "aliases", "reviewed", "entries"]
    for key in data:
        if key not in known:
            where = _at(source, data, key)
            raise ValueError(f"{where}: unknown key {key!r}; {suggestion(str(key), known)}")
    for key in _REQUIRED:
        if not data.get(key):
            where = _at(source, data, key)
            raise ValueError(f"{where}: {key!r} is missing or empty; a lexicon needs it")
    fields: dict[str, Any] = {
        key: str(data[key]).strip() for key in _TEXTS if data.get(key) is not None
    }
    for key in _LISTS:
        fields[key] = _terms(data.get(key) or [], f"{_at(source, data, key)}: {key}")
    groups = fields["groups"]
    if len(set(groups)) < 2 or len(set(groups)) != len(groups):
        where = _at(source, data, "groups")
        raise ValueError(f"{where}: groups are {list(groups)}; name two or more, each once")
    aliases = _aliases(data, groups, source)
    labels = {**{group: group for group in groups}, **aliases}
    for group in fields["default_groups"]:
        if group not in labels:
            raise ValueError(
                f"{_at(source, data, 'default_groups')}: default group {group!r} is no group; "
                + suggestion(group, list(labels))
            )
    fields["default_groups"] = tuple(labels[group] for group in fields["default_groups"]) or groups
    for group in fields["lacks"]:
        if group in labels:
            raise ValueError(
                f"{_at(source, data, 'lacks')}: {group!r} is lacking and a group; keep one"
            )
    fields["aliases"] = aliases
    fields["reviewed"] = _date(data.get("reviewed"), _at(source, data, "reviewed"))
    entries = data["entries"]
    fields["entries"] = tuple(_entries(entries, labels, source, _at(source, data, "entries")))
    return fields


def suggestion(name: str, known: Sequence[str]) -> str:
    """Say which known name was meant, or list them all."""
    near = difflib.get_close_matches(name, known, n=2, cutoff=0.6)
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"


def _aliases(data: Any, groups: tuple[str, ...], source: str) -> dict[str, str]:
    given = data.get("aliases") or {}
    if not isinstance(given, Mapping):
        where = _at(source, data, "aliases")
        raise ValueError(f"{where}: aliases is a {type(given).__name__}; give group: [aliases]")
    aliases: dict[str, str] = {}
    for group, names in given.items():
        here = _at(source, given, group)
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


def _date(value: Any, where: str) -> date | None:
    if value is None or isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise ValueError(
            f"{where}: reviewed is {value!r}; give a date such as 2026-11-01"
        ) from None


def _entries(data: Any, labels: dict[str, str], source: str, start: str) -> Iterator[Entry]:
    if not isinstance(data, list):
        raise ValueError(f"{start}: entries is a {type(data).__name__}; give a list")
    owner: dict[tuple[str, str], tuple[str, int]] = {}
    for number, item in enumerate(data, start=1):
        where = f"{_at(source, data, number - 1)}: entry {number}"
        if not isinstance(item, Mapping):
            raise ValueError(f"{where} is {item!r}; give a mapping of role and groups to terms")
        role, context = item.get("role"), item.get("context", "")
        if not isinstance(role, str) or not role:
            raise ValueError(f"{where} has no role; name one, such as noun or adjective")
        if context not in CONTEXTS:
            raise ValueError(
                f"{where} ({role}): unknown context {context!r}; "
                + suggestion(str(context), list(CONTEXTS[1:]))
            )
        terms: dict[str, tuple[str, ...]] = {}
        registers: dict[str, Register] = {}
        for key, value in item.items():
            if key in ("role", "context"):
                continue
            # An entry can run over several lines; the line of the group is the nearer one.
            here = f"{_at(source, item, key)}: entry {number}"
            if key not in labels:
                raise ValueError(
                    f"{here} ({role}): unknown group {key!r}; "
                    + suggestion(str(key), list(labels))
                )
            group = labels[key]
            if group in terms:
                raise ValueError(f"{here} ({role}): group {group!r} is given twice, as {key!r}")
            words, marked = _registered(value, f"{here} ({role}, {key})")
            terms[group] = words
            registers.update(marked)
            for term in words:
                first = owner.setdefault((role, term.casefold()), (group, number))
                if first[0] != group:
                    raise ValueError(
                        f"{here} ({role}): {term!r} is in group {group} and, in entry {first[1]}, "
                        f"in group {first[0]}; a term names one group"
                    )
        if not terms:
            raise ValueError(f"{where} ({role}) has no terms; give terms for at least one group")
        yield Entry(role, terms, context, registers)


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
        register = item.get("register", "preferred")
        if register not in REGISTERS:
            raise ValueError(
                f"{where}: unknown register {register!r}; "
                + suggestion(str(register), list(REGISTERS))
            )
        terms += _terms([item.get("term")], where)
        if register != "preferred":
            registers[terms[-1]] = register
    return _terms(terms if isinstance(value, (list, tuple, Mapping)) else value, where), registers


def _terms(value: Any, where: str) -> tuple[str, ...]:
    terms = [value] if isinstance(value, str) else value
    if not isinstance(terms, (list, tuple)) or (isinstance(value, str) and not value):
        raise ValueError(f"{where}: {value!r} is neither a term nor a list of terms")
    for term in terms:
        if not isinstance(term, str) or not tokens(term):
            raise ValueError(
                f"{where}: {term!r} is no word; quote it if YAML reads it as something else"
            )
    return tuple(terms)


class _UnknownLexicon(KeyError):
    def __str__(self) -> str:  # a KeyError would show the message in quotes
        return str(self.args[0])


class Lexicons(Mapping[str, "Lexicon"]):
    """Lexicons by attribute, in alphabetical order; a file is read at its first use."""

    def __init__(self, extra: Mapping[str, Lexicon] | None = None) -> None:
        folder = resources.files("pytest_llmfair.counterfactuals") / "lexicons"
        self._files = {
            entry.name.removesuffix(".yaml"): entry
            for entry in folder.iterdir()
            if entry.name.endswith(".yaml")
        }
        self._extra = dict(extra or {})

    def __getitem__(self, name: str) -> Lexicon:
        if name in self._extra:
            return self._extra[name]
        if name not in self._files:
            raise _UnknownLexicon(
                f"no lexicon is called {name!r}; {suggestion(str(name), list(self))} "
                "(Lexicon.from_file reads one of your own)"
            )
        return _shipped(name)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({**self._files, **self._extra}))

    def __len__(self) -> int:
        return len({**self._files, **self._extra})

    def __contains__(self, name: object) -> bool:
        return name in self._extra or name in self._files

    def __repr__(self) -> str:
        return f"Lexicons({', '.join(self)})"


@functools.cache
def _shipped(name: str) -> Lexicon:
    from pytest_llmfair.counterfactuals.lexicon import Lexicon

    path = resources.files("pytest_llmfair.counterfactuals") / "lexicons" / f"{name}.yaml"
    return Lexicon.from_dict(load_yaml(path.read_text(encoding="utf-8"), path.name), path.name)


def load_lexicons(*files: str | Path) -> Lexicons:
    """Return the lexicons that ship with the package, and those of your own files.

    Parameters
    ----------
    *files : str or Path
        YAML files of your own; one that has the name of a shipped lexicon takes its place.

    Returns
    -------
    Lexicons
        Read-only mapping from attribute to `Lexicon`. Shipped files are read at first use.

    Raises
    ------
    ValueError
        If a file of yours is wrong; the message names the file and the entry.
    """
    from pytest_llmfair.counterfactuals.lexicon import Lexicon

    own = [Lexicon.from_file(file) for file in files]
    return Lexicons({lexicon.name: lexicon for lexicon in own})
