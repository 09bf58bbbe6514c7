"""Arguments of a metric, with everything that is known about the data that they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_llmfair.judging.missing_data import MissingData
from pytest_llmfair.stats import Finding


@dataclass(frozen=True, slots=True)
class MetricInputs:
    """Arguments for a metric, and what was lost between the answers and the metric.

    Rows are prompts or pairs. `attribute` and `labels`, the groups of the two sides, are empty
    for single prompts.
    """

    args: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    # Missing answers as group -> reason -> number.
    missing: dict[str, dict[str, int]] = field(default_factory=dict)
    # Answers that ended at a limit the user set, as {"length": n}; empty without one.
    cut: dict[str, int] = field(default_factory=dict)
    missing_data: MissingData = field(default_factory=MissingData)
    # Answers asked for live, and replayed from a cassette.
    origin: tuple[int, int] = (0, 0)
    # Per row the prompt (or both), and the answers (of either side), for the worst examples.
    prompts: Sequence[tuple[str, ...]] = ()
    outputs: Sequence[tuple[list[str], ...]] = ()
    labels: tuple[str, ...] = ()
    attribute: str = ""
    model: str = ""
    # Rows of the responses, and those that have an answer (on either side).
    asked: int = 0
    kept: Sequence[int] = ()
    # Whether a metric may compare the answers to the two members of a pair.
    paired: bool = False
    # Pairs and prompts that were left out before anything was asked.
    rejected: int = 0
    uncertain: int = 0
    # How answers to pairs were compared; see `Compare`.
    baseline: str = "resample"
    # What a sampling unit is, where the pairs say so.
    unit: str = ""
    # What turned texts into scores, by name.
    scorer: str = ""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Codes of what does not make the data invalid."""
        return tuple(each.code for each in self.findings if each.kind == "flag")

    @property
    def invalid(self) -> dict[str, str]:
        """Code to words of what makes the data invalid."""
        found = (each for each in self.findings if each.kind == "invalid")
        return {each.code: each.text for each in found if each.code != "undefined"}

    @property
    def undefined(self) -> str | None:
        """Why there is nothing to measure; None where there is something."""
        return next((each.text for each in self.findings if each.code == "undefined"), None)

    @property
    def needs_floor(self) -> bool:
        """Whether a value that compares answers is a FAIL only with a noise floor."""
        known = "identical_repeats" in self.reasons
        return self.baseline == "resample" and self.paired and not known

    def with_findings(self, *found: Finding) -> MetricInputs:
        """Return a copy with further findings."""
        return replace(self, findings=(*self.findings, *found))

    def units_of(self, units: Any) -> Any:
        """Return the labels of the rows kept, from one label per row asked."""
        found = list(units)
        return [found[i] for i in self.kept] if len(found) == self.asked else found
