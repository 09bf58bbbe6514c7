"""Samples of the LM Evaluation Harness (lm-eval): ``samples_TASK_TIME.jsonl``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_llmfair.results import File, Results, ResultsError, Row, flattened, reader
from pytest_llmfair.results.table import answer_of, joined, label_or_number, text_of

_NO_SCORES = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash", "task_name", "schema_version"),
}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d.:-]*\d")
_NAME = re.compile(rf"samples_(?P<task>.+)_(?P<time>{_TIME.pattern})\.jsonl\Z")
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
    time = _TIME.search(file.path.name)
    samples = sorted(file.path.parent.glob(f"samples_*_{time[0]}.jsonl")) if time else []
    if not samples:
        near = f"samples_*_{time[0] if time else 'TIME'}.jsonl"
        raise ResultsError(
            f"{file.path} holds means only, and no {near} is next to it: nothing here says which "
            f"answer is about whom; {_ADVICE}"
        )
    return joined([read(replace(file, path=path)) for path in samples])


def _aggregates(path: Path, time: str) -> Mapping[str, Any]:
    """Return the file of means of the same run, whatever it is called; empty without one."""
    for means in path.parent.glob(f"*_{time}.json") if time else ():
        try:
            found = json.loads(means.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ResultsError(f"{means} is not valid JSON ({error})") from None
        if isinstance(found, dict):
            return found
    return {}


def _rows(line: Mapping[str, Any], where: str) -> tuple[list[Row], tuple[str, ...]]:
    """Return a row for each answer to a document, and its options where it is a choice."""
    calls = _calls(line.get("arguments"))
    prompt = text_of(calls[0][0]) if calls else ""
    fields = dict(flattened(line.get("doc") or {}, "doc"))
    key = str(line.get("doc_id"))
    made = Row(f"document {key} ({where})", prompt, fields=fields, sample=key)
    responses = [each if isinstance(each, list) else [each] for each in line.get("resps") or []]
    calls, firsts = calls[: len(responses)], [each[0] if each else None for each in responses]
    likelihoods = list(map(_likelihood, firsts, calls))
    known = [each for each in likelihoods if each is not None]
    if not known or len(known) < len(responses):
        answers = responses[0] if responses else [None]
        return [
            replace(made, answer=answer_of(answer), repeat=repeat, fields=fields, scores={})
            for repeat, answer in enumerate(answers)
        ], ()
    texts = [[str(text_of(part)) for part in call] for call in calls]
    # Further calls may ask for the options alone, without what was asked. Or the context is the
    # option, and what follows is the same for all.
    own = [text for text in texts if text[0] == texts[0][0]]
    options = tuple(text[-1].strip() for text in own)
    if len(own) == 1 and len(texts) > 1:
        made.prompt, options = texts[0][-1].strip(), tuple(text[0].strip() for text in texts)
    if len(options) < 2:
        made.scores["loglikelihood"] = known[0]
        made.answer = answer_of(options[0])
        return [made], ()
    top = max(known := known[: len(options)])
    made.answer = answer_of(options[known.index(top)])
    weights = [math.exp(x - top) for x in known]
    made.scores |= {f"p({o})": x / sum(weights) for o, x in zip(options, weights, strict=True)}
    return [made], options


def _calls(given: Any) -> list[list[Any]]:
    """Return the arguments of each call to the model, which versions write in two ways."""
    if isinstance(given, Mapping):
        return [
            list(each.values()) if isinstance(each, Mapping) else [each] for each in given.values()
        ]
    return [each if isinstance(each, list) else [each, ""] for each in given or ()]


def _likelihood(response: Any, call: list[Any]) -> float | None:
    """Return the log-likelihood of ``[number, greedy]``, or of a text as a whole."""
    if isinstance(response, list) and len(response) == 2 and str(response[1]) in ("True", "False"):
        response = response[0]
    elif len(call) > 1:
        return None
    value = label_or_number(response)
    return value if isinstance(value, float) else None


def _scores(line: Mapping[str, Any]) -> dict[str, Any]:
    names = line.get("metrics") or [name for name in line if name not in _NO_SCORES]
    return {name: label_or_number(line.get(name)) for name in names}
