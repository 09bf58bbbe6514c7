"""What a self-check found: shares of false alarms and of flips, as data and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from pytest_llmfair.stats import Interval, Mean

# Standard errors by which the truth may be off, and steps on the way there.
_QUANTILE, _STEPS = 1.96, 20


@dataclass(frozen=True, slots=True)
class Shares:
    """What the repetitions of one check gave."""

    nodeid: str
    metric: str
    # Largest share of false FAIL that the check's level allows: (1 - level) / 2.
    promised: float
    # Repetitions with groups drawn at random, and FAIL although no group is treated differently.
    placebo: int = 0
    false_fail: int = 0
    # Repetitions with so much of the observed difference that the truth is at the bound, and
    # FAIL although it is not beyond.
    at_bound: int = 0
    bound_fail: int = 0
    # Samples of the same size drawn from the units, with replacement; those that are neither
    # PASS nor FAIL are undecided.
    samples: int = 0
    passes: int = 0
    fails: int = 0
    # Standard errors by which an average sample is inside PASS, and inside FAIL.
    to_pass: float = 0.0
    to_fail: float = 0.0
    # Why there is no placebo for this check; empty where there is one.
    why_not: str = ""
    # Why no placebo has its truth at the bound; empty where one has.
    why_not_bound: str = ""


def flips(each: Shares) -> tuple[float, float, float]:
    """Estimate how often two samples get two verdicts, with 95 % limits."""
    # The truth may be as far from the observed value as a sample is from the truth: the limits are
    # those of all shifts by up to 1.96 standard errors.
    normal = NormalDist()

    def shifted(by: float) -> float:
        passes, fails = normal.cdf(each.to_pass + by), normal.cdf(each.to_fail - by)
        return _two(passes, min(fails, 1.0 - passes))

    found = [shifted(_QUANTILE * step / _STEPS) for step in range(-_STEPS, _STEPS + 1)]
    counted = _two(each.passes / each.samples, each.fails / each.samples)
    return counted, min(counted, *found), max(counted, *found)


def _two(passes: float, fails: float) -> float:
    return 1.0 - passes**2 - fails**2 - (1.0 - passes - fails) ** 2


def rows(found: Sequence[Shares]) -> list[dict[str, str]]:
    """Return a sentence with the measured shares and the promised ones."""
    shown = []
    for each in found:
        alarms = at_bound = rerun = "not measured"
        if each.placebo:
            alarms = (
                f"{_share(each.false_fail, each.placebo)} of {each.placebo} placebo repetitions "
                "are FAIL"
            )
        if each.at_bound:
            at_bound = (
                f"{_share(each.bound_fail, each.at_bound)} of {each.at_bound} repetitions are FAIL"
            )
        elif each.why_not_bound:
            at_bound += f": {each.why_not_bound}"
        if each.samples:
            passes, fails = each.passes / each.samples, each.fails / each.samples
            two, lower, upper = flips(each)
            rerun = (
                f"{two:.1%} [{lower:.1%}, {upper:.1%}] of two fresh samples get two verdicts: "
                f"{2.0 * passes * fails:.1%} PASS and FAIL, "
                f"{2.0 * (1.0 - passes - fails) * (passes + fails):.1%} decided and undecided"
            )
        shown.append(
            {
                "check": f"{each.nodeid}  {each.metric}",
                "false alarms": alarms,
                "at the bound": at_bound,
                "promised": f"at most {each.promised:.1%}" if each.placebo else "",
                "flips": rerun,
                "no placebo": each.why_not,
            }
        )
    return shown


def text_of(found: Sequence[Shares]) -> str:
    """Return the shares as text, check by check."""
    lines = []
    for row in rows(found):
        lines.append(row["check"])
        lines += [f"  {name:<13} {text}" for name, text in list(row.items())[1:] if text]
    return "".join(f"{line}\n" for line in lines)


def interval_of(n: int, of: int) -> Interval:
    """Return the interval of a share, from counts."""
    return Mean.of_indicators([1.0] * n + [0.0] * (of - n)).interval()


def _share(n: int, of: int) -> str:
    ends = interval_of(n, of)
    return f"{n / of:.1%} [{ends.lower:.1%}, {ends.upper:.1%}]"
