"""Reads YAML of users as plain data, within limits for nesting, aliases and numbers."""

from __future__ import annotations

import re
from typing import Any

# Levels of nesting: the parser needs a part of the stack for each.
_DEEPEST = 64
# Values that aliases may repeat: nine lines of nested aliases can stand for a billion.
_MOST_REPEATED = 100_000
# Characters of a number: one of 1,000 is larger than any float, and parts as in 1:59:59 take time
# that grows with the square of their count.
_LONGEST_NUMBER = 100
_NUMBER = re.compile(r"[-+]?[\d.][-+.\da-fxo_:]*", re.I)


def safe_yaml(text: str, loader: Any = None) -> Any:
    """Return the content of YAML text; `loader` is a subclass of a safe loader of PyYAML.

    Raises
    ------
    yaml.YAMLError
        If this is not YAML, is nested deeper than 64 levels, holds a number of more than 100
        characters, or aliases repeat too much.
    """
    import yaml

    loader = loader or getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    _check_size(text, loader)
    try:
        return yaml.load(text, Loader=loader)
    # A tag such as !!int promises what the text is not, and a date may not exist.
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise yaml.YAMLError(f"a value is not what it should be: {error}") from None


def _check_size(text: str, loader: Any) -> None:
    """Raise ``yaml.YAMLError`` if a text stands for much more than what is written in it."""
    import yaml

    written = 0
    sizes: dict[str | None, int] = {}
    # Anchor and size of every collection that is not complete yet, the outermost first.
    begun: list[tuple[str | None, int]] = [(None, 0)]
    for event in yaml.parse(text, Loader=loader):
        problem, name, size = "", getattr(event, "anchor", None), 0
        if isinstance(event, yaml.ScalarEvent) and _is_long_number(event):
            problem = (
                f"a number has more than {_LONGEST_NUMBER} characters; quote it if it is a text"
            )
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
