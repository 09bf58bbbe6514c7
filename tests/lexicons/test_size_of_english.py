"""The rules of English stay small enough to read, and no word list is left unused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest_llmfair
from pytest_llmfair.lexicons import english

PACKAGE = Path(pytest_llmfair.__path__[0])
ENGLISH = Path(english.__path__[0])

MAX_FILES = 28
MAX_LINES = 6_000
MAX_BYTES_OF_LISTS = 120_000


def test_the_code_fits_its_budget() -> None:
    lines = {
        path.relative_to(ENGLISH): len(path.read_text(encoding="utf-8").splitlines())
        for path in ENGLISH.rglob("*.py")
    }
    assert len(lines) <= MAX_FILES
    assert sum(lines.values()) <= MAX_LINES
    assert max(lines.values()) <= 400


def test_the_word_lists_fit_theirs() -> None:
    sizes = {path.name: path.stat().st_size for path in ENGLISH.rglob("*.yaml")}
    assert sum(sizes.values()) <= MAX_BYTES_OF_LISTS, sizes


def test_every_word_class_is_asked_for() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    asked = {*re.findall(r"[\"'](\w+)[\"']", code), "language"}
    unused = {
        path.name: sorted(classes - asked)
        for path in sorted(ENGLISH.rglob("*.yaml"))
        if (classes := {*re.findall(r"^(\w+):", path.read_text(encoding="utf-8"), re.M)}) - asked
    }
    assert unused == {}
