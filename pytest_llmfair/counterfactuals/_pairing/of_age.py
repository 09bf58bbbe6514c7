"""Words of young people that nobody older is called: no "middle-aged girl"."""

from __future__ import annotations

import re

from pytest_llmfair.counterfactuals._pairing.case import Case

_CHILD = re.compile(
    r"(?:,? [a-z]+){0,2}? ((?:school)?(?:girl|boy)|lad|lass|kid|teen|teenager|schoolchild)(?:s|es|ren)?\b",
    re.IGNORECASE,
)
_NEAR = 40


def no_child(case: Case) -> str | None:
    """Check that no young person becomes an older one: "a young boy", "a 16-year-old girl"."""
    if case.pair.attribute != "age" or case.pair.to_group == "young":
        return None
    text = case.pair.counterfactual
    for _, sense, edit in case.named:
        end = edit.counterfactual_start + len(edit.after)
        if sense.group != "young" or sense.role != "adjective":
            continue
        if child := _CHILD.match(text, end, end + _NEAR):
            return f"names young: {child[1]!r} has no counterpart"
    return None
