"""The plan of which answers people label: drawn in strata of the judge, before anyone labels."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pytest_llmfair._util.plain_data import sha256_of
from pytest_llmfair._util.tables import rows_of, safe_cell
from pytest_llmfair._util.validation import read_json, whole, whole_seed
from pytest_llmfair._util.wording import plural
from pytest_llmfair.labels.answers import Answers, Columns, number_of, read_answers, records
from pytest_llmfair.labels.strata import (
    FEWEST_OF_GROUP,
    Cell,
    allocated,
    cells_of,
    draw,
    labels_needed,
)
from pytest_llmfair.responses import REMEDY, DigestedText

TO_LABEL, PLAN = "to_label.csv", "label_plan.json"
_REMEDY = f"give the {PLAN} that llmfair labels plan wrote"

Span = tuple[float, float]


class PlannedCell(NamedTuple):
    """A stratum of a group (of all for pairs), its answers or pairs, and how many are labelled."""

    group: str
    stratum: str
    answers: int
    share: float
    rate: float
    labels: int


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """Which answers people label, as :func:`label_plan` drew them.

    Attributes
    ----------
    seed, total : int
        Seed of the draw, and answers that were to be labelled.
    columns : Columns
        Where verdicts, groups and twins are.
    span : tuple of float
        Smallest and largest label that is possible.
    people : int
        Labels per answer; two show how much people disagree.
    cells : list of PlannedCell
        Strata, with the answers to label in each.
    drawn : dict
        Opaque id of each answer to label, to the place of its cell.
    answers_sha256, judge_sha256 : str
        Digests of what was planned with.
    texts : dict
        Text of each answer to label, by id; not in the file of the plan.
    missing : int
        Answers without a text or a verdict, which nobody can label.
    """

    seed: int
    total: int
    columns: Columns
    span: Span
    people: int
    cells: list[PlannedCell]
    drawn: dict[str, int]
    answers_sha256: str
    judge_sha256: str
    texts: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    missing: int = 0

    def write(self, folder: str | Path = ".") -> tuple[Path, Path]:
        """Write what people get, ``to_label.csv``, and the plan, which they must not see.

        The sheet has neither group nor verdict, in the order of opaque ids. ``FileExistsError``
        if there is one already: it may hold labels.
        """
        target, plan = Path(folder) / TO_LABEL, Path(folder) / PLAN
        for path in (target, plan):
            if path.exists():
                raise FileExistsError(f"{path} is there already; move it, or give another folder")
        sheet = io.StringIO()
        rows = csv.writer(sheet, lineterminator="\n")
        names = ["label", *(f"label_{n}" for n in range(2, self.people + 1))]
        rows.writerow(["id", "text", *names])
        rows.writerows(
            [key, safe_cell(self.texts[key]), *("" for _ in names)] for key in self.drawn
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(sheet.getvalue(), encoding="utf-8")
        held = {key: value for key, value in asdict(self).items() if key != "texts"}
        plan.write_text(json.dumps({"version": 1, **held}, indent=1) + "\n", encoding="utf-8")
        return target, plan

    @classmethod
    def read(cls, path: str | Path) -> LabelPlan:
        """Read the file of a plan."""
        try:
            held = dict(read_json(Path(path), _REMEDY))
            version, columns, cells = (held.pop(key) for key in ("version", "columns", "cells"))
            held["span"] = tuple(held["span"])
            found = cls(columns=Columns(*columns), cells=[PlannedCell(*x) for x in cells], **held)
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path} is no plan of labels ({error}); {_REMEDY}") from None
        if version != 1:
            raise ValueError(f"{path} is of version {version}, this reads 1; {_REMEDY}")
        return found

    def __str__(self) -> str:
        rows = [
            f"  {' / '.join(filter(None, each[:2]))}: {each.labels} of {each.answers:,} (share "
            f"{each.share:.2f}, events expected {each.rate:.2f})"
            for each in self.cells
        ]
        head = f"{plural('answer', len(self.drawn))} to label, seed {self.seed}"
        if self.missing:
            head += f"; {self.missing} more have no text or no verdict and count as missing"
        return "\n".join([head, *rows])


def label_plan(
    responses: Any,
    *,
    scorer: Any,
    groups: Any = "group",
    total: int | None = None,
    bound: float | None = None,
    seed: int = 0,
    pair_by: str | None = None,
    units: str | None = None,
    text: str | None = None,
    scale: Span | None = None,
    people: int = 1,
    former: str | Path | None = None,
) -> LabelPlan:
    """Draw the answers that people should label, in strata of the judge's verdicts.

    Labels go where they narrow the interval most: by a stratum's share of its group times the
    spread of labels that is expected in it, and at least 5 to each.

    Parameters
    ----------
    responses : path, list of dict, data frame, Responses or PairedResponses
        All judged answers.
    scorer : str or callable
        The judge: a column with its verdicts, or a scorer.
    groups : str or sequence
        Column of the groups; for `Responses` one group per prompt. Pairs have theirs.
    total, bound
        Answers to label; or the bound of the test, for as many as give PASS in 80 % of runs
        where the groups are equal.
    seed : int
        Of the draw.
    pair_by, units, text : str, optional
        Columns: equal for twins (both are labelled); equal for one sampling unit, by default the
        prompt; and the text of the answer.
    scale : tuple of float, optional
        Smallest and largest label; by default 0 and 1, or those of the judge.
    people : int
        Labels per answer.
    former : path, optional
        Labels of an earlier plan, in its folder, which say how often there are events.

    Raises
    ------
    ValueError
        If a column is missing, there is one group, or no number of labels is enough.

    Examples
    --------
    >>> rows = [
    ...     {"text": f"text {i}", "group": "ab"[i % 2], "judge": i % 5 == 0} for i in range(400)
    ... ]
    >>> plan = label_plan(rows, scorer="judge", total=60, seed=1)
    >>> [(cell.group, cell.stratum, cell.labels) for cell in plan.cells[:2]]
    [('a', 'judge says no', 22), ('a', 'judge says yes', 8)]
    """
    if (total is None) == (bound is None):
        raise ValueError("give total=..., the answers to label, or bound=..., that of the test")
    answers = read_answers(responses, Columns(scorer, groups, pair_by, units, text))
    if any(isinstance(row.text, DigestedText) for row in answers.rows):
        raise ValueError(f"answers cannot be shown to people: {REMEDY}")
    span, width = span_of(answers, scale), len(answers.names) if answers.paired else 1
    rates = {} if former is None else _rates_of(Path(former))
    wanted = len(answers.rows) if total is None else whole(total, "total")
    least = FEWEST_OF_GROUP * len(answers.names)
    if wanted < least <= len(answers.rows):
        raise ValueError(
            f"total is {wanted}, and the test needs {FEWEST_OF_GROUP} labels of each group; give "
            f"{least} or more"
        )
    cells = _expected(answers, wanted, rates)
    # Fewer labels may need fewer strata.
    if bound is not None:
        for _ in range(2):
            needed = _needed(cells, bound / (span[1] - span[0])) * width
            wanted = max(needed, least)
            cells = _expected(answers, wanted, rates)
    numbers = allocated(*_design(cells), max(wanted // width, 1)).tolist()
    rng = np.random.default_rng([whole_seed(seed) % 2**32, 29])
    drawn: dict[str, tuple[int, str]] = {}
    for place, (cell, n) in enumerate(zip(cells, numbers, strict=True)):
        for row in draw(cell, n, answers, rng):
            drawn[opaque_id(seed, answers.keys[row])] = place, str(answers.rows[row].text)
    # In the order of the ids, which is random.
    drawn = dict(sorted(drawn.items()))
    named = scorer if isinstance(scorer, str) else answers.name
    columns = Columns(named, groups if isinstance(groups, str) else None, pair_by, units, text)
    return LabelPlan(
        seed,
        wanted,
        columns,
        span,
        whole(people, "people"),
        [
            PlannedCell(cell.group, cell.stratum, len(cell.items), cell.share, cell.rate, n)
            for cell, n in zip(cells, numbers, strict=True)
        ],
        {key: place for key, (place, _) in drawn.items()},
        answers.sha256["answers_sha256"],
        answers.sha256["judge_sha256"],
        {key: shown for key, (_, shown) in drawn.items()},
        len(answers.asked) - len(answers.rows),
    )


def _expected(answers: Answers, labels: int, rates: Mapping[Any, float]) -> list[Cell]:
    """Return the strata, with the rates of an earlier plan where there are any."""
    cells = cells_of(answers, labels)
    return [c._replace(rate=q, mean=q) if (q := rates.get(c[:2])) else c for c in cells]


def _design(cells: list[Cell]) -> tuple[list[float], list[float], list[int]]:
    return [c.share for c in cells], [c.rate for c in cells], [len(c.items) for c in cells]


def _needed(cells: list[Cell], room: float) -> int:
    """Labels, or pairs with labels, that a test needs; ``ValueError`` if none are enough."""
    left = 0.0
    for group in {cell.group for cell in cells}:
        own = [cell for cell in cells if cell.group == group]
        mean = math.fsum(cell.share * cell.mean for cell in own)
        spread = math.fsum(cell.share * (cell.mean - mean) ** 2 for cell in own)
        left += spread / sum(len(cell.items) for cell in own)
    if math.isinf(found := labels_needed(*_design(cells), room, left)):
        raise ValueError(
            "no number of labels is enough for this bound with so few answers; ask more prompts, "
            "not more people"
        )
    return int(found)


def _rates_of(labels: Path) -> dict[tuple[str, str], float]:
    """Return the share of events in each stratum of an earlier plan, with a pseudo-event."""
    plan = LabelPlan.read(labels.parent / PLAN)
    if plan.columns.pair_by or not all(cell.group for cell in plan.cells):
        raise ValueError(f"{labels} holds labels of pairs, which give no rates; leave it out")
    seen: dict[tuple[str, str], list[float]] = {}
    low, high = plan.span
    for key, own in read_labels(labels).items():
        if key in plan.drawn and own:
            cell = plan.cells[plan.drawn[key]]
            seen.setdefault((cell.group, cell.stratum), []).append((own[0] - low) / (high - low))
    return {key: (math.fsum(own) + 1.0) / (len(own) + 2.0) for key, own in seen.items()}


def opaque_id(seed: int, key: str) -> str:
    """Return the id of an answer that shows neither its group nor its place."""
    return str(sha256_of(f"{seed} {key}"))[:12]


def span_of(answers: Answers, scale: Span | None) -> Span:
    """Return the range of labels: given, 0 to 1, or that of the judge's verdicts."""
    low, high = scale or (min(0.0, *answers.judge), max(1.0, *answers.judge))
    if scale is None and (low, high) != (0.0, 1.0):
        low, high = min(answers.judge), max(answers.judge)
    if not (math.isfinite(low) and low < high < math.inf):
        raise ValueError(f"scale is ({low:g}, {high:g}); give the smallest and the largest label")
    return float(low), float(high)


def read_labels(given: Any) -> dict[str, list[float]]:
    """Return the labels by id of a file, of rows (columns label...) or of a mapping of ids."""
    if hasattr(given, "items") and not hasattr(given, "to_dict"):
        given = [{"id": key, "label": value} for key, value in given.items()]
    lines = rows_of(Path(given)) if isinstance(given, (str, Path)) else records(given)
    found: dict[str, list[float]] = {}
    for where, row in ((line.where, line.values) for line in lines):
        columns = [name for name in row if str(name).lower().startswith("label")]
        if "id" not in row or not columns:
            raise ValueError(f"{where} needs the columns id and label; it has {', '.join(row)}")
        said = [number_of(row[name], f"{where}, {name}") for name in columns]
        found.setdefault(str(row["id"]), []).extend(x for x in said if x is not None)
    return found
