"""Text that came from a server or a library: keys removed, control characters made visible."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from urllib.parse import quote

REMOVED = "[key removed]"

# Local servers take any word as a key; a short one, such as "EMPTY", may well be in an answer.
_SHORTEST = 8

# Their logs hold requests and the headers of responses, in which a server may echo a key.
_LIBRARIES = ("openai", "anthropic", "httpx", "httpcore", "LiteLLM")


def redactor() -> Callable[[str], str]:
    """Return what removes the keys of the environment from a text.

    The function holds the keys where no traceback shows them.
    """
    values = (value.strip() for name, value in os.environ.items() if name.endswith("_API_KEY"))
    written = {form for key in values if len(key) >= _SHORTEST for form in _forms(key)}
    # The longest first: a key may begin with another one.
    forms = sorted(written, key=lambda form: (-len(form), form))

    def redacted(text: str) -> str:
        for form in forms:
            text = text.replace(form, REMOVED)
        return text

    return redacted


def _forms(key: str) -> tuple[str, ...]:
    """Return how a key may be written: as it is, in an address, in JSON, as bytes."""
    data = key.encode("utf-8", "surrogateescape")
    return key, quote(data, safe=""), json.dumps(key)[1:-1], repr(data)[2:-1]


def guard_logs(redacted: Callable[[str], str]) -> None:
    """Remove keys from what the libraries of providers log, whatever the level."""
    for name, logger in logging.root.manager.loggerDict.items():
        if name.startswith(_LIBRARIES) and isinstance(logger, logging.Logger):
            for old in [held for held in logger.filters if isinstance(held, _KeysRemoved)]:
                logger.removeFilter(old)
            logger.addFilter(_KeysRemoved(redacted))


class _KeysRemoved(logging.Filter):
    def __init__(self, redacted: Callable[[str], str]) -> None:
        super().__init__()
        self._redacted = redacted

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._redacted(record.getMessage()), None
        return True


def one_line(text: str, limit: int = 200) -> str:
    """Return a text for a message: one line of printable characters, cut at `limit`, no keys."""
    # Before it is cut: what is left of a key at the end would not be known as one.
    text = " ".join(redactor()(text)[: 4 * limit].split())[:limit]
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
