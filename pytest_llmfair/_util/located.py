"""YAML and TOML of users, read within limits; mappings and lists know the lines of their items."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from datetime import date
from importlib import resources
from typing import Any

# Levels of nesting: the parser needs a part of the stack for each.
_DEEPEST = 64
# Values that aliases may repeat: nine lines of nested aliases can stand for a billion.
_MOST_REPEATED = 100_000
# Characters of a number: one of 1,000 is larger than any float, and parts as in 1:59:59 take time
# that grows with the square of their count.
_LONGEST_NUMBER = 100
_NUMBER = re.compile(r"[-+]?[\d.][-+.\da-fxo_:]*", re.I)


class LineMap(dict[Any, Any]):
    """A mapping with the line of each key that a file has."""

    lines: dict[Any, int]


class LineList(list[Any]):
    """A list with the line of each item that a file has."""

    lines: dict[Any, int]


def as_json(value: Any) -> Any:
    """Return lists for tuples and texts for dates, with the lines that are known."""
    found: Any
    if isinstance(value, Mapping):
        found = LineMap((key, as_json(each)) for key, each in value.items())
    elif isinstance(value, (list, tuple)):
        found = LineList(map(as_json, value))
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
    """Read YAML with the safe loader; dates and keys such as ``on`` and ``no`` are texts."""
    import yaml

    try:
        return safe_yaml(text, _line_loader())
    except yaml.YAMLError as error:
        line, problem = _yaml_problem(error, text)
        place = f"{source}:{line}" if line else source
        raise ValueError(f"{place}: this is not valid YAML: {problem}") from None


def safe_yaml(text: str, loader: Any = None) -> Any:
    """Return the content of YAML text; deep nesting, repeated aliases and long numbers raise."""
    import yaml

    loader = loader or getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    _check_size(text, loader)
    try:
        return yaml.load(text, Loader=loader)
    # A tag such as !!int promises what the text is not, and a date may not exist.
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise yaml.YAMLError(f"a value has the wrong form: {error}") from None


def _check_size(text: str, loader: Any) -> None:
    """Raise ``yaml.YAMLError`` if a text stands for much more than what is written in it."""
    import yaml

    written = 0
    sizes: dict[str | None, int] = {}
    # Anchor and size of every collection that is not complete yet, the outermost first.
    begun: list[tuple[str | None, int]] = [(None, 0)]
    for event in yaml.parse(text, Loader=loader):
        problem, name, size = "", getattr(event, "anchor", None), 0
        if isinstance(event, yaml.CollectionStartEvent):
            begun.append((name, 0))
            if len(begun) > _DEEPEST:
                problem = f"nested deeper than {_DEEPEST} levels; write it flatter"
        elif isinstance(event, yaml.AliasEvent):
            size = sizes.get(name, 0)
            if any(name == anchor for anchor, _ in begun):
                problem = f"the alias *{name} is part of what it stands for; write it out"
        elif isinstance(event, yaml.CollectionEndEvent):
            name, size = begun.pop()
        if isinstance(event, yaml.ScalarEvent) and _is_long_number(event):
            problem = (
                f"a number has more than {_LONGEST_NUMBER} characters; quote it if it is a text"
            )
        if isinstance(event, (yaml.ScalarEvent, yaml.CollectionEndEvent)):
            written, size = written + 1, size + 1
            sizes[name] = size
        anchor, inside = begun[-1]
        begun[-1] = anchor, inside + size
        if inside + size > written + _MOST_REPEATED:
            problem = f"aliases repeat more than {_MOST_REPEATED:,} values; write fewer"
        if problem:
            mark: Any = event.start_mark
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


def _is_long_number(event: Any) -> bool:
    written: str = event.value
    # What stands in quotes is a text, unless a tag says otherwise.
    may_be = len(written) > _LONGEST_NUMBER and not (event.style and event.tag is None)
    return may_be and _NUMBER.fullmatch(written) is not None


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

    def read_map(self: Any, node: Any) -> Iterator[LineMap]:
        data = LineMap()
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

    def read_list(self: Any, node: Any) -> Iterator[LineList]:
        data = LineList()
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
        content = as_json(tomllib.loads(text))
    # A number may have too many digits, and lists may be nested too deep.
    except (ValueError, RecursionError) as error:
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
        elif key and isinstance(table, LineMap):
            table.lines = {key[1]: number, **table.lines}
    return content


def _entered(table: Any, name: str, line: int) -> Any:
    """Return the table that a header of TOML begins: of several with one name, the next one."""
    found = table.get(name) if isinstance(table, LineMap) else None
    if found is not None:
        table.lines = {name: line, **table.lines}
    if not isinstance(found, LineList):
        return found
    place = min(len(found.lines), len(found) - 1)
    found.lines = {**found.lines, place: line}
    return found[place]
