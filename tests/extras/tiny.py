"""Small random models of transformers for tests, with a tokenizer of whole words."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers, processors


class _Lazy:
    """A library that its first user loads, so that collecting the tests stays fast."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


transformers = _Lazy("transformers")


def word_tokenizer(vocabulary: Sequence[str], form: str = "$A", **options: Any) -> Any:
    """Return a tokenizer of words; `form` says which special tokens go around a text."""
    ids = {word: i for i, word in enumerate(vocabulary)}
    words = Tokenizer(models.WordLevel(ids, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    special = [(word, i) for word, i in ids.items() if word in form]
    words.post_processor = processors.TemplateProcessing(single=form, special_tokens=special)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", **options
    )


def saved(model: Any, tokenizer: Any, where: Path) -> Path:
    """Save a model whose weights are large enough that its outputs differ."""
    import torch

    with torch.no_grad():
        for weights in model.parameters():
            if weights.dim() > 1:
                weights.mul_(8.0)
    model.save_pretrained(where)
    tokenizer.save_pretrained(where)
    return where
