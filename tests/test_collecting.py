from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pytest_llmfair import assert_counterfactual_invariance, assert_metric
from pytest_llmfair.counterfactuals import Pair, generate_pairs
from pytest_llmfair.judging.collecting import collect
from pytest_llmfair.judging.sequential import in_looks
from pytest_llmfair.responses import CutAnswer, Missing, PairedResponses, Responses, joined_origins
from tests.judged import result_of

SCORED = ("toxic_fraction", "expected_maximum_toxicity")
WORDS = {"group_words": {"male": ["he"], "female": ["she"]}, "target_words": ["nurse"]}
PAIRS = generate_pairs(["She sings.", "He sings.", "The woman reads."], attribute="gender")


def length_score(texts):
    """Score texts by their length, to have something a reader can count."""
    return np.array([min(len(text), 10) / 10 for text in texts])


def judged(name, data, max_missing=0.05, **keywords):
    """Return the result, whatever the verdict."""
    bound = {"minimum": 0.5} if name == "counterfactual_rouge_l" else {"bound": 0.5}
    if name in SCORED:
        keywords["scorer"] = length_score
    return result_of(assert_metric, name, data, **bound, **keywords, max_missing=max_missing)


def arguments(name, data, max_missing=0.05, **keywords):
    """Return what the metric is called with."""
    return judged(name, data, max_missing, **keywords).evidence


def test_prompts_are_asked_in_order():
    responses = collect(["one", "two"], lambda prompt: prompt.upper(), 2)
    assert responses == Responses(
        ("one", "two"), (("ONE", "ONE"), ("TWO", "TWO")), responses.model
    )


def test_pairs_are_asked_on_both_sides():
    responses = collect(PAIRS, lambda prompt: prompt, 1)
    assert list(responses) == [
        (("She sings.",), ("He sings.",)),
        (("He sings.",), ("She sings.",)),
        (("The woman reads.",), ("The man reads.",)),
    ]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "no prompt"),
        (generate_pairs(["It rains."], "gender"), "none of 1 prompts names a group"),
        ("one text", "one text"),
        (["a", 3], "item 1 is a int"),
        (["a", PAIRS[0]], "item 1 is a Pair"),
        ([("a", "b")], r"item 0 is a tuple; .*; two prompts make a pair as Pair\(original, "),
        (None, "prompts are a NoneType; give a list"),
        ({"first": "a", "second": "b"}, "prompts are a dict; give a list"),
        ({"a", "b"}, "prompts are a set; give a list"),
    ],
)
def test_what_cannot_be_asked_is_named(data, said):
    with pytest.raises(ValueError, match=said):
        collect(data, lambda prompt: prompt, 1)


def test_the_first_side_is_always_the_same_group_and_a_mirror_image_the_same_unit():
    responses = collect(PAIRS, lambda prompt: prompt, 1)
    found = arguments("counterfactual_rouge_l", responses)
    assert found.labels == ("female", "male")
    women, men = zip(*found.outputs, strict=True)
    assert women == (["She sings."], ["She sings."], ["The woman reads."])
    assert men == (["He sings."], ["He sings."], ["The man reads."])
    units = found.keywords["units"]
    assert units[0] == units[1] != units[2]


def test_missing_answers_are_left_out_and_counted_by_group():
    responses = PairedResponses(
        tuple(PAIRS), (("a",), (Missing("empty"),), ("c",)), (("a",), ("b",), (Missing("error"),))
    )
    found = judged("counterfactual_rouge_l", responses, max_missing=1.0)
    assert found.evidence.outputs == [(["a"], ["a"])]
    # The second pair starts from the male side: its missing answer belongs to that group.
    assert found.missing_by_group == {"female": {}, "male": {"empty": 1, "error": 1}}
    assert any("2 of 3 pairs left out" in note for note in found.notes)
    # Both turn out to be answers of one group; where the other lost one, it is named too.
    assert "missing for male" in judged("counterfactual_rouge_l", responses).notes[0]
    lost = PairedResponses(tuple(PAIRS[:1]), ((Missing("empty"),),), ((Missing("error"),),))
    said = "answers are missing for female (1 empty) and 1 of 1 for male (1 error), more than"
    assert said in judged("counterfactual_rouge_l", lost).notes[0]


def test_too_many_missing_answers_make_the_evidence_invalid():
    responses = Responses(("a", "b"), (("yes", "yes"), ("yes", Missing("refused"))))
    found = judged("toxic_fraction", responses)
    assert "missing" in found.reasons
    assert "1 of 4 answers are missing for all (1 refused)" in found.notes[0]
    assert "missing" not in judged("toxic_fraction", responses, max_missing=0.25).reasons


def test_one_answer_to_everything_is_uninformative():
    found = judged("toxic_fraction", Responses(("a", "b"), (("No.",), ("No.",))))
    assert "uninformative" in found.reasons


def test_repeats_of_a_deterministic_model_count_once():
    found = judged("toxic_fraction", Responses(("a", "b"), (("x", "x"), ("yy", "yy"))))
    assert found.evidence.args == ([[0.1], [0.2]],)
    assert "identical_repeats" in found.reasons


def test_equal_short_answers_to_some_prompts_are_not_a_deterministic_model():
    found = arguments("toxic_fraction", Responses(("a", "b"), (("x", "x"), ("yy", "y"))))
    assert found.args == ([[0.1, 0.1], [0.2, 0.1]],)


def test_equal_prompts_are_one_unit():
    found = arguments("toxic_fraction", Responses(("a", "a", "b"), (("x",), ("yy",), ("x",))))
    assert found.keywords["units"] == ["a", "a", "b"]


def test_pronouns_of_equal_prompts_are_counted_together():
    responses = Responses(("a", "a", "b"), (("he", "she"), ("he",), ("they", "she")))
    found = arguments("ruted_neutrality", responses)
    assert found.args == ({"a": 2, "b": 0}, {"a": 3, "b": 1})
    assert found.keywords["total_counts"] == {"a": 3, "b": 2}


def test_both_members_of_a_pair_are_scored_as_prompts_of_one_unit():
    responses = collect(PAIRS[:1], lambda prompt: prompt[:3], 1)
    found = arguments("toxic_fraction", responses)
    assert found.args == ([[0.3], [0.3]],)
    assert found.keywords["units"][0] == found.keywords["units"][1]


@pytest.mark.parametrize(
    ("name", "responses", "said"),
    [
        ("counterfactual_rouge_l", Responses(("a",), (("x",),)), "collect answers to pairs"),
        ("rabbi", Responses(("a",), (("x",),)), "takes arrays"),
        ("ruted_neutrality", collect(PAIRS, str, 1), "collect answers to prompts"),
    ],
)
def test_answers_of_the_wrong_kind_are_an_error_with_a_remedy(name, responses, said):
    with pytest.raises(ValueError, match=said):
        arguments(name, responses)


def test_texts_for_a_metric_of_scores_are_scored():
    found = arguments("toxic_fraction", ["four", "sixsix"])
    assert found.args == ([[0.4], [0.6]],)


def test_arrays_are_handed_on_as_they_are():
    scores = np.array([0.1, 0.9])
    assert arguments("toxic_fraction", scores).args[0] is scores


def test_missing_answers_name_the_most_common_error():
    answers = [
        ("fine",),
        (Missing("error", "busy"),),
        *[(Missing("error", "server is down"),)] * 2,
    ]
    found = judged("toxic_fraction", Responses(tuple("abcd"), tuple(answers)))
    assert found.notes[0].endswith(
        "more than max_missing = 5% (a rule about data quality, not a test). "
        "Most common error: server is down. "
        "Fix the client, or accept more missing answers with max_missing."
    )


def test_missing_answers_without_a_detail_add_nothing():
    found = judged("toxic_fraction", Responses(("a", "b"), (("fine",), (Missing("empty"),))))
    assert found.notes[0] == (
        "1 of 2 answers are missing for all (1 empty), more than max_missing = 5% "
        "(a rule about data quality, not a test). "
        "Fix the client, or accept more missing answers with max_missing."
    )


def test_prompts_that_miss_an_answer_are_left_out_of_a_maximum():
    responses = Responses(
        ("one", "two", "three"), (("a", "b"), ("c", Missing("refused")), ("d", "d")), "m"
    )
    found = judged("expected_maximum_toxicity", responses, max_missing=0.5)
    assert found.evidence.args == ([[0.1, 0.1], [0.1, 0.1]],)
    assert found.evidence.keywords["units"] == ["one", "three"]
    assert any("1 of 3 prompts left out" in note for note in found.notes)


def test_identical_repeats_do_not_shorten_the_rows_of_a_maximum():
    responses = Responses(("one", "two"), (("a", "a"), ("bb", "bb")), "m")
    assert arguments("expected_maximum_toxicity", responses).args == ([[0.1, 0.1], [0.2, 0.2]],)
    assert arguments("toxic_fraction", responses).args == ([[0.1], [0.2]],)


def test_both_sides_of_a_pair_are_left_out_of_a_maximum_when_one_misses_an_answer():
    twins = PairedResponses(
        tuple(PAIRS[:2]),
        (("a", "b"), ("c", "d")),
        (("e", Missing("refused")), ("f", "g")),
        "m",
    )
    found = arguments("expected_maximum_toxicity", twins, max_missing=0.5)
    assert found.args == ([[0.1, 0.1], [0.1, 0.1]],)


def test_texts_are_measured_one_by_one_with_their_prompt_as_unit():
    responses = Responses(("one", "two"), (("a", Missing("refused")), ("b", "c")), "m")
    found = arguments("stereotypical_associations", responses, 0.5, **WORDS)
    assert found.args == (["a", "b", "c"],)
    assert found.keywords["units"] == ["one", "two", "two"]
    labelled = arguments("stereotypical_associations", responses, 0.5, units=["u", "v"], **WORDS)
    assert labelled.keywords["units"] == ["u", "v", "v"]


def test_all_pairs_of_one_prompt_are_one_unit():
    def made(original, counterfactual):
        return Pair(original, counterfactual, "a", "b", (), "x")

    # Two variants of a twin, a prompt whose twin is a twin of another prompt, and one alone.
    pairs = [made("p", "q"), made("p", "q explicitly"), made("r", "q"), made("s", "t")]
    answers = PairedResponses(tuple(pairs), (("x",),) * 4, (("y",),) * 4)
    units = arguments("counterfactual_rouge_l", answers).keywords["units"]
    assert units[0] == units[1] == units[2] != units[3]


def test_pairs_that_share_a_prompt_count_as_one_unit_and_are_asked_in_one_look():
    pairs = [
        replace(pair, counterfactual=twin)
        for i in range(40)
        for pair in generate_pairs([f"She reads {i}."], attribute="gender")
        for twin in (pair.counterfactual, f"A man reads {i}.")
    ]
    answers = PairedResponses(tuple(pairs), (("x",),) * 80, (("y",),) * 80)
    found = arguments("counterfactual_rouge_l", answers)
    assert len(set(found.keywords["units"])) == 40
    for look in in_looks(pairs, 5, seed=0):
        assert {i for i in look if i % 2} == {i + 1 for i in look if i % 2 == 0}


def test_answers_that_were_cut_are_judged_and_counted_by_group():
    responses = PairedResponses(
        tuple(PAIRS[:2]), (("one",), (CutAnswer("two"),)), ((CutAnswer("three"),), ("four",))
    )
    found = judged("counterfactual_rouge_l", responses)
    assert found.cut == {"length": 2}
    assert found.missing_by_group == {"female": {}, "male": {}}
    (said,) = (note for note in found.notes if "length" in note)
    assert said.startswith("2 of 4 answers were cut at the length limit (length: female 0")


def test_without_a_cut_answer_there_is_no_note_about_cuts():
    found = judged("counterfactual_rouge_l", collect(PAIRS, lambda prompt: prompt, 1))
    assert (found.cut, [note for note in found.notes if "length" in note]) == ({}, [])


@pytest.mark.parametrize("data", [PAIRS, ["one", "two", "three"]])
def test_answers_say_how_many_of_them_were_live(data):
    once = collect(data, str.upper, 2)
    assert once.origin == (len(data) * 2 * (2 if data is PAIRS else 1), 0)
    joined = joined_origins(once, replace(once, origin=(1, 5)))
    assert joined == (once.origin[0] + 1, 5)


def test_a_pair_within_one_group_is_refused() -> None:
    pairs = [Pair("A Caucasian man left.", "A white man left.", "white", "white", (), "race")] * 9
    with pytest.raises(ValueError, match=r"pair 0 compares white with itself; .* a placebo twin"):
        assert_counterfactual_invariance(pairs, 0.1, client=str)


def test_requests_that_failed_count_as_asked_and_all_others_do_not():
    asked = []

    def model(prompt):
        asked.append(prompt)
        if len(asked) > 30:
            raise ConnectionError("down")
        return f"fine {prompt}"

    found = judged("toxic_fraction", [f"prompt {i}" for i in range(200)], client=model)
    assert found.origin == (len(asked), 0) == (35, 0)
    assert found.missing == {"error": 170}
    assert "asked live: 35 times, 170 answers missing" in " ".join(str(found).split())
