"""The validity gate for pairs that a test made itself, or has answers to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.judging.pairing import groups_of, is_pair
from pytest_llmfair.responses import PairedResponses, rows_of


def gated(data: Any, units: Any = None) -> tuple[Any, Any]:
    """Leave out pairs that fail the validity gate, and count them; other data stay as they are.

    Pairs that the package made passed it already, and cost nothing here. Labels of units lose
    the same rows.
    """
    if isinstance(data, Iterator):
        data = list(data)
    pairs = _pairs_of(data)
    if not any(map(_unchecked, pairs)) or not all(map(is_pair, pairs)):
        return data, units
    from pytest_llmfair.counterfactuals.user_pairs import through_gate

    groups_of(pairs)
    passed, kept = through_gate(pairs)
    if isinstance(data, PairedResponses):
        result: Any = replace(
            rows_of(data, kept),
            pairs=tuple(passed),
            rejected=(*data.rejected, *passed.rejected),
            uncertain=(*data.uncertain, *passed.uncertain),
            lacks=tuple(dict.fromkeys((*data.lacks, *passed.lacks))),
        )
    else:
        result = passed
    labels = None if units is None else list(units)
    if labels is not None and len(labels) == len(pairs):
        labels = [labels[row] for row in kept]
    return result, labels


def note_unchecked(evidence: MetricInputs, source: Any) -> None:
    """Say how many pairs no lexicon of the package can judge, and why."""
    pairs = _pairs_of(source)
    unknown = [pair for pair in pairs if _unchecked(pair)]
    if not unknown:
        return
    from pytest_llmfair.counterfactuals.user_pairs import why_unjudged

    why, _ = Counter(map(why_unjudged, unknown)).most_common(1)[0]
    evidence.reasons.append("pairs_unchecked")
    evidence.notes.append(
        f"{len(unknown)} of {len(pairs)} pairs could not be checked, so that nobody knows whether "
        f"only the group changes in them: {why}"
    )


def _pairs_of(data: Any) -> Sequence[Any]:
    if isinstance(data, PairedResponses):
        return data.pairs
    return data if isinstance(data, (list, tuple)) else ()


def _unchecked(item: Any) -> bool:
    return is_pair(item) and not getattr(item, "checked", False)
