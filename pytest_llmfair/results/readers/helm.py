"""Runs of HELM: ``scenario_state.json`` with ``per_instance_stats.json`` next to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_llmfair.responses import Answer, Missing
from pytest_llmfair.results import File, Results, ResultsError, Row, flattened, reader
from pytest_llmfair.results.table import answer_of, label_or_number

_NAMES = ("scenario_state.json", "per_instance_stats.json", "stats.json")
# What a run took is no score.
_NO_SCORE = re.compile(
    r"(?:num_|training_|inference_|estimated_|finish_reason|batch_size|prompt_truncated|logprob)"
)
ORIGINAL = "original"

Key = tuple[str, str, int]


def _knows(file: File) -> bool:
    state = '"adapter_spec"' in file.head and '"request_states"' in file.head
    return state or file.path.name in _NAMES


@reader("helm", "scenario_state.json of a HELM run", knows=_knows)
def read(file: File) -> Results:
    """Read the requests of a run; perturbations for fairness are declared pairs."""
    state = file.path.with_name(_NAMES[0]) if file.path.name in _NAMES[1:] else file.path
    if not state.is_file():
        raise ResultsError(
            f"{file.path} has no answers, and {state.name} is not next to it; name the "
            "scenario_state.json of the run"
        )
    scores = _scores(File(state.with_name(_NAMES[1])))
    about, parts = File(state).document(
        "request_states", lambda item, _: list(_rows(item, scores))
    )
    named = about.get("adapter_spec") or {}
    originals = {row.sample: row.prompt for part in parts for row in part if not _changed(row)}
    rows = [row for part in parts for row in part]
    kept = [r for r in rows if not _changed(r) or r.prompt != originals.get(r.sample)]
    task = state.resolve().parent.name.partition(":")[0]
    for row in kept:
        row.model, row.task = str(named.get("model") or ""), task
    notes = []
    if len(kept) < len(rows):
        text = f"{len(rows) - len(kept)} perturbed prompts are equal to the original: left out"
        notes.append(text)
    groups = {row.fields["perturbation"] for row in kept if "perturbation" in row.fields}
    pairs = ("perturbation", "instance") if len(groups) > 1 else None
    return Results("helm", kept, notes=tuple(notes), pairs=pairs)


def _changed(row: Row) -> bool:
    return "perturbation.name" in row.fields


def _perturbation(given: Any) -> str:
    """Return the name of a perturbation, with what it writes, such as "gender to female"."""
    if not given:
        return ORIGINAL
    to = given.get("target_class")
    to = ", ".join(map(str, to.values())) if isinstance(to, Mapping) else to
    return f"{given.get('name', 'perturbed')}{f' to {to}' if to else ''}"


def _rows(request: Mapping[str, Any], scores: Mapping[Key, dict[str, Any]]) -> Iterator[Row]:
    instance, result = request.get("instance") or {}, request.get("result") or {}
    given = instance.get("perturbation")
    sample, trial = str(instance.get("id", "")), int(request.get("train_trial_index") or 0)
    name = _perturbation(given)
    fields = {"instance": sample, **dict(flattened(given or {}, "perturbation"))}
    if not given or given.get("fairness"):
        # Others, such as typing errors, are about no groups of people.
        fields["perturbation"] = name
    fields |= flattened(instance.get("extra_data") or {}, "extra_data")
    answers = [*_answers(request, result)]
    for n, answer in enumerate(answers):
        row = Row(f"instance {sample} ({name})", answer=answer, fields=fields)
        row.prompt = str((instance.get("input") or {}).get("text") or "")
        row.sample, row.repeat = sample, trial * len(answers) + n
        if not n:
            row.scores = dict(scores.get((sample, name, trial), {}))
            if all(isinstance(each, Missing) for each in answers):
                # HELM scores the empty text of a request that failed.
                row.scores = dict.fromkeys(row.scores)
        yield row


def _answers(request: Mapping[str, Any], result: Mapping[str, Any]) -> Iterator[Answer]:
    if not result.get("success", False):
        yield Missing("error", str(result.get("error") or "no result")[:300])
        return
    mapping = request.get("output_mapping") or {}
    for completion in result.get("completions") or [{"text": None}]:
        text, finish = completion.get("text"), completion.get("finish_reason") or {}
        text = mapping.get(str(text).strip(), text)
        yield answer_of(text, finish.get("reason"))


def _scores(file: File) -> dict[Key, dict[str, Any]]:
    """Return the scores of each instance, from the file next to the requests."""
    if not file.path.is_file():
        return {}
    found: dict[Key, dict[str, Any]] = {}
    for entry in (line.values for line in file.lines()):
        about = (str(entry.get("instance_id")), _perturbation(entry.get("perturbation")))
        own = found.setdefault((*about, int(entry.get("train_trial_index") or 0)), {})
        for stat in entry.get("stats") or ():
            name = stat["name"]["name"]
            # Other statistics of the same name are the worst of both members of a pair.
            worst = (stat["name"].get("perturbation") or {}).get("computed_on") == "worst"
            if stat.get("count") and not worst and not _NO_SCORE.match(name):
                own.setdefault(name, label_or_number(stat.get("mean", stat.get("sum"))))
    return found
