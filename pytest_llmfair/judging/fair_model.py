"""How often a perfectly fair model would pass a test of a given size, in numbers and in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_llmfair._util.wording import plural, plurals, rounded

if TYPE_CHECKING:
    from pytest_llmfair.stats import Estimate

# Share of runs that counts as reliable.
SURE = 0.8
# A search for a number of units ends here; more are never collected.
MOST_UNITS = 10**6


@dataclass(frozen=True, slots=True)
class Power:
    """What a test of a given size can do.

    Distances are from the fair value; NaN and None stand for unknown.
    """

    # What is found with 80 % power at the variance of the bound.
    detectable: float = math.nan
    # Share of runs in which a perfectly fair model would pass.
    share: float = math.nan
    # Units (answers to each of a fixed list) for a share of 80 %; None also above a million.
    needed: int | None = None

    def too_little(
        self, estimate: Estimate, unit: str, max_mde: float | None
    ) -> Mapping[str, str]:
        """Say why an undecided sample is UNDERPOWERED; empty where it is not.

        Known from the sample size, the bound and the spread, so that the verdict does not flake.
        """
        if self.share < 0.5:
            often = "practically never pass a test of this size"
            if self.share >= 0.005:
                often = f"pass a test of this size in only {100 * self.share:.0f} % of runs"
            aim = to_aim_for(self.needed, unit, fixed=estimate.sample.population == "fixed")
            remedy = f"for 80 % collect {aim}, or loosen the bound" if aim else "loosen the bound"
            return {"underpowered": f"a perfectly fair model would {often}; {remedy}"}
        if max_mde is not None and self.detectable > max_mde:
            return {
                "underpowered": f"only a distance of {self.detectable:.3f} from the fair value "
                f"would be found (80 % power), more than max_mde = {max_mde:g}; collect more "
                "answers, or raise max_mde"
            }
        return {}


def search(enough: Callable[[int], bool], fewest: int, most: int) -> int | None:
    """Return the smallest number that is enough, of those from `fewest`; None beyond `most`."""
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


def no_number(estimate: Estimate, unit: str) -> str:
    """Say why no number of units that would decide can be given."""
    why = "the estimate is too close to the bound"
    if not math.isfinite(estimate.standard_error()):
        why = f"these data do not show how much {plurals(unit)} differ"
    return f"no number of {plurals(unit)} that would decide can be given: {why}"


def to_aim_for(needed: int | None, unit: str, *, fixed: bool = False, groups: int = 1) -> str:
    """Return a number of units to collect, such as ``about 460 people (230 per group)``.

    Of a fixed list of units, answers to each; empty where no number is known.
    """
    if needed is None:
        return ""
    if fixed:
        return f"about {rounded(needed):,} answers per {unit}"
    each = rounded(needed / groups)
    per_group = f" ({each:,} per group)" if groups > 1 else ""
    return f"about {plural(unit, each * groups)}{per_group}"
