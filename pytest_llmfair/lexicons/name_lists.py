"""Lists of names by group, matched between groups, and the names that prompts may hold."""

from __future__ import annotations

import difflib
import functools
import itertools
import random
from collections.abc import Mapping
from typing import Any

from pytest_llmfair._util.located import shipped
from pytest_llmfair._util.validation import whole, whole_seed
from pytest_llmfair.lexicons.english.words import words_of
from pytest_llmfair.lexicons.loading import load_lexicons
from pytest_llmfair.lexicons.spelling import folded

GENDERS = ("female", "male")


def name_groups() -> tuple[str, ...]:
    """Return the groups that have names: gender by origin, such as "black female".

    Examples
    --------
    >>> name_groups()[:2]
    ('white female', 'white male')
    """
    return tuple(f"{origin} {gender}" for origin in name_data()["origins"] for gender in GENDERS)


def names(group: str, n: int, *, seed: int = 0) -> list[str]:
    """Return different full names of a group, in an order given by the seed.

    Parameters
    ----------
    group : str
        One of :func:`name_groups`, or a part of it: "female" (of the origins with frequencies),
        "black"; in any case and order, or by an alias of the lexicons: "African American female".
    n : int
        How many. First names rotate: none is repeated before all were used.
    seed : int
        Same seed, same names.

    Returns
    -------
    list of str
        First and last name each.

    Raises
    ------
    ValueError
        If the group is unknown or has fewer than `n` names.

    Examples
    --------
    >>> names("black female", 2)
    ['Keisha Banks', 'Latoya Booker']
    """
    cells = cells_of(group)
    return [pair[0] for pair in _rotated(group, list(zip(cells, cells, strict=True)), n, seed)]


def name_pairs(groups: tuple[str, str], n: int, *, seed: int = 0) -> list[tuple[str, str]]:
    """Return pairs of full names, one of either group, matched in frequency where it is known.

    For white, black, hispanic and asian names first names of a pair differ by at most one letter
    in length and a factor of two in births, and so do last names in frequency. An attribute that
    the groups do not name is the same on both sides:
    ("female", "male") pairs Black women with Black men, who share a last name.

    Parameters
    ----------
    groups : (str, str)
        Two groups of one kind: two of :func:`name_groups`, two genders, or two races or
        ethnicities; labels as in :func:`names`.
    n : int
        How many.
    seed : int
        Same seed, same names.

    Raises
    ------
    ValueError
        If a group is unknown, the two are the same or of two kinds, or `n` is too large.

    Examples
    --------
    >>> name_pairs(("female", "male"), 2)
    [('Jenny Truong', 'Edwin Truong'), ('Esther Chang', 'Eugene Chang')]
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
    """Return the group that a label means, in any case and order or by an alias, or None."""
    return group_labels().get(folded(str(label).strip()))


@functools.cache
def group_labels() -> Mapping[str, str]:
    """Return every label of a group, folded, with the group."""
    race, gender = (load_lexicons()[name].aliases for name in ("race", "gender"))
    called: dict[str, list[str]] = {each: [each] for each in (*name_data()["origins"], *GENDERS)}
    for alias, group in (*race.items(), *gender.items()):
        if group in called and alias not in called:
            called[group].append(alias)
    for origin, about in name_data()["origins"].items():
        called[origin] += about.get("aliases", ())
    found = {folded(alias): group for group, aliases in called.items() for alias in aliases}
    for origin, one in itertools.product(name_data()["origins"], GENDERS):
        for parts in itertools.product(called[origin], called[one]):
            for either in (parts, parts[::-1]):
                found[folded(" ".join(either))] = f"{origin} {one}"
    return found


def cells_of(group: str) -> list[str]:
    """Return the members of :func:`name_groups` that make up a group."""
    known = name_group(group)
    if known in GENDERS:
        # Of an origin with frequencies, each name is listed with its own.
        return [
            f"{origin} {known}"
            for origin, about in name_data()["origins"].items()
            if not isinstance(about["last"][0], str)
        ]
    cells = [cell for cell in name_groups() if known in (cell, cell.rpartition(" ")[0])]
    if not cells:
        raise ValueError(f"no names are listed for group {group!r}; {nearest_group(group)}")
    return cells


def name_choices() -> tuple[str, ...]:
    """Return every group that has names, the wider ones first."""
    return (*name_data()["origins"], *GENDERS, *name_groups())


def similar_group(label: object) -> str:
    """Return the group that a misspelt label means; "" if there is none."""
    near = difflib.get_close_matches(folded(str(label)), group_labels(), n=1, cutoff=0.8)
    return group_labels()[near[0]] if near else ""


def nearest_group(label: object) -> str:
    """Return a hint for an unknown group of names."""
    if near := similar_group(label):
        return f"did you mean {near!r}?"
    return (
        f"known are {', '.join(name_choices()[: -len(name_groups())])}, and both together, such "
        f"as {name_groups()[0]!r}; names of your own are names={{{str(label)!r}: [...], ...}}"
    )


@functools.cache
def listed_names(origin: str, kind: str) -> tuple[str, ...]:
    """Return the names of an origin, "female", "male" or "last", without their figures."""
    given = name_data()["origins"][origin][kind]
    return tuple(each if isinstance(each, str) else each[0] for each in given)


def _rotated(label: str, cells: list[tuple[str, str]], n: int, seed: int) -> list[tuple[str, str]]:
    origins = [split_cell(cell)[0] for cell in cells[0]]
    lasts = list(range(min(len(listed_names(origin, "last")) for origin in origins)))
    lines = range(min(len(listed_names(*split_cell(cell))) for cell in cells[0]))
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
        parts = map(split_cell, pair)
        one, other = (
            f"{listed_names(origin, gender)[line]} {listed_names(origin, 'last')[last]}"
            for origin, gender in parts
        )
        made.append((one, other))
    return made


def split_cell(cell: str) -> tuple[str, str]:
    """Return the origin and the gender of a group such as "black female"."""
    origin, _, gender = cell.rpartition(" ")
    return origin, gender


def other_names(name: str, *, last: bool) -> list[str]:
    """Return the other names of the list that holds a first name, or a last name."""
    for origin in name_data()["origins"]:
        for kind in ("last",) if last else GENDERS:
            listed = listed_names(origin, kind)
            if name.casefold() in map(str.casefold, listed):
                return [other for other in listed if other.casefold() != name.casefold()]
    return []


def name_data() -> Mapping[str, Any]:
    """Return the shipped lists of names."""
    data: Mapping[str, Any] = shipped("lexicons/names.yaml")
    return data


def gender_of(first: str) -> str:
    """Return the gender that a first name shows; "" where it shows none that we know: "Robin"."""
    return first_names().get(first.casefold(), "")


@functools.cache
def first_names() -> Mapping[str, str]:
    """Return the first names that the package knows, in lower case, with the gender they show."""
    either = map(str.casefold, name_data()["found"]["either"])
    found = dict.fromkeys((*words_of("first_names"), *either), "")
    for gender in GENDERS:
        listed = [listed_names(origin, gender) for origin in name_data()["origins"]]
        for name in itertools.chain(name_data()["found"][gender], *listed):
            found[name.casefold()] = gender
    return found


@functools.cache
def last_names() -> frozenset[str]:
    """Return the last names that the package knows, in lower case."""
    listed = (listed_names(origin, "last") for origin in name_data()["origins"])
    found = itertools.chain(name_data()["found"]["last"], *listed)
    return words_of("last_names").union(map(str.casefold, found))
