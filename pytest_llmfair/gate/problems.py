"""What is wrong with a file of checks: all of it at once, each with its line and a remedy."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any, TypeVar

from pytest_llmfair.lexicons.schema import kind_of, suggestion

T = TypeVar("T")

# How YAML calls the types of Python.
_KINDS = {"str": "text", "dict": "mapping", "bool": "true or false", "int": "number"}


class Problems:
    """Collects what is wrong with a file; `check` raises all of it."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._found: dict[tuple[int, str], None] = {}
        # Places whose value cannot be used, as paths from the top.
        self._broken: set[tuple[Any, ...]] = set()

    def add(self, line: int, text: str) -> None:
        """Add what is wrong in a line; line 0 stands for the whole file."""
        self._found[line, text] = None

    def attempt(self, line: int, function: Callable[..., T], *given: Any) -> T | None:
        """Return what a function returns; add its error, if it is one about values or files."""
        try:
            return function(*given)
        except (ValueError, TypeError, KeyError, OSError) as error:
            self.add(line, str(error))
            return None

    def check(self) -> None:
        """Raise ``ValueError`` if anything is wrong, one line of text for each problem."""
        if self._found:
            lines = [
                f"{self._source}:{line}: {text}" if line else f"{self._source}: {text}"
                for line, text in sorted(self._found)
            ]
            raise ValueError("\n".join(lines))

    def is_broken(self, *path: Any) -> bool:
        """Whether the schema refuses the value at a path, or one that holds it."""
        return any(path[:length] in self._broken for length in range(len(path) + 1))

    def add_schema_errors(self, document: Any) -> None:
        """Check a document against the JSON Schema of files of checks."""
        import jsonschema

        schema = checks_schema()
        for error in jsonschema.Draft202012Validator(schema).iter_errors(document):
            path = tuple(error.absolute_path)
            line = line_of(document, path)
            if error.validator == "required":
                for name in error.validator_value:
                    if name not in error.instance:
                        wanted = _wanted(error.schema["properties"][name], schema)
                        self.add(line, f"{_place(path)}{name} is missing; give {wanted}")
            elif error.validator == "additionalProperties":
                known = list(error.schema["properties"])
                for name in error.instance:
                    if name not in known:
                        where = line_of(document, (*path, name))
                        hint = suggestion(str(name), known)
                        self.add(where, f"{_place(path)}unknown key {name!r}; {hint}")
            else:
                self._broken.add(path)
                self.add(line, _refused(path, error, schema))


@functools.cache
def checks_schema() -> Any:
    """Return the JSON Schema of files of checks; each description says in words what to give."""
    file = resources.files("pytest_llmfair.gate").joinpath("checks.schema.json")
    return json.loads(file.read_text(encoding="utf-8"))


def _refused(path: Sequence[Any], error: Any, schema: Any) -> str:
    name = _place(path).removesuffix(": ") or ("the check" if path else "the file")
    remedy = f"give {_wanted(error.schema, schema)}"
    if error.validator == "enum" and isinstance(error.instance, str):
        remedy = suggestion(error.instance, list(error.validator_value))
    return f"{name} is {_shown(error.instance)}; {remedy}"


def _wanted(part: Any, schema: Any) -> str:
    """Return the description of a part of the schema, which says what to give."""
    if "$ref" in part:
        part = schema["$defs"][part["$ref"].rpartition("/")[2]]
    return str(part.get("description", "a mapping with version and checks"))


def _shown(value: Any) -> str:
    if value is None:
        return "empty"
    if isinstance(value, (dict, list)):
        return f"a {_KINDS.get(kind_of(value), kind_of(value))}" if value else "empty"
    return repr(value) if len(repr(value)) <= 60 else repr(value)[:56] + "...'"


def _place(path: Sequence[Any]) -> str:
    """Return a path in words, such as "prompts, item 2: "; the number of a check is its line."""
    in_check = len(path) > 1 and path[0] == "checks"
    parts = list(path[2:] if in_check else path)
    words = [f"item {part + 1}" if isinstance(part, int) else str(part) for part in parts]
    return ", ".join(words) + ": " if words else ""


def line_of(document: Any, path: Sequence[Any]) -> int:
    """Return the line of the value at a path, or of the nearest one that holds it."""
    line, here = 0, document
    for part in path:
        line = getattr(here, "lines", {}).get(part, line)
        try:
            here = here[part]
        except (KeyError, IndexError, TypeError):
            break
    return line


def yaml_problem(error: Any, text: str) -> tuple[int, str]:
    """Return the line and the words of an error of the YAML parser."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = mark.line + 1 if mark is not None else 0
    problem = getattr(error, "problem", None) or str(error)
    begun = ""
    if getattr(error, "context", None) and error.context_mark is not None:
        begun = f" ({error.context}, line {error.context_mark.line + 1})"
    written = text.splitlines()[line - 1] if 0 < line <= len(text.splitlines()) else ""
    if re.match(r"\s*-?\s*\{", written):
        begun += "; put a text that begins with { in quotes"
    return line, f"this is not valid YAML: {problem}{begun}"
