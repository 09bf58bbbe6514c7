"""The search behind `find_worst_pair`: look around, shorten, test on new answers, remember."""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_llmfair.counterfactuals._searching.differences import Asker, Difference
from pytest_llmfair.counterfactuals._searching.shrinking import shortest
from pytest_llmfair.counterfactuals.pairs import Pair

PAIRS_TESTED = 2  # the shortened pair, and the pair as it was found
_SCREENED = 2  # answers a side while the search looks around: the fewest that have a floor
_PROBED = 3  # pairs that tell whether the model repeats itself
# Times `generations` answers a side in the last test of a model with noise: of a difference that
# showed before, and of one that did not.
_TESTED_SEEN = 4
_TESTED_UNSEEN = 20
# A shorter prompt whose answers leave it open is asked so many times more.
_MORE = 2
_UNCLEAR = 0.5


@dataclass(slots=True)
class Search:
    """A search for the pair whose answers differ most.

    A difference must be above `threshold` at the level `alpha`, with `generations` answers a
    side. `steady` is whether all repeats so far were identical: one answer a side then shows as
    much as many. `tried` counts the pairs asked while looking around, `stopped` tells whether the
    budget ended while the prompt was shortened, and `reason` why nothing was found.
    """

    asker: Asker
    pairs_of: Callable[[str], Sequence[Pair]]
    threshold: float
    generations: int
    alpha: float
    steady: bool = False
    tried: int = 0
    stopped: bool = False
    reason: str = ""
    _seen: dict[Pair, bool] = field(default_factory=dict)

    def known(self, memory: Memory) -> Pair | None:
        """Return a remembered pair that still differs; forget those that do not."""
        for pair in memory.pairs(self.pairs_of):
            if not self.asker.affordable(self.generations):
                break
            found = self._asked(pair, self.generations, _TESTED_SEEN - 1, "known")
            self.steady = found.steady
            if found.proven(self.threshold, self.alpha):
                self._seen[pair] = True
                return pair
            memory.forget(pair)
        return None

    def widely(self, pairs: Sequence[Pair], seed: int) -> Pair | None:
        """Ask about pairs for half of the budget; return the one that differs most, if any."""
        fewest = 2 * _SCREENED
        left = self.asker.max_calls - self.asker.calls
        keep = max(left - max((left - self._kept) // 2, fewest), 0)
        if len(pairs) > self.asker.affordable(_SCREENED, keep):
            pairs = random.Random(seed).sample(pairs, len(pairs))
        probes = pairs[: max(self.asker.affordable(_SCREENED, keep), 1)][:_PROBED]
        found = self.asker.ask(probes, _SCREENED, "screen")
        if not found:
            self.reason = (
                f"max_calls leaves {left} calls, and one pair needs {fewest} (twice a side)"
            )
            return None
        self.steady = all(one.steady for one in found)
        n = 1 if self.steady else _SCREENED
        others = pairs[len(found) :][: self.asker.affordable(n, keep)]
        found += self.asker.ask(others, n, "screen")
        self.tried = len(found)
        ranked = [
            (one, pair)
            for one, pair in zip(found, pairs, strict=False)
            # Two answers of a model with noise can agree by chance.
            if one.value > (self.threshold if self.steady else -1.0)
        ]
        if all(math.isnan(one.value) for one in found):
            self.reason = f"none of the {self.tried} pairs asked was answered on both sides"
            return None
        if not ranked:
            self.reason = (
                f"none of the {self.tried} pairs asked differs by more than {self.threshold:g}"
            )
            return None
        best = max(ranked, key=_excess) if self.steady else self._halved(ranked, keep)
        self._seen[best[1]] = self.steady or best[0].proven(self.threshold, self.alpha)
        return best[1]

    def _halved(
        self, leading: list[tuple[Difference, Pair]], keep: int
    ) -> tuple[Difference, Pair]:
        """Ask the better half again and again: a lead among many is mostly luck.

        Sequential halving (Karnin, Koren and Somekh 2013).
        """
        leading.sort(key=_excess, reverse=True)
        for left in range((len(leading) - 1).bit_length(), 0, -1):
            leading = leading[: (len(leading) + 1) // 2]
            n = self.asker.affordable(len(leading) * left, keep)
            n = min(n, _TESTED_SEEN * self.generations)
            if not n:
                break
            found = self.asker.ask([pair for _, pair in leading], n, f"round {left}")
            leading = [
                (self.asker.joined(before, more), pair)
                for (before, pair), more in zip(leading, found, strict=True)
            ]
            leading.sort(key=_excess, reverse=True)
        return leading[0]

    def shortened(self, start: Pair) -> Pair:
        """Leave words out of a prompt while its pair still differs."""
        kept = start
        sides = {start.from_group, start.to_group}

        def holds(text: str) -> bool:
            nonlocal kept
            for pair in self.pairs_of(text):
                if {pair.from_group, pair.to_group} == sides and self._differs(pair):
                    kept = pair
                    return True
            return False

        if self._differs(start):
            shortest(start.original, holds)
        else:
            self.stopped = True
        return kept

    def tests(self, candidates: Sequence[Pair]) -> Iterator[tuple[Pair, Difference]]:
        """Ask each candidate anew, with what the budget has left for it."""
        for place, pair in enumerate(candidates):
            waiting = len(candidates) - place - 1
            most = self.asker.affordable(1, keep=self._test * waiting)
            seen = _TESTED_SEEN if self._seen[pair] else _TESTED_UNSEEN
            n = min(most, self.generations * (1 if self.steady else seen))
            n = max(n, min(self.generations, self.asker.affordable(1)))
            if n == 0:
                self.reason = "no call was left for a test on new answers; raise max_calls"
                return
            (found,) = self.asker.ask([pair], n, f"test {place}")
            yield pair, found
            which = f"of the {self.tried} asked" if self.tried else "known from an earlier run"
            repeats = "" if math.isnan(found.floor) else f", repeats by {found.floor:.2f}"
            self.reason = (
                f"the most different pair {which} differs on new answers by {found.value:.2f}"
                f"{repeats} (p = {found.p:.2g} with {n} answers a side; {self.alpha:.2g} is "
                "needed)"
            )

    @property
    def _kept(self) -> int:
        """Calls that stay untouched for the last tests."""
        rich = self.asker.max_calls >= 3 * PAIRS_TESTED * self._test
        return self._test * PAIRS_TESTED if rich else 2 * self.generations

    @property
    def _test(self) -> int:
        """Calls of a last test: a difference that noise blurs needs more to be seen again."""
        return 2 * self.generations * (1 if self.steady else 2)

    def _differs(self, pair: Pair) -> bool:
        if pair not in self._seen:
            n = 1 if self.steady else self.generations
            if not self.asker.affordable(n, self._kept):
                self.stopped = True
                return False
            found = self._asked(pair, n, 0 if self.steady else _MORE, "shorten")
            self._seen[pair] = (
                found.value > self.threshold
                if self.steady
                else found.proven(self.threshold, self.alpha)
            )
        return self._seen[pair]

    def _asked(self, pair: Pair, n: int, times: int, draw: str) -> Difference:
        """Ask about a pair, and where the answers leave it open, so many times more."""
        (found,) = self.asker.ask([pair], n, draw)
        more = min(times * n, self.asker.affordable(1, self._kept))
        if more and self.alpha < found.p < _UNCLEAR:
            (others,) = self.asker.ask([pair], more, f"{draw} more")
            found = self.asker.joined(found, others)
        return found


@dataclass(frozen=True, slots=True)
class Memory:
    """Pairs found in earlier runs, in an example database of Hypothesis; without one nothing."""

    database: Any
    key: bytes

    @classmethod
    def of(cls, database: Any, *question: object) -> Memory:
        """Return the memory of a question; ``"default"`` is the database of Hypothesis.

        Raises
        ------
        ValueError
            If it is no database.
        """
        from hypothesis import settings
        from hypothesis.database import ExampleDatabase

        if database == "default":
            database = settings().database
        if database is not None and not isinstance(database, ExampleDatabase):
            raise ValueError(
                f"database is {database!r}; give an ExampleDatabase of Hypothesis, such as "
                "DirectoryBasedExampleDatabase(path), 'default', or None to remember nothing"
            )
        said = json.dumps([str(part) for part in question])
        digest = hashlib.blake2b(said.encode(), digest_size=16).hexdigest()
        return cls(database, f"pytest-llmfair worst pair {digest}".encode())

    def pairs(self, pairs_of: Callable[[str], Sequence[Pair]]) -> list[Pair]:
        """Return what is remembered and still makes the same pair, the shortest first."""
        if self.database is None:
            return []
        found = []
        for value in sorted(self.database.fetch(self.key), key=lambda value: (len(value), value)):
            made = [pair for pair in _made(value, pairs_of) if _written(pair) == value]
            if not made:
                self.database.delete(self.key, value)
            found += made[:1]
        return found

    def keep(self, pair: Pair) -> None:
        """Remember a pair, and only this."""
        if self.database is not None:
            for value in list(self.database.fetch(self.key)):
                self.database.delete(self.key, value)
            self.database.save(self.key, _written(pair))

    def forget(self, pair: Pair) -> None:
        """Forget a pair."""
        self.database.delete(self.key, _written(pair))


def _excess(item: tuple[Difference, Pair]) -> float:
    return item[0].excess


def _written(pair: Pair) -> bytes:
    return json.dumps([pair.original, pair.counterfactual]).encode()


def _made(value: bytes, pairs_of: Callable[[str], Sequence[Pair]]) -> Sequence[Pair]:
    try:
        original, _ = json.loads(value)
        return pairs_of(original)
    except (ValueError, TypeError):  # another version, or not ours
        return []
