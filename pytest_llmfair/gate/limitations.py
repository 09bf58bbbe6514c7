"""What a run does not show, from its record: groups, languages, lost answers, undecided checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_llmfair.gate.documents import (
    TOY_MODEL,
    described_models,
    model_names,
    rendered,
    replayed,
)


def limitations(record: Mapping[str, Any], *, level: int = 1) -> str:
    """Return the limits of a run as Markdown.

    What the record does not hold is said. `level` is that of the heading: 1 for a page, 2 for a
    section.
    """
    results, lexicons = record["results"], record.get("lexicons") or ()
    known = {m["name"] for m in described_models(record) if m.get("revision") or m.get("digest")}
    names = model_names(record)
    groups: dict[str, dict[str, None]] = {}
    for result in results:
        groups.setdefault(result["attribute"], {}).update(dict.fromkeys(result["lacks"]))
    # Without an attribute a check knows no list of groups that it could lack.
    own_data = groups.pop("", None) is not None
    return rendered(
        "limitations.md",
        mark="#" * level,
        results=results,
        names=names,
        toy=TOY_MODEL,
        unversioned=[name for name in names if name not in {TOY_MODEL, *known}],
        answers=replayed(record),
        groups={name: ", ".join(groups[name]) for name in sorted(groups)},
        own_data=own_data,
        languages=sorted({str(each["language"]) for each in lexicons if each.get("language")}),
        # Words of the trial of a scorer on sentences that differ in the group only.
        trials=("neutral sentences", "could not be audited"),
    )
