"""Answers with a judge's verdict and a group each, from rows, files and collected answers."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.plain_data import sha256_of
from pytest_llmfair._util.tables import Row as TableRow
from pytest_llmfair.judging.pairs import pair_units
from pytest_llmfair.responses import Missing, PairedResponses, Responses
from pytest_llmfair.results import File
from pytest_llmfair.results import Row as ResultRow
from pytest_llmfair.results.readers.tables import is_alias, made_of, score_in
from pytest_llmfair.results.registry import read_results
from pytest_llmfair.scorers import load_scorers, name_of, score

_WORDS = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}


class Columns(NamedTuple):
    """Where verdicts, groups, twins, sampling units and texts are."""

    # Name of a column, or of a scorer; or the scorer itself.
    scorer: Any = None
    # Name of a column, by default "group"; for answers to prompts one group per prompt.
    groups: Any = None
    pair_by: str | None = None
    units: str | None = None
    text: str | None = None


class _Row(NamedTuple):
    id: str
    group: str
    prompt: str
    text: Any
    unit: Any
    pair: Any
    verdict: Any = None


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers that have a verdict, and what was asked for in all."""

    rows: list[_Row]
    judge: list[float]
    # By row, the same in every order of the rows.
    keys: list[str]
    asked: list[_Row]
    paired: bool
    # The scorer, where it is no column; and what reports call it.
    scorer: Any
    name: str
    attribute: str = ""
    model: str = ""

    @property
    def groups(self) -> list[str]:
        """Group of each answer."""
        return [row.group for row in self.rows]

    @property
    def names(self) -> list[str]:
        """The groups, in order of appearance."""
        return list(dict.fromkeys(self.groups))

    @property
    def sha256(self) -> dict[str, str]:
        """Digests of the answers, and of the judge's verdicts, in any order."""
        said = [f"{key} {x:.6g}" for key, x in zip(self.keys, self.judge, strict=True)]
        found = {"answers_sha256": sorted(self.keys), "judge_sha256": sorted(said)}
        return {name: str(sha256_of("\n".join(each))) for name, each in found.items()}


def read_answers(
    responses: Any, columns: Columns, scorers: Callable[[], Mapping[str, Any]] = load_scorers
) -> Answers:
    """Return the answers with their verdicts; those that lack one are counted as missing."""
    if columns.scorer is None:
        raise ValueError("the judge is missing; name its column, or a scorer: scorer='toxicity'")
    asked = list(_rows(responses, columns))
    if not asked:
        place = responses if isinstance(responses, (str, Path)) else "the responses"
        raise ValueError(f"{place} holds no answers; give one row for each judged answer")
    scorer, name = columns.scorer, columns.scorer
    there = [i for i, row in enumerate(asked) if isinstance(row.text, str)]
    if any(row.verdict is not None for row in asked):
        scorer = None
        for i in there:
            if asked[i].verdict in ("", None):
                asked[i] = asked[i]._replace(text=Missing("null", "the judge gave no verdict"))
        verdicts = [float(row.verdict) for row in asked if isinstance(row.text, str)]
    else:
        try:
            scorer = scorers()[scorer] if isinstance(scorer, str) else scorer
        except KeyError as error:
            raise ValueError(f"there is no column {scorer!r}, and {error}") from None
        name = name_of(scorer)
        verdicts = [float(x) for x in score(scorer, [asked[i].text for i in there])]
    rows = [row for row in asked if isinstance(row.text, str)]
    groups = {row.group for row in asked}
    if len(groups) < 2:
        raise ValueError(f"the answers are of {len(groups)} group; give those of two or more")
    paired = asked[0].pair is not None
    if paired:
        # An answer whose twin is missing compares nothing.
        size = Counter(row.pair for row in rows)
        kept = [i for i, row in enumerate(rows) if size[row.pair] == len(groups)]
        rows, verdicts = [rows[i] for i in kept], [verdicts[i] for i in kept]
        if not rows:
            raise ValueError(
                f"no two answers are twins by {columns.pair_by!r}; name a column whose values "
                "have one answer of each group"
            )
    pairs = isinstance(responses, PairedResponses)
    attribute = responses.pairs[0].attribute if pairs else ""
    model = getattr(responses, "model", "")
    return Answers(rows, verdicts, _keys(rows), asked, paired, scorer, name, attribute, model)


def _keys(rows: Sequence[_Row]) -> list[str]:
    seen: Counter[str] = Counter()
    found = []
    for row in rows:
        about = json.dumps([row.group, row.prompt, row.text, str(row.pair)])
        seen[about] += 1
        found.append(str(sha256_of(f"{about} {seen[about]}")))
    return found


def _rows(responses: Any, columns: Columns) -> Iterator[_Row]:
    if isinstance(responses, PairedResponses):
        yield from _of_pairs(responses)
        return
    if isinstance(responses, Responses):
        groups = columns.groups
        if groups is None or isinstance(groups, str) or len(groups) != len(responses):
            raise ValueError(
                f"answers to {len(responses)} prompts carry no groups; give groups=[...], one for "
                "each prompt"
            )
        for i, (prompt, row) in enumerate(zip(responses.prompts, responses, strict=True)):
            for k, answer in enumerate(row):
                yield _Row(f"{i}-{k}", str(groups[i]), prompt, answer, prompt, None)
        return
    rows = _read(responses, columns)
    known = {name for row in rows for name in (*row.fields, *row.scores)}
    repeats: Counter[Any] = Counter()
    for number, each in enumerate(rows):
        yield _of_row(number, each, columns, known, repeats)


def _read(responses: Any, columns: Columns) -> list[ResultRow]:
    """Return the rows of a file that a reader of results knows, of a list or of a data frame."""
    options = {"needed": "answer", "or answer": "text", "to name answer": "text="}
    options |= {"answer": columns.text} if columns.text else {}
    if not isinstance(responses, (str, Path)):
        return list(made_of(records(responses), File(Path("the table"), options)))
    found = read_results([responses], options=options)
    if len(found.models) > 1:
        raise ValueError(
            f"{responses} has answers of {len(found.models)} models: {', '.join(found.models)}; "
            "people label those of one, so give a file with those"
        )
    return found.rows


def records(rows: Any) -> Iterator[TableRow]:
    """Yield the rows of a list or a data frame, each with its place."""
    for number, row in enumerate(rows.to_dict("records") if hasattr(rows, "to_dict") else rows):
        if not isinstance(row, Mapping):
            raise ValueError(f"row {number} is a {type(row).__name__}; give a mapping of columns")
        plain = {k: x.item() if hasattr(x, "item") else x for k, x in row.items()}
        yield TableRow(f"row {number}", plain)


def _of_row(
    number: int, row: ResultRow, columns: Columns, known: set[str], repeats: Counter[Any]
) -> _Row:
    def column(name: str) -> Any:
        found = row.scores.get(name, row.fields.get(name))
        if found is None and is_alias("prompt", name):
            found = row.prompt or None
        if found is None and name in known:
            raise ValueError(
                f"{row.where}: column {name!r} is empty; give a value, or leave the row out"
            )
        if found is None:
            raise ValueError(f"{row.where} has no column {name!r}; {suggestion(name, [*known])}")
        return found

    prompt = row.prompt or f"row {number}"
    group, pair = str(column(columns.groups or "group")), None
    unit = column(columns.units) if columns.units else prompt
    if columns.pair_by:
        key = column(columns.pair_by)
        repeats[key, group] += 1
        pair, unit = (key, repeats[key, group]), unit if columns.units else key
    verdict = None
    judge = columns.scorer
    if isinstance(judge, str) and (name := judge if judge in known else score_in(judge)) in known:
        said = number_of(row.scores.get(name, row.fields.get(name)), f"{row.where}, {judge}")
        verdict = "" if said is None else said
    return _Row(row.fields.get("id", str(number)), group, prompt, row.answer, unit, pair, verdict)


def _of_pairs(responses: PairedResponses) -> Iterator[_Row]:
    seen = set()
    labels = pair_units(responses.pairs)
    for i, (pair, sides, unit) in enumerate(zip(responses.pairs, responses, labels, strict=True)):
        members = (pair.from_group, pair.original), (pair.to_group, pair.counterfactual)
        for (group, prompt), answers in zip(members, sides, strict=True):
            for k, answer in enumerate(answers):
                # Several groups share the answers to the original.
                if (key := (group, prompt, pair.original, k)) not in seen:
                    seen.add(key)
                    name = f"{i}-{group}-{k}"
                    yield _Row(name, group, prompt, answer, unit, (pair.original, k))


def number_of(cell: Any, where: str) -> float | None:
    """Return a number, also of yes and no; None for an empty cell."""
    said = cell.strip().lower() if isinstance(cell, str) else cell
    if said is None or said == "" or said != said:
        return None
    try:
        found = _WORDS[said] if said in _WORDS else float(said)
    except (TypeError, ValueError):
        found = math.inf
    if not math.isfinite(found):
        raise ValueError(f"{where} is {cell!r}; give a number, yes or no")
    return found
