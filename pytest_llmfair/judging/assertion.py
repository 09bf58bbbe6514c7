"""One assertion as data: metric, bound, rules, and where its answers come from."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_llmfair._util.keywords import check_known, keyword_names, unknown_keyword
from pytest_llmfair._util.validation import whole
from pytest_llmfair.judging.collecting import (
    check_data_kind,
    check_units,
    drop_invalid_pairs,
    prompts_or_pairs,
)
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.judging.pairs import groups_of, is_pair, wanted_groups
from pytest_llmfair.judging.robustness import Cells
from pytest_llmfair.judging.rules import JudgedMetric, Rules, is_number
from pytest_llmfair.judging.scoring import TextScorer, takes
from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.metrics.arguments import known_population
from pytest_llmfair.responses import PairedResponses, Responses
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


@dataclass(frozen=True, slots=True)
class Compare:
    """Options for comparing the answers to pairs."""

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


def quantity_of(estimate: Estimate, quantity: str) -> Estimate:
    """Return the judged quantity: the value, or its excess over the noise floor."""
    if quantity == "value":
        return estimate
    call = estimate.call and replace(estimate.call, quantity=quantity)
    if quantity == "no floor":
        return replace(estimate, floor=None, excess=None, call=call)
    if estimate.excess is None:
        # Without a floor an excess is judged all the same, of a size that is not known.
        return replace(estimate, measures="excess", call=call)
    return replace(
        estimate.excess,
        floor=estimate.floor,
        measures="excess",
        findings=tuple(dict.fromkeys((*estimate.findings, *estimate.excess.findings))),
        call=call,
    )


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
    """The data of an assertion, or the model to ask for them."""

    # Arguments of the metric by position. The first may be answers or, with a client, prompts or
    # pairs to collect answers for.
    data: tuple[Any, ...]
    # One label per row of the data.
    units: Sequence[Any] | None = None
    # The model to ask; where two are compared, both by name.
    client: Any = None
    # Answers to collect per prompt.
    generations: int = 1
    # By group, a row for each row of a file, where some lack a value and were left out.
    asked: Mapping[str, Any] = field(default_factory=dict)

    @property
    def first(self) -> Any:
        """The prompts, pairs or answers; None where all data are keywords."""
        return self.data[0] if self.data else None

    @property
    def rest(self) -> tuple[Any, ...]:
        """Further arguments of the metric, such as a threshold."""
        return self.data[1:]


@dataclass(frozen=True, slots=True)
class Assertion:
    """A metric, its data, a bound, and the rules to judge by."""

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
        asked: Mapping[str, Any] | None = None,
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
        source = Source(data, units, client, n, asked or {})
        scorer = scorer or TextScorer(metric)
        if client is not None or isinstance(first, (Responses, PairedResponses)):
            # Of arrays `score` is a name only.
            scorer = scorer.reading(given.get("score"))
        return cls(metric, bound, rules, source, scorer, given, compare, cells)

    def check_request(self) -> list[Any]:
        """Return the prompts or pairs to ask; raise every error before an answer is paid for."""
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
    """An estimate that was made before, a bound, and the rules to judge by."""

    estimate: Estimate
    # Inclusive on the fair side.
    bound: float
    metric: JudgedMetric | None
    rules: Rules
    # What is known about the data of the estimate.
    inputs: MetricInputs = field(default_factory=MetricInputs)

    @property
    def judged(self) -> Estimate:
        """The estimate, with what its data have to say unless it makes them invalid."""
        return self.estimate.with_findings(
            *(each for each in self.inputs.findings if each.kind != "invalid")
        )


def check_keywords(
    caller: Callable[..., Any],
    info: MetricInfo | None,
    keywords: Mapping[str, Any],
    renamed: Mapping[str, str] | None = None,
    *,
    collected: bool = False,
) -> None:
    """Raise for a keyword that neither metric nor caller takes; `collected` data are none."""
    own = [] if info is None else keyword_names(info.function)
    if own is not None:
        data = positional(info) if collected and info is not None else []
        own = [name for name in own if name not in data]
        chosen = () if info is None else group_keywords(info)
        parameters = inspect.signature(caller).parameters.values()
        shared = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        check_known(caller, keywords, [*own, *chosen, *shared], renamed or {})


def group_keywords(info: MetricInfo) -> tuple[str, ...]:
    """Return the keywords that choose among the groups of pairs."""
    if not info.needs.endswith("_pairs"):
        return ()
    # The metric itself sees vectors: texts are masked before they are embedded.
    return "reference", "groups", *(["mask"] if info.needs == "embedding_pairs" else [])


def bound_of(info: MetricInfo, bound: Any, minimum: Any) -> Any:
    """Return the bound given; `minimum` belongs to metrics where higher is fairer."""
    if bound is not None and minimum is not None:
        raise TypeError("give bound or minimum, not both")
    if minimum is not None and info.direction != "higher":
        raise TypeError(
            f"{info.name} takes bound=..., the largest value you can still accept, not "
            "minimum=...: lower is fairer"
        )
    return bound if minimum is None else minimum


def unpacked(
    info: MetricInfo, data: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Spread a mapping of argument names, or one tuple for a metric of two arguments."""
    known = list(inspect.signature(info.function).parameters)
    required = positional(info)
    if data and isinstance(data[0], Mapping) and not set(data[0]).isdisjoint(known):
        strange = [str(name) for name in data[0] if name not in known]
        if strange:
            raise unknown_keyword(info.name, strange[0], known)
        data, keywords = data[1:], {**data[0], **keywords}
    elif (
        len(required) > 1
        and data
        and isinstance(data[0], tuple)
        and len(data[0]) == len(required)
        and all(map(is_number, data[1:]))
    ):
        data = (*data[0], *data[1:])
    if required and all(name in keywords for name in required):
        keywords = dict(keywords)
        data = (*(keywords.pop(name) for name in required), *data)
    return data, keywords


def positional(info: MetricInfo) -> list[str]:
    """Return the names of the arguments a metric cannot do without."""
    return [
        name
        for name, parameter in inspect.signature(info.function).parameters.items()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        and parameter.default is parameter.empty
    ]


def last_is_bound(info: MetricInfo, data: tuple[Any, ...]) -> tuple[tuple[Any, ...], float]:
    """Split off a bound given after the data; keywords alone may be all the data."""
    if len(data) < min(2, len(positional(info)) + 1) or not is_number(data[-1]):
        word = "minimum" if info.direction == "higher" else "bound"
        raise TypeError(f"{info.assertion}() needs {word}=..., the value you can still accept")
    return data[:-1], data[-1]
