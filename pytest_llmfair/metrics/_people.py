"""Tables of people: who is compared with whom, who counts how much, and who is left out."""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from pytest_llmfair._util.validation import share, whole
from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._parameters import described
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.arguments import (
    Floats,
    RowNumbers,
    RowsByLabel,
    columns_of,
    first_few,
    flat_scores,
    group_rows,
    is_nan,
    known_population,
    labels,
    listed,
    same_length,
)
from pytest_llmfair.responses import Missing as MissingAnswer
from pytest_llmfair.stats import Estimate, Finding, Population

# Below so many rows the interval of a group is a rough guide.
_TINY = 20

E = TypeVar("E", bound=Estimate)
GroupPair = tuple[Hashable, Hashable]

# Documentation of what the metrics of tables share.
PARAMETERS = """
    y_true, y_pred : array_like of shape (n_rows,)
        True and predicted classes.
    positive : object
        The class that the rate is about; all others are the rest.
    groups : array_like of shape (n_rows,) or (n_rows, n_columns)
        Protected-attribute label of each row. Several columns, also of a data frame, compare
        their intersections, such as "sex=F & age=30".
    reference : object, optional
        Group that each other one is compared with: group minus reference, or group over
        reference. By default every two groups are compared.
    weights : array_like of shape (n_rows,), optional
        Weight of each row, at least 0, for units drawn from more.
    minimum_n, minimum_share : int, float
        Groups with fewer rows, or a smaller share of the rows, are not judged: they are named
        with their count, and in ``.groups``.
    missing : {"error", "drop"}
        What happens to rows in which a value is missing; those dropped are counted by group.
    units : sequence, optional
        One label per row; rows with equal labels are one sampling unit, and a label that appears
        in both groups makes the comparison paired. Default: each row.
    population : {"sampled", "fixed"}
        Whether the units were drawn from a larger population or are all of it.
    """
_RAISES = """
    Raises
    ------
    ValueError
        If lengths differ, a label, class or score is missing or out of range, the reference is no
        group, or there is one group only.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Choices of a caller about the rows of a table, besides the observations."""

    groups: Any
    reference: Any = None
    weights: Any = None
    minimum_n: int = 0
    minimum_share: float = 0.0
    missing: str = "error"
    units: Any = None
    population: Population = "sampled"


_OF_ROWS = {each.name for each in fields(Who)}


def _keywords(
    *,
    groups: ArrayLike,
    positive: Any = 1,
    reference: Any = None,
    weights: ArrayLike | None = None,
    minimum_n: int = 0,
    minimum_share: float = 0.0,
    missing: str = "error",
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> None:
    """Hold what every metric of a table takes by keyword."""


def people_metric(
    *, shared: str = "", without: str = "", **facts: Any
) -> Callable[[Callable[..., E]], Callable[..., E]]:
    """Make a metric, with all of `_keywords`, of a function of columns, `positive` and `who`."""
    usual: dict[str, Any] = {"direction": "lower", "bounds": (0.0, 1.0)}
    facts = usual | {"example": _examples.people} | facts
    complete = described(PARAMETERS, shared, _RAISES)
    return lambda measure: metric(family="classification", unit="person", **facts)(
        complete(of_people(measure, without))
    )


def of_people(measure: Callable[..., E], without: str = "") -> Callable[..., E]:
    """Give a function the keywords of tables; its own further ones stand after `positive`."""
    own = inspect.signature(measure)
    columns = [p for p in own.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    more = [
        p
        for p in own.parameters.values()
        if p.kind is p.KEYWORD_ONLY and p.name not in ("positive", "who")
    ]
    shared = [p for p in inspect.signature(_keywords).parameters.values() if p.name != without]
    signature = own.replace(parameters=[*columns, *shared[:2], *more, *shared[2:]])

    @functools.wraps(measure)
    def measured(*args: Any, **kwargs: Any) -> E:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{measured.__name__}(): {error}") from None
        bound.apply_defaults()
        given = bound.arguments
        who = {name: given.pop(name) for name in _OF_ROWS & given.keys()}
        return measure(**given, who=Who(**who))

    measured.__signature__ = signature  # type: ignore[attr-defined]
    return measured


@dataclass(frozen=True, slots=True)
class People:
    """Checked rows of a table."""

    # The columns as they were given, without the rows that were dropped.
    columns: dict[str, Any]
    # Rows of each group, in order of appearance, and of each sampling unit.
    members: RowsByLabel
    units: RowsByLabel | None
    weights: Floats | None
    reference: Hashable
    # Groups that are not judged, and what they fall short of.
    small: tuple[Hashable, ...]
    least: str
    # The same as what a group needs.
    wanted: str
    population: Population
    findings: tuple[Finding, ...] = field(default=())

    @classmethod
    def read(cls, who: Who, **columns: Any) -> People:
        """Check the rows, and take what is left out; errors name argument and row."""
        known_population(who.population)
        given = {**columns, "weights": who.weights, "units": who.units}
        given = {name: column for name, column in given.items() if column is not None}
        groups = who.groups
        found: list[Finding] = []
        if who.missing == "drop":
            given, groups, found = _without_missing(given, groups)
        elif who.missing != "error":
            raise ValueError(f'missing is {who.missing!r}; choose "error" or "drop"')
        rows = len(listed(next(iter(given.values())), next(iter(columns))))
        members = group_rows(groups, rows)
        own = given.pop("units", None)
        weights = given.pop("weights", None)
        if weights is not None:
            weights = _weights(weights, members, who.population)
        small, least, wanted = _small(who, members)
        found += [*_alike(members), *_tiny(members, small)]
        (reference,) = [None] if who.reference is None else labels([who.reference], "reference")
        if reference is not None and reference not in members:
            names = ", ".join(map(str, members))
            raise ValueError(f"reference {who.reference!r} is no group; groups are {names}")
        if reference is not None and reference in small:
            raise ValueError(
                f"reference {reference!r} has {len(members[reference])} rows, {least}; choose "
                "another one or leave it judged"
            )
        units = None if own is None else RowsByLabel(labels(own, "units", rows), rows)
        return cls(
            given,
            members,
            units,
            weights,
            reference,
            small,
            least,
            wanted,
            who.population,
            tuple(found),
        )

    @property
    def unit(self) -> RowNumbers | None:
        """Number of the sampling unit of each row; None where each is its own."""
        return None if self.units is None else self.units.number

    @property
    def judged(self) -> list[Hashable]:
        """Groups that are compared."""
        return [name for name in self.members if name not in self.small]

    @property
    def together(self) -> bool:
        """Whether a sampling unit has rows of several groups."""
        if self.units is None:
            return False
        held = {(self.units.number[i], g) for g, rows in self.members.items() for i in rows}
        return len(held) > len(self.units)

    def weights_of(self, rows: RowNumbers) -> Floats | None:
        """Return the weights of some rows."""
        return None if self.weights is None else self.weights[rows]

    def units_of(self, rows: RowNumbers) -> RowNumbers:
        """Return the numbers of the sampling units of some rows."""
        return rows if self.unit is None else self.unit[rows]


def pairs_of(names: Iterable[Hashable], reference: Hashable) -> list[GroupPair]:
    """Return every two groups, or each other group with the reference."""
    if reference is None:
        return list(combinations(names, 2))
    return [(name, reference) for name in names if name != reference]


def too_few(people: People) -> str:
    """Say that fewer than two groups are judged; empty where there are enough."""
    judged, groups = len(people.judged), len(people.members)
    if judged > 1:
        return ""
    return f"{judged} of {groups} groups has {people.wanted}: nothing is left to compare"


def _weights(weights: Any, members: RowsByLabel, population: Population) -> Floats:
    """Return checked weights."""
    found = flat_scores(weights, "weights")
    same_length(weights=found, rows=members.number)
    if (found < 0.0).any():
        row = int(np.argmax(found < 0.0))
        raise ValueError(f"weights row {row} is {found[row]:g}; give numbers of at least 0")
    if population == "fixed":
        raise ValueError('weights are for units drawn from more; leave population at "sampled"')
    for name, rows in members.items():
        if not found[rows].any():
            raise ValueError(f"every weight of group {name} is 0; leave its rows out")
    return found


def _small(who: Who, members: RowsByLabel) -> tuple[tuple[Hashable, ...], str, str]:
    """Return the groups below a minimum, how they fall short, and what they would need."""
    total = len(members.number)
    fewest = whole(who.minimum_n, "minimum_n", 0)
    least = share(who.minimum_share, "minimum_share")
    lacks, wants = [], []
    if least > 0.0:
        lacks.append(f"below {least:.1%} of {total} rows")
        wants.append(f"at least {least:.1%} of the {total} rows (minimum_share)")
    if fewest > 0:
        lacks.append(f"fewer than {fewest} rows")
        wants.append(f"at least {fewest} rows (minimum_n)")
    small = [g for g, rows in members.items() if len(rows) < fewest or len(rows) / total < least]
    return tuple(small), " or ".join(lacks), " and ".join(wants)


def _alike(members: RowsByLabel) -> list[Finding]:
    """Name groups whose labels differ in blanks, case or type only."""
    same: dict[str, list[Hashable]] = {}
    for name in members:
        same.setdefault("".join(str(name).split()).casefold(), []).append(name)
    shown = ["groups " + " and ".join(map(repr, own)) for own in same.values() if len(own) > 1]
    said = f"{first_few(shown)} differ in blanks, case or type only: are they one group?"
    return [Finding.note(said)] if shown else []


def _tiny(members: RowsByLabel, small: Sequence[Hashable]) -> list[Finding]:
    """Name judged groups so small that they decide the verdict beside much larger ones."""
    sizes = {name: len(rows) for name, rows in members.items() if name not in small}
    tiny = [f"{name} of {size}" for name, size in sizes.items() if size < _TINY]
    if not tiny or len(sizes) - len(tiny) < 2:
        return []
    text = f"minimum_n={_TINY} would leave small groups unjudged, by name: {first_few(tiny)}"
    return [Finding.note(text)]


def _without_missing(
    given: Mapping[str, Any], groups: Any
) -> tuple[dict[str, Any], Any, list[Finding]]:
    """Leave out rows that lack a value, and count them by group."""
    rows = {name: list(listed(column, name)) for name, column in given.items()}
    named = columns_of(groups) or [("", listed(groups, "groups"))]
    own = {name: list(column) for name, column in named}
    same_length(**rows, groups=next(iter(own.values())))
    ungrouped = _gone(own.values())
    gone = _gone(rows.values()) | ungrouped

    def kept(column: Any, rows: npt.NDArray[np.bool_]) -> list[Any]:
        return [column[i] for i in np.flatnonzero(rows)]

    def grouping(rows: npt.NDArray[np.bool_]) -> Any:
        if len(own) == 1:
            return kept(next(iter(own.values())), rows)
        return {name: kept(column, rows) for name, column in own.items()}

    if not gone.any():
        return dict(given), groups, []
    if gone.all():
        raise ValueError("every row lacks a value; nothing is left to measure")
    every = labels(grouping(~ungrouped), "groups") if not ungrouped.all() else []
    lost = kept(every, gone[~ungrouped])
    counts = [f"{g} {n} of {every.count(g)}" for g, n in Counter(lost).items()]
    counts += [f"{ungrouped.sum()} without a group"] if ungrouped.any() else []
    said = f"dropped {gone.sum()} of {len(gone)} rows, which lack a value: {first_few(counts, 20)}"
    left = {name: kept(column, ~gone) for name, column in rows.items()}
    return left, grouping(~gone), [Finding("dropped_rows", said)]


def _gone(columns: Iterable[list[Any]]) -> npt.NDArray[np.bool_]:
    """Return for each row whether some column lacks its value."""
    lacks = [[is_missing(value) for value in column] for column in columns]
    return np.asarray(np.array(lacks, dtype=np.bool_).any(axis=0))


def is_missing(value: Any) -> bool:
    """Return whether there is no value: None, NaN, or a missing answer."""
    return value is None or isinstance(value, MissingAnswer) or is_nan(value)
