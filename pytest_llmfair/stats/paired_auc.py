"""How often a reader guesses right which side of a pair an answer is from."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._reader import PairedRows, Reading, error_between, read, smallest_found
from pytest_llmfair.stats._records import Sample
from pytest_llmfair.stats._rows import few_units
from pytest_llmfair.stats._score_intervals import t_quantile

CHANCE = 0.5
_MOST_TELLING = 5  # words


@dataclass(eq=False, kw_only=True)
class PairedAUC(Estimate):
    """Share of pairs of answers that a cross-fitted reader orders rightly (AUC), 0.5 by chance.

    A classifier two-sample test for pairs (Lopez-Paz and Oquab 2017; Kim, Ramdas, Singh and
    Wasserman 2021). The interval is that of t over units, with the larger of two standard errors:
    between units, and of the value when sides of units are exchanged at random. The share of
    exchanges that reach the value is an exact p-value at 0.5, and no lower end is above 0.5
    unless it is small enough.
    """

    # Shares by pair, and the mean share after each exchange.
    reading: Reading
    # The larger standard error.
    error: float
    # The mean share as it is; the value is never below 0.5.
    guessed: float
    # The features that were read, and the weight of one more word among them.
    pairs: PairedRows
    divisor: float
    # What the first columns of the features are.
    names: Sequence[str]
    method: str = "t over units, cross-fitted, and sign flips at 0.5"

    @classmethod
    def of_answers(
        cls,
        blocks: Sequence[ArrayLike],
        first: ArrayLike,
        second: ArrayLike,
        *,
        units: Iterable[Hashable] | None = None,
        names: Sequence[str] = (),
    ) -> PairedAUC:
        """Read features of answers.

        Each of `blocks` has a row per distinct answer: first presence of words (0 or 1), which are
        `names`, then any others; all weigh the same. `first` and `second` have a row per pair: the
        rows of the answers to either prompt, -1 where a pair has fewer. At least two `units`.

        Examples
        --------
        >>> words = np.eye(2)
        >>> harsh, kind = np.zeros((20, 1), int), np.ones((20, 1), int)
        >>> PairedAUC.of_answers([words], harsh, kind).value
        1.0
        """
        sides = [np.asarray(side, dtype=np.intp) for side in (first, second)]
        index, count = clusters.cluster_index(units, len(sides[0]))
        if count < 2:
            raise ValueError("units has one label; a reader needs two units or more")
        bare = PairedRows(np.empty((0, 0)), sides[0], sides[1], index)
        tables = [np.asarray(block) for block in blocks]
        pairs, divisor = bare.scaled([(table, not i) for i, table in enumerate(tables)])
        reading = read(pairs)
        guessed = clusters.exact_mean(reading.right)
        answers = [(side >= 0).sum(axis=1) for side in sides]
        return cls(
            value=max(guessed, CHANCE),
            sample=Sample.of_sizes(np.bincount(index, np.minimum(*answers)).astype(np.intp)),
            attainable=(CHANCE, 1.0),
            rows=reading.right.tolist(),
            findings=tuple(few_units(count)),
            reading=reading,
            error=max(error_between(reading.right, index), float(reading.flips.std())),
            guessed=guessed,
            pairs=pairs,
            divisor=divisor,
            names=names,
        )

    @property
    def p_by_exchange(self) -> float:
        """Exact p-value of "the reader guesses better than by chance"."""
        flips = self.reading.flips
        reached = len(flips) - int(np.searchsorted(flips, self.guessed - 1e-9))
        return (1 + reached) / (1 + len(flips))

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`, never below 0.5."""
        if self.p_by_exchange > max(alpha, 1.0 / (1 + len(self.reading.flips))):
            return CHANCE
        unseen = 1.0 - math.pow(alpha, 1.0 / self.sample.units)
        end = min(self.guessed - self._reach(alpha), self.guessed * (1.0 - unseen))
        return max(CHANCE, end)

    def p_exceeds(self, x: float) -> float:
        """As :meth:`Estimate.p_exceeds`; at chance, below which no value lies, by exchange."""
        if x > CHANCE:
            return super().p_exceeds(x)
        return max(self.p_by_exchange, self._p_above(CHANCE))

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        # A unit so rare that the sample may hold none of it could be read without a fault.
        unseen = 1.0 - math.pow(alpha, 1.0 / self.sample.units)
        reach = max(self._reach(alpha), unseen * (1.0 - self.value))
        return min(1.0, self.value + reach)

    def _reach(self, alpha: float) -> float:
        return t_quantile(1.0 - alpha, self.sample.units - 1.0) * self.error

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error; where units do not differ, that of one unit more."""
        return max(self.error, CHANCE / self.sample.units)

    def planted_effect(self, alpha: float) -> float:
        """Return the smallest effect that is found in 80 % of cases where it is planted."""
        known = self.__dict__.setdefault("_planted", {})
        if alpha not in known:
            # The reader orders those answers rightly that are changed, and half of the others.
            least = smallest_found(self.pairs, self.divisor, self.reading.flips, alpha)
            known[alpha] = 0.5 * least
        return float(known[alpha])

    def in_words(self, size: float) -> tuple[str, str]:
        """As :meth:`Estimate.in_words`: the share of changed answers that is read as far off."""
        return f"{200.0 * size:.0f} %", "changed answers"

    def telling(self) -> list[tuple[str, float, float]]:
        """Return the words that tell the sides apart, with their shares of answers by side."""
        words = self.pairs.rows[:, : len(self.names)]
        means = self.pairs.differences(words).mean(axis=0)
        found: list[tuple[str, float, float]] = []
        for column in np.argsort(-np.abs(means), kind="stable").tolist():
            name, said = self.names[column], {word for each, *_ in found for word in each.split()}
            if len(found) == _MOST_TELLING or means[column] == 0.0:
                break
            # A pair of words says no more than the word that it holds.
            if said.isdisjoint(name.split()):
                sides = self.pairs.first, self.pairs.second
                shares = ((words[side[side >= 0], column] > 0).mean() for side in sides)
                found.append((name, *map(float, shares)))
        return found
