"""Names of a group, in turn and matched between groups."""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping
from importlib import resources
from typing import Any

from pytest_llmfair.counterfactuals._lexicons.loading import load_yaml

_FILE = "names.yaml"


def name_groups() -> tuple[str, ...]:
    """Return the groups that have names: gender by race or ethnicity, such as "black female"."""
    return tuple(name_data()["first"][0])


def names(group: str, n: int, *, seed: int = 0) -> list[str]:
    """Return different full names of a group, in an order that the seed decides.

    Parameters
    ----------
    group : str
        One of :func:`name_groups`, or a part of it: "female", "black".
    n : int
        How many; first names take turns, none comes again before all have been.
    seed : int
        Same seed, same names.

    Returns
    -------
    list of str
        First and last name each.

    Raises
    ------
    ValueError
        If the group is unknown or has fewer names than `n`.
    """
    cells = _cells(group)
    return [pair[0] for pair in _rotated(group, list(zip(cells, cells, strict=True)), n, seed)]


def name_pairs(groups: tuple[str, str], n: int, *, seed: int = 0) -> list[tuple[str, str]]:
    """Return pairs of full names, one of either group, matched in length and frequency.

    First names of a pair differ by at most one letter in length and a factor of two in births,
    and so do last names in bearers. What the two groups do not name is the same on both sides:
    ("female", "male") pairs Black women with Black men, who share a last name.

    Parameters
    ----------
    groups : (str, str)
        Two groups of one kind: two of :func:`name_groups`, two genders, or two races or
        ethnicities.
    n : int
        How many; one for each prompt, as `groups` of ``generate_pairs(..., attribute="name")``.
    seed : int
        Same seed, same names.

    Returns
    -------
    list of (str, str)

    Raises
    ------
    ValueError
        If a group is unknown, the two are the same or of two kinds, or `n` is too large.
    """
    if isinstance(groups, str) or len(groups) != 2 or groups[0] == groups[1]:
        raise ValueError(
            f"groups is {groups!r}; give two different ones of {', '.join(name_choices())}"
        )
    first, second = (_cells(group) for group in groups)
    if len(first) != len(second):
        raise ValueError(
            f"groups is {groups!r}, which are of two kinds; give two genders, two races or "
            f"ethnicities, or two of {', '.join(name_groups())}"
        )
    label = f"{groups[0]} and {groups[1]}"
    return _rotated(label, list(zip(first, second, strict=True)), n, seed)


def _cells(group: str) -> list[str]:
    asked = set(str(group).split())
    cells = [cell for cell in name_groups() if asked and asked <= set(cell.split())]
    if not cells:
        raise ValueError(
            f"no names are listed for group {group!r}; known are {', '.join(name_choices())}"
        )
    return cells


def name_choices() -> tuple[str, ...]:
    """Return every group that has names, the wider ones first."""
    parts = dict.fromkeys(part for cell in name_groups() for part in cell.split())
    return (*parts, *name_groups())


def _rotated(label: str, cells: list[tuple[str, str]], n: int, seed: int) -> list[tuple[str, str]]:
    lines, lasts = name_data()["first"], list(name_data()["last"])
    firsts = [(line, pair) for line in lines for pair in cells]
    most = len(firsts) * len(lasts)
    if not 1 <= n <= most:
        raise ValueError(f"n is {n}; there are {most} names for {label}: give 1 to {most}")
    order = random.Random(seed)
    order.shuffle(firsts)
    order.shuffle(lasts)
    made = []
    for turn in range(n):
        again, place = divmod(turn, len(firsts))
        line, pair = firsts[place]
        last = lasts[(place + again) % len(lasts)]
        one, other = (f"{line[cell][0]} {last[cell.split()[0]][0]}" for cell in pair)
        made.append((one, other))
    return made


@functools.cache
def name_data() -> Mapping[str, Any]:
    """Return the content of the file."""
    path = resources.files("pytest_llmfair.counterfactuals") / _FILE
    data: Mapping[str, Any] = load_yaml(path.read_text(encoding="utf-8"), _FILE)
    return data
