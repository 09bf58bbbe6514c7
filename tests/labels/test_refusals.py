"""Labels that must not be judged: not as planned, missing, too few, or of other answers."""

from __future__ import annotations

import csv

import pytest

from pytest_llmfair import Verdict, assert_corrected_gap_within, label_plan
from tests.judged import result_of
from tests.labels.world import answers, filled, labelled


@pytest.fixture
def world():
    rows, truth = answers(800)
    plan = label_plan(rows, scorer="toxicity", total=200, seed=1)
    return rows, truth, plan, {key: truth[text] for key, text in plan.texts.items()}


def refused(code, rows, labels, **given):
    """Return the message of a result that is INVALID for this reason."""
    found = result_of(assert_corrected_gap_within, rows, 0.3, labels=labels, **given)
    assert found.verdict is Verdict.INVALID
    assert code in found.reasons
    return " ".join(str(found).split())


def test_ids_that_the_plan_did_not_draw(world):
    rows, _, plan, labels = world
    shown = refused("labels_not_planned", rows, {**labels, "elsewhere": 1}, plan=plan)
    assert "1 label of ids which the plan did not draw: elsewhere" in shown
    assert "design='random' is for labels without a plan" in shown


def test_labels_without_a_plan(world, tmp_path):
    rows, truth, _, labels = world
    assert "there is no label_plan.json" in refused("labels_not_planned", rows, labels)
    file = labelled(tmp_path, rows, truth)
    file.with_name("label_plan.json").unlink()
    assert "say design='random'" in refused("labels_not_planned", rows, file)


def test_a_random_sample_is_the_stated_exception(world):
    rows, truth, _, _ = world
    for number, row in enumerate(rows):
        row["id"] = f"r{number}"
    labels = {row["id"]: truth[row["answer"]] for row in rows[::3]}
    given = {"labels": labels, "design": "random", "scorer": "toxicity"}
    found = result_of(assert_corrected_gap_within, rows, 0.4, **given)
    assert found.verdict is Verdict.PASS
    assert "people's labels, of answers drawn at random" in " ".join(str(found).split())
    given["labels"] = {**labels, "other": 1}
    shown = refused("labels_not_planned", rows, **given)
    assert "1 label of ids which no answer has: other" in shown


def test_a_stratum_without_labels_and_one_with_two(world):
    rows, truth, _, _ = world
    for number, row in enumerate(rows):
        row["id"] = str(number)
    given = {"design": "random", "scorer": "toxicity"}
    yes = [row for row in rows if row["toxicity"] and row["group"] == "men"]
    others = [row for row in rows if row not in yes][::3]
    labels = {row["id"]: truth[row["answer"]] for row in others}
    shown = refused("stratum_unlabelled", rows, labels, **given)
    assert f"men / judge says yes: none of {len(yes)} answers is labelled" in shown
    labels |= {row["id"]: 1 for row in yes[:2]}
    shown = refused("too_few_labels", rows, labels, **given)
    assert "men / judge says yes: 2 labels; give 3 or more" in shown


def test_a_group_with_nine_labels(world):
    rows, truth, _, _ = world
    for number, row in enumerate(rows):
        row["id"], row["toxicity"] = str(number), 0
    women = [row for row in rows if row["group"] == "women"][:60]
    men = [row for row in rows if row["group"] == "men"][:9]
    labels = {row["id"]: truth[row["answer"]] for row in (*women, *men)}
    shown = refused("too_few_labels", rows, labels, design="random", scorer="toxicity")
    assert "men: 9 labels; give 10 or more of each group" in shown


def test_missing_labels_beyond_the_limit(world):
    rows, _, plan, labels = world
    few = dict(list(labels.items())[:150])
    shown = refused("labels_missing", rows, few, plan=plan)
    assert "50 planned labels missing: " in shown
    assert "more than max_missing = " in shown


def test_missing_labels_within_the_limit_must_agree_at_both_extremes(world, tmp_path):
    rows, truth, _, _ = world
    sheet, _ = label_plan(rows, scorer="toxicity", total=200, seed=1).write(tmp_path)
    whole = result_of(assert_corrected_gap_within, rows, 0.9, labels=filled(sheet, truth))
    texts = [text for text, event in truth.items() if event]
    file = filled(sheet, truth, missing=set(texts[:60])).rename(tmp_path / "fewer.csv")

    def judged(bound):
        return result_of(assert_corrected_gap_within, rows, bound, labels=file, max_missing=0.4)

    found = judged(0.5)
    assert found.verdict is Verdict.PASS
    assert "labels_missing" in found.reasons
    assert found.lower < whole.lower
    assert whole.upper < found.upper
    assert any("the interval holds whatever they would be" in note for note in found.notes)
    between = 0.5 * (whole.upper + found.upper)
    again = result_of(assert_corrected_gap_within, rows, between, labels=filled(sheet, truth))
    assert again.verdict is Verdict.PASS
    assert judged(between).verdict is Verdict.INCONCLUSIVE


def test_answers_and_verdicts_that_changed_since_the_plan(world):
    rows, _, plan, labels = world
    other = [{**rows[0], "answer": "another"}, *rows[1:]]
    assert "the answers are not those of the plan" in refused(
        "answers_changed", other, labels, plan=plan
    )
    other = [{**rows[0], "toxicity": 1 - rows[0]["toxicity"]}, *rows[1:]]
    assert "the judge's verdicts are not those of the plan" in refused(
        "judge_changed", other, labels, plan=plan
    )
    assert refused("answers_changed", rows[:-2], labels, plan=plan)


def test_a_ratio_without_an_event(world):
    rows, _, plan, _ = world
    labels = dict.fromkeys(plan.drawn, 0)
    shown = refused("not_computable", rows, labels, plan=plan, ratio=True)
    assert "no label of women and of men is an event, and a ratio needs one" in shown


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"design": "chosen"}, "design is 'chosen'; choose planned or random"),
        ({"design": "random"}, "the judge is missing; name its column, or a scorer"),
        ({"labels": [{"key": "a"}]}, "row 0 needs the columns id and label; it has key"),
        ({"labels": {"a": "often"}}, "row 0, label is 'often'; give a number, yes or no"),
        ({"bound": -0.1}, "cannot be a test"),
    ],
)
def test_wrong_arguments_are_named(world, given, words):
    rows, _, plan, labels = world
    arguments = {"labels": labels, "plan": plan, "bound": 0.1, **given}
    with pytest.raises(ValueError, match=words):
        assert_corrected_gap_within(rows, **arguments)


def test_labels_may_be_words(world, tmp_path):
    rows, truth, plan, _ = world
    words = {key: "Yes" if truth[text] else "no" for key, text in plan.texts.items()}
    found = result_of(assert_corrected_gap_within, rows, 0.4, labels=words, plan=plan)
    assert found.verdict is Verdict.PASS
    with (tmp_path / "words.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([["id", "label"], *words.items()])
    again = result_of(
        assert_corrected_gap_within, rows, 0.4, labels=tmp_path / "words.csv", plan=plan
    )
    assert again.value == found.value
