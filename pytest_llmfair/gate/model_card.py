"""``llmfair model-card``: a section of a Hugging Face model card, from the record of a run."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from pytest_llmfair._util.printing import say
from pytest_llmfair._util.wording import finite, span
from pytest_llmfair.gate.documents import (
    TOY_MODEL,
    direction,
    model_names,
    models_of,
    rendered,
    replayed,
    unversioned,
)
from pytest_llmfair.judging.facts import decimals, estimate, threshold
from pytest_llmfair.judging.message import metric_name
from pytest_llmfair.metrics import all_metrics
from pytest_llmfair.reports.columns import shown_in
from pytest_llmfair.reports.record import read_run, results_of

# Families of metrics on predictions, as the Hub names their tasks.
_TASKS = {"classification": "tabular-classification", "allocation": "text-ranking"}
_SOURCE = "https://github.com/pytest-llmfair/pytest-llmfair"


def model_card(record: Mapping[str, Any], *, name: str | None = None) -> str:
    """Return metadata, as YAML, and a section for the model card of the models in a run."""
    results = results_of(record)
    columns = shown_in("card", results)
    context = record.get("context") or {}
    metadata = {"model-index": _models(record, name)}
    return rendered(
        "model_card.md",
        metadata=yaml.safe_dump(metadata, sort_keys=False, allow_unicode=True, width=100),
        headings=["test", *(column.heading for column in columns), "groups", "direction"],
        rows=[
            [
                result["nodeid"],
                *(column.cell(result) for column in columns),
                _groups(result),
                direction(result),
            ]
            for result in results
        ],
        left_out=[each for each in results if not _models_of(each, name)],
        version=record.get("pytest_llmfair") or "a version that is not recorded",
        commit=(context.get("git") or {}).get("commit") or "not recorded",
        date=context.get("started") or "not recorded",
        limits=limitations(record, level=3),
    )


def _models(record: Mapping[str, Any], name: str | None) -> list[dict[str, Any]]:
    """Return the models of a ``model-index``, with every result that has a value."""
    source = f"pytest-llmfair {record.get('pytest_llmfair', '')}".strip()
    models: dict[str, list[dict[str, Any]]] = {}
    for result in record["results"]:
        for model in _models_of(result, name):
            models.setdefault(model, []).append(
                {
                    "task": {"type": _task(result)},
                    "dataset": _dataset(result),
                    "metrics": [_metric(result)],
                    "source": {"name": source, "url": _SOURCE},
                }
            )
    return [{"name": key, "results": results} for key, results in models.items()]


def _models_of(result: Mapping[str, Any], name: str | None) -> list[str]:
    """Return the model that a value is about, the candidate of two; empty without a value."""
    found = [name] if name else models_of(result)[:1]
    return found if finite(estimate(result)) else []


def _task(result: Mapping[str, Any]) -> str:
    """Return the task of the Hub: a model was asked for texts, or data of a test were judged."""
    if result["model"]:
        return "text-generation"
    known = all_metrics().get(result["metric"])
    return _TASKS.get(known.family, "other") if known else "other"


def _dataset(result: Mapping[str, Any]) -> dict[str, str]:
    digests, test = result.get("data") or {}, result["nodeid"] or "a test"
    revision = digests.get("prompts_sha256") or digests.get("arguments_sha256")
    kind = "prompts" if result["model"] else "data"
    about = {"type": f"{kind}-of-a-test", "name": f"{kind} of {test}"}
    return about | ({"revision": f"sha256:{revision}"} if revision else {})


def _metric(result: Mapping[str, Any]) -> dict[str, Any]:
    places = decimals(result)
    ends = span(result["level"], result["lower"], result["upper"], places)
    args = {key: result[key] for key in ("lower", "upper", "level", "verdict", "unit", "units")}
    args["bound"] = threshold(result, places)
    if groups := _groups(result):
        args["groups"] = groups
    name = f"{metric_name(result)}, {ends}"
    return {"type": result["metric"], "value": estimate(result), "name": name, "args": args}


def _groups(result: Mapping[str, Any]) -> str:
    """Return the groups that a result compares, or the keys of its table."""
    keys = [str(row["key"]) for row in result["groups"]]
    if not result["compared"]:
        return ", ".join(keys)
    pairs = sum(" / " in key for key in keys)
    worst = f" (the worst of {pairs} comparisons)" if pairs > 1 else ""
    return f"{', '.join(result['compared'])}{worst}"


def limitations(record: Mapping[str, Any], *, level: int = 1) -> str:
    """Return the limits of a run as Markdown, under headings of a `level` of 1 or 2."""
    results, lexicons = record["results"], record.get("lexicons") or ()
    names = model_names(record)
    groups: dict[str, dict[str, None]] = {}
    for result in results:
        groups.setdefault(result["attribute"], {}).update(dict.fromkeys(result["lacks"]))
    # Without an attribute a check knows no list of groups that it could lack.
    groups.pop("", None)
    return rendered(
        "limitations.md",
        mark="#" * level,
        results=results,
        names=names,
        toy=TOY_MODEL,
        unversioned=[name for name in unversioned(record) if name != TOY_MODEL],
        answers=replayed(record),
        groups={name: ", ".join(groups[name]) for name in sorted(groups)},
        own_data=[(r, _groups(r)) for r in results if not r["attribute"]],
        languages=sorted({str(each["language"]) for each in lexicons if each.get("language")}),
        # Words of the trial of a scorer on sentences that differ in the group only.
        trials=("neutral sentences", "could not be audited"),
    )


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("run", type=Path, metavar="RUN.json", help="a recorded run")
    parser.add_argument("--name", help="name of the model on the card")
    parser.add_argument(
        "--limitations", action="store_true", help="print only the limits of the run, as a page"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the section."""
    record = read_run(arguments.run)
    limits = arguments.limitations
    text = limitations(record) if limits else model_card(record, name=arguments.name)
    say(text)
    return 0
