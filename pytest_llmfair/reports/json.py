"""The results of a run as JSON: the same bytes for the same answers, and no texts in it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_llmfair import __version__

if TYPE_CHECKING:
    from pytest_llmfair.settings import Settings

SCHEMA_VERSION = 1

# What changes verdicts; not where the file is or what the screen shows.
_SETTINGS = (
    "model",
    "mode",
    "level",
    "inconclusive",
    "underpowered",
    "family",
    "seed",
    "max_tokens",
    "max_missing",
    "max_invalid",
    "max_uncertain",
)

# Messages are for people; they can hold prompts and outputs. Where answers came from changes
# between two runs that find the same.
_LEFT_OUT = ("message", "origin")


def run_document(records: Sequence[Mapping[str, Any]], settings: Settings) -> dict[str, Any]:
    """Return a run as plain data, its results sorted by test and order of judgement."""
    return {
        "schema_version": SCHEMA_VERSION,
        "pytest_llmfair": __version__,
        "settings": {name: getattr(settings, name) for name in _SETTINGS},
        "results": [
            {key: value for key, value in record.items() if key not in _LEFT_OUT}
            for record in sorted(records, key=lambda record: str(record["nodeid"]))
        ],
    }


def json_text(records: Sequence[Mapping[str, Any]], settings: Settings) -> str:
    """Return a run as text; the same answers give the same bytes."""
    return json.dumps(run_document(records, settings), indent=1, allow_nan=False) + "\n"
