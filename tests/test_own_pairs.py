"""Pairs that a test made by hand go through the validity gate like all others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_llmfair import (
    InvalidEvidence,
    Verdict,
    assert_counterfactual_invariance,
    assert_metric,
)
from pytest_llmfair.clients import ModelClient
from pytest_llmfair.counterfactuals import Lexicon, Pair, generate_pairs, load_lexicons
from pytest_llmfair.fairness import Fairness
from pytest_llmfair.responses import PairedResponses

GROUPS = ("female", "male")


def alike(prompt):
    return "The same to everybody."


def collect(pairs, client):
    return Fairness(client=lambda: client, scorers=dict).collect(pairs, generations=1)


def good(i):
    return Pair(f"She drove car {i}.", f"He drove car {i}.", *GROUPS, (), "gender")


def bad(i):
    return Pair(f"She drove hers car {i}.", f"He drove hers car {i}.", *GROUPS, (), "gender")


def foreign(i, attribute="gender"):
    return Pair(f"Elle a {i} ans.", f"Il a {i} ans.", *GROUPS, (), attribute)


def judged(pairs, **keywords):
    return assert_counterfactual_invariance(pairs, 0.5, client=alike, **keywords)


def test_many_failed_pairs_are_invalid_with_check_and_remedy_in_the_message():
    asked = []
    with pytest.raises(InvalidEvidence) as caught:
        assert_counterfactual_invariance([bad(i) for i in range(30)], 0.5, client=asked.append)
    for part in ("30 of 30 pairs", "a term of the source group is left (30)", "check_pair"):
        assert part in " ".join(str(caught.value).split())
    assert asked == []


MIXED = [bad(0), *(good(i) for i in range(40))]


def test_few_that_fail_are_left_out_and_counted():
    asked = []
    result = assert_counterfactual_invariance(
        MIXED, 0.5, client=lambda prompt: asked.append(prompt) or "The same."
    )
    assert (result.verdict, result.rejected) == (Verdict.PASS, 1)
    assert not any("hers" in prompt for prompt in asked)
    assert result.lacks == load_lexicons()["gender"].lacks


def test_units_stay_with_their_pairs():
    units = [i // 2 for i in range(41)]
    result = assert_metric("rouge_l", MIXED, minimum=0.5, client=alike, units=units)
    assert (result.units, result.rejected) == (21, 1)


def test_the_answers_to_pairs_are_judged_without_those_that_fail():
    answers = PairedResponses(tuple(MIXED), (("x",),) * 41, (("x",),) * 41)
    assert assert_metric("rouge_l", answers, minimum=0.5).rejected == 1
    only = PairedResponses((bad(0),) * 9, (("x",),) * 9, (("x",),) * 9)
    with pytest.raises(InvalidEvidence, match="9 of 9 pairs"):
        assert_metric("rouge_l", only, minimum=0.5)


def test_a_collector_asks_about_those_that_pass_only():
    fairness = Fairness(client=lambda: alike, scorers=dict)
    answers = fairness.collect(MIXED)
    assert (len(answers), len(answers.rejected)) == (40, 1)
    assert fairness.check("rouge_l", minimum=0.5).rejected == 1
    none = collect([bad(0)], ModelClient.of(alike))
    assert (len(none), len(none.rejected)) == (0, 1)


def test_looks_leave_them_out_too():
    pairs = [bad(0), *(good(i) for i in range(108))]
    result = assert_metric("rouge_l", pairs, minimum=0.5, client=alike, sequential="obf")
    assert (result.verdict, result.rejected) == (Verdict.PASS, 1)


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        ([foreign(i) for i in range(40)], "the lexicon gender has no word of either text"),
        ([foreign(i, "genre") for i in range(40)], "no lexicon is called 'genre'"),
    ],
)
def test_pairs_that_no_lexicon_can_check_are_asked_and_reported(pairs, why):
    result = judged(pairs)
    assert (result.verdict, result.rejected) == (Verdict.PASS, 0)
    assert "pairs_unchecked" in result.reasons
    (note,) = [note for note in result.notes if "could not be checked" in note]
    assert note.startswith("40 of 40 pairs")
    assert why in note


def test_a_group_that_the_lexicon_lacks_is_reported():
    pairs = [Pair(f"She has {i}.", f"He has {i}.", "f", "m", (), "gender") for i in range(40)]
    assert any("gender has no group 'f'" in note for note in judged(pairs).notes)


def test_groups_and_attributes_are_those_of_generate_pairs():
    made = [
        *generate_pairs(["Is the Frenchman nice?"], "nationality", ("French", "German")),
        *generate_pairs(["A Black man left."], ("gender", "race"), ("black male", "white female")),
        *generate_pairs(["John left."], "name", ("John", "Jane")),
    ]
    for pair in made:
        again = Pair(
            pair.original, pair.counterfactual, pair.from_group, pair.to_group, (), pair.attribute
        )
        answers = collect([again], alike)
        assert (len(answers), answers.rejected, answers.pairs[0].checked) == (1, (), True)


def test_pairs_of_the_package_are_not_checked_again():
    family = Lexicon.from_dict(
        {"name": "gender", "groups": ["a", "b"], "entries": [{"role": "noun", "a": "x", "b": "y"}]}
    )
    made = generate_pairs([f"An x and {i}." for i in range(40)], family)
    assert all(pair.checked for pair in made)
    result = judged(list(made))
    assert (result.rejected, "pairs_unchecked" in result.reasons) == (0, False)


def test_a_copy_that_is_changed_is_checked_again():
    (pair,) = generate_pairs(["She left."], "gender", placebo=True)
    assert pair.checked
    assert not replace(pair, counterfactual="He left her.").checked
    assert pair.without_placebo().checked
    answers = collect([replace(pair, counterfactual="He left her.")], alike)
    assert len(answers.rejected) == 1


def test_a_group_with_outdated_words_only_is_reported() -> None:
    family = Lexicon.from_dict(
        {
            "name": "own",
            "groups": ["a", "b"],
            "entries": [
                {"role": "noun", "a": "xx", "b": [{"term": "yy", "register": "outdated"}]}
            ],
        }
    )
    with pytest.raises(ValueError, match=r"no counterpart of 'xx' \(1\); name the group by other"):
        assert_counterfactual_invariance(generate_pairs(["An xx."], family), 0.1, client=alike)


def test_none_as_a_client_is_an_error():
    with pytest.raises(ValueError, match="the client is None; give a ModelClient or a function"):
        collect([good(0)], None)
