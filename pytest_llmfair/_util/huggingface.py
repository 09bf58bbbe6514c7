"""Loading checks shared by Hugging Face clients and scorers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def first_line(error: BaseException) -> str:
    """Return the first line of an exception, at most 200 characters."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(".")


def looks_local(target: str | Path) -> bool:
    """Whether a target can only be a path, not the id of a model."""
    text = str(target)
    named = text.startswith((".", "/", "~")) or text.count("/") > 1 or "\\" in text
    return isinstance(target, Path) or named


def load_weights(kind: Any, source: str, **options: Any) -> Any:
    """Load a model; raise ``ValueError`` if the checkpoint lacks weights."""
    # transformers would fill missing weights with random numbers and only warn.
    model, found = kind.from_pretrained(source, output_loading_info=True, **options)
    # Tied weights and constants need not be in the checkpoint.
    own = {name for name, _ in model.named_parameters()}
    lost = sorted(name for name in found["missing_keys"] if name in own)
    if lost:
        raise ValueError(
            f"its files lack {len(lost)} weights of a {type(model).__name__}, such as {lost[0]}: "
            "it was trained for something else"
        )
    return model


def load_tokenizer(kind: Any, source: str, **options: Any) -> Any:
    """Load a tokenizer; raise ``ValueError`` if its files are missing."""
    # transformers would make an empty tokenizer that maps all texts to the same tokens.
    tokenizer = kind.from_pretrained(source, **options)
    if len(tokenizer) <= len(set(tokenizer.all_special_tokens)):
        raise ValueError("there are no files of its tokenizer")
    return tokenizer


def readable(text: str) -> str:
    """Replace lone surrogates, which tokenizers refuse, by U+FFFD."""
    return _LONE_SURROGATE.sub("\ufffd", text)
