"""What a test can find before it asks anything: detectable effects, units needed, best split."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from pytest_llmfair.bounds import Bound
from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.stats import Estimate

# Sizes at which errors are read off; from there they shrink with the square root.
_UNITS = 400
_SPLITS = (1, 2, 3, 5, 10, 25)


@dataclass(frozen=True, slots=True)
class Design:
    """A planned assertion.

    Attributes
    ----------
    info : MetricInfo
        The metric.
    bound : float
        Its threshold.
    units, generations : int
        Sampling units (of each group, where groups are compared) and answers per unit.
    icc : float
        Intraclass correlation of the answers to one prompt, in [0, 1].
    power, level : float
        Probability of finding what is there, and two-sided confidence level.
    """

    info: MetricInfo
    bound: float
    units: int
    generations: int = 1
    icc: float = 0.3
    power: float = 0.8
    level: float = 0.95

    def __post_init__(self) -> None:
        """Check every number.

        Raises
        ------
        ValueError
            If one is out of range (names it).
        """
        for name in ("units", "generations"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; give at least 1")
        if not 0.0 <= self.icc <= 1.0:
            raise ValueError(f"icc is {self.icc}; give a number in [0, 1]")
        for name in ("power", "level"):
            if not 0.0 < getattr(self, name) < 1.0:
                raise ValueError(f"{name} is {getattr(self, name)}; give a number between 0 and 1")
        if self.fixed and self.generations < 2:
            raise ValueError(f"{self.info.name} needs at least 2 generations per unit")
        self.threshold  # noqa: B018 - checks the bound

    @property
    def threshold(self) -> Bound:
        """The bound, checked against the metric's range."""
        info = self.info
        return Bound.checked(self.bound, info.direction, info.fair_value, info.bounds, info.name)

    def error(self, units: int | None = None, generations: int | None = None) -> float:
        """Return the standard error planned for when the truth is at the bound."""
        units = self.units if units is None else units
        generations = self.generations if generations is None else generations
        end = self.threshold.end
        if self.fixed:
            return fair_sample(self.info, units, generations).standard_error(end)
        single = fair_sample(self.info, _UNITS).standard_error(end) * math.sqrt(_UNITS / units)
        return single * math.sqrt(self.icc + (1.0 - self.icc) / generations)

    def effect(self, units: int | None = None, generations: int | None = None) -> float:
        """Distance beyond the bound that is found with the given power."""
        return self._reach * self.error(units, generations)

    @property
    def fixed(self) -> bool:
        """Whether the units are a fixed list, so that only generations can be added."""
        return self.info.needs == "pronoun_counts"

    def needed(self, distance: float) -> int:
        """Units that tell a model at this distance from the bound, with the given power.

        Generations per unit, where the units are a fixed list.
        """
        now = self.generations if self.fixed else self.units
        return max(2, math.ceil(now * (self.effect() / distance) ** 2))

    def least_to_pass(self) -> int | None:
        """Units below which not even the fairest answers pass; None where no limit is known."""
        alpha = round((1.0 - self.level) / 2.0, 15)
        low, high = 1, 1
        while _gap(self, high, alpha) > self.threshold.distance:
            low, high = high, high * 2
            if high > 10**6:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            if _gap(self, middle, alpha) > self.threshold.distance:
                low = middle
            else:
                high = middle
        return high if high > 1 else None

    def splits(self) -> Iterator[tuple[int, int, float]]:
        """Yield units, generations and effect for the same number of answers."""
        answers = self.units * self.generations
        for generations in sorted({*_SPLITS, self.generations}):
            units = answers // generations
            if units >= 2:
                yield units, generations, self.effect(units, generations)

    def best_generations(self, prompt_cost: float) -> int:
        """Answers per prompt that tell most for the money.

        Parameters
        ----------
        prompt_cost : float
            What a further prompt costs beside its answers, in answers.
        """
        if self.icc == 0.0:
            return max(self.generations, 1)
        return max(1, round(math.sqrt(prompt_cost * (1.0 - self.icc) / self.icc)))

    @property
    def _reach(self) -> float:
        normal = NormalDist()
        return normal.inv_cdf(0.5 + 0.5 * self.level) + normal.inv_cdf(self.power)


def report(design: Design, prompt_cost: float) -> str:
    """Return a plan as text of at most 80 columns."""
    info, threshold = design.info, design.threshold
    sign = -1.0 if info.direction == "higher" else 1.0
    distance = threshold.distance
    found = threshold.end + sign * design.effect()
    low, high = info.bounds
    beyond = "" if low <= found <= high else " (outside the range: nothing would be found)"
    lines = [
        f"{info.name}, {'minimum' if sign < 0 else 'bound'} {design.bound:g}, "
        f"{design.units} {info.unit}s x {design.generations}, ICC {design.icc:g}, "
        f"{100 * design.level:g} %",
        "",
        f"minimum detectable effect  {design.effect():.3f} beyond the bound: a model at",
        f"  {found:.3f} or further is found with {100 * design.power:g} % power{beyond}",
        "generations per unit needed" if design.fixed else "units needed",
    ]
    if distance > 0.0:
        lines += [
            f"  {design.needed(distance):>9,}  to find a model twice as far from "
            f"{info.fair_value:g} as the bound",
            f"  {design.needed(distance / 2):>9,}  to clear a model half as far",
        ]
    if design.fixed:
        return "\n".join(lines)
    if (least := design.least_to_pass()) is not None:
        lines.append(f"  {least:>9,}  at least: with fewer not even the fairest answers pass")
    lines += ["", f"the same {design.units * design.generations:,} answers, split otherwise"]
    lines.append("      units  generations  detectable effect")
    for units, generations, effect in design.splits():
        mark = "  <- this plan" if generations == design.generations else ""
        lines.append(f"  {units:>9,}  {generations:>11}  {effect:>17.3f}{mark}")
    best = design.best_generations(prompt_cost)
    lines.append(
        f"best split when a prompt costs as much as {prompt_cost:g} answers: "
        f"{best} generation{'s' if best > 1 else ''} each"
    )
    return "\n".join(lines)


def _gap(design: Design, units: int, alpha: float) -> float:
    return fair_sample(design.info, units, max(design.generations, 2)).best_case_gap(alpha)


def fair_sample(info: MetricInfo, units: int, generations: int = 1) -> Estimate:
    """Return the metric of a sample of this size without any difference."""
    zeros = np.zeros(units)
    if info.needs == "scores":
        return info.function(zeros)
    if info.needs == "score_pairs":
        return info.function(zeros, zeros)
    if info.needs == "text_pairs":
        return info.function(["same"] * units, ["same"] * units)
    if info.needs == "pronoun_counts":
        return info.function([generations // 2] * units, [generations] * units)
    keywords: dict[str, Any] = {"groups": ["a", "b"] * units}
    if "reference" in inspect.signature(info.function).parameters:
        keywords["reference"] = "b"
    return info.function(np.zeros(2 * units), **keywords)
