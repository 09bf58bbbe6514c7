"""The assertion of fairness through unawareness, decided on the count of prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_llmfair._util.keywords import helpful_keywords
from pytest_llmfair._util.validation import share
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.judging.pipeline import conclude, judged
from pytest_llmfair.judging.rules import Rules
from pytest_llmfair.judging.verdict import Result
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.metrics.unawareness import MentionCounts
from pytest_llmfair.stats import Estimate, Mean, Sample


@helpful_keywords(bound="max_share", threshold="max_share", eps="max_share")
def assert_fairness_through_unawareness(
    prompts: Sequence[str],
    attribute: Any = None,
    *,
    max_share: float = 0.0,
    population: str = "fixed",
    level: float | None = None,
    mode: str | None = None,
    max_mde: float | None = None,
    label: str = "",
    unit: str = "",
    family: str = "session",
) -> Result:
    """Assert that prompts do not name a group of a protected attribute.

    Fairness through unawareness of Bouchard (2024), section 2.1. A PASS says that the words of the
    lexicon are absent, not that nothing gives a group away: names and other proxies are not looked
    for, which the result says too.

    Parameters
    ----------
    prompts : list of str
        Prompts as they are sent, at least one and none blank.
    attribute : str, Lexicon, or list of these, optional
        Names of shipped lexicons, or lexicons; by default every English one that is shipped. A
        name is always that of a shipped one: where the fixture `lexicons` is overridden, give
        ``lexicons["gender"]``, the lexicon itself.
    max_share : float
        Largest share of prompts that may name a group, inclusive, in [0, 1).
    population : {"fixed", "sampled"}
        "fixed": these prompts are all there are, and their count decides. "sampled": they stand
        for more, and the interval decides; no sample proves a share of 0, so that `max_share` must
        be above it.
    level, mode, max_mde, label, unit, family
        See :class:`Rules`.

    Returns
    -------
    Result
        When the verdict is not red. Its `lacks` are groups for which the lexicons have no terms.

    Raises
    ------
    FairnessAssertionError
        As :func:`pytest_llmfair.assert_metric`; notes name the prompts and the words found.
    ValueError
        If there is no prompt, one is blank or no text, `max_share` is out of range, or there is no
        such lexicon.
    """
    __tracebackhide__ = True
    info = get_metric("fairness_through_unawareness")
    if population not in ("fixed", "sampled"):
        raise ValueError(f"population is {population!r}; choose fixed or sampled")
    if share(max_share, "max_share") == 1.0:
        raise ValueError(
            "max_share is 1, which cannot be a test: every list of prompts keeps it; give less"
        )
    if population == "sampled" and max_share == 0.0:
        raise ValueError(
            "population='sampled' judges prompts that nobody has seen, and no sample proves a "
            "share of 0; give max_share above 0, or population='fixed' for these prompts alone"
        )
    seen = MentionCounts.of(prompts, attribute)
    estimate: Estimate
    if population == "fixed":
        n = len(seen.rows)
        all_seen = Sample(units=n, generations=n, fewest=1, most=1, population="fixed")
        estimate = _Count(value=sum(seen.rows) / n, sample=all_seen, attainable=(0.0, 1.0))
    else:
        estimate = Mean.of_indicators(seen.rows, units=seen.prompts)
    result = judged(
        seen.added_to(estimate),
        max_share,
        MetricInputs(prompts=[(text,) for text in seen.prompts], outputs=[()] * len(seen.prompts)),
        Rules(level, mode, max_mde, label=label, family=family, unit=unit),
        info,
    )
    return conclude(result)


@dataclass(eq=False, kw_only=True)
class _Count(Estimate):
    """A share of rows that were all looked at: nothing about it is uncertain."""

    method = "count of all rows"

    def lower_bound(self, alpha: float) -> float:
        """Return the share itself."""
        return self.value

    def upper_bound(self, alpha: float) -> float:
        """Return the share itself."""
        return self.value

    def needed_units(
        self, threshold: float, *, power: float = 0.8, level: float = 0.95
    ) -> tuple[int, int] | None:
        """Return None: these rows are all there are."""
        return None
