"""Blocks of HTML and data frames for notebooks: no script, nothing loaded, everything escaped."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pytest_llmfair._util.wording import escape, finite, number, p_value, shorten

_COLUMNS = ("value", "lower", "upper", "n", "rate", "p")
_MOST_ROWS = 30

_WIDTH, _MARGIN = 360, 40
# Readable on light and on dark backgrounds: a notebook does not say which it has.
_COLOURS = {"PASS": "#2a9d5c", "FAIL": "#d9483b", "INVALID": "#d9483b"}
_UNDECIDED = "#b07d1a"


def frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return a group table as a pandas DataFrame without empty columns."""
    pd = _pandas()
    index = pd.Index([row["key"] for row in rows], name="group")
    return pd.DataFrame({name: [row[name] for row in rows] for name in _filled(rows)}, index)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_frame() needs pandas, not installed: pip install pandas") from error
    return pandas


def _filled(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns with a number in some row; always value and n."""

    def empty(x: Any) -> bool:
        return x is None or x != x

    return [
        name
        for name in _COLUMNS
        if name in ("value", "n") or not all(empty(row[name]) for row in rows)
    ]


def by_group_frame(
    rows: Mapping[tuple[Any, ...], Mapping[tuple[str, str], float]],
    heads: Sequence[str],
    metrics: Sequence[str],
    *,
    intervals: bool,
) -> Any:
    """Return numbers of groups as a DataFrame with every combination of labels, sorted."""
    pd = _pandas()
    parts = ("value", "lower", "upper", "n") if intervals else ("value",)
    columns = [(name, part) for name in metrics for part in parts]
    index = pd.MultiIndex.from_tuples(list(rows), names=list(heads))
    table = pd.DataFrame([[own[each] for each in columns] for own in rows.values()], index)
    table.columns = pd.MultiIndex.from_tuples(columns) if intervals else pd.Index(metrics)
    if len(heads) == 1:
        table.index = index.get_level_values(0)
        return table.reindex(in_order(table.index))
    levels = [in_order(set(index.get_level_values(i))) for i in range(len(heads))]
    return table.reindex(pd.MultiIndex.from_product(levels, names=list(heads)))


def in_order(labels: Iterable[Any]) -> list[Any]:
    """Sort labels, also of several types."""
    found = list(labels)
    try:
        return sorted(found)
    except TypeError:
        return sorted(found, key=str)


def forest(
    name: str, rows: Sequence[tuple[str, float, float, float]], notes: Iterable[str] = ()
) -> str:
    """Return values and intervals of several groups on one axis as a block of HTML."""
    known = [x for _, *numbers in rows for x in numbers if finite(x)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    step = step_between(high - low, max(abs(low), abs(high)))
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    high = high if high > low else low + step
    left, height = 160, 22 * len(rows) + 26

    def at(x: float) -> float:
        return left + 12 + (min(max(x, low), high) - low) / (high - low) * (_WIDTH - 24)

    marks = []
    for i, (label, value, lower, upper) in enumerate(rows):
        y = 16 + 22 * i
        shown = (
            f"{number(value)} [{number(lower)}, {number(upper)}]" if finite(value) else "undefined"
        )
        marks.append(
            f'<text x="{left - 6}" y="{y + 4}" text-anchor="end" fill="currentColor">'
            f"{escaped(shorten(label, 24))}<title>{escaped(label)}: {shown}</title></text>"
        )
        if finite(value):
            marks.append(
                f'<line x1="{at(lower):.1f}" x2="{at(upper):.1f}" y1="{y}" y2="{y}" '
                'stroke="currentColor" stroke-width="4" stroke-opacity="0.6"/>'
                f'<circle cx="{at(value):.1f}" cy="{y}" r="5" fill="currentColor"/>'
            )
    marks += [
        f'<text x="{at(low + i * step):.1f}" y="{height - 4}" text-anchor="middle" '
        f'fill="currentColor">{round(low + i * step, 9):.6g}</text>'
        for i in range(round((high - low) / step) + 1)
    ]
    lines = "".join(f"<br><small>{escaped(note)}</small>" for note in notes)
    return (
        f'<div style="line-height:1.5"><strong>{escaped(name)}</strong> (95 % intervals)'
        f'<svg role="img" width="{left + _WIDTH}" height="{height}" font-size="11" '
        f'style="display:block;max-width:100%"><title>{escaped(name)} by group</title>'
        f"{''.join(marks)}</svg>{lines}</div>"
    )


def block(
    record: Mapping[str, Any],
    lead: str,
    lines: Iterable[str],
    *,
    bounds: Sequence[float] = (),
    places: int = 3,
) -> str:
    """Return an estimate or a result as one self-contained block of HTML."""
    verdict = record.get("verdict")
    heading = escaped(lead)
    if verdict:
        colour = _COLOURS.get(verdict, _UNDECIDED)
        heading = f'<span style="color:{colour}">{escaped(verdict)}</span> {heading}'
    parts = [f"<strong>{heading}</strong>", *(f"<br>{escaped(line)}" for line in lines)]
    parts.append(picture(record, bounds, places))
    if record["groups"]:
        parts += _table(record["groups"], places)
    return f'<div style="line-height:1.5">{"".join(parts)}</div>'


def picture(record: Mapping[str, Any], bounds: Sequence[float], places: int = 3) -> str:
    """Draw value, interval and bounds on a labelled axis; empty where a number is undefined."""
    value = record["debiased"] if record["of"] == "debiased" else record["value"]
    lower, upper = (
        {"inf": math.inf, "-inf": -math.inf}.get(x, x) for x in (record["lower"], record["upper"])
    )
    if not finite(value) or lower is None or upper is None:
        return ""
    shown = [x for x in (value, lower, upper, *bounds) if finite(x)]
    step = step_between(max(shown) - min(shown), abs(value))
    low, high = math.floor(min(shown) / step) * step, math.ceil(max(shown) / step) * step
    if low == high:
        low, high = low - step, high + step

    def at(x: float) -> str:
        share = (min(max(x, low), high) - low) / (high - low)
        return f"{_MARGIN + share * (_WIDTH - 2 * _MARGIN):.1f}"

    def line(x1: str, x2: str, y1: int, y2: int, style: str) -> str:
        return f'<line x1="{x1}" x2="{x2}" y1="{y1}" y2="{y2}" stroke="currentColor" {style}/>'

    def label(x: float, y: int, text: str) -> str:
        return f'<text x="{at(x)}" y="{y}" text-anchor="middle" fill="currentColor">{text}</text>'

    marks = [line(at(low), at(high), 44, 44, 'stroke-opacity="0.5"')]
    for i in range(round((high - low) / step) + 1):
        tick = low + i * step
        marks.append(line(at(tick), at(tick), 44, 48, 'stroke-opacity="0.5"'))
        marks.append(label(tick, 60, f"{round(tick, 9):.6g}"))
    for x in bounds:
        if finite(x):
            marks.append(line(at(x), at(x), 16, 44, 'stroke-dasharray="4 3"'))
            marks.append(label(x, 12, f"bound {number(x, places)}"))
    marks.append(line(at(lower), at(upper), 30, 30, 'stroke-width="4" stroke-opacity="0.6"'))
    marks.append(f'<circle cx="{at(value)}" cy="30" r="5" fill="currentColor"/>')
    title = f"{number(value, places)}, interval {number(lower, places)} to {number(upper, places)}"
    return (
        f'<svg role="img" width="{_WIDTH}" height="66" viewBox="0 0 {_WIDTH} 66" font-size="11" '
        f'style="display:block;max-width:100%"><title>{escaped(title)}</title>{"".join(marks)}</svg>'
    )


def step_between(width: float, size: float) -> float:
    """Return a round distance between ticks, so that a few of them span the width."""
    width = width or size or 1.0
    base = 10.0 ** math.floor(math.log10(width))
    return next(base * factor for factor in (0.2, 0.5, 1.0, 2.0) if width / (base * factor) <= 6.0)


def _table(rows: Sequence[Mapping[str, Any]], places: int) -> Iterable[str]:
    columns = _filled(rows)
    yield '<table><thead><tr><th style="text-align:left">group</th>'
    yield "".join(f"<th>{name}</th>" for name in columns) + "</tr></thead><tbody>"
    for row in rows[:_MOST_ROWS]:
        yield f'<tr><th style="text-align:left">{escaped(row["key"])}</th>'
        yield "".join(f"<td>{_cell(name, row[name], places)}</td>" for name in columns) + "</tr>"
    yield "</tbody></table>"
    if len(rows) > _MOST_ROWS:
        yield f"<small>{len(rows) - _MOST_ROWS:,} more rows: to_frame() has all</small>"


def _cell(column: str, x: Any, places: int) -> str:
    if x is None:
        return ""
    if column == "n":
        return f"{x:,}"
    return escaped(p_value(x).removeprefix("p = ") if column == "p" else number(x, places))


def escaped(text: object) -> str:
    """Return text with markup and control characters escaped."""
    return html.escape(escape(str(text)))
