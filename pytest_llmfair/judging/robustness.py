"""What a verdict over items and wordings means for each wording, and for wordings not asked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_llmfair._util.validation import one_sided
from pytest_llmfair._util.wording import number, plural, plurals
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.stats import Estimate, Finding
from pytest_llmfair.stats.crossed_mean import FEW_ITEMS, CrossedMean, WorstLevels
from pytest_llmfair.stats.two_way import half_width
from pytest_llmfair.stats.worst_groups import WorstGroups

_MOST_NAMED = 5
# Codes of samples that no number of answers makes large enough.
TOO_FEW = frozenset({FEW_ITEMS, "too_few_levels"})


def robustness(estimate: Estimate, bound: Bound, level: float) -> dict[str, str]:
    """Return labelled sentences on the factors of an estimate; empty where it has none."""
    chain = list(_worst_of(estimate))
    fixed = {each.factor: _by_level(each) for each in chain if isinstance(each, WorstLevels)}
    drawn = next((each for each in chain if isinstance(each, CrossedMean)), None)
    free = {} if drawn is None else dict(drawn.levels)
    if not fixed and not free:
        return {}
    last, factors = chain[-1], {**free, **fixed}
    sizes = [plural(last.unit or "item", last.sample.units)]
    sizes += [plural(name, len(parts)) for name, parts in factors.items()]
    about = [f"for other {plurals(name)} too" for name in free]
    about += [f"for these {plurals(name)} only" for name in fixed]
    found = {"over": f"{' x '.join(sizes)}; {', '.join(about)}"}
    for name, parts in factors.items():
        found[plurals(name)] = _verdicts(name, parts, bound, level)
    if drawn is not None and drawn.crossing.variance > 0.0:
        found["variance"] = _shares(drawn)
        found["next"] = _next(drawn, level)
    found["not seen"] = "; ".join(_unseen(name, len(parts)) for name, parts in factors.items())
    return found


def too_few(record: Mapping[str, Any], notes: list[str]) -> str:
    """Take from the notes why more answers do not help, as a sentence; empty where they do."""
    if TOO_FEW.isdisjoint(record["reasons"]):
        return ""
    why = next((note for note in notes if note.startswith(("only ", "no number "))), "")
    notes[:] = [note for note in notes if note != why]
    return f"This test is too small: {why}"


def worst_level(
    estimate: Estimate, bound: Bound, level: float
) -> tuple[bool, tuple[Finding, ...]]:
    """Return whether every level is proven within the bound, and those proven beyond it."""
    parts = {
        f"{name} {label!r}": part
        for each in _crossed_in(estimate)
        for name, levels in each.levels.items()
        for label, part in levels.items()
    }
    alpha = one_sided(level)
    within = all(
        bound.sides(part.lower_bound(alpha), part.upper_bound(alpha))[0] for part in parts.values()
    )
    share = alpha / max(len(parts), 1)
    beyond = [key for key, part in parts.items() if bound.beyond_noise(part, share)]
    if not beyond:
        return within, ()
    more = len(beyond) - _MOST_NAMED
    named = ", ".join(beyond[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return within, (Finding("worst_level", f"proven beyond the bound by themselves: {named}"),)


def too_few_levels(estimate: Estimate, bound: Bound, level: float) -> tuple[Finding, ...]:
    """Report that no number of items decides, where the levels alone leave too much open."""
    for each in _crossed_in(estimate):
        left = each.least_half_width(one_sided(level))
        if left > _room(bound) > 0.0:
            others = " or ".join(plurals(name) for name in each.names[1:])
            text = (
                f"no number of {plurals(each.names[0])} decides: endless ones would leave "
                f"{number(left)} open on either side, more than the {number(_room(bound))} that "
                f"the bound allows; write more {others}"
            )
            return (Finding("too_few_levels", text),)
    return ()


def _room(bound: Bound) -> float:
    """Distance of the bound from the fair value on the metric's own scale."""
    return min(abs(end - bound.fair) for end in bound.ends) if _both(bound) else bound.distance


def _both(bound: Bound) -> bool:
    return bound.direction == "two-sided"


def _worst_of(estimate: Estimate) -> Iterator[Estimate]:
    """Yield an estimate, the worst of its parts, the worst of theirs, and so on."""
    yield estimate
    if isinstance(estimate, WorstGroups):
        yield from _worst_of(estimate.part)


def _crossed_in(estimate: Estimate) -> Iterator[CrossedMean]:
    if isinstance(estimate, CrossedMean):
        yield estimate
    elif isinstance(estimate, WorstGroups):
        for part in estimate.parts.values():
            yield from _crossed_in(part)


def _by_level(estimate: WorstLevels) -> dict[str, Estimate]:
    return {" ".join(key): part for key, part in estimate.parts.items()}


def _verdicts(name: str, parts: Mapping[str, Estimate], bound: Bound, level: float) -> str:
    """Say how many levels alone would FAIL and PASS, each at its share of the error rate."""
    alpha = one_sided(level) / len(parts)
    fails = sum(bound.beyond_noise(part, alpha) for part in parts.values())
    passes = sum(
        bound.sides(part.lower_bound(alpha), part.upper_bound(alpha))[0] for part in parts.values()
    )
    text = f"{fails} of {len(parts)} alone would FAIL, {passes} would PASS"
    if fails and passes:
        text += f": the verdict depends on the {name}"
    worst = max(parts, key=lambda label: _unfairness(bound, parts[label].value))
    ends = parts[worst].interval(level)
    return f'{text}; worst "{worst}" {number(parts[worst].value)} {ends}'


def _unfairness(bound: Bound, value: float) -> float:
    if _both(bound):
        return bound.distance_of(value)
    return -value if bound.direction == "higher" else value


def _unseen(name: str, levels: int) -> str:
    rarest = 100.0 * (1.0 - 0.05 ** (1.0 / levels))
    return f"a kind of {name} rarer than {rarest:.0f} % may be missing among {levels}"


def _shares(estimate: CrossedMean) -> str:
    """Return what the variance of one answer is made of."""
    crossing, sampling = estimate.crossing, estimate.sampling
    parts = dict(zip(map(plurals, estimate.names), crossing.main, strict=True))
    together = "both" if len(parts) == 2 else "all"
    if math.isnan(sampling):
        parts[f"{together} together and sampling"] = crossing.left
    else:
        parts[f"{together} together"] = max(crossing.left - sampling, 0.0)
        parts["sampling"] = min(sampling, crossing.left) * estimate.answers
    total = sum(parts.values())
    if not total > 0.0:
        return "no part stands out"
    return ", ".join(f"{what} {100.0 * part / total:.0f} %" for what, part in parts.items())


def _next(estimate: CrossedMean, level: float) -> str:
    """Say what twice as many levels of each factor, or answers, would leave open."""
    crossing, alpha = estimate.crossing, one_sided(level)
    now = half_width(crossing.main, crossing.left, crossing.levels, alpha)
    planned = {}
    for place, (name, n) in enumerate(zip(estimate.names, crossing.levels, strict=True)):
        more = [g * (1 + (i == place)) for i, g in enumerate(crossing.levels)]
        text = f"{n:,} more {plurals(name)}"
        planned[text] = half_width(crossing.main, crossing.left, more, alpha)
    if not math.isnan(estimate.sampling):
        left = max(crossing.left - 0.5 * estimate.sampling, 0.0)
        planned["twice the answers"] = half_width(crossing.main, left, crossing.levels, alpha)
    best, *rest = sorted(planned, key=lambda text: planned[text])
    others = ", ".join(f"{text} {number(planned[text])}" for text in rest)
    return (
        f"{best} would leave about {number(planned[best])} open on either side instead of "
        f"{number(now)} ({others})"
    )
