"""Assertions that are more than a metric on answers: counterfactual invariance, unawareness."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmfair._util.validation import share
from pytest_llmfair.judging.arrange import AnswerRows
from pytest_llmfair.judging.assertion import Assertion, Compare, EstimateAssertion
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.judging.pairs import NO_CLIENT
from pytest_llmfair.judging.rules import Rules
from pytest_llmfair.judging.scoring import TextScorer
from pytest_llmfair.metrics import MetricInfo, get_metric
from pytest_llmfair.metrics.arguments import text_rows
from pytest_llmfair.metrics.counterfactual import invariance
from pytest_llmfair.metrics.unawareness import MentionCounts
from pytest_llmfair.responses import Missing, PairedResponses, Responses
from pytest_llmfair.stats import Call, Estimate, Mean, Sample

_NO_SHARE = (
    "an excess does not tell what share of the answers changed (the metric group_predictability "
    "finds whether answers differ, and gives the least share that changed); "
)


def invariance_assertion(
    data: Any,
    eps: float,
    rules: Rules,
    measure: Any,
    compare: Compare,
    client: Any,
    generations: int,
    units: Any,
    population: str | None,
    robust_over: Any = (),
    factors: Any = None,
) -> Assertion:
    """Return the assertion that answers change by at most `eps` beyond their noise."""
    for name, given, legal in (
        ("baseline", compare.baseline, ("resample", "placebo", "none")),
        ("on", compare.on, ("excess", "value")),
    ):
        if given not in legal:
            why = _NO_SHARE if given == "share" else ""
            raise ValueError(f"{name} is {given!r}; {why}choose one of {', '.join(legal)}")
    placebo = compare.placebo
    info = _info_of(measure, data, compare.on)
    if not isinstance(data, PairedResponses):
        data = _answer_rows(data, placebo, client)
    elif placebo:
        _need_placebo(data.placebo or [None] * len(data))
    if placebo and client is not None:
        _need_placebo([getattr(pair, "placebo", None) for pair in data])
    return Assertion.of(
        info,
        (data,),
        eps,
        rules,
        client=client,
        generations=generations,
        scorer=measure.scorer,
        keywords={"units": units} | ({} if population is None else {"population": population}),
        compare=replace(compare, mask=compare.mask and measure.scorer is None),
        robust_over=robust_over,
        factors=factors,
    )


def _info_of(measure: Any, source: Any, on: str) -> MetricInfo:
    """Return the metric that a dissimilarity makes."""
    pairs = getattr(source, "pairs", source)
    first = pairs[0] if isinstance(pairs, (list, tuple)) and pairs else None
    attribute = str(getattr(first, "attribute", "") or "")
    what = [attribute, measure.symbol, "" if on == "excess" else on]

    def function(texts_a: Any, texts_b: Any, **keywords: Any) -> Estimate:
        return invariance.counterfactual_invariance(texts_a, texts_b, measure, **keywords)

    return replace(
        get_metric("counterfactual_rouge_l"),
        name=f"counterfactual invariance ({', '.join(filter(None, what))})",
        direction="lower",
        fair_value=0.0,
        generations=2,
        function=function,
    )


def _need_placebo(twins: Sequence[Any]) -> None:
    if not any(twins):
        raise ValueError(
            f"none of the {len(twins)} pairs has a placebo twin; make them with "
            "generate_pairs(..., placebo=True), or choose baseline='resample'"
        )


def measure_of(metric: str | Callable[[str, str], float], mask: Any, scorer: Any) -> Any:
    """Return the dissimilarity of two answers that a name, or a function, stands for."""
    if not isinstance(metric, str):
        return invariance.own_measure(metric)
    if metric in ("rouge_l", "counterfactual_rouge_l"):
        return invariance.rouge_measure(mask)
    if mask is not None:
        raise ValueError(f"mask belongs to metric='rouge_l', not to {metric!r}; leave it out")
    known = ("rouge_l", "sentiment", "toxicity", "weak_sentiment_parity")
    if metric not in known:
        near = difflib.get_close_matches(metric, known, n=1)
        raise ValueError(
            f"metric {metric!r} is no dissimilarity of two answers; "
            + (f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(known)}.")
            + " A function of two texts is also taken."
        )
    name = "sentiment" if metric == "weak_sentiment_parity" else metric
    info = get_metric("toxic_fraction" if name == "toxicity" else "weak_sentiment_parity")
    make = invariance.sides_measure if metric != name else invariance.score_measure
    return make(name, TextScorer(info, scorer))


def _answer_rows(data: Any, placebo: bool, client: Any) -> Any:
    """Return answers given as tuples as rows of texts; pairs to be answered stay as they are."""
    if isinstance(data, Responses) or (
        client is not None
        and isinstance(data, (list, tuple))
        and data
        and isinstance(data[0], str)
    ):
        raise ValueError(
            "single prompts have no counterpart; make pairs of them first: "
            "counterfactual_pairs(prompts, attribute=...)"
        )
    if client is not None:
        return data
    form = "(answers, answers of the twin{})".format(", of its placebo or None" * placebo)
    if isinstance(data, (str, Mapping)) or not hasattr(data, "__iter__"):
        raise ValueError(f"the answers are a {type(data).__name__}; give a list of {form}")
    rows = list(data)
    if not rows:
        raise ValueError("there are no pairs; give at least one")
    for i, row in enumerate(rows):
        if hasattr(row, "original"):
            raise ValueError(NO_CLIENT)
        sides = 3 if placebo else 2
        if isinstance(row, (str, Missing)) or not hasattr(row, "__len__") or len(row) != sides:
            raise ValueError(f"row {i} is {str(row)[:40]!r}; give {form}")
    twins = [row[2] for row in rows] if placebo else []
    if placebo:
        _need_placebo([twin is not None for twin in twins])
    return AnswerRows(
        text_rows([row[0] for row in rows], "answers"),
        text_rows([row[1] for row in rows], "answers of the twin"),
        [[] if twin is None else text_rows([twin], "answers of the placebo")[0] for twin in twins],
    )


def unawareness_assertion(
    prompts: Sequence[str], attribute: Any, max_share: float, population: str, rules: Rules
) -> EstimateAssertion:
    """Return the assertion that at most a share of prompts names a group."""
    if population not in ("fixed", "sampled"):
        raise ValueError(f"population is {population!r}; choose fixed or sampled")
    if share(max_share, "max_share") == 1.0:
        raise ValueError(
            "max_share is 1, which cannot be a test: every list of prompts keeps it; give less"
        )
    if population == "sampled" and max_share == 0.0:
        raise ValueError(
            "population='sampled' judges prompts beyond these, and no sample proves a share of 0; "
            "give max_share above 0, or population='fixed' for these prompts alone"
        )
    seen = MentionCounts.of(prompts, attribute)
    estimate: Estimate
    if population == "fixed":
        n = len(seen.rows)
        sample = Sample(units=n, generations=n, fewest=1, most=1, population="fixed")
        estimate = _Count(value=sum(seen.rows) / n, sample=sample, attainable=(0.0, 1.0))
    else:
        estimate = Mean.of_indicators(seen.rows, units=seen.prompts)
    texts = [(text,) for text in seen.prompts]
    inputs = MetricInputs(prompts=texts, outputs=[()] * len(texts))
    info = get_metric("fairness_through_unawareness")
    estimate = seen.added_to(estimate)
    call = Call(info.name, (list(prompts), attribute), {"population": population})
    return EstimateAssertion(replace(estimate, call=call), max_share, info, rules, inputs)


@dataclass(eq=False, kw_only=True)
class _Count(Estimate):
    """A share of a fixed list that was read completely, so nothing about it is uncertain."""

    method = "count of all rows"

    def lower_bound(self, alpha: float) -> float:
        """Return the share itself."""
        return self.value

    def upper_bound(self, alpha: float) -> float:
        """Return the share itself."""
        return self.value

    def needed_units(
        self, threshold: float, *, power: float = 0.8, level: float = 0.95
    ) -> tuple[int, int] | None:
        """Return None: these rows are all there are."""
        return None
