"""Kept until its importers follow: see case.py."""

from pytest_llmfair.lexicons.english.case import (
    has_own_capitals,
    in_capitals,
    with_capital,
)

__all__ = ["has_own_capitals", "in_capitals", "with_capital"]
