from __future__ import annotations

import numpy as np
import pytest

from pytest_llmfair import metrics
from pytest_llmfair.metrics import all_metrics, get_metric

FIRST_SET = {
    "toxic_fraction",
    "counterfactual_rouge_l",
    "weak_sentiment_parity",
    "strict_sentiment_parity",
    "demographic_parity_difference",
    "rabbi",
    "ruted_neutrality",
}

DATA = {
    "scores": ([[0.1, 0.9], [0.2, 0.3], [0.7, 0.4]],),
    "score_pairs": ([0.1, 0.6, 0.7], [0.3, 0.5, 0.2]),
    "text_pairs": (["a b", "c", "d e"], ["a", "c d", "e f"]),
    "pronoun_counts": ([3, 8, 5], [10, 10, 10]),
}
TABLES = {
    "demographic_parity_difference": (([1, 0, 1, 0],), {"groups": list("aabb")}),
    "rabbi": (([1, 2, 3, 2],), {"groups": list("aabb"), "reference": "b"}),
}


def call(info):
    args, keywords = TABLES.get(info.name, (DATA.get(info.needs), {}))
    return info.function(*args, **keywords)


def test_the_list_is_found_by_scanning_the_folder():
    assert set(all_metrics()) >= FIRST_SET
    assert list(all_metrics()) == sorted(all_metrics())


def test_a_misspelt_name_gets_a_suggestion():
    with pytest.raises(ValueError, match="did you mean toxic_fraction"):
        get_metric("toxic_fracton")


def test_an_alias_is_the_metric():
    assert get_metric("rouge_l") is get_metric("counterfactual_rouge_l")


def test_a_name_that_is_nothing_like_a_metric_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no 'zzz'"):
        _ = metrics.zzz


@pytest.mark.parametrize("info", all_metrics().values(), ids=list(all_metrics()))
class TestEveryMetric:
    def test_value_lies_in_its_range_and_in_its_interval(self, info):
        estimate = call(info)
        low, high = info.bounds
        assert low <= estimate.value <= high
        interval = estimate.interval()
        assert low <= interval.lower <= interval.upper <= high
        shown = estimate.value if interval.of == "value" else estimate.debiased
        assert interval.lower <= shown <= interval.upper

    def test_interval_is_never_of_zero_width(self, info):
        for level in (0.5, 0.8, 0.95, 0.99):
            interval = call(info).interval(level)
            assert interval.upper > interval.lower

    def test_units_and_population_are_keywords(self, info):
        import inspect

        parameters = inspect.signature(info.function).parameters
        assert "population" in parameters
        assert "units" in parameters

    def test_the_documentation_names_a_paper_and_the_range(self, info):
        assert info.summary
        assert "Returns" in info.function.__doc__
        assert "Value in" in info.function.__doc__

    def test_the_same_call_gives_the_same_numbers(self, info):
        assert call(info).interval() == call(info).interval()
        assert call(info).p_exceeds(0.1) == call(info).p_exceeds(0.1)

    def test_p_values_agree_with_the_interval(self, info):
        estimate = call(info)
        for level in (0.6, 0.9, 0.95, 0.99):
            interval = estimate.interval(level)
            alpha = (1 - level) / 2
            for x in np.linspace(*info.bounds, 9):
                assert (estimate.p_exceeds(x) < alpha) == (interval.lower > x)
                assert (estimate.p_within(x) < alpha) == (interval.upper <= x)
