"""The results of a run as JSON, without prompts and answers; equal answers give equal bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_llmfair import __version__

if TYPE_CHECKING:
    from pytest_llmfair.settings import Settings

SCHEMA_VERSION = 1

# Settings that can change verdicts.
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

# Messages can hold prompts and outputs. Origins (live or replayed) differ between runs that find
# the same.
_LEFT_OUT = ("message", "origin", "recorded")


def run_document(records: Sequence[Mapping[str, Any]], settings: Settings) -> dict[str, Any]:
    """Return a run as plain data; results are sorted by test."""
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
    """Return a run as JSON text."""
    return json.dumps(run_document(records, settings), indent=1, allow_nan=False) + "\n"
