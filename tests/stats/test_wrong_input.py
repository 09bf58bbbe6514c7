"""Errors name the argument, the row and what to give instead."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair.stats import (
    BettingMean,
    BinomialSkew,
    Distance,
    FairPairRatio,
    MaxPairwiseDifference,
    MaxPairwiseRatio,
    Mean,
    MeanAbsLogRatio,
    MeanDifference,
    MeanLogRatio,
    MeanMaximum,
    PairedDifference,
    RankBiserial,
    RateDifference,
    RateRatio,
    Scaled,
    rate_gaps,
)


def log_ratio(rows):
    return MeanLogRatio.of_sums(rows, lambda sums: np.log(sums[:, :1] / sums[:, 1:]))


def gaps(hits, groups, **changed):
    chosen = {"counted": [1] * len(groups), "against": "pairs", "factor": 1.0} | changed
    return rate_gaps(hits, groups=groups, **chosen)


def fairpair(matrix, first=1):
    return FairPairRatio.of_dissimilarities([matrix], [first])


def associations(counts, **options):
    return Distance.of_associations(counts, **options)


def between(one, other):
    return PairedDifference.between(one, other, folded=False)


MEAN = Mean.of_values
DISTANCE = Distance.of_distributions
RATIO = RateRatio.of_outcomes([1, 0], [1, 1])
SMALLER = RateRatio.of_outcomes([1, 0], [1, 1], form="smaller")
WRONG = [
    (lambda: Mean.of_rows([[0.1, 0.2], [0.3, math.nan]]), "row 1, generation 1 is nan"),
    (lambda: Mean.of_rows([[0.1], [0.3, 1.2]]), r"generation 1 is 1.2; give a number in \[0, 1\]"),
    (lambda: Mean.of_rows([[0.1], []]), "row 1 has no generation"),
    (lambda: Mean.of_rows([]), "rows is empty"),
    (lambda: Mean.of_rows([[[0.1]], [[0.2], [0.3]]]), "row 0 has 2 dimensions"),
    (lambda: Mean.of_rows([[1.0, 0.5]], outcomes=True), r"is 0\.5; outcomes are 0 or 1"),
    (lambda: Mean.of_rows([[0.1, 0.2], [0.3]], population="fixed"), "row 1 has 1 generation; a"),
    (lambda: Mean.of_indicators([1, 0, 0.5]), r"values row 2 is 0\.5; outcomes are 0 or 1"),
    (lambda: MEAN([0.0, 3.0]), "values row 1 is 3"),
    (lambda: MEAN([0.5, 0.5], generations=[1, 0]), "generations of row 1 are 0; give at least 1"),
    (
        lambda: MEAN([0.5] * 2, generation_variance=[0.1], generations=2),
        "has 1 rows, values has 2",
    ),
    (lambda: MEAN([0.5, 0.6], generations=4, population="fixed"), "needs generation_variance"),
    (lambda: MEAN([0.5], bounds=(0.0, math.inf)), "give a finite range"),
    (lambda: MEAN([0.5], bounds=(1.0, 1.0)), "give a finite range"),
    (lambda: MeanMaximum.of_generations([[0.1, 0.2], [0.3]]), "row 1 has 1 generations and row 0"),
    (lambda: MeanMaximum.of_generations([[0.1, math.nan]]), "row 0, generation 1 is nan"),
    (lambda: MeanMaximum.of_generations([[0.1]], population="fixed"), "row 0 has 1 generation"),
    (lambda: RateDifference.of_outcomes([], [1]), "x_a has no rows"),
    (lambda: RateDifference.of_outcomes([1], []), "x_b has no rows"),
    (lambda: RateDifference.of_outcomes([1], [0, math.nan]), "x_b row 1 is nan"),
    (lambda: RateRatio.of_outcomes([1, 0], []), "x_b has no rows"),
    (lambda: MeanDifference.of_scores([0.1, 0.2], [0.1, 3.0]), "x_b row 1 is 3"),
    (lambda: RankBiserial.of_scores([], [1]), "scores_a has no rows"),
    (lambda: RankBiserial.of_scores([1], [0, math.nan]), "scores_b row 1 is nan; give a finite"),
    (lambda: RankBiserial.of_scores([math.inf], [0]), "scores_a row 0 is inf; give a finite"),
    (lambda: MaxPairwiseDifference.of_pairs({}), "no pairs"),
    (lambda: MaxPairwiseRatio.of_pairs({}), "forms none"),
    (lambda: MaxPairwiseRatio.of_pairs({"a": RATIO, "b": SMALLER}), "forms ratio, smaller"),
    (lambda: DISTANCE([], [0.1]), "rows_a has no rows"),
    (lambda: DISTANCE([0.1, 1.4], [0.1]), r"rows_a row 1 holds 1.4; give a number in \[0, 1\]"),
    (lambda: DISTANCE([0.1, 0.2], [0.1, math.nan]), "rows_b row 1 holds nan"),
    (lambda: DISTANCE([[0.1], []], [0.1]), "rows_a row 1 has no score"),
    (lambda: DISTANCE([0.1, 0.2], [0.1], paired=True), "rows_a has 2 rows and rows_b has 1 rows"),
    (
        lambda: DISTANCE([0.1, 0.2], [0.1], units_a=["x"]),
        "units of rows_a has 1 labels for 2 rows",
    ),
    (
        lambda: DISTANCE([0, 1], [0, 1], units_a=["x", "y"], units_b=["x", "z"], paired=True),
        "row 1 is labelled 'y' on one side and 'z' on the other",
    ),
    (
        lambda: Distance.of_binomials([1, 0], [3, 0]),
        "trials row 1 is 0; give whole numbers from 1",
    ),
    (lambda: Distance.of_binomials([4], [3]), "successes row 0 is 4, more than its 3 trials"),
    (lambda: Distance.of_binomials([-1], [3]), "successes row 0 is -1"),
    (lambda: Distance.of_binomials([1], [3, 3]), "successes has 1 rows, trials has 2"),
    (lambda: BinomialSkew.of_binomials([0.5], [2]), "successes row 0 is 0.5"),
    (lambda: Distance.of_divergence(list("xyz"), list("abc")), "3 groups; a divergence compares"),
    (lambda: Distance.of_divergence("xy", ["a", "b"]), "categories is 'xy'; give a list"),
    (lambda: gaps([0, 1], ["a", "a"]), "groups holds 1 group"),
    (lambda: gaps([0, 1], "ab"), "groups is 'ab'; give a list"),
    (lambda: gaps([0, 2], ["a", "b"]), "none larger than counted"),
    (lambda: gaps([0], ["a", "b"]), "one number per row"),
    (lambda: gaps([1, 0], ["a", "b"], counted=[1, 0]), "group 'b' has no counted row"),
    (lambda: gaps([0, 1], ["a", "b"], against=["z"]), "'z' is no group"),
    (lambda: gaps([0, 1], ["a", "b"], against=("a", "b")), "leave one out"),
    (lambda: associations(np.zeros((3, 2, 2))), "no word was seen"),
    (lambda: associations(np.ones((3, 2))), "counts has 2 dimensions"),
    (lambda: associations(-np.ones((3, 2, 1))), "counts of response 0"),
    (lambda: associations(np.ones((3, 2, 1)), reference=[0.5, 0.6]), "2 shares that add up to 1"),
    (lambda: associations(np.ones((3, 2, 1)), population="fixed"), "response 0 is the only one"),
    (lambda: log_ratio([1.0, 2.0]), "give one row of sums per text"),
    (lambda: log_ratio([[1.0, 2.0], [1.0, -1.0]]), "row 1 holds"),
    (lambda: log_ratio([[1.0, 2.0], [1.0, math.inf]]), "row 1 holds"),
    (lambda: MeanAbsLogRatio.of_log_ratio(log_ratio([[1.0, 0.0]])), "no log ratio is finite"),
    (lambda: fairpair(np.zeros((2, 3))), "not a square"),
    (lambda: fairpair(np.zeros((3, 3))), "prompt 0 has 1 and 2"),
    (lambda: fairpair(-np.ones((4, 4)), 2), "negative or missing"),
    (lambda: FairPairRatio.of_dissimilarities([], []), "0 prompts"),
    (lambda: FairPairRatio.of_prompts([0.1], [0.1, 0.2], [0.1], answers=5), r"have \[1, 2, 1\] r"),
    (lambda: FairPairRatio.of_prompts([-0.1], [0.1], [0.1], answers=5), "between row 0"),
    (lambda: BettingMean.of_values([0.1, 0.2], bounds=(0, math.inf)), "give a finite range"),
    (lambda: Scaled.times(MEAN([0.1]), 0.0), "factor is 0"),
    (lambda: Scaled.times(MEAN([0.1]), math.nan), "factor is nan"),
    (lambda: between(MEAN([0.1] * 3), MEAN([0.1] * 2)), "3 rows and the baseline 2"),
    (lambda: between(MEAN([0.1], units=["a"]), MEAN([0.1], units=["b"])), "different units"),
    (lambda: between(MEAN([0.1]), RATIO), "a Mean cannot be compared with a RateRatio"),
]


@pytest.mark.parametrize(("call", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
