"""Whom does COMPAS misjudge? Error rates of a score for the risk of a new crime, by race.

Published (ProPublica, 2016): Black defendants who were not charged again had been rated high
nearly twice as often as White ones (45 and 23 %), and White defendants who were charged again had
been rated low more often (48 and 28 %). The vendor (Northpointe, 2016): a high score means the
same for both groups. Ours: the differences in both error rates are proven, and the shares of wrong
scores are proven to differ by less than 0.1. Both claims hold at once. For
the article's 430 to 1,200 people would have been enough, for the vendor's 1,700 to 9,100.
"""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
import yaml

from pytest_llmfair import (
    BoundExceeded,
    assert_false_discovery_rate_difference_within,
    assert_false_negative_rate_difference_within,
    assert_false_negative_rate_ratio_within,
    assert_false_omission_rate_difference_within,
    assert_false_positive_rate_difference_within,
    assert_false_positive_rate_ratio_within,
)

GROUPS = ("Black", "White")
# Ours; no bound was published. The logarithm of a ratio: about 0.8 to 1.25 is allowed.
DIFFERENCE, LOG_RATIO = 0.1, 0.22
found_by_the_article = pytest.mark.xfail(
    strict=True, raises=BoundExceeded, reason="the article found it"
)


@functools.cache
def counts():
    path = Path(__file__).parent / "data" / "compas.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def people():
    """Return one row per person: charged again, scored high, and group."""
    rows = [
        (charged, high, group)
        for group in GROUPS
        for high, level in ((1, "high"), (0, "low"))
        for charged, what in ((1, "charged"), (0, "not_charged"))
        for _ in range(counts()[group][f"{level}_and_{what}"])
    ]
    charged, high, groups = (list(column) for column in zip(*rows, strict=True))
    return {"y_true": charged, "y_pred": high, "groups": groups}


@pytest.mark.parametrize(
    ("rate", "wrong", "right"),
    [
        ("false_positive_rate", "high_and_not_charged", "low_and_not_charged"),
        ("false_negative_rate", "low_and_charged", "high_and_charged"),
    ],
)
@pytest.mark.parametrize("group", GROUPS)
def test_the_published_rates_come_out_of_the_counts(rate, wrong, right, group):
    own = counts()[group]
    percent = 100 * own[wrong] / (own[wrong] + own[right])
    assert percent == pytest.approx(counts()["published"][rate][group], abs=0.005)


@found_by_the_article
def test_people_without_a_new_charge_are_rated_high_alike(people):
    assert_false_positive_rate_difference_within(**people, bound=DIFFERENCE, unit="defendant")


@found_by_the_article
def test_people_with_a_new_charge_are_rated_low_alike(people):
    assert_false_negative_rate_difference_within(**people, bound=DIFFERENCE, unit="defendant")


@found_by_the_article
def test_the_ratio_of_false_positive_rates_is_near_one(people):
    assert_false_positive_rate_ratio_within(**people, bound=LOG_RATIO, unit="defendant")


@found_by_the_article
def test_the_ratio_of_false_negative_rates_is_near_one(people):
    assert_false_negative_rate_ratio_within(**people, bound=LOG_RATIO, unit="defendant")


def test_a_high_score_is_wrong_alike(people):
    """The vendor's answer: of the people rated high, about as many are charged again."""
    result = assert_false_discovery_rate_difference_within(
        **people, bound=DIFFERENCE, unit="defendant"
    )
    assert result.verdict.value == "PASS"


def test_a_low_score_is_wrong_alike(people):
    result = assert_false_omission_rate_difference_within(
        **people, bound=DIFFERENCE, unit="defendant"
    )
    assert result.verdict.value == "PASS"
