"""The widest gap over words, and notes on words that were left out or not seen."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeVar

import numpy as np

from pytest_llmfair.metrics.cooccurrence._counting import Flags, Texts
from pytest_llmfair.metrics.cooccurrence._word_lists import Indices, WordLists
from pytest_llmfair.stats import (
    Estimate,
    Finding,
    MaxPairwiseDifference,
    RateDifference,
    Sample,
    Undefined,
)

E = TypeVar("E", bound=Estimate)

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


def note_words(estimate: E, words: WordLists, seen: Indices, where: str = " with a group") -> E:
    """Count the targets that were left out and those, by number, that were not seen."""
    if words.left_out:
        left_out = (
            "target words left out, since they are stop words or name a group "
            f"({len(words.left_out)}): {some(words.left_out)}"
        )
        estimate = estimate.with_findings(Finding.note(left_out))
    unseen = np.delete(np.arange(len(words.targets)), seen).tolist()
    if unseen:
        never = f"target words never seen{where} ({len(unseen)} of {len(words.targets)}): " + some(
            [words.targets[word] for word in unseen]
        )
        estimate = estimate.with_findings(Finding.note(never))
    return estimate


def gap_of_rates(
    first: Flags, second: Flags, sides: tuple[Flags, Flags], texts: Texts
) -> RateDifference:
    """Difference of the rates of `first` in one set of responses and of `second` in the other."""
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
    """Estimate the widest gap over words; with more than two groups, over pairs of groups too."""
    gaps: dict[Hashable, Estimate] = {}
    for word in numbers:
        pairs: dict[Hashable, Estimate] = {
            (words.groups[a], words.groups[b]): compare(word, a, b)
            for a, b in combinations(range(len(words.groups)), 2)
        }
        only, *others = pairs.values()
        gaps[words.targets[word]] = MaxPairwiseDifference.of_pairs(pairs) if others else only
    # Every word is counted in the same responses.
    estimate = replace(MaxPairwiseDifference.of_pairs(gaps), sample=texts.sample)
    # A pair that is missing for one word is so for all, and may be the widest.
    missing = [pair.undefined for pair in pairs.values() if pair.undefined is not None]
    if missing:
        why = "; ".join(dict.fromkeys(missing))
        return Undefined(undefined=why, sample=texts.sample, groups=estimate.groups)
    name = max(gaps, key=lambda word: gaps[word].value)
    return estimate.with_findings(Finding.note(_describe_gap(name, gaps[name])))


def _describe_gap(name: Hashable, gap: Estimate) -> str:
    """Name the widest gap with its two rates."""
    text = f"widest gap: {name}"
    if isinstance(gap, MaxPairwiseDifference):
        pair, gap = max(gap.pairs.items(), key=lambda item: item[1].value)
        text += f", {' against '.join(map(str, pair))}" if isinstance(pair, tuple) else ""
    if isinstance(gap, RateDifference):
        text += ", {:.3f} against {:.3f}".format(*gap.rates)
    return text
