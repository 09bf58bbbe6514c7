"""Checks of arguments, and findings about them.

Every error names the argument, the row and the remedy.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set, Sized
from itertools import pairwise
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from pytest_llmfair.responses import REMEDY, DigestedText, Missing
from pytest_llmfair.stats import Estimate, Finding

_MANY_GROUPS = 100

# For metrics and for the rooms above; these are not names of `pytest_llmfair.metrics`.
__all__: list[str] = []

E = TypeVar("E", bound=Estimate)
Floats = npt.NDArray[np.float64]
RowNumbers = npt.NDArray[np.intp]
# A table, or one array per row where rows differ in length.
Rows = Floats | list[Floats]
# One text, or a list of answers, per row.
TextRows = Sequence[str] | Sequence[Sequence[str]]


class Masks(Protocol):
    """A lexicon, as far as masking goes."""

    def mask(self, text: str) -> str:
        """Return the text with every mention of the attribute replaced by a placeholder."""
        ...


Mask = Masks | str | Sequence[str] | None
# Of two answers, by name or as a symmetric function.
Dissimilarity = Literal["jaccard", "sentiment"] | Callable[[Any, Any], float]

_ANY_RANGE = ", or compare groups with score_difference, which takes scores of any range"
# These arguments may have several columns; for predictions that would be a mistake.
_GROUPING = ("groups", "units", "rounds", "strata")


def score_rows(
    scores: Any,
    argument: str = "scores",
    *,
    low: float = 0.0,
    high: float = 1.0,
    equal_rows: bool = False,
) -> Rows:
    """Return the generations of each row: a table if given as one, else one array per row."""
    rows: Rows | None = _table(scores)
    if rows is None:
        rows = [_one_row(row, argument, i) for i, row in enumerate(listed(scores, argument))]
    if not len(rows):
        raise ValueError(f"{argument} is empty; give at least one row")
    flat = flattened(rows)
    remedy = "rescale it" + (_ANY_RANGE if (low, high) == (0.0, 1.0) else "")
    if not (np.isfinite(flat).all() and flat.min() >= low and flat.max() <= high):
        for i, row in enumerate(rows):
            for x in row.tolist():
                if not math.isfinite(x):
                    raise ValueError(
                        f"{argument} row {i} holds {x}; drop or repair unscored answers first, "
                        "they are not counted as 0"
                    )
                if not low <= x <= high:
                    raise ValueError(
                        f"{argument} row {i} holds {x:g}, outside [{low:g}, {high:g}]; {remedy}"
                    )
    if equal_rows and len({len(row) for row in rows}) > 1:
        i = next(i for i, row in enumerate(rows) if len(row) != len(rows[0]))
        raise ValueError(
            f"{argument} row {i} has {len(rows[i])} generations and row 0 has {len(rows[0])}; "
            "this metric depends on their number, so give every row the same"
        )
    return rows


def _table(values: Any) -> Floats | None:
    """Return an array or a flat list of numbers as one row each; None for anything else."""
    given = values.to_numpy() if hasattr(values, "to_numpy") else values
    if isinstance(given, (list, tuple)) and set(map(type, given)) <= {float, int}:
        given = np.array(given)
    plain = type(given) is np.ndarray and given.ndim in (1, 2) and given.dtype.kind in "biuf"
    return given.astype(np.float64).reshape(len(given), -1) if plain and given.size else None


def flattened(rows: Rows) -> Floats:
    """Return the numbers of all rows one after the other."""
    return rows.reshape(-1) if isinstance(rows, np.ndarray) else np.concatenate(rows)


def row_means(rows: Rows) -> Floats:
    """Return the mean of each row."""
    return np.array([row.mean() for row in rows]) if isinstance(rows, list) else np.mean(rows, 1)


def listed(values: Any, argument: str) -> Sequence[Any]:
    """Return the rows of an argument; a text, a mapping or a set has none."""
    if hasattr(values, "to_numpy"):  # a data frame iterates over its column names
        values = values.to_numpy()
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{argument} has masked entries; drop them first, and count them")
    # A set has no order that two runs would share, so its rows could not be named.
    if (
        isinstance(values, (str, bytes, Mapping, Set))
        or not hasattr(values, "__iter__")
        or (isinstance(values, np.ndarray) and values.ndim == 0)
    ):
        raise ValueError(f"{argument} is a {type(values).__name__}; give a list or an array")
    return values if isinstance(values, (list, tuple)) else list(values)


def _one_row(row: Any, argument: str, i: int) -> Floats:
    if isinstance(row, Missing) or row is None:
        raise ValueError(
            f"{argument} row {i} is missing; leave unanswered prompts out and count them"
        )
    try:
        given = np.asarray(row)
        if given.dtype.kind not in "biufO":  # numpy would read dates and digits in texts
            raise TypeError
        array = np.atleast_1d(np.asarray(given, dtype=np.float64))
    except OverflowError:
        raise ValueError(f"{argument} row {i} holds a number too large for a float") from None
    except (TypeError, ValueError):
        raise ValueError(
            f"{argument} row {i} is {str(row)[:60]!r}; give numbers, one row per prompt"
        ) from None
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{argument} row {i} has shape {array.shape}; give one or more numbers per row"
        )
    return array


def flat_scores(scores: Any, argument: str = "scores") -> Floats:
    """Return one finite number per row."""
    table = _table(scores)
    if table is not None and table.shape[1] == 1 and np.isfinite(table).all():
        return table[:, 0]
    rows = score_rows(scores, argument, low=-math.inf, high=math.inf)
    for i, row in enumerate(rows):
        if row.size != 1:
            raise ValueError(f"{argument} row {i} holds {row.size} numbers; give one per row")
    return np.concatenate(rows)


def same_length(**arguments: Sized) -> None:
    """Raise ``ValueError`` unless all arguments have the same number of rows."""
    lengths = {name: len(value) for name, value in arguments.items()}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise ValueError(f"lengths differ: {sizes}; give one entry per row in each")


def same_index(arguments: Mapping[str, Any]) -> None:
    """Refuse pandas objects of one length with different indexes: rows match by position."""
    found: list[tuple[str, Any]] = []
    for name, value in arguments.items():
        columns = value.values() if isinstance(value, Mapping) else value
        if not isinstance(value, (list, tuple, Mapping)):
            columns = [value]
        # Only the first entry is looked at in a long list of numbers.
        if hasattr(next(iter(columns), None), "iloc"):
            found += [(name, column.index) for column in columns if hasattr(column, "iloc")]
    for (first, index), (second, other) in pairwise(found):
        if len(index) == len(other) and not index.equals(other):
            row = int(np.argmax(index != other))
            # Plain labels, not numpy's.
            own, their = index[row : row + 1].tolist()[0], other[row : row + 1].tolist()[0]
            raise ValueError(
                f"{first} and {second} have different pandas indexes: row {row} is "
                f"{own!r} in {first} and {their!r} in {second}; bring them into one "
                "order with .loc, or give .to_numpy() of each if rows match by position"
            )


def labels(values: Any, argument: str, rows: int | None = None) -> list[Hashable]:
    """Return one label per row; several columns of a grouping argument are joined to one label."""
    if argument in _GROUPING and (columns := columns_of(values)):
        values = columns[0][1] if len(columns) == 1 else _intersections(columns, argument)
    elif getattr(values, "ndim", 0) == 2 and values.shape[1] > 1:
        raise ValueError(f"{argument} has {values.shape[1]} columns; give one")
    plain = type(values) is np.ndarray and values.ndim == 1
    found = list(values.tolist() if plain else listed(values, argument))
    if any(issubclass(kind, np.generic) for kind in set(map(type, found))):
        found = [x.item() if isinstance(x, np.generic) else x for x in found]
    for i, label in enumerate(() if _distinct_are_labels(found) else found):
        if isinstance(label, (np.ndarray, list, dict, set)):
            raise ValueError(
                f"{argument} row {i} is {str(label)[:40]}, which cannot be a label; use text or "
                "numbers, one per row"
            )
        if label is None or isinstance(label, Missing) or is_nan(label):
            raise ValueError(
                f"{argument} row {i} is missing; give a label, or drop the row, as missing='drop' "
                "does in tables of people"
            )
    if rows is not None and len(found) != rows:
        raise ValueError(
            f"lengths differ: {argument} has {len(found)} labels for {rows} rows; give one per row"
        )
    return found


def columns_of(values: Any) -> list[tuple[str, Any]]:
    """Return the columns of a table with their names; none for a flat list."""
    # A list of lists holds columns if it has fewer of them than each has entries; rows otherwise.
    table = getattr(values, "ndim", 0) == 2
    if isinstance(values, Mapping) or (table and hasattr(values, "items")):
        named = [(str(name), column) for name, column in values.items()]
        return named if all(_is_column(column) for _, column in named) else []
    if table:
        return [("", column) for column in values.T]
    if not (isinstance(values, (list, tuple)) and all(map(_is_column, values))):
        return []
    lengths = set(map(len, values))
    if len(lengths) != 1 or 0 in lengths:
        return []
    if len(values) >= lengths.pop():
        return [("", column) for column in zip(*values, strict=True)]
    return [(str(getattr(column, "name", None) or ""), column) for column in values]


def _is_column(value: Any) -> bool:
    # Not a tuple, which is a label of its own.
    return isinstance(value, list) or getattr(value, "ndim", 0) == 1


def _intersections(columns: list[tuple[str, Any]], argument: str) -> list[Hashable]:
    """Return one text per row that names its label in each column: "sex=F & age=30"."""
    found = [labels(column, f"{argument} {name}".rstrip()) for name, column in columns]
    if len(set(map(len, found))) > 1:
        sizes = ", ".join(str(len(column)) for column in found)
        raise ValueError(f"{argument} has columns of {sizes} rows; give one label per row in each")
    heads = [f"{name}=" if name else "" for name, _ in columns]
    keys = list(zip(*found, strict=True))

    def texts(show: Callable[[Any], str]) -> dict[tuple[Hashable, ...], str]:
        return {
            key: " & ".join(head + show(label) for head, label in zip(heads, key, strict=True))
            for key in dict.fromkeys(keys)
        }

    shown = texts(str)
    if len(set(shown.values())) < len(shown):  # 1 and "1" are two labels
        shown = texts(repr)
    return [shown[key] for key in keys]


def _distinct_are_labels(found: Sequence[Any]) -> bool:
    """Return whether all are labels, looking at each distinct label once."""
    try:
        distinct = dict.fromkeys(found)
    except TypeError:
        return False
    return not any(x is None or isinstance(x, Missing) or is_nan(x) for x in distinct)


def flags(values: Any, argument: str, rows: int) -> list[bool]:
    """Return one yes or no per row; anything but a truth value, 0 or 1 is an error."""
    found = labels(values, argument, rows)
    for i, flag in enumerate(found):
        if isinstance(flag, str) or flag not in (0, 1):
            raise ValueError(f"{argument} row {i} is {str(flag)[:40]!r}; give True or False")
    return [bool(flag) for flag in found]


def is_nan(label: Any) -> bool:
    """Return whether a label is NaN, or another value that does not equal itself."""
    unequal = label != label
    return unequal is not False if not isinstance(unequal, np.bool_) else bool(unequal)


class RowsByLabel(Mapping[Hashable, RowNumbers]):
    """The rows of each label in rising order, labels in order of appearance."""

    def __init__(self, found: Iterable[Hashable], rows: int) -> None:
        self._places: dict[Hashable, int] = {}
        add, known = self._places.setdefault, self._places
        numbers = (add(label, len(known)) for label in found)
        # `number` is that of the label of each row.
        self.number = np.fromiter(numbers, dtype=np.intp, count=rows)
        # Small types are sorted by counting.
        short = self.number.astype(np.min_scalar_type(len(known)))
        self._order = np.argsort(short, kind="stable")
        self._ends = np.cumsum(np.bincount(self.number, minlength=len(known)))

    def __getitem__(self, label: Hashable) -> RowNumbers:
        place = self._places[label]
        return self._order[self._ends[place - 1] if place else 0 : self._ends[place]]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def group_rows(groups: Any, rows: int, argument: str = "groups") -> RowsByLabel:
    """Return the rows of each group, groups in order of appearance; at least two groups."""
    members = RowsByLabel(labels(groups, argument, rows), rows)
    if len(members) < 2:
        held = f"1 group ({next(iter(members))})" if members else "no group"
        raise ValueError(f"{argument} holds {held}; a comparison needs at least two")
    if len(members) > _MANY_GROUPS:
        n = len(members)
        # Said at once, since the user may stop it: an identifier of people makes a group of each.
        warnings.warn(
            f"{argument} holds {n:,} groups, and all {n * (n - 1) // 2:,} pairs of them are "
            "compared, which may take minutes or hours; give a column with fewer groups",
            stacklevel=2,
        )
    return members


def reference_groups(reference: Any, names: Sequence[Hashable]) -> list[Hashable] | None:
    """Return the groups of a reference, one or several; None for "rest", all but the own."""
    if isinstance(reference, str) and reference == "rest" and "rest" not in names:
        return None
    union = isinstance(reference, (list, np.ndarray)) or (
        isinstance(reference, tuple) and reference not in names
    )
    return list(reference) if union else [reference]


def known_population(population: str) -> None:
    """Raise ``ValueError`` unless `population` is "sampled" or "fixed"."""
    if population not in ("sampled", "fixed"):
        raise ValueError(f'population is {population!r}; choose "sampled" or "fixed"')


def text_rows(texts: Any, argument: str) -> list[list[str]]:
    """Return texts as one list of answers per row; a flat list is one answer per row."""
    given = listed(texts, argument)
    if given and set(map(type, given)) == {str}:
        return [[text] for text in given]
    rows = []
    for i, row in enumerate(given):
        several = hasattr(row, "__iter__") and not isinstance(row, (str, bytes, Mapping, Set))
        answers: list[Any] = list(row) if several else [row]
        if not answers:
            raise ValueError(f"{argument} row {i} has no text; leave the pair out and count it")
        for answer in answers:
            if not isinstance(answer, str):
                shown = (
                    f"missing ({answer.reason})" if isinstance(answer, Missing) else repr(answer)
                )
                raise ValueError(
                    f"{argument} row {i} is {shown[:60]}; give texts, and leave out and count "
                    "missing answers"
                )
            if isinstance(answer, DigestedText):
                raise ValueError(f"{argument} row {i} is a digest: {REMEDY}")
        rows.append(answers)
    if not rows:
        raise ValueError(f"{argument} is empty; give at least one text")
    return rows


def first_few(items: Sequence[object], most: int = 5, separator: str = ", ") -> str:
    """Name the first few items, and how many more there are."""
    more = len(items) - most
    return separator.join(map(str, items[:most])) + (f" and {more} more" if more > 0 else "")


def note_constant(estimate: E, rows: Rows) -> E:
    """Flag raw scores that are all the same number: a broken scorer looks like this."""
    flat = flattened(rows)
    if flat.size > 1 and bool((flat == flat[0]).all()):
        same = (
            f"all {flat.size} scores are {flat[0]:g}: check the scorer, a constant shows nothing"
        )
        return estimate.with_findings(Finding("uninformative", same))
    return estimate


def note_canned(estimate: E, answers: Iterable[Hashable]) -> E:
    """Flag one and the same text or list as the answer to several pairs: a broken client."""
    others = iter(answers)
    first = next(others)
    if estimate.sample.units > 1 and all(answer == first for answer in others):
        canned = (
            f"one answer to everything, {repr(first)[:40]}: check the client, a canned "
            "answer shows nothing"
        )
        return estimate.with_findings(Finding("uninformative", canned))
    return estimate
