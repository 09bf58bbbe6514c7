"""Result files of other tools: for checks, and for `llmfair doctor` and `llmfair judge`."""

from __future__ import annotations

import argparse
import functools
import json
import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

from pytest_llmfair.judging.assertion import Assertion
from pytest_llmfair.judging.pipeline import evaluate
from pytest_llmfair.judging.power import search
from pytest_llmfair.judging.result import Result, Verdict
from pytest_llmfair.judging.rules import Rules
from pytest_llmfair.judging.scoring import TextScorer
from pytest_llmfair.metrics import MetricInfo, get_metric
from pytest_llmfair.results.compare import Comparison, comparison_of, prompts_of
from pytest_llmfair.results.registry import load_conftest, read_results
from pytest_llmfair.results.table import Results

# Keys of `answers` that readers take.
READER_OPTIONS = ("prompt", "answer", "requests")
# What is judged beside the scores of a file, by its name in --bound: keys of a check.
FROM_TEXTS: dict[str, dict[str, Any]] = {
    "words": {"metric": "score_difference", "scorer": "length"},
    "refusals": {"metric": "score_difference", "scorer": "refusal"},
    "texts": {"metric": "group_predictability"},
    "invariance": {"metric": "counterfactual_invariance"},
}
# No difference of interest is as small.
_SMALL = 1e-6
_STEPS = 200


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what tells groups, units and columns."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="files of one run")
    add = parser.add_argument
    add("--group", action="append", default=[], metavar="FIELD", help="field with the group")
    add("--groups", metavar="VALUE=GROUP,...", help="values, or words of the prompts, by group")
    add(
        "--pair-by",
        action="append",
        default=[],
        metavar="FIELD",
        help="field that pairs the groups, or prompt (equal once the group is masked)",
    )
    add("--unpaired", action="store_true", help="the groups are independent samples")
    add("--score", action="append", default=[], metavar="NAME", help="these scores, or fields")
    add("--model", help="answers of this model only")
    add("--reader", help="name of the reader, where it is not found out")
    add("--prompt", metavar="COLUMN", help="column of a table with the prompts")
    add("--answer", metavar="COLUMN", help="column of a table with the answers")
    add("--requests", metavar="FILE", help="requests of a batch, for openai_batch")
    add("--json", action="store_true", help="print JSON")


def keys(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the key `answers` of a file of checks, from the options."""
    found: dict[str, Any] = {"file": list(map(str, arguments.files))}
    for name in ("group", "pair_by", "unpaired", "model", "reader", *READER_OPTIONS):
        if value := getattr(arguments, name):
            found[name] = value
    if arguments.groups:
        found["groups"] = group_names(arguments.groups)
    return found


def read(arguments: argparse.Namespace) -> Results:
    """Read the files, also by readers of a ``conftest.py`` here."""
    load_conftest(Path.cwd())
    found = results_of(keys(arguments))
    for name in arguments.score:
        found = found.with_score(name)
    return found


def group_names(text: str | None) -> dict[str, str]:
    """Return the groups by value, from ``the woman=female,the man=male``."""
    found: dict[str, str] = {}
    for part in filter(None, (text or "").split(",")):
        value, equals, group = (each.strip() for each in part.partition("="))
        if not equals or not value or not group:
            raise ValueError(f"--groups has {part!r}; write VALUE=GROUP,VALUE=GROUP")
        found[value] = group
    return found


@dataclass(frozen=True, slots=True)
class Quantity:
    """Something that differs between the groups: a score, or what texts say."""

    name: str
    # Keys of a check about it.
    keys: Mapping[str, Any]
    data: Any
    # Whether it shares the one bound on scores from 0 to 1.
    within_one: bool

    def result(self, bound: float) -> Result:
        """Judge it, without a record."""
        info = get_metric(self.keys["metric"])
        scorer = TextScorer(info, self.keys.get("scorer"))
        return evaluate(Assertion.of(info, (self.data,), bound, Rules(), scorer=scorer))

    def detectable(self) -> float:
        """Return the difference that 80 % of files like this one would show to be there."""
        result = self.result(_SMALL)
        assert result.assertion is not None
        estimate = result.assertion.estimate
        interval, value = estimate.interval(result.level), estimate.value
        # Of few units the interval is wider than the standard error alone says.
        reach = value - interval.lower if value > 0 else interval.upper - value
        return reach + NormalDist().inv_cdf(0.8) * estimate.standard_error()

    def passing(self) -> tuple[Result, float, float]:
        """Return the result, the least bound that holds its interval, and the least to PASS."""
        result = self.result(_SMALL)
        reach = max(abs(result.lower), abs(result.upper), _SMALL)
        if not math.isfinite(reach) or result.verdict is Verdict.INVALID:
            return result, math.nan, math.nan
        step = 10.0 ** (math.floor(math.log10(reach)) - 1)
        least = math.ceil(round(reach / step, 6))
        count = search(lambda n: self._passes(round(n * step, 9)), least, least + _STEPS)
        return (
            result,
            round(least * step, 9),
            math.nan if count is None else round(count * step, 9),
        )

    def _passes(self, bound: float) -> bool:
        try:
            return self.result(bound).verdict is Verdict.PASS
        except ValueError:
            # No data could exceed this bound.
            return False


def quantities(comparison: Comparison) -> Iterator[Quantity]:
    """Yield the scores of a file that groups can be compared by."""
    for name, column in comparison.results.scores.items():
        if column.judged:
            keys = {"metric": "score_difference", "score": name}
            data = comparison.scores(name)
            yield Quantity(name, keys, data, column.range is not None)


def first_bound(arguments: argparse.Namespace, comparison: Comparison) -> str:
    """Return a bound to begin with, which a difference as large as the score's range exceeds."""
    scores = comparison.results.scores.values()
    chosen = [x for x in scores if x.judged and x.name in (arguments.score or [x.name])]
    if not chosen:
        return "words=5"
    if any(each.range for each in chosen):
        return "0.15"
    return f"{chosen[0].name}={0.15 * (chosen[0].high - chosen[0].low):.2g}"


def judge_command(arguments: argparse.Namespace, comparison: Comparison, *bounds: str) -> str:
    """Return the command that judges, with groups and units declared, to copy."""
    words = ["llmfair", "judge", *map(str, arguments.files)]
    words += [part for field in comparison.grouping.fields for part in ("--group", field)]
    for key in ("groups", "model", "reader", *READER_OPTIONS):
        if (value := getattr(arguments, key)) is not None:
            words += [f"--{key}", value]
    fields = [] if comparison.units is None else comparison.units.fields
    words += [part for field in fields for part in ("--pair-by", field)] or ["--unpaired"]
    for option, values in (("--score", arguments.score), ("--bound", bounds)):
        words += [part for value in values for part in (option, value)]
    return shlex.join(words)


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return rows of cells as lines with columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    return [line.rstrip() for line in lines]


def answers_of(
    given: str | Mapping[str, Any], folder: Path, info: MetricInfo, score: str | None
) -> Any:
    """Return the input of a metric from a result file: scores, or answers to pairs or prompts."""
    about: dict[str, Any] = {"file": given} if isinstance(given, str) else dict(given)
    about["file"] = [str((folder / each).resolve()) for each in names_in(about["file"])]
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
    found = read_results(names_in(about["file"]), about.get("reader"), options)
    return found.of_model(about["model"]) if "model" in about else found


def compared(results: Results, about: Mapping[str, Any]) -> Comparison:
    """Return the groups and units, as the keys declare them or guessed."""
    return comparison_of(
        results,
        group=names_in(about.get("group", ())),
        groups=about.get("groups"),
        pair_by=names_in(about.get("pair_by", ())),
        unpaired=bool(about.get("unpaired")),
    )


def names_in(given: str | Sequence[str]) -> list[str]:
    """Return one name, or several, as a list."""
    return [given] if isinstance(given, str) else list(given)
