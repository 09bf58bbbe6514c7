"""One assertion as data: metric, bound, rules, and where its answers come from."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pytest_llmfair._util.validation import whole
from pytest_llmfair.judging.arguments import last_is_bound, positional, takes
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.collecting import check_data_kind, check_units, prompts_or_pairs
from pytest_llmfair.judging.crossing import Cells
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.judging.pairs import groups_of, is_pair, wanted_groups
from pytest_llmfair.judging.rules import JudgedMetric, Rules
from pytest_llmfair.judging.validity import drop_invalid_pairs
from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.metrics.arguments import known_population
from pytest_llmfair.responses import PairedResponses
from pytest_llmfair.session import note_used
from pytest_llmfair.stats import Estimate

# How many arguments of a metric are made from answers; those that follow are the caller's.
_FROM_ANSWERS = {
    "scores": 1,
    "score_pairs": 2,
    "embedding_pairs": 2,
    "texts": 1,
    "text_pairs": 2,
    "pronoun_counts": 2,
}


class TextScorer:
    """Texts to scores, by the metric's own scorer or another; it loads when there are texts."""

    def __init__(
        self,
        info: MetricInfo,
        scorer: Any = None,
        scorers: Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        asked = info.scorer if scorer is None else scorer
        self._asked = list(asked) if isinstance(asked, tuple) else asked
        self._info = info
        self._vectors = info.needs == "embedding_pairs"
        self._scorers = scorers
        self._memory: Any = None

    @functools.cached_property
    def chosen(self) -> Any:
        """The scorer itself."""
        if not isinstance(self._asked, str):
            return self._asked
        from pytest_llmfair.scorers import load_scorers

        return (self._scorers or load_scorers)()[self._asked]

    @property
    def _each_asked(self) -> list[Any]:
        return self._asked if isinstance(self._asked, list) else [self._asked]

    @property
    def name(self) -> str:
        """What reports call the scorer."""
        from pytest_llmfair.scorers import name_of

        asked = [each for each in self._each_asked if each is not None]
        return ", ".join(each if isinstance(each, str) else name_of(each) for each in asked)

    def check(self, info: MetricInfo) -> None:
        """Raise ``UnknownName`` for a name that no scorer has, without loading a model.

        And ``ValueError`` for a scorer with a wider range than the metric's own, unless the metric
        takes scores of any range.
        """
        for each in self._each_asked:
            if isinstance(each, str):
                from pytest_llmfair.scorers import load_scorers

                known = (self._scorers or load_scorers)()
                if each not in known:
                    known[each]
        if self._asked == info.scorer or self._vectors or takes(info, "score_range"):
            return
        unlimited = -math.inf, math.inf
        low, high = getattr(TextScorer(info).chosen, "range", unlimited)
        least, most = getattr(self.chosen, "range", (low, high))
        if least < low or most > high:
            raise ValueError(
                f"the scorer {self.name} gives scores from {least:g} to {most:g}, and {info.name} "
                f"needs scores from {low:g} to {high:g}; rescale them, or use score_difference, "
                "which takes scores of any range"
            )

    @property
    def several(self) -> list[TextScorer]:
        """Each of the scorers that were asked for."""
        asked = [each for each in self._each_asked if each is not None]
        return [TextScorer(self._info, each, self._scorers) for each in asked]

    def numbers(self, texts: Sequence[str]) -> list[Any]:
        """Return one score or one vector per text, as plain numbers."""
        from pytest_llmfair.scorers import EmbeddingScorer, score

        if isinstance(self.chosen, EmbeddingScorer):
            return list(self.chosen(texts).tolist())
        if hasattr(self.chosen, "range"):
            return list(self(texts).tolist())
        found = np.asarray(self.chosen(texts), dtype=np.float64)
        return list((found if found.ndim == 2 else score(lambda _: found, texts)).tolist())

    def __call__(self, texts: Sequence[str]) -> Any:
        """Return one score per text, or one vector for metrics on embeddings."""
        from pytest_llmfair.scorers import name_of, score

        note_used("scorer", name_of(self.chosen), self.chosen)
        if self._vectors:
            return self.chosen(texts)
        ask = functools.partial(score, self.chosen)
        return ask(texts) if self._memory is None else self._memory(texts, ask)

    @contextmanager
    def remembering(self) -> Iterator[None]:
        """Ask for the score of a text once, however often the metric is computed."""
        from pytest_llmfair.scorers.base import RowCache

        self._memory = RowCache()
        try:
            yield
        finally:
            self._memory = None


@dataclass(frozen=True, slots=True)
class Compare:
    """How answers to pairs are compared."""

    # Groups to compare, two or more; by default all of the pairs.
    groups: Sequence[str] | None = None
    # Compare each group with this one only.
    reference: str | None = None
    # Whether words of the pairs' own attribute are masked before texts are compared.
    mask: bool = True
    # Where the noise floor comes from: "resample", "placebo" or "none".
    baseline: str = "resample"
    # Whether given names are masked too, and what else is; None for the attribute's own choice.
    names: bool | None = None
    ignore: Any = None
    # What is judged: "value" or "excess" (over the noise floor).
    on: str = "value"

    @property
    def placebo(self) -> bool:
        """Whether the noise floor comes from placebo twins."""
        return self.baseline == "placebo"


def _compare_of(info: MetricInfo, source: Any, keywords: dict[str, Any]) -> Compare:
    """Take from the keywords how answers to pairs are compared; arrays have no such choice."""
    pairs = isinstance(source, PairedResponses) or (
        isinstance(source, (list, tuple)) and len(source) > 0 and is_pair(source[0])
    )
    if not pairs:
        return Compare(mask=False)
    masked = "mask" not in keywords or keywords["mask"] == "attribute"
    if masked or info.needs == "embedding_pairs":
        keywords.pop("mask", None)
    return Compare(
        keywords.pop("groups", None),
        keywords.pop("reference", None),
        mask=masked,
        names=keywords.pop("mask_names", None),
        ignore=keywords.pop("ignore", None),
    )


@dataclass(frozen=True, slots=True)
class Source:
    """Where the data of an assertion come from."""

    # Arguments of the metric by position. The first may be answers or, with a client, prompts or
    # pairs to collect answers for.
    data: tuple[Any, ...]
    # One label per row of the data.
    units: Sequence[Any] | None = None
    # The model to ask; where two are compared, both by name.
    client: Any = None
    # Answers to collect per prompt.
    generations: int = 1

    @property
    def first(self) -> Any:
        """What is asked, or its answers; None where all data are keywords."""
        return self.data[0] if self.data else None

    @property
    def rest(self) -> tuple[Any, ...]:
        """Further arguments of the metric, such as a threshold."""
        return self.data[1:]


@dataclass(frozen=True, slots=True)
class Assertion:
    """A metric, its data, and how its value is judged against a bound."""

    metric: MetricInfo
    # Inclusive on the fair side; None where the value is measured and not judged by itself.
    bound: float | None
    rules: Rules
    source: Source
    scorer: TextScorer
    # Further arguments of the metric, without `units`.
    keywords: Mapping[str, Any] = field(default_factory=dict)
    compare: Compare = field(default_factory=Compare)
    # Factors over which the verdict has to hold; None where units are as usual.
    cells: Cells | None = None

    @classmethod
    def of(
        cls,
        metric: MetricInfo,
        data: tuple[Any, ...],
        bound: float | None,
        rules: Rules,
        *,
        client: Any = None,
        generations: int | None = None,
        scorer: TextScorer | None = None,
        keywords: Mapping[str, Any] | None = None,
        compare: Compare | None = None,
        robust_over: Any = (),
        factors: Any = None,
    ) -> Assertion:
        """Sort out what a caller gave: the bound, the units, and the pairs that are valid."""
        given = {**metric.judged_with, **(keywords or {})}
        if rules.unit and takes(metric, "unit"):
            # Here the word is that of the scores.
            given, rules = {**given, "unit": rules.unit}, replace(rules, unit="")
        if bound is None:
            data, bound = last_is_bound(metric, data)
        first, units = data[0] if data else None, given.pop("units", None)
        if isinstance(first, Iterator):
            first = list(first)
        cells = Cells.of(robust_over, factors, first, units, metric.direction)
        if cells is not None:
            _check_draws(given, rules)
            units = cells.of_row
        first, units = drop_invalid_pairs(first, units)
        data = (first, *data[1:]) if data else data
        if compare is None:
            compare = _compare_of(metric, first, given)
        n = metric.generations
        if client is not None:
            n = n if generations is None else whole(generations, "generations")
            units = None if units is None else list(units)
        source = Source(data, units, client, n)
        scorer = scorer or TextScorer(metric)
        return cls(metric, bound, rules, source, scorer, given, compare, cells)

    @property
    def checked_bound(self) -> Bound:
        """The bound, checked against the metric's range."""
        info = self.metric
        return Bound.checked(
            self.bound, info.direction, info.fair_value, info.bounds, info.name, info.scale
        )

    def check_request(self) -> list[Any]:
        """Return what is asked; errors are raised before the first answer is paid for."""
        info, source = self.metric, self.source
        items = prompts_or_pairs([] if source.first is None else source.first)
        check_data_kind(info, pairs=is_pair(items[0]))
        if is_pair(items[0]):
            wanted_groups(groups_of(items), self.compare.groups, self.compare.reference)
        collected = positional(info)[: _FROM_ANSWERS[info.needs]]
        inspect.signature(info.function).bind_partial(*collected, *source.rest, **self.keywords)
        check_units(source.units, items)
        known_population(self.keywords.get("population", "sampled"))
        self.scorer.check(info)
        return items


def _check_draws(keywords: Mapping[str, Any], rules: Rules) -> None:
    """Raise ``ValueError`` for what does not go with factors that are draws from more."""
    if keywords.get("population") == "fixed":
        raise ValueError(
            'robust_over takes items as draws from more, and population="fixed" as all there '
            "are; leave one of them out"
        )
    if rules.looks is not None:
        raise ValueError("robust_over judges once; leave out sequential and method")


@dataclass(frozen=True, slots=True)
class EstimateAssertion:
    """An estimate that was made before, and how it is judged against a bound."""

    estimate: Estimate
    # Inclusive on the fair side.
    bound: float
    metric: JudgedMetric | None
    rules: Rules
    # What is known about the data of the estimate.
    inputs: MetricInputs = field(default_factory=MetricInputs)
