"""Answers of a check: a result file of another tool, with its groups and units."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.results.compare import Comparison, comparison_of, prompts_of
from pytest_llmfair.results.registry import read_results
from pytest_llmfair.results.table import Results

# Keys of `answers` that readers take.
READER_OPTIONS = ("prompt", "answer", "requests")


def answers_of(
    given: str | Mapping[str, Any], folder: Path, info: MetricInfo, score: str | None
) -> Any:
    """Return the input of a metric from a result file: scores, or answers to pairs or prompts."""
    about: dict[str, Any] = {"file": given} if isinstance(given, str) else dict(given)
    about["file"] = [str((folder / each).resolve()) for each in _list(about["file"])]
    if "requests" in about:
        about["requests"] = str((folder / about["requests"]).resolve())
    paired = info.needs.endswith("_pairs")
    if info.needs in ("table", "prompts"):
        raise ValueError(f"{info.name} takes arrays and no answers; give data and columns")
    results, comparison = _read(json.dumps(about, sort_keys=True))
    if not paired:
        return prompts_of(results)
    found = comparison()
    if not found.declared:
        raise ValueError(
            "a guess may describe a file, and only a declaration may judge it; add group: FIELD "
            "and pair_by: FIELD (or unpaired: true), which `llmfair doctor FILE` proposes"
        )
    return found.pairs() if score is None else found.scores(score)


# Checks of one file share what they read.
@functools.lru_cache(maxsize=4)
def _read(text: str) -> tuple[Results, Callable[[], Comparison]]:
    about = json.loads(text)
    results = results_of(about)
    return results, functools.cache(functools.partial(compared, results, about))


def results_of(about: Mapping[str, Any]) -> Results:
    """Read the files of the key `answers`, or of a command, by its keys."""
    options = {name: about[name] for name in READER_OPTIONS if name in about}
    found = read_results(_list(about["file"]), about.get("reader"), options)
    return found.of_model(about["model"]) if "model" in about else found


def compared(results: Results, about: Mapping[str, Any]) -> Comparison:
    """Return the groups and units, as the keys declare them or guessed."""
    return comparison_of(
        results,
        group=_list(about.get("group", ())),
        groups=about.get("groups"),
        pair_by=_list(about.get("pair_by", ())),
        unpaired=bool(about.get("unpaired")),
    )


def _list(given: Any) -> list[str]:
    return [given] if isinstance(given, str) else list(given)
