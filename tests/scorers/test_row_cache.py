"""What a scorer remembers of a text."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from pytest_llmfair.scorers import base
from pytest_llmfair.scorers.base import RowCache


class Counting:
    """Length of a text, and how often it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: list[str]) -> list[float]:
        self.asked += texts
        return [float(len(text)) for text in texts]


def test_a_text_is_computed_once() -> None:
    memory, compute = RowCache(), Counting()
    assert memory(["a", "bb"], compute).tolist() == [1.0, 2.0]
    assert memory(["bb", "ccc", "a"], compute).tolist() == [2.0, 3.0, 1.0]
    assert compute.asked == ["a", "bb", "ccc"]


def test_rows_of_several_numbers_are_kept() -> None:
    memory = RowCache()
    rows = memory(["a", "b"], lambda texts: np.arange(6.0).reshape(2, 3))
    again = memory(["b", "a"], lambda texts: pytest.fail("computed again"))
    np.testing.assert_array_equal(again, rows[::-1])


def test_a_full_memory_forgets_and_stays_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_MOST", 3 * (base._EACH + 8))
    memory, compute = RowCache(), Counting()
    for text in ["a", "bb", "ccc", "dddd", "a"]:
        assert memory([text, "a"] if text != "a" else ["a"], compute)[0] == len(text)
    assert compute.asked.count("dddd") == 1


def test_a_memory_takes_no_more_bytes_than_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_MOST", 2_000_000)
    memory, held = RowCache(), []
    tracemalloc.start()
    for start in range(0, 20_000, 1000):
        texts = [f"text {i}" for i in range(start, start + 1000)]
        memory(texts, lambda texts: np.arange(float(len(texts))))
        held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert 1_000_000 < max(held) < 2_000_000


def test_a_lone_surrogate_is_a_text() -> None:
    assert RowCache()(["\ud800"], Counting()).tolist() == [1.0]
