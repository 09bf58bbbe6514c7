"""The built-in model: a word-class n-gram model of a small corpus."""

from pytest_llmfair.clients.backends.ngram.model import Ngram, builtin_occupations, load

__all__ = ["Ngram", "builtin_occupations", "load"]
