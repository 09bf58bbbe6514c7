"""Lengths of answers."""

from __future__ import annotations

from pytest_llmfair.scorers import load_scorers
from pytest_llmfair.text import tokens

TEXTS = ["", "One word", "She isn't here: 3 o'clock!", "\u5979\u662f\u533b\u751f"]


def test_tokens_are_those_of_the_metrics_on_texts() -> None:
    assert load_scorers()["tokens"](TEXTS).tolist() == [len(tokens(text)) for text in TEXTS]


def test_length_is_in_characters() -> None:
    assert load_scorers()["length"](TEXTS).tolist() == [len(text) for text in TEXTS]
