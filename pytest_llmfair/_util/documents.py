"""Documents of users, YAML or TOML, compared with a JSON Schema: all problems, each by line."""

from __future__ import annotations

import functools
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.safe_yaml import safe_yaml
from pytest_llmfair._util.validation import read_utf8

T = TypeVar("T")


# Mappings and lists know the lines of their keys and items, where a file has them.
class _Map(dict[Any, Any]):
    lines: dict[Any, int]


class _List(list[Any]):
    lines: dict[Any, int]


class Document:
    """The content of a document, and what is wrong with it; `check` raises all of it.

    Attributes
    ----------
    source : str
        Name of the document in messages.
    content : mapping
        What the schema accepts: a refused value of a mapping is left out, a refused item of a list
        is None. Tuples are lists, and dates are texts.
    """

    def __init__(self, content: Any, source: str, schema: Mapping[str, Any] | None) -> None:
        self.source = source
        self._found: dict[tuple[int, str], None] = {}
        # Places with a problem, and those with a value that the schema refuses.
        self._wrong: set[tuple[Any, ...]] = set()
        self._broken: set[tuple[Any, ...]] = set()
        self._given = _as_json(content)
        if schema is not None:
            self._compare(schema)
        if () in self._broken:
            self.check()
        self.content = self._given if schema is None else self._usable(self._given, ())

    @classmethod
    def read(cls, path: str | Path, schema: Mapping[str, Any]) -> Document:
        """Read a YAML file; `ValueError` if it is not YAML."""
        source = shown_path(Path(path))
        return cls(load_yaml(read_utf8(Path(path)), source), source, schema)

    def line(self, *path: Any) -> int:
        """Return the line of a value, or of the nearest one that holds it; 0 if none is known."""
        line, here = 0, self._given
        for part in path:
            line = getattr(here, "lines", {}).get(part, line)
            try:
                here = here[part]
            except (KeyError, IndexError, TypeError):
                break
        return line

    def at(self, *path: Any) -> str:
        """Return the source with the line of a value."""
        line = self.line(*path)
        return f"{self.source}:{line}" if line else self.source

    def add(self, path: Sequence[Any], text: str) -> None:
        """Add what is wrong with the value at a path."""
        self._wrong.add(tuple(path))
        self._found[self.line(*path), text] = None

    def attempt(self, path: Sequence[Any], function: Callable[..., T], *given: Any) -> T | None:
        """Return what a function returns; add its error, if it is one about values or files."""
        try:
            return function(*given)
        except (ValueError, TypeError, KeyError, OSError) as error:
            # Some errors name the place themselves.
            self.add(path, str(error).removeprefix(f"{self.at(*path)}: "))
            return None

    def is_given(self, *path: Any) -> bool:
        """Whether the document has a value at a path, right or wrong."""
        here = self._given
        for part in path:
            if isinstance(here, _Map) and part not in here:
                return False
            here = here[part]
        return True

    def is_broken(self, *path: Any) -> bool:
        """Whether the schema refuses the value at a path, or one that holds it."""
        return any(path[:length] in self._broken for length in range(len(path) + 1))

    def check(self) -> None:
        """Raise ``ValueError`` if anything is wrong, one line of text for each problem."""
        if self._found:
            lines = [
                f"{self.source}:{line}: {text}" if line else f"{self.source}: {text}"
                for line, text in sorted(self._found)
            ]
            raise ValueError("\n".join(lines))

    def is_right(self, *path: Any) -> bool:
        """Whether no problem was found so far with a value and what it holds."""
        return not any(each[: len(path)] == path for each in self._wrong)

    def _compare(self, schema: Mapping[str, Any]) -> None:
        for error in _validator(schema).iter_errors(self._given):
            path = tuple(error.absolute_path)
            place = f"{place_of(path)}: " if place_of(path) else ""
            if error.validator == "required":
                for name in error.validator_value:
                    if name not in error.instance:
                        wanted = _wanted(error.schema["properties"][name], schema)
                        self.add((*path, name), f"{place}{name} is missing; give {wanted}")
            elif error.validator == "additionalProperties":
                known = list(error.schema["properties"])
                for name in error.instance:
                    if name not in known:
                        self._broken.add((*path, name))
                        hint = suggestion(str(name), known)
                        self.add((*path, name), f"{place}unknown key {name!r}; {hint}")
            else:
                self._broken.add(path)
                self.add(path, _refused(path, error, schema))

    def _usable(self, value: Any, path: tuple[Any, ...]) -> Any:
        """Return a copy without what the schema refuses."""
        if not isinstance(value, (_Map, _List)):
            return value
        items = value.items() if isinstance(value, _Map) else enumerate(value)
        kept = [
            (key, None if (broken := (*path, key) in self._broken) else each, broken)
            for key, each in items
        ]
        found: Any
        if isinstance(value, _Map):
            found = _Map((k, self._usable(x, (*path, k))) for k, x, broken in kept if not broken)
        else:
            found = _List(self._usable(x, (*path, k)) for k, x, _ in kept)
        found.lines = value.lines
        return found


@functools.cache
def schema_of(path: str) -> Any:
    """Return a JSON Schema of the package; each description says in words what to give."""
    file = resources.files("pytest_llmfair").joinpath(*path.split("/"))
    return json.loads(file.read_text(encoding="utf-8"))


def _validator(schema: Mapping[str, Any]) -> Any:
    import jsonschema

    draft, formats = jsonschema.Draft202012Validator, jsonschema.FormatChecker(())
    # YAML has .inf and .nan, which are no JSON and no bound.
    numbers = draft.TYPE_CHECKER.redefine(
        "number", lambda _, x: draft.TYPE_CHECKER.is_type(x, "number") and math.isfinite(x)
    )
    formats.checks("date", ValueError)(lambda x: not isinstance(x, str) or bool(day(x)))
    kind = jsonschema.validators.extend(draft, type_checker=numbers)
    return kind(schema, format_checker=formats)


def _refused(path: Sequence[Any], error: Any, schema: Any) -> str:
    name = place_of(path) or ("the check" if path else "the content")
    remedy = f"give {_wanted(error.schema, schema)}"
    if error.validator == "enum" and isinstance(error.instance, str):
        hint = suggestion(error.instance, list(error.validator_value))
        remedy = hint if hint.startswith("did you mean") else remedy
    return f"{name} is {shown(error.instance)}; {remedy}"


def _wanted(part: Any, schema: Any) -> str:
    """Return the description of a part of the schema, which says what to give."""
    if "description" not in part:
        for name in part["$ref"].split("/")[1:]:
            schema = schema[name]
        part = schema
    return str(part["description"])


def shown(value: Any) -> str:
    """Return a value as messages show it."""
    if value is None or value in ({}, []):
        return "empty"
    if isinstance(value, (dict, list)):
        return "a mapping" if isinstance(value, dict) else "a list"
    return repr(value) if len(repr(value)) <= 60 else repr(value)[:56] + "...'"


def place_of(path: Sequence[Any]) -> str:
    """Return a path in words, such as "entry 2, day"; a check is known by its line alone."""
    words: list[str] = []
    for part in path[2:] if path[:1] == ("checks",) and len(path) > 1 else path:
        if not isinstance(part, int):
            words.append(str(part))
        elif len(words) == 1 and words[0].endswith("s"):
            words = [f"{re.sub('ie$', 'y', words[0].removesuffix('s'))} {part + 1}"]
        else:
            words.append(f"item {part + 1}")
    return ", ".join(words)


def shown_path(path: Path) -> str:
    """Return a path as messages show it: relative where that is shorter."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive of Windows
        return str(path)
    return relative if not relative.startswith("..") else str(path)


def day(text: str) -> date:
    """Return the date of a text such as 2026-11-01, which may have a time too."""
    return datetime.fromisoformat(text).date()


def _as_json(value: Any) -> Any:
    """Return lists for tuples and texts for dates, with the lines that are known."""
    found: Any
    if isinstance(value, Mapping):
        found = _Map((key, _as_json(each)) for key, each in value.items())
    elif isinstance(value, (list, tuple)):
        found = _List(map(_as_json, value))
    else:
        return value.isoformat() if isinstance(value, date) else value
    found.lines = getattr(value, "lines", {})
    return found


@functools.cache
def shipped(path: str) -> Any:
    """Return the content of a data file of the package, by its path in the package."""
    file = resources.files("pytest_llmfair").joinpath(*path.split("/"))
    return load_yaml(file.read_text(encoding="utf-8"), file.name)


def load_yaml(text: str, source: str) -> Any:
    """Read YAML with the safe loader; mappings and lists keep the lines of their items.

    Dates are texts, and so are keys that YAML reads as something else, such as ``on`` and ``no``.

    Raises
    ------
    ValueError
        If this is not YAML, or a key is repeated within one mapping. The message names the source
        and the line.
    """
    import yaml

    try:
        return safe_yaml(text, _line_loader())
    except yaml.YAMLError as error:
        line, problem = _yaml_problem(error, text)
        place = f"{source}:{line}" if line else source
        raise ValueError(f"{place}: this is not valid YAML: {problem}") from None


def _yaml_problem(error: Any, text: str) -> tuple[int, str]:
    """Return the line and the words of an error of the YAML parser."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = mark.line + 1 if mark is not None else 0
    problem = getattr(error, "problem", None) or str(error)
    if getattr(error, "context", None) and error.context_mark is not None:
        problem += f" ({error.context}, line {error.context_mark.line + 1})"
    written = text.splitlines()[line - 1] if 0 < line <= len(text.splitlines()) else ""
    if re.match(r"\s*-?\s*\{", written):
        problem += "; put a text that begins with { in quotes"
    return line, problem


@functools.cache
def _line_loader() -> Any:
    import yaml

    loader: Any = type("LineLoader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})

    def read_map(self: Any, node: Any) -> Iterator[_Map]:
        data = _Map()
        data.lines = {}
        for key in (key for key, _ in node.value if isinstance(key.value, str)):
            if key.tag.endswith((":bool", ":null")):
                key.tag = "tag:yaml.org,2002:str"
            if key.value in data.lines:
                problem = f"key {key.value!r} is repeated in one mapping; keep one"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            data.lines[key.value] = key.start_mark.line + 1
        yield data
        data.update(self.construct_mapping(node))

    def read_list(self: Any, node: Any) -> Iterator[_List]:
        data = _List()
        data.lines = {place: item.start_mark.line + 1 for place, item in enumerate(node.value)}
        yield data
        data.extend(self.construct_sequence(node))

    loader.add_constructor("tag:yaml.org,2002:map", read_map)
    loader.add_constructor("tag:yaml.org,2002:seq", read_list)
    loader.add_constructor("tag:yaml.org,2002:timestamp", loader.construct_yaml_str)
    return loader


def load_toml(text: str, source: str) -> Any:
    """Read TOML; tables keep the lines of their keys where each stands on a line of its own."""
    import tomllib

    try:
        content = _as_json(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+)", str(error))
        where = f"{source}:{place[1]}" if place else source
        raise ValueError(f"{where}: this is not valid TOML: {error}") from None
    table = content
    for number, line in enumerate(text.splitlines(), start=1):
        head = re.match(r"\s*\[+([^\]]+)\]", line)
        key = re.match(r"""\s*["']?([\w-]+)["']?\s*=""", line)
        if head:
            table = content
            for part in re.findall(r"""[^\s."']+|"[^"]*"|'[^']*'""", head[1]):
                table = _entered(table, part.strip("\"'"), number)
        elif key and isinstance(table, _Map):
            table.lines = {key[1]: number, **table.lines}
    return content


def _entered(table: Any, name: str, line: int) -> Any:
    """Return the table that a header of TOML begins: of several with one name, the next one."""
    found = table.get(name) if isinstance(table, _Map) else None
    if found is not None:
        table.lines = {name: line, **table.lines}
    if not isinstance(found, _List):
        return found
    place = min(len(found.lines), len(found) - 1)
    found.lines = {**found.lines, place: line}
    return found[place]
