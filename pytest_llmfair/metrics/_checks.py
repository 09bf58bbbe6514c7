"""Checks of what callers hand in: every error names the argument, the row and the remedy."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Hashable, Mapping, Sequence, Set, Sized
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_llmfair.responses import Missing
from pytest_llmfair.withheld import REMEDY, Withheld

Floats = npt.NDArray[np.float64]

# Exact distributions of counts are computed; more generations than this is a mistake.
_MOST_COUNTED = 1_000_000


def score_rows(
    scores: Any,
    argument: str = "scores",
    *,
    low: float = 0.0,
    high: float = 1.0,
    equal_rows: bool = False,
) -> list[Floats]:
    """Return scores as one array of generations per row.

    A flat input is one generation per row. Raises ``ValueError`` for no rows, an empty row, a
    score that is not finite or is outside [low, high], and, with `equal_rows`, rows of different
    length.
    """
    rows = [_one_row(row, argument, i) for i, row in enumerate(listed(scores, argument))]
    if not rows:
        raise ValueError(f"{argument} is empty; give at least one row")
    flat = np.concatenate(rows)
    if not (np.isfinite(flat).all() and flat.min() >= low and flat.max() <= high):
        for i, row in enumerate(rows):
            for x in row.tolist():
                if not math.isfinite(x):
                    raise ValueError(
                        f"{argument} row {i} holds {x}; drop or repair unscored answers first, "
                        "they are never read as a score"
                    )
                if not low <= x <= high:
                    raise ValueError(
                        f"{argument} row {i} holds {x:g}, outside [{low:g}, {high:g}]; rescale it"
                    )
    if equal_rows and len({len(row) for row in rows}) > 1:
        i = next(i for i, row in enumerate(rows) if len(row) != len(rows[0]))
        raise ValueError(
            f"{argument} row {i} has {len(rows[i])} generations and row 0 has {len(rows[0])}; "
            "this metric depends on their number, so give every row the same"
        )
    return rows


def listed(values: Any, argument: str) -> Sequence[Any]:
    """Return the rows of an argument; a text, a mapping or a set has none."""
    if hasattr(values, "to_numpy"):  # a data frame iterates over its column names
        values = values.to_numpy()
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
    given = scores.to_numpy() if hasattr(scores, "to_numpy") else scores
    plain = isinstance(given, (list, tuple)) and set(map(type, given)) <= {float, int}
    if plain or (type(given) is np.ndarray and given.ndim == 1 and given.dtype.kind in "biuf"):
        with contextlib.suppress(OverflowError):  # the slow way names the row
            array = np.array(given, dtype=np.float64)
            if array.size and np.isfinite(array).all():
                return array
    rows = score_rows(scores, argument, low=-math.inf, high=math.inf)
    for i, row in enumerate(rows):
        if row.size != 1:
            raise ValueError(f"{argument} row {i} holds {row.size} numbers; give one per row")
    return np.concatenate(rows)


def same_length(**arguments: Sized) -> None:
    """Raise ``ValueError`` unless all arguments have the same number of rows."""
    lengths = {name: len(value) for name, value in arguments.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise ValueError(f"lengths differ: {said}; give one entry per row in each")


def labels(values: Any, argument: str, rows: int | None = None) -> list[Hashable]:
    """Return one label per row; a missing label (None or NaN) is an error that names its row."""
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
            raise ValueError(f"{argument} row {i} is missing; give a label or drop the row")
    if rows is not None and len(found) != rows:
        raise ValueError(
            f"lengths differ: {argument} has {len(found)} labels for {rows} rows; give one per row"
        )
    return found


def _distinct_are_labels(found: Sequence[Any]) -> bool:
    """Whether every label is one; many rows share few labels, so each is looked at once."""
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
    """Tell whether a label is NaN, or another value that does not equal itself."""
    unequal = label != label
    return unequal is not False if not isinstance(unequal, np.bool_) else bool(unequal)


def group_rows(groups: Any, rows: int, argument: str = "groups") -> dict[Hashable, list[int]]:
    """Return the rows of each group, groups in order of appearance.

    Raises ``ValueError`` for fewer than two groups.
    """
    members: dict[Hashable, list[int]] = {}
    for i, label in enumerate(labels(groups, argument, rows)):
        members.setdefault(label, []).append(i)
    if len(members) < 2:
        raise ValueError(
            f"{argument} holds {len(members)} group ({', '.join(map(str, members))}); "
            "a comparison needs at least two"
        )
    return members


def known_population(population: str) -> None:
    """Raise ``ValueError`` unless `population` is "sampled" or "fixed"."""
    if population not in ("sampled", "fixed"):
        raise ValueError(f'population is {population!r}; choose "sampled" or "fixed"')


def counts(values: Any, argument: str) -> npt.NDArray[np.int64]:
    """Return whole numbers of at least 0, one per row."""
    array = flat_scores(values, argument)
    for i, x in enumerate(array.tolist()):
        if not 0 <= x <= _MOST_COUNTED or x != int(x):
            raise ValueError(
                f"{argument} row {i} is {x:g}; give whole numbers from 0 to {_MOST_COUNTED}"
            )
    return array.astype(np.int64)


def text_rows(texts: Any, argument: str) -> list[list[str]]:
    """Return texts as one list of answers per row; a flat list is one answer per row."""
    rows = []
    for i, row in enumerate(listed(texts, argument)):
        several = hasattr(row, "__iter__") and not isinstance(row, (str, bytes, Mapping, Set))
        answers: list[Any] = list(row) if several else [row]
        if not answers:
            raise ValueError(f"{argument} row {i} has no text; leave the pair out and count it")
        for answer in answers:
            if not isinstance(answer, str):
                said = (
                    f"missing ({answer.reason})" if isinstance(answer, Missing) else repr(answer)
                )
                raise ValueError(
                    f"{argument} row {i} is {said[:60]}; give texts, and leave out and count the "
                    "answers that are not there"
                )
            if isinstance(answer, Withheld):
                raise ValueError(f"{argument} row {i} is a digest: {REMEDY}")
        rows.append(answers)
    if not rows:
        raise ValueError(f"{argument} is empty; give at least one text")
    return rows
