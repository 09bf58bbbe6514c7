"""The assertion of counterfactual invariance, with its noise floor."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_llmfair.bounds import Bound
from pytest_llmfair.collecting import (
    Evidence,
    collect,
    is_pair,
    note_sameness,
    paired_texts,
    prompts_or_pairs,
)
from pytest_llmfair.judging import (
    Judging,
    conclude,
    current_settings,
    judged,
    nothing,
    scorer_of,
)
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.responses import Missing, PairedResponses, Responses
from pytest_llmfair.results import Result
from pytest_llmfair.settings import Settings
from pytest_llmfair.stats import Estimate

if TYPE_CHECKING:
    from pytest_llmfair.counterfactuals import Pair


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
    family: str = "session",
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
    level, mode, max_mde, max_missing, label, family
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
    name = f"counterfactual invariance ({measure.symbol}{', excess' if on == 'excess' else ''})"
    judging = Judging(level, mode, max_mde, max_missing, label, family=family)
    if client is not None:
        # Whatever is wrong with the call must show before the first answer is paid for.
        Bound.checked(eps, "lower", 0.0, (0.0, 1.0), name)
        asked = prompts_or_pairs(pairs_or_responses)
        if not is_pair(asked[0]):
            raise ValueError(_NO_TWIN)
        pairs_or_responses = collect(asked, client, generations)  # type: ignore[assignment]
    limit = settings.max_missing if max_missing is None else max_missing
    evidence, rows_a, rows_b, found_units = _two_sides(
        pairs_or_responses, limit, fixed=population == "fixed"
    )
    invalid: dict[str, str] = {}
    needs_excess = None
    if evidence.undefined is None:
        value = counterfactual_invariance(
            rows_a,
            rows_b,
            measure,
            units=found_units if units is None else evidence.units_of(units),
            population="sampled" if population is None else population,  # type: ignore[arg-type]
        )
        estimate: Estimate = value
        if value.excess is None:
            if "identical_repeats" in evidence.reasons:
                evidence.notes.append("its noise floor is 0, so that the value is the excess")
            else:
                evidence.reasons.append("no_noise_floor")
                evidence.notes.append(
                    "one answer a side gives no noise floor: sampling alone may explain the "
                    "value; collect two or more generations"
                )
                if on == "excess":
                    raise ValueError(
                        "on='excess' needs two or more answers a side; raise generations"
                    )
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
                    f"the noise floor {value.floor.value:.3f} is itself above {eps:g}: no model "
                    "as noisy as this could pass; lower the temperature, raise eps, or compare "
                    "distributions (strict_sentiment_parity)"
                )
    else:
        estimate = nothing(evidence)
    result = judged(
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


def _alpha(judging: Judging, settings: Settings) -> float:
    level = settings.level if judging.level is None else judging.level
    return round((1.0 - level) / 2.0, 15)


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
        near = difflib.get_close_matches(metric, known, n=1)
        raise ValueError(
            f"metric {metric!r} is no dissimilarity of two answers; "
            + (f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(known)}")
            + " A function of two texts is also taken."
        )
    name = "sentiment" if metric == "weak_sentiment_parity" else metric
    info = get_metric("toxic_fraction" if name == "toxicity" else "weak_sentiment_parity")
    make = _invariance.sides_measure if metric != name else _invariance.score_measure
    return make(name, scorer_of(info, scorer))


_NO_TWIN = "answers to single prompts have no counterpart; collect answers to pairs"


def _two_sides(
    data: Any, max_missing: float, *, fixed: bool
) -> tuple[Evidence, Any, Any, list[str] | None]:
    from pytest_llmfair.metrics._checks import text_rows

    if isinstance(data, PairedResponses):
        return paired_texts(data, max_missing, fixed=fixed)
    if isinstance(data, Responses):
        raise ValueError(_NO_TWIN)
    if isinstance(data, (str, Mapping)) or not hasattr(data, "__iter__"):
        raise ValueError(
            f"the answers are a {type(data).__name__}; give a list of (answers, answers of the "
            "twin)"
        )
    rows = list(data)
    if not rows:
        raise ValueError("there are no pairs; give at least one")
    for i, row in enumerate(rows):
        if hasattr(row, "original"):
            raise ValueError("pairs need client=... to answer them, or hand over their answers")
        if isinstance(row, (str, Missing)) or not hasattr(row, "__len__") or len(row) != 2:
            raise ValueError(f"row {i} is {str(row)[:40]!r}; give (answers, answers of the twin)")
    evidence = Evidence()
    rows_a, rows_b = note_sameness(
        evidence,
        range(len(rows)),
        text_rows([row[0] for row in rows], "answers"),
        text_rows([row[1] for row in rows], "answers of the twin"),
        fixed=fixed,
    )
    return evidence, rows_a, rows_b, None
