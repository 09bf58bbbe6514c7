"""Search with proof: one half of the budget looks for a pair, the other half proves it anew."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import stdtrit

from pytest_llmfair.judging.power import SURE
from pytest_llmfair.judging.power import search as first
from pytest_llmfair.metrics.arguments import Floats
from pytest_llmfair.probing.searching import AnswerDifference, BudgetedClient, Search
from pytest_llmfair.responses import Pair
from pytest_llmfair.stats import Estimate, Mean

# Candidates that are tested; only one where the tests have fewer draws than this.
CANDIDATES = 3
_FEW = 100
# Share of the draws left that a round of the search spends.
_ROUND = 4
# Simulated searches that show what a budget could have found, and gaps that are tried.
_RUNS, _STEP = 150, 0.05


def candidates_of(draws: int) -> int:
    """Return the number of candidates that are tested with so many draws."""
    return 1 if draws < _FEW else CANDIDATES


def look(
    draw: Callable[[list[int], int], None],
    lead: Callable[[int], float],
    order: Sequence[int],
    budget: int,
    least: int,
) -> list[int]:
    """Ask every pair, then those that lead again until the budget is spent; the best first."""
    asked = list(order[: budget // least])
    if not asked:
        return []
    draw(asked, least)
    left = budget - least * len(asked)
    while left > 0:
        asked.sort(key=lead, reverse=True)
        leading = asked[: min(max(CANDIDATES, left // _ROUND), left)]
        n = max(1, left // (_ROUND * len(leading)))
        draw(leading, n)
        left -= n * len(leading)
    return sorted(asked, key=lead, reverse=True)


@dataclass(slots=True)
class Draws:
    """Answers to both members of pairs, and what each two of them say about the gap."""

    client: BudgetedClient
    measure: Any
    pairs: Sequence[Pair]
    found: dict[int, AnswerDifference] = field(default_factory=dict)

    @property
    def signed(self) -> bool:
        """Whether answers have scores, whose difference has a sign."""
        return self.measure.scorer is not None and str(self.measure.symbol).startswith("|")

    @property
    def least(self) -> int:
        """Fewest answers a side that show a gap."""
        return 1 if self.signed else 2

    def draw(self, which: list[int], n: int) -> None:
        """Ask both members of some pairs `n` times more."""
        new = self.client.ask([self.pairs[i] for i in which], n, f"look {self.client.calls}")
        for i, more in zip(which, new, strict=False):
            self.found[i] = self.client.joined(self.found[i], more) if i in self.found else more

    def lead(self, i: int) -> float:
        """Return the gap seen, drawn towards 0 where answers are few."""
        rows, whole = self.rows(self.found[i])
        if not len(rows):
            return -math.inf
        return (abs(whole) if self.signed else whole) * len(rows) / (len(rows) + 1)

    def rows(self, seen: AnswerDifference) -> tuple[Floats, float]:
        """Return the share of each two answers, one of either side, in the gap, and the gap."""
        n = min(len(seen.answers), len(seen.twin_answers))
        if n < self.least:
            return np.zeros(0), -math.inf
        values = [*self.measure.prepare([*seen.answers[:n], *seen.twin_answers[:n]])]
        if self.signed:
            rows = np.subtract(values[:n], values[n:])
            return rows, float(rows.mean())
        left, right = np.triu_indices(2 * n, 1)
        apart = np.zeros((2 * n, 2 * n))
        apart[left, right] = self.measure.compare(
            [values[i] for i in left], [values[j] for j in right]
        )
        return pseudo_values(apart + apart.T, n)


def pseudo_values(apart: Floats, n: int) -> tuple[Floats, float]:
    """Return jackknife pseudo-values of the excess, and the excess, of `n` answers a side."""
    cross, sides = apart[:n, n:], (apart[:n, :n], apart[n:, n:])
    whole = float(cross.mean() - sum(side.sum() for side in sides) / (2.0 * n * (n - 1)))
    if n < 3:
        return np.full(n, whole), whole
    across = cross.sum() - cross.sum(axis=0) - cross.sum(axis=1) + np.diag(cross)
    inside = sum(side.sum() - 2.0 * side.sum(axis=0) for side in sides)
    part = across / (n - 1) ** 2 - inside / (2.0 * (n - 1) * (n - 2))
    return np.asarray(n * whole - (n - 1) * part, dtype=np.float64), whole


@dataclass(frozen=True, slots=True)
class Tested:
    """A candidate, its answers on fresh draws, and its gap on them."""

    place: int
    seen: AnswerDifference
    gap: Mean
    # Which side is higher: 1 for the original.
    sign: float
    # Standard deviation of single draws.
    spread: float


def search(draws: Draws, budget: int, seed: int) -> list[Tested]:
    """Search with half of a budget of draws, and test the candidates on the other half."""
    order = list(range(len(draws.pairs)))
    random.Random(seed).shuffle(order)
    best = look(draws.draw, draws.lead, order, budget // 2, draws.least)
    tests = budget - budget // 2
    chosen = best[: candidates_of(tests)]
    found = []
    for i in chosen:
        # The side of a difference of scores is known from the search.
        sign = -1.0 if draws.signed and draws.rows(draws.found[i])[1] < 0.0 else 1.0
        for seen in draws.client.ask([draws.pairs[i]], tests // len(chosen), f"proof {i}"):
            rows = sign * draws.rows(seen)[0]
            if len(rows) > draws.least:
                found.append(Tested(i, seen, gap_of(rows), sign, float(rows.std(ddof=1))))
    return found


def gap_of(rows: Floats) -> Mean:
    """Return the mean gap; pseudo-values may leave its range, which single draws do not."""
    wide = max(1.0, float(np.abs(rows).max()))
    return Mean.of_values(rows, bounds=(-wide, wide), reach=(-1.0, 1.0))


def lower_end(client: BudgetedClient, seen: AnswerDifference, alpha: float) -> float:
    """Return the lower end of a gap whose side is not known before."""
    draws = Draws(client, client.measure, ())
    rows = draws.rows(seen)[0]
    if len(rows) <= draws.least:
        return -math.inf
    if not draws.signed:
        return gap_of(rows).lower_bound(alpha)
    return max(gap_of(sign * rows).lower_bound(alpha / 2) for sign in (-1.0, 1.0))


def leading(search: Search, pairs: Sequence[Pair], seed: int) -> Pair | None:
    """Return the pair that leads after a third of the budget; a sixth is left to shorten it."""
    client = search.client
    draws = Draws(client, client.measure, pairs)
    order = random.Random(seed).sample(range(len(pairs)), len(pairs))
    client.only_asks = True
    ranked = look(draws.draw, draws.lead, order, client.max_calls // 6, draws.least)
    client.only_asks = False
    search.tried = len(ranked)
    if not ranked or draws.lead(ranked[0]) == -math.inf:
        search.reason = f"none of the {search.tried} pairs asked was answered on both sides"
        return None
    search.steady = all(one.steady for one in draws.found.values())
    best = client.joined(draws.found[ranked[0]], AnswerDifference((), ()))
    pair = pairs[ranked[0]]
    search.seen[pair] = search.steady or best.proven(search.threshold, search.alpha)
    return pair


@dataclass(eq=False, kw_only=True)
class Searched(Estimate):
    """Largest gap of the candidates of a search; pairs that were not tested may have any."""

    candidates: tuple[Mean, ...]
    method = "candidates on fresh draws, each at its share of the error rate"

    def lower_bound(self, alpha: float) -> float:
        """Lower end of the candidate that is proven best."""
        return max(part.lower_bound(alpha / len(self.candidates)) for part in self.candidates)

    def upper_bound(self, alpha: float) -> float:
        """Return the largest gap there can be: no search excludes it."""
        return self.attainable[1]

    def _p_above(self, x: float) -> float:
        return min(1.0, len(self.candidates) * min(part.p_exceeds(x) for part in self.candidates))

    def _p_below(self, x: float) -> float:
        return 1.0

    def standard_error(self, at: float | None = None) -> float:
        """Return NaN: the search has no error of its own."""
        return math.nan

    def fair_passes(
        self, allowed: tuple[float, float], fair: float, alpha: float
    ) -> Callable[[float], float]:
        """Return NaN: a search never passes."""
        return lambda times: math.nan


def could_find(
    pairs: int, budget: int, spread: float, bound: float, alpha: float, least: int
) -> float | None:
    """Return the smallest gap of one pair that 80 % of simulated searches find, if any."""
    generator = np.random.default_rng(0)
    tests = budget - budget // 2
    k = min(candidates_of(tests), pairs)
    n = tests // k
    if n < 2:
        return None
    error = spread / math.sqrt(n)
    proof = float(-stdtrit(n - 1, alpha / k)) * error
    # Draws that are all alike exclude a rare other one only as far as their number does.
    alike = (alpha / k) ** (1.0 / n)

    def enough(step: int) -> bool:
        gap = step * _STEP
        if gap * alike - (1.0 - alike) <= bound:
            return False
        hits = sum(
            _is_found(generator, pairs, budget // 2, spread, gap, k, least)
            and gap + error * generator.standard_normal() - proof > bound
            for _ in range(_RUNS)
        )
        return hits >= SURE * _RUNS

    step = first(enough, math.floor(bound / _STEP) + 1, round(1.0 / _STEP))
    return None if step is None else step * _STEP


def _is_found(
    generator: np.random.Generator,
    pairs: int,
    budget: int,
    spread: float,
    gap: float,
    k: int,
    least: int,
) -> bool:
    """Whether one simulated search puts the planted pair among its candidates."""
    sums, counts = [0.0] * pairs, [0] * pairs
    planted = int(generator.integers(pairs))

    def draw(which: list[int], n: int) -> None:
        noise = generator.standard_normal(len(which)) * spread * math.sqrt(n)
        for i, each in zip(which, noise.tolist(), strict=True):
            sums[i] += each + (n * gap if i == planted else 0.0)
            counts[i] += n

    def lead(i: int) -> float:
        return abs(sums[i]) / (counts[i] + 1)

    return planted in look(draw, lead, range(pairs), budget, least)[:k]
