"""``llmfair local-law-144``: selection rates and impact ratios, as a New York bias audit has them.

The tables of 6 RCNY section 5-301: by sex, by race or ethnicity, and by every combination of the
two. They are not a bias audit, which has to be made by an independent auditor.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import hashlib
import io
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pytest_llmfair._util.printing import say
from pytest_llmfair._util.tables import safe_cell
from pytest_llmfair._util.validation import one_sided, share
from pytest_llmfair._util.version import __version__
from pytest_llmfair._util.wording import plain
from pytest_llmfair.gate.check_data import Table
from pytest_llmfair.gate.documents import data, rendered
from pytest_llmfair.stats import Mean, RateRatio
from pytest_llmfair.stats.multiplicity import tukey_error_rate

HEADING = "Not an independent bias audit"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCounts:
    """One group of a table."""

    # Its name; two names joined by " / " for a combination.
    group: str
    applicants: int
    # Those selected, or scored above the median.
    selected: int
    # Of the table's applicants, in [0, 1].
    share: float
    # Selected over applicants, and an interval that holds jointly for all groups.
    rate: float
    rate_lower: float
    rate_upper: float
    # Rate over the highest rate, and an interval that holds jointly; NaN where not defined.
    ratio: float = math.nan
    ratio_lower: float = math.nan
    ratio_upper: float = math.nan
    # Pooled two-sample z statistic against the group with the highest rate, not corrected for
    # the number of groups.
    z: float = math.nan
    # Further selections that would bring the group to four fifths of the highest rate.
    shortfall: int | None = None
    # Whether the group is too small to take part in ratios.
    excluded: bool = False


@dataclass(frozen=True, slots=True)
class ImpactTable:
    """Groups of a category, sorted, the reference with the highest rate, and who is in none."""

    category: str
    groups: tuple[GroupCounts, ...]
    reference: str
    unknown: int
    unknown_selected: int


@dataclass(frozen=True, slots=True)
class ImpactReport:
    """Tables by sex, by race or ethnicity, and by both."""

    tables: tuple[ImpactTable, ...]
    applicants: int
    selected: int
    # People without a decision or score, who are in no table.
    undecided: int
    # Of the scores; None for decisions.
    median: float | None
    level: float
    least_share: float


def local_law_144(
    sex: Sequence[str],
    race: Sequence[str],
    *,
    selected: Sequence[bool | None] | None = None,
    scores: Sequence[float | None] | None = None,
    level: float = 0.95,
    least_share: float = 0.02,
    unknown: Sequence[str] = (),
) -> ImpactReport:
    """Count selection rates and impact ratios; a person with None as decision is in no table."""
    one_sided(level)
    share(least_share, "least_share")
    decisions = scores if selected is None else selected
    if decisions is None or (selected is not None and scores is not None):
        raise ValueError("give either selected or scores")
    if not len(sex) == len(race) == len(decisions):
        raise ValueError(
            f"sex has {len(sex)} rows, race {len(race)} and the decisions {len(decisions)}; give "
            "one of each per person"
        )
    known = {i: float(value) for i, value in enumerate(decisions) if value is not None}
    if not known:
        raise ValueError(f"none of {len(sex)} people has a decision or score; nothing to count")
    median = statistics.median(known.values()) if selected is None else None
    chosen = [value > (median or 0.0) for value in known.values()]
    not_known = {label.strip().casefold() for label in (*data("labels")["unknown"], *unknown)}
    columns = [
        [None if label.strip().casefold() in not_known else label.strip() for label in column]
        for column in ([sex[i] for i in known], [race[i] for i in known])
    ]
    both = [
        None if a is None or b is None else f"{a} / {b}" for a, b in zip(*columns, strict=True)
    ]
    tables = tuple(
        _table(category, labels, chosen, level, least_share)
        for category, labels in (
            ("sex", columns[0]),
            ("race/ethnicity", columns[1]),
            ("sex and race/ethnicity", both),
        )
    )
    undecided = len(sex) - len(known)
    return ImpactReport(tables, len(known), sum(chosen), undecided, median, level, least_share)


def _table(
    category: str,
    labels: Sequence[str | None],
    chosen: Sequence[bool],
    level: float,
    least_share: float,
) -> ImpactTable:
    outcomes: dict[str | None, list[bool]] = {}
    for label, outcome in zip(labels, chosen, strict=True):
        outcomes.setdefault(label, []).append(outcome)
    unknown = outcomes.pop(None, [])
    known = {
        str(name): np.array(outcomes[name], dtype=float) for name in sorted(map(str, outcomes))
    }
    total = sum(x.size for x in known.values())
    excluded = {name for name, x in known.items() if x.size < least_share * total}
    judged = {name: x for name, x in known.items() if name not in excluded}
    best = max(judged, key=lambda name: float(judged[name].mean()), default="")
    compared = len(judged) > 1 and judged[best].any()
    ratios = _ratios(judged, best, level) if compared else {}
    each = (1.0 - level ** (1.0 / max(len(known), 1))) / 2.0
    lines = []
    for name, x in known.items():
        mean = Mean.of_indicators(x)
        lines.append(
            GroupCounts(
                group=name,
                applicants=x.size,
                selected=int(x.sum()),
                share=x.size / total,
                rate=mean.value,
                rate_lower=mean.lower_bound(each),
                rate_upper=mean.upper_bound(each),
                excluded=name in excluded,
                **ratios.get(name, {}),
            )
        )
    return ImpactTable(
        category, tuple(lines), best if compared else "", len(unknown), sum(unknown)
    )


def _ratios(judged: dict[str, Any], best: str, level: float) -> dict[str, dict[str, Any]]:
    """Return ratio, joint interval, z and shortfall of each group."""
    # Which group has the highest rate depends on the sample too. The ratio of group i to the
    # highest true rate is its smallest ratio to any group, so the smallest lower and the smallest
    # upper end of those score intervals contain it where all hold: jointly at this error rate.
    alpha = tukey_error_rate(len(judged), level)
    top = judged[best]
    found = {}
    for name, x in judged.items():
        pairs = [RateRatio.of_outcomes(x, y) for other, y in judged.items() if other != name]
        # Two groups without a selection say nothing about their ratio.
        lower = [0.0 if p.undefined else p.lower_bound(alpha) for p in pairs]
        upper = [math.inf if p.undefined else p.upper_bound(alpha) for p in pairs]
        needed = -(-4 * int(top.sum()) * x.size // (5 * top.size))
        found[name] = {
            "ratio": float(x.mean() / top.mean()),
            "ratio_lower": min(1.0, *lower),
            "ratio_upper": min(1.0, *upper),
            "z": math.nan if name == best else _z(x, top),
            "shortfall": max(0, needed - int(x.sum())),
        }
    return found


def _z(x: Any, top: Any) -> float:
    """Return the pooled two-sample z statistic; NaN where everyone was selected."""
    pooled = (x.sum() + top.sum()) / (x.size + top.size)
    error = math.sqrt(pooled * (1.0 - pooled) * (1.0 / x.size + 1.0 / top.size))
    return float((x.mean() - top.mean()) / error) if error > 0.0 else math.nan


def csv_text(report: ImpactReport, source: Mapping[str, str]) -> str:
    """Return the tables as CSV: one line a group, and one for unknown categories a table."""
    out = io.StringIO()
    names = list(GroupCounts.__dataclass_fields__)
    source = {name: str(safe_cell(text)) for name, text in source.items()}
    fields = ["status", *source, "category", *names]
    writer = csv.DictWriter(out, fields, lineterminator="\n")
    writer.writeheader()
    for table in report.tables:
        common = {"status": HEADING.lower(), **source, "category": table.category}
        for line in table.groups:
            shown = {name: safe_cell(x) for name, x in plain(asdict(line)).items()}
            writer.writerow(common | shown)
        unknown = {"applicants": table.unknown, "selected": table.unknown_selected}
        writer.writerow(common | {"group": "unknown category"} | unknown)
    return out.getvalue()


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("file", type=Path, metavar="FILE.csv", help="one line a person")
    decision = parser.add_mutually_exclusive_group(required=True)
    decision.add_argument("--selected", metavar="COLUMN", help="column with 1 or 0, yes or no")
    decision.add_argument(
        "--score", metavar="COLUMN", help="column with a score, higher is better"
    )
    parser.add_argument("--sex", metavar="COLUMN", required=True, help="column of sex")
    parser.add_argument("--race", metavar="COLUMN", required=True, help="column of race/ethnicity")
    parser.add_argument(
        "--unknown",
        metavar="VALUE",
        action="append",
        default=[],
        help='a further label for "not known", besides blanks, "unknown" and the like',
    )
    parser.add_argument(
        "--exclude-below",
        type=float,
        default=0.02,
        metavar="SHARE",
        help="groups with a smaller share take no part in ratios, and are listed (0.02)",
    )
    parser.add_argument(
        "--period", metavar="TEXT", help="when the data are from, such as 2026-01-01/2026-06-30"
    )
    parser.add_argument("--level", type=float, default=0.95, help="joint confidence level (0.95)")
    parser.add_argument("--format", choices=("markdown", "csv", "json"), default="markdown")


def run(arguments: argparse.Namespace) -> int:
    """Print the tables of a file."""
    column = arguments.selected or arguments.score
    table = Table.read(arguments.file)
    read = _decision if arguments.selected else _score
    cells = zip(table.texts(column), table.where, strict=True)
    values: list[Any] = [read(cell, f"{where}: {column}") for cell, where in cells]
    report = local_law_144(
        table.texts(arguments.sex),
        table.texts(arguments.race),
        selected=values if arguments.selected else None,
        scores=None if arguments.selected else values,
        level=arguments.level,
        least_share=arguments.exclude_below,
        unknown=arguments.unknown,
    )
    source = {
        "file": arguments.file.name,
        "sha256": hashlib.sha256(arguments.file.read_bytes()).hexdigest(),
        "period": arguments.period or "not given",
        "made": datetime.date.today().isoformat(),
        "pytest_llmfair": __version__,
    }
    if arguments.format == "csv":
        text = csv_text(report, source)
    elif arguments.format == "json":
        record = {"heading": HEADING, "source": source, **plain(asdict(report))}
        text = json.dumps(record, indent=1, allow_nan=False) + "\n"
    else:
        text = rendered("local_law_144.md", report=report, heading=HEADING, source=source)
    say(text)
    return 0


def _decision(value: str, where: str) -> bool | None:
    word, words = value.strip().casefold(), data("labels")
    if word in words["unknown"]:
        return None
    if word not in (*words["selected"], *words["not_selected"]):
        raise ValueError(f"{where} is {value!r}; write 1 or 0, or yes or no")
    return word in words["selected"]


def _score(value: str, where: str) -> float | None:
    if value.strip().casefold() in data("labels")["unknown"]:
        return None
    try:
        score = float(value)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise ValueError(f"{where} is {value!r}; write a finite number")
    return score
