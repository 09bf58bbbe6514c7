"""Whether the model changed while it was asked, by its answers and by what its server says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pytest_llmfair._util.wording import plural
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.responses import DigestedText
from pytest_llmfair.stats import Finding, change_point

# Share of runs of an unchanged model with the note on early and late answers, at most.
_FALSE_ALARMS = 0.01


def changes_of(inputs: MetricInputs, needs: str, order: Mapping[str, int]) -> tuple[Finding, ...]:
    """Report answers that differ between early and late, and a server with several models."""
    return (*_early_and_late(inputs, needs, order), *_several_models(inputs.model))


def _early_and_late(
    inputs: MetricInputs, needs: str, order: Mapping[str, int]
) -> tuple[Finding, ...]:
    """Compare early and late answers: by their scores, or by their length.

    Pairs are asked in random order, so a change over time is no difference between prompts.
    """
    rows = inputs.prompts
    if not rows or not all(text in order for row in rows for text in row):
        return ()
    if scores := needs in ("scores", "score_pairs"):
        sides: Any = zip(*inputs.args, strict=True)
        values = [
            float(np.mean(np.concatenate([np.ravel(side) for side in row]))) for row in sides
        ]
    else:
        texts = [[text for side in row for text in side] for row in inputs.outputs]
        if any(isinstance(text, DigestedText) for row in texts for text in row):
            return ()
        values = [float(np.mean([len(text.split()) for text in row])) for row in texts]
    labels = inputs.keywords.get("units", range(len(rows)))
    by_unit: dict[Any, list[tuple[int, float]]] = {}
    for label, row, value in zip(labels, rows, values, strict=True):
        by_unit.setdefault(label, []).append((min(order[text] for text in row), value))
    means = [value for _, value in sorted(map(_mean, by_unit.values()))]
    p, first = change_point(means)
    if p > _FALSE_ALARMS:
        return ()
    early, late = np.mean(means[:first]), np.mean(means[first:])
    text = (
        f"early and late answers differ: {'scores' if scores else 'words per answer'} "
        f"{early:.3g} on average in the first {plural('unit', first)} asked, {late:.3g} in the "
        f"other {len(means) - first:,} (p = {p:.1g}); the model may have changed while it was "
        "asked. Its requests came in random order, so no group was asked earlier than another"
    )
    return (Finding.note(text),)


def _mean(rows: list[tuple[int, float]]) -> tuple[float, ...]:
    return tuple(np.mean(rows, axis=0).tolist())


def _several_models(client: str) -> tuple[Finding, ...]:
    from pytest_llmfair.clients.session import current_runner

    served = current_runner().counts.served.get(client, set())
    models, fingerprints = (sorted({each[i] for each in served} - {""}) for i in (0, 1))
    remedy = "ask all answers again with --llmfair-record-mode all"
    if len(models) > 1:
        text = (
            f"the server answered as {len(models)} models: {', '.join(models)}; name one release "
            f"in the specification, and {remedy}"
        )
        return (Finding("model_changed", text),)
    if len(fingerprints) > 1:
        text = (
            f"the server answered with {len(fingerprints)} system fingerprints: "
            f"{', '.join(fingerprints)}; where results differ, {remedy}"
        )
        return (Finding.note(text),)
    return ()
