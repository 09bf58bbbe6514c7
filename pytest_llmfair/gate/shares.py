"""What a self-check found: shares of false alarms and of flips, as data and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_llmfair.stats import Mean


@dataclass(frozen=True, slots=True)
class Shares:
    """What the repetitions of one check gave.

    Attributes
    ----------
    nodeid, metric : str
        The check.
    promised : float
        Largest share of false FAIL that the check's level allows: (1 - level) / 2.
    placebo : int
        Repetitions with groups drawn at random; `false_fail` of them were FAIL.
    false_fail : int
        FAIL although no group was treated differently.
    splits : int
        Repetitions with the answers to each prompt split into two halves, or with the rows split
        where there are fewer than four answers to a prompt.
    flips : int
        Halves with different verdicts; in `contradictions` one was PASS and the other FAIL.
    contradictions : int
        Pairs of halves where one proves what the other refutes.
    why_not : str
        Why there is no placebo for this check; empty where there is one.
    """

    nodeid: str
    metric: str
    promised: float
    placebo: int
    false_fail: int
    splits: int
    flips: int
    contradictions: int
    why_not: str = ""


def rows(found: Sequence[Shares]) -> list[dict[str, str]]:
    """Return a sentence with the measured shares and the promised ones."""
    shown = []
    for each in found:
        alarms = flips = "not measured"
        if each.placebo:
            alarms = (
                f"{_share(each.false_fail, each.placebo)} of {each.placebo} placebo repetitions "
                "are FAIL"
            )
        if each.splits:
            flips = (
                f"{_share(each.flips, each.splits)} of {each.splits} splits give two verdicts, "
                f"{each.contradictions} of them PASS and FAIL"
            )
        shown.append(
            {
                "check": f"{each.nodeid}  {each.metric}",
                "false alarms": alarms,
                "promised": f"at most {each.promised:.1%}" if each.placebo else "",
                "flips": flips,
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


def _share(n: int, of: int) -> str:
    ends = Mean.of_indicators([1.0] * n + [0.0] * (of - n)).interval()
    return f"{n / of:.1%} [{ends.lower:.1%}, {ends.upper:.1%}]"
