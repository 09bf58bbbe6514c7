"""Results of promptfoo: JSON or JSONL of ``promptfoo eval --output``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_llmfair.responses import Answer, Missing
from pytest_llmfair.results import File, Results, ResultsError, Row, flattened, reader
from pytest_llmfair.results.table import (
    answer_of,
    label_or_number,
    number_repeats,
    text_of,
    total_of,
)

# Values of `failureReason`; an `error` also holds failed assertions.
_ASSERTION, _ERROR = 1, 2


# Other outputs, each with the sign that it is one of promptfoo.
_OTHERS = {
    ".csv": "Grader Reason",
    ".yaml": "evalId:",
    ".xml": "<promptfoo>",
    ".html": "promptfoo",
}


def _knows(file: File) -> bool:
    if file.suffix in _OTHERS:
        return _OTHERS[file.suffix] in file.head
    if file.suffix in (".jsonl", ".ndjson"):
        return {"promptIdx", "testIdx"} <= file.first.keys()
    if file.suffix != ".json" or '"results"' not in file.head:
        return False
    return any(key in file.head for key in ('"evalId"', '"promptIdx"', '"namedScores"'))


@reader("promptfoo", ".json or .jsonl of promptfoo eval --output", knows=_knows)
def read(file: File) -> Results:
    """Read every result; errors of the provider count as missing answers."""
    if file.suffix in _OTHERS:
        raise ResultsError(
            f"of the outputs of promptfoo JSON and JSONL are read, which say why an answer is "
            f"missing, and no {file.path}; write one without asking again: promptfoo export eval "
            "latest --output results.json"
        )
    about: Mapping[str, Any] = {}
    if file.suffix == ".json":
        about, rows = file.document(
            "results", lambda item, place: _row(item, f"result {place + 1}")
        )
    else:
        rows = [_row(line.values, line.where) for line in file.lines()]
    number_repeats(rows)
    stats = (about.get("results") or {}).get("stats") or {}
    planned = total_of(*map(stats.get, ("successes", "failures", "errors")))
    version = str((about.get("metadata") or {}).get("promptfooVersion", ""))
    return Results("promptfoo", rows, version, planned)


def _row(result: Mapping[str, Any], where: str) -> Row:
    provider, prompt = result.get("provider") or {}, result.get("prompt") or {}
    if isinstance(provider, Mapping):
        provider = provider.get("label") or provider.get("id") or ""
    case = result.get("testCase") or {}
    row = Row(
        where,
        prompt=text_of(prompt.get("raw")) if isinstance(prompt, Mapping) else str(prompt),
        answer=_answer(result),
        model=str(provider),
        fields=dict(flattened(result.get("vars") or case.get("vars") or {}, "vars")),
    )
    row.fields |= flattened(case.get("metadata") or {}, "metadata")
    if case.get("description"):
        row.fields["description"] = str(case["description"])[:200]
    missing = isinstance(row.answer, Missing)
    scores = dict(result.get("namedScores") or {})
    for part in (result.get("gradingResult") or {}).get("componentResults") or ():
        name = _name_of(part)
        if name and name not in scores:
            scores[name] = part.get("score")
    scores |= {"score": result.get("score"), "pass": result.get("success")}
    row.scores = {name: None if missing else label_or_number(x) for name, x in scores.items()}
    return row


def _answer(result: Mapping[str, Any]) -> Answer:
    response = result.get("response") or {}
    if not isinstance(response, Mapping):
        response = {"output": response}
    reason, error = result.get("failureReason"), response.get("error")
    # Older versions have no `failureReason`; there an error without a grading is one.
    if reason == _ERROR or error or (reason is None and result.get("error") and not response):
        return Missing("error", str(error or result.get("error") or "")[:300])
    output = response.get("output")
    if isinstance(output, (Mapping, list)):
        import json

        output = json.dumps(output, ensure_ascii=False, sort_keys=True)
    return answer_of(output if output is None else str(output), response.get("finishReason"))


def _name_of(part: Mapping[str, Any]) -> str:
    """Return the name of an assertion: its metric, or its type with a short value."""
    about = part.get("assertion") or {}
    if about.get("metric") or not about.get("type"):
        return str(about.get("metric", ""))
    value = about.get("value")
    short = isinstance(value, str) and len(value) <= 40 and "\n" not in value
    return f"{about['type']}:{value}" if short else str(about["type"])
