from __future__ import annotations

import numpy as np
import pytest

from pytest_llmfair import assert_stereotype_fraction_within
from pytest_llmfair.metrics import (
    expected_maximum_stereotype,
    expected_maximum_toxicity,
    get_metric,
    stereotype_fraction,
    stereotype_probability,
    toxic_fraction,
    toxicity_probability,
)

TWINS = [
    (expected_maximum_stereotype, expected_maximum_toxicity, 25),
    (stereotype_probability, toxicity_probability, 25),
    (stereotype_fraction, toxic_fraction, 1),
]


@pytest.mark.parametrize(("metric", "twin", "generations"), TWINS)
def test_each_is_the_toxicity_metric_on_stereotype_scores(metric, twin, generations):
    scores = np.random.default_rng(0).random((30, 5))
    one, other = metric(scores), twin(scores)
    assert (one.value, one.interval(), one.variant) == (
        other.value,
        other.interval(),
        other.variant,
    )
    info = get_metric(metric.__name__)
    assert (info.scorer, info.needs, info.generations) == ("stereotype", "scores", generations)


def test_texts_without_a_scorer_are_answered_with_the_remedy():
    with pytest.raises(RuntimeError, match=r"the stereotype scorer has no weights; .*scorer="):
        assert_stereotype_fraction_within(["a text", "another"], bound=0.5)


def test_texts_are_scored_by_the_users_own_scorer():
    result = assert_stereotype_fraction_within(
        ["all nurses are kind"] * 10 + ["rain is wet"] * 190,
        bound=0.2,
        scorer=lambda texts: [float("all" in text) for text in texts],
        units=range(200),
    )
    assert result.value == 0.05
