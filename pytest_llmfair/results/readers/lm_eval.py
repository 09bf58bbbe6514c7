"""Samples of the LM Evaluation Harness (lm-eval): ``samples_TASK_TIME.jsonl``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_llmfair.results.registry import reader
from pytest_llmfair.results.source import File, ResultsError
from pytest_llmfair.results.table import (
    Results,
    Row,
    answer_of,
    flattened,
    joined,
    label_or_number,
    text_of,
)

_NO_SCORES = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash", "task_name", "schema_version"),
}
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl\Z")
_ADVICE = "run lm_eval with --log_samples --output_path FOLDER and name samples_*.jsonl"


def _knows(file: File) -> bool:
    if file.suffix == ".jsonl":
        return {"doc_id", "doc", "resps"} <= file.first.keys()
    if file.suffix != ".json":
        return False
    by_name = file.path.name.startswith("results_20")
    return by_name or all(key in file.head for key in ('"results"', '"alias"', "_stderr,"))


@reader("lm_eval", "samples_*.jsonl of lm_eval --log_samples", knows=_knows)
def read(file: File) -> Results:
    """Read the documents of a task, with the scores of all filters side by side."""
    if file.suffix == ".json":
        return _of_run(file)
    named = _NAME.search(file.path.name)
    about = _aggregates(file.path, named["time"] if named else "")
    rows: dict[str, list[Row]] = {}
    options: dict[str, tuple[str, ...]] = {}
    filters: set[str] = set()
    for line in file.lines():
        key = str(line.values.get("doc_id"))
        if key not in rows:
            rows[key], options[key] = _rows(line.values, line.where)
        name = str(line.values.get("filter", "none"))
        filters.add(name)
        rows[key][0].scores |= {f"{n},{name}": x for n, x in _scores(line.values).items()}
    distinct = set(options.values())
    if len(distinct) != 1:
        # Options of their own for each document have no name that they share.
        for each in rows.values():
            each[0].scores = {n: x for n, x in each[0].scores.items() if not n.startswith("p(")}
    task = named["task"] if named else file.path.stem
    found = [row for each in rows.values() for row in each]
    only = next(iter(filters), "") if len(filters) == 1 else ""
    for row in found:
        row.model, row.task = str(about.get("model_name") or ""), task
        if only:
            row.scores = {name.removesuffix(f",{only}"): x for name, x in row.scores.items()}
    documents = ((about.get("n-samples") or {}).get(task) or {}).get("effective")
    repeats = ((about.get("configs") or {}).get(task) or {}).get("repeats") or 1
    planned = documents * repeats if isinstance(documents, int) else None
    return Results("lm_eval", found, str(about.get("lm_eval_version") or ""), planned)


def _of_run(file: File) -> Results:
    """Read the samples next to a file of means."""
    time = file.path.stem.removeprefix("results_")
    samples = sorted(file.path.parent.glob(f"samples_*_{time}.jsonl"))
    if not samples:
        raise ResultsError(
            f"{file.path} holds means only, and no samples_*_{time}.jsonl is next to it: nothing "
            f"here says which answer is about whom; {_ADVICE}"
        )
    parts = [read(replace(file, path=path)) for path in samples]
    return joined(parts)


def _aggregates(path: Path, time: str) -> Mapping[str, Any]:
    """Return the file of means of the same run; empty where there is none."""
    means = path.with_name(f"results_{time}.json")
    if not time or not means.is_file():
        return {}
    try:
        found = json.loads(means.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ResultsError(f"{means} is not valid JSON ({error})") from None
    return found if isinstance(found, dict) else {}


def _rows(line: Mapping[str, Any], where: str) -> tuple[list[Row], tuple[str, ...]]:
    """Return a row for each answer to a document, and its options where it is a choice."""
    calls = _calls(line.get("arguments"))
    prompt = text_of(calls[0][0]) if calls else ""
    fields = dict(flattened(line.get("doc") or {}, "doc"))
    key = str(line.get("doc_id"))
    made = Row(f"document {key} ({where})", prompt, fields=fields, sample=key)
    responses = [each if isinstance(each, list) else [each] for each in line.get("resps") or []]
    found = [_likelihood(each[0]) if each else None for each in responses]
    likelihoods = [each for each in found if each is not None]
    if likelihoods and len(likelihoods) == len(found):
        options = tuple(str(text_of(call[1])).strip() for call in calls[: len(responses)])
        if len(options) < 2:
            made.scores["loglikelihood"] = likelihoods[0]
            made.answer = answer_of(options[0] if options else None)
            return [made], ()
        top = max(likelihoods)
        made.answer = answer_of(options[likelihoods.index(top)])
        weights = [math.exp(x - top) for x in likelihoods]
        shares = [weight / sum(weights) for weight in weights]
        made.scores |= {f"p({o})": x for o, x in zip(options, shares, strict=True)}
        return [made], options
    answers = responses[0] if responses else [None]
    rows = [
        replace(made, answer=answer_of(answer), repeat=repeat, fields=fields, scores={})
        for repeat, answer in enumerate(answers)
    ]
    return rows, ()


def _calls(given: Any) -> list[list[Any]]:
    """Return the arguments of each call to the model, which versions write in two ways."""
    if isinstance(given, Mapping):
        return [
            list(each.values()) if isinstance(each, Mapping) else [each] for each in given.values()
        ]
    return [each if isinstance(each, list) else [each, ""] for each in given or ()]


def _likelihood(response: Any) -> float | None:
    """Return the log-likelihood of ``[number, greedy]``, whose parts may be texts."""
    if not isinstance(response, list) or len(response) != 2:
        return None
    if str(response[1]) not in ("True", "False"):
        return None
    value = label_or_number(response[0])
    return value if isinstance(value, float) else None


def _scores(line: Mapping[str, Any]) -> dict[str, Any]:
    names = line.get("metrics") or [name for name in line if name not in _NO_SCORES]
    given = {name: line.get(name) for name in names}
    return {n: label_or_number(x) for n, x in given.items() if not isinstance(x, (list, dict))}
