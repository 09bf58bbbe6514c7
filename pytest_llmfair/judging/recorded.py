"""A result as plain data from which every number and the verdict can be computed again."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from pytest_llmfair._util.plain_data import (
    CannotRecord,
    Pseudonyms,
    digests_of,
    from_plain,
    to_plain,
)
from pytest_llmfair.judging.assertion import EstimateAssertion, positional, quantity_of
from pytest_llmfair.judging.inputs import MetricInputs, MissingData
from pytest_llmfair.judging.non_inferiority import LOSS
from pytest_llmfair.judging.pipeline import evaluate
from pytest_llmfair.judging.result import Result
from pytest_llmfair.judging.rules import Rules, Unregistered
from pytest_llmfair.judging.sequential import as_betting
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.metrics.counterfactual.invariance import INVARIANCE, invariance_of_prepared
from pytest_llmfair.session import Recorder, recording
from pytest_llmfair.settings import Settings
from pytest_llmfair.stats import (
    BettingMean,
    Estimate,
    Finding,
    Sample,
    Undefined,
    WorstGroups,
)
from pytest_llmfair.stats.corrected_gap import CORRECTED_GAP, corrected_gap
from pytest_llmfair.stats.crossed import CROSSED, Crossed
from pytest_llmfair.stats.crossed_mean import ROBUST, over_levels
from pytest_llmfair.stats.difference import loss_between

# Calls whose arguments are estimates.
JOINED = (LOSS, CROSSED, ROBUST)
# What a result says of answers and of the session, or adds after its verdict.
AS_GIVEN = {
    *("data", "differences", "waiver", "origin", "options", "examples", "direction_words"),
    *("compared", "looks", "over_looks", "calls", "recorded"),
}
_SETTINGS = ("mode", "inconclusive", "underpowered", "family", "failing")
# Arguments that name groups, which reports show.
_LABELS = ("groups", "reference", "majority")
_METRIC = tuple(each.name for each in fields(Unregistered))
_TEXTS_OF_ROWS = ("prompts", "outputs")
_NEEDS_TEXTS = (
    "this metric reads the words of the answers, which are not kept; "
    "--llmfair-save-text keeps them"
)
_OTHER_RESULT = "the arguments of its metric alone give another result"


def recipe_of(estimate: Estimate) -> dict[str, Any]:
    """Return the calls of metrics that made an estimate; raise `CannotRecord` if unknown."""
    call = estimate.call
    if call is None and isinstance(estimate, Undefined):
        sample = estimate.sample
        return {"undefined": [estimate.undefined, sample.units, sample.generations]}
    if call is None and isinstance(estimate, WorstGroups):
        parts = [[key, recipe_of(part)] for key, part in estimate.parts.items()]
        sample = estimate.sample
        return {"worst_of": parts, "about": [estimate.direction, sample.units, sample.generations]}
    if call is None:
        kind = type(estimate).__name__
        raise CannotRecord(f"the {kind} was not made by a metric, so nothing can repeat it")
    args = [recipe_of(each) if isinstance(each, Estimate) else each for each in call.args]
    made = {"metric": call.metric, "args": args, "keywords": dict(call.keywords)}
    if call.metric in JOINED:
        made["findings"] = _plain(estimate.findings)
    if call.metric == INVARIANCE and call.args[2] is None:
        raise CannotRecord("the dissimilarity is a function of the user, which is not recorded")
    return {**made, "quantity": call.quantity, "betting": isinstance(estimate, BettingMean)}


def estimate_of(recipe: dict[str, Any]) -> Estimate:
    """Return the estimate that a recipe describes."""
    if "undefined" in recipe:
        why, units, generations = recipe["undefined"]
        sample = Sample(units=units, generations=generations, fewest=0, most=0)
        return Undefined(undefined=why, sample=sample)
    if "worst_of" in recipe:
        direction, units, generations = recipe["about"]
        parts = {tuple(key): estimate_of(part) for key, part in recipe["worst_of"]}
        return WorstGroups.of_parts(parts, direction, units=units, generations=generations)
    name, args, keywords = recipe["metric"], recipe["args"], recipe["keywords"]
    if name == LOSS:
        sides, about = args[:2], args[2:]
        found = loss_between([estimate_of(side) for side in sides], *about)
    elif name == CROSSED:
        found = Crossed.join(*map(estimate_of, args))
    elif name == ROBUST:
        found = over_levels(estimate_of(args[0]), **keywords)
    elif name == INVARIANCE:
        first, second, symbol = args
        found = invariance_of_prepared(first, second, symbol, **keywords)
    elif name == CORRECTED_GAP:
        found = corrected_gap(*args, **keywords)
    else:
        found = get_metric(name).function(*args, **keywords)
    if name not in JOINED:
        found = quantity_of(found, recipe["quantity"])
    if "findings" in recipe:
        found = replace(found, findings=tuple(Finding(*each) for each in recipe["findings"]))
    return as_betting(found) if recipe["betting"] else found


def to_record(result: Result, settings: Settings, *, texts: bool) -> dict[str, Any]:
    """Return plain data to judge a result again, or why nothing can; words may be pseudonyms."""
    try:
        data = _data_of(result, settings)
        for each in (data, _with_own_findings(data, result)):
            record: dict[str, Any] = to_plain(each if texts else _without_texts(each))
            again = judge_again(json.loads(json.dumps(record)), result.nodeid)
            # A record that gives another result would accuse an honest run of a forgery.
            if not differences(result.to_dict(), again.to_dict()):
                return record
    except CannotRecord as error:
        return {"cannot": str(error)}
    except (ValueError, TypeError):
        pass
    return {"cannot": _OTHER_RESULT if texts else _NEEDS_TEXTS}


def _with_own_findings(data: dict[str, Any], result: Result) -> dict[str, Any]:
    """Add what was found before the metric was called, such as a judge that follows the order."""
    recipe = data["estimate"]
    if "metric" not in recipe or "findings" in recipe or result.assertion is None:
        return data
    found = _plain(result.assertion.estimate.findings)
    return {**data, "estimate": {**recipe, "findings": found}}


def kept_of(result: Result, settings: Settings) -> dict[str, Any]:
    """Return a result's data and digests of its rows, for baseline and evidence."""
    try:
        rows = digest_of_rows(_data_of(result, settings)["estimate"])
    except CannotRecord:
        rows = ""
    prompts = result.evidence.prompts if result.evidence else ()
    return {
        "prompts": [[hashlib.sha256(x.encode()).hexdigest() for x in row] for row in prompts],
        "answers": _digest_of_answers(result),
        "rows": rows,
        "texts": settings.save_text,
        "data": to_record(result, settings, texts=settings.save_text),
    }


def _digest_of_answers(result: Result) -> str | None:
    """Return one digest of all answers that a result is about; None without any."""
    inputs = result.evidence
    if inputs is None:
        return None
    outputs: Any = [inputs.every] if inputs.every else inputs.outputs
    return digests_of(replace(inputs, outputs=outputs))["answers_sha256"]


def judge_again(record: Mapping[str, Any], nodeid: str) -> Result:
    """Return the result of a record of :func:`to_record`; ``ValueError`` where nothing can."""
    if "cannot" in record:
        raise ValueError(record["cannot"])
    data = from_plain(record)
    try:
        assertion, settings = _assertion_of(data), Settings(**data["settings"])
    except (KeyError, TypeError) as error:
        # Fields and arguments that one of two versions does not know.
        why = f"its data are those of another version of pytest-llmfair ({error})"
        raise ValueError(why) from error
    with recording(Recorder(nodeid, settings)):
        return evaluate(assertion)


def _assertion_of(data: Mapping[str, Any]) -> EstimateAssertion:
    inputs = MetricInputs(
        **{
            **data["inputs"],
            "findings": tuple(Finding(*each) for each in data["inputs"]["findings"]),
            "missing_data": MissingData(**data["inputs"]["missing_data"]),
        }
    )
    metric = None if data["metric"] is None else Unregistered(*data["metric"])
    rules = Rules(**data["rules"])
    return EstimateAssertion(estimate_of(data["estimate"]), data["bound"], metric, rules, inputs)


def estimate_again(record: Mapping[str, Any]) -> Estimate:
    """Return the estimate of a record of :func:`to_record`, without a verdict."""
    return estimate_of(from_plain(record)["estimate"])


def changed_call(
    record: Mapping[str, Any],
    change: Callable[[list[Any], dict[str, Any]], tuple[list[Any], dict[str, Any]] | None],
) -> dict[str, Any] | None:
    """Return a record with its metric's arguments changed; None where that cannot be."""
    data = from_plain(record)
    estimate = _changed(data["estimate"], change)
    return None if estimate is None else to_plain({**data, "estimate": estimate})


def _changed(recipe: dict[str, Any], change: Callable[..., Any]) -> dict[str, Any] | None:
    if "worst_of" in recipe:
        parts = [[key, _changed(part, change)] for key, part in recipe["worst_of"]]
        return None if any(part is None for _, part in parts) else {**recipe, "worst_of": parts}
    # Other answers would need other labels.
    if recipe.get("metric", LOSS) in (*JOINED, CORRECTED_GAP):
        return None
    found = change(list(recipe["args"]), dict(recipe["keywords"]))
    return None if found is None else {**recipe, "args": found[0], "keywords": found[1]}


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return the fields in which two results as plain data differ by more than 1e-9."""
    # Other versions of numpy round differently.
    # A waiver decides by the date whether a result is red.
    given = AS_GIVEN | {"red", "postponed"} if first["waiver"] else AS_GIVEN
    return [
        name
        for name, value in second.items()
        # An earlier version lacks what is empty here.
        if name not in given and (name in first or value) and not _same(first.get(name), value)
    ]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    return bool(a == b)


def _data_of(result: Result, settings: Settings) -> dict[str, Any]:
    assertion = result.assertion
    if assertion is None:
        raise CannotRecord("the result came from another process, without its data")
    inputs = assertion.inputs
    held = {each.name: getattr(inputs, each.name) for each in fields(inputs)}
    # The estimate's own calls hold the arguments.
    held |= {"args": (), "keywords": {}, "every": {}, "findings": _plain(inputs.findings)}
    missing = inputs.missing_data
    held["missing_data"] = {each.name: getattr(missing, each.name) for each in fields(missing)}
    metric = assertion.metric
    return {
        "estimate": recipe_of(assertion.estimate),
        "bound": assertion.bound,
        "metric": None if metric is None else [getattr(metric, name) for name in _METRIC],
        "rules": {
            **{each.name: getattr(assertion.rules, each.name) for each in fields(Rules)},
            # A later version may judge the metric at another level.
            "level": result.level,
        },
        "inputs": held,
        "settings": {name: getattr(settings, name) for name in _SETTINGS},
    }


def _plain(findings: Iterable[Finding]) -> list[list[str]]:
    return [[each.code, each.text, each.kind] for each in findings]


def _without_texts(data: dict[str, Any]) -> dict[str, Any]:
    """Replace words of answers and prompts by pseudonyms, the same word by the same one."""
    pseudonyms = Pseudonyms()
    inputs = {**data["inputs"], **dict.fromkeys(_TEXTS_OF_ROWS, ())}
    if flags := inputs["missing_data"].get("flags"):
        held = {**inputs["missing_data"], "flags": pseudonyms.of_data(flags)}
        inputs["missing_data"] = held
    estimate = _calls_without_texts(data["estimate"], pseudonyms)
    return {**data, "inputs": inputs, "estimate": estimate}


def _calls_without_texts(recipe: dict[str, Any], pseudonyms: Pseudonyms) -> dict[str, Any]:
    if "undefined" in recipe:
        return recipe
    if "worst_of" in recipe:
        parts = [[key, _calls_without_texts(part, pseudonyms)] for key, part in recipe["worst_of"]]
        return {**recipe, "worst_of": parts}
    name, args, keywords = recipe["metric"], recipe["args"], dict(recipe["keywords"])
    if name in JOINED:
        args = [
            _calls_without_texts(each, pseudonyms) if isinstance(each, dict) else each
            for each in args
        ]
        return {**recipe, "args": args}
    if name == INVARIANCE:
        texts = {"placebo"}
        every = True
        args = [*(pseudonyms.of_data(each, every=True) for each in args[:2]), args[2]]
    elif name == CORRECTED_GAP:
        return recipe  # numbers, and names of groups and strata
    else:
        info = get_metric(name)
        texts = {*positional(info), "placebo"} - {*_LABELS}
        # Answers of a single word are texts too, but one word elsewhere is a label.
        every = info.needs in ("texts", "text_pairs", "prompts")
        args = [pseudonyms.of_data(each, every=every) for each in args]
    for key in [each for each in keywords if each in texts]:
        keywords[key] = pseudonyms.of_data(keywords[key], every=every)
    if keywords.get("units") is not None:
        # Labels of units have pseudonyms of their own: two models that were asked the same must
        # keep the same labels, whatever they answered.
        keywords["units"] = Pseudonyms().of_data(list(keywords["units"]), every=True)
    return {**recipe, "args": args, "keywords": keywords}


def digest_of_rows(recipe: Mapping[str, Any]) -> str:
    """Return one digest of the units and groups of all rows, which tells people apart."""
    labels: list[Any] = []
    waiting: list[Any] = [recipe]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict) and "worst_of" in each:
            waiting += [part for _, part in each["worst_of"]]
        elif isinstance(each, dict) and "metric" in each:
            keywords = each["keywords"]
            # The repr of a long array leaves most of its labels out.
            given = [keywords.get(name) for name in ("units", *_LABELS)]
            given += [keywords["rounds"]] if keywords.get("rounds") is not None else []
            labels.append([repr(x.tolist() if hasattr(x, "tolist") else x) for x in given])
            waiting += each["args"] if each["metric"] in JOINED else []
    return hashlib.sha256(json.dumps(labels).encode()).hexdigest()
