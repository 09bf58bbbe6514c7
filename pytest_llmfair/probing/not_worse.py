"""The assertion that a model is hardly less fair than another: both are asked the same."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_llmfair.judging.assertion import Assertion, Source, check_keywords
from pytest_llmfair.judging.bound import WORSE, Bound
from pytest_llmfair.judging.collecting import drop_invalid_pairs
from pytest_llmfair.judging.inputs import MetricInputs, has_answers
from pytest_llmfair.judging.non_inferiority import NAMES, Side, check_same, compared
from pytest_llmfair.judging.outcome import conclude
from pytest_llmfair.judging.pipeline import Measured, ask, measure
from pytest_llmfair.judging.result import Result
from pytest_llmfair.judging.rules import Rules, current_settings, is_number
from pytest_llmfair.judging.scoring import TextScorer
from pytest_llmfair.metrics import MetricInfo, get_metric
from pytest_llmfair.responses import PairedResponses, Responses, rows_of
from pytest_llmfair.stats import Estimate, Finding
from pytest_llmfair.stats.difference import Pairing

# What callers may have written instead of a keyword.
_OTHER_WORDS = {
    **dict.fromkeys(("bound", "minimum", "eps", "threshold"), "margin"),
    "n": "generations",
}
_FORM = (
    'assert_not_worse("strict_sentiment_parity", pairs, candidate=..., baseline=..., margin=0.02)'
)
_MEASURED = (Estimate, Result)
_ANSWERS = (Responses, PairedResponses)


def assert_not_worse(
    *data: Any,
    candidate: Any = None,
    baseline: Any = None,
    margin: float | None = None,
    paired: bool | None = None,
    scorer: Any = None,
    generations: int | None = None,
    level: float | None = None,
    mode: str | None = None,
    max_mde: float | None = None,
    max_missing: float | None = None,
    max_invalid: float | None = None,
    max_uncertain: float | None = None,
    label: str = "",
    unit: str = "",
    family: str = "session",
    **keywords: Any,
) -> Result:
    """Assert that a model is at most a margin less fair than another.

    Non-inferiority: the judged value is how much worse the candidate is, in the direction of the
    metric. Where both models show how much two answers to the same prompt differ, or one always
    gives the same answer, this noise is subtracted from both. With more than two groups every two
    are compared, and the largest loss is judged.

    Parameters
    ----------
    *data
        Name of a metric, then prompts or pairs (optional where answers are given). Without a
        metric: candidate, baseline and margin, in this order.
    candidate, baseline
        The two models. With a metric: a client, a function of a prompt, answers (`Responses`,
        `PairedResponses`), a specification such as "responses:old.jsonl", or the `Path` of
        recorded answers. Without one: two estimates of the same metric, or two results of the
        same assertion. Signed metrics are compared by their distance to 0.
    margin : float
        Largest loss that is accepted, inclusive, on the metric's scale.
    paired : bool, optional
        Whether row i of either model is about the same unit. By default rows are paired where
        both models answered the same prompts or have the same labels in `units` (or `rounds`);
        other data are compared as independent samples. The message says which was done.
    scorer, generations
        As in :func:`pytest_llmfair.assert_metric`.
    level, mode, max_mde, max_missing, max_invalid, max_uncertain, label, unit, family
        See :class:`Rules`.
    **keywords
        Further arguments of the metric, such as `groups` or `threshold`.

    Raises
    ------
    FairnessAssertionError
        As :func:`pytest_llmfair.assert_metric`.
    TypeError, ValueError
        If something is missing, or the two differ in metric or prompts.

    Examples
    --------
    >>> from pytest_llmfair import assert_not_worse
    >>> from pytest_llmfair.metrics import toxic_fraction
    >>> old = toxic_fraction([[0.9, 0.1]] * 40 + [[0.2, 0.3]] * 60)
    >>> new = toxic_fraction([[0.9, 0.1]] * 30 + [[0.2, 0.3]] * 70)
    >>> result = assert_not_worse(candidate=new, baseline=old, margin=0.02, paired=True)
    >>> result.verdict.value, round(result.value, 3)
    ('PASS', -0.05)
    """
    __tracebackhide__ = True
    # A specification of a model has a colon.
    named = bool(data) and isinstance(data[0], str) and ":" not in data[0]
    info = get_metric(data[0]) if named else None
    check_keywords(assert_not_worse, info, keywords, _OTHER_WORDS, collected=True)
    rules = Rules.of(locals())
    word: Pairing | None = None if paired is None else "rows" if paired else "independent"
    models = {"candidate": candidate, "baseline": baseline}
    left, margin = _sorted_out(data, info, models, margin)
    if all(isinstance(each, _MEASURED) for each in models.values()):
        sides = [Side.of(each) for each in models.values()]
        return conclude(compared(sides, info, margin, rules, how=word))
    info = _metric_of_two(info, models)
    bound = Bound.checked(margin, "lower", 0.0, (-math.inf, math.inf), f"{info.name} {WORSE}")
    asked, units = _asked_of_both(left, models, keywords)
    request = Assertion.of(
        info,
        (asked,),
        margin,
        rules,
        client=models,
        generations=generations,
        scorer=TextScorer(info, scorer),
        keywords={**keywords, "units": units},
    )
    items = request.check_request()
    clients = {name: _client(each) for name, each in models.items()}
    answers = _ask_models(request, bound, len(items), clients)
    shared, found = _measured_alike(_assertions_on(request, answers))
    sides = [Side(estimate, info, inputs) for inputs, estimate in found]
    return conclude(compared(sides, info, margin, rules, shared, word or "prompts"))


def _sorted_out(
    data: Sequence[Any], info: MetricInfo | None, models: dict[str, Any], margin: float | None
) -> tuple[list[Any], float | None]:
    """Take models and margin from the arguments by position; return what is asked, and it."""
    left = list(data[info is not None :])
    if margin is None and left and is_number(left[-1]):
        margin = left.pop()
    if info is None:
        for name in NAMES:
            if models[name] is None and left:
                models[name] = left.pop(0)
    for name, given in {**models, "margin": margin}.items():
        if given is None:
            raise TypeError(f"assert_not_worse() needs {name}=...: {_FORM}")
    if len(left) > (info is not None):
        raise TypeError(
            f"assert_not_worse() got {len(data)} arguments by position, which is too many: {_FORM}"
        )
    return left, margin


def _metric_of_two(info: MetricInfo | None, models: Mapping[str, Any]) -> MetricInfo:
    """Return the metric; raise ``TypeError`` unless there are a metric and two models."""
    if info is None and any(map(_is_model, models.values())):
        raise TypeError(f"two models are compared by a metric, on prompts or pairs: {_FORM}")
    if info is None:
        odd = next(each for each in models.values() if not isinstance(each, _MEASURED))
        raise TypeError(
            f"assert_not_worse takes an Estimate, not a {type(odd).__name__}; call a metric of "
            f"pytest_llmfair.metrics on your data first, or compare two models: {_FORM}"
        )
    for name, model in models.items():
        if not _is_model(model):
            raise TypeError(
                f"{name} is a {type(model).__name__}; give two clients, functions of a prompt, "
                "answers, or model specifications such as 'responses:old.jsonl' (or two "
                f"estimates, or two results): {_FORM}"
            )
    return info


def _asked_of_both(
    items: Sequence[Any], models: Mapping[str, Any], keywords: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Return the prompts or valid pairs that both models answer, and their units."""
    answers = [each for each in models.values() if isinstance(each, _ANSWERS)]
    asked = [*items, *map(_asked, answers)]
    if not asked:
        raise TypeError(f"assert_not_worse() needs the prompts or pairs to ask: {_FORM}")
    if isinstance(asked[0], _ANSWERS):
        raise TypeError(f"give answers as candidate= and baseline=: {_FORM}")
    return drop_invalid_pairs(asked[0], keywords.get("units"))


def _ask_models(
    assertion: Assertion, bound: Bound, asked: int, models: Mapping[str, Any]
) -> list[Any]:
    """Ask several models the same, or take their answers; plan for all before ending a test."""
    import pytest

    answers: list[Any] = []
    stopped = None
    for name, model in models.items():
        if isinstance(model, (Responses, PairedResponses)):
            answers.append(model)
            continue
        try:
            answers.append(ask(assertion, bound, model, assertion.source.first, asked, name))
        except pytest.skip.Exception as stop:
            if not current_settings().plan:
                raise
            stopped = stop
    if stopped is not None:
        raise stopped
    return answers


def _assertions_on(request: Assertion, answers: Sequence[Any]) -> list[Assertion]:
    """Return one assertion per model, which measures its answers and does not judge them."""
    asked = request.source.first
    assertions = []
    for name, each in zip(NAMES, answers, strict=True):
        valid, _ = drop_invalid_pairs(each)
        check_same(name, asked, _asked(valid))
        source = replace(request.source, data=(valid,), client=None)
        assertions.append(replace(request, bound=None, source=source))
    return assertions


def _measured_alike(
    assertions: Sequence[Assertion],
) -> tuple[Sequence[Assertion], list[Measured]]:
    """Measure both models on what both answered; missing answers are counted over all prompts."""
    found = [measure(each, each.source.data, each.source.units) for each in assertions]
    answers = [each.source.first for each in assertions]
    whole_rows = assertions[0].metric.whole_rows
    kept = [
        row
        for row, of_both in enumerate(zip(*answers, strict=True))
        if all(_answered(each, whole_rows) for each in of_both)
    ]
    n = len(answers[0])
    if not 0 < len(kept) < n:
        return assertions, found
    lost = f"{n - len(kept)} of {n} prompts or pairs left out"
    text = f"{lost}: an answer of one of the models is missing"
    note = Finding("not_answered_by_both", text, "note")
    shared = [_on_rows(each, kept) for each in assertions]
    for i, (each, (before, _)) in enumerate(zip(shared, found, strict=True)):
        inputs, estimate = measure(each, each.source.data, each.source.units)
        found[i] = _with_missing_of(before, inputs.with_findings(note)), estimate
    return shared, found


def _on_rows(assertion: Assertion, kept: Sequence[int]) -> Assertion:
    source = assertion.source
    units = source.units and [list(source.units)[row] for row in kept]
    return replace(assertion, source=Source((rows_of(source.first, kept),), units))


def _with_missing_of(before: MetricInputs, inputs: MetricInputs) -> MetricInputs:
    findings = [each for each in inputs.findings if each.kind != "invalid"]
    findings += [each for each in before.findings if each.kind == "invalid"]
    return replace(
        inputs,
        findings=tuple(findings),
        missing=before.missing,
        missing_data=before.missing_data,
        cut=before.cut,
        origin=before.origin,
    )


def _is_model(given: Any) -> bool:
    """Return whether this is a model to ask, or its answers."""
    named = isinstance(given, (*_ANSWERS, str, Path))
    asked = any(callable(getattr(given, way, None)) for way in ("generate", "ainvoke"))
    return not isinstance(given, (Estimate, Result)) and (named or asked or callable(given))


def _client(model: Any) -> Any:
    if not isinstance(model, (str, Path)):
        return model
    from pytest_llmfair.clients import load_client

    settings = current_settings()
    spec = f"responses:{model}" if isinstance(model, Path) else model
    return load_client(spec, seed=settings.seed, max_tokens=settings.max_tokens)


def _asked(answers: Any) -> Sequence[Any]:
    return list(answers.pairs if isinstance(answers, PairedResponses) else answers.prompts)


def _answered(row: Sequence[Any], complete: bool) -> bool:
    sides = row if row and isinstance(row[0], (tuple, list)) else (row,)
    return all(has_answers(side, complete) for side in sides)
