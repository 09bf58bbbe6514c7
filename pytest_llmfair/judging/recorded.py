"""A result as plain data from which every number and the verdict can be computed again."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from pytest_llmfair.judging.arguments import positional
from pytest_llmfair.judging.assertion import EstimateAssertion
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.judging.missing_data import MissingData, difference_of
from pytest_llmfair.judging.pipeline import evaluate
from pytest_llmfair.judging.plain_data import (
    CannotRecord,
    Pseudonyms,
    from_plain,
    to_plain,
)
from pytest_llmfair.judging.recipe import JOINED, LOSS, estimate_of, recipe_of
from pytest_llmfair.judging.result import Result
from pytest_llmfair.judging.rules import Rules, Unregistered
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.metrics.counterfactual.invariance import INVARIANCE
from pytest_llmfair.session import Recorder, recording
from pytest_llmfair.settings import Settings
from pytest_llmfair.stats import Estimate, Finding

# What a result says of answers and of the session, or adds after its verdict.
AS_GIVEN = (
    "data",
    "differences",
    "waiver",
    "data",
    "origin",
    "options",
    "examples",
    "direction_words",
    "compared",
    "looks",
    "over_looks",
    "calls",
    "recorded",
)
_SETTINGS = ("mode", "level", "inconclusive", "underpowered", "family", "failing")
# Arguments that name groups, which reports show.
_LABELS = ("groups", "reference", "majority")
_METRIC = tuple(each.name for each in fields(Unregistered))
_TEXTS_OF_ROWS = ("prompts", "outputs")


def to_record(result: Result, settings: Settings, *, texts: bool) -> dict[str, Any]:
    """Return what is needed to judge a result again.

    Without `texts` words are replaced by pseudonyms, and labels of units by numbers, where the
    result stays the same to the last bit.

    Parameters
    ----------
    result : Result
        A result of this process.
    settings : Settings
        The settings it was judged with.
    texts : bool
        Whether prompts and answers may be kept.

    Returns
    -------
    dict
        Plain JSON data for :func:`judge_again`; with the only key "cannot", and why, where
        nothing can repeat the result.
    """
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
    found = [_finding(each) for each in result.assertion.estimate.findings]
    return {**data, "estimate": {**recipe, "findings": found}}


def kept_of(result: Result, settings: Settings) -> dict[str, Any]:
    """Return what baseline and evidence keep of a result: its data, and digests of its rows."""
    try:
        rows = digest_of_rows(_data_of(result, settings)["estimate"])
    except CannotRecord:
        rows = ""
    return {
        "prompts": digests_of_prompts(result),
        "rows": rows,
        "texts": settings.save_text,
        "data": to_record(result, settings, texts=settings.save_text),
    }


def digests_of_prompts(result: Result) -> list[list[str]]:
    """Return the SHA-256 digest of every prompt of a result, row by row."""
    rows = result.evidence.prompts if result.evidence else ()
    return [[hashlib.sha256(text.encode()).hexdigest() for text in row] for row in rows]


_NEEDS_TEXTS = (
    "this metric reads the words of the answers, which are not kept; "
    "--llmfair-save-text keeps them"
)
_OTHER_RESULT = "the arguments of its metric alone give another result"


def judge_again(record: Mapping[str, Any], nodeid: str) -> Result:
    """Return the result of a record of :func:`to_record`, from its data alone.

    Raises
    ------
    ValueError
        If nothing can repeat the result; the message says why.
    """
    if "cannot" in record:
        raise ValueError(record["cannot"])
    data = from_plain(record)
    inputs = MetricInputs(
        **{
            **data["inputs"],
            "findings": tuple(Finding(*each) for each in data["inputs"]["findings"]),
            "missing_data": _missing_data(data["inputs"]["missing_data"]),
        }
    )
    recipe = _with_findings(data["estimate"])
    metric = None if data["metric"] is None else Unregistered(*data["metric"])
    rules = Rules(**data["rules"])
    assertion = EstimateAssertion(estimate_of(recipe), data["bound"], metric, rules, inputs)
    with recording(Recorder(nodeid, Settings(**data["settings"]))):
        return evaluate(assertion)


def estimate_again(record: Mapping[str, Any]) -> Estimate:
    """Return the estimate of a record of :func:`to_record`, without a verdict."""
    return estimate_of(_with_findings(from_plain(record)["estimate"]))


def changed_call(
    record: Mapping[str, Any],
    change: Callable[[list[Any], dict[str, Any]], tuple[list[Any], dict[str, Any]] | None],
) -> dict[str, Any] | None:
    """Return a record with the arguments of its metric changed; several groups one by one.

    None where `change` returns None for some call, or where there is no single metric.
    """
    data = from_plain(record)
    estimate = _changed(data["estimate"], change)
    return None if estimate is None else to_plain({**data, "estimate": estimate})


def _changed(recipe: dict[str, Any], change: Callable[..., Any]) -> dict[str, Any] | None:
    if "worst_of" in recipe:
        parts = [[key, _changed(part, change)] for key, part in recipe["worst_of"]]
        return None if any(part is None for _, part in parts) else {**recipe, "worst_of": parts}
    if recipe.get("metric", LOSS) in JOINED:
        return None
    found = change(list(recipe["args"]), dict(recipe["keywords"]))
    return None if found is None else {**recipe, "args": found[0], "keywords": found[1]}


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return the names of the fields in which two results as plain data differ.

    Numbers may differ by 1e-9 of their size: other versions of numpy round differently. What was
    made from texts, and by the session, is not compared.
    """
    # A waiver decides by the date whether a result is red.
    given = (*AS_GIVEN, "red", "postponed") if first["waiver"] else AS_GIVEN
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
    held |= {"args": (), "keywords": {}, "findings": [_finding(f) for f in inputs.findings]}
    missing = inputs.missing_data
    held["missing_data"] = {
        each.name: getattr(missing, each.name)
        for each in fields(missing)
        if each.name != "difference"
    }
    metric = assertion.metric
    return {
        "estimate": _plain_findings(recipe_of(assertion.estimate)),
        "bound": assertion.bound,
        "metric": None if metric is None else [getattr(metric, name) for name in _METRIC],
        "rules": {each.name: getattr(assertion.rules, each.name) for each in fields(Rules)},
        "inputs": held,
        "settings": {name: getattr(settings, name) for name in _SETTINGS},
    }


def _missing_data(held: Mapping[str, Any]) -> MissingData:
    missing = MissingData(**held)
    return replace(missing, difference=difference_of(missing.flags)) if missing.flags else missing


def _finding(finding: Finding) -> list[str]:
    return [finding.code, finding.text, finding.kind]


def _plain_findings(recipe: dict[str, Any]) -> dict[str, Any]:
    if "worst_of" in recipe:
        parts = [[key, _plain_findings(part)] for key, part in recipe["worst_of"]]
        return {**recipe, "worst_of": parts}
    found = [_finding(each) for each in recipe.get("findings", ())]
    return {**recipe, "findings": found} if found else recipe


def _with_findings(recipe: dict[str, Any]) -> dict[str, Any]:
    if "worst_of" in recipe:
        parts = [[key, _with_findings(part)] for key, part in recipe["worst_of"]]
        return {**recipe, "worst_of": parts}
    if "findings" not in recipe:
        return recipe
    return {**recipe, "findings": [Finding(*each) for each in recipe["findings"]]}


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
        texts: tuple[str, ...] = ("placebo",)
        every = True
        args = [*(pseudonyms.of_data(each, every=True) for each in args[:2]), args[2]]
    else:
        info = get_metric(name)
        texts = (*positional(info), "placebo")
        # Answers of a single word are texts too, but one word elsewhere is a label.
        every = info.needs in ("texts", "text_pairs", "prompts")
        args = [pseudonyms.of_data(each, every=every) for each in args]
    for key in keywords.keys() & {*texts}:
        if key not in _LABELS:
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
