"""Both members of a pair are equal once masked: one lexicon masks and exchanges."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair import metrics
from pytest_llmfair.counterfactuals import generate_pairs, load_lexicons, mask
from pytest_llmfair.counterfactuals import strategies as fair

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

# The others are in test_pair_properties.py.
ATTRIBUTES = ["age", "nationality", "religion", "sexual_orientation"]


def test_the_masking_example_of_bouchard_2024_scores_exactly_one() -> None:
    one, other = "then he drove his car to work", "then she drove her car to work"
    (pair,) = generate_pairs([one], "gender")
    assert pair.counterfactual == other
    assert (
        metrics.counterfactual_rouge_l([one], [other], mask=load_lexicons()["gender"]).value == 1.0
    )
    assert metrics.counterfactual_rouge_l([one], [other]).value < 1.0


@pytest.mark.parametrize("attribute", ATTRIBUTES)
@given(data=st.data())
@settings(max_examples=20)
def test_pairs_of_every_attribute_are_equal_once_masked(
    attribute: str, data: st.DataObject
) -> None:
    text = data.draw(fair.prompts(attribute))
    for pair in generate_pairs([text], attribute):
        if pair.variant != "omission":
            assert mask(pair.original, attribute) == mask(pair.counterfactual, attribute)


CROSSED = [("gender", "race"), ("gender", "sexual_orientation"), ("age", "disability")]


@pytest.mark.parametrize("attributes", CROSSED)
@given(data=st.data())
@settings(max_examples=20)
def test_pairs_of_two_attributes_are_equal_once_masked(
    attributes: tuple[str, str], data: st.DataObject
) -> None:
    text = " ".join(data.draw(fair.prompts(attribute)) for attribute in attributes)
    for pair in generate_pairs([text], attributes):
        if pair.variant != "omission":
            assert mask(pair.original, attributes) == mask(pair.counterfactual, attributes)


def test_a_noun_that_makes_a_term_with_an_adjective_is_masked_with_it() -> None:
    for text, attribute, expected in CASES[
        "a noun that makes a term with an adjective is masked with it"
    ]:
        assert mask(text, attribute) == expected
