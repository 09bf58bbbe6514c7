"""Reads YAML of users as plain data, within limits for nesting and aliases."""

from __future__ import annotations

from typing import Any

# Levels of nesting: the parser needs a part of the stack for each.
_DEEPEST = 64
# Values that aliases may repeat: nine lines of nested aliases can stand for a billion.
_MOST_REPEATED = 100_000


def safe_yaml(text: str, loader: Any = None) -> Any:
    """Return the content of YAML text; nesting beyond 64 levels and repeating aliases raise."""
    import yaml

    loader = loader or getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    _check_size(text, loader)
    return yaml.load(text, Loader=loader)


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
