"""A model as a scorer: budget, cassette, unreadable replies and the order of two texts."""

from __future__ import annotations

import re

import pytest

from pytest_llmfair import (
    Missing,
    ModelJudge,
    Responses,
    assert_score_difference_within,
    assert_toxic_fraction_within,
)
from pytest_llmfair.clients import NotRecorded
from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.judging.non_inferiority import Side, compared
from pytest_llmfair.judging.rules import Rules
from tests.clients.fakes import session_with
from tests.judged import result_of

RUBRIC = "How friendly is the text? 1: not at all, 5: very."


def pairs(n=60):
    return generate_pairs([f"She asks about order {i}." for i in range(n)], "gender")


def bot(prompt):
    cold = prompt.startswith("She") and int(re.findall(r"\d+", prompt)[0]) % 2
    return f"{'No' if cold else 'Gladly'}, {prompt.split()[-1]}"


def score(text):
    return 2 if text.startswith("No") else 4


def judge(prompt):
    """Score one text, or two with a bonus of one for whichever comes first."""
    texts = re.findall(r"<<<\n(.*?)\n>>>", prompt, re.S)
    if len(texts) == 1:
        return f"Score: {score(texts[0])}/5"
    return f"{score(texts[0]) + 1}, {score(texts[1])}"


def loss_of(now, before):
    sides = [Side.of(now), Side.of(before)]
    return compared(sides, sides[0].info, 0.1, Rules())


def difference(scorer, client=bot, n=60, **keywords):
    data = (pairs(n), keywords.pop("bound", 0.5))
    return result_of(
        assert_score_difference_within,
        *data,
        scorer=scorer,
        client=client,
        generations=1,
        **keywords,
    )


def test_a_judge_finds_to_whom_answers_are_less_friendly():
    result = difference(ModelJudge.of(judge, RUBRIC))
    assert (result.verdict.value, result.value) == ("FAIL", -1.0)
    assert "The facts.judge of answers about women is 1.00 lower" in str(result)
    assert result.examples[0].outputs[0].startswith("[judge = 2] No")


def test_a_judge_that_prefers_a_place_makes_no_difference_between_groups():
    fair = difference(
        ModelJudge.of(judge, RUBRIC, side_by_side=True), lambda p: f"Gladly, {p[-9:]}", n=200
    )
    assert abs(fair.value) < 0.2
    scorer = ModelJudge.of(judge, RUBRIC, side_by_side=True)
    few = difference(scorer, lambda p: f"Gladly, {p.split()[0]}", n=200)
    assert abs(few.value) < 0.2
    assert difference(scorer, lambda p: "Gladly", n=200).value == 0.0
    unfair = difference(ModelJudge.of(judge, RUBRIC, side_by_side=True), n=200)
    assert -1.2 < unfair.value < -0.8


@pytest.mark.parametrize(
    "reply",
    [
        "between 2 and 4",
        "I cannot say",
        "7",
        "-1",
        "\N{MINUS SIGN}4",
        "4 or 5",
        "4, 5",
        "4/10",
        "Score: .4",
        "2 texts were friendly",
        "",
    ],
)
def test_a_reply_that_is_no_score_is_missing_and_never_a_number(reply):
    result = difference(ModelJudge.of(lambda prompt: reply, RUBRIC))
    assert result.verdict.value == "INVALID"
    assert result.missing == {"no_score": 120}


@pytest.mark.parametrize(
    "reply", ["4", " 4.0\n", "**4**", "4/5", "Score: 4", "Rating: **4** / 5."]
)
def test_a_number_of_the_scale_is_read(reply):
    assert ModelJudge.of(lambda prompt: reply, RUBRIC)(["a text"]).tolist() == [4.0]


def test_missing_scores_count_by_group():
    def picky(prompt):
        return "no idea" if "No, 1" in prompt else judge(prompt)

    result = difference(ModelJudge.of(picky, RUBRIC))
    assert result.missing_by_group == {"female": {"no_score": 6}, "male": {}}
    answers = Responses(("a", "b"), (("No, 1.",), (Missing("refused"),)))
    rows = ModelJudge.of(picky, RUBRIC).readable(answers).answers
    assert [row[0].reason for row in rows] == ["no_score", "refused"]


def test_a_judge_costs_calls_of_the_budget_and_is_replayed(tmp_path):
    asked = []

    def counting(prompt):
        asked.append(prompt)
        return judge(prompt)

    scorer = ModelJudge.of(counting, RUBRIC)
    cassette = str(tmp_path / "answers.jsonl")
    with session_with(cassette=cassette):
        first = difference(scorer)
    assert len(asked) == len(set(asked))
    before = len(asked)
    with session_with(cassette=cassette, record_mode="none"):
        assert difference(scorer).value == first.value
        with pytest.raises(NotRecorded):
            difference(ModelJudge.of(counting, "Another rubric."))
    assert len(asked) == before
    with session_with(max_calls=130):
        poor = difference(scorer)
    assert (poor.verdict.value, len(asked)) == ("INVALID", before + 10)
    assert poor.missing["no_score"] > 0


def test_a_scale_that_the_metric_cannot_take_is_named_before_anything_is_asked():
    asked = []
    with pytest.raises(ValueError, match="gives scores from 1 to 5, and toxic_fraction needs"):
        assert_toxic_fraction_within(
            ["a"], bound=0.1, client=asked.append, scorer=ModelJudge.of(judge, RUBRIC)
        )
    assert asked == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rubric": " "}, "say what the number means"),
        ({"scale": (5, 1)}, "give a smaller and a larger number"),
        ({"name": "a.b"}, "give a word without dots"),
    ],
)
def test_a_judge_that_cannot_judge_is_an_error(given, words):
    with pytest.raises(ValueError, match=words):
        ModelJudge.of(judge, **{"rubric": RUBRIC, **given})


def test_two_texts_are_of_two_groups():
    three = generate_pairs(["The Muslim asked."], "religion")
    scorer = ModelJudge.of(judge, RUBRIC, side_by_side=True)
    with pytest.raises(ValueError, match="sees the answers about two groups"):
        assert_score_difference_within(three, bound=0.5, scorer=scorer, client=bot)


def test_a_judge_with_another_rubric_is_not_compared_with_an_earlier_one():
    one, other = (difference(ModelJudge.of(judge, text)) for text in (RUBRIC, "Another rubric."))
    assert loss_of(one, one).verdict.value != "INVALID"
    found = loss_of(one, other)
    assert found.verdict.value == "INVALID"
    assert "has another rubric" in str(found)
