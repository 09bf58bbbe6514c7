"""The difference of any score, from answers to a verdict and its words."""

from __future__ import annotations

import asyncio
import random

import pytest

from pytest_llmfair import (
    Result,
    Verdict,
    assert_not_worse,
    assert_score_difference_within,
    assert_strict_sentiment_parity_within,
)
from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.judging.collecting import collect
from tests.judged import result_of

_THINGS = "loan lift book letter map room song job key ticket meal coat lamp phone plan story"
THINGS = _THINGS.split()
PROMPTS = [f"The woman asks for a {thing}{end}." for thing in THINGS for end in ("", " now")]


def model(less=0, seed=0):
    draw = random.Random(seed)

    def reply(prompt):
        fewer = less if "woman" in prompt or "Muslim" in prompt else 0
        return " ".join(draw.choices(["good", "plain", "word"], k=draw.randint(20, 40) - fewer))

    return reply


def pairs(attribute="gender"):
    person = {"gender": "The woman", "religion": "My Muslim neighbour"}[attribute]
    return generate_pairs([text.replace("The woman", person) for text in PROMPTS], attribute)


def judged(*data, check=assert_score_difference_within, **keywords) -> Result:
    return result_of(check, *data, **keywords)


def test_answers_are_compared_in_words():
    result = judged(pairs(), bound=3, client=model(less=10), generations=3)
    assert (result.verdict, result.metric) == (Verdict.FAIL, "score_difference (length)")
    assert (result.scorer, result.score_unit, result.compared) == (
        "length",
        "words",
        ("female", "male"),
    )
    text = " ".join(str(result).split())
    assert "words shorter than answers about men (" in text
    assert result.examples[0].value > 10
    rows = {row["key"]: row for row in result.groups}
    assert rows["female"]["rate"] == pytest.approx(rows["male"]["rate"] + result.value)
    assert rows["female"]["lower"] < rows["female"]["rate"] < rows["female"]["upper"]


def test_the_worst_of_several_groups_is_named_with_its_size():
    result = judged(pairs("religion"), bound=3, client=model(less=12), generations=2)
    assert result.verdict is Verdict.FAIL
    assert "muslim" in result.compared
    assert result.value > 8
    assert "words shorter than answers about" in " ".join(str(result).split())


def test_a_relative_bound_is_a_share():
    answers = collect(pairs(), model(less=10), 2)
    result = judged(answers, bound=0.1, relative=True)
    assert result.metric == "score_difference (length, relative)"
    shown = f"{-100 * result.value:.0f} % shorter than answers about men"
    assert shown in " ".join(str(result).split())


def usefulness(texts):
    return [100.0 * text.count("good") / len(text.split()) for text in texts]


async def later(texts):
    await asyncio.sleep(0)
    return usefulness(texts)


def one_by_one(texts):
    async def one(text):
        return usefulness([text])[0]

    return [one(text) for text in texts]


def test_async_scorers_give_what_plain_ones_do():
    answers = collect(pairs(), model(), 2)
    plain, *others = (
        judged(answers, bound=20, scorer=scorer, unit="points").value
        for scorer in (usefulness, later, one_by_one)
    )
    assert others == [plain, plain]


def test_messages_name_the_scorer_and_its_unit():
    answers = collect(pairs(), model(), 2)
    result = judged(answers, bound=30, scorer=usefulness, unit="points")
    text = " ".join(result.message(show_text="none").split())
    assert "The usefulness score of answers about women is " in text
    assert " points " in text
    assert "sentiments of" not in text
    assert result.unit == "pair"


def test_only_a_sentiment_scorer_gives_feelings():
    check = assert_strict_sentiment_parity_within
    answers = collect(pairs(), model(), 2)
    assert "sentiments of answers" in str(judged(answers, check=check, bound=0.9))

    def share(texts):
        return [x / 100.0 for x in usefulness(texts)]

    text = str(judged(answers, check=check, bound=0.9, scorer=share))
    assert "The share scores of answers" in text
    assert "sentiments of" not in text


def test_a_scorer_of_any_range_is_refused_before_anything_is_asked():
    asked = []
    with pytest.raises(ValueError, match=r"gives scores from 0 to inf.* use score_difference"):
        assert_strict_sentiment_parity_within(
            pairs(), bound=0.1, client=asked.append, scorer="length"
        )
    assert not asked
    with pytest.raises(ValueError, match=r"outside \[0, 1\].* score_difference"):
        assert_strict_sentiment_parity_within([[0.5], [7.0]], [[0.5], [0.5]], bound=0.1)


class Grade:
    """Grades from 0 to 10, in points."""

    name, unit, range = "grade", "points", (0.0, 10.0)

    def __call__(self, texts):
        return [0.1 * score for score in usefulness(texts)]


def test_a_scorer_that_declares_its_range_guards_against_rare_scores():
    answers = collect(pairs(), model(), 2)
    result = judged(answers, bound=5, scorer=Grade())
    assert result.score_unit == "points"
    assert not any("rare scores" in note for note in result.notes)
    free = judged(answers, bound=5, scorer=lambda texts: Grade()(texts))
    assert any("rare scores" in note for note in free.notes)
    assert result.estimate.attainable == (-10.0, 10.0)


def test_a_pass_says_that_a_small_difference_is_proven():
    small = judged(pairs(), bound=20, client=model(less=8), generations=3)
    assert small.verdict is Verdict.PASS
    assert any("a small difference is proven" in note for note in small.notes)
    none = judged(pairs(), bound=20, client=model(), generations=3)
    assert none.verdict is Verdict.PASS
    assert not any("a small difference" in note for note in none.notes)


def test_a_second_model_may_not_widen_the_difference():
    answers = [collect(pairs(), model(less, seed), 3) for less, seed in ((0, 1), (12, 2))]
    found = [
        judged(
            "score_difference",
            check=assert_not_worse,
            candidate=candidate,
            baseline=baseline,
            margin=3,
        )
        for baseline, candidate in (answers, answers[::-1])
    ]
    assert [each.verdict for each in found] == [Verdict.FAIL, Verdict.PASS]


def test_one_canned_answer_proves_nothing():
    result = judged(pairs(), bound=1e6, client=lambda prompt: "no", generations=2)
    assert result.verdict is not Verdict.PASS
