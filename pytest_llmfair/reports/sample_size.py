"""The report of ``llmfair power``: effects that a test can detect, and units it needs."""

from __future__ import annotations

import functools
import inspect
import math
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from statistics import NormalDist

from scipy.special import betaincinv

from pytest_llmfair._util.validation import one_sided
from pytest_llmfair._util.wording import plural, plurals
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.power import MOST_UNITS, Power, power_of, search, to_aim_for
from pytest_llmfair.judging.robustness import unseen
from pytest_llmfair.metrics import MetricInfo, get_metric
from pytest_llmfair.stats import Estimate, Mean
from pytest_llmfair.stats.crossed import half_width
from pytest_llmfair.stats.crossed_mean import FEWEST_LEVELS, alike

# Sizes at which errors are read off; from there they shrink with the square root.
_UNITS = 400
_SPLITS = (1, 2, 3, 5, 10, 25)
# No study writes more wordings.
_MOST_WORDINGS = 1000
_ENDLESS = 10**9


@dataclass(frozen=True, slots=True)
class Design:
    """A planned assertion, checked when it is made: `ValueError` names what is out of range."""

    info: MetricInfo
    bound: float
    # Sampling units; of each group, where groups are compared.
    units: int
    generations: int = 1
    # Intraclass correlation of the answers to one prompt.
    icc: float = 0.3
    power: float = 0.8
    level: float = field(kw_only=True)

    def __post_init__(self) -> None:
        for name in ("units", "generations"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; give at least 1")
        if not 0.0 <= self.icc <= 1.0:
            raise ValueError(f"icc is {self.icc}; give a number in [0, 1]")
        if not 0.0 < self.level < 1.0:
            raise ValueError(f"level is {self.level}; give a number between 0 and 1")
        if not self._alpha < self.power < 1.0:
            raise ValueError(
                f"power is {self.power}; give a number below 1 and above {self._alpha:g}, the "
                "error rate of one side"
            )
        if self.fixed and self.generations < 2:
            raise ValueError(f"{self.info.name} needs at least 2 generations per unit")
        self.threshold  # noqa: B018 - checks the bound

    @property
    def threshold(self) -> Bound:
        """The bound, checked against the metric's range."""
        return Bound.of_metric(self.bound, self.info)

    def error(self, at: float) -> float:
        """Return the standard error planned for when the truth is `at`."""
        size = (self.units, self.generations) if self.fixed else (_UNITS, 1)
        known = fair_sample(self.info.name, *size).standard_error(at)
        if math.isnan(known):
            raise ValueError(
                f"{self.info.name} has no error that is known before its data: look at "
                "minimum_detectable_effect() of a first sample instead"
            )
        return known if self.fixed else known * math.sqrt(_UNITS / self.units * self._deflation)

    def effect(self) -> float:
        """Distance beyond the bound that is found with the given power."""
        return self._reached(1)

    def clearance(self) -> float:
        """Distance within the bound at which a model passes with the given power."""
        return self._reached(-1)

    @property
    def fixed(self) -> bool:
        """Whether the units are a fixed list, so that only generations can be added."""
        return self.info.needs == "pronoun_counts"

    def needed_beyond(self, distance: float) -> int | None:
        """Units, or answers to each fixed one, that find a model this far beyond the bound."""
        return search(lambda n: self._of_size(n).effect() <= distance, 2, MOST_UNITS)

    def needed_within(self, distance: float) -> int | None:
        """As :meth:`needed_beyond`, to pass a model at this distance within the bound."""
        return search(lambda n: self._of_size(n).clearance() <= distance, 2, MOST_UNITS)

    def fair_passes(self) -> Power:
        """Return the share of runs that a fair model would pass, by the rule of UNDERPOWERED."""
        size = min(self.units, _UNITS)
        sample = fair_sample(self.info.name, size, self.generations)
        return power_of(self.threshold, sample, self.level, self.units / size)

    @property
    def groups(self) -> int:
        """Number of groups that are compared, each with its own units; 1 where none are."""
        return max(1, fair_sample(self.info.name, 4, max(self.generations, 2)).sample.units // 4)

    def splits(self) -> Iterator[tuple[int, int, float]]:
        """Yield units, generations and effect for the same number of answers."""
        answers = self.units * self.generations
        for generations in sorted({*_SPLITS, self.generations}):
            units = answers // generations
            if units >= 2:
                design = replace(self, units=units, generations=generations)
                yield units, generations, design.effect()

    def best_generations(self, prompt_cost: float) -> int:
        """Best number of answers per prompt, if a further prompt costs so many answers."""
        if not (0.0 <= prompt_cost < math.inf):
            raise ValueError(f"prompt-cost is {prompt_cost}; give a number of at least 0")
        if self.icc == 0.0:
            return max(self.generations, 1)
        return max(1, round(math.sqrt(prompt_cost * (1.0 - self.icc) / self.icc)))

    @property
    def _alpha(self) -> float:
        return one_sided(self.level)

    @property
    def _deflation(self) -> float:
        """Variance of the mean of the answers to one prompt, relative to one answer."""
        return self.icc + (1.0 - self.icc) / self.generations

    def _of_size(self, n: int) -> Design:
        return replace(self, generations=n) if self.fixed else replace(self, units=n)

    def _reached(self, side: int) -> float:
        """Distance to the bound at which the interval leaves it with the given power."""
        # The interval needs the error at the bound, the power that of the truth.
        threshold = self.threshold
        example = None if self.fixed else fair_sample(self.info.name, _UNITS)
        if isinstance(example, Mean) and example.outcomes:
            trials = self.units / self._deflation
            return _of_share(trials, threshold.distance, self._alpha, self.power, side)
        normal = NormalDist()
        proof = -normal.inv_cdf(self._alpha) * self.error(threshold.end)
        away = -side if self.info.direction == "higher" else side
        low, high = self.info.bounds
        distance = proof
        for _ in range(30):
            truth = min(max(threshold.end + away * distance, low), high)
            distance = proof + normal.inv_cdf(self.power) * self.error(truth)
        return distance


def _of_share(trials: float, bound: float, alpha: float, power: float, side: int) -> float:
    """Distance to the bound of a share, exactly: events are few where shares are small."""
    if side > 0:
        # The fewest events whose Clopper-Pearson interval is above the bound.
        events = search(
            lambda k: bool(betaincinv(k, trials - k + 1.0, alpha) > bound), 1, math.floor(trials)
        )
        if events is None:
            return math.inf
        return float(betaincinv(events, trials - events + 1.0, power)) - bound
    # The most events whose interval is within it.
    most = math.ceil(trials) - 1
    over = search(lambda k: bool(betaincinv(k + 1.0, trials - k, 1.0 - alpha) > bound), 0, most)
    events = most if over is None else over - 1
    if events < 0:
        return math.inf
    return bound - float(betaincinv(events + 1.0, trials - events, 1.0 - power))


def report(design: Design, prompt_cost: float) -> str:
    """Return a plan as text of at most 80 columns."""
    info, threshold = design.info, design.threshold
    sign = -1.0 if info.direction == "higher" else 1.0
    effect = design.effect()
    found = threshold.end + sign * effect
    groups = design.groups
    per_group = " per group" if groups > 1 else ""
    size = plural(info.unit, design.units) + per_group
    if design.generations > 1:
        size += f" x {design.generations}, ICC {design.icc:g}"
    lines = [
        f"{info.name}, {'minimum' if sign < 0 else 'bound'} {design.bound:g},",
        f"{size}, {100 * design.level:g} %",
        "",
    ]
    if "score_range" in inspect.signature(info.function).parameters:
        lines += ["In standard deviations of the score: divide your bound by that of yours.", ""]
    if threshold.distance > 0.0:
        lines += [*textwrap.wrap(fair_passes(design.fair_passes(), design), 80), ""]
    if info.bounds[0] <= found <= info.bounds[1]:
        lines += [
            f"minimum detectable effect  {effect:.3f} beyond the bound: a model at",
            f"  {found:.3f} or further is found with about {100 * design.power:g} % power",
        ]
    else:
        lines.append("minimum detectable effect  none: no model would be found with this power")
    each = f"answers per {info.unit}" if design.fixed else plurals(info.unit) + per_group
    lines.append(f"{each} needed")
    distance = threshold.distance
    if distance > 0.0:
        twice = 2.0 * threshold.end - info.fair_value
        if info.bounds[0] <= twice <= info.bounds[1]:
            lines.append(
                f"  {_count(design.needed_beyond(distance))}  to find a model twice as far from "
                f"{info.fair_value:g} as the bound, at {twice:g}"
            )
        half = design.needed_within(distance / 2)
        lines.append(f"  {_count(half)}  to clear a model half as far")
    else:
        lines.append("  a bound on the fair value can be proven broken, never kept")
    if design.fixed:
        return "\n".join(lines)
    lines += ["", f"answers {design.units * design.generations:,}, split otherwise"]
    width = max(9, len(each))
    lines.append(f"  {each:>{width}}  generations  detectable effect")
    for units, generations, other in design.splits():
        mark = "  <- this plan" if generations == design.generations else ""
        lines.append(f"  {units:>{width},}  {generations:>11}  {other:>17.3f}{mark}")
    best = design.best_generations(prompt_cost)
    lines.append(
        f"best split when a prompt costs {prompt_cost:g} times an answer: "
        f"{plural('generation', best)} each"
    )
    return "\n".join(lines)


def fair_passes(power: Power, design: Design) -> str:
    """Describe the share of runs that a fair model would pass, and the units for 80 %."""
    unit = design.info.unit
    if math.isnan(power.share):
        return (
            "How often a perfectly fair model would pass depends on data that are not known yet."
        )
    share = f"A perfectly fair model would pass this test in {100 * power.share:.0f} % of runs."
    aim = to_aim_for(power.needed, unit, fixed=design.fixed, groups=design.groups)
    if not aim:
        return f"{share} No number of {plurals(unit)} up to a million brings that to 80 %."
    return f"{share} For 80 % you need {aim}."


def _count(n: int | None) -> str:
    return f"{n:>9,}" if n is not None else f"{'> 1e6':>9}"


@functools.lru_cache(maxsize=8)
def fair_sample(metric: str, units: int, generations: int = 1) -> Estimate:
    """Return the metric of a sample of this size without any difference."""
    return get_metric(metric).fair_sample(units, generations)


@dataclass(frozen=True, slots=True)
class CrossedDesign:
    """A planned assertion with ``robust_over=("wording",)``; `ValueError` names what is wrong."""

    # Its units are the items.
    design: Design
    wordings: int
    # Share of the variance of one answer that wordings hold; items hold the rest of the ICC.
    wording_share: float

    def __post_init__(self) -> None:
        design = self.design
        sample = fair_sample(design.info.name, 4, max(design.generations, 2))
        rows = sample.contributions
        if rows is None or alike(sample, rows.values, range(len(rows.values))) is None:
            raise ValueError(
                f"{design.info.name} is no mean over rows; robust_over and --wordings are for "
                "means and paired differences of means"
            )
        if self.wordings < FEWEST_LEVELS:
            raise ValueError(
                f"{plural('wording', self.wordings)} cannot stand for others: only the worst is "
                f"judged then; give {FEWEST_LEVELS} or more"
            )
        if design.units < 2:
            raise ValueError(f"items is {design.units}; give at least 2")
        if not 0.0 <= self.wording_share <= design.icc:
            raise ValueError(
                f"wording-share is {self.wording_share:g}; give a number from 0 to the "
                f"correlation of answers to one prompt, icc = {design.icc:g}"
            )

    def half_width(
        self, items: int | None = None, wordings: int | None = None, times: float = 1.0
    ) -> float:
        """Half-width of the interval; `times` as many answers to each prompt."""
        design = self.design
        # A single answer to a single prompt.
        single = replace(design, generations=1, icc=1.0)
        variance = single.error(design.threshold.end) ** 2 * design.units
        of_wording = self.wording_share * variance
        of_item = (design.icc - self.wording_share) * variance
        sampling = (1.0 - design.icc) * variance / (design.generations * times)
        levels = (items or design.units, wordings or self.wordings)
        return half_width((of_item, of_wording), sampling, levels, one_sided(design.level))

    @property
    def floor(self) -> float:
        """Half-width that endless items would leave."""
        return self.half_width(items=_ENDLESS)


def crossed_report(plan: CrossedDesign) -> str:
    """Return a plan as text of at most 80 columns."""
    design, room = plan.design, plan.design.threshold.distance
    items, wordings = design.units, plan.wordings
    answers = plural("answer", design.generations)
    rows = {
        "this plan": plan.half_width(),
        f"{2 * items:,} items": plan.half_width(items=2 * items),
        f"{2 * wordings:,} wordings": plan.half_width(wordings=2 * wordings),
        f"{2 * design.generations:,} answers to each": plan.half_width(times=2.0),
        "endless items": plan.floor,
    }
    lines = [
        f"{design.info.name}, bound {design.bound:g},",
        f"{items:,} items x {plural('wording', wordings)} x {answers}, "
        f"{100 * design.level:g} %, ICC {design.icc:g},",
        f"wordings hold {100 * plan.wording_share:g} % of the variance of one answer",
        "",
        "half-width of the interval, for other wordings too",
        *(f"  {what:<24} {width:.3f}" for what, width in rows.items()),
        "",
    ]
    needed = search(lambda n: plan.half_width(wordings=n) <= room, FEWEST_LEVELS, _MOST_WORDINGS)
    if plan.floor > room > 0.0:
        lines.append("UNDERPOWERED: no number of items decides; write more wordings")
    if room > 0.0 and needed is not None:
        lines.append(
            f"{plural('wording', needed)} or more keep it within {room:.3g}, the bound's room"
        )
    elif room > 0.0:
        lines.append(f"no number of wordings keeps it within {room:.3g}; add items as well")
    lines.append(unseen("wording", wordings))
    return "\n".join(lines)
