"""Addresses, paths and code that no exchange touches, side by side and in long texts."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from pytest_llmfair.lexicons.protected import protected_spans

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))


def test_what_comes_first_counts() -> None:
    for text, parts in CASES["what comes first counts"]:
        assert [text[start:end] for start, end in protected_spans(text)] == parts


@pytest.mark.parametrize(
    ("piece", "spans"),
    [("home`-HE-22/", 0.5), ("woman<b>Tom's/", 1), ("@a,", 1), ("his/`\n", 0), ("a/<", 0)],
)
def test_a_long_text_without_spaces_takes_linear_time(piece: str, spans: float) -> None:
    assert len(protected_spans(piece * 30_000)) >= spans * 30_000
