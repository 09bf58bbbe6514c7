"""Tokens, sentences, ROUGE-L and whole-word search, shared by every part of the package."""

from __future__ import annotations

from pytest_llmfair.text.matching import (
    MASK,
    Found,
    WordFinder,
    find_words,
    mask_words,
    replaced,
)
from pytest_llmfair.text.tokens import CLITICS, rouge_l, sentences, tokens

__all__ = [
    "CLITICS",
    "MASK",
    "Found",
    "WordFinder",
    "find_words",
    "mask_words",
    "replaced",
    "rouge_l",
    "sentences",
    "tokens",
]
