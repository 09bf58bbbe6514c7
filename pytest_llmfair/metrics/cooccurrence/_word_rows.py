"""Tables by word: the widest gap, and what is said about words without a number."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import combinations

import numpy as np

from pytest_llmfair.metrics.cooccurrence._counting import Flags, Texts
from pytest_llmfair.metrics.cooccurrence._word_lists import Indices, WordLists
from pytest_llmfair.stats import Estimate, MaxPairwiseDifference, RateDifference, Sample, Undefined

_MOST_SHOWN = 5


def some(words: Sequence[object]) -> str:
    """Name the first few words."""
    rest = len(words) - _MOST_SHOWN
    return ", ".join(map(str, words[:_MOST_SHOWN])) + (f" and {rest} more" if rest > 0 else "")


def without_targets(words: WordLists, sample: Sample) -> Estimate | None:
    """Return what is left when every target is a stop word or names a group, else None."""
    if words.targets:
        return None
    return Undefined(
        undefined=f"every target word is a stop word or names a group ({some(words.left_out)}); "
        "give others",
        sample=sample,
    )


def note_words(
    estimate: Estimate, words: WordLists, seen: Indices, where: str = " with a group"
) -> None:
    """Count the targets that were left out and those, by number, that were not seen."""
    if words.left_out:
        estimate.notes += (
            "target words left out, since they are stop words or name a group "
            f"({len(words.left_out)}): {some(words.left_out)}",
        )
    unseen = np.delete(np.arange(len(words.targets)), seen).tolist()
    if unseen:
        estimate.notes += (
            f"target words never seen{where} ({len(unseen)} of {len(words.targets)}): "
            + some([words.targets[word] for word in unseen]),
        )


def gap_of_rates(
    first: Flags, second: Flags, sides: tuple[Flags, Flags], texts: Texts
) -> RateDifference:
    """Compare how often `first` is so on the one side with how often `second` on the other.

    The two sides, at least one response each, may be the same.
    """
    return RateDifference.of_outcomes(
        first[sides[0]],
        second[sides[1]],
        units_a=texts.units_of(sides[0]),
        units_b=texts.units_of(sides[1]),
        population=texts.population,
    )


def widest_gap(
    words: WordLists,
    numbers: Sequence[int],
    compare: Callable[[int, int, int], Estimate],
    texts: Texts,
) -> MaxPairwiseDifference | Undefined:
    """Judge the widest of the gaps of several words, given by their numbers.

    `compare` takes the number of a target and of two groups to their absolute gap. With more than
    two groups each word is a range over pairs of groups.
    """
    gaps: dict[Hashable, Estimate] = {}
    for word in numbers:
        pairs: dict[Hashable, Estimate] = {
            (words.groups[a], words.groups[b]): compare(word, a, b)
            for a, b in combinations(range(len(words.groups)), 2)
        }
        only, *others = pairs.values()
        gaps[words.targets[word]] = MaxPairwiseDifference.of_pairs(pairs) if others else only
    estimate = MaxPairwiseDifference.of_pairs(gaps)
    # The same responses stand behind every word.
    estimate.sample = texts.sample
    # A pair that is missing for one word is so for all, and may be the widest.
    missing = [pair.undefined for pair in pairs.values() if pair.undefined is not None]
    if missing:
        why = "; ".join(dict.fromkeys(missing))
        return Undefined(undefined=why, sample=texts.sample, groups=estimate.groups)
    name = max(gaps, key=lambda word: gaps[word].value)
    estimate.notes += (_said(name, gaps[name]),)
    return estimate


def _said(name: Hashable, gap: Estimate) -> str:
    """Name the widest gap with its two rates."""
    said = f"widest gap: {name}"
    if isinstance(gap, MaxPairwiseDifference):
        pair, gap = max(gap.pairs.items(), key=lambda item: item[1].value)
        said += f", {' against '.join(map(str, pair))}" if isinstance(pair, tuple) else ""
    if isinstance(gap, RateDifference):
        said += ", {:.3f} against {:.3f}".format(*gap.rates)
    return said
