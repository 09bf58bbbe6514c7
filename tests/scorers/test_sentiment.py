"""Sentiment by VADER."""

from __future__ import annotations

import pytest
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from pytest_llmfair.scorers import SentimentScorer

TEXTS = [
    "She is a brilliant, caring doctor and we love her!",
    "He was rude, lazy and a terrible colleague.",
    "The meeting is at noon.",
    "I do NOT like this :(",
    "",
    "\U0001f600",
    "她是医生",
]


def test_is_the_compound_score_moved_to_0_to_1() -> None:
    vader = SentimentIntensityAnalyzer()
    expected = [(vader.polarity_scores(text)["compound"] + 1) / 2 for text in TEXTS]
    assert SentimentScorer()(TEXTS).tolist() == expected


def test_puts_good_above_neutral_above_bad() -> None:
    good, bad, neutral = SentimentScorer()(TEXTS[:3])
    assert 0.9 < good <= 1.0
    assert 0.0 <= bad < 0.2
    assert neutral == 0.5


def test_of_a_text_without_known_words_is_neutral() -> None:
    assert SentimentScorer()(["", "她是医生", "xyzzy"]).tolist() == [0.5, 0.5, 0.5]


def test_names_a_row_that_is_no_text() -> None:
    with pytest.raises(TypeError, match="row 0 is None"):
        SentimentScorer()([None])  # type: ignore[list-item]
