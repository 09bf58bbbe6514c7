"""Fairness through unawareness, judged on the count of prompts or as a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmfair._util.validation import share
from pytest_llmfair.judging.assertion import EstimateAssertion
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.judging.rules import Rules
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.metrics.unawareness import MentionCounts
from pytest_llmfair.stats import Call, Estimate, Mean, Sample


def unawareness_assertion(
    prompts: Sequence[str], attribute: Any, max_share: float, population: str, rules: Rules
) -> EstimateAssertion:
    """Return the assertion that at most a share of prompts names a group."""
    if population not in ("fixed", "sampled"):
        raise ValueError(f"population is {population!r}; choose fixed or sampled")
    if share(max_share, "max_share") == 1.0:
        raise ValueError(
            "max_share is 1, which cannot be a test: every list of prompts keeps it; give less"
        )
    if population == "sampled" and max_share == 0.0:
        raise ValueError(
            "population='sampled' judges prompts beyond these, and no sample proves a share of 0; "
            "give max_share above 0, or population='fixed' for these prompts alone"
        )
    seen = MentionCounts.of(prompts, attribute)
    estimate: Estimate
    if population == "fixed":
        n = len(seen.rows)
        sample = Sample(units=n, generations=n, fewest=1, most=1, population="fixed")
        estimate = _Count(value=sum(seen.rows) / n, sample=sample, attainable=(0.0, 1.0))
    else:
        estimate = Mean.of_indicators(seen.rows, units=seen.prompts)
    texts = [(text,) for text in seen.prompts]
    inputs = MetricInputs(prompts=texts, outputs=[()] * len(texts))
    info = get_metric("fairness_through_unawareness")
    estimate = seen.added_to(estimate)
    call = Call(info.name, (list(prompts), attribute), {"population": population})
    return EstimateAssertion(replace(estimate, call=call), max_share, info, rules, inputs)


@dataclass(eq=False, kw_only=True)
class _Count(Estimate):
    """A share of a fixed list that was read completely, so nothing about it is uncertain."""

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
