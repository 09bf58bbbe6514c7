"""Each fact of a result in words: interval, bound, sample, missing answers, and its groups."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pytest_llmfair._util.wording import (
    FEWEST_DECIMALS,
    counted,
    escape,
    finite,
    number,
    plural,
    rounded,
)
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.power import MOST_UNITS
from pytest_llmfair.lexicons.fields import members_of

_MOST_DECIMALS = 7

# How the metrics of gaps that people's labels correct begin.
GAP = "corrected gap"

# A result as plain data, as `Result.to_dict` makes it: a number that is undefined is None.
Record = Mapping[str, Any]


def people(attribute: str, group: str) -> str:
    """Return a group as a noun phrase that can follow "about"."""
    if attribute == "names":
        return f'people with "{escape(group)}" names'
    phrase = members_of(attribute, group)
    return f'group "{escape(group)}"' if phrase is None else escape(phrase)


def decimals(record: Record, fewest: int = FEWEST_DECIMALS) -> int:
    """Return the number of decimals that tells interval, value and bound apart."""
    bound = record["bound"]
    others = [x for x in (record["lower"], record["upper"], estimate(record)) if finite(x)]
    for n in range(fewest, _MOST_DECIMALS):
        shown = f"{bound:.{n}f}"
        if (
            math.isclose(float(shown), bound, rel_tol=1e-9)
            and all(f"{x:.{n}f}" != shown or math.isclose(x, bound, rel_tol=1e-9) for x in others)
            # Only an end close to the bound deserves many decimals.
            and (n >= FEWEST_DECIMALS or len({f"{x:.{n}f}" for x in others}) == len(set(others)))
        ):
            return n
    return _MOST_DECIMALS


def estimate(record: Record) -> Any:
    """Return the value that the interval surrounds."""
    return record["debiased"] if record.get("of") == "debiased" else record["value"]


def floor(record: Record) -> float | None:
    """Return the noise floor to compare the estimate with; None where it is subtracted already."""
    subtracted = record["of"] == "debiased" or record["judged"] == "excess"
    found: float | None = None if subtracted else record["noise_floor"]
    return found


def interval(record: Record, places: int) -> str:
    """Return ``[lower, upper]``; empty when undefined."""
    if record["lower"] is None or record["upper"] is None:
        return ""
    return f"[{number(record['lower'], places)}, {number(record['upper'], places)}]"


def threshold(record: Record, places: int) -> str:
    """Return the bound with its sign, such as ``<= 0.050``."""
    bound = number(record["bound"], places)
    if record["direction"] == "two-sided":
        fair = record["fair_value"]
        if record["scale"] == "log":
            low, high = ends(record)
            return f"{number(low, places)} to {number(high, places)}"
        return f"+-{bound}" if fair == 0 else f"{fair:g}+-{bound}"
    return f"{'>=' if record['direction'] == 'higher' else '<='} {bound}"


def allowed(record: Record, places: int) -> str:
    """Return the bound in the words that follow "you allow" or "you require"."""
    # A gap is a difference of two means: the same size is allowed either way.
    if record["direction"] != "two-sided" or record["metric"].startswith(GAP):
        return number(record["bound"], places)
    low, high = ends(record)
    return f"{number(low, places)} to {number(high, places)}"


def bound_of(record: Record) -> Bound:
    """Return the bound that a result was judged against."""
    return Bound(record["bound"], record["direction"], record["fair_value"], record["scale"])


def ends(record: Record) -> tuple[float, ...]:
    """Return the values at the bound: one, or two where both sides count."""
    two_sided = record["direction"] == "two-sided"
    return bound_of(record).ends if two_sided else (float(record["bound"]),)


def side(record: Record) -> str:
    """Return on which side of the bound the interval lies; empty without an interval."""
    if record["lower"] is None or record["upper"] is None:
        return ""
    inside, outside = bound_of(record).sides(float(record["lower"]), float(record["upper"]))
    if not inside and not outside:
        return "straddles"
    names = {"lower": ("<=", ">"), "higher": (">=", "<")}
    return names.get(record["direction"], ("within", "beyond"))[outside]


def relation(record: Record, places: int) -> str:
    """Return the place of the interval, such as ``> 0.050`` or ``straddles 0.050``."""
    two_sided = record["direction"] == "two-sided" and side(record)
    shown = threshold(record, places) if two_sided else number(record["bound"], places)
    return f"{side(record) or 'with a bound of'} {shown}"


def sample(record: Record, unit: str = "", *, in_full: bool = False) -> str:
    """Return the size of the sample, such as ``200 prompts x 5, n_eff 412``."""
    generations, effective = record["generations"], record["effective"]
    shown = counted(
        record["units"],
        generations,
        unit or record["unit"],
        record["population"],
        in_full=in_full,
    )
    if finite(effective) and round(effective) < generations:
        size = f"{effective:.{0 if effective >= 10 else 1}f}"
        shown += f" (effective sample size {size})" if in_full else f", n_eff {size}"
    return shown


def needed(record: Record) -> str:
    """Return the units that would decide, as a range; empty when that is unknown."""
    if record["needed_units"] is None:
        return ""
    low, high = (rounded(n) for n in record["needed_units"])
    most = "more than a million" if high >= MOST_UNITS else f"{high:,}"
    return f"{low:,} to {most}" if low < high else most


def origin(record: Record) -> str:
    """Count the answers asked live and replayed; empty where that is not known."""
    live, replayed = record["origin"]
    # A request that failed was asked too, and has no answer.
    asked = f"asked live: {plural('time', live)}" if live else ""
    known = f"replayed: {plural('answer', replayed)}" if replayed else ""
    return ", ".join(filter(None, (asked, known)))


def model(record: Record) -> str:
    """Return the model that answered, and what it is where none was chosen."""
    toy = ", the built-in toy model" if record["model"] == "builtin:ngram" else ""
    return escape(record["model"]) + toy


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


def extremes(record: Record, places: int) -> str:
    """Return the groups with the highest and the lowest rate."""
    rows = [row for row in record["groups"] if isinstance(row["rate"], float)]
    if len(rows) < 2:
        return ""
    rows.sort(key=lambda row: float(row["rate"]))
    if number(rows[0]["rate"], places) == number(rows[-1]["rate"], places):
        return ""
    low, high = (
        f"{number(row['rate'], places)} for {people(record['attribute'], row['key'])}"
        for row in (rows[0], rows[-1])
    )
    return f"the rate is highest, {high}, and lowest, {low}"


def calls(record: Record) -> str:
    """Return the number of answers to the needed units, in brackets."""
    if not record["units"] or record["needed_units"][1] >= MOST_UNITS:
        return ""
    each = record["generations"] / record["units"]
    if each == 1:
        return ""
    low, high = (rounded(n * each) for n in record["needed_units"])
    return f" ({low:,} to {high:,} answers)"
