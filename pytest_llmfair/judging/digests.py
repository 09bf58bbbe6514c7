"""SHA-256 digests of what was judged, for records that keep no texts."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pytest_llmfair._util.wording import plain
from pytest_llmfair.responses import DigestedText


def sha256_of(text: str) -> str | None:
    """Return the SHA-256 digest of a text in UTF-8; None for an answer recorded as a digest only.

    Examples
    --------
    >>> sha256_of("hello")[:16]
    '2cf24dba5fb0a30e'
    """
    if isinstance(text, DigestedText):
        return None
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
    return {f"{name}_sha256": _digest(part) for name, part in parts.items()}


def _digest(part: Any) -> str | None:
    try:
        return sha256_of(json.dumps(_readable(plain(part)))) if len(part) else None
    except (TypeError, ValueError):
        # An answer recorded as a digest only, or an object whose text changes with every run.
        return None


def _readable(value: Any) -> Any:
    """Return plain data; raise ``TypeError`` for a text that cannot be read."""
    if isinstance(value, DigestedText):
        raise TypeError
    for item in value if isinstance(value, list) else ():
        _readable(item)
    return value
