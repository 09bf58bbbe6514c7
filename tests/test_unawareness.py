"""Fairness through unawareness: the count decides, and says what it did not look for."""

from __future__ import annotations

import pytest

from pytest_llmfair import (
    BoundExceeded,
    Responses,
    Underpowered,
    Verdict,
    assert_fairness_through_unawareness,
    assert_fairness_through_unawareness_within,
    assert_metric,
    assert_not_worse,
)
from pytest_llmfair.counterfactuals import Lexicon, load_lexicons
from pytest_llmfair.fairness import Fairness
from pytest_llmfair.metrics import fairness_through_unawareness

UNAWARE = [f"Summarise report {i}." for i in range(100)]
TEAMS = Lexicon.from_dict(
    {
        "name": "team",
        "groups": ["red", "blue"],
        "entries": [{"role": "noun", "red": "redder", "blue": "bluer"}],
    }
)


def test_prompts_without_a_mention_pass_on_their_count():
    result = assert_fairness_through_unawareness(UNAWARE, "gender")
    assert (result.verdict, result.value, result.lower, result.upper) == (Verdict.PASS, 0, 0, 0)
    assert (result.units, result.population) == (100, "fixed")
    assert "names_not_checked" in result.reasons
    assert "names and other proxies are not checked" in result.notes[0]


def test_every_group_that_the_lexicons_lack_is_reported():
    english = [each for each in load_lexicons().values() if each.language == "en"]
    lacking = tuple(dict.fromkeys(group for each in english for group in each.lacks))
    result = assert_fairness_through_unawareness(UNAWARE)
    assert result.lacks == tuple(result.to_dict()["lacks"]) == lacking != ()
    assert " ".join(result.message(show_text="none").split()).count(
        f"not covered {', '.join(lacking)} (no words for these groups in the lexicon)"
    )


@pytest.mark.parametrize("keywords", [{}, {"method": "betting"}])
def test_the_general_assertions_report_them_too(keywords):
    result = assert_metric("FTU", UNAWARE, "gender", bound=0.2, **keywords)
    assert result.lacks == load_lexicons()["gender"].lacks


def test_they_are_reported_of_a_comparison_with_a_baseline():
    estimate = fairness_through_unawareness(UNAWARE, "gender")
    assert assert_not_worse(estimate, estimate, 0.2).lacks == load_lexicons()["gender"].lacks


def test_a_single_mention_fails_and_its_prompt_and_words_are_named():
    prompts = [*UNAWARE[:7], "Ask her, the woman."]
    with pytest.raises(BoundExceeded) as caught:
        assert_fairness_through_unawareness(prompts, "gender")
    said = " ".join(str(caught.value).split())
    assert "'her' (gender: female), 'woman' (gender: female) in prompt 7" in said
    assert caught.value.result.value == 1 / 8
    assert [example.prompts for example in caught.value.result.examples] == [(prompts[7],)]


def test_the_prompt_itself_is_shown_only_where_texts_may_be():
    with pytest.raises(BoundExceeded) as caught:
        assert_fairness_through_unawareness(["Ask her about invoices."], "gender")
    result = caught.value.result
    assert "invoices" in result.message(show_text="worst")
    assert "invoices" not in result.message(show_text="none")


def test_the_largest_share_is_inclusive():
    prompts = ["She reads."] * 11 + UNAWARE[:90]
    result = assert_fairness_through_unawareness(prompts[1:], "gender", max_share=0.1)
    assert (result.verdict, result.value) == (Verdict.PASS, 0.1)
    with pytest.raises(BoundExceeded):
        assert_fairness_through_unawareness(prompts, "gender", max_share=0.1)


def test_a_sample_is_judged_on_its_interval():
    prompts = [*UNAWARE[:20]]
    with pytest.raises(Underpowered):
        assert_fairness_through_unawareness(
            prompts, "gender", max_share=0.05, population="sampled"
        )
    result = assert_fairness_through_unawareness(
        UNAWARE, "gender", max_share=0.05, population="sampled"
    )
    assert result.lower == 0 < result.upper < 0.05


def test_no_sample_proves_a_share_of_zero():
    with pytest.raises(ValueError, match="give max_share above 0"):
        assert_fairness_through_unawareness(UNAWARE, "gender", population="sampled")


@pytest.mark.parametrize(
    ("prompts", "attribute", "keywords", "said"),
    [
        ([], "gender", {}, "prompts is empty"),
        ("She reads.", "gender", {}, "prompts is a str"),
        (["It rains.", 5], "gender", {}, "row 1 is '5', a int"),
        (["It rains.", None], "gender", {}, "row 1 is 'None'"),
        (["It rains.", " \n"], "gender", {}, "row 1 is empty"),
        (["It rains."], "gendre", {}, "did you mean gender"),
        (["It rains."], [], {}, "attribute is \\[\\]"),
        (["It rains."], 5, {}, "attribute is 5"),
        (["It rains."], "gender", {"max_share": 1.0}, "max_share is 1, which cannot be a test"),
        (["It rains."], "gender", {"max_share": "a"}, "max_share is 'a'; give a number in"),
        (["It rains."], "gender", {"population": "all"}, "choose fixed or sampled"),
    ],
)
def test_what_cannot_be_judged_is_an_error(prompts, attribute, keywords, said):
    with pytest.raises(ValueError, match=said):
        assert_fairness_through_unawareness(prompts, attribute, **keywords)


def test_several_attributes_are_looked_for_at_once():
    prompts = ["She reads.", "The Muslim teacher reads.", "It rains."]
    assert fairness_through_unawareness(prompts, ["gender", "religion"]).value == 2 / 3
    assert fairness_through_unawareness(prompts, ("gender",)).value == 1 / 3


def test_without_an_attribute_every_english_lexicon_is_asked():
    english = [each.name for each in load_lexicons().values() if each.language == "en"]
    prompts = ["She reads.", "The Muslim teacher reads.", "It rains."]
    found, asked = (
        {key: (row.value, row.n) for key, row in estimate.groups.items()}
        for estimate in (
            fairness_through_unawareness(prompts),
            fairness_through_unawareness(prompts, english),
        )
    )
    assert found == asked
    assert len(found) > 1
    assert {"age", "disability", "gender", "race", "religion"} < set(english)


def test_a_lexicon_of_ones_own_is_an_attribute():
    with pytest.raises(BoundExceeded, match=r"'Redder'\s+\(team:\s+red\)\s+in\s+prompt\s+0"):
        assert_fairness_through_unawareness(["Redder ones win."], TEAMS)


def test_words_are_read_in_their_context():
    assert fairness_through_unawareness(["A black manuscript."], "race").value == 0


def test_groups_have_their_share():
    rows = fairness_through_unawareness(["She reads.", "He reads.", "She sings."], "gender").groups
    assert {key: row.value for key, row in rows.items()} == {
        ("gender", "female"): 2 / 3,
        ("gender", "male"): 1 / 3,
    }


def test_equal_prompts_are_one_unit():
    assert fairness_through_unawareness(["She reads."] * 5 + UNAWARE, "gender").sample.units == 101


def test_the_general_assertions_take_it():
    result = assert_metric("FTU", UNAWARE, "gender", bound=0.05)
    assert result.metric == "fairness_through_unawareness (gender)"
    again = assert_fairness_through_unawareness_within(UNAWARE, attribute="gender", bound=0.05)
    assert (again.value, again.upper) == (result.value, result.upper)


def test_a_check_takes_it_and_refuses_answers():
    fairness = Fairness(client=dict, scorers=dict)
    result = fairness.check("fairness_through_unawareness", UNAWARE, "gender", bound=0.05)
    assert result.verdict is Verdict.PASS
    with pytest.raises(ValueError, match="give the prompts alone"):
        fairness.check("FTU", Responses(("a",), (("b",),)), bound=0.05)
