"""A result as one block of HTML for notebooks."""

from __future__ import annotations

from pytest_llmfair._util.notebook import block
from pytest_llmfair._util.wording import number, span
from pytest_llmfair.judging import facts
from pytest_llmfair.judging.facts import Record

_MEANS = {
    "PASS": "The whole interval is within the bound.",
    "FAIL": "The whole interval is beyond the bound.",
    "INCONCLUSIVE": "The interval lies across the bound: this sample does not decide.",
    "UNDERPOWERED": "A sample this small could not have decided.",
    "INVALID": "The evidence cannot be judged.",
}


def notebook_block(record: Record) -> str:
    """Return a result as one block for a notebook: in words, drawn against its bound, by group."""
    places = facts.decimals(record)
    side = {"lower": "at most ", "higher": "at least "}.get(record["direction"], "")
    asked = f"{side}{facts.allowed(record, places)}"
    lead = f"{record['metric']}: {number(facts.estimate(record), places)}, allowed {asked}"
    lines = [_MEANS[record["verdict"]], record["direction_words"]]
    if record["verdict"] == "INVALID":
        lines += record["notes"][:1]
    elif facts.side(record):
        found = span(record["level"], record["lower"], record["upper"], places)
        lines.append(f"{found} from {facts.sample(record)}.")
    return block(record, lead, filter(None, lines), bounds=facts.ends(record), places=places)
