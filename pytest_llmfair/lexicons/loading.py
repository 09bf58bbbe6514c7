"""YAML with the lines of its keys, and the lexicons that ship with the package."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_llmfair.lexicons.lexicon import Lexicon


# Mappings and lists of a YAML file know the lines of their keys and items.
class _Map(dict[Any, Any]):
    lines: dict[Any, int]


class _List(list[Any]):
    lines: dict[Any, int]


def load_yaml(text: str, source: str) -> Any:
    """Read YAML with the safe loader; mappings and lists know the lines of what they hold.

    Raises
    ------
    ValueError
        If it is no YAML, holds a date that no calendar has, or a key stands twice in one mapping,
        where all but the last would be lost; the message names the source and the line.
    """
    import yaml

    try:
        return yaml.load(text, Loader=_line_loader())
    except yaml.MarkedYAMLError as error:
        said, begun = error.problem, ""
        if error.problem_mark is not None:
            said = f"line {error.problem_mark.line + 1}: {said}"
        if error.context and error.context_mark is not None:
            begun = f" ({error.context}, line {error.context_mark.line + 1})"
        raise ValueError(f"{source} is no valid YAML, {said}{begun}") from None
    except yaml.YAMLError as error:  # a character that YAML does not allow
        raise ValueError(f"{source} is no valid YAML: {error}") from None


@functools.cache
def shipped(path: str) -> Any:
    """Return the content of a data file of the package, by its path in the package."""
    file = resources.files("pytest_llmfair").joinpath(*path.split("/"))
    return load_yaml(file.read_text(encoding="utf-8"), file.name)


def kind_of(value: Any) -> str:
    """Name the kind of a value: "list" too for a list that knows its lines."""
    return next(kind.__name__ for kind in type(value).__mro__ if kind.__module__ == "builtins")


def at_line(source: str, holder: Any, key: Any) -> str:
    """Name the source, and the line of a key or item where it is known."""
    line = getattr(holder, "lines", {}).get(key)
    return source if line is None else f"{source}, line {line}"


@functools.cache
def _line_loader() -> Any:
    import yaml

    loader: Any = type("LineLoader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})

    def read_map(self: Any, node: Any) -> Iterator[_Map]:
        data = _Map()
        data.lines = {}
        for key in (key for key, _ in node.value if isinstance(key.value, str)):
            if key.value in data.lines:
                said = f"key {key.value!r} stands twice in one mapping; keep one"
                raise yaml.MarkedYAMLError(problem=said, problem_mark=key.start_mark)
            data.lines[key.value] = key.start_mark.line + 1
        yield data
        data.update(self.construct_mapping(node))

    def read_list(self: Any, node: Any) -> Iterator[_List]:
        data = _List()
        data.lines = {place: item.start_mark.line + 1 for place, item in enumerate(node.value)}
        yield data
        data.extend(self.construct_sequence(node))

    def read_date(self: Any, node: Any) -> Any:
        try:
            return self.construct_yaml_timestamp(node)
        except ValueError as error:
            said = f"{node.value!r} is no date ({error}); correct it, or put a text in quotes"
            raise yaml.MarkedYAMLError(problem=said, problem_mark=node.start_mark) from None

    loader.add_constructor("tag:yaml.org,2002:map", read_map)
    loader.add_constructor("tag:yaml.org,2002:seq", read_list)
    loader.add_constructor("tag:yaml.org,2002:timestamp", read_date)
    return loader


def suggestion(name: str, known: Sequence[str]) -> str:
    """Say which known name was meant, or list them all."""
    near = difflib.get_close_matches(name, known, n=2, cutoff=0.6)
    alike = [difflib.SequenceMatcher(None, word, name).ratio() for word in near]
    near = [word for word, share in zip(near, alike, strict=True) if share > alike[0] - 0.15]
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"


# What people call the attributes that ship with the package.
_CALLED = {
    "sex": "gender",
    "ethnicity": "race",
    "race/ethnicity": "race",
    "sexuality": "sexual_orientation",
    "orientation": "sexual_orientation",
    "faith": "religion",
    "country": "nationality",
    "origin": "nationality",
}


def meant_lexicon(name: str, known: Sequence[str]) -> str:
    """Say which known lexicon was meant, or list them all."""
    folded = name.casefold().replace(" ", "_")
    meant = _CALLED.get(folded, folded)
    return f"did you mean {meant}?" if meant in known else suggestion(name, known)


class _UnknownLexicon(KeyError):
    def __str__(self) -> str:  # a KeyError would show the message in quotes
        return str(self.args[0])


class Lexicons(Mapping[str, "Lexicon"]):
    """Lexicons by attribute, in alphabetical order; a file is read at its first use."""

    def __init__(self, extra: Mapping[str, Lexicon] | None = None) -> None:
        shipped = (Path(entry.name) for entry in _folder().iterdir())
        self._extra = dict(extra or {})
        self._names = {path.stem for path in shipped if path.suffix == ".yaml"} | {*self._extra}

    def __getitem__(self, name: str) -> Lexicon:
        if name not in self:
            raise _UnknownLexicon(
                f"no lexicon is called {name!r}; {meant_lexicon(str(name), list(self))} "
                "(Lexicon.from_file and Lexicon.from_dict read one of your own)"
            )
        return self._extra.get(name) or _shipped(name)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._names))

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._names

    def __repr__(self) -> str:
        return f"Lexicons({', '.join(self)})"


def _folder() -> Traversable:
    return resources.files("pytest_llmfair.lexicons") / "data"


@functools.cache
def _shipped(name: str) -> Lexicon:
    from pytest_llmfair.lexicons.lexicon import Lexicon

    path = _folder() / f"{name}.yaml"
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
        If a file of yours is wrong, which names the file and the entry, or two have one name.
    """
    from pytest_llmfair.lexicons.lexicon import Lexicon

    own: dict[str, Lexicon] = {}
    for file in files:
        lexicon = Lexicon.from_file(file)
        if lexicon.name in own:
            raise ValueError(
                f"{file}: a file before it is called {lexicon.name!r} too; give each a name of "
                "its own, or put all entries into one file"
            )
        own[lexicon.name] = lexicon
    return Lexicons(own)
