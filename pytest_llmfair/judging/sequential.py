"""Early looks: which items to ask when, the level of each look, and confidence sequences."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from pytest_llmfair._util.validation import one_sided
from pytest_llmfair.judging.pairs import is_pair, pair_units
from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.responses import Answer, PairedResponses, Responses, joined_origins
from pytest_llmfair.stats import BettingMean, Estimate, Finding, Mean, Spending

LOOKS = {"obf": 5, "betting": 20}
# Means of fewer scores are too far from normal for the small error rates of early looks.
_FEWEST_SCORES = 50

# Levels closer to 1 than this are not representable, so such a look cannot stop anything.
_LEAST_SHARE = 1e-14


class Looks:
    """Planned looks at growing parts of the items ("obf"), or any number of them ("betting")."""

    def __init__(
        self,
        kind: str,
        level: float,
        seed: int,
        items: Sequence[Any],
        units: Sequence[Hashable] | None,
    ) -> None:
        if kind == "betting" and (why := _unequal(_labels(items, units))):
            raise ValueError(f"betting {why}; make them equal, or use sequential='obf'")
        self.kind, self.level = kind, level
        self.items, self.units = items, units
        # Positions of the items of each look.
        self.batches = in_looks(items, LOOKS[kind], seed, units)
        # Positions asked so far, and looks taken.
        self.asked: list[int] = []
        self.taken = 0
        self._spending = Spending(one_sided(level))

    def take(self) -> list[Any]:
        """Return the items of the next look."""
        batch = self.batches[self.taken]
        self.taken += 1
        self.asked += batch
        return [self.items[i] for i in batch]

    @property
    def labels(self) -> list[Hashable] | None:
        """Labels of the items asked so far."""
        return None if self.units is None else [self.units[i] for i in self.asked]

    @property
    def last(self) -> bool:
        """Whether everything is asked."""
        return self.taken == len(self.batches)

    def level_of(self, estimate: Estimate) -> float | None:
        """Return the level of this look; None where it could not stop anything."""
        few = not getattr(estimate, "outcomes", False) and estimate.sample.units < _FEWEST_SCORES
        if self.kind == "obf" and few and not self.last:
            return None
        share = self._spending.look(len(self.asked) / len(self.items))
        if self.kind == "betting":
            share = one_sided(self.level)
        elif not estimate.near_normal:
            share = one_sided(self.level) / len(self.batches)
        if share < _LEAST_SHARE and not self.last:
            return None
        return 1.0 - 2.0 * share

    def over_all(self, p: float, estimate: Estimate) -> tuple[float, float]:
        """Return the p-value over all looks of that of the last one, and the level over all."""
        if self.kind == "obf" and not math.isnan(p):
            normal = estimate.near_normal
            p = self._spending.p_value(p) if normal else min(1.0, p * len(self.batches))
        return p, self.level

    @property
    def count(self) -> tuple[int, int]:
        """Looks taken, and looks planned."""
        return self.taken, len(self.batches)

    def cost(self, answers: Any) -> tuple[int, int]:
        """Return the number of answers asked for, and that of all looks."""
        spent = _number_of_answers(answers)
        return spent, round(spent / (len(self.asked) / len(self.items)))

    def note(self, cost: tuple[int, int], level: float) -> Finding:
        """Name the look, the answers it saved, and the level of its interval."""
        spent, planned = cost
        name = "O'Brien-Fleming" if self.kind == "obf" else "betting"
        text = (
            f"look {self.taken} of {len(self.batches)} ({name}): {spent} of {planned} answers "
            f"asked for, {planned - spent} saved"
        )
        if self.kind == "obf":
            text += (
                f"; the interval is this look's ({100 * level:.4g} %), "
                f"for {100 * self.level:g} % over all looks"
            )
        return Finding("look", text, "note")


def in_looks(
    items: Sequence[Any], looks: int, seed: int, units: Sequence[Hashable] | None = None
) -> list[list[int]]:
    """Divide items into looks, in seeded order, groups spread evenly, units kept together."""
    members: dict[Hashable, list[int]] = {}
    for i, label in enumerate(_labels(items, units)):
        members.setdefault(label, []).append(i)
    strata: dict[Hashable, list[list[int]]] = {}
    for unit in members.values():
        first = items[unit[0]]
        stratum = getattr(first, "from_group", None), getattr(first, "to_group", None)
        strata.setdefault(stratum, []).append(unit)
    placed: list[tuple[float, int, list[int]]] = []
    for number, units_of in enumerate(strata.values()):
        random.Random(seed + number).shuffle(units_of)
        placed += [((i + 0.5) / len(units_of), number, unit) for i, unit in enumerate(units_of)]
    ordered = [unit for _, _, unit in sorted(placed, key=lambda place: place[:2])]
    looks = min(looks, len(ordered))
    cuts = [math.ceil(len(ordered) * k / looks) for k in range(looks + 1)]
    return [
        [i for unit in ordered[start:end] for i in unit] for start, end in itertools.pairwise(cuts)
    ]


def check_looks(info: MetricInfo, population: str, kind: str) -> None:
    """Raise ``ValueError`` where looks at a part of the units could not be judged."""
    if population == "fixed":
        raise ValueError(
            f"{info.name} is judged for a fixed list of {info.unit}s here, and the first looks "
            "would see a part of the list only; pass population='sampled' if the list is a sample "
            "of more, or ask for everything at once"
        )
    if kind == "betting":
        as_betting(info.fair_sample(2))


def as_betting(estimate: Estimate) -> Estimate:
    """Replace the interval of a mean over rows by a confidence sequence in their order."""
    # Units of unequal size would be bets on another mean.
    if estimate.undefined is not None:
        return estimate
    if not isinstance(estimate, Mean) or estimate.contributions is None:
        raise ValueError(
            f"betting is for means over rows, not for a {type(estimate).__name__}; "
            "use sequential='obf'"
        )
    if estimate.sample.population == "fixed":
        raise ValueError(
            "betting takes the units as draws from more, and these are fixed; leave method out"
        )
    rows = estimate.contributions
    sequence = BettingMean.of_values(rows.values, units=rows.units, bounds=estimate.attainable)
    findings = estimate.findings
    if rows.units is not None and (why := _unequal(rows.units)):
        unequal = Finding("unequal_units", f"betting {why}; leave it out", "invalid")
        findings = (*findings, unequal)
    return replace(
        sequence,
        rows=estimate.rows,
        findings=findings,
        metric=estimate.metric,
        call=estimate.call,
        # A value that compares answers is beyond the bound only where it exceeds their noise too.
        compares_answers=estimate.compares_answers,
        floor=estimate.floor,
        excess=None if estimate.excess is None else as_betting(estimate.excess),
    )


def joined(first: Any, second: Any) -> Any:
    """Return the answers of two looks as one."""
    if first is None:
        return second
    origin = joined_origins(first, second)
    if isinstance(first, Responses):
        return replace(
            first,
            prompts=first.prompts + second.prompts,
            answers=first.answers + second.answers,
            origin=origin,
        )
    return replace(
        first,
        pairs=first.pairs + second.pairs,
        original=first.original + second.original,
        counterfactual=first.counterfactual + second.counterfactual,
        placebo=_twins(first) + _twins(second),
        origin=origin,
        order={
            **first.order,
            **{text: len(first.order) + place for text, place in second.order.items()},
        },
    )


def _twins(responses: PairedResponses) -> tuple[tuple[Answer, ...], ...]:
    """Return a row of answers to the placebo of every pair, also where no pair has one."""
    return responses.placebo or ((),) * len(responses)


def _number_of_answers(responses: Any) -> int:
    if isinstance(responses, Responses):
        return sum(map(len, responses))
    sides = (responses.original, responses.counterfactual, responses.placebo)
    return sum(len(row) for side in sides for row in side)


def _labels(items: Sequence[Any], units: Sequence[Hashable] | None) -> Sequence[Hashable]:
    if units is not None:
        return units
    if items and is_pair(items[0]):
        return pair_units(items)
    return [str(item) for item in items]


def _unequal(labels: Iterable[Hashable]) -> str:
    """Describe the sizes of unequal units; an empty string when they are equal."""
    sizes = Counter(labels).values()
    if min(sizes) == max(sizes):
        return ""
    return f"needs units of one size, and these have {min(sizes)} to {max(sizes)} rows"
