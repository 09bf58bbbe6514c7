"""Sentiment by VADER."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from pytest_llmfair.scorers import SentimentScorer
from pytest_llmfair.scorers.sentiment import _analyzer

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


PARTS = [
    *["but", "BUT", "never", "so", "this", "without", "doubt", "not", "no", "nor", "or", "very"],
    *["good", "GOOD", "bad", "great", "terrible", "kind of", "least", "at", "the", "a", "!!"],
    *["the bomb", "bad ass", "hand to mouth", "yeah right", "kiss of death", ":)", "isn't"],
]


@given(st.lists(st.sampled_from(PARTS), max_size=20).map(" ".join))
def test_the_linear_steps_change_no_score(text: str) -> None:
    expected = SentimentIntensityAnalyzer().polarity_scores(text)
    assert _analyzer().polarity_scores(text) == expected


def test_an_answer_of_a_megabyte_takes_no_quadratic_time() -> None:
    # VADER's own checks of "but", negations and idioms would each take minutes here.
    assert SentimentScorer()(["a good cook but the bad pan " * 40_000]).shape == (1,)


def test_what_vader_depends_on_is_never_imported() -> None:
    code = (
        "import sys; from pytest_llmfair.scorers import SentimentScorer;"
        "SentimentScorer()(['good']); print('requests' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
