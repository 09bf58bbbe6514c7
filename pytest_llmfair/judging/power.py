"""The power of a test: how often a fair model passes, how many units decide, how many labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from pytest_llmfair._util.validation import one_sided
from pytest_llmfair._util.wording import number, plural, plurals, rounded
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.stats import Estimate, Finding, Interval
from pytest_llmfair.stats.corrected_gap import CorrectedGap, LabelCell

# Share of runs that counts as reliable.
SURE = 0.8
# No larger number of units is ever named: no study collects so many, and the approximations that
# such a number rests on would not hold.
MOST_UNITS = 10**6
# The reason code of answers that no number of labels could judge.
TOO_FEW_ANSWERS = "too_few_answers"
# Fewer labels more are not worth asking for.
_FEWEST_MORE = 10


@dataclass(frozen=True, slots=True)
class Power:
    """The power of a test of a given size; distances from the fair value, NaN if unknown."""

    # What is found with 80 % power at the variance of the bound.
    detectable: float = math.nan
    # Share of runs in which a perfectly fair model would pass.
    share: float = math.nan
    # Units (answers to each of a fixed list) for a share of 80 %; None also above a million.
    needed: int | None = None

    def too_little(
        self, estimate: Estimate, unit: str, max_mde: float | None
    ) -> tuple[Finding, ...]:
        """Give the reason if an undecided sample is UNDERPOWERED, by size, bound and spread."""
        if self.share < 0.5:
            often = "practically never pass a test of this size"
            if self.share >= 0.005:
                often = f"pass a test of this size in only {100 * self.share:.0f} % of runs"
            aim = to_aim_for(self.needed, unit, fixed=estimate.sample.population == "fixed")
            remedy = f"for 80 % collect {aim}, or loosen the bound" if aim else "loosen the bound"
            text = f"a perfectly fair model would {often}; {remedy}"
            return (Finding("underpowered", text),)
        if max_mde is not None and self.detectable > max_mde:
            text = (
                f"only a distance of {self.detectable:.3f} from the fair value would be found "
                f"(80 % power), more than max_mde = {max_mde:g}; collect more answers, or raise "
                "max_mde"
            )
            return (Finding("underpowered", text),)
        return ()


def power_of(bound: Bound, estimate: Estimate, level: float, times: float = 1.0) -> Power:
    """Return the power of a test of this size, or of `times` as much."""
    # A bound on the fair value itself is never passed, which is not a fault of the sample size.
    planted = planted_effect(estimate, level)
    beyond = estimate.minimum_detectable_effect(bound=bound.end, level=level)
    detectable = bound.distance + beyond if math.isnan(planted) else planted
    if bound.scale == "log":
        detectable = bound.distance_of(bound.end + beyond)
    if bound.distance == 0.0 or estimate.undefined is not None:
        return Power(detectable)
    allowed = {
        "lower": (-math.inf, bound.value),
        "higher": (bound.value, math.inf),
        "two-sided": bound.ends,
    }[bound.direction]
    # For a model that answers all groups alike, the noise between two answers remains.
    noise = estimate.floor if estimate.excess is not None else None
    fair = bound.fair if noise is None else noise.value
    own = estimate.fair_passes(allowed, fair, one_sided(level))

    def passes(more: float) -> float:
        return 0.0 if planted > bound.distance * math.sqrt(more) else own(more)

    try:
        share = passes(times)
    except ArithmeticError:
        # Data at the edge of what is possible; a plan must not break a verdict.
        share = math.nan
    size = estimate.sample
    now = size.units
    if size.population == "fixed":
        now = max(1, round(size.generations / max(size.units, 1)))
    if math.isnan(share):
        return Power(detectable)
    needed = search(lambda n: passes(n / now) >= SURE, 2, MOST_UNITS)
    return Power(detectable, share, needed)


def planted_effect(estimate: Estimate, level: float) -> float:
    """Return the least distance found in 80 % of plants; infinite for none, NaN unknown."""
    own = getattr(estimate, "planted_effect", lambda _: math.nan)
    return float(own(one_sided(level)))


def could_find(
    bound: Bound, estimate: Estimate, interval: Interval, of: str
) -> tuple[str, str] | None:
    """Return in words the effect found in 80 % of runs of this size; None where there is none."""
    if estimate.undefined is not None:
        return None
    if not math.isnan(planted := planted_effect(estimate, interval.level)):
        return estimate.in_words(planted) if math.isfinite(planted) else None
    beyond = estimate.minimum_detectable_effect(SURE, bound=bound.end, level=interval.level)
    if not beyond > 0.0:
        # Without a spread, what the interval leaves open.
        beyond = max(interval.upper - estimate.value, estimate.value - interval.lower)
    low, high = estimate.attainable
    if estimate.measures == "excess" and estimate.floor is not None:
        high -= estimate.floor.value
    at = bound.end + (-beyond if bound.direction == "higher" else beyond)
    if not low <= at <= high or not math.isfinite(at):
        return None
    amount, words = estimate.in_words(at if bound.direction == "higher" else bound.distance_of(at))
    if bound.direction == "higher":
        amount = f"below {amount}"
    elif bound.scale == "log":
        amount = f"a factor of {math.exp(bound.distance_of(at)):.2f}"
    return amount, words or of


def units_to_decide(
    bound: Bound, estimate: Estimate, level: float, planned: tuple[int, int] | None
) -> tuple[int, int] | None:
    """Return the units that would decide, for a sample that did not; None where none do."""
    # An approximation that says these units were enough is worthless here. Widths shrink with the
    # root of the size: from where the interval would end at the bound to 80 % of runs beyond it.
    units = estimate.sample.units
    if planned is not None and planned[1] > units:
        return max(planned[0], units + 1), planned[1]
    interval, centre = estimate.interval(level), estimate.debiased
    factor = 0.0
    for end in bound.ends if bound.direction == "two-sided" else (bound.value,):
        if interval.lower <= end <= interval.upper:
            far = interval.upper if end >= centre else interval.lower
            away = abs(end - centre)
            factor = max(factor, abs(far - centre) / away if away > 0.0 else math.inf)
    if not 0.0 < factor * factor * units < MOST_UNITS:
        return None
    surer = 1.0 - NormalDist().inv_cdf(SURE) / NormalDist().inv_cdf(one_sided(level))
    times = getattr(estimate, "times_as_many", float)
    enough = [units * times(x * x) for x in (factor, factor * surer)]
    if math.isinf(enough[0]):
        return None
    few, many = (math.ceil(min(n, MOST_UNITS)) for n in enough)
    return min(MOST_UNITS, max(few, units + 1)), min(MOST_UNITS, max(many, units + 1))


def search(enough: Callable[[int], bool], fewest: int, most: int) -> int | None:
    """Return the smallest number that is enough, from `fewest` on; None beyond `most`."""
    if fewest > most:
        return None
    if enough(fewest):
        return fewest
    low, step = fewest, 1
    while not enough(min(low + step, most)):
        if low + step >= most:
            return None
        low, step = low + step, 2 * step
    high = min(low + step, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def no_number(estimate: Estimate, unit: str) -> Finding:
    """Explain that no number of units would decide."""
    why = "the estimate is too close to the bound"
    if not math.isfinite(estimate.standard_error()):
        why = f"these data do not show how much {plurals(unit)} differ"
    text = f"no number of {plurals(unit)} that would decide can be given: {why}"
    return Finding("needed_units_unknown", text, "note")


def to_aim_for(needed: int | None, unit: str, *, fixed: bool = False, groups: int = 1) -> str:
    """Say how many units to collect: ``about 460 people (230 per group)``; empty if unknown."""
    if needed is None:
        return ""
    if fixed:
        return f"about {rounded(needed):,} answers per {unit}"
    each = rounded(needed / groups)
    per_group = f" ({each:,} per group)" if groups > 1 else ""
    return f"about {plural(unit, each * groups)}{per_group}"


def expected_power(
    sample: Callable[[], Estimate],
    bound: Bound,
    level: float,
    max_mde: float | None,
    unit: str = "unit",
) -> dict[str, Any]:
    """Return the power of an assertion, as far as it is known before the data."""
    known: dict[str, Any] = {"detectable": None, "undecidable": "", "unknown": "", "share": None}
    try:
        estimate = sample()
        power = power_of(bound, estimate, level)
    except ValueError as error:
        return {**known, "unknown": str(error)}
    known["share"] = None if math.isnan(power.share) else power.share
    known["undecidable"] = "".join(f.text for f in power.too_little(estimate, unit, max_mde))
    if not math.isfinite(power.detectable) or bound.distance == 0.0:
        return {**known, "unknown": "no difference that would be found is known before the data"}
    return {**known, "detectable": power.detectable - bound.distance}


def expected_sample(
    info: MetricInfo, units: int, generations: int, compared: str, *, crossed: bool = False
) -> Estimate:
    """Return the estimate of a fair model at this size; None for pairs, whose noise is unknown."""
    if compared:
        raise ValueError(
            "the difference it can find depends on how alike the answers of the two models are, "
            "which a first run shows"
        )
    if crossed:
        raise ValueError(
            "the difference it can find depends on how much wordings differ; `llmfair power "
            "--items N --wordings M` shows that for a share of the variance"
        )
    if info.needs.endswith("_pairs"):
        raise ValueError(
            "the difference it can find depends on how much answers to one prompt vary, which a "
            "first run shows"
        )
    return info.fair_sample(units, generations)


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
