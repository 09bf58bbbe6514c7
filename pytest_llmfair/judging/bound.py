"""A bound, and the side of it that an estimate lies on."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal

from pytest_llmfair._util.validation import one_sided
from pytest_llmfair._util.wording import listed
from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.stats import Estimate, Finding

Direction = Literal["lower", "higher", "two-sided"]
Scale = Literal["linear", "log"]

# End of the name of what is judged where a model is compared with a baseline.
WORSE = "worse than baseline"
# Rates are sums of floats: 0.8 - 0.5 must not exceed a bound of 0.3 by its last digit.
_ROUNDING = 1e-12
# Larger logarithms of a ratio overflow.
_LARGEST_LOG = 700.0

REWORDED = "the answers to a prompt and to the same prompt reworded inside its group"
NO_FLOOR = (
    "one answer to each prompt does not show how much two answers to the same prompt differ; "
    "collect two generations or more (where the model always gives the same answer, "
    "assert_counterfactual_invariance takes baseline='none')"
)
# What to do where even answers to the same prompt differ by more than the bound; with a placebo
# any rewording does that.
_REMEDY = {
    False: "no model as noisy as this could pass; lower the temperature, loosen the bound, or "
    "compare distributions (strict_sentiment_parity)",
    True: "any rewording changes the answers of this model as much; loosen the bound, or lower "
    "the temperature",
}


class ImpossibleBoundError(ValueError):
    """A bound, minimum or margin that no data could reach or exceed."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A threshold, inclusive on the fair side."""

    # For "two-sided" the largest distance from the fair value.
    value: float
    direction: Direction
    # Value of a perfectly fair model.
    fair: float
    # "log" is for ratios, where 2 and 1/2 are equally far from 1.
    scale: Scale = "linear"

    @classmethod
    def checked(
        cls,
        value: Any,
        direction: Direction,
        fair: float,
        attainable: tuple[float, float],
        name: str,
        scale: Scale = "linear",
    ) -> Bound:
        """Return the bound of the metric `name`; raise ``ValueError`` if no data could fail it."""
        word = "minimum" if direction == "higher" else "bound"
        if WORSE in name:
            name, word = name.replace(f" {WORSE}", ""), "margin"
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ValueError(f"the {word} of {name} is {value!r}; give a number")
        value = float(value)
        if not math.isfinite(value):
            raise ValueError(f"the {word} of {name} is {value}; give a finite number")
        low, high = attainable
        what = "values"
        if direction == "two-sided":
            what = "distances from the fair value"
            if scale == "log":
                what = "absolute logarithms of the ratio"
            unbounded = cls(0.0, direction, fair, scale)
            low, high = 0.0, max(unbounded.distance_of(high), unbounded.distance_of(low))
        elif direction == "lower" and low <= value < fair:
            raise ImpossibleBoundError(
                f"the {word} of {name} is {value:g}, which cannot be a test: {fair:g} is "
                f"perfectly fair; choose a {word} of at least {fair:g}"
            )
        if direction == "higher":
            sensible, choose = low < value <= high, f"above {low:g}, at most {high:g}"
        else:
            least = max(low, fair) if direction == "lower" else low
            sensible, choose = low <= value < high, f"of at least {least:g} and below {high:g}"
        if word == "margin":
            what = "differences of the two models"
        if not sensible:
            raise ImpossibleBoundError(
                f"the {word} of {name} is {value:g}, which cannot be a test: {what} range from "
                f"{low:g} to {high:g}; choose a {word} {choose}"
            )
        return cls(value, direction, fair, scale)

    @classmethod
    def of_metric(cls, value: Any, info: MetricInfo) -> Bound:
        """Return the bound of a metric, checked against the metric's range."""
        fair, attainable = info.fair_value, info.bounds
        return cls.checked(value, info.direction, fair, attainable, info.name, info.scale)

    @property
    def distance(self) -> float:
        """Distance of the bound from the fair value."""
        return self.value if self.direction == "two-sided" else abs(self.value - self.fair)

    @property
    def end(self) -> float:
        """Value at the bound: for "two-sided" the one above the fair value."""
        return self.ends[1] if self.direction == "two-sided" else self.value

    @property
    def ends(self) -> tuple[float, float]:
        """Values at a two-sided bound, below and above the fair value."""
        if self.scale == "log":
            factor = math.exp(min(self.value, _LARGEST_LOG))
            return self.fair / factor, self.fair * factor
        return self.fair - self.value, self.fair + self.value

    @property
    def reach(self) -> float:
        """Largest distance from the fair value that the bound allows; infinite for ratios."""
        return math.inf if self.scale == "log" else self.distance

    def unfairness(self, x: float) -> float:
        """Return a key that is larger the less fair a value is."""
        if self.direction == "two-sided":
            return self.distance_of(x)
        return -x if self.direction == "higher" else x

    def distance_of(self, x: float) -> float:
        """Distance of a value from the fair value."""
        if self.scale == "linear":
            return abs(x - self.fair)
        return abs(math.log(x / self.fair)) if 0.0 < x < math.inf else math.inf

    def sides(self, lower: float, upper: float) -> tuple[bool, bool]:
        """Return whether a whole interval is within the bound, and whether it is beyond it."""
        if self.direction == "lower":
            return upper <= self.value, lower > self.value
        if self.direction == "higher":
            return lower >= self.value, upper < self.value
        low, high = self.ends
        return (upper <= high and lower >= low), (lower > high or upper < low)

    def sides_of(self, estimate: Estimate, alpha: float) -> tuple[bool, bool]:
        """Return the same for an estimate's interval with `alpha` beyond either end."""
        return self.sides(estimate.lower_bound(alpha), estimate.upper_bound(alpha))

    def allows(self, x: float) -> bool:
        """Return whether a bare value is within the bound, up to rounding."""
        shift = -_ROUNDING if self.direction == "higher" else _ROUNDING
        return replace(self, value=self.value + shift).sides(x, x)[0]

    def p_values(self, estimate: Estimate) -> tuple[float, float]:
        """One-sided p-values of "beyond the bound and the noise" and of "within the bound"."""
        beyond = self._p_beyond(estimate)
        if self.direction == "lower":
            return beyond, estimate.p_within(self.value)
        if self.direction == "higher":
            return beyond, estimate.p_exceeds(self.value)
        low, high = self.ends
        return beyond, max(estimate.p_within(high), estimate.p_exceeds(low))

    def _p_beyond(self, estimate: Estimate) -> float:
        parts = getattr(estimate, "parts", None)
        if parts is not None:
            found = min(map(self._p_beyond, parts.values()))
            return float(estimate.shared.all(found))  # type: ignore[attr-defined]
        if self.direction == "two-sided":
            low, high = self.ends
            return min(estimate.p_exceeds(high), estimate.p_within(low))
        above = self.direction == "lower"
        known = [(estimate, self.value)]
        if estimate.excess is not None:
            known.append((estimate.excess, 0.0))
        return max(each.p_exceeds(x) if above else each.p_within(x) for each, x in known)

    def beyond_noise(self, estimate: Estimate, alpha: float) -> bool:
        """Return whether one comparison is proven beyond the bound and any floor of its own."""
        parts = getattr(estimate, "parts", None)
        if parts is not None:
            each = estimate.shared.each(alpha)  # type: ignore[attr-defined]
            return any(self.beyond_noise(part, each) for part in parts.values())
        if not self.sides_of(estimate, alpha)[1]:
            return False
        if estimate.excess is None:
            return True
        if self.direction == "higher":
            return estimate.excess.upper_bound(alpha) < 0.0
        return estimate.excess.lower_bound(alpha) > 0.0

    def small_difference(self, estimate: Estimate, alpha: float) -> tuple[Finding, ...]:
        """Report a value within the bound that is proven to differ from the fair one."""
        fair = 0.0 if self.direction == "two-sided" else self.fair
        if not replace(self, value=fair).beyond_noise(estimate, alpha):
            return ()
        text = f"a small difference is proven: the interval excludes {self.fair:g}, the fair value"
        return (Finding("small_difference", text, "note"),)

    def floor_beyond(
        self, estimate: Estimate, alpha: float, *, reworded: bool
    ) -> tuple[Finding, ...]:
        """Report a noise floor proven beyond the bound on a value judged with its noise."""
        parts = getattr(estimate, "parts", None)
        if parts is not None:
            shares = alpha / len(parts)
            found = (self.floor_beyond(p, shares, reworded=reworded) for p in parts.values())
            return next(filter(None, found), ())
        floor = estimate.floor
        if floor is None or estimate.excess is None:
            return ()
        if not self.sides_of(floor, alpha)[1]:
            return ()
        side = "below" if self.direction == "higher" else "above"
        text = (
            f"the noise floor {floor.value:.3f} is itself {side} {self.value:g}: "
            f"{_REMEDY[reworded]}"
        )
        return (Finding("floor_above_bound", text, "invalid"),)

    def out_of_reach(self, estimate: Estimate, alpha: float) -> tuple[Finding, ...]:
        """Report that no answers could exceed the bound: those to one prompt differ too much."""
        # An excess over a floor of 0.9 is at most 0.1, so a bound of 0.3 would pass anything.
        parts = getattr(estimate, "parts", None)
        if parts is not None:
            found = (self.out_of_reach(part, alpha / len(parts)) for part in parts.values())
            return next(filter(None, found), ())
        if estimate.measures != "excess" or estimate.floor is None:
            return ()
        if self.value < 1.0 - estimate.floor.lower_bound(alpha):
            return ()
        floor = estimate.floor.value
        what = f"a bound of {self.value:g} would pass any model; choose a smaller bound"
        if self.direction == "higher":
            what = f"no model could reach {self.value:g}; choose a smaller minimum"
        text = (
            f"two answers to the same prompt already differ by {floor:.3f}, so the group can "
            f"add {1.0 - floor:.3f} at most and {what}, or a lower temperature"
        )
        return (Finding("bound_out_of_reach", text, "invalid"),)

    def needed_units(self, estimate: Estimate, level: float) -> tuple[int, int] | None:
        """Range of units that would decide, against the nearer end of a two-sided bound."""
        end = self.value
        if self.direction == "two-sided":
            end = self.ends[estimate.value >= self.fair]
        return estimate.needed_units(end, level=level)

    def hidden_parts(self, estimate: Estimate, level: float) -> tuple[Finding, ...]:
        """Report rows proven (Bonferroni) beyond a bound that the aggregate keeps."""
        rows: dict[Hashable, Estimate] = {}
        for key, row in estimate.groups.items():
            # A row without a value describes a group, and compares nothing.
            part = None if math.isnan(row.value) else row.estimate
            # A table may show one comparison under several keys.
            if part is None or part.undefined is not None or part in rows.values():
                continue
            rows[key] = part
        if len(rows) < 2:
            return ()
        alpha = one_sided(level) / len(rows)
        beyond = [str(key) for key, row in rows.items() if self.beyond_noise(row, alpha)]
        if not beyond:
            return ()
        text = (
            f"{len(beyond)} of {len(rows)} parts are beyond the bound by themselves: "
            f"{listed(beyond, 5)}"
        )
        return (Finding("parts_exceed", text),)
