"""Results of a batch in the format of OpenAI, also of vLLM, joined with its requests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_llmfair.responses import Answer, Missing
from pytest_llmfair.results import File, Results, ResultsError, Row, flattened, reader
from pytest_llmfair.results.table import ABSENT, answer_of, number_repeats, text_of


def _knows(file: File) -> bool:
    known = file.first.keys()
    return file.suffix == ".jsonl" and "custom_id" in known and bool({"response", "body"} & known)


@reader("openai_batch", ".jsonl results of a batch, with --requests", knows=_knows)
def read(file: File) -> Results:
    """Read a row for each answer to a request; requests without a result count as missing."""
    if "body" in file.first and "response" not in file.first:
        raise ResultsError(f"{file.path} holds the requests; name the results of the batch first")
    requests = _requests(file)
    found = {str(line.values.get("custom_id")): line for line in file.lines()}
    if strange := [name for name in found if name not in requests]:
        raise ResultsError(
            f"{len(strange)} results of {file.path} have no request, such as {strange[0]!r}; name "
            "the requests of this batch: --requests FILE"
        )
    rows, names = [], []
    for name, body in requests.items():
        fields = dict(flattened(body.get("metadata") or {}, "metadata"))
        answers: list[Answer] = [Missing(ABSENT, "the batch has no result for this request")]
        if name in found:
            answers = _answers(found[name].values)
        if isinstance(answers[0], Missing):
            # A request for several answers lost all of them.
            answers = answers[:1] * int(body.get("n") or 1)
        for answer in answers:
            rows.append(Row(f"request {name}", _prompt(body), answer, fields=fields))
            rows[-1].model = str(body.get("model", ""))
            names.append(name)
    number_repeats(rows)
    for row, name in zip(rows, names, strict=True):
        row.sample = name
    return Results("openai_batch", rows, planned=len(rows))


def _requests(file: File) -> dict[str, Mapping[str, Any]]:
    """Return the bodies of the requests by their id."""
    path = Path(file.options["requests"]) if "requests" in file.options else None
    if path is None:
        # The only requests in the same folder.
        near = [File(each) for each in sorted(file.path.parent.glob("*.jsonl"))]
        asked = [each.path for each in near if {"custom_id", "body"} <= each.first.keys()]
        if len(asked) != 1:
            raise ResultsError(
                f"{file.path} has answers without prompts; name the requests of the batch: "
                "--requests FILE"
            )
        (path,) = asked
    return {str(x.values.get("custom_id")): x.values.get("body") or {} for x in File(path).lines()}


def _prompt(body: Mapping[str, Any]) -> str:
    messages = body.get("messages") or body.get("input") or body.get("prompt") or ""
    if isinstance(messages, list) and len(messages) == 1:
        messages = messages[0]
    return text_of(messages)


def _answers(line: Mapping[str, Any]) -> list[Answer]:
    response = line.get("response") or {}
    error, body = line.get("error") or response.get("error"), response.get("body") or {}
    if error or response.get("status_code", 200) != 200 or body.get("error"):
        return [Missing("error", str(error or body.get("error") or response)[:300])]
    choices = body.get("choices") or []
    if not choices:
        outputs = [each for each in body.get("output") or () if each.get("type") == "message"]
        return [answer_of(text_of(outputs) or None)]
    return list(map(_answer, choices))


def _answer(choice: Mapping[str, Any]) -> Answer:
    finish, message = choice.get("finish_reason"), choice.get("message") or {}
    if message.get("refusal") and not message.get("content"):
        return Missing("refused", str(message["refusal"])[:300])
    return answer_of(message.get("content", choice.get("text")), finish)
