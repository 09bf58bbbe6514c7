"""Time and peak memory of every metric over texts, as responses grow.

    python benchmarks/scaling.py [--only WORD ...] [--sizes 1000 10000 100000]

Metrics are those of the registry that take texts, and FairPair; each reads new responses of 120
words. Time is the best of some runs, memory the peak that Python allocates in one more
(tracemalloc, above what the responses take). Growth is the exponent g of n^g between the two
largest sizes; that of n log n is printed next to it. Exits non-zero when time or memory grows
faster than n log n by more than 0.35. Takes five minutes; use one core (OMP_NUM_THREADS=1).
"""

from __future__ import annotations

import argparse
import gc
import importlib
import math
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Files beside this one are named like modules of the standard library: look elsewhere first.
_HERE = Path(__file__).resolve().parent
sys.path[:] = [*(p for p in sys.path if Path(p or ".").resolve() != _HERE), str(_HERE)]
np = importlib.import_module("numpy")

SIZES = (1_000, 10_000, 100_000)
WORDS = 120
# Data that outgrow a cache cost the cheapest 0.25 more between two sizes, a loop in a loop 0.9.
MARGIN = 0.35
_KINDS = 3000
_TARGETS = range(100, 140)
_ANSWERS = 10
_RUNS, _SECONDS = 7, 3.0

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Texts:
    """Pairs of responses from a Zipf vocabulary, the second an edited copy of the first."""

    vocabulary: list[str]
    pairs: list[tuple[str, str]]

    def pairs_of(self, n: int) -> Arguments:
        """Return `n` responses as pairs."""
        a, b = zip(*self.pairs[: n // 2], strict=True)
        return {"texts_a": list(a), "texts_b": list(b)}

    def responses_of(self, n: int) -> Arguments:
        """Return `n` responses, words of two groups and 40 targets."""
        words = self.vocabulary
        return {
            "responses": [text for pair in self.pairs[: n // 2] for text in pair],
            "group_words": {"first": words[20:40:2], "second": words[21:41:2]},
            "target_words": [words[i] for i in _TARGETS],
        }

    def continuations_of(self, n: int) -> Arguments:
        """Return `n` responses as ten continuations a side to each prompt."""
        rows = [
            list(zip(*self.pairs[i : i + _ANSWERS], strict=True))
            for i in range(0, n // 2, _ANSWERS)
        ]
        return {
            "perturbed_continuations": [list(a) for a, _ in rows],
            "continuations_of_perturbed": [list(b) for _, b in rows],
        }


def make_texts(pairs: int) -> Texts:
    """Draw responses of 120 words, the same ones in every run."""
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucm"))
    vocabulary = [f"{''.join(rng.choice(letters, rng.integers(1, 9)))}{i}" for i in range(_KINDS)]
    words = np.array(vocabulary, dtype=object)
    share = 1.0 / np.arange(2, _KINDS + 2)
    bounds = np.cumsum(share / share.sum())

    def draw(n: int) -> Any:
        return np.minimum(np.searchsorted(bounds, rng.random((n, WORDS))), _KINDS - 1)

    def text(places: Any) -> str:
        some = words[places].tolist()
        return f"{' '.join(some[:60])}. {' '.join(some[60:])}."

    found = []
    for start in range(0, pairs, 1000):
        first, other = draw(min(1000, pairs - start)), draw(min(1000, pairs - start))
        second = np.where(rng.random(first.shape) < 0.8, first, other)
        found += [(text(a), text(b)) for a, b in zip(first, second, strict=True)]
    return Texts(vocabulary, found)


def table(texts: Texts) -> Iterator[tuple[str, Callable[..., Any], Callable[[int], Arguments]]]:
    """Yield every metric over texts, with what makes its arguments of `n` responses."""
    from pytest_llmfair.metrics import all_metrics

    by_need = {"text_pairs": texts.pairs_of, "texts": texts.responses_of}
    by_name = {"fairpair": texts.continuations_of}
    for name, info in all_metrics().items():
        make = by_name.get(name) or by_need.get(info.needs)
        if make is not None:
            yield name, info.function, make


def measure(function: Callable[..., Any], given: Arguments) -> tuple[float, float]:
    """Return seconds, the best of two or more runs, and the peak of one more in MB."""
    from pytest_llmfair.text.vocabulary import VOCABULARY

    times: list[float] = []
    while len(times) < 2 or (len(times) < _RUNS and sum(times) < _SECONDS):
        VOCABULARY.forget()
        gc.collect()
        start = time.perf_counter()
        function(**given)
        times.append(time.perf_counter() - start)
    VOCABULARY.forget()
    gc.collect()
    tracemalloc.start()
    function(**given)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return min(times), peak / 1e6


def growth(small: float, large: float, sizes: Sequence[int]) -> float:
    """Exponent g of n^g between two measurements."""
    return math.log(large / small) / math.log(sizes[-1] / sizes[-2])


def main() -> int:
    """Measure every metric and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="+", default=[], help="words; metrics that have one")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="responses, rising")
    options = parser.parse_args()
    sizes = options.sizes
    if len(sizes) < 2 or sorted(set(sizes)) != list(sizes) or sizes[0] < 2 * _ANSWERS:
        parser.error(f"give two or more rising sizes of at least {2 * _ANSWERS}")
    texts = make_texts(sizes[-1] // 2)
    expected = growth(*(n * math.log(n) for n in sizes[-2:]), sizes)
    print(f"n log n grows as n^{expected:.2f} here; limit n^{expected + MARGIN:.2f}")
    kept = True
    for name, function, make in table(texts):
        if options.only and not any(word in name for word in options.only):
            continue
        function(**make(sizes[0]))  # the import of a kernel is no part of it
        found = [measure(function, make(n)) for n in sizes]
        exponents = [growth(small, large, sizes) for small, large in zip(*found[-2:], strict=True)]
        ok = max(exponents) <= expected + MARGIN
        kept = kept and ok
        said = ", ".join(
            f"{n:,}: {seconds:.3g} s {peak:.3g} MB"
            for n, (seconds, peak) in zip(sizes, found, strict=True)
        )
        print(
            f"{'ok  ' if ok else 'GROWS'} {name}: {said}; "
            f"time n^{exponents[0]:.2f}, memory n^{exponents[1]:.2f}",
            flush=True,
        )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
