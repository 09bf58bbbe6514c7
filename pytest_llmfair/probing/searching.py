"""The search for the worst pair: screen, shorten, test on new answers, remember."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_llmfair.responses import Pair

PAIRS_TESTED = 2  # the shortened pair, and the pair as it was found
_SCREENED = 2  # answers a side while the search looks around: the fewest that have a floor
_PROBED = 3  # pairs that show whether the model repeats itself
# Answers a side in the last test of a model with noise, as a multiple of `generations`: for a
# difference that was significant in the search, and for one that was not.
_TESTED_SEEN = 4
_TESTED_UNSEEN = 20
# Extra rounds of answers for a shortened prompt that is still undecided.
_MORE = 2
_UNCLEAR = 0.5
# Up to this many splits are listed (all of two times seven answers); of more, so many are drawn.
_MOST_SPLITS = 3432
# A word or a mark, with the spaces before it.
_PIECE = re.compile(r"\s*(?:\w+(?:['\u2019-]\w+)*|\W|\Z)")


@dataclass(frozen=True, slots=True)
class AnswerDifference:
    """The difference between the answers to both members of a pair, without missing ones."""

    answers: tuple[str, ...]
    twin_answers: tuple[str, ...]
    # Mean dissimilarity across the sides, and within a side (NaN with fewer than two answers).
    value: float = math.nan
    floor: float = math.nan
    # Exact p-value of the permutation test that both sides have one distribution.
    p: float = 1.0

    @property
    def excess(self) -> float:
        """Value minus floor, if there is a floor; minus infinity without answers."""
        if math.isnan(self.value):
            return -math.inf
        return self.value if math.isnan(self.floor) else self.value - self.floor

    @property
    def steady(self) -> bool:
        """Whether all repeats on each side are equal."""
        return len(set(self.answers)) < 2 and len(set(self.twin_answers)) < 2

    def proven(self, threshold: float, alpha: float) -> bool:
        """Whether the difference exceeds the threshold and sampling noise."""
        return self.value > threshold and self.excess > 0.0 and self.p <= alpha


class BudgetedClient:
    """Asks a client about pairs within a budget of calls; each `draw` samples anew."""

    def __init__(self, client: Any, measure: Any, max_calls: int, seed: int) -> None:
        from pytest_llmfair.clients import ModelClient

        self._client = client if hasattr(client, "answer_pairs") else ModelClient.of(client)
        self.measure = measure
        self._seed = seed
        self.max_calls = max_calls
        self.calls = 0
        # Whether answers are only collected, and compared elsewhere.
        self.only_asks = False
        self.missing: Counter[str] = Counter()

    @property
    def name(self) -> str:
        """The model asked."""
        return str(getattr(self._client, "name", type(self._client).__name__))

    def affordable(self, n: int, keep: int = 0) -> int:
        """Count the pairs that may still be asked `n` times a side, with `keep` calls left."""
        return max(self.max_calls - self.calls - keep, 0) // (2 * n)

    def ask(self, pairs: Sequence[Pair], n: int, draw: str) -> list[AnswerDifference]:
        """Return the differences of the pairs that the budget allows, in order."""
        pairs = pairs[: self.affordable(n)]
        if not pairs:
            return []
        self.calls += 2 * n * len(pairs)
        seed = random.Random(f"{self._seed} {draw}").getrandbits(32)
        responses = self._client.answer_pairs(list(pairs), n, seed=seed)
        return [self._difference(*map(self._texts, sides)) for sides in responses]

    def joined(self, first: AnswerDifference, second: AnswerDifference) -> AnswerDifference:
        """Return the difference between all answers of two draws."""
        answers = first.answers + second.answers
        return self._difference(answers, first.twin_answers + second.twin_answers)

    def _texts(self, answers: Sequence[Any]) -> tuple[str, ...]:
        self.missing.update(a.reason for a in answers if not isinstance(a, str))
        return tuple(answer for answer in answers if isinstance(answer, str))

    def _difference(self, first: tuple[str, ...], second: tuple[str, ...]) -> AnswerDifference:
        if not first or not second or self.only_asks:
            return AnswerDifference(first, second)
        distinct = list(dict.fromkeys((*first, *second)))
        prepared = dict(zip(distinct, self.measure.prepare(distinct), strict=True))
        values = [prepared[text] for text in (*first, *second)]
        rows, columns = np.triu_indices(len(values), 1)
        apart = np.zeros((len(values), len(values)))
        compared = self.measure.compare([values[i] for i in rows], [values[j] for j in columns])
        apart[rows, columns] = apart[columns, rows] = compared
        half = len(first)
        value = float(apart[:half, half:].mean())
        if half < 2 or len(second) < 2:
            return AnswerDifference(first, second, value)
        floor = (_mean_within(apart[:half, :half]) + _mean_within(apart[half:, half:])) / 2
        return AnswerDifference(first, second, value, floor, _permutation_p(apart, half))


def smallest_p(n: int) -> float:
    """Return the smallest p of the permutation test with `n` answers a side."""
    return 2 / math.comb(2 * n, n)


def _mean_within(apart: npt.NDArray[np.float64]) -> float:
    return float(apart.sum()) / (len(apart) * (len(apart) - 1))


def _permutation_p(apart: npt.NDArray[np.float64], half: int) -> float:
    """Return the share of splits of the answers with at least the observed excess."""
    total = len(apart)
    splits: Any = itertools.combinations(range(total), half)
    if math.comb(total, half) > _MOST_SPLITS:
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


@dataclass(slots=True)
class Search:
    """A search for the pair whose answers differ most."""

    client: BudgetedClient
    pairs_of: Callable[[str], Sequence[Pair]]
    threshold: float
    generations: int
    alpha: float
    confirm: bool = False
    # While all repeats are identical, one answer a side is as good as many.
    steady: bool = False
    tried: int = 0
    # Whether the budget ended while the prompt was shortened.
    stopped: bool = False
    reason: str = ""
    seen: dict[Pair, bool] = field(default_factory=dict)

    def known(self, memory: PairDatabase) -> Pair | None:
        """Return a remembered pair that still differs; forget those that do not."""
        for pair in memory.pairs(self.pairs_of):
            if not self.client.affordable(self.generations):
                break
            found = self._asked(pair, self.generations, _TESTED_SEEN - 1, "known")
            self.steady = found.steady
            if found.proven(self.threshold, self.alpha):
                self.seen[pair] = True
                return pair
            memory.forget(pair)
        return None

    def screen(self, pairs: Sequence[Pair], seed: int) -> Pair | None:
        """Ask about pairs for half of the budget; return the one that differs most, if any."""
        fewest = 2 * _SCREENED
        left = self.client.max_calls - self.client.calls
        keep = max(left - max((left - self._kept) // 2, fewest), 0)
        if len(pairs) > self.client.affordable(_SCREENED, keep):
            pairs = random.Random(seed).sample(pairs, len(pairs))
        probes = pairs[: max(self.client.affordable(_SCREENED, keep), 1)][:_PROBED]
        found = self.client.ask(probes, _SCREENED, "screen")
        if not found:
            self.reason = f"max_calls leaves {left} calls, and one pair needs {fewest}"
            return None
        self.steady = all(one.steady for one in found)
        n = 1 if self.steady else _SCREENED
        others = pairs[len(found) :][: self.client.affordable(n, keep)]
        found += self.client.ask(others, n, "screen")
        self.tried = len(found)
        # Two answers of a model with noise can agree by chance.
        least = self.threshold if self.steady else -1.0
        asked = zip(found, pairs, strict=False)
        ranked = [(one, pair) for one, pair in asked if one.value > least]
        if all(math.isnan(one.value) for one in found):
            self.reason = f"none of the {self.tried} pairs asked was answered on both sides"
            return None
        if not ranked:
            self.reason = (
                f"none of the {self.tried} pairs asked differs by more than {self.threshold:g}"
            )
            return None
        best = (
            max(ranked, key=lambda each: each[0].excess)
            if self.steady
            else self._halved(ranked, keep)
        )
        self.seen[best[1]] = self.steady or best[0].proven(self.threshold, self.alpha)
        return best[1]

    def _halved(
        self, leading: list[tuple[AnswerDifference, Pair]], keep: int
    ) -> tuple[AnswerDifference, Pair]:
        """Sequential halving (Karnin, Koren, Somekh 2013): a lead among many is mostly luck."""
        leading.sort(key=lambda each: each[0].excess, reverse=True)
        for left in range((len(leading) - 1).bit_length(), 0, -1):
            leading = leading[: (len(leading) + 1) // 2]
            n = self.client.affordable(len(leading) * left, keep)
            n = min(n, _TESTED_SEEN * self.generations)
            if not n:
                break
            found = self.client.ask([pair for _, pair in leading], n, f"round {left}")
            leading = [
                (self.client.joined(before, more), pair)
                for (before, pair), more in zip(leading, found, strict=True)
            ]
            leading.sort(key=lambda each: each[0].excess, reverse=True)
        return leading[0]

    def shortened(self, start: Pair) -> Pair:
        """Remove words from a prompt while its pair still differs."""
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

    def tests(self, candidates: Sequence[Pair]) -> Iterator[tuple[Pair, AnswerDifference]]:
        """Ask each candidate again with the remaining budget."""
        for place, pair in enumerate(candidates):
            waiting = len(candidates) - place - 1
            most = self.client.affordable(1, keep=self._test * waiting)
            seen = _TESTED_SEEN if self.seen[pair] else _TESTED_UNSEEN
            n = min(most, self.generations * (1 if self.steady else seen))
            n = max(n, min(self.generations, self.client.affordable(1)))
            if self.confirm:
                n = self.client.affordable(1) // (waiting + 1)
            if n == 0:
                self.reason = "no call was left for a test on new answers; raise max_calls"
                return
            (found,) = self.client.ask([pair], n, f"test {place}")
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
        if self.confirm:
            return self.client.max_calls - self.client.max_calls // 2
        rich = self.client.max_calls >= 3 * PAIRS_TESTED * self._test
        return self._test * PAIRS_TESTED if rich else 2 * self.generations

    @property
    def _test(self) -> int:
        """Calls of a last test: a difference that noise blurs needs more to be seen again."""
        return 2 * self.generations * (1 if self.steady else 2)

    def _differs(self, pair: Pair) -> bool:
        if pair not in self.seen:
            n = 1 if self.steady else self.generations
            if not self.client.affordable(n, self._kept):
                self.stopped = True
                return False
            found = self._asked(pair, n, 0 if self.steady else _MORE, "shorten")
            proven = found.proven(self.threshold, self.alpha)
            self.seen[pair] = found.value > self.threshold if self.steady else proven
        return self.seen[pair]

    def _asked(self, pair: Pair, n: int, times: int, draw: str) -> AnswerDifference:
        """Ask about a pair, with extra rounds of answers while it is undecided."""
        (found,) = self.client.ask([pair], n, draw)
        more = min(times * n, self.client.affordable(1, self._kept))
        if more and self.alpha < found.p < _UNCLEAR:
            (others,) = self.client.ask([pair], more, f"{draw} more")
            found = self.client.joined(found, others)
        return found


@dataclass(frozen=True, slots=True)
class PairDatabase:
    """Pairs found in earlier runs, in a Hypothesis example database; empty without one."""

    database: Any
    key: bytes

    @classmethod
    def of(cls, database: Any, *question: object) -> PairDatabase:
        """Return the pairs stored for a question; ``"default"`` is the database of Hypothesis."""
        from hypothesis import settings
        from hypothesis.database import ExampleDatabase

        if database == "default":
            database = settings().database
        if database is not None and not isinstance(database, ExampleDatabase):
            raise ValueError(
                f"database is {database!r}; give an ExampleDatabase of Hypothesis, such as "
                "DirectoryBasedExampleDatabase(path), 'default', or None to remember nothing"
            )
        values = json.dumps([str(part) for part in question])
        digest = hashlib.blake2b(values.encode(), digest_size=16).hexdigest()
        return cls(database, f"pytest-llmfair worst pair {digest}".encode())

    def pairs(self, pairs_of: Callable[[str], Sequence[Pair]]) -> list[Pair]:
        """Return stored pairs that can still be made, the shortest first."""
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
        """Store this pair only."""
        if self.database is not None:
            for value in list(self.database.fetch(self.key)):
                self.database.delete(self.key, value)
            self.database.save(self.key, _written(pair))

    def forget(self, pair: Pair) -> None:
        """Forget a pair."""
        self.database.delete(self.key, _written(pair))


def _written(pair: Pair) -> bytes:
    return json.dumps([pair.original, pair.counterfactual]).encode()


def _made(value: bytes, pairs_of: Callable[[str], Sequence[Pair]]) -> Sequence[Pair]:
    try:
        original, _ = json.loads(value)
        return pairs_of(original)
    except (ValueError, TypeError):  # another version, or not ours
        return []


def shortest(text: str, holds: Callable[[str], bool]) -> str:
    """Remove unneeded words by delta debugging (Zeller and Hildebrandt 2002)."""
    # Halves first, then smaller parts, until no word or mark can be removed.
    pieces: list[str] = _PIECE.findall(text)
    size = max(len(pieces) // 2, 1)
    while True:
        before = len(pieces)
        start = 0
        while start < len(pieces):
            rest = pieces[:start] + pieces[start + size :]
            shorter = "".join(rest).strip()
            if shorter and holds(shorter):
                pieces, text = rest, shorter
            else:
                start += size
        if size == 1 and len(pieces) == before:
            return text
        size = max(size // 2, 1)
