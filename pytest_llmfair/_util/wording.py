"""Formats numbers, counts and texts for reports and notebooks."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from enum import Enum
from typing import Any

# Longest line of a report; an answer of 10 MB must not fill the log.
LONGEST_LINE = 2000

FEWEST_DECIMALS = 3
_PLURALS = {"person": "people"}


def finite(x: Any) -> bool:
    """Whether this is a finite number."""
    return isinstance(x, (int, float)) and math.isfinite(x)


def number(x: Any, places: int = FEWEST_DECIMALS) -> str:
    """Return a number with `places` decimals; above 1000 with four significant digits."""
    if x is None:
        return "n/a"
    if not finite(x):
        return str(x)
    shown = f"{x:.{places}f}" if abs(x) < 1000 else f"{x:.4g}"
    # "0.000" instead of "-0.000".
    return shown.removeprefix("-") if float(shown) == 0.0 else shown


def p_value(p: float) -> str:
    """Return a p-value with three or four decimals."""
    if p < 1e-4:
        return "p < 0.0001"
    return f"p = {p:.4f}" if p < 0.001 else f"p = {p:.3f}"


def plural(word: str, n: int) -> str:
    """Return ``1 pair`` or ``2 pairs``."""
    if n == 1:
        return f"1 {word}"
    return f"{n:,} {plurals(word)}"


def plurals(word: str) -> str:
    """Return ``pairs`` for ``pair``, ``fixed people`` for ``fixed person``."""
    before, space, noun = word.rpartition(" ")
    return f"{before}{space}{_PLURALS.get(noun, noun + 's')}"


def rounded(n: float) -> int:
    """Return a count rounded up to two significant digits."""
    step = int(10 ** max(len(str(math.ceil(n))) - 2, 0))
    return math.ceil(n / step) * step


def counted(
    units: int, generations: int, unit: str, population: str, *, in_full: bool = False
) -> str:
    """Return the size of a sample, such as ``200 prompts x 5`` or ``40 fixed occupations``."""
    shown = plural(("fixed " if population == "fixed" else "") + unit, units)
    if not units or generations <= units:
        return shown
    each, left = divmod(generations, units)
    if left:
        return f"{shown}, {generations:,} answers"
    return f"{shown} x {each}{' answers' if in_full else ''}"


def span(level: float, lower: Any, upper: Any, places: int = FEWEST_DECIMALS) -> str:
    """Return ``95 % interval 0.261 to 0.371``."""
    return f"{100 * level:g} % interval {number(lower, places)} to {number(upper, places)}"


def plug_in(value: Any, floor: Any, places: int = FEWEST_DECIMALS) -> str:
    """Return the plug-in value and noise floor of a debiased value, in brackets."""
    noise = f", floor {number(floor, places)}" if finite(floor) else ""
    return f"(plug-in {number(value, places)}{noise})"


def escape(text: str, limit: int = LONGEST_LINE) -> str:
    """Return one printable line: control characters and lone surrogates are escaped."""
    # Cut before escaping, to save time on 10 MB, and after it, because escapes are longer.
    shown = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text[:limit]
    )
    if len(text) <= limit and len(shown) <= limit:
        return shown
    tail = f"... ({len(text):,} characters)"
    return shown[: limit - len(tail)] + tail


def shorten(text: str, width: int) -> str:
    """Cut a text in the middle to at most `width` characters; both ends distinguish tests."""
    if len(text) <= width:
        return text
    if width < 8:
        return text[:width]
    head = (width - 3 + 1) // 2
    return f"{text[:head]}...{text[len(text) - (width - 3 - head) :]}"


def wrapped(text: str, width: int, first: str = "", others: str = "") -> list[str]:
    """Return a text as lines, without breaks in "5 %", "1 - ROUGE-L" and "p = 0.02"."""
    # No text of others holds the space that does not break: `escape` shows it as "\\xa0".
    whole = re.sub(
        r" (?=%)|(?<=\b1) (?=-)|(?<=\b1 -) |(?<=\bp) (?=[=<>])|(?<=\bp [=<>]) ", "\xa0", text
    )
    lines = textwrap.wrap(
        whole, width, initial_indent=first, subsequent_indent=others, break_on_hyphens=False
    )
    return [line.replace("\xa0", " ") for line in lines]


def around(text: str, at: int, width: int) -> str:
    """Return the part of a text that begins a little before `at`; ``...`` where it was cut."""
    if len(text) <= width:
        return text
    start = 0 if at < width * 2 // 3 else min(at - width // 4, len(text) - width + 3)
    shown = f"...{text[start:]}" if start else text
    return shown if len(shown) <= width else f"{shown[: width - 3]}..."


def difference(first: str, second: str, widest: int = LONGEST_LINE) -> str:
    """Return two texts as one, with what differs as ``{Anna|Adam}``, each at most so wide."""
    a, b = (re.findall(r"\w+|\s+|[^\w\s]", text) for text in (first, second))
    parts = []
    for kind, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        same, other = "".join(a[i:j]), "".join(b[k:m])
        both = f"{{{shorten(same, widest)}|{shorten(other, widest)}}}"
        parts.append(same if kind == "equal" else both)
    return "".join(parts)


def listed(names: Sequence[str], most: int) -> str:
    """Join the first names with commas, and count those above `most`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def plain(value: Any) -> Any:
    """Convert to JSON types: NaN becomes None, infinity "inf", numpy types Python types."""
    if isinstance(value, Enum):
        return value.value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
