"""Assertions: collect if needed, measure, judge, record, raise. One per metric, made from the list."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_llmfair import recording
from pytest_llmfair.collecting import Evidence, collect, evidence_for, paired_texts
from pytest_llmfair.metrics import MetricInfo, all_metrics, get_metric
from pytest_llmfair.reports.message import failure_message, first_line
from pytest_llmfair.responses import Missing, PairedResponses, Responses
from pytest_llmfair.results import (
    BoundExceeded,
    Example,
    Inconclusive,
    InvalidEvidence,
    Result,
    Underpowered,
    Verdict,
    error_for,
    judge,
)
from pytest_llmfair.settings import Settings
from pytest_llmfair.stats import Estimate, Sample, Undefined

if TYPE_CHECKING:
    from pytest_llmfair.counterfactuals import Pair

_WORST = 3

# An xfail for an exceeded bound must not hide that other evidence of the test is invalid.
_SERIOUS = (InvalidEvidence, BoundExceeded, Underpowered, Inconclusive)


@dataclass(frozen=True, slots=True)
class Judging:
    """How one assertion is judged; None means what the settings say.

    Attributes
    ----------
    level : float or None
        Two-sided confidence level in (0, 1).
    mode : {"gate", "strict", "point"} or None
        When the verdict is red.
    max_mde : float or None
        Largest detectable distance from the fair value that still counts as a test.
    max_missing : float or None
        Largest share of missing answers per group in [0, 1].
    label : str
        What the report adds to the metric's name.
    """

    level: float | None = None
    mode: str | None = None
    max_mde: float | None = None
    max_missing: float | None = None
    label: str = ""


def current_settings() -> Settings:
    """Return the settings of the running pytest session, or the defaults outside one."""
    recorder = recording.active()
    return recorder.settings if recorder else Settings()


def measure_and_judge(
    name: str,
    data: tuple[Any, ...],
    bound: float | None,
    judging: Judging,
    *,
    client: Any = None,
    scorer: Any = None,
    generations: int | None = None,
    keywords: dict[str, Any] | None = None,
) -> Result:
    """Collect, measure and judge, without recording or raising."""
    info = get_metric(name)
    keywords = dict(keywords or {})
    settings = current_settings()
    if bound is None:
        data, bound = _last_is_bound(info, data)
    if client is not None:
        data = (collect(data[0] if data else [], client, generations or info.generations),)
    limit = settings.max_missing if judging.max_missing is None else judging.max_missing
    evidence = evidence_for(info, data, scorer=_scorer(info, scorer), max_missing=limit)
    if evidence.undefined is None:
        estimate = info.function(*evidence.args, **{**evidence.keywords, **keywords})
    else:
        estimate = _nothing(evidence)
    return _judged(
        estimate,
        bound,
        evidence,
        judging,
        name=info.name,
        direction=info.direction,
        fair_value=info.fair_value,
        unit=info.unit,
    )


def assert_metric(
    name: str,
    *data: Any,
    bound: float | None = None,
    minimum: float | None = None,
    client: Any = None,
    scorer: Any = None,
    generations: int | None = None,
    level: float | None = None,
    mode: str | None = None,
    max_mde: float | None = None,
    max_missing: float | None = None,
    label: str = "",
    **keywords: Any,
) -> Result:
    """Assert that a metric is on the fair side of a bound.

    Parameters
    ----------
    name : str
        Name or alias of a metric (``llmfair metrics`` lists them).
    *data
        The metric's own arguments: arrays, texts, or a mapping of argument names to values; or
        answers (`Responses`, `PairedResponses`); or, with `client`, prompts or pairs to collect
        answers for. A last positional number is the bound.
    bound, minimum : float
        Threshold, inclusive on the fair side: `bound` where lower is fairer or the metric is
        two-sided, `minimum` where higher is fairer.
    client : ModelClient or callable, optional
        Model to collect answers from.
    scorer : callable or str, optional
        Texts to scores in [0, 1], or the name of a scorer; by default the metric's own.
    generations : int, optional
        Answers to collect per prompt; by default the metric's own number.
    level, mode, max_mde, max_missing, label
        See :class:`Judging`.
    **keywords
        Further arguments of the metric, such as `groups` or `threshold`.

    Returns
    -------
    Result
        When the verdict is not red.

    Raises
    ------
    FairnessAssertionError
        The kind that belongs to the verdict: `BoundExceeded`, `InvalidEvidence`, `Inconclusive`,
        `Underpowered`.
    ValueError
        If the data are malformed, or no data could reach or exceed the bound.
    """
    __tracebackhide__ = True
    if bound is not None and minimum is not None:
        raise TypeError("give bound or minimum, not both")
    data, keywords = unpacked(get_metric(name), data, keywords)
    result = measure_and_judge(
        name,
        data,
        bound if minimum is None else minimum,
        Judging(level, mode, max_mde, max_missing, label),
        client=client,
        scorer=scorer,
        generations=generations,
        keywords=keywords,
    )
    return conclude(result)


def assert_within(
    estimate: Estimate,
    bound: float,
    mode: str | None = None,
    *,
    level: float | None = None,
    max_mde: float | None = None,
    label: str = "",
) -> Result:
    """Assert that an estimate is on the fair side of a bound.

    Parameters
    ----------
    estimate : Estimate
        From any metric, or from a kind of estimate of your own; without metric metadata lower is
        taken as fairer, with 0 as the fair value.
    bound : float
        Threshold, inclusive on the fair side.
    mode, level, max_mde, label
        See :class:`Judging`.

    Returns
    -------
    Result
        When the verdict is not red.

    Raises
    ------
    FairnessAssertionError
        As :func:`assert_metric`.
    """
    __tracebackhide__ = True
    if not isinstance(estimate, Estimate):
        raise TypeError(
            f"assert_within takes an Estimate, not a {type(estimate).__name__}; "
            "call a metric of pytest_llmfair.metrics on your data first"
        )
    info = estimate.metric
    result = _judged(
        estimate,
        bound,
        Evidence(),
        Judging(level, mode, max_mde, label=label),
        name=info.name if info else "estimate",
        direction=info.direction if info else "lower",
        fair_value=info.fair_value if info else 0.0,
        unit=info.unit if info else "unit",
    )
    return conclude(result)


def assert_counterfactual_invariance(
    pairs_or_responses: PairedResponses | Sequence[Pair] | Sequence[tuple[Any, Any]],
    eps: float,
    *,
    metric: str | Callable[[str, str], float] = "rouge_l",
    client: Any = None,
    generations: int = 2,
    baseline: str = "resample",
    on: str = "value",
    mask: Any = None,
    scorer: Any = None,
    level: float | None = None,
    mode: str | None = None,
    max_mde: float | None = None,
    max_missing: float | None = None,
    units: Sequence[Any] | None = None,
    population: str | None = None,
    label: str = "",
) -> Result:
    """Assert that answers hardly change when only the group in the prompt changes: E[v] <= eps.

    Counterfactual invariance of Bouchard (2024), section 3.2, with a noise floor: what two answers
    to one and the same prompt differ by.

    Parameters
    ----------
    pairs_or_responses : PairedResponses, list of Pair, or list of tuple
        Answers already collected (also as tuples of the answers to the two members), or pairs to
        collect answers for with `client`.
    eps : float
        Largest mean dissimilarity, inclusive, in [0, 1).
    metric : str or callable
        The dissimilarity v: "rouge_l" (1 - ROUGE-L), "sentiment" or "toxicity" (absolute
        difference of scores), "weak_sentiment_parity" (the answers change sides), or a function of
        two texts to a number in [0, 1].
    client : ModelClient or callable, optional
        Model to collect answers from.
    generations : int
        Answers to collect per member; two or more give the noise floor.
    baseline : {"resample", "none"}
        "none" judges the value alone, whatever the noise floor is.
    on : {"value", "excess"}
        "excess" judges the value minus the noise floor, which is on a squared scale.
    mask : lexicon or list of str, optional
        Words to mask before texts are compared ("rouge_l" only).
    scorer : callable, optional
        Replaces the scorer that `metric` names.
    level, mode, max_mde, max_missing, label
        See :class:`Judging`.
    units, population
        As in every metric.

    Returns
    -------
    Result
        When the verdict is not red.

    Raises
    ------
    FairnessAssertionError
        FAIL when the value is proven above eps and above the noise floor; INVALID when the noise
        floor itself is proven above eps (reason ``floor_above_bound``).
    """
    __tracebackhide__ = True
    from pytest_llmfair.metrics._invariance import counterfactual_invariance

    for name, given, legal in (
        ("baseline", baseline, ("resample", "none")),
        ("on", on, ("value", "excess")),
    ):
        if given not in legal:
            raise ValueError(f"{name} is {given!r}; choose {' or '.join(legal)}")
    settings = current_settings()
    measure = _measure(metric, mask, scorer)
    if client is not None:
        pairs_or_responses = collect(pairs_or_responses, client, generations)
    limit = settings.max_missing if max_missing is None else max_missing
    evidence, rows_a, rows_b, found_units = _two_sides(pairs_or_responses, limit)
    name = f"counterfactual invariance ({measure.symbol}{', excess' if on == 'excess' else ''})"
    judging = Judging(level, mode, max_mde, max_missing, label)
    invalid: dict[str, str] = {}
    needs_excess = None
    if evidence.undefined is None:
        value = counterfactual_invariance(
            rows_a,
            rows_b,
            measure,
            units=units if units is not None else found_units,
            population="sampled" if population is None else population,  # type: ignore[arg-type]
        )
        estimate: Estimate = value
        if value.excess is None:
            if "identical_repeats" not in evidence.reasons:
                evidence.reasons.append("no_noise_floor")
                evidence.notes.append(
                    "one answer a side gives no noise floor: sampling alone may explain the value; "
                    "collect two or more generations"
                )
            if on == "excess":
                raise ValueError("on='excess' needs two or more answers a side; raise generations")
        elif on == "excess":
            estimate = value.excess
            evidence.notes.append(
                "the excess is on a squared scale, not that of a bound for the value: "
                f"its square root is {max(estimate.value, 0.0) ** 0.5:.3f}"
            )
        elif baseline == "resample":
            needs_excess = value.excess
            if value.floor is not None and value.floor.p_exceeds(eps) < _alpha(judging, settings):
                invalid["floor_above_bound"] = (
                    f"the noise floor {value.floor.value:.3f} is itself above {eps:g}: no model as "
                    "noisy as this could pass; lower the temperature, raise eps, or compare "
                    "distributions (strict_sentiment_parity)"
                )
    else:
        estimate = _nothing(evidence)
    result = _judged(
        estimate,
        eps,
        evidence,
        judging,
        name=name,
        direction="lower",
        fair_value=0.0,
        unit="pair",
        excess=needs_excess,
        floor_invalid=invalid,
    )
    return conclude(result)


def conclude(result: Result) -> Result:
    """Record a result; raise or skip as its mode and the policies say; return it otherwise."""
    __tracebackhide__ = True
    record(result)
    conclude_all([result])
    return result


def record(result: Result) -> None:
    """Hand a result to the running test's record; nothing outside pytest."""
    recorder = recording.active()
    if recorder is not None:
        recorder.results.append(result)


def conclude_all(results: Sequence[Result]) -> None:
    """Raise for red results, in one error of the most serious kind; else follow the policies."""
    __tracebackhide__ = True
    settings = current_settings()
    red = sorted((r for r in results if r.red), key=lambda r: _SERIOUS.index(error_for(r)))
    if red:
        messages = [failure_message(r, show_text=settings.show_text) for r in red]
        raise error_for(red[0])(red[0], "\n\n".join(messages))
    if recording.active() is None:
        return
    for result in results:
        policy = {
            Verdict.INCONCLUSIVE: settings.inconclusive,
            Verdict.UNDERPOWERED: settings.underpowered,
        }.get(result.verdict)
        if result.mode == "gate" and policy in ("skip", "xfail"):
            import pytest

            (pytest.skip if policy == "skip" else pytest.xfail)(first_line(result))


def _judged(
    estimate: Estimate, bound: float, evidence: Evidence, judging: Judging, **about: Any
) -> Result:
    recorder = recording.active()
    settings = current_settings()
    estimate.reasons = tuple(dict.fromkeys((*estimate.reasons, *evidence.reasons)))
    estimate.notes = tuple(dict.fromkeys((*estimate.notes, *evidence.notes)))
    total: dict[str, int] = {}
    for reasons in evidence.missing.values():
        for reason, n in reasons.items():
            total[reason] = total.get(reason, 0) + n
    if judging.label:
        about["name"] = f"{about['name']} {judging.label}"
    return judge(
        estimate,
        bound,
        settings=settings,
        mode=judging.mode,
        level=judging.level,
        max_mde=judging.max_mde,
        invalid=evidence.invalid,
        missing=dict(sorted(total.items())),
        missing_by_group=evidence.missing,
        examples=_examples(estimate, evidence, about["direction"]),
        nodeid=recorder.nodeid if recorder else "",
        seed=settings.seed,
        model=settings.model,
        **about,
    )


def _examples(estimate: Estimate, evidence: Evidence, direction: str) -> tuple[Example, ...]:
    """Return the rows that drive the value, the worst first."""
    values = estimate.rows
    if not values or len(values) != len(evidence.prompts):
        return ()
    order = sorted(range(len(values)), key=lambda i: values[i], reverse=direction != "higher")
    return tuple(
        Example(
            float(values[i]),
            evidence.prompts[i],
            tuple(side[0] for side in evidence.outputs[i]),
            evidence.labels,
        )
        for i in order[:_WORST]
    )


def _nothing(evidence: Evidence) -> Undefined:
    return Undefined(
        undefined=evidence.undefined, sample=Sample(units=0, generations=0, fewest=0, most=0)
    )


def _alpha(judging: Judging, settings: Settings) -> float:
    level = settings.level if judging.level is None else judging.level
    return round((1.0 - level) / 2.0, 15)


def _scorer(info: MetricInfo, scorer: Any) -> Callable[[Sequence[str]], Any]:
    """Return texts -> scores; scorers load only when there are texts to score."""

    def score_texts(texts: Sequence[str]) -> Any:
        from pytest_llmfair.scorers import load_scorers, score

        chosen = info.scorer if scorer is None else scorer
        return score(load_scorers()[chosen] if isinstance(chosen, str) else chosen, texts)

    return score_texts


def _measure(metric: str | Callable[[str, str], float], mask: Any, scorer: Any) -> Any:
    from pytest_llmfair.metrics import _invariance

    if not isinstance(metric, str):
        return _invariance.own_measure(metric)
    if metric in ("rouge_l", "counterfactual_rouge_l"):
        return _invariance.rouge_measure(mask)
    if mask is not None:
        raise ValueError(f"mask belongs to metric='rouge_l', not to {metric!r}; leave it out")
    known = ("rouge_l", "sentiment", "toxicity", "weak_sentiment_parity")
    if metric not in known:
        import difflib

        near = difflib.get_close_matches(metric, known, n=1)
        raise ValueError(
            f"metric {metric!r} is no dissimilarity of two answers; "
            + (f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(known)}")
            + " A function of two texts is also taken."
        )
    name = "sentiment" if metric == "weak_sentiment_parity" else metric
    info = get_metric("toxic_fraction" if name == "toxicity" else "weak_sentiment_parity")
    make = _invariance.sides_measure if metric != name else _invariance.score_measure
    return make(name, _scorer(info, scorer))


def _two_sides(data: Any, max_missing: float) -> tuple[Evidence, Any, Any, list[str] | None]:
    if isinstance(data, PairedResponses):
        return paired_texts(data, max_missing)
    if isinstance(data, Responses):
        raise ValueError("answers to single prompts have no counterpart; collect answers to pairs")
    rows = list(data)
    if not rows:
        raise ValueError("there are no pairs; give at least one")
    for i, row in enumerate(rows):
        if hasattr(row, "original"):
            raise ValueError("pairs need client=... to answer them, or hand over their answers")
        if isinstance(row, (str, Missing)) or len(row) != 2:
            raise ValueError(f"row {i} is {str(row)[:40]!r}; give (answers, answers of the twin)")
    return Evidence(), [row[0] for row in rows], [row[1] for row in rows], None


def unpacked(
    info: MetricInfo, data: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Spread a mapping of argument names, or one tuple for a metric of two arguments."""
    if data and isinstance(data[0], dict) and set(data[0]) <= set(_parameters(info)):
        given = dict(data[0])
        positional = [given.pop(name) for name in _positional(info) if name in given]
        return (*positional, *data[1:]), {**given, **keywords}
    if data and isinstance(data[0], tuple) and len(data[0]) == len(_positional(info)) > 1:
        return (*data[0], *data[1:]), keywords
    return data, keywords


def _parameters(info: MetricInfo) -> list[str]:
    return list(inspect.signature(info.function).parameters)


def _positional(info: MetricInfo) -> list[str]:
    """Return the names of the arguments a metric cannot do without."""
    return [
        name
        for name, parameter in inspect.signature(info.function).parameters.items()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.default is parameter.empty
    ]


def _last_is_bound(info: MetricInfo, data: tuple[Any, ...]) -> tuple[tuple[Any, ...], float]:
    if len(data) < 2 or isinstance(data[-1], bool) or not isinstance(data[-1], (int, float)):
        word = "minimum" if info.direction == "higher" else "bound"
        raise TypeError(f"{info.assertion}() needs {word}=..., the value you can still accept")
    return data[:-1], data[-1]


def _make(info: MetricInfo) -> Callable[..., Result]:
    """Make the assertion of a metric."""
    word = "minimum" if info.direction == "higher" else "bound"

    def assertion(*data: Any, **keywords: Any) -> Result:
        __tracebackhide__ = True
        wrong = "bound" if word == "minimum" else "minimum"
        if wrong in keywords:
            raise TypeError(f"{info.assertion}() takes {word}=..., not {wrong}=...")
        return assert_metric(info.name, *data, **keywords)

    assertion.__name__ = assertion.__qualname__ = info.assertion
    assertion.__module__ = __name__
    side = "at least" if word == "minimum" else "within"
    assertion.__doc__ = (
        f"Assert that {info.name} is {side} a {word}: {info.summary}\n\n"
        f"The arguments of :func:`pytest_llmfair.metrics.{info.name}`, then ``{word}``; everything "
        "else as in :func:`assert_metric`."
    )
    return assertion


def __getattr__(name: str) -> Any:
    if not name.startswith("assert_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = {info.assertion: info for info in all_metrics().values()}
    if name in made:
        globals()[name] = _make(made[name])
        return globals()[name]
    raise ImportError(_no_such_assertion(name, list(made)))


def _no_such_assertion(name: str, made: list[str]) -> str:
    import difflib

    stem = name.removesuffix("_within").removesuffix("_at_least")
    own = [other for other in made if other.startswith(f"{stem}_") and name != other]
    near = [o for o in own if o.removesuffix("_within").removesuffix("_at_least") == stem]
    near = near or difflib.get_close_matches(name, [*made, *_FIXED], n=3, cutoff=0.5)
    hint = f"use {' or '.join(near)}" if near else "`llmfair metrics` lists all metrics"
    return f"there is no {name}; {hint}"


_FIXED = ("assert_counterfactual_invariance", "assert_metric", "assert_within")


def __dir__() -> list[str]:
    return sorted({*_FIXED, *(info.assertion for info in all_metrics().values())})


__all__ = ["Judging", "assert_counterfactual_invariance", "assert_metric", "assert_within"]
