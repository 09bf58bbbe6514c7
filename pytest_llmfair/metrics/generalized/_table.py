"""The 22 rows of Table 2 of Czarnowska et al. (2021) and their variants, read from a data file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

Compares = Literal["PCM", "BCM", "VBCM", "MCM"]
DistanceName = Literal[
    "|x - y|", "x - y", "x / y", "y / x", "W1", "P(y > x) - 1/2", "std", "max - min"
]
Divisor = Literal["1", "T", "P", ""]
Gold = Literal["any", "c", "not c"]


@dataclass(frozen=True, slots=True)
class NamedRow:
    """One row of the table, or a variant of one."""

    key: str
    name: str
    title: str
    number: int
    # VBCM gives one number per group, BCM their mean.
    compares: Compares
    # A rate (see `_shares`), "LAS", "p(c)" or "p(gold)".
    score: str
    # x is the first group or the background, y the second group or the group.
    distance: DistanceName
    # Of the sum over pairs or groups: 1, the number of groups T or of pairs P, or no sum.
    divisor: Divisor
    # Value of the example in the docstring.
    example: float
    counterfactual: bool = False
    # Gold class of the examples that count; c is the positive class.
    gold: Gold = "any"
    pairs_only: bool = False
    others: tuple[str, ...] = ()
    reported: str = "no values"

    @property
    def is_ratio(self) -> bool:
        """Whether the fair value is 1."""
        return self.distance in ("x / y", "y / x")

    @property
    def signed(self) -> bool:
        """Whether a value above 0 and one below say different things."""
        return self.distance in ("x - y", "P(y > x) - 1/2")

    @property
    def may_have_original(self) -> bool:
        """Whether unperturbed examples are the background where they are given."""
        return self.counterfactual and self.compares in ("BCM", "VBCM")

    @property
    def favourable(self) -> Literal["high", "low"] | None:
        """Which score is better for a group; that of a class c is where it is, or is not, c."""
        if self.score == "p(c)":
            by_gold: dict[Gold, Literal["high", "low"]] = {"c": "high", "not c": "low"}
            return by_gold.get(self.gold)
        return "low" if self.score in ("FPR", "FNR") else "high"

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest value over all data."""
        if self.is_ratio:
            return 0.0, float("inf")
        if self.signed:
            return (-1.0, 1.0) if self.distance == "x - y" else (-0.5, 0.5)
        # A sum over groups that is not divided by the number of its terms grows with them.
        if self.divisor == "1" or (self.compares == "PCM" and self.divisor == "T"):
            return 0.0, float("inf")
        return 0.0, 0.5 if self.distance == "std" else 1.0


def _rows(table: Mapping[str, Any]) -> Iterator[NamedRow]:
    for row in table["rows"]:
        if "reported" in row:
            row["reported"] += f" ({table['models']})"
        yield NamedRow(**(row | {"others": tuple(row.get("others", ()))}))


_FILE = resources.files("pytest_llmfair.metrics.generalized") / "table.json"
_TABLE: dict[str, Any] = json.loads(_FILE.read_text("utf-8"))
ROWS = tuple(_rows(_TABLE))
# What the keys of a row mean, for its documentation.
WORDS: Mapping[str, Mapping[str, str]] = _TABLE["words"]
