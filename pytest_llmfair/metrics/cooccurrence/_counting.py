"""Group mentions and target words in responses: positions, distances, gaps, and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pytest_llmfair.metrics.arguments import Floats, first_few, known_population, labels, text_rows
from pytest_llmfair.metrics.cooccurrence._word_lists import Indices, WordLists
from pytest_llmfair.stats import (
    Estimate,
    Finding,
    MaxPairwiseDifference,
    Population,
    RateDifference,
    Sample,
    Undefined,
)
from pytest_llmfair.text.vocabulary import VOCABULARY, Ids

E = TypeVar("E", bound=Estimate)
Flags = npt.NDArray[np.bool_]

# Tokens processed at once, so that memory does not grow with the number of responses.
_AT_ONCE = 500_000


@dataclass(frozen=True, slots=True)
class ResponseTexts:
    """Responses and their sampling units; without units each is its own."""

    texts: list[str]
    units: list[Hashable] | None
    population: Population

    @classmethod
    def of(cls, responses: Any, units: Any, population: Population) -> ResponseTexts:
        """Read a list of texts, or a list of lists: several answers to each prompt."""
        known_population(population)
        rows = text_rows(responses, "responses")
        several = any(len(row) > 1 for row in rows)
        if units is not None or several:
            own = list(range(len(rows))) if units is None else labels(units, "units", len(rows))
            units = [label for label, row in zip(own, rows, strict=True) for _ in row]
        return cls([text for row in rows for text in row], units, population)

    @property
    def sample(self) -> Sample:
        """Count units and responses."""
        units = range(len(self.texts)) if self.units is None else self.units
        return Sample.of_sizes(Counter(units).values(), self.population)

    def units_of(self, kept: Flags) -> list[Hashable]:
        """Return the units of some responses."""
        rows: list[int] = np.flatnonzero(kept).tolist()
        return [row if self.units is None else self.units[row] for row in rows]


@dataclass(frozen=True, slots=True)
class Positions:
    """Positions of group mentions and target words in a run of responses."""

    # By response: its first token and length. By token: its response, the group whose mention
    # begins there (-1 elsewhere), and whether it is context, which is neither a stop word nor
    # part of a mention. By target word found: the place of its first token, and its number.

    starts: Indices
    lengths: Indices
    response: Indices
    mention: Indices
    context: Flags
    place: Indices
    word: Indices

    @classmethod
    def of(cls, numbered: Sequence[Ids], words: WordLists) -> Positions:
        """Look up every token; of overlapping mentions the first counts, of those the longest."""
        lengths = np.array([len(ids) for ids in numbered], dtype=np.intp)
        starts = np.cumsum(lengths) - lengths
        ids = np.concatenate(numbered)
        response = np.repeat(np.arange(len(numbered)), lengths)
        mention = words.in_groups.single(ids)
        inside = mention >= 0
        end = 0
        for first, length, group in words.in_groups.longer(ids, response):
            if first >= end:
                end = first + length
                mention[first:end] = -1
                mention[first] = group
                inside[first:end] = True
        word = words.in_targets.single(ids)
        word[inside] = -1
        place = np.flatnonzero(word >= 0)
        longer = [
            (first, target)
            for first, length, target in words.in_targets.longer(ids, response)
            if not inside[first : first + length].any()
        ]
        several = np.array(longer, dtype=np.intp).reshape(-1, 2)
        return cls(
            starts,
            lengths,
            response,
            mention,
            ~inside & (words.in_stop_words.single(ids) < 0),
            np.concatenate([place, several[:, 0]]),
            np.concatenate([word[place], several[:, 1]]),
        )

    def mentions(self, groups: int) -> Floats:
        """Whether a mention of each group begins at each token, of shape (n_groups, n_tokens)."""
        begins = np.zeros((groups, len(self.mention)))
        place = np.flatnonzero(self.mention >= 0)
        begins[self.mention[place], place] = 1.0
        return begins

    def summed(self, values: Floats) -> Floats:
        """Sum over the tokens of each response, of shape (n_responses, n_groups)."""
        n = len(self.lengths)
        return np.stack([np.bincount(self.response, row, minlength=n) for row in values], axis=1)


def runs(texts: Sequence[str], words: WordLists) -> Iterator[tuple[int, Positions]]:
    """Give responses in runs, each with the number of its first response."""
    first = 0
    held: list[Ids] = []
    tokens = 0
    for number, text in enumerate(texts):
        held.append(VOCABULARY.ids(text))
        tokens += len(held[-1])
        if tokens >= _AT_ONCE or number + 1 == len(texts):
            yield first, Positions.of(held, words)
            first, held, tokens = number + 1, [], 0


def nearness(found: Positions, mentions: Floats, decay: float) -> Floats:
    """Sum the mentions around each token, each weighted ``decay ** distance``."""
    # A first-order recursion in both directions, over all responses at once: tokens are sorted by
    # position and responses by length, so that those that continue at a position come first.
    order = np.argsort(-found.lengths, kind="stable")
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    position = np.arange(len(found.response)) - found.starts[found.response]
    going_on = np.bincount(position)
    first = np.cumsum(going_on) - going_on
    place = first[position] + rank[found.response]
    moved = np.empty(mentions.shape)
    moved[:, place] = mentions
    near = np.zeros(mentions.shape)
    parts = [slice(a, a + n) for a, n in zip(first.tolist(), going_on.tolist(), strict=True)]
    for steps in (parts, reversed(parts)):
        passed = np.zeros((len(mentions), len(order)))
        for part in steps:
            seen = passed[:, : part.stop - part.start]
            near[:, part] += seen
            seen += moved[:, part]
            seen *= decay
    return near[:, place]


def nearness_in_window(found: Positions, mentions: Floats, window: int) -> Floats:
    """Count the mentions up to `window` tokens before and after each token."""
    before = np.zeros((len(mentions), mentions.shape[1] + 1))
    np.cumsum(mentions, axis=1, out=before[:, 1:])
    token = np.arange(mentions.shape[1])
    start = found.starts[found.response]
    low = np.maximum(token - window, start)
    high = np.minimum(token + window + 1, start + found.lengths[found.response])
    return np.asarray(before[:, high] - before[:, low] - mentions)


@dataclass(frozen=True, slots=True)
class Nearness:
    """Weighted co-occurrences of two groups, per response."""

    # By target found near a group: its response, its number, and its weight of shape
    # (n_groups, n_hits). By response and group: the same for all context words, and mentions.

    response: Indices
    word: Indices
    weight: Floats
    totals: Floats
    mentions: Floats

    @classmethod
    def of(
        cls, texts: Sequence[str], words: WordLists, window: int | None, decay: float
    ) -> Nearness:
        """Measure texts with a fixed window, or with an infinite one whose weights decay."""
        groups = len(words.groups)
        totals, named = np.zeros((len(texts), groups)), np.zeros((len(texts), groups))
        parts = []
        for first, found in runs(texts, words):
            at = found.mentions(groups)
            near = (
                nearness(found, at, decay)
                if window is None
                else nearness_in_window(found, at, window)
            )
            rows = slice(first, first + len(found.lengths))
            named[rows] = found.summed(at)
            totals[rows] = found.summed(near * found.context)
            weight = near[:, found.place]
            seen = weight.any(axis=0)
            place = found.place[seen]
            parts.append((found.response[place] + first, found.word[seen], weight[:, seen]))
        response, word, weight = (
            np.concatenate(part, axis=-1) for part in zip(*parts, strict=True)
        )
        return cls(response, word, weight, totals, named)

    def sums(self, kept: Indices) -> Floats:
        """Return each response's terms, of shape (n_responses, n_groups * (n_kept + 2))."""
        # Targets with the first group, targets with the second; all words; mentions.
        n, groups = self.totals.shape
        width = len(kept)
        column = np.full(int(max(self.word.max(initial=0), kept.max(initial=0))) + 1, -1)
        column[kept] = np.arange(width)
        own = column[self.word]
        inside = own >= 0
        cell = self.response[inside] * width + own[inside]
        table = np.empty((n, groups * (width + 2)))
        for group, weight in enumerate(self.weight[:, inside]):
            part = np.bincount(cell, weight, minlength=n * width)
            table[:, group * width : (group + 1) * width] = part.reshape(n, width)
        table[:, groups * width :] = np.hstack([self.totals, self.mentions])
        return table


@dataclass(frozen=True, slots=True)
class Presence:
    """Which response holds which target, and how often it mentions each group."""

    words: Flags
    mentions: Floats

    @classmethod
    def of(cls, texts: Sequence[str], words: WordLists) -> Presence:
        """Look texts through."""
        groups = len(words.groups)
        held = np.zeros((len(texts), len(words.targets)), dtype=bool)
        mentions = np.zeros((len(texts), groups))
        for first, found in runs(texts, words):
            held[found.response[found.place] + first, found.word] = True
            rows = slice(first, first + len(found.lengths))
            mentions[rows] = found.summed(found.mentions(groups))
        return cls(held, mentions)

    @property
    def seen(self) -> Indices:
        """Numbers of the targets that some response holds together with a group."""
        return np.flatnonzero(self.words[self.mentions.any(axis=1)].any(axis=0))

    def distances(self, seen: Indices, expected: Floats) -> Floats:
        """Total variation distance of each seen target's shares of mentions to those expected."""
        together = self.mentions.T @ self.words[:, seen]
        shares = together / together.sum(axis=0)
        return np.asarray(0.5 * np.abs(shares - expected[:, None]).sum(axis=0))


def without_targets(words: WordLists, sample: Sample) -> Estimate | None:
    """Return the problem where every target is a stop word or names a group, else None."""
    if words.targets:
        return None
    return Undefined(
        undefined="every target word is a stop word or names a group "
        f"({first_few(words.left_out)}); give others",
        sample=sample,
    )


def note_words(estimate: E, words: WordLists, seen: Indices, where: str = " with a group") -> E:
    """Count the targets that were left out and those, by number, that were not seen."""
    if words.left_out:
        left_out = (
            "target words left out, since they are stop words or name a group "
            f"({len(words.left_out)}): {first_few(words.left_out)}"
        )
        estimate = estimate.with_findings(Finding.note(left_out))
    unseen = np.delete(np.arange(len(words.targets)), seen).tolist()
    if unseen:
        never = (
            f"target words never seen{where} ({len(unseen)} of {len(words.targets)}): "
            + first_few([words.targets[word] for word in unseen])
        )
        estimate = estimate.with_findings(Finding.note(never))
    return estimate


def gap_of_rates(
    first: Flags, second: Flags, sides: tuple[Flags, Flags], texts: ResponseTexts
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
    texts: ResponseTexts,
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
    # A pair that is undefined for one word is so for all words, and could be the widest.
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
