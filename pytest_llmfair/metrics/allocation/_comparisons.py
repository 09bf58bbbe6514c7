"""Answers of a judge that compares two candidates, and their consistency."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_llmfair.metrics.arguments import labels
from pytest_llmfair.stats import Finding

_FIELDS = ("pool", "first", "second", "winner")
_WINNERS = ("first", "second", "tie", None)
_USABLE = (1, -1, 0)


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """One answer of a judge."""

    pool: Hashable
    first: Hashable
    second: Hashable
    won: int | None  # 1: the first candidate, -1: the second, 0: a tie, None: unusable

    def won_by(self, candidate: Hashable) -> int | None:
        """Return the answer as seen by one of the two candidates."""
        if self.won is None or candidate == self.first:
            return self.won
        return -self.won


def read_comparisons(comparisons: Any) -> list[JudgeAnswer]:
    """Return checked rows; a ``ValueError`` names the row that is wrong."""
    if isinstance(comparisons, (str, bytes, Mapping)) or not isinstance(comparisons, Iterable):
        raise ValueError(
            f"comparisons is a {type(comparisons).__name__}; give a list of rows with "
            f"{', '.join(_FIELDS)}"
        )
    rows = list(comparisons)
    if not rows:
        raise ValueError("comparisons is empty; give at least one row")
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise ValueError(
                f"comparisons row {i} is {str(row)[:60]!r}; give a mapping with "
                f"{', '.join(_FIELDS)}"
            )
        missing = [field for field in _FIELDS if field not in row]
        if missing:
            raise ValueError(f"comparisons row {i} has no {' and no '.join(missing)}; give it")
        winner = row["winner"]
        if not (winner is None or isinstance(winner, str)) or winner not in _WINNERS:
            raise ValueError(
                f"comparisons row {i} has the winner {winner!r}; give 'first', 'second', 'tie' or "
                "None for an unusable answer"
            )
    pools, first, second = (
        labels([row[field] for row in rows], f"comparisons {field}") for field in _FIELDS[:3]
    )
    won: dict[str | None, int | None] = {"first": 1, "second": -1, "tie": 0, None: None}
    read = [
        JudgeAnswer(pool, one, other, won[row["winner"]])
        for pool, one, other, row in zip(pools, first, second, rows, strict=True)
    ]
    for i, comparison in enumerate(read):
        if comparison.first == comparison.second:
            raise ValueError(
                f"comparisons row {i} compares {comparison.first!r} with itself; give two "
                "candidates"
            )
    return read


def groups_of(comparisons: Sequence[JudgeAnswer], groups: Any) -> dict[Hashable, Hashable]:
    """Return the group of every candidate compared, in the order of `groups`."""
    if not isinstance(groups, Mapping):
        raise ValueError(
            f"groups is a {type(groups).__name__}; give a mapping from candidate to group"
        )
    for i, comparison in enumerate(comparisons):
        for candidate in (comparison.first, comparison.second):
            if candidate not in groups:
                raise ValueError(
                    f"groups has no group for candidate {candidate!r} (comparisons row {i}); add "
                    "it or leave its comparisons out"
                )
    seen = {c for row in comparisons for c in (row.first, row.second)}
    known = [candidate for candidate in groups if candidate in seen]
    return dict(zip(known, labels([groups[c] for c in known], "groups"), strict=True))


@dataclass(slots=True)
class JudgedPair:
    """All answers about two candidates of a pool, by who was shown first."""

    pool: Hashable
    one: Hashable
    other: Hashable
    # Answers as seen by `one`, when it was shown first and when it was shown second.
    forward: list[int | None]
    backward: list[int | None]

    @property
    def both_orders(self) -> bool:
        """Whether both orders were asked."""
        return bool(self.forward and self.backward)

    def share(self, before: int | None, after: int | None) -> float:
        """Share of answer pairs, one per order, with these two answers."""
        hits = self.forward.count(before) * self.backward.count(after)
        return hits / (len(self.forward) * len(self.backward)) if hits else 0.0

    def preferred(self, candidate: Hashable) -> float:
        """Share of answer pairs that name this candidate in both orders."""
        won = 1 if candidate == self.one else -1
        return self.share(won, won)

    @property
    def flipped(self) -> float:
        """Share of answer pairs that name one candidate in one order, the other in the other."""
        return self.share(1, -1) + self.share(-1, 1)

    @property
    def inconsistent(self) -> float:
        """Share of answer pairs that do not give the same usable answer in both orders."""
        return 1.0 - math.fsum(self.share(answer, answer) for answer in _USABLE)


def pairs_of(comparisons: Iterable[JudgeAnswer]) -> list[JudgedPair]:
    """Collect the answers about each two candidates of a pool."""
    found: dict[tuple[Hashable, Hashable, Hashable], JudgedPair] = {}
    for row in comparisons:
        key = (row.pool, row.second, row.first)
        if key not in found:
            key = (row.pool, row.first, row.second)
            found.setdefault(key, JudgedPair(*key, [], []))
        pair = found[key]
        side = pair.forward if row.first == pair.one else pair.backward
        side.append(row.won_by(pair.one))
    return list(found.values())


def consistency_by_group(
    comparisons: Sequence[JudgeAnswer], group_of: Mapping[Hashable, Hashable]
) -> dict[Hashable, dict[str, float]]:
    """Shares of regular and tied prompts, flipped and inconsistent pairs, where a group is in."""
    won: dict[Hashable, list[int | None]] = {name: [] for name in group_of.values()}
    for row in comparisons:
        for name in {group_of[row.first], group_of[row.second]}:
            won[name].append(row.won)
    shares: dict[Hashable, list[tuple[float, float]]] = {name: [] for name in won}
    for pair in pairs_of(comparisons):
        if pair.both_orders:
            both = pair.flipped, pair.inconsistent
            for name in {group_of[pair.one], group_of[pair.other]}:
                shares[name].append(both)
    return {
        name: {
            "regular": sum(each in (1, -1) for each in rows) / len(rows),
            "tie": sum(each == 0 for each in rows) / len(rows),
            "flipped": _mean([flipped for flipped, _ in shares[name]]),
            "inconsistent": _mean([inconsistent for _, inconsistent in shares[name]]),
        }
        for name, rows in won.items()
    }


def _mean(shares: Sequence[float]) -> float:
    return math.fsum(shares) / len(shares) if shares else math.nan


def judge_findings(
    comparisons: Sequence[JudgeAnswer],
    group_of: Mapping[Hashable, Hashable],
    max_inconsistent: float,
) -> list[Finding]:
    """Find answers that depend on the order shown, and unusable ones."""
    depends = {
        name: shares["inconsistent"]
        for name, shares in consistency_by_group(comparisons, group_of).items()
        if not math.isnan(shares["inconsistent"])
    }
    shown = ", ".join(f"{name} {share:.0%}" for name, share in depends.items())
    found: list[Finding] = []
    if any(share > max_inconsistent for share in depends.values()):
        inconsistent = (
            f"the answer depends on the order shown for too many pairs ({shown}), more than "
            f"max_inconsistent = {max_inconsistent:.0%}: such a judge ties everyone; use "
            "another one, or raise max_inconsistent"
        )
        found.append(Finding("inconsistent_judge", inconsistent, "invalid"))
    if depends:
        found.append(Finding.note(f"pairs whose answer depends on the order shown: {shown}"))
    else:
        unchecked = (
            "no pair was shown in both orders: a preference cannot be distinguished from a "
            "habit of naming the first or the second"
        )
        found.append(Finding("order_unchecked", unchecked))
    usable = [row.won for row in comparisons if row.won is not None]
    if len(usable) < len(comparisons):
        lost = len(comparisons) - len(usable)
        unusable = f"{lost} of {len(comparisons)} answers are unusable: no candidate won"
        found.append(Finding.note(unusable))
    if len(usable) > 1 and len(set(usable)) == 1:
        what = {1: "the first candidate", -1: "the second candidate", 0: "a tie"}[usable[0]]
        canned = f"every usable answer is {what}: check the judge, a canned answer shows nothing"
        found.append(Finding("uninformative", canned))
    return found


class PairwiseScores(dict[tuple[Hashable, Hashable], float]):
    """Scores of a pairwise judge by pool and candidate, with the comparisons they come from.

    The allocation metrics take it for `scores`, with `groups` from candidate to group; the pools
    are then the rounds, and an assertion is INVALID when the order shown decided too much.

    Attributes
    ----------
    comparisons : sequence
        The comparisons that the scores come from.
    max_inconsistent : float
        Largest share of inconsistent pairs that is judged.

    Examples
    --------
    >>> from pytest_llmfair.metrics import pairwise_scores
    >>> answer = {"pool": 1, "first": "Ada", "second": "Ben", "winner": "first"}
    >>> pairwise_scores([answer]).max_inconsistent
    0.5
    """

    def __init__(
        self,
        scores: Mapping[tuple[Hashable, Hashable], float],
        comparisons: Sequence[JudgeAnswer],
        max_inconsistent: float,
    ) -> None:
        super().__init__(scores)
        self.comparisons = comparisons
        self.max_inconsistent = max_inconsistent
