"""Test runs of DeepEval: ``.latest_test_run.json``, or the files of its results folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_llmfair.responses import Missing
from pytest_llmfair.results import File, Results, ResultsError, Row, flattened, reader
from pytest_llmfair.results.table import (
    answer_of,
    label_or_number,
    number_repeats,
    text_of,
    total_of,
    with_every_score,
)


def _knows(file: File) -> bool:
    # The cache has the ending .json or none.
    returned = '"test_results"' in file.head and '"metrics_data"' in file.head
    return returned or any(x in file.head for x in ('"testCases"', '"test_cases_lookup_map"'))


@reader("deepeval", "JSON of a DeepEval test run", knows=_knows)
def read(file: File) -> Results:
    """Read the test cases with the scores of their metrics."""
    if '"test_cases_lookup_map"' in file.head:
        raise ResultsError(
            f"{file.path} is the cache of DeepEval, which lacks metadata and says nothing of "
            "groups; name .deepeval/.latest_test_run.json, or the file in "
            "DEEPEVAL_RESULTS_FOLDER"
        )
    # What `evaluate` returns has names of its own.
    name = "testCases" if '"testCases"' in file.head else "test_results"
    about, rows = file.document(name, _row)
    run = about.get("testRunData", about) if isinstance(about, Mapping) else {}
    rows = rows or [_row(x, n) for n, x in enumerate(run.get("conversationalTestCases") or ())]
    number_repeats(rows)
    planned = total_of(run.get("testPassed"), run.get("testFailed"))
    return Results("deepeval", with_every_score(rows), planned=planned)


def _row(case: Mapping[str, Any], place: int) -> Row:
    prompt, answer = case.get("input"), case.get("actualOutput", case.get("actual_output"))
    if turns := case.get("turns"):
        # A conversation: what the user said, and what was answered.
        prompt, answer = (
            [turn for turn in turns if (turn.get("role") == "user") == asked]
            for asked in (True, False)
        )
    row = Row(
        f"test case {case.get('name') or place}",
        prompt=text_of(prompt),
        answer=answer_of(answer),
    )
    for name in ("metadata", "additionalMetadata", "additional_metadata", "customColumnKeyValues"):
        row.fields |= flattened(case.get(name) or {}, "metadata")
    row.fields |= {f"tag.{each}": "yes" for each in case.get("tags") or ()}
    # Older versions call both differently.
    metrics = ("metricsData", "metrics_data", "metricsMetadata")
    for metric in next(filter(None, map(case.get, metrics)), ()):
        name = str(metric.get("name") or metric.get("metric") or "score")
        value = metric.get("score")
        if isinstance(row.answer, Missing):
            value = None
        row.scores[name] = label_or_number(value)
        if value is None and metric.get("error"):
            row.score_missing[name] = str(metric["error"])[:300]
    return row
