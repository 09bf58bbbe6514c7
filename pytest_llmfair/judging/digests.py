"""SHA-256 digests of what was judged, for records that keep no texts."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pytest_llmfair._util.wording import plain


def sha256_of(text: str) -> str:
    """Return the SHA-256 digest of a text in UTF-8.

    Examples
    --------
    >>> sha256_of("hello")[:16]
    '2cf24dba5fb0a30e'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digests_of(inputs: Any) -> dict[str, str | None]:
    """Return digests of prompts, answers, and the metric's arguments; None where there are none.

    Examples
    --------
    >>> from pytest_llmfair import assert_metric
    >>> result = assert_metric("toxic_fraction", [[0.1, 0.2]] * 100, bound=0.1)
    >>> [name for name, digest in digests_of(result.evidence).items() if digest]
    ['arguments_sha256']
    """
    parts = {
        "prompts": getattr(inputs, "prompts", ()),
        "answers": getattr(inputs, "outputs", ()),
        "arguments": getattr(inputs, "args", ()),
    }
    found: dict[str, str | None] = {}
    for name, part in parts.items():
        try:
            found[f"{name}_sha256"] = sha256_of(json.dumps(plain(part))) if len(part) else None
        except (TypeError, ValueError):
            # An object of the user's own, with no text that would be the same in every run.
            found[f"{name}_sha256"] = None
    return found
