"""Changes of recorded data: groups drawn at random, and other samples of the same units."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

Args = list[Any]
Call = tuple[Args, dict[str, Any]]
# From the arguments of a metric to others; None where they cannot be changed in this way.
Change = Callable[[Args, dict[str, Any]], Call | None]

# Fewer repeats of a fixed prompt cannot stand for the answers it could have had.
_LEAST_REPEATS = 4


def placebo(seed: int, share: float = 0.0) -> Change:
    """Return the change that deals all but a random `share` of rows out to groups at random."""

    def change(args: Args, keywords: dict[str, Any]) -> Call | None:
        rng = np.random.default_rng(seed)
        if "groups" in keywords:
            units = keywords.get("units", keywords.get("rounds"))
            dealt = _dealt_groups(rng, keywords["groups"], units, share)
            return args, {**keywords, "groups": dealt}
        sides = [each for each in args[:2] if _rows_of_answers(each)]
        if len(sides) < 2 or min(map(len, (*sides[0], *sides[1]))) < 2:
            return None
        kept = rng.random(len(sides[0])) < share
        first, second = [], []
        for a, b, keep in zip(*sides, kept, strict=True):
            pool = [*a, *b]
            order = range(len(pool)) if keep else rng.permutation(len(pool))
            first.append([pool[i] for i in order[: len(a)]])
            second.append([pool[i] for i in order[len(a) :]])
        return [first, second, *args[2:]], keywords

    return change


def _dealt_groups(rng: np.random.Generator, groups: Any, units: Any, share: float) -> Any:
    """Deal the labels out at random; a person keeps the labels of all columns together."""
    if not _has_columns(groups):
        return _shuffled(rng, list(groups), units, share)
    people = list(zip(*(groups[name] for name in groups), strict=True))
    columns = zip(*_shuffled(rng, people, units, share), strict=True)
    return {name: list(column) for name, column in zip(groups, columns, strict=True)}


def _shuffled(rng: np.random.Generator, labels: list[Any], units: Any, share: float) -> list[Any]:
    """Deal the labels out at random; rows of one unit that share a label keep sharing one."""
    rows = range(len(labels)) if units is None else units
    label_of = dict.fromkeys(zip(rows, labels, strict=True))
    keys = list(label_of)
    moved = np.flatnonzero(rng.random(len(keys)) >= share)
    order = np.arange(len(keys))
    order[moved] = rng.permutation(moved)
    dealt = {key: keys[i][1] for key, i in zip(keys, order, strict=True)}
    return [dealt[key] for key in zip(rows, labels, strict=True)]


def resampled(seed: int, *, fixed: bool) -> Change:
    """Return the change that draws as many units, or `fixed` ones' answers, inside each group."""
    # Calls with one seed draw alike, so that comparisons of the same prompts stay together.

    def change(args: Args, keywords: dict[str, Any]) -> Call | None:
        rng = np.random.default_rng(seed)
        if fixed:
            return _other_repeats(rng, args, keywords)
        lengths = {len(each) for each in args if _is_column(each)}
        lengths |= {len(each) for each in keywords.values() if _is_column(each)}
        if len(lengths) != 1 or any(isinstance(each, Mapping) for each in args):
            return None
        (n,) = lengths
        if any(_is_column(each) and isinstance(each[0], Mapping) for each in args):
            return None  # comparisons name their pools inside the rows
        called = "rounds" if keywords.get("rounds") is not None else "units"
        units = keywords.get(called)
        chosen, drawn = _drawn(rng, range(n) if units is None else units, _strata(keywords, n))

        def taken(value: Any) -> Any:
            if _has_columns(value):
                return {name: taken(list(value[name])) for name in value}
            if not _is_column(value):
                return value
            return value[chosen] if isinstance(value, np.ndarray) else [value[i] for i in chosen]

        changed = {key: taken(each) for key, each in keywords.items()}
        if units is not None:
            changed[called] = drawn
        return [taken(each) for each in args], changed

    return change


def _strata(keywords: Mapping[str, Any], n: int) -> list[Any]:
    groups = keywords.get("groups")
    if groups is None:
        return [None] * n
    columns = [groups[name] for name in groups] if _has_columns(groups) else [groups]
    return list(zip(*columns, strict=True))


def _drawn(
    rng: np.random.Generator, units: Iterable[Any], strata: Sequence[Any]
) -> tuple[list[int], list[int]]:
    """Return rows of units drawn with replacement, and a new label of each row's unit."""
    rows: dict[Any, list[int]] = {}
    for row, unit in enumerate(units):
        rows.setdefault(unit, []).append(row)
    alike: dict[Any, list[list[int]]] = {}
    for own in rows.values():
        alike.setdefault(frozenset(strata[row] for row in own), []).append(own)
    picked = [own[i] for own in alike.values() for i in rng.integers(len(own), size=len(own))]
    return (
        [row for own in picked for row in own],
        [label for label, own in enumerate(picked) for _ in own],
    )


def _other_repeats(rng: np.random.Generator, args: Args, keywords: dict[str, Any]) -> Call | None:
    sides = [each for each in args if _rows_of_answers(each)]
    if not sides or min(len(row) for side in sides for row in side) < _LEAST_REPEATS:
        return None
    return [
        [[row[i] for i in rng.integers(len(row), size=len(row))] for row in each]
        if _rows_of_answers(each)
        else each
        for each in args
    ], keywords


def _has_columns(groups: Any) -> bool:
    return isinstance(groups, Mapping) or hasattr(groups, "columns")


def _is_column(value: Any) -> bool:
    return isinstance(value, (list, np.ndarray)) and len(value) > 0


def _rows_of_answers(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, list) for row in value)
