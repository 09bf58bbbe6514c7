"""What every model of transformers needs, whether it answers or scores: all weights, all words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def first_line(error: BaseException) -> str:
    """Return the first line of what a library says, cut where it becomes a lecture."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(".")


def looks_local(target: str | Path) -> bool:
    """Tell whether a target can only mean a place on this machine, never the id of a model."""
    text = str(target)
    named = text.startswith((".", "/", "~")) or text.count("/") > 1 or "\\" in text
    return isinstance(target, Path) or named


def load_weights(kind: Any, source: str, **options: Any) -> Any:
    """Load a model of a class of transformers; raise ``ValueError`` if its files lack weights.

    The library fills these with random numbers and warns only.
    """
    model, found = kind.from_pretrained(source, output_loading_info=True, **options)
    # Weights that are tied to others, and constants, need not be in the files.
    own = {name for name, _ in model.named_parameters()}
    lost = sorted(name for name in found["missing_keys"] if name in own)
    if lost:
        raise ValueError(
            f"its files lack {len(lost)} weights of a {type(model).__name__}, such as {lost[0]}: "
            "it was trained for something else"
        )
    return model


def load_tokenizer(kind: Any, source: str, **options: Any) -> Any:
    """Load a tokenizer of a class of transformers; raise ``ValueError`` without files of it.

    The library makes one that takes every text for the same.
    """
    tokenizer = kind.from_pretrained(source, **options)
    if len(tokenizer) <= len(set(tokenizer.all_special_tokens)):
        raise ValueError("there are no files of its tokenizer")
    return tokenizer


def readable(text: str) -> str:
    """Return text that a tokenizer takes: a lone surrogate is no character and becomes U+FFFD."""
    return _LONE_SURROGATE.sub("\ufffd", text)
