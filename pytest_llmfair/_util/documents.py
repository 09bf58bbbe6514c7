"""Documents of users, compared with a JSON Schema: all problems at once, each with its line."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.located import LineList, LineMap, as_json, load_yaml
from pytest_llmfair._util.validation import fits, read_utf8

T = TypeVar("T")


class Document:
    """The content of a document, and what is wrong with it; `check` raises all of it."""

    def __init__(self, content: Any, source: str, schema: Mapping[str, Any] | None) -> None:
        self.source = source
        self._found: dict[tuple[int, str], None] = {}
        # Places with a problem, and those with a value that the schema refuses.
        self._wrong: set[tuple[Any, ...]] = set()
        self._broken: set[tuple[Any, ...]] = set()
        self._given = as_json(content)
        if schema is not None:
            self._compare(schema)
        if () in self._broken:
            self.check()
        # Refused values of mappings are left out, refused items of lists are None.
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
        """Call a function; add its error, if it is one about values or files, and return None."""
        try:
            return function(*given)
        except (ValueError, TypeError, KeyError, OSError) as error:
            # Errors of another file have a line for each; some name the place here themselves.
            for line in str(error).splitlines():
                self.add(path, line.removeprefix(f"{self.at(*path)}: "))
            return None

    def is_given(self, *path: Any) -> bool:
        """Whether the document has a value at a path, right or wrong."""
        here = self._given
        for part in path:
            if isinstance(here, LineMap) and part not in here:
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
        for error in validator(schema).iter_errors(self._given):
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
        found: Any
        broken = self._broken
        if isinstance(value, LineMap):
            found = LineMap(
                (key, self._usable(each, (*path, key)))
                for key, each in value.items()
                if (*path, key) not in broken
            )
        elif isinstance(value, LineList):
            found = LineList(
                None if (*path, place) in broken else self._usable(each, (*path, place))
                for place, each in enumerate(value)
            )
        else:
            return value
        found.lines = value.lines
        return found


@functools.cache
def schema_of(path: str) -> Any:
    """Return a JSON Schema of the package; each description says in words what to give."""
    file = resources.files("pytest_llmfair").joinpath(*path.split("/"))
    return json.loads(file.read_text(encoding="utf-8"))


def validator(schema: Mapping[str, Any]) -> Any:
    """Return a validator of a JSON Schema that takes finite numbers and real dates only."""
    import jsonschema

    draft, formats = jsonschema.Draft202012Validator, jsonschema.FormatChecker(())
    # YAML has .inf and .nan, which are no JSON and no bound.
    numbers = draft.TYPE_CHECKER.redefine(
        "number", lambda _, x: draft.TYPE_CHECKER.is_type(x, "number") and fits(x)
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
