"""Counterfactual invariance: the dissimilarity, and the answers that it compares."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_llmfair.judging.arrange import AnswerRows
from pytest_llmfair.judging.assertion import Assertion, Compare, TextScorer
from pytest_llmfair.judging.rules import Rules
from pytest_llmfair.metrics import MetricInfo, get_metric
from pytest_llmfair.responses import Missing, PairedResponses, Responses
from pytest_llmfair.stats import Estimate

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
    from pytest_llmfair.metrics.counterfactual.invariance import counterfactual_invariance

    pairs = getattr(source, "pairs", source)
    first = pairs[0] if isinstance(pairs, (list, tuple)) and pairs else None
    attribute = str(getattr(first, "attribute", "") or "")
    what = [attribute, measure.symbol, "" if on == "excess" else on]

    def function(texts_a: Any, texts_b: Any, **keywords: Any) -> Estimate:
        return counterfactual_invariance(texts_a, texts_b, measure, **keywords)

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
    from pytest_llmfair.metrics.counterfactual import invariance as _invariance

    if not isinstance(metric, str):
        return _invariance.own_measure(metric)
    if metric in ("rouge_l", "counterfactual_rouge_l"):
        return _invariance.rouge_measure(mask)
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
    make = _invariance.sides_measure if metric != name else _invariance.score_measure
    return make(name, TextScorer(info, scorer))


def _answer_rows(data: Any, placebo: bool, client: Any) -> Any:
    """Return answers given as tuples as rows of texts; pairs to be answered stay as they are."""
    from pytest_llmfair.metrics.arguments import text_rows

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
            raise ValueError("pairs need client=... to answer them, or hand over their answers")
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
