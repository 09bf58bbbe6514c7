"""Names of a group, in turn and matched between groups."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from pytest_llmfair._util.validation import whole, whole_seed
from pytest_llmfair.lexicons.intersections import intersection
from pytest_llmfair.lexicons.loading import load_lexicons, shipped

# The lexicons whose groups have names, in the order of the labels.
_PARTS = ("race", "gender")


def name_groups() -> tuple[str, ...]:
    """Return the groups that have names: gender by race or ethnicity, such as "black female"."""
    return tuple(name_data()["first"][0])


def names(group: str, n: int, *, seed: int = 0) -> list[str]:
    """Return different full names of a group, in an order that the seed decides.

    Parameters
    ----------
    group : str
        One of :func:`name_groups`, or a part of it: "female", "black"; in any case and order, or
        by an alias of the lexicons: "African American female".
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
    cells = cells_of(group)
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
        ethnicities; labels as in :func:`names`.
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
    pair = isinstance(groups, (tuple, list)) and len(groups) == 2
    if not pair or len({name_group(group) or group for group in groups}) < 2:
        raise ValueError(
            f"groups is {groups!r}; give two different ones of {', '.join(name_choices())}"
        )
    first, second = (cells_of(group) for group in groups)
    if len(first) != len(second):
        raise ValueError(
            f"groups is {groups!r}, which are of two kinds; give two genders, two races or "
            f"ethnicities, or two of {', '.join(name_groups())}"
        )
    label = f"{groups[0]} and {groups[1]}"
    return _rotated(label, list(zip(first, second, strict=True)), n, seed)


def name_group(label: str) -> str | None:
    """Return the group that a label means, in any case and order or by an alias; None for none.

    The group can be one without names, such as "non-binary".
    """
    race, gender = (load_lexicons()[name] for name in _PARTS)
    known = (each.called(label) for each in (intersection(race, gender), race, gender))
    return next((group for group in known if group is not None), None)


def cells_of(group: str) -> list[str]:
    """Return which of :func:`name_groups` make up a group.

    Raises
    ------
    ValueError
        If it has no names.
    """
    asked = set((name_group(group) or "").split())
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
    seed = whole_seed(seed)
    if whole(n, "n") > most:
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


def name_data() -> Mapping[str, Any]:
    """Return the shipped lists of names."""
    data: Mapping[str, Any] = shipped("lexicons/names.yaml")
    return data
