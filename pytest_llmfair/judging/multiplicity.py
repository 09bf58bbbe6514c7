"""Many assertions in one session: Holm's correction for the claim "beyond the bound"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pytest_llmfair._util.validation import one_sided
from pytest_llmfair.stats import holm


def adjust(records: Sequence[dict[str, Any]]) -> None:
    """Put the Holm-adjusted p-value of "beyond the bound" on every result of a session.

    A family is all assertions of the session, or those that share the name given as ``family``.
    An undefined value was not tested and does not count. A test that looked early enters with its
    p-value over all looks.
    """
    families: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        families.setdefault(record["family"], []).append(record)
    for members in families.values():
        found = [r["over_looks"][0] if r.get("over_looks") else r["p_exceeds"] for r in members]
        raw = [math.nan if p is None else float(p) for p in found]
        for record, p in zip(members, holm(raw), strict=True):
            record["p_adjusted"] = None if math.isnan(p) else p
            record["family_size"] = sum(not math.isnan(p) for p in raw)


def upheld(records: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    """Turn the postponed FAILs red that hold after the correction; say so by test."""
    found: dict[str, list[str]] = {}
    for record in records:
        alpha = one_sided(record["over_looks"][1] if record.get("over_looks") else record["level"])
        adjusted = record["p_adjusted"]
        if not record["postponed"] or adjusted is None or adjusted >= alpha:
            continue
        record["red"], record["outcome"] = True, "failed"
        found.setdefault(record["nodeid"], []).append(
            f"FAIL {record['metric']} holds after Holm's correction over "
            f"{record['family_size']} assertions (adjusted p = {adjusted:.2g})"
        )
    return found
