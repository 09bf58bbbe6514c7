"""CPU time and peak memory of every registered metric with its 95 % interval, as data grow.

    python benchmarks/scaling.py [--only WORD ...] [--sizes 10000 100000 1000000]

Each metric of the registry is measured on a random table of that many units, each run in a process
of its own: arrays where the metric takes numbers, lists of texts where it takes texts.
Memory is the peak that the process holds beyond these arguments. Exits non-zero when CPU time
grows more than 13 times for ten times the units between the two largest sizes, or the memory at
the largest takes more than 1 kB a unit. Growth is not judged below a microsecond a unit, where it
is that of the processor's caches. Takes an hour for all metrics; use one core
(OMP_NUM_THREADS=1).
"""

from __future__ import annotations

import argparse
import importlib
import math
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

# Files beside this one are named like modules of the standard library: look elsewhere first.
_HERE = Path(__file__).resolve().parent
sys.path[:] = [*(p for p in sys.path if Path(p or ".").resolve() != _HERE), str(_HERE)]
np = importlib.import_module("numpy")

SIZES = (10_000, 100_000, 1_000_000)
# CPU time for ten times the units, and bytes a unit at the largest size.
MOST_GROWTH, MOST_BYTES = 13.0, 1000
# CPU seconds a unit below which growth is not judged.
_NEGLIGIBLE = 1e-6
# Runs are repeated until they took this long. Each has a process of its own: a second run in the
# same process finds small tables in memory that it already holds, and texts that it already split.
_LEAST_SECONDS = 2.0
_GROUPS = tuple("abcdefgh")
_WORDS = [f"word{i}" for i in range(3000)]
_TARGETS = _WORDS[100:105]

Arguments = dict[str, Any]
Make = Callable[[int], Arguments]


def _groups(n: int, many: bool = True) -> Any:
    names = np.array(_GROUPS if many else _GROUPS[:2])
    return names[np.random.default_rng(1).integers(0, len(names), n)]


def _numbers(n: int, *shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).random((n, *shape))


def _texts(n: int, seed: int = 0) -> list[str]:
    """Return texts of 12 words in which common words are common, as in Zipf's law."""
    bounds = np.cumsum(1.0 / np.arange(2, len(_WORDS) + 2))
    places = np.searchsorted(bounds / bounds[-1], _numbers(n, 12, seed=seed))
    return [" ".join([_WORDS[i] for i in row]) for row in places.tolist()]


def scores(n: int) -> Arguments:
    """One score an answer."""
    return {"scores": _numbers(n, 1)}


def score_pairs(n: int) -> Arguments:
    """One score a side."""
    return {f"scores_{side}": _numbers(n, 1, seed=k) for k, side in enumerate("ab")}


def text_pairs(n: int) -> Arguments:
    """One text a side."""
    return {f"texts_{side}": _texts(n, k) for k, side in enumerate("ab")}


def texts(n: int) -> Arguments:
    """One text, words of two groups and five targets."""
    groups = {"first": _WORDS[20:40:2], "second": _WORDS[21:41:2]}
    return {"responses": _texts(n), "group_words": groups, "target_words": _TARGETS}


def prompts(n: int) -> Arguments:
    """Prompts that name no group."""
    return {"prompts": _texts(n)}


def pronoun_counts(n: int) -> Arguments:
    """Occupations with twenty generations each."""
    hits = np.random.default_rng(0).binomial(20, 0.4, n)
    return {"male_counts": hits, "kept_counts": np.full(n, 20)}


def occupations(n: int) -> Arguments:
    """Occupations with the gender of most people who hold them."""
    majority = np.where(_numbers(n, seed=2) < 0.5, "male", "female").tolist()
    return {**pronoun_counts(n), "majority": majority}


def embedding_pairs(n: int) -> Arguments:
    """One vector of sixteen numbers a side."""
    return {f"embeddings_{side}": _numbers(n, 16, seed=k) for k, side in enumerate("ab")}


def lists(n: int) -> Arguments:
    """Three recommended words a side."""
    places = np.random.default_rng(0).integers(0, 5, (2, n, 3)) + 5 * np.arange(3)
    rows = [[[_WORDS[i] for i in row] for row in side] for side in places.tolist()]
    return {"lists_a": rows[0], "lists_b": rows[1]}


def predictions(n: int, many: bool = True, gold: bool = True, probability: bool = False) -> Any:
    """Rows of eight groups (or two) with gold classes and predictions or probabilities."""
    found = {"groups": _groups(n, many)}
    if gold:
        found["y_true"] = (_numbers(n, seed=2) < 0.5).astype(int)
    if probability:
        return found | {"y_prob": _numbers(n)}
    return found | {"y_pred": (_numbers(n) < 0.4).astype(int)}


def counterfactuals(n: int, many: bool = True) -> Arguments:
    """Probabilities of two classes for variations of source examples."""
    names = _GROUPS if many else _GROUPS[:2]
    first = _numbers(n, len(names))
    gold = (_numbers(n, seed=2) < 0.5).astype(int)
    return {"y_true": gold, "y_prob": np.stack([1 - first, first], 2), "groups": list(names)}


def candidates(n: int) -> Arguments:
    """Scores of candidates of eight groups."""
    return {"scores": _numbers(n), "groups": _groups(n), "reference": "b"}


def pools(n: int, qualified: bool = False) -> Arguments:
    """Pools of sixteen candidates, from which four are selected."""
    found = candidates(n) | {"rounds": np.arange(n) // 16, "k": 4}
    return found | {"qualified": _numbers(n, seed=2) < 0.8} if qualified else found


def comparisons(n: int) -> Arguments:
    """Pools of two candidates, shown in both orders."""
    wins = (_numbers(n, 2) < 0.5).tolist()
    sides = ("first", "second")
    rows = [
        {"pool": pool, "first": first, "second": second, "winner": sides[won]}
        for pool, own in enumerate(wins)
        for (first, second), won in zip((("Ada", "Bea"), ("Bea", "Ada")), own, strict=True)
    ]
    return {"comparisons": rows, "groups": {"Ada": "a", "Bea": "b"}, "reference": "b"}


def sentence_pairs(n: int) -> Arguments:
    """Probabilities of two sentences."""
    return {f"p_{side}": _numbers(n) for side in ("stereotypical", "antistereotypical")}


def continuations(n: int) -> Arguments:
    """Three continuations a side."""
    sides = ("perturbed_continuations", "continuations_of_perturbed")
    found = {}
    for k, side in enumerate(sides):
        flat = _texts(3 * n, k)
        found[side] = [flat[i : i + 3] for i in range(0, len(flat), 3)]
    return found


BY_NEED: dict[str, Make] = {
    "scores": scores,
    "score_pairs": score_pairs,
    "text_pairs": text_pairs,
    "texts": texts,
    "prompts": prompts,
    "pronoun_counts": pronoun_counts,
    "embedding_pairs": embedding_pairs,
}
# Tables by the columns that the example of a metric has.
BY_COLUMNS: dict[str, Make] = {
    "groups y_pred": partial(predictions, gold=False),
    "groups y_pred y_true": predictions,
    "groups y_prob y_true": partial(predictions, probability=True),
    "groups reference scores": candidates,
    "groups k reference rounds scores": pools,
    "groups k qualified reference rounds scores": partial(pools, qualified=True),
    "lists_a lists_b": lists,
    "comparisons groups reference": comparisons,
    "p_antistereotypical p_stereotypical": sentence_pairs,
    "continuations_of_perturbed perturbed_continuations": continuations,
    "kept_counts majority male_counts": occupations,
}
# Metrics of exactly two groups.
TWO = {
    "accuracy_difference",
    "average_score_difference",
    "f1_difference",
    "f1_ratio",
    "las_difference",
    "recall_difference",
    "tpr_difference",
}


def case(name: str, info: Any) -> Make:
    """Return what makes the arguments of a metric for some units."""
    example = info.example(2, 2)
    columns = " ".join(sorted(example))
    if "phi" in example:
        given = {key: example[key] for key in ("phi", "d")}
        return lambda n: given | predictions(n, gold=False, probability=True)
    if "y_prob" in example and np.ndim(example["y_prob"]) == 3:
        return partial(counterfactuals, many=name not in TWO)
    found = BY_COLUMNS.get(columns) or BY_NEED.get(info.needs)
    if found is None:
        raise SystemExit(f"{name} takes {columns}: add a table with these columns to this file")
    return partial(predictions, many=False) if name in TWO else found


def _measured(pipe: Any, function: Callable[..., Any], given: Arguments) -> None:
    def held() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    before = held()
    start = time.process_time()
    function(**given).interval(0.95)
    pipe.send((time.process_time() - start, held() - before))


def apart(function: Callable[..., Any], given: Arguments) -> tuple[float, int]:
    """Return the CPU seconds of one run and the bytes that it adds, in a copy of this process."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_measured, args=(theirs, function, given))
    child.start()
    theirs.close()
    try:
        return mine.recv()
    except EOFError:
        return math.inf, sys.maxsize
    finally:
        child.join()


def measure(function: Callable[..., Any], given: Arguments) -> tuple[float, int]:
    """Return the CPU seconds of the fastest run, and the most bytes that one adds."""
    runs = [apart(function, given)]
    while sum(seconds for seconds, _ in runs) < _LEAST_SECONDS:
        runs.append(apart(function, given))
    return min(seconds for seconds, _ in runs), max(size for _, size in runs)


def table(words: list[str]) -> Iterator[tuple[str, Callable[..., Any], Make]]:
    """Yield the metrics whose name has one of the words, with what makes their arguments."""
    from pytest_llmfair.metrics import all_metrics

    for name, info in all_metrics().items():
        if not words or any(word in name for word in words):
            yield name, info.function, case(name, info)


def main() -> int:
    """Measure every metric and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="+", default=[], help="words; metrics that have one")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="units, rising")
    options = parser.parse_args()
    sizes = options.sizes
    if len(sizes) < 2 or sorted(set(sizes)) != list(sizes) or sizes[0] < 100:
        parser.error("give two or more rising sizes of at least 100")
    more = sizes[-1] / sizes[-2]
    limit = MOST_GROWTH ** math.log10(more)
    print(f"limits: CPU x {limit:.3g} for {more:g} times the units, {MOST_BYTES} bytes a unit")
    heads = "".join(f"{n:>11,} CPU s{'MB':>7}" for n in sizes)
    print(f"{'metric':34}{heads}  ratio  B/unit")
    kept = True
    for name, function, make in table(options.only):
        function(**make(100)).interval(0.95)  # imports are no part of it
        found = [measure(function, make(n)) for n in sizes]
        (small, _), (large, peak) = found[-2:]
        ratio, each = large / small, peak / sizes[-1]
        grows = ratio > limit and large > _NEGLIGIBLE * sizes[-1]
        ok = not grows and each <= MOST_BYTES
        kept = kept and ok
        cells = "".join(f"{seconds:17.2f}{size / 1e6:7.0f}" for seconds, size in found)
        print(f"{name:34}{cells}{ratio:7.1f}{each:8.0f}{'' if ok else '  TOO MUCH'}", flush=True)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
