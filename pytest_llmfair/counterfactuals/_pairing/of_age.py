"""What an age does not go with: no "middle-aged girl", no "youngest customer, who is 97"."""

from __future__ import annotations

import itertools
import re

from pytest_llmfair.counterfactuals._pairing.case import Case
from pytest_llmfair.lexicons.english.persons.words import is_any, is_modifier

_NEAR = 40
_STOP = re.compile(r"[.!?;:()\n]")
_FAR = 80
_YEARS = re.compile(r"\b(?:is|was|at|aged|turned|nearly)\s\d\d\b(?!\s?%)|,\s\d\d,")
_WORD = re.compile(r"[a-z][a-z-]*")


def word_fits_age(case: Case) -> str | None:
    """Check that no young person becomes older, nor a grandmother young: "a 16-year-old girl"."""
    if case.pair.attribute != "age":
        return None
    text = case.pair.counterfactual
    for change, sense, edit in case.named:
        if sense.role != "adjective" or "young" not in (sense.group, change.becomes):
            continue
        end = edit.counterfactual_start + len(edit.after)
        near = _STOP.split(text[end : end + _NEAR].lower(), 1)[0]
        rest = itertools.dropwhile(is_modifier, _WORD.findall(near))
        kind = "young_persons" if sense.group == "young" else "old_persons"
        if is_any(word := next(rest, ""), kind):
            return f"nobody {change.becomes} is called {word!r}: choose a word for any age"
    return None


def age_fits(case: Case) -> str | None:
    """Check that the oldest does not become the youngest where the age is told: "is 97"."""
    if case.pair.attribute != "age":
        return None
    text = case.pair.counterfactual
    for _, sense, edit in case.named:
        if sense.entry is None or not sense.term.endswith("est"):
            continue
        end = edit.counterfactual_start + len(edit.after)
        told = _YEARS.search(_STOP.split(text[end : end + _FAR], 1)[0])
        if told is not None:
            return f"an age stays beside {edit.after!r}: {told[0].strip(', ')!r}"
    return None
