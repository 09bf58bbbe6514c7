"""Addresses, paths and code that no exchange touches, side by side and in long texts."""

from __future__ import annotations

import pytest

from pytest_llmfair.lexicons.english.protected import protected_spans


def test_what_comes_first_counts() -> None:
    for text, parts in [
        ("see https://x.org/`her`/him now", ["https://x.org/`her`/him"]),
        ("see `her` or https://x.org/him now", ["`her`", "https://x.org/him"]),
        ("he/she<b>his</b>/www.her.org now", ["<b>", "</b>", "www.her.org"]),
        ("or/and`his.py` or her.py`his", ["`his.py`", "her.py"]),
        ("and/or`his.py and @her<his", ["his.py", "@her"]),
        ("his/her", []),
    ]:
        assert [text[start:end] for start, end in protected_spans(text)] == parts


@pytest.mark.parametrize(
    ("piece", "spans"),
    [("home`-HE-22/", 0.5), ("woman<b>Tom's/", 1), ("@a,", 1), ("his/`\n", 0), ("a/<", 0)],
)
def test_a_long_text_without_blanks_takes_no_quadratic_time(piece: str, spans: float) -> None:
    assert len(protected_spans(piece * 30_000)) >= spans * 30_000
