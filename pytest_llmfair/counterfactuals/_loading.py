"""From YAML files to checked lexicons: every error names the file and the entry."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_llmfair.counterfactuals._terms import CONTEXTS, Entry
from pytest_llmfair.text import tokens

if TYPE_CHECKING:
    from pytest_llmfair.counterfactuals.lexicon import Lexicon

_TEXTS = ("name", "language", "version", "source", "licence", "limits")
_LISTS = ("groups", "default_groups", "exact", "neutral", "exceptions")
_REQUIRED = ("name", "groups", "entries")


def load_yaml(text: str, source: str) -> Any:
    """Read YAML with the safe loader.

    Raises
    ------
    ValueError
        If it is no YAML; the message names the source and the place.
    """
    import yaml

    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise ValueError(f"{source} is no valid YAML: {error}") from None


def fields_from(data: Any, source: str) -> dict[str, Any]:
    """Check the content of a lexicon file and return the fields of a `Lexicon`."""
    if not isinstance(data, Mapping):
        raise ValueError(f"{source} holds a {type(data).__name__}; a lexicon is a mapping")
    for key in data:
        known = [*_TEXTS, *_LISTS, "entries"]
        if key not in known:
            raise ValueError(f"{source}: unknown key {key!r}; {suggestion(str(key), known)}")
    for key in _REQUIRED:
        if not data.get(key):
            raise ValueError(f"{source}: {key!r} is missing or empty; a lexicon needs it")
    fields: dict[str, Any] = {
        key: str(data[key]).strip() for key in _TEXTS if data.get(key) is not None
    }
    for key in _LISTS:
        fields[key] = _terms(data.get(key) or [], f"{source}: {key}")
    groups = fields["groups"]
    if len(set(groups)) < 2 or len(set(groups)) != len(groups):
        raise ValueError(f"{source}: groups are {list(groups)}; name two or more, each once")
    fields["default_groups"] = fields["default_groups"] or groups
    for group in fields["default_groups"]:
        if group not in groups:
            raise ValueError(
                f"{source}: default group {group!r} is no group; {suggestion(group, groups)}"
            )
    fields["entries"] = tuple(_entries(data["entries"], groups, source))
    return fields


def suggestion(name: str, known: tuple[str, ...] | list[str]) -> str:
    """Say which known name was meant, or list them all."""
    near = difflib.get_close_matches(name, known, n=2, cutoff=0.6)
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"


def _entries(data: Any, groups: tuple[str, ...], source: str) -> Iterator[Entry]:
    if not isinstance(data, list):
        raise ValueError(f"{source}: entries is a {type(data).__name__}; give a list")
    owner: dict[tuple[str, str], tuple[str, int]] = {}
    for number, item in enumerate(data, start=1):
        where = f"{source}: entry {number}"
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
        terms = {}
        for key, value in item.items():
            if key in ("role", "context"):
                continue
            if key not in groups:
                raise ValueError(
                    f"{where} ({role}): unknown group {key!r}; " + suggestion(str(key), groups)
                )
            terms[key] = _terms(value, f"{where} ({role}, {key})")
            for term in terms[key]:
                first = owner.setdefault((role, term.casefold()), (key, number))
                if first[0] != key:
                    raise ValueError(
                        f"{where} ({role}): {term!r} is in group {key} and, in entry {first[1]}, "
                        f"in group {first[0]}; a term names one group"
                    )
        if not terms:
            raise ValueError(f"{where} ({role}) has no terms; give terms for at least one group")
        yield Entry(role, terms, context)


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
