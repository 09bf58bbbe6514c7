"""Verdicts that hold for other wordings too: the cells of crossed factors, and each wording."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

from pytest_llmfair._util.validation import one_sided
from pytest_llmfair._util.wording import listed, number, plural, plurals
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.pairs import pairs_in
from pytest_llmfair.stats import Estimate, Finding
from pytest_llmfair.stats.crossed import half_width
from pytest_llmfair.stats.crossed_mean import FEW_ITEMS, FEWEST_LEVELS, CrossedMean, WorstLevels
from pytest_llmfair.stats.worst_groups import WorstGroups

ITEM = "item"
# What pairs call a factor.
_OF_PAIRS = {ITEM: "filler", "wording": "template", "cue": "cue"}
_MOST_NAMED = 5
# Codes of samples that no number of answers makes large enough.
TOO_FEW = frozenset({FEW_ITEMS, "too_few_levels", "too_few_answers"})


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of crossed factors, and the cell of each row."""

    # By factor, items first: its label for each cell.
    labels: Mapping[str, Sequence[str]]
    of_row: Sequence[int]

    def items(self, cells: Any) -> list[str]:
        """Return the item of each cell."""
        return [self.labels[ITEM][cell] for cell in cells]

    @classmethod
    def of(
        cls, robust_over: Any, factors: Any, data: Any, units: Any, direction: str
    ) -> Cells | None:
        """Return the cells of the rows of `data`; None where `robust_over` names no factor."""
        names = factor_names(robust_over, factors)
        if not names:
            return None
        given = dict(factors or {})
        if ITEM not in given and units is not None:
            given[ITEM] = units
        own = {name: _labels(name, given, pairs_in(data)) for name in (ITEM, *names)}
        given_rows = getattr(data, "first", data)
        rows = len(given_rows) if isinstance(given_rows, Sized) else 0
        for name, labels in own.items():
            if rows and len(labels) != rows:
                raise ValueError(
                    f"{name} has {plural('label', len(labels))} for {plural('row', rows)}; give "
                    "one label for each prompt, pair or row"
                )
            number = len(set(labels))
            if number < 2:
                raise ValueError(
                    f"all rows have the same {name}, {labels[0]!r}; robust_over needs two or more"
                    if labels
                    else f"there are no labels of {name}; give one for each row"
                )
            if number < FEWEST_LEVELS and direction == "two-sided" and name != ITEM:
                raise ValueError(
                    f"{plural(name, number)} are too few for a metric that is fair in the middle "
                    f"of its range, so that no {name} is the worst; give {FEWEST_LEVELS} or more"
                )
        numbers: dict[tuple[str, ...], int] = {}
        keys = zip(*own.values(), strict=True)
        of_row = [numbers.setdefault(key, len(numbers)) for key in keys]
        columns = list(zip(*numbers, strict=True))
        return cls({name: list(columns[i]) for i, name in enumerate(own)}, of_row)


def factor_names(robust_over: Any, factors: Any = None) -> tuple[str, ...]:
    """Return the factors named; raise ``ValueError`` for what is no factor."""
    names = (robust_over,) if isinstance(robust_over, str) else tuple(robust_over or ())
    if factors is not None and not isinstance(factors, Mapping):
        raise ValueError(
            f"factors is a {type(factors).__name__}; give one list of labels by factor, such as "
            'factors={"item": [...], "wording": [...]}'
        )
    if not names:
        if factors:
            raise ValueError(
                f"factors has labels of {', '.join(map(str, factors))}, and robust_over names no "
                'factor; give robust_over=("wording",)'
            )
        return ()
    for name in names:
        if not isinstance(name, str) or not name or name == ITEM or names.count(name) > 1:
            raise ValueError(
                f"robust_over is {robust_over!r}; name each factor besides the items once, such "
                'as ("wording",)'
            )
    for name in factors or {}:
        if name not in (ITEM, *names):
            raise ValueError(
                f"factors has labels of {name!r}, which is not in robust_over; name it there, or "
                "leave them out"
            )
    return names


def _labels(name: str, given: Mapping[str, Any], pairs: Sequence[Any]) -> list[str]:
    """Return one label per row, as text."""
    remedy = f'give factors={{"{name}": [...]}} with one label for each row'
    if name in given:
        if isinstance(given[name], str):
            raise ValueError(f"factors has one text, {given[name]!r}, for {name}; {remedy}")
        labels = list(given[name])
        for row, label in enumerate(labels):
            if label is None or label != label:
                raise ValueError(f"the {name} of row {row} is {label}; give a label")
        return [str(label) for label in labels]
    attribute = _OF_PAIRS.get(name)
    if not pairs or attribute is None:
        known = "these data carry none" if attribute else f"pairs have no {name}"
        raise ValueError(f"robust_over needs the {name} of each row, and {known}; {remedy}")
    labels = [str(getattr(pair, attribute, "")) for pair in pairs]
    if "" in labels:
        raise ValueError(
            f"pair {labels.index('')} has no {attribute}, which would be its {name}; make pairs "
            f"from templates with slots, or {remedy}"
        )
    return labels


def robustness(estimate: Estimate, bound: Bound, level: float) -> dict[str, str]:
    """Return labelled sentences on the factors of an estimate; empty where it has none."""
    chain = list(_worst_of(estimate))
    fixed = {
        each.factor: {" ".join(key): part for key, part in each.parts.items()}
        for each in chain
        if isinstance(each, WorstLevels)
    }
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
    found["not seen"] = "; ".join(unseen(name, len(parts)) for name, parts in factors.items())
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
    within = all(bound.sides_of(part, alpha)[0] for part in parts.values())
    share = alpha / max(len(parts), 1)
    beyond = [key for key, part in parts.items() if bound.beyond_noise(part, share)]
    if not beyond:
        return within, ()
    named = listed(beyond, _MOST_NAMED)
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
    two_sided = bound.direction == "two-sided"
    return min(abs(end - bound.fair) for end in bound.ends) if two_sided else bound.distance


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


def _verdicts(name: str, parts: Mapping[str, Estimate], bound: Bound, level: float) -> str:
    """Count the levels that alone would FAIL and PASS, each at its share of the error rate."""
    alpha = one_sided(level) / len(parts)
    fails = sum(bound.beyond_noise(part, alpha) for part in parts.values())
    passes = sum(bound.sides_of(part, alpha)[0] for part in parts.values())
    text = f"{fails} of {len(parts)} alone would FAIL, {passes} would PASS"
    if fails and passes:
        text += f": the verdict depends on the {name}"
    worst = max(parts, key=lambda label: bound.unfairness(parts[label].value))
    ends = parts[worst].interval(level)
    return f'{text}; worst "{worst}" {number(parts[worst].value)} {ends}'


def unseen(name: str, levels: int) -> str:
    """Say how rare a kind of a factor is that a sample of levels may miss."""
    rarest = 100.0 * (1.0 - 0.05 ** (1.0 / levels))
    return f"a kind of {name} rarer than {rarest:.0f} % may be missing among {levels}"


def _shares(estimate: CrossedMean) -> str:
    """Return the parts of the variance of one answer."""
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
    """Return the half-widths for twice as many levels of each factor, or answers."""
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
