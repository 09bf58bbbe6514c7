"""Answers of a check: a result file of another tool, with its groups and units."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.results.compare import Comparison, comparison_of, prompts_of
from pytest_llmfair.results.registry import read_results
from pytest_llmfair.results.source import ResultsError
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
    if not is_declared(found, unpaired=bool(about.get("unpaired"))):
        raise ValueError(
            "a guess may describe a file, and only a declaration may judge it; add group: FIELD "
            "and pair_by: FIELD (or unpaired: true), which `llmfair doctor FILE` proposes"
        )
    return found.pairs() if score is None else found.scores(score)


def is_declared(comparison: Comparison, *, unpaired: bool) -> bool:
    """Whether groups and units were named by the caller or the tool."""
    units = comparison.units
    return comparison.grouping.declared and (unpaired or (units is not None and units.declared))


# Checks of one file share what they read.
@functools.lru_cache(maxsize=4)
def _read(text: str) -> tuple[Results, Any]:
    about = json.loads(text)
    options = {name: about[name] for name in READER_OPTIONS if name in about}
    results = of_model(
        read_results(about["file"], about.get("reader"), options), about.get("model")
    )

    @functools.cache
    def comparison() -> Comparison:
        return comparison_of(
            results,
            group=_list(about.get("group", ())),
            groups=about.get("groups"),
            pair_by=_list(about.get("pair_by", ())),
            unpaired=bool(about.get("unpaired")),
        )

    return results, comparison


def of_model(results: Results, model: str | None) -> Results:
    """Return the answers of one model, where one is named."""
    if model is None:
        return results
    if model not in results.models:
        raise ResultsError(
            f"{results.files[0]} has no answers of {model!r}; its models are "
            f"{', '.join(results.models) or 'not named'}"
        )
    return results.of_model(model)


def _list(given: Any) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def keys_of(comparison: Comparison, *, unpaired: bool) -> Mapping[str, Sequence[str]]:
    """Return the keys that declare groups and units, as `llmfair doctor` proposes them."""
    found: dict[str, Sequence[str]] = {}
    if comparison.grouping.fields:
        found["group"] = comparison.grouping.fields
    if comparison.units is not None and not unpaired:
        found["pair_by"] = comparison.units.fields
    return found
