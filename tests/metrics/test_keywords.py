"""Keywords that a metric does not take are answered with those that it takes."""

from __future__ import annotations

import re

import pytest

from pytest_llmfair import assert_metric, metrics
from pytest_llmfair._util.keywords import unknown_keyword
from pytest_llmfair.metrics._registry import _METRICS


@pytest.mark.parametrize(
    ("name", "keywords", "message"),
    [
        (
            "demographic_parity_difference",
            {"y_pred": [1, 0], "sensitive_features": ["a", "b"]},
            "demographic_parity_difference() takes groups=..., not sensitive_features=...",
        ),
        (
            "demographic_parity_difference",
            {"y_true": [1, 0], "y_pred": [1, 0], "groups": ["a", "b"]},
            "demographic_parity_difference() compares predictions only and takes no y_true=...: "
            "leave it out",
        ),
        (
            "rabbi",
            {"y_pred": [1, 0], "groups": ["a", "b"], "reference": "a"},
            "rabbi() takes scores=..., not y_pred=...",
        ),
        (
            "toxic_fraction",
            {"score": [0.5]},
            "toxic_fraction() has no argument 'score'; did you mean scores=...?",
        ),
        (
            "toxic_fraction",
            {"scores": [0.5], "zzz": 1},
            "toxic_fraction() has no argument 'zzz'; it takes scores, threshold, units, "
            "population",
        ),
        (
            "jaccard_at_k",
            {"lists_a": [["x"]], "lists_b": [["x"]], "k": 1},
            "jaccard_at_k() takes no k=...: K is the length of the lists, so cut the lists to K "
            "items",
        ),
    ],
)
def test_a_wrong_keyword_names_the_function_and_the_right_one(name, keywords, message):
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        getattr(metrics, name)(**keywords)


def test_an_assertion_on_data_says_the_same():
    with pytest.raises(TypeError, match=r"takes groups=\.\.\., not sensitive_features"):
        assert_metric("DP", [1, 0] * 20, sensitive_features=["a", "b"] * 20, bound=0.5)


def test_k_of_lists_that_have_one_is_taken():
    lists = [["x", "y", "z"]]
    assert metrics.serp_at_k(lists, [["x", "q", "r"]], k=1).value == 1.0


def test_a_metric_of_any_keywords_is_left_alone():
    @metrics.metric(
        family="own", paper="own", symbol="O", direction="lower", bounds=(0, 1), unit="row"
    )
    def own_metric_of_any_keywords(scores, **more):
        """Own."""
        from pytest_llmfair.stats import Mean

        return Mean.of_values(scores, units=more.get("blocks"))

    # Other tests of this process list all metrics.
    del _METRICS["own_metric_of_any_keywords"]
    assert own_metric_of_any_keywords([0.5, 0.5], blocks=["a", "a"]).sample.units == 1


def test_words_of_other_versions_name_ours():
    error = unknown_keyword("assert_rabbi_within", "threshold", ["bound", "reference"])
    assert str(error) == "assert_rabbi_within() takes bound=..., not threshold=..."
