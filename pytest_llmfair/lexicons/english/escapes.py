"""Kept until its importers follow: see protected.py."""

from pytest_llmfair.lexicons.english.protected import with_blanks

__all__ = ["with_blanks"]
