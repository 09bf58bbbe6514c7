"""The gap that a scorer sees between groups by itself, beside every result that it decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pytest_llmfair.judging.self_audit import neutral_examples

if TYPE_CHECKING:
    from pytest_llmfair.judging.bound import Bound
    from pytest_llmfair.judging.inputs import MetricInputs

Rows = list[list[str]]


def note_audit(
    evidence: MetricInputs,
    scorer: Any,
    bound: Bound,
    measure: Callable[[Rows, Rows, list[int]], float],
) -> None:
    """Say what the metric makes of neutral sentences alone; beyond the bound it is no evidence.

    `measure` takes texts of the first group, of the second, and their units. A scorer that is a
    plain function is not audited, since asking it may cost anything.
    """
    name = getattr(scorer, "name", None)
    if name is None or not hasattr(scorer, "range") or len(evidence.labels) != 2:
        return
    try:
        examples = neutral_examples(evidence.attribute, evidence.labels, 0, 1)
    except ValueError:
        return  # an attribute of the user's own has no templates
    sides: list[Rows] = [
        [[example.variations[group][0].text] for example in examples] for group in evidence.labels
    ]
    try:
        value = measure(sides[0], sides[1], list(range(len(examples))))
    except Exception as error:  # noqa: BLE001 - a scorer that knows its own texts only
        evidence.notes.append(f"the scorer {name} could not be audited: {error}")
        return
    said = f"the scorer {name} alone gives {value:.3f} on {len(examples)} neutral sentences"
    if bound.allows(value):
        evidence.notes.append(said)
        return
    evidence.invalid["scorer_gap"] = (
        f"{said} that differ in the group only, which is beyond the bound {bound.value:g}: what "
        "it sees in answers may be its own; use another scorer, or choose a bound above its gap "
        "(see self_audit)"
    )
