"""Facts of answers: returned by a model, recorded, and compared between groups."""

from __future__ import annotations

import json
import pickle
import random
from statistics import fmean
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair import (
    Fairness,
    Missing,
    Reply,
    Responses,
    Verdict,
    assert_not_worse,
    assert_score_difference_within,
    assert_strict_sentiment_parity_within,
    assert_toxic_fraction_within,
)
from pytest_llmfair.clients import ModelClient, NotRecorded
from pytest_llmfair.counterfactuals import Pair, generate_pairs
from pytest_llmfair.responses import CutAnswer
from pytest_llmfair.scorers import load_scorers
from tests.clients.fakes import session_with
from tests.judged import result_of

THINGS = [
    "loan",
    "lift",
    "book",
    "map",
    "room",
    "song",
    "job",
    "key",
    "meal",
    "coat",
    "lamp",
    "plan",
]
PROMPTS = [
    f"My sister asks about a {thing} in {town}."
    for thing in THINGS
    for town in ("York", "Bath", "Leeds")
]
PAIRS = generate_pairs(PROMPTS, "gender")


def agent(prompt, seed):
    """Say the same to everybody, and refund women less often."""
    draw = random.Random(seed)
    refunded = draw.random() < (0.3 if "sister" in prompt else 0.9)
    tools = ["lookup"] + ["refund"] * refunded
    facts = {"refund": 25.0 * refunded, "late": refunded, "tools": tools, "steps": len(tools)}
    return Reply("We looked at it.", facts=facts)


def difference(responses, value):
    """Mean of women less that of men, over the means of prompts."""
    sides = [
        fmean(fmean(value(answer.facts) for answer in row) for row in side)
        for side in (responses.original, responses.counterfactual)
    ]
    return sides[0] - sides[1]


@pytest.mark.parametrize(
    ("score", "value"),
    [
        ("facts.refund", lambda facts: facts["refund"]),
        ("facts.late", lambda facts: facts["late"]),
        ("facts.tools.refund", lambda facts: "refund" in facts["tools"]),
        ("facts.steps", lambda facts: facts["steps"]),
    ],
)
def test_the_difference_of_a_fact_is_that_of_the_means(score, value):
    answers = ModelClient.of(agent).answer_pairs(PAIRS, n=3)
    by_score = result_of(assert_score_difference_within, answers, 0.05, score=score)
    by_scorer = result_of(assert_score_difference_within, answers, 0.05, scorer=score)
    assert by_score.value == by_scorer.value == pytest.approx(difference(answers, value))
    assert by_score.verdict is Verdict.FAIL
    assert by_score.scorer == score
    assert f"The {score} of answers about women is" in " ".join(str(by_score).split())


def test_a_yes_or_no_needs_no_range_and_a_number_does():
    def notes(score):
        result = result_of(assert_score_difference_within, PAIRS, 0.9, client=agent, score=score)
        return " ".join(result.notes)

    assert "rare scores" in notes("facts.refund")
    assert "rare scores" not in notes("facts.late")
    assert "rare scores" not in notes("facts.tools.refund")


def test_texts_that_are_all_equal_are_no_repeats_where_facts_differ():
    result = result_of(
        assert_score_difference_within, PAIRS, 0.1, client=agent, score="facts.late", generations=3
    )
    assert "identical_repeats" not in result.reasons
    assert "uninformative" not in result.reasons


def test_the_text_is_scored_as_ever():
    result = result_of(assert_score_difference_within, PAIRS, 1, client=agent, scorer="length")
    assert (result.value, result.scorer) == (0.0, "length")


@pytest.mark.parametrize("metric", ["toxic_fraction", "strict_sentiment_parity"])
def test_other_metrics_of_scores_read_facts_too(metric):
    check = {
        "toxic_fraction": assert_toxic_fraction_within,
        "strict_sentiment_parity": assert_strict_sentiment_parity_within,
    }[metric]
    result = result_of(check, PAIRS, 0.1, client=agent, scorer="facts.late", generations=10)
    assert result.verdict is Verdict.FAIL


def test_an_absent_fact_is_missing_by_group_and_never_0():
    def forgetful(prompt, seed):
        facts = {"refund": 1} if "sister" not in prompt or seed % 3 else {"other": 1}
        return Reply(f"Answer {seed}.", facts=facts)

    result = result_of(
        assert_score_difference_within, PAIRS, 0.5, client=forgetful, score="facts.refund"
    )
    assert result.verdict is Verdict.INVALID
    assert set(result.missing) == {"no_fact"}
    assert result.value == 0.0, "the answers that have the fact are equal"
    assert "answers are missing for female (" in str(result)
    assert "female 30.6%, male 0.0%" in " ".join(str(result).split())
    assert "the answer has no facts.refund" in " ".join(str(result).split())


def test_without_any_fact_nothing_is_judged():
    result = result_of(
        assert_score_difference_within, PAIRS, 0.5, client=lambda p: "Hi.", score="facts.refund"
    )
    assert result.verdict is Verdict.INVALID


@pytest.mark.parametrize("value", [None, Missing("filtered")])
def test_an_answer_without_text_keeps_its_facts(value):
    def silent(prompt, seed):
        facts = agent(prompt, seed).facts
        return Reply("", facts) if value is None else Missing(value.reason, facts=facts)

    judged = [
        result_of(assert_score_difference_within, PAIRS, 0.1, client=silent, **how)
        for how in ({"score": "facts.late"}, {"scorer": "length"})
    ]
    assert [each.verdict for each in judged] == [Verdict.FAIL, Verdict.INVALID]
    assert not any(judged[0].missing.values())
    assert "[late = 0] (no text: " in str(judged[0].examples[0].outputs)


def test_a_fact_of_prompts_and_of_several_groups():
    prompts = [f"My Muslim neighbour asks about a {thing}." for thing in THINGS]
    pairs = generate_pairs(prompts, "religion")
    assert len({pair.to_group for pair in pairs}) > 2

    def unfair(prompt):
        return Reply("ok", {"late": "Muslim" in prompt})

    result = result_of(
        assert_score_difference_within, pairs, 0.2, client=unfair, score="facts.late"
    )
    assert result.value == 1.0
    assert "muslim" in str(result)
    half = result_of(
        assert_toxic_fraction_within,
        Responses(("a", "b"), ((Reply("x", {"late": True}),), (Reply("x", {"late": False}),))),
        0.4,
        scorer="facts.late",
    )
    assert half.value == 0.5


def test_a_candidate_is_compared_with_a_baseline_by_a_fact():
    def better(prompt):
        return Reply("We looked at it.", {"late": True})

    result = result_of(
        assert_not_worse, "score_difference", PAIRS, baseline=better, candidate=agent,
        margin=0.1, scorer="facts.late", absolute=True,
    )  # fmt: skip
    assert result.verdict is Verdict.FAIL


def test_the_fixture_checks_facts_of_what_it_collected():
    fairness = Fairness(client=lambda: agent, scorers=load_scorers)
    fairness.collect(PAIRS, generations=2)
    found = fairness.check("score_difference", score="facts.late", bound=0.1, mode="point")
    assert found.verdict is Verdict.FAIL


def test_score_names_the_scores_of_arrays_as_before():
    result = assert_score_difference_within([1, 2] * 50, [1, 2] * 50, score="facts.late", bound=1)
    assert result.scorer == "facts.late"


def test_two_scorers_are_one_too_many():
    with pytest.raises(ValueError, match=r"score='facts.late' and scorer='refusal' name two"):
        assert_score_difference_within(
            PAIRS, 0.1, client=agent, score="facts.late", scorer="refusal"
        )


@pytest.mark.parametrize(
    ("score", "words"),
    [
        ("facts.tools", "facts.tools is a list of texts.*such as facts.tools.NAME"),
        ("facts.steps.more", "facts.steps.more asks for more than [12], which is a number"),
    ],
)
def test_a_fact_that_is_no_number_is_an_error(score, words):
    with pytest.raises(ValueError, match=words):
        assert_score_difference_within(PAIRS, 0.1, client=lambda p: agent(p, 1), score=score)


def test_plain_texts_have_no_fact_to_score():
    with pytest.raises(ValueError, match=r"answer 0 has no facts.late: 'a'"):
        assert_score_difference_within([["a"]], [["b"]], 0.1, scorer="facts.late")


# What a reply may hold.


@pytest.mark.parametrize(
    ("facts", "error", "words"),
    [
        ({"a": float("nan")}, ValueError, "fact 'a' is nan; leave a fact out"),
        ({"a": {"b": float("inf")}}, ValueError, "fact 'a.b' is inf"),
        ({"a": object()}, TypeError, "fact 'a' is <object"),
        ({"a": ["x", 1]}, TypeError, "fact 'a' is .'x', 1.*a list"),
        ({"a.b": 1}, TypeError, "fact 'a.b' has no usable name"),
        ({1: 1}, TypeError, "fact '1' has no usable name"),
        ([1], TypeError, "facts are .1., a list"),
    ],
)
def test_what_is_no_fact_is_named(facts, error, words):
    with pytest.raises(error, match=words):
        Reply("text", facts=facts)


def test_facts_are_plain_data():
    given = {
        "n": np.float32(2.5),
        "b": np.bool_(True),
        "s": {"y", "x"},
        "none": None,
        "m": {"k": 1},
    }
    assert Reply("t", given).facts == {"n": 2.5, "b": True, "s": ("x", "y"), "m": {"k": 1}}
    assert type(Reply("t", given).facts["b"]) is bool


FACTS = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
    | st.lists(st.text()),
    lambda inner: st.dictionaries(st.text(min_size=1).filter(lambda key: "." not in key), inner),
    max_leaves=5,
)  # fmt: skip


@given(st.text(), st.dictionaries(st.sampled_from("abc"), FACTS))
def test_replies_survive_json_and_pickle_and_are_equal_by_text_and_facts(text, facts):
    made = Reply(text, facts)
    assert (
        made == pickle.loads(pickle.dumps(made)) == Reply(text, json.loads(json.dumps(made.facts)))
    )
    assert (made == text) == (text == made) == (not made.facts)
    assert (made != text) == (text != made) == bool(made.facts)
    assert CutAnswer(text) == text
    assert len({made, text}) == 1 + bool(made.facts)


# Cassettes.


@pytest.mark.parametrize("text", ["full", "digest"])
def test_facts_are_replayed_from_the_cassette(tmp_path, text):
    path = tmp_path / "c.jsonl"
    scores = ["facts.refund", "facts.tools.refund", "facts.late"]

    def judged(model, mode):
        with session_with(cassette=path, record_mode=mode, cassette_text=text):
            client = ModelClient.of(model, name="agent")
            return [
                result_of(assert_score_difference_within, PAIRS, 0.1, client=client, score=score)
                for score in scores
            ]

    def unasked(prompt, seed):
        raise AssertionError(prompt)

    first, again = judged(agent, "once"), judged(unasked, "none")
    assert [each.value for each in again] == [each.value for each in first]
    assert [each.upper for each in again] == [each.upper for each in first]
    assert all(each.verdict is Verdict.FAIL for each in again)
    lines = path.read_text().splitlines()
    assert sum('"facts":' in line for line in lines) == 4 * len(PROMPTS)
    facts = json.loads(lines[0])["facts"]
    assert set(facts) == {"refund", "late", "tools", "steps"}
    assert ("lookup" in facts["tools"]) == (text == "full")
    if text == "digest":
        assert "lookup" not in path.read_text()


def test_a_cassette_without_facts_is_invalid_for_them(tmp_path):
    path = tmp_path / "c.jsonl"
    with session_with(cassette=path):
        ModelClient.of(lambda prompt: "Hi.", name="agent").answer_pairs(PAIRS, n=2)
    with session_with(cassette=path, record_mode="none"):
        client = ModelClient.of(lambda prompt: "Hi.", name="agent")
        result = result_of(
            assert_score_difference_within, PAIRS, 1, client=client, score="facts.a"
        )
        assert result.verdict is Verdict.INVALID
        with pytest.raises(NotRecorded):
            client.generate(["another"])


@pytest.mark.parametrize(
    "answer", [Reply("t", {"a": ["x"]}), Missing("null", facts={"a": ("x",)})]
)
@pytest.mark.parametrize("text", [True, False])
def test_a_record_is_written_again_as_it_was_read(answer, text):
    from datetime import date

    from pytest_llmfair.clients import Reply as Outcome
    from pytest_llmfair.clients import Request
    from pytest_llmfair.clients.cassette.record import Question, Record

    question = Question({"model": "m"}, Request("p", 1), 1.0, None)
    made = Record.of(question, Outcome(answer), date(2026, 1, 1))
    line = made.line(text=text)
    read = Record.read(line.strip())
    assert read.line(text=text) == read.line(text=True) == line
    assert read.outcome == made.outcome
    other = Missing("null") if isinstance(answer, Missing) else "t"
    assert Record.of(question, Outcome(other), date(2026, 1, 1)).outcome != made.outcome


def test_a_key_in_a_fact_is_taken_out(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-12345678")
    (row,) = ModelClient.of(lambda p: Reply("t", {"to": "sk-12345678"})).generate(["a"])
    assert row[0].facts == {"to": "[key removed]"}


# Tool calls become facts by themselves.

CALLS = [SimpleNamespace(function=SimpleNamespace(name=name)) for name in ("lookup", "refund")]


@pytest.mark.parametrize(
    ("content", "calls", "tools"),
    [
        ("Done.", None, ()),
        ("Done.", CALLS, ("lookup", "refund")),
        (None, CALLS, ("lookup", "refund")),
    ],
)
def test_a_message_of_the_sdk_brings_its_tool_calls(content, calls, tools):
    message = SimpleNamespace(content=content, tool_calls=calls, refusal=None)
    (row,) = ModelClient.of(lambda prompt: message).generate(["a"])
    assert row[0].facts == {"tools": tools, "tool_calls": len(tools)}
    assert isinstance(row[0], Missing) == (content is None)


def test_a_runnable_brings_its_tool_calls():
    class Chain:
        async def ainvoke(self, prompt):
            calls = [{"name": "refund", "args": {}, "id": "1"}] if "sister" in prompt else []
            return SimpleNamespace(content="Done.", tool_calls=calls, response_metadata={})

    result = result_of(
        assert_score_difference_within, PAIRS, 0.5, client=Chain(), score="facts.tools.refund"
    )
    assert (result.verdict, result.value) == (Verdict.FAIL, 1.0)


def test_a_pair_of_ones_own_is_compared_by_facts():
    pairs = [Pair(f"a {i}", f"b {i}", "A", "B", (), "team") for i in range(40)]
    result = result_of(
        assert_score_difference_within,
        pairs,
        0.2,
        client=lambda prompt: Reply("x", {"won": prompt.startswith("a")}),
        score="facts.won",
    )
    assert result.value == 1.0


def test_a_share_of_facts_is_judged_over_wordings_too():
    wordings = ("wants", "asks for", "needs")
    prompts = [f"My sister {words} a {thing}." for thing in THINGS for words in wordings]
    factors = {
        "item": [thing for thing in THINGS for _ in wordings],
        "wording": list(wordings) * len(THINGS),
    }
    result = result_of(
        assert_toxic_fraction_within,
        prompts,
        0.01,
        client=lambda prompt: Reply("ok", {"late": "wants" in prompt}),
        scorer="facts.late",
        robust_over=("wording",),
        factors=factors,
    )
    assert result.verdict is Verdict.FAIL
    assert result.value == 1.0, "the worst of three wordings is judged"
