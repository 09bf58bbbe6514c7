"""SHA-256 digests of what was judged, for records that keep no texts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from pytest_llmfair._util.wording import plain
from pytest_llmfair.responses import DigestedText

# Rows whose JSON is made together.
_AT_ONCE = 1000


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
    rows = {"prompts": getattr(inputs, "prompts", ()), "answers": getattr(inputs, "outputs", ())}
    found = {f"{name}_sha256": _digest(part, _pieces(part)) for name, part in rows.items()}
    args = getattr(inputs, "args", ())
    return {**found, "arguments_sha256": _digest(args, _listed(map(_pieces, args)))}


def _digest(part: Any, pieces: Iterable[str]) -> str | None:
    """Return the digest of JSON in pieces; None for a part without rows."""
    if not len(part):
        return None
    found = hashlib.sha256()
    try:
        for piece in pieces:
            found.update(piece.encode())
    except (TypeError, ValueError):
        # An answer recorded as a digest only, or an object whose text changes with every run.
        return None
    return found.hexdigest()


def _pieces(rows: Any) -> Iterator[str]:
    """Yield the JSON of data; of rows some at a time, since their JSON is larger than they."""
    if not isinstance(rows, (list, tuple)):
        return iter((_json(rows),))
    blocks = (rows[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE))
    return _listed(iter((_json(block)[1:-1],)) for block in blocks)


def _listed(items: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the JSON of a list, from the pieces of its items."""
    yield "["
    for number, pieces in enumerate(items):
        yield ", " if number else ""
        yield from pieces
    yield "]"


def _json(value: Any) -> str:
    return json.dumps(_readable(plain(value)))


def _readable(value: Any) -> Any:
    """Return plain data; raise ``TypeError`` for a text that cannot be read."""
    if isinstance(value, DigestedText):
        raise TypeError
    for item in value if isinstance(value, list) else ():
        _readable(item)
    return value
