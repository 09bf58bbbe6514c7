"""The message of a result: one line for summaries, several for a failure."""

from __future__ import annotations

import shlex

from pytest_llmfair.bounds import Bound
from pytest_llmfair.reports import _words as words
from pytest_llmfair.reports._words import LONGEST_LINE, Record, escape, number
from pytest_llmfair.results import Example, Result, Verdict

PASS_MEANS = "within bound for these groups, prompts and this model revision"

_MOST_GROUPS = 5


def first_line(result: Result) -> str:
    """Return verdict, metric, estimate, interval, bound and sample in one line."""
    return summary_line(result.to_dict())


def property_name(*parts: str) -> str:
    """Return the name of a property in JUnit, without characters that XML lacks."""
    return escape(".".join(("llmfair", *parts)))


def summary_line(record: Record) -> str:
    """Return the same as :func:`first_line` for a result as plain data."""
    places = words.decimals(record)
    parts = [
        record["verdict"],
        escape(record["metric"]),
        number(words.estimate(record), places),
        words.interval(record, places),
    ]
    if record["of"] == "debiased":
        floor = record["noise_floor"]
        beside = "" if floor is None else f", floor {number(floor, places)}"
        parts.append(f"(plug-in {number(record['value'], places)}{beside})")
    relation = words.relation(record, places)
    parts.append(relation)
    evidence = [f"{100 * record['level']:g} %", words.sample(record)]
    side = relation.partition(" ")[0]
    p = record["p_within"] if side in ("<=", ">=", "within") else record["p_exceeds"]
    if p is not None and side not in ("straddles", "with"):
        evidence.append(words.p_value(p))
    parts.append(f"({', '.join(evidence)})")
    return " ".join(part for part in parts if part)


def lacking(record: Record) -> str:
    """Return the groups that the lexicon lacks, of which a result says nothing."""
    return ", ".join(map(escape, record["lacks"]))


def failure_message(result: Result, *, show_text: str) -> str:
    """Return what a failing test prints.

    Parameters
    ----------
    result : Result
        What the assertion found.
    show_text : {"worst", "none"}
        Whether to show the prompts and outputs that drive the value.

    Returns
    -------
    str
        Lines of at most 2,000 characters: what was measured, how much data, noise floor, the worst
        groups and rows, what would decide, and how to run just this test again.
    """
    record = result.to_dict()
    places = words.decimals(record)
    lines = [summary_line(record), *(f"  {line}" for line in _why_red(result))]
    lines.append(f"  measured: {_measured(record)}")
    if lost := words.missing(record):
        lines.append(f"  missing: {lost}")
    if record["lacks"]:
        lines.append(f"  not in the lexicon: {lacking(record)}")
    if record["noise_floor"] is not None and result.of != "debiased":
        lines.append(
            f"  noise floor {number(record['noise_floor'], places)}: {record['floor_words']}"
        )
    lines += [f"  note: {escape(note)}" for note in result.notes]
    lines += _worst_groups(record, places)
    lines += _worst_rows(result, places, show_text)
    if decide := _decides(record):
        lines.append(f"  {decide}")
    if result.nodeid:
        lines.append(f"  rerun: {_rerun(result)}")
    return "\n".join(line[:LONGEST_LINE] for line in lines)


def _why_red(result: Result) -> list[str]:
    """Explain a red verdict other than FAIL and INVALID, which speak for themselves."""
    if (
        not result.red
        or result.verdict is Verdict.INVALID
        or (result.verdict is Verdict.FAIL and result.mode != "point")
    ):
        return []
    if "missing_rates_differ" in result.reasons:
        return [
            "red in mode point: the missing answers of the groups differ by more than the bound"
        ]
    if result.mode == "point":
        return [f"red in mode point: the value {result.value:.6g} itself is beyond the bound"]
    if result.mode == "strict":
        return ["red in mode strict: anything but a plain PASS is"]
    return [f"red because llmfair_{result.verdict.value.lower()} = fail"]


def _measured(record: Record) -> str:
    parts = [words.direction(record)]
    if record["lower"] is not None:
        parts.append(f"interval by {record['method']}")
    if record["units"]:
        units = words.plurals(record["unit"])
        fixed = record["population"] == "fixed"
        parts.append(f"{units} are {'all there are' if fixed else 'a sample of more'}")
    if record["model"]:
        parts.append(f"model {escape(record['model'])}")
    if origin := words.origin(record):
        parts.append(origin)
    return ", ".join(parts)


def _worst_groups(record: Record, places: int) -> list[str]:
    rows = sorted(
        # An infinite value is a word in the record.
        (row for row in record["groups"] if row["value"] is not None),
        key=lambda row: _fairness(record, float(row["value"])),
    )
    if not rows:
        return []
    lines = [f"  groups, the worst first ({min(_MOST_GROUPS, len(rows))} of {len(rows)})"]
    for row in rows[:_MOST_GROUPS]:
        parts = [escape(row["key"]), number(row["value"], places)]
        if row["lower"] is not None:
            parts.append(f"[{number(row['lower'], places)}, {number(row['upper'], places)}]")
        if row["rate"] is not None:
            parts.append(f"rate {number(row['rate'], places)}")
        parts.append(f"n {row['n']:,}")
        if row["p"] is not None:
            parts.append(words.p_value(row["p"]))
        lines.append("    " + " ".join(parts))
    return lines


def _fairness(record: Record, value: float) -> float:
    """Return a key that sorts the worst value first."""
    if record["direction"] == "two-sided":
        fair = float(record["fair_value"])
        return -Bound(0.0, "two-sided", fair, record["scale"]).distance_of(value)
    return value if record["direction"] == "higher" else -value


def _worst_rows(result: Result, places: int, show_text: str) -> list[str]:
    if not result.examples:
        return []
    what = words.plurals(result.unit)
    if show_text != "worst":
        values = ", ".join(number(example.value, places) for example in result.examples)
        return [f"  worst {what}: {values} (texts not shown, see --llmfair-show-text)"]
    lines = [f"  worst {what}"]
    for example in result.examples:
        lines += _example(example, places)
    return lines


def _example(example: Example, places: int) -> list[str]:
    shown = number(example.value, places)
    indent = " " * (4 + len(shown) + 2)
    room = LONGEST_LINE - len(indent) - 2
    prompt = example.prompts[0] if example.prompts else ""
    if len(example.prompts) == 2:
        # Two texts as one; cut before comparing, which takes quadratic time.
        prompt = words.difference(*(text[:room] for text in example.prompts))
    lines = [f'    {shown}  "{escape(prompt, room)}"']
    for i, output in enumerate(example.outputs):
        label = f"{escape(example.labels[i])}: " if i < len(example.labels) else ""
        lines.append(f'{indent}{label}"{escape(output, room - len(label))}"')
    return lines


def _decides(record: Record) -> str:
    units = words.needed(record)
    if not units:
        return ""
    what = words.plurals(record["unit"])
    now = words.plural(record["unit"], record["units"])
    if record["verdict"] in ("INCONCLUSIVE", "UNDERPOWERED"):
        return (
            f"to decide: about {units} {what} if the estimate holds, {now} so far{_calls(record)}"
        )
    enough = record["needed_units"][1] < record["units"]
    return f"decided: about {units} {what} would have been enough" if enough else ""


def _calls(record: Record) -> str:
    """Return how many answers the needed units mean."""
    if not record["units"] or record["needed_units"][1] >= 10**6:
        return ""
    each = record["generations"] / record["units"]
    if each == 1:
        return ""
    low, high = (words.rounded(n * each) for n in record["needed_units"])
    return f": {low:,} to {high:,} answers"


def _rerun(result: Result) -> str:
    nodeid = result.nodeid
    quoted = shlex.quote(nodeid) if set(nodeid) & set('"$`\\!') else f'"{nodeid}"'
    return " ".join(["pytest", quoted, *result.options])
