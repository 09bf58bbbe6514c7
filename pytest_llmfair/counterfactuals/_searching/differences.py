"""How differently a model answers the members of a pair, within a budget of calls."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_llmfair.counterfactuals.pairs import Pair

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# All ways to part two times seven answers are listed; of more, so many are drawn.
_MOST_SPLITS = 3432


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference between the answers to the members of one pair.

    Attributes
    ----------
    answers, twin_answers : tuple of str
        What the model said to either member; missing answers are left out.
    value : float
        Mean dissimilarity of the answers of one side to those of the other; NaN when a side has
        none.
    floor : float
        Mean dissimilarity of two answers of the same side; NaN with fewer than two on a side.
    p : float
        Of the permutation test that both sides are sampled from one distribution; 1 without a
        floor. Exact, since answers that are exchanged between the sides are then equally likely.
    """

    answers: tuple[str, ...]
    twin_answers: tuple[str, ...]
    value: float = math.nan
    floor: float = math.nan
    p: float = 1.0

    @property
    def excess(self) -> float:
        """Value less the floor where there is one; minus infinity when nothing was answered."""
        if math.isnan(self.value):
            return -math.inf
        return self.value if math.isnan(self.floor) else self.value - self.floor

    @property
    def steady(self) -> bool:
        """Whether every repeat said the same."""
        return len(set(self.answers)) < 2 and len(set(self.twin_answers)) < 2

    def proven(self, threshold: float, alpha: float) -> bool:
        """Whether the difference is above the threshold and no sampling noise."""
        return self.value > threshold and self.excess > 0.0 and self.p <= alpha


class Asker:
    """Asks a client about pairs, never more often than it may.

    Every answer that is asked for is one call. Answers of another `draw` are sampled anew.
    """

    def __init__(self, client: Any, measure: Any, max_calls: int, seed: int) -> None:
        from pytest_llmfair.clients import ModelClient

        self._client = client if hasattr(client, "answer_pairs") else ModelClient.of(client)
        self._measure = measure
        self._seed = seed
        self.max_calls = max_calls
        self.calls = 0
        self.missing: Counter[str] = Counter()

    @property
    def name(self) -> str:
        """The model asked."""
        return str(getattr(self._client, "name", type(self._client).__name__))

    def affordable(self, n: int, keep: int = 0) -> int:
        """Return how many pairs may still be asked `n` times a side, with `keep` calls left."""
        return max(self.max_calls - self.calls - keep, 0) // (2 * n)

    def ask(self, pairs: Sequence[Pair], n: int, draw: str) -> list[Difference]:
        """Return the differences of the pairs that the budget allows, in order."""
        pairs = pairs[: self.affordable(n)]
        if not pairs:
            return []
        self.calls += 2 * n * len(pairs)
        seed = random.Random(f"{self._seed} {draw}").getrandbits(32)
        responses = self._client.answer_pairs(list(pairs), n, seed=seed)
        return [self._difference(*map(self._texts, sides)) for sides in responses]

    def joined(self, first: Difference, second: Difference) -> Difference:
        """Return the difference that all answers of two draws show."""
        return self._difference(
            first.answers + second.answers, first.twin_answers + second.twin_answers
        )

    def _texts(self, answers: Sequence[Any]) -> tuple[str, ...]:
        self.missing.update(a.reason for a in answers if not isinstance(a, str))
        return tuple(answer for answer in answers if isinstance(answer, str))

    def _difference(self, first: tuple[str, ...], second: tuple[str, ...]) -> Difference:
        if not first or not second:
            return Difference(first, second)
        import numpy as np

        distinct = list(dict.fromkeys((*first, *second)))
        prepared = dict(zip(distinct, self._measure.prepare(distinct), strict=True))
        said = [prepared[text] for text in (*first, *second)]
        rows, columns = np.triu_indices(len(said), 1)
        apart = np.zeros((len(said), len(said)))
        compared = self._measure.compare([said[i] for i in rows], [said[j] for j in columns])
        apart[rows, columns] = apart[columns, rows] = compared
        half = len(first)
        value = float(apart[:half, half:].mean())
        if half < 2 or len(second) < 2:
            return Difference(first, second, value)
        floor = (_mean_within(apart[:half, :half]) + _mean_within(apart[half:, half:])) / 2
        return Difference(first, second, value, floor, _permutation_p(apart, half))


def smallest_p(n: int) -> float:
    """Return the smallest p of the permutation test with `n` answers a side."""
    return 2 / math.comb(2 * n, n)


def _mean_within(apart: npt.NDArray[np.float64]) -> float:
    return float(apart.sum()) / (len(apart) * (len(apart) - 1))


def _permutation_p(apart: npt.NDArray[np.float64], half: int) -> float:
    """Share of the ways to part the answers that set the sides as far apart as they are."""
    import numpy as np

    total = len(apart)
    exact = math.comb(total, half) <= _MOST_SPLITS
    splits: Any = itertools.combinations(range(total), half)
    if not exact:
        generator = random.Random(0)
        splits = (generator.sample(range(total), half) for _ in range(_MOST_SPLITS))
        splits = itertools.chain([range(half)], splits)
    chosen = np.array([list(split) for split in splits])
    first = np.zeros((len(chosen), total))
    np.put_along_axis(first, chosen, 1.0, axis=1)
    within = np.einsum("si,ij,sj->s", first, apart, first, optimize=True)
    within_second = np.einsum("si,ij,sj->s", 1 - first, apart, 1 - first, optimize=True)
    across = (apart.sum() - within - within_second) / 2
    other = total - half
    excess = (
        across / (half * other)
        - (within / (half * (half - 1)) + within_second / (other * (other - 1))) / 2
    )
    return float(np.mean(excess >= excess[0] - 1e-12))
