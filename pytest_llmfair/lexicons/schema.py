"""Data files: YAML that keeps line numbers, and checks of values with messages that name them."""

from __future__ import annotations

import difflib
import functools
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from importlib import resources
from typing import Any

from pytest_llmfair._util.safe_yaml import safe_yaml
from pytest_llmfair.text import tokens


# Mappings and lists of a YAML file know the lines of their keys and items.
class _Map(dict[Any, Any]):
    lines: dict[Any, int]


class _List(list[Any]):
    lines: dict[Any, int]


def load_yaml(text: str, source: str) -> Any:
    """Read YAML with the safe loader; mappings and lists keep the lines of their items."""
    import yaml

    try:
        return read_yaml(text)
    except yaml.MarkedYAMLError as error:
        problem, begun = error.problem, ""
        if error.problem_mark is not None:
            problem = f"line {error.problem_mark.line + 1}: {problem}"
        if error.context and error.context_mark is not None:
            begun = f" ({error.context}, line {error.context_mark.line + 1})"
        raise ValueError(f"{source} is not valid YAML, {problem}{begun}") from None
    except yaml.YAMLError as error:  # a character that YAML does not allow
        raise ValueError(f"{source} is not valid YAML: {error}") from None


def read_yaml(text: str) -> Any:
    """Return the content of :func:`load_yaml`, with the errors of the YAML parser."""
    return safe_yaml(text, _line_loader())


@functools.cache
def shipped(path: str) -> Any:
    """Return the content of a data file of the package, by its path in the package."""
    file = resources.files("pytest_llmfair").joinpath(*path.split("/"))
    return load_yaml(file.read_text(encoding="utf-8"), file.name)


@functools.cache
def _line_loader() -> Any:
    import yaml

    loader: Any = type("LineLoader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})

    def read_map(self: Any, node: Any) -> Iterator[_Map]:
        data = _Map()
        data.lines = {}
        for key in (key for key, _ in node.value if isinstance(key.value, str)):
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

    def read_date(self: Any, node: Any) -> Any:
        try:
            return self.construct_yaml_timestamp(node)
        except ValueError as error:
            problem = (
                f"{node.value!r} is not a date ({error}); correct it, or put a text in quotes"
            )
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark) from None

    loader.add_constructor("tag:yaml.org,2002:map", read_map)
    loader.add_constructor("tag:yaml.org,2002:seq", read_list)
    loader.add_constructor("tag:yaml.org,2002:timestamp", read_date)
    return loader


def kind_of(value: Any) -> str:
    """Return the name of a value's built-in type, also for lists and mappings with lines."""
    return next(kind.__name__ for kind in type(value).__mro__ if kind.__module__ == "builtins")


def at_line(source: str, holder: Any, key: Any) -> str:
    """Return the source, with the line of a key or item if it is known."""
    line = getattr(holder, "lines", {}).get(key)
    return source if line is None else f"{source}, line {line}"


def suggestion(name: str, known: Sequence[str]) -> str:
    """Return a hint: the known names nearest to one, or all of them."""
    near = difflib.get_close_matches(name, known, n=2, cutoff=0.6)
    alike = [difflib.SequenceMatcher(None, word, name).ratio() for word in near]
    near = [word for word, share in zip(near, alike, strict=True) if share > alike[0] - 0.15]
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"


def text_in(value: Any, where: str) -> str:
    """Return the text of a key; `where` begins the error message."""
    if isinstance(value, (Mapping, list, tuple)) or not str(value).strip():
        raise ValueError(f"{where} is a {kind_of(value)}; give a text")
    return str(value).strip()


def collection_in(
    data: Any, source: str, key: str, kind: type[dict[Any, Any]] | type[list[Any]], wanted: str
) -> Any:
    """Return the mapping or list of a key; empty if the file has none."""
    given = data.get(key) or kind()
    if not isinstance(given, Mapping if kind is dict else (list, tuple)):
        raise ValueError(
            f"{at_line(source, data, key)}: {key} is a {kind_of(given)}; give {wanted}"
        )
    return given


def terms_in(value: Any, where: str) -> tuple[str, ...]:
    """Return one or several terms as a tuple, with single spaces between words."""
    terms = [value] if isinstance(value, str) else value
    if not isinstance(terms, (list, tuple)) or value == "":
        raise ValueError(
            f"{where}: {value!r} is neither a term nor a list of terms; put a term in quotes, for "
            "YAML reads no, on, 1990 and the like as something else"
        )
    for term in terms:
        if not isinstance(term, str) or not tokens(term):
            raise ValueError(
                f"{where}: {term!r} is not a word; quote it if YAML reads it as something else"
            )
        if any(unicodedata.category(char) == "Cc" and not char.isspace() for char in term):
            raise ValueError(f"{where}: {term!r} contains a control character; remove it")
    return tuple(" ".join(term.split()) for term in terms)


def date_in(value: Any, where: str) -> date | None:
    """Return the date of a review; None if the file has none."""
    if value is None:
        return value
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        raise ValueError(
            f"{where}: reviewed is {value!r}; give a date such as 2026-11-01"
        ) from None
