"""Pairs of templates: the filler that templates share is the sampling unit, not the fill."""

from __future__ import annotations

from typing import Any

from pytest_llmfair import assert_metric
from pytest_llmfair.counterfactuals import Pairs, generate_pairs, pairs_from_templates
from pytest_llmfair.judging.pairs import pair_units
from pytest_llmfair.judging.result import Result
from pytest_llmfair.responses import PairedResponses

JOBS = ["nurse", "cook", "pilot", "lawyer", "baker", "farmer", "judge", "tailor"]
SHARED = ["{Person} works as {a:job}.", "My friend, {a:job}, met {person}."]


def pairs(templates: list[str] = SHARED) -> Pairs:
    return pairs_from_templates(templates, fillers={"job": JOBS, "trade": ["weaver", "potter"]})


def checked(made: Pairs, **options: Any) -> Result:
    """Judge answers that say something else to the women among nurses and cooks only."""
    answers = PairedResponses(
        tuple(made),
        tuple(("no" if pair.filler in JOBS[:2] else "yes",) for pair in made),
        tuple(("yes",) for _ in made),
    )
    return assert_metric(
        "weak_sentiment_parity",
        answers,
        0.9,
        mode="point",
        scorer=lambda texts: [float(text == "no") for text in texts],
        **options,
    )


def test_one_filler_in_several_templates_is_one_unit() -> None:
    assert len(set(pair_units(pairs()))) == len(JOBS)


def test_fillers_that_differ_by_template_are_units_with_their_template() -> None:
    made = pairs(["{Person} works as {a:job}.", "{Person} is {a:trade}."])
    assert len(set(pair_units(made))) == len(JOBS) + 2


def test_templates_without_fillers_are_units() -> None:
    assert len(set(pair_units(pairs_from_templates(["{Person} left.", "{Person} came."])))) == 2


def test_prompts_as_they_stand_are_units_as_before() -> None:
    assert (
        len(set(pair_units(generate_pairs(["She left.", "He left.", "She came."], "gender")))) == 2
    )


def test_the_result_names_fillers_and_says_that_templates_are_fixed() -> None:
    result = checked(pairs())
    assert result.estimate.sample.units == len(JOBS)
    assert result.unit == "filler"
    assert any("the 2 templates share 8 fillers" in note for note in result.notes)


def test_units_of_the_caller_come_first() -> None:
    made = pairs()
    result = checked(made, units=range(len(made)))
    assert result.estimate.sample.units == len(made)
    assert result.unit == "pair"
    assert not any("templates share" in note for note in result.notes)


def test_one_template_says_nothing_about_templates() -> None:
    result = checked(pairs(SHARED[:1]))
    assert (result.estimate.sample.units, result.unit) == (len(JOBS), "pair")
