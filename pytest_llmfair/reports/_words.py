"""Numbers, names and texts as they are shown; every report speaks the same way."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any

from pytest_llmfair.bounds import Bound
from pytest_llmfair.power import plural, plurals, rounded

# A line longer than this helps nobody, and an answer of 10 MB must not drown the log.
LONGEST_LINE = 2000

__all__ = ["plural", "plurals", "rounded"]

_FEWEST_DECIMALS, _MOST_DECIMALS = 3, 7
_DIRECTIONS = {"lower": "lower is fairer", "higher": "higher is fairer"}

# A result as plain data, as `Result.to_dict` makes it: a number that is undefined is None.
Record = Mapping[str, Any]


def decimals(record: Record) -> int:
    """Return how many decimals tell the ends of the interval, the value and the bound apart."""
    bound = record["bound"]
    others = [x for x in (record["lower"], record["upper"], estimate(record)) if _finite(x)]
    for n in range(_FEWEST_DECIMALS, _MOST_DECIMALS):
        shown = f"{bound:.{n}f}"
        if math.isclose(float(shown), bound, rel_tol=1e-9) and all(
            f"{x:.{n}f}" != shown or math.isclose(x, bound, rel_tol=1e-9) for x in others
        ):
            return n
    return _MOST_DECIMALS


def number(x: Any, places: int = _FEWEST_DECIMALS) -> str:
    """Return a number with a fixed count of decimals; large ones with four digits."""
    if x is None:
        return "n/a"
    if not _finite(x):
        return str(x)
    shown = f"{x:.{places}f}" if abs(x) < 1000 else f"{x:.4g}"
    # No "-0.000": a sign that means nothing.
    return shown.removeprefix("-") if float(shown) == 0.0 else shown


def estimate(record: Record) -> Any:
    """Return the value that the interval surrounds."""
    return record["debiased"] if record["of"] == "debiased" else record["value"]


def interval(record: Record, places: int) -> str:
    """Return ``[lower, upper]``; empty when undefined."""
    if record["lower"] is None or record["upper"] is None:
        return ""
    return f"[{number(record['lower'], places)}, {number(record['upper'], places)}]"


def threshold(record: Record, places: int) -> str:
    """Return what was asked for, such as ``<= 0.050``."""
    bound = number(record["bound"], places)
    if record["direction"] == "two-sided":
        fair = record["fair_value"]
        if record["scale"] == "log":
            low, high = ends(record)
            return f"{number(low, places)} to {number(high, places)}"
        return f"+-{bound}" if fair == 0 else f"{fair:g}+-{bound}"
    return f"{'>=' if record['direction'] == 'higher' else '<='} {bound}"


def ends(record: Record) -> tuple[float, ...]:
    """Return the values at the bound: one, or two where both sides count."""
    if record["direction"] != "two-sided":
        return (float(record["bound"]),)
    bound = Bound(record["bound"], record["direction"], record["fair_value"], record["scale"])
    return bound.ends


def relation(record: Record, places: int) -> str:
    """Return how the interval lies to the bound, such as ``> 0.050`` or ``straddles 0.050``."""
    lower, upper, bound = record["lower"], record["upper"], record["bound"]
    shown = number(bound, places)
    if lower is None or upper is None:
        return f"with a bound of {shown}"
    lower, upper = float(lower), float(upper)
    if record["direction"] == "lower":
        side = "<=" if upper <= bound else ">" if lower > bound else "straddles"
    elif record["direction"] == "higher":
        side = ">=" if lower >= bound else "<" if upper < bound else "straddles"
    else:
        low, high = ends(record)
        shown = threshold(record, places)
        within = upper <= high and lower >= low
        beyond = lower > high or upper < low
        side = "within" if within else "beyond" if beyond else "straddles"
    return f"{side} {shown}"


def p_value(p: float) -> str:
    """Return a p-value with what precision it deserves."""
    if p < 1e-4:
        return "p < 0.0001"
    return f"p = {p:.4f}" if p < 0.001 else f"p = {p:.3f}"


def direction(record: Record) -> str:
    """Return which side of the bound is fairer, in words."""
    return _DIRECTIONS.get(record["direction"], f"both sides of {record['fair_value']:g} count")


def sample(record: Record) -> str:
    """Return how much evidence there is, such as ``200 prompts x 5, n_eff 412``."""
    units, generations = record["units"], record["generations"]
    word = ("fixed " if record["population"] == "fixed" else "") + record["unit"]
    shown = plural(word, units)
    if units and generations > units:
        each, left = divmod(generations, units)
        shown += f", {generations:,} answers" if left else f" x {each}"
    effective = record["effective"]
    # Only where units that resemble each other make it smaller: more than the count would puzzle.
    if _finite(effective) and round(effective) < generations:
        shown += f", n_eff {effective:.0f}" if effective >= 10 else f", n_eff {effective:.1f}"
    return shown


def needed(record: Record) -> str:
    """Return the units that would decide, as a range; empty when that is unknown."""
    if record["needed_units"] is None:
        return ""
    low, high = (rounded(n) for n in record["needed_units"])
    most = "more than a million" if high >= 10**6 else f"{high:,}"
    return f"{low:,} to {most}" if low < high else most


def origin(record: Record) -> str:
    """Return whether answers were asked for or replayed; empty where that is not known."""
    live, replayed = record["origin"]
    if not live or not replayed:
        return "answers live" if live else "answers replayed" if replayed else ""
    return f"{plural('answer', live)} live and {replayed:,} replayed"


def missing(record: Record) -> str:
    """Return the missing answers per group, such as ``female 2 (refused), male 0``."""
    if not record["missing"]:
        return ""
    groups = record["missing_by_group"] or {"all": record["missing"]}
    parts = []
    for group, reasons in groups.items():
        words = ", ".join(
            escape(reason) if len(reasons) == 1 else f"{n} {escape(reason)}"
            for reason, n in reasons.items()
        )
        parts.append(f"{escape(group)} {sum(reasons.values())}" + (f" ({words})" if words else ""))
    return ", ".join(parts)


def escape(text: str, limit: int = LONGEST_LINE) -> str:
    """Return one line of harmless text: control characters and lone surrogates are escaped."""
    # Cut before and after: escaping may make the text longer, and 10 MB are not worth escaping.
    shown = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text[:limit]
    )
    if len(text) <= limit and len(shown) <= limit:
        return shown
    tail = f"... ({len(text):,} characters)"
    return shown[: limit - len(tail)] + tail


def shorten(text: str, width: int) -> str:
    """Return text of at most `width` characters, cut in the middle: both ends tell tests apart."""
    if len(text) <= width:
        return text
    if width < 8:
        return text[:width]
    head = (width - 3 + 1) // 2
    return f"{text[:head]}...{text[len(text) - (width - 3 - head) :]}"


def difference(first: str, second: str) -> str:
    """Return two texts as one, with what differs as ``{Anna|Adam}``."""
    a, b = (re.findall(r"\w+|\s+|[^\w\s]", text) for text in (first, second))
    parts = []
    for kind, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        same = "".join(a[i:j])
        parts.append(same if kind == "equal" else f"{{{same}|{''.join(b[k:m])}}}")
    return "".join(parts)


def _finite(x: Any) -> bool:
    return isinstance(x, (int, float)) and math.isfinite(x)
