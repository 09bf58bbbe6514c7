"""Lines about a gap corrected by labels, besides its interval: the judge, and the labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

import numpy as np

from pytest_llmfair._util.validation import one_sided
from pytest_llmfair._util.wording import number, plural, rounded
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.power import SURE
from pytest_llmfair.stats import Estimate, Finding
from pytest_llmfair.stats.corrected_gap import CorrectedGap, LabelCell

TOO_FEW_ANSWERS = "too_few_answers"
_FEWEST_MORE = 10


def too_few_answers(estimate: Estimate, bound: Bound, level: float) -> tuple[Finding, ...]:
    """Report that no number of labels decides, since the answers themselves are too few."""
    part = getattr(estimate, "part", estimate)
    if not isinstance(part, CorrectedGap) or bound.value == 0.0:
        return ()
    error, reach = math.sqrt(part.least_variance), _least_reach(part, level)
    room = (bound.value - reach) / error
    if NormalDist().cdf(room) - NormalDist().cdf(-room) >= 0.5:
        return ()
    text = (
        f"no number of labels decides: with every answer labelled the interval would still be "
        f"+- {number(reach)} against a bound of {bound.value:g}; ask more prompts, not more people"
    )
    return (Finding(TOO_FEW_ANSWERS, text),)


def labelled(
    estimate: Estimate, bound: Bound, level: float, kept: Mapping[str, str], verdict: str
) -> dict[str, Any]:
    """Return labelled sentences on the judge and the labels, their numbers, and digests."""
    if not kept:
        return {}
    found: dict[str, Any] = {name: value for name, value in kept.items() if name != "audit"}
    part = getattr(estimate, "part", estimate)
    if not isinstance(part, CorrectedGap) or verdict == "INVALID":
        return found
    ends = part.interval(level)
    error = NormalDist().inv_cdf(1.0 - one_sided(level)) * math.sqrt(part.judge_variance)
    judge = [part.on_scale(part.judge_gap + shift) for shift in (0.0, -error, error)]
    reach = _least_reach(part, level)
    limit = f"a factor of {math.exp(reach):.2f}" if part.fair else f"+- {number(reach)}"
    n = sum(x == x for x in estimate.call.args[1]) if estimate.call else part.labels
    planned = "as planned" if kept["design"] == "planned" else "of answers drawn at random"
    saved = f"the judge saves about {rounded(part.saved)} of them" if part.saved > 0 else ""
    lines = {
        "judge alone": _judge(part, judge[0], ends.lower, ends.upper),
        "neutral text": kept["audit"] and f"the judge {kept['audit']}",
        "labels": f"{n:,} people's labels, {planned}; "
        + (saved or "the judge saves none of them"),
        "limit": f"with every answer labelled the interval would still be {limit}",
        "where to label": _where(part, estimate),
        "to decide": _to_decide(part, bound, level) if verdict.startswith(("INC", "UND")) else "",
    }
    return {
        **found,
        "lines": {label: text for label, text in lines.items() if text},
        "judge_alone": judge,
        "labels": n,
        "saved": part.saved,
    }


def judge_outside(estimate: Estimate, level: float) -> tuple[Finding, ...]:
    """Note that the judge's own gap lies outside the corrected interval, or that it saves none."""
    part = getattr(estimate, "part", estimate)
    if not isinstance(part, CorrectedGap):
        return ()
    ends, found = part.interval(level), []
    own = abs(part.judge_gap) if part.absolute else part.on_scale(part.judge_gap)
    if not ends.lower <= own <= ends.upper:
        text = "the judge's own gap lies outside the corrected interval"
        found.append(Finding("judge_outside", text, "note"))
    if part.saved <= 0:
        text = "the judge saves no labels: these alone would give as narrow an interval"
        found.append(Finding("judge_saves_nothing", text, "note"))
    return tuple(found)


def _least_reach(part: CorrectedGap, level: float) -> float:
    return NormalDist().inv_cdf(1.0 - one_sided(level)) * math.sqrt(part.least_variance)


def _judge(part: CorrectedGap, judge: float, lower: float, upper: float) -> str:
    """Compare what the judge says with the corrected interval."""
    own = abs(judge) if part.absolute else judge
    if math.isnan(own):
        return "says nothing: it sees no event in one of the groups"
    if lower <= own <= upper:
        return f"says {number(judge)}, inside the corrected interval"
    hides = abs(part.judge_gap) < abs(part.gap)
    what = "hide the gap" if hides else "make a gap"
    return f"says {number(judge)}: its errors differ between the groups and {what}"


def _where(part: CorrectedGap, estimate: Estimate) -> str:
    """Name the stratum where one more label narrows the interval most, and how many do."""
    gains = [_gain(cell, part) if cell.labels < cell.answers else 0.0 for cell in part.cells]
    order = np.argsort(gains)
    best = part.cells[order[-1]]
    if not gains[order[-1]] > 0.0:
        return ""
    # Until here no other stratum narrows it more.
    others = gains[order[-2]] if len(gains) > 1 else 0.0
    enough = best.labels * math.sqrt(gains[order[-1]] / others) if others > 0.0 else math.inf
    more = min(max(enough - best.labels, _FEWEST_MORE), best.labels, best.answers - best.labels)
    names = list(dict.fromkeys(estimate.call.keywords["strata"])) if estimate.call else []
    pairs = isinstance(best.group, tuple)
    about, more_of = ("", " pairs") if pairs else (f"{best.group} / ", "")
    count = f"{rounded(max(more, 1))} more{more_of}"
    return f"{about}{names[best.stratum]}: {count} would narrow it most"


def _gain(cell: LabelCell, part: CorrectedGap) -> float:
    """Return the reduction of the squared error by one more label."""
    mean = float(part.groups[cell.group].rate) if part.ratio else 1.0
    return cell.share**2 * cell.variance / max(cell.labels, 1) ** 2 / mean**2


def _to_decide(part: CorrectedGap, bound: Bound, level: float) -> str:
    """Say how many labels would decide, if values and spreads stay as they are."""
    away = abs(abs(part.gap) - bound.value)
    surely = NormalDist().inv_cdf(1.0 - one_sided(level)) + NormalDist().inv_cdf(SURE)
    left = (away / surely) ** 2 - part.least_variance
    more = "ask more prompts: all labels together would hardly decide"
    if left <= 0.0 or part.variance <= part.least_variance:
        return more
    needed = part.labels * (part.variance - part.least_variance) / left
    if needed > sum(cell.answers for cell in part.cells):
        return more
    text = f"about {rounded(max(needed, part.labels + 1)):,} labels if the value stays as it is"
    return f"{text}; {plural('label', part.labels)} so far"
