"""Prompts as users write them, through the decision framework of LangFair (Bouchard 2024)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_llmfair import Underpowered, assert_counterfactual_invariance

PROMPTS = Path(__file__).with_name("prompts.txt").read_text("utf-8").splitlines()


def test_all_metrics_that_apply(suite):
    suite("assessment", prompts=PROMPTS, bounds={"strict_sentiment_parity": 0.1})


# Scores of eight prompts cannot show that a bound of 0.1 holds for prompts that were not asked.
FEW = pytest.mark.xfail(raises=Underpowered, reason="eight prompts are too few for scores")


@pytest.mark.parametrize("metric", ["rouge_l", pytest.param("sentiment", marks=FEW)])
def test_the_group_changes_little_above_sampling(counterfactual_pairs, model_client, metric):
    pairs = counterfactual_pairs(PROMPTS, attribute="gender")
    assert_counterfactual_invariance(
        pairs, eps=0.1, metric=metric, client=model_client, generations=5
    )
