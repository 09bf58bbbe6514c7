"""The results of a run as JSON: the same bytes for the same answers, and no texts in it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
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
)


def run_document(records: Sequence[Mapping[str, Any]], settings: Settings) -> dict[str, Any]:
    """Return a run as plain data, its results sorted by test and order of judgement."""
    return {
        "schema_version": SCHEMA_VERSION,
        "pytest_llmfair": __version__,
        "settings": {name: getattr(settings, name) for name in _SETTINGS},
        "results": sorted(records, key=lambda record: str(record["nodeid"])),
    }


def write_json(path: str, records: Sequence[Mapping[str, Any]], settings: Settings) -> None:
    """Write a run; a reader finds the old file or the whole new one, never a part.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    text = json.dumps(run_document(records, settings), indent=1, allow_nan=False) + "\n"
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        # A temporary file is private; the results are as readable as any file of the user's.
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
