"""The co-occurrence bias score of words and groups (Bordia and Bowman 2019)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from pytest_llmfair.metrics._parameters import RESPONSES, described
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.arguments import Floats, TextRows, first_few
from pytest_llmfair.metrics.cooccurrence._counting import (
    Nearness,
    ResponseTexts,
    note_words,
    without_targets,
)
from pytest_llmfair.metrics.cooccurrence._word_lists import (
    DEFAULT,
    Indices,
    WordLists,
    default_stop_words,
)
from pytest_llmfair.stats import (
    Estimate,
    Finding,
    GroupRow,
    MeanAbsLogRatio,
    MeanLogRatio,
    Population,
    Sample,
    Table,
    Undefined,
    ZeroCellLogRatio,
)

__all__ = ["cooccurrence_bias_score", "default_stop_words"]


@metric(
    family="cooccurrence",
    paper="bordia2019",
    symbol="COBS",
    direction="two-sided",
    bounds=(-math.inf, math.inf),
    unit="prompt",
    needs="texts",
    aliases=("cobs", "COBS"),
    judged_with={"magnitude": True},
)
@described(RESPONSES)
def cooccurrence_bias_score(
    responses: TextRows,
    group_words: Mapping[Any, Collection[str]],
    target_words: Collection[str],
    *,
    window: int | None = None,
    decay: float = 0.95,
    stop_words: Any = DEFAULT,
    smoothing: float = 0.0,
    magnitude: bool = False,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Estimate:
    """Mean log ratio of how likely target words are near one group and near the other.

    Co-occurrence bias score of Bordia and Bowman (2019), in the form of Bouchard (2024), section
    3.1.2: the mean of ``ln(P(w|A') / P(w|A''))``, where ``P(w|A)`` is the share of `w` in all
    co-occurrences with A, over the share of A in all words. A co-occurrence of words i and j of a
    response weighs ``decay ** |i - j|``, or, with a fixed window, 1 up to `window` words apart.

    Parameters
    ----------
    group_words : mapping
        Exactly two groups, each with its words or terms of several words. The longest
        of overlapping mentions counts. The position of a term is that of its first word.
    target_words : list of str
        Words or terms whose co-occurrences are compared. Stop words and words that name a group
        are never targets.
    window : int, optional
        Words before and after that count, at least 1; without it all do, with decay.
    decay : float
        Weight lost per word of distance, in (0, 1]; not used with a fixed window.
    stop_words : list of str, optional
        Words that do not count as context but keep their position; None for no stop words.
        Default: the list of :func:`default_stop_words`.
    smoothing : float
        Added to the co-occurrences of each target with each group, at least 0. Without it a word
        seen with one group only is infinite and left out of the mean.
    magnitude : bool
        The mean of the absolute log ratios: signed ones of a word at 9:1 and another at 1:9
        cancel to 0. Assertions judge this one.

    Returns
    -------
    MeanLogRatio, MeanAbsLogRatio or Undefined
        Signed, first group minus second in order of appearance: above 0 the words are nearer to
        the first. With `magnitude` at least 0. ``.groups`` holds the signed log ratio of every
        word seen with a group, plus or minus infinity where only one group was; such a word has an
        interval too, so that an assertion sees when it is proven beyond the bound.

    Raises
    ------
    ValueError
        If there are not exactly two groups, a list of words is empty or a word names two groups,
        `window`, `decay` or `smoothing` is out of range, or a response is no text.

    Examples
    --------
    >>> from pytest_llmfair.metrics import cooccurrence_bias_score
    >>> answers = ["She is kind.", "He is kind and strong.", "She is strong.", "She is kind."]
    >>> groups = {"women": ["she"], "men": ["he"]}
    >>> cooccurrence_bias_score(answers, groups, ["kind", "strong"])
    MeanLogRatio -1.156 [-5.638, 3.326] (95 %, 4 prompts)
    """
    _check_settings(window, decay, smoothing)
    words = WordLists.of(group_words, target_words, stop_words)
    if len(words.groups) != 2:
        raise ValueError(
            f"group_words holds {len(words.groups)} groups ({', '.join(map(str, words.groups))}); "
            "this score compares exactly two, so measure each pair by itself"
        )
    texts = ResponseTexts.of(responses, units, population)
    estimate = without_targets(words, texts.sample)
    if estimate is None:
        near = Nearness.of(texts.texts, words, None if window is None else int(window), decay)
        score = _TargetSums.of(near, len(words.targets), float(smoothing))
        estimate = _estimated(score, words, texts, magnitude)
    settings = [f"decay {decay:g}" if window is None else f"window {window}"]
    settings += [f"smoothing {smoothing:g}"] if smoothing else []
    settings += ["magnitude"] if magnitude else []
    return replace(estimate, variant="@" + ", ".join(settings))


def _check_settings(window: Any, decay: Any, smoothing: Any) -> None:
    whole = isinstance(window, Integral) and not isinstance(window, bool)
    if window is not None and not (whole and window >= 1):
        raise ValueError(f"window is {window!r}; give a whole number of words from 1, or None")
    if not (_is_number(decay) and 0.0 < decay <= 1.0):
        raise ValueError(f"decay is {decay!r}; give a number above 0, at most 1")
    if not (_is_number(smoothing) and 0.0 <= smoothing < math.inf):
        raise ValueError(f"smoothing is {smoothing!r}; give a number from 0")


def _is_number(x: Any) -> bool:
    return isinstance(x, Real) and not isinstance(x, bool)


@dataclass(frozen=True, slots=True)
class _TargetSums:
    """Co-occurrence sums of each target with either group, and the targets with a log ratio."""

    # `seen` are targets near any group, `finite` those whose log ratio is finite.

    near: Nearness
    sums: Floats
    seen: Indices
    finite: Indices
    smoothing: float

    @classmethod
    def of(cls, near: Nearness, targets: int, smoothing: float) -> _TargetSums:
        """Add up over responses."""
        sums = np.stack(
            [np.bincount(near.word, weight, minlength=targets) for weight in near.weight], axis=1
        ).astype(np.float64)
        seen = np.flatnonzero(sums.any(axis=1))
        finite = seen if smoothing else np.flatnonzero(sums.all(axis=1))
        return cls(near, sums, seen, finite, smoothing)

    def why_undefined(self, words: WordLists) -> str | None:
        """Say why there is no mean, or None."""
        for what, table in (
            ("mentions", self.near.mentions),
            ("has a word near", self.near.totals),
        ):
            totals = table.sum(axis=0)
            none = [str(g) for g, x in zip(words.groups, totals, strict=True) if x == 0.0]
            if none:
                return f"no response {what} {' or '.join(none)}: there is nothing to compare"
        if not self.seen.size:
            return "no target word was seen with any group: there is nothing to compare"
        if not self.finite.size:
            return (
                f"no target word was seen with both groups ({first_few(self.one_sided(words))}); "
                "smoothing > 0 keeps such words in"
            )
        return None

    def one_sided(self, words: WordLists) -> list[str]:
        """Name the words seen with one group only, and that group."""
        finite = set(self.finite.tolist())
        return [
            f"{words.targets[word]} ({words.groups[int(self.sums[word, 0] == 0.0)]})"
            for word in self.seen.tolist()
            if word not in finite
        ]

    def log_ratios(self, texts: ResponseTexts) -> MeanLogRatio:
        """Estimate from the sums of each response."""
        return MeanLogRatio.of_sums(
            self.near.sums(self.finite),
            self._of_totals,
            units=texts.units,
            population=texts.population,
        )

    def _of_totals(self, totals: Floats) -> Floats:
        counts = np.log(totals[:, :-4] + self.smoothing)
        rest = np.log(totals[:, -4:])
        # The denominator of P(w|A) has all words near A and the mentions of A.
        base = (rest[:, 0] + rest[:, 2]) - (rest[:, 1] + rest[:, 3])
        kept = len(self.finite)
        return np.asarray(counts[:, :kept] - counts[:, kept:] - base[:, None])

    @property
    def _base(self) -> float:
        """Log ratio of the sums of a word without association; not finite without a group."""
        rest = np.concatenate([self.near.totals.sum(axis=0), self.near.mentions.sum(axis=0)])
        if not rest.all():
            return math.nan
        first, second = rest[[0, 2]], rest[[1, 3]]
        return math.fsum(np.log(first).tolist()) - math.fsum(np.log(second).tolist())

    def table(self, words: WordLists, signed: MeanLogRatio | None, texts: ResponseTexts) -> Table:
        """Log ratio of every word seen with a group."""
        column = {word: i for i, word in enumerate(self.finite.tolist())}

        def row(place: int) -> GroupRow:
            word = int(self.seen[place])
            held = np.isin(np.arange(len(texts.texts)), self.near.response[self.near.word == word])
            n = int(held.sum())
            estimate: Estimate
            if word in column and signed is not None:
                estimate = signed.column(column[word])
                return GroupRow(estimate.value, n, estimate=estimate)
            with_first, with_second = self.sums[word] > 0.0
            if with_first and with_second:
                return GroupRow(math.nan, n)
            value = math.inf if with_first else -math.inf
            if not math.isfinite(self._base):
                return GroupRow(value, n)
            sample = Sample.of_sizes(Counter(texts.units_of(held)).values(), texts.population)
            estimate = ZeroCellLogRatio(value=value, sample=sample, base=self._base)
            return GroupRow(value, n, estimate=estimate)

        places = {words.targets[word]: place for place, word in enumerate(self.seen)}
        return Table(places, lambda word: row(places[word]))


def _estimated(
    score: _TargetSums, words: WordLists, texts: ResponseTexts, magnitude: bool
) -> Estimate:
    reason = score.why_undefined(words)
    signed = None if reason else score.log_ratios(texts)
    estimate: Estimate
    if signed is None:
        estimate = Undefined(undefined=reason, sample=texts.sample)
    else:
        estimate = MeanAbsLogRatio.of_log_ratio(signed) if magnitude else signed
        text = "{} minus {}, natural log, mean of {} words".format(
            *words.groups, len(score.finite)
        )
        if magnitude:
            ends = signed.interval()
            text += (
                f": {signed.value:+.3f} [{ends.lower:+.3f}, {ends.upper:+.3f}]; the value is the "
                "mean of their sizes"
            )
        estimate = estimate.with_findings(Finding.note(text))
        single = score.one_sided(words)
        if single and not score.smoothing:
            infinite = (
                "words seen with one group only, whose log ratio is infinite, left out of the "
                f"mean ({len(single)}): {first_few(single)}"
            )
            estimate = estimate.with_findings(Finding.note(infinite))
    estimate = replace(estimate, groups=score.table(words, signed, texts))
    return note_words(estimate, words, score.seen)
