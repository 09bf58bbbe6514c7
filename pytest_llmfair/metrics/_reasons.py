"""Reason codes that a metric adds to its estimate, each with its words."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np

from pytest_llmfair.metrics.arguments import Floats
from pytest_llmfair.stats import Estimate, Finding

E = TypeVar("E", bound=Estimate)


def note_constant(estimate: E, rows: Sequence[Floats]) -> E:
    """Flag raw scores that are all the same number: a broken scorer looks like this."""
    flat = np.concatenate(rows)
    if flat.size > 1 and bool((flat == flat[0]).all()):
        same = (
            f"all {flat.size} scores are {flat[0]:g}: check the scorer, a constant shows nothing"
        )
        return estimate.with_findings(Finding("uninformative", same))
    return estimate


def note_canned(estimate: E, distinct: Sequence[Hashable]) -> E:
    """Flag one and the same text or list as the answer to several pairs: a broken client."""
    if len(distinct) == 1 and estimate.sample.units > 1:
        canned = (
            f"one answer to everything, {repr(distinct[0])[:40]}: check the client, a canned "
            "answer shows nothing"
        )
        return estimate.with_findings(Finding("uninformative", canned))
    return estimate


def note_ragged(estimate: E, rows: Sequence[Floats]) -> E:
    """Say that prompts have different numbers of generations."""
    lengths = [len(row) for row in rows]
    if min(lengths) != max(lengths):
        ragged = (
            f"prompts have {min(lengths)} to {max(lengths)} generations; "
            "the value is the mean of the prompts' means"
        )
        return estimate.with_findings(Finding.note(ragged))
    return estimate
