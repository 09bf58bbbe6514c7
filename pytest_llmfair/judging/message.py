"""The texts of a result: one line, and the message of a failure."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from typing import Any

from pytest_llmfair._util.printing import printable
from pytest_llmfair._util.wording import (
    FEWEST_DECIMALS,
    around,
    difference,
    escape,
    number,
    p_value,
    plug_in,
    plural,
    plurals,
    rounded,
    shorten,
    span,
    wrapped,
)
from pytest_llmfair.judging import facts, sentences
from pytest_llmfair.judging.bound import WORSE
from pytest_llmfair.judging.facts import Record
from pytest_llmfair.judging.inputs import WORST_CASE_EXCEEDS
from pytest_llmfair.judging.robustness import TOO_FEW, too_few
from pytest_llmfair.judging.sentences import of_reader, too_weak

_BEYOND = "beyond the bound"
PASS_MEANS = "within bound for these groups, prompts and this model revision"

# Pytest indents every line by eight columns; only the first line may reach 100.
# Eight columns less than a terminal has: pytest begins each line with "E" and seven spaces.
WIDTH, WIDEST = 72, 100

_MOST_GROUPS = 5
_FEWEST_DECIMALS = 2
_LONGEST_DIFFERENCE = 24
# Reasons whose first note says it all.
_SPEAKS = {"missing_rates_differ", WORST_CASE_EXCEEDS, "not_found", "proven_pairs"}


def property_name(*parts: str) -> str:
    """Return the name of a property in JUnit, without characters that XML lacks."""
    return escape(".".join(("llmfair", *parts)))


def summary_line(record: Record) -> str:
    """Return verdict, metric, estimate, interval, bound and sample in one line."""
    places = facts.decimals(record)
    parts = [
        record["verdict"],
        escape(record["metric"]),
        number(facts.estimate(record), places),
        facts.interval(record, places),
    ]
    if record["of"] == "debiased":
        parts.append(plug_in(record["value"], record["noise_floor"], places))
    parts.append(facts.relation(record, places))
    evidence = [f"{100 * record['level']:g} %", facts.sample(record)]
    if proven := _proven(record):
        evidence.append(proven)
    parts.append(f"({', '.join(evidence)})")
    return " ".join(part for part in parts if part)


def headline(record: Record) -> str:
    """Return verdict, metric, value, interval and bound: the first line of a message."""
    places = _places(record)
    value = number(facts.estimate(record), places) if record["lower"] is not None else "no value"
    found = f"{value} {facts.interval(record, places)}".rstrip()
    asked = "required" if record["direction"] == "higher" else "allowed"
    bound = facts.allowed(record, places)
    return f"{record['verdict']} {metric_name(record)}: {found}, {asked}\xa0{bound}"


def _places(record: Record) -> int:
    gap = record["metric"].startswith(facts.GAP)
    return facts.decimals(record, FEWEST_DECIMALS if gap else _FEWEST_DECIMALS)


def metric_name(record: Record) -> str:
    """Return the name of the metric with the attribute of its pairs."""
    name, attribute = escape(record["metric"]), escape(record["attribute"])
    if not attribute or attribute in name:
        return name
    before, bracket, after = name.partition("(")
    return f"{before}({attribute}, {after}" if bracket else f"{name} ({attribute})"


def lacking(record: Record) -> str:
    """Return the groups of the attribute that the lexicon has no words for."""
    return f"{', '.join(map(escape, record['lacks']))} (no words for these groups in the lexicon)"


def failure_message(record: Record, *, show_text: str, detailed: bool = False) -> str:
    """Return the message of a failing test, in lines that fit a terminal of 80 columns."""
    places = _places(record)
    (_, found), *findings = _findings(record, places)
    lines = [
        *wrapped(headline(record), WIDEST, "", "  "),
        *wrapped(found, WIDTH, "  ", "  "),
        *(line for label, text in findings for line in _labelled(label, text)),
        *_worst_groups(record, places),
        *_worst_rows(record, places, show_text),
        *_labelled("model", _model(record)),
        *_labelled("to decide", decides(record)),
        *(_labelled("method", _method(record)) if detailed else []),
        *(_labelled("in short", summary_line(record)) if detailed else []),
        *(_rerun(record) if record["nodeid"] else []),
    ]
    return printable("\n".join(lines))


def in_words(record: Record) -> list[tuple[str, str]]:
    """Return a message for other reports: labels, sentences, no texts; the first is bare."""
    places = _places(record)
    more = [("to decide", decides(record)), ("method", _method(record))]
    return [*_findings(record, places), *(each for each in more if each[1])]


def _findings(record: Record, places: int) -> list[tuple[str, str]]:
    """Return labelled sentences, the first without a label: what was found, and how sure it is."""
    notes = [escape(note) for note in record["notes"]]
    found = _explained(record, places, notes)
    # What was left out, and why, is one line with the noise that was taken off.
    left_out = [note for note in notes if " left out" in note]
    rates = [note for note in notes if re.match(r"[a-z ]+ rates: ", note)]
    # A difference of scores names both means in its first sentence.
    extremes = "" if sentences.scores_differ(record, places) else facts.extremes(record, places)
    labelled = record.get("labelled", {}).get("lines", {})
    direction = [escape(record["direction_words"]) or extremes, *rates]
    taken_off, floor = _noise(record, places)
    labelled = [
        ("red because", _why_red(record)),
        ("certainty", _certainty(record, places)),
        ("direction", "; ".join(filter(None, direction))),
        ("not counted", "; ".join(filter(None, [taken_off, *left_out]))),
        ("noise floor", floor),
        *(("note", note) for note in notes if note not in (*left_out, *rates)),
        *((label, escape(text)) for label, text in record["robustness"].items()),
        *((label, escape(text)) for label, text in labelled.items() if label != "to decide"),
        ("not covered", lacking(record) if record["lacks"] else ""),
    ]
    return [
        ("", f"{_sentence(found)}.{of_reader(record)}"),
        *(each for each in labelled if each[1]),
    ]


def _labelled(label: str, text: str) -> list[str]:
    """Return a labelled line, wrapped below its text; no line without text."""
    return wrapped(text, WIDTH, f"  {label:<11}  ", " " * 15)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".")


def _explained(record: Record, places: int, notes: list[str]) -> str:
    """Explain a verdict and the remedy; drop a note that says the same."""
    found, verdict = sentences.what_was_found(record, places), record["verdict"]
    units = plurals(record["unit"])
    so_far = plural(record["unit"], record["units"])
    if labels := record.get("labelled", {}).get("labels"):
        so_far, units = plural("label", labels), "labels"
    if verdict == "INVALID":
        return f"This cannot be judged: {notes.pop(0)}" if notes else "This cannot be judged"
    if notes and _SPEAKS.intersection(record["reasons"]):
        return _sentence(notes.pop(0))
    if verdict == "PASS":
        found += f". {_sentence(PASS_MEANS)}"
    if verdict in ("PASS", "FAIL"):
        return f"{found}."
    if verdict == "INCONCLUSIVE":
        asked = f"{facts.allowed(record, places)} that you {sentences.verb(record)}"
        found = found.partition("; you ")[0]
        add = units if "next" not in record["robustness"] else "what the line 'next' says"
        return f"{found}; {so_far} neither prove nor refute the {asked}. Add {add}"
    if "no_noise_floor" in record["reasons"]:
        always = ', or say baseline="none" where the model always gives the same answer'
        if record["metric"].startswith("differs when it should"):
            always = ""
        return (
            "One answer to each prompt does not show how much two answers to the same prompt "
            f"differ. Ask for two or more (generations=2){always}"
        )
    if why := too_few(record, notes):
        return why
    if why := too_weak(record):
        pass
    elif (share := record["fair_pass_share"]) is None:
        why = "it could hardly PASS with any answers"
    else:
        # Messages never call a model fair, not even an imagined one.
        why = f"{_as_fair(record)} would PASS only {100 * share:.0f} % of such tests"
        if share < 0.005:
            why = f"{_as_fair(record)} would practically never PASS it"
    more = f"{units} or generations" if record["compared"] else units
    return f"With {so_far} this test is too small: {why}. Add {more}, or loosen the bound"


def _as_fair(record: Record) -> str:
    if WORSE in record["metric"]:
        return "a candidate as fair as the baseline"
    return "a model that treats all groups alike"


def _why_red(record: Record) -> str:
    """Explain a red verdict other than FAIL and INVALID, which speak for themselves."""
    verdict, point = record["verdict"], record["mode"] == "point"
    if not record["red"] or verdict == "INVALID" or (verdict == "FAIL" and not point):
        return ""
    if "missing_rates_differ" in record["reasons"]:
        return "mode point, and the missing answers of the groups differ by more than the bound"
    if point:
        return (
            # An infinite value is a word in the record.
            f"mode point judges the value {float(record['value']):.6g} itself, which is "
            "beyond the bound"
        )
    if record["mode"] == "strict":
        return "mode strict accepts only a PASS without doubts"
    return f"llmfair_{verdict.lower()} = fail"


def _certainty(record: Record, places: int) -> str:
    pair = "prompt pair" if record["unit"] == "pair" and record["attribute"] else ""
    sample = facts.sample(record, pair, in_full=True)
    if record["lower"] is None:
        return f"no interval from {sample}" if record["units"] else ""
    found = f"{span(record['level'], record['lower'], record['upper'], places)} from {sample}"
    proven = _proven(record)
    if not proven or "no_noise_floor" in record["reasons"]:
        return found
    claim = ""
    if record["judged"] == "excess" and not proven.endswith(_BEYOND):
        claim = " for the excess"
    elif record["verdict"] == "FAIL" and record["compared"] and record["noise_floor"]:
        claim = " for more than both the bound and the noise floor"
    return f"{found}, {proven}{claim}"


def _proven(record: Record) -> str:
    """Return the p-value of what the interval proves; empty if it proves nothing."""
    side = facts.side(record)
    within = side in ("<=", ">=", "within")
    p = record["p_within" if within else "p_exceeds"]
    if p is None or not side or side == "straddles":
        return ""
    # A bare p-value is read as one of a difference.
    what = "an excess" if record["judged"] == "excess" else "a value"
    return f"{p_value(p)} against {what} {_BEYOND}" if within else p_value(p)


def _noise(record: Record, places: int) -> tuple[str, str]:
    """Return the part of the noise floor that was subtracted, and the part to compare with."""
    floor = record["noise_floor"]
    if floor is None or (floor == 0.0 and record["judged"] != "value"):
        return "", ""
    shown, what = number(floor, places), record["floor_words"]
    if record["judged"] != "value":
        return f"{shown} that {what} differ by", ""
    if record["of"] == "debiased":
        value = number(record["value"], places)
        return f"{shown}, {what} (the value with it is {value})", ""
    return "", f"{shown}, {what}" if what.startswith("the value") else f"{shown} for {what}"


def _model(record: Record) -> str:
    lost = facts.missing(record)
    n = sum(record["missing"].values())
    missing = f"{plural('answer', n)} missing: {lost}" if lost else ""
    return ", ".join(filter(None, [facts.model(record), facts.origin(record), missing]))


def _method(record: Record) -> str:
    parts = [f"interval by {record['method']}"] if record["lower"] is not None else []
    side, fair = record["direction"], record["fair_value"]
    if WORSE in record["metric"]:
        parts.append("the smaller the loss, the better")
    elif side == "two-sided":
        parts.append(f"both sides of {fair:g} count")
    else:
        parts.append(f"{side} is fairer")
    if record["units"]:
        whole = "all there are" if record["population"] == "fixed" else "a sample of more"
        parts.append(f"{plurals(record['unit'])} are {whole}")
    return ", ".join(parts)


def _worst_groups(record: Record, places: int) -> list[str]:
    bound = facts.bound_of(record)
    rows = sorted(
        (row for row in record["groups"] if row["value"] is not None),
        # What is best proven comes first; without p-values, and among equal ones, the worst.
        key=lambda row: (
            1.0 if row["p"] is None else row["p"],
            -bound.unfairness(float(row["value"])),
        ),
    )
    if not rows:
        return []
    what = "levels" if record["robustness"] else "groups"
    lines = [f"  worst {what} ({min(_MOST_GROUPS, len(rows))} of {len(rows)})"]
    for row in rows[:_MOST_GROUPS]:
        parts = [shorten(escape(row["key"]), 40), number(row["value"], places)]
        parts += filter(None, [facts.interval(row, places)])
        if row["rate"] is not None:
            parts.append(f"rate {number(row['rate'], places)}")
        parts.append(f"n {row['n']:,}")
        if row["p"] is not None:
            parts.append(p_value(row["p"]).replace("p ", "p (no difference) ", 1))
        lines.append("    " + " ".join(parts))
    return lines


def _worst_rows(record: Record, places: int, show_text: str) -> list[str]:
    examples = record["examples"]
    if not examples:
        return []
    what = f"worst {plurals(record['unit'])}"
    if show_text != "worst":
        values = ", ".join(number(example["value"], places) for example in examples)
        hidden = "hidden because CI is set" if os.environ.get("CI") else "hidden"
        how = f"{values} (texts {hidden}; --llmfair-show-text worst shows them)"
        return _labelled(what, how)
    return [f"  {what}", *(line for example in examples for line in _example(example, places))]


def _example(example: Mapping[str, Any], places: int) -> list[str]:
    shown = number(example["value"], places)
    indent = " " * (4 + len(shown) + 2)
    room = WIDTH - len(indent) - 2
    # Escaping also cuts: comparing takes quadratic time.
    prompts = [escape(text) for text in example["prompts"]]
    prompt = "".join(prompts[:1])
    if len(prompts) == 2:
        prompt = difference(prompts[0], prompts[1], _LONGEST_DIFFERENCE)
    lines = [f'    {shown}  "{around(prompt, max(prompt.find("{"), 0), room)}"']
    labels = example["labels"]
    outputs = [escape(text) for text in example["outputs"]]
    pairs = enumerate(zip(*outputs, strict=False))
    differs = next((i for i, texts in pairs if len(set(texts)) > 1), 0)
    for i, output in enumerate(outputs):
        label = f"{escape(labels[i], 30)}: " if i < len(labels) else ""
        lines.append(f'{indent}{label}"{around(output, differs, room - len(label))}"')
    return lines


def decides(record: Record) -> str:
    """Return the amount of data that would decide an undecided verdict."""
    units, verdict = facts.needed(record), record["verdict"]
    what = record["unit"] if units == "1" else plurals(record["unit"])
    if {WORST_CASE_EXCEEDS, *TOO_FEW}.intersection(record["reasons"]):
        return ""
    if lines := record.get("labelled", {}).get("lines"):
        return escape(lines.get("to decide", ""))
    if "not_found" in record["reasons"]:
        return "a larger budget finds smaller gaps; no search shows that there is none"
    if verdict in ("INCONCLUSIVE", "UNDERPOWERED"):
        now = f"{plural(record['unit'], record['units'])} so far"
        if verdict == "UNDERPOWERED" and (enough := record["units_for_fair_pass"]):
            return (
                f"about {rounded(enough):,} {what}, with which {_as_fair(record)} would "
                f"PASS 80 % of such tests; {now}"
            )
        if "no_noise_floor" in record["reasons"]:
            return ""
        if units:
            return f"about {units} {what} if the value stays as it is{facts.calls(record)}; {now}"
        twice = 2 * max(record["units"], 1)
        return f"no estimate can be given; try twice as many, {twice:,} {what}; {now}"
    if not units or record["needed_units"][1] >= record["units"]:
        return ""
    return f"already decided; about {units} {what} would have been enough"


def _rerun(record: Record) -> list[str]:
    """Return the command that repeats the test, split into lines for a shell."""
    nodeid = record["nodeid"]
    quoted = shlex.quote(nodeid) if set(nodeid) & set('"$`\\!') else f'"{nodeid}"'
    lines = [f"  {'rerun':<13}pytest {quoted}"]
    for option in record["options"]:
        if len(f"{lines[-1]} {option} \\") <= WIDTH:
            lines[-1] += f" {option}"
        else:
            lines[-1] += " \\"
            lines.append(f"{'':15}{option}")
    return lines
