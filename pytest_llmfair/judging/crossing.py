"""Which item, wording or cue each row is about, for verdicts that hold for other wordings too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

from pytest_llmfair._util.wording import plural
from pytest_llmfair.judging.pairs import pairs_in
from pytest_llmfair.stats.crossed_mean import FEWEST_LEVELS

ITEM = "item"
# What pairs call a factor.
_OF_PAIRS = {ITEM: "filler", "wording": "template", "cue": "cue"}


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of crossed factors, and the cell of each row."""

    # By factor, items first: its label for each cell.
    labels: Mapping[str, Sequence[str]]
    of_row: Sequence[int]

    def items(self, cells: Any) -> list[str]:
        """Return the item of each cell."""
        return [self.labels[ITEM][cell] for cell in cells]

    @classmethod
    def of(
        cls, robust_over: Any, factors: Any, data: Any, units: Any, direction: str
    ) -> Cells | None:
        """Return the cells of the rows of `data`; None where `robust_over` names no factor.

        Labels are those in `factors`, of `units` for the items, or of the pairs.

        Raises
        ------
        ValueError
            If a label is missing, or a factor has a single level.
        """
        names = factor_names(robust_over, factors)
        if not names:
            return None
        given = dict(factors or {})
        if ITEM not in given and units is not None:
            given[ITEM] = units
        own = {name: _labels(name, given, pairs_in(data)) for name in (ITEM, *names)}
        given_rows = getattr(data, "first", data)
        rows = len(given_rows) if isinstance(given_rows, Sized) else 0
        for name, labels in own.items():
            if rows and len(labels) != rows:
                raise ValueError(
                    f"{name} has {plural('label', len(labels))} for {plural('row', rows)}; give "
                    "one label for each prompt, pair or row"
                )
            number = len(set(labels))
            if number < 2:
                raise ValueError(
                    f"all rows have the same {name}, {labels[0]!r}; robust_over needs two or more"
                    if labels
                    else f"there are no labels of {name}; give one for each row"
                )
            if number < FEWEST_LEVELS and direction == "two-sided" and name != ITEM:
                raise ValueError(
                    f"{plural(name, number)} are too few for a metric that is fair in the middle "
                    f"of its range, so that no {name} is the worst; give {FEWEST_LEVELS} or more"
                )
        numbers: dict[tuple[str, ...], int] = {}
        keys = zip(*own.values(), strict=True)
        of_row = [numbers.setdefault(key, len(numbers)) for key in keys]
        columns = list(zip(*numbers, strict=True))
        return cls({name: list(columns[i]) for i, name in enumerate(own)}, of_row)


def factor_names(robust_over: Any, factors: Any = None) -> tuple[str, ...]:
    """Return the factors named; raise ``ValueError`` for what is no factor."""
    names = (robust_over,) if isinstance(robust_over, str) else tuple(robust_over or ())
    if factors is not None and not isinstance(factors, Mapping):
        raise ValueError(
            f"factors is a {type(factors).__name__}; give one list of labels by factor, such as "
            'factors={"item": [...], "wording": [...]}'
        )
    if not names:
        if factors:
            raise ValueError(
                f"factors has labels of {', '.join(map(str, factors))}, and robust_over names no "
                'factor; give robust_over=("wording",)'
            )
        return ()
    for name in names:
        if not isinstance(name, str) or not name or name == ITEM or names.count(name) > 1:
            raise ValueError(
                f"robust_over is {robust_over!r}; name each factor besides the items once, such "
                'as ("wording",)'
            )
    for name in factors or {}:
        if name not in (ITEM, *names):
            raise ValueError(
                f"factors has labels of {name!r}, which is not in robust_over; name it there, or "
                "leave them out"
            )
    return names


def _labels(name: str, given: Mapping[str, Any], pairs: Sequence[Any]) -> list[str]:
    """Return one label per row, as text."""
    remedy = f'give factors={{"{name}": [...]}} with one label for each row'
    if name in given:
        if isinstance(given[name], str):
            raise ValueError(f"factors has one text, {given[name]!r}, for {name}; {remedy}")
        labels = list(given[name])
        for row, label in enumerate(labels):
            if label is None or label != label:
                raise ValueError(f"the {name} of row {row} is {label}; give a label")
        return [str(label) for label in labels]
    attribute = _OF_PAIRS.get(name)
    if not pairs or attribute is None:
        known = "these data carry none" if attribute else f"pairs have no {name}"
        raise ValueError(f"robust_over needs the {name} of each row, and {known}; {remedy}")
    labels = [str(getattr(pair, attribute, "")) for pair in pairs]
    if "" in labels:
        raise ValueError(
            f"pair {labels.index('')} has no {attribute}, which would be its {name}; make pairs "
            f"from templates with slots, or {remedy}"
        )
    return labels
