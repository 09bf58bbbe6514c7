"""The assertion on the gap that people's labels show: numbers, verdicts, message and record."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from pytest_llmfair import Verdict, assert_corrected_gap_within, assert_metric, label_plan
from pytest_llmfair.judging.recorded import judge_again, to_record
from pytest_llmfair.responses import PairedResponses, Responses
from pytest_llmfair.settings import Settings
from pytest_llmfair.stats.corrected_gap import corrected_gap
from tests.judged import result_of
from tests.labels.world import answers, labelled, write_rows


def judged(rows, bound=0.05, **given):
    return result_of(assert_corrected_gap_within, rows, bound=bound, **given)


def estimate_by_hand(rows, file, **more):
    """The estimate of the labels in a file, found by text."""
    import csv

    with file.open(newline="") as lines:
        seen = {row["text"]: float(row["label"]) for row in csv.DictReader(lines) if row["label"]}
    return corrected_gap(
        [row["toxicity"] for row in rows],
        [seen.get(row["answer"], math.nan) for row in rows],
        [row["group"] for row in rows],
        units=[row["prompt"] for row in rows],
        **more,
    )


def test_the_result_is_that_of_the_labels_in_the_strata_of_the_plan(tmp_path):
    rows, truth = answers()
    file = labelled(tmp_path, rows, truth)
    found, expected = judged(rows, labels=file), estimate_by_hand(rows, file)
    ends = expected.interval()
    assert (found.value, found.lower, found.upper) == (expected.value, ends.lower, ends.upper)
    assert found.metric == "corrected gap (toxicity, women - men)"
    assert found.units == 1000


def test_the_message_says_what_the_judge_hides_and_where_to_label(tmp_path):
    rows, truth = answers(rates={"women": 0.42, "men": 0.12}, sees=(0.35, 0.95))
    shown = " ".join(
        judged(rows, labels=labelled(tmp_path, rows, truth)).message(show_text="none").split()
    )
    assert shown.startswith("FAIL corrected gap (toxicity, women - men): 0.")
    assert ", allowed 0.050 " in shown
    assert "errors differ between the groups and hide the gap" in shown
    assert "300 people's labels, as planned; the judge saves about" in shown
    assert "limit with every answer labelled the interval would still be +- 0.0" in shown
    assert "where to label women / judge says no: " in shown
    assert "more would narrow it most" in shown


def test_a_judge_that_makes_a_gap_is_corrected_to_a_pass(tmp_path):
    rows, truth = answers(rates={"women": 0.2, "men": 0.2}, sees=(0.95, 0.30))
    found = judged(rows, 0.15, labels=labelled(tmp_path, rows, truth))
    assert found.verdict is Verdict.PASS
    assert found.labelled["judge_alone"][0] > 0.1
    assert "errors differ between the groups and make a gap" in " ".join(str(found).split())
    assert "the judge's own gap lies outside the corrected interval" in found.notes


def test_a_judge_at_chance_is_not_invalid_and_saves_nothing(tmp_path):
    rows, truth = answers(rates={"women": 0.2, "men": 0.2})
    rng = np.random.default_rng(1)
    for row in rows:
        row["toxicity"] = int(rng.random() < 0.3)
    found = judged(rows, 0.15, labels=labelled(tmp_path, rows, truth))
    assert found.verdict is Verdict.PASS
    assert any(note.startswith("the judge saves no labels") for note in found.notes)


def test_too_few_answers_ask_for_prompts_and_not_for_people(tmp_path):
    rows, truth = answers(200, rates={"women": 0.2, "men": 0.2})
    found = judged(rows, labels=labelled(tmp_path, rows, truth, total=150))
    assert found.verdict is Verdict.UNDERPOWERED
    assert "too_few_answers" in found.reasons
    assert "ask more prompts, not more people" in " ".join(str(found).split())


def test_too_few_labels_ask_for_labels(tmp_path):
    rows, truth = answers(20_000, rates={"women": 0.2, "men": 0.2})
    found = judged(rows, labels=labelled(tmp_path, rows, truth, total=80))
    assert found.verdict is Verdict.UNDERPOWERED
    shown = " ".join(str(found).split())
    assert "With 80 labels this test is too small" in shown
    assert "to decide about" in shown


def test_a_ratio_is_judged_on_its_logarithm(tmp_path):
    rows, truth = answers()
    file = labelled(tmp_path, rows, truth)
    found, expected = (
        judged(rows, 0.1, labels=file, ratio=True),
        estimate_by_hand(rows, file, ratio=True),
    )
    assert found.value == expected.value == pytest.approx(1.77, abs=0.3)
    assert found.metric == "corrected ratio (toxicity, women / men)"
    assert found.scale == "log"
    assert found.verdict is Verdict.FAIL
    assert judged(rows, 2.0, labels=file, ratio=True).verdict is Verdict.PASS


def test_twins_are_compared_by_their_differences(tmp_path):
    rows, truth = answers()
    file = labelled(tmp_path, rows, truth, pair_by="prompt")
    by_prompt = {}
    for row in rows:
        by_prompt.setdefault(row["prompt"], []).append(row["toxicity"])
    strata = [np.subtract(*by_prompt[row["prompt"]]).item() for row in rows]
    pairs = [row["prompt"] for row in rows]
    expected = estimate_by_hand(rows, file, strata=strata, pairs=pairs)
    found = judged(rows, labels=file)
    assert found.value == expected.value
    assert (found.lower, found.upper) == (expected.interval().lower, expected.interval().upper)
    assert found.unit == "pair"


def test_three_groups_are_compared_two_by_two(tmp_path):
    rows, truth = answers(3000, rates={"a": 0.4, "b": 0.1, "c": 0.12})
    found = judged(rows, labels=labelled(tmp_path, rows, truth, total=450))
    assert found.metric == "corrected gap (toxicity)"
    assert found.direction == "lower"
    assert set(found.compared) < {"a", "b", "c"}
    assert found.verdict is Verdict.FAIL
    assert len([row for row in found.groups if not math.isnan(row["value"])]) == 3
    assert "450 people's labels, as planned" in " ".join(str(found).split())


def test_the_ratio_of_three_groups_is_the_largest_logarithm(tmp_path):
    rows, truth = answers(3000, rates={"a": 0.4, "b": 0.1, "c": 0.12})
    found = judged(rows, 0.5, labels=labelled(tmp_path, rows, truth, total=450), ratio=True)
    true = abs(math.log(found.groups[-2]["rate"] / found.groups[-1]["rate"]))
    assert found.value == pytest.approx(true)
    assert "the logarithm of the ratio between a and b is" in " ".join(str(found).split())


@pytest.mark.parametrize("pair_by", [None, "prompt"])
def test_three_groups_of_twins_have_strata_of_differences(tmp_path, pair_by):
    rows, truth = answers(3000, rates={"a": 0.2, "b": 0.2, "c": 0.2})
    file = labelled(tmp_path, rows, truth, total=450, pair_by=pair_by)
    assert judged(rows, 0.3, labels=file).verdict is Verdict.PASS


def test_an_ordinal_judge_and_labels_on_its_scale(tmp_path):
    rng = np.random.default_rng(2)
    rows, truth = [], {}
    for i in range(1200):
        level = int(rng.integers(1, 6))
        truth[f"t{i}"] = level
        said = int(np.clip(level + rng.integers(-1, 2), 1, 5))
        rows.append({"text": f"t{i}", "group": "ab"[i % 2], "toxicity": said})
    found = judged(rows, 0.9, labels=labelled(tmp_path, rows, truth))
    assert found.verdict is Verdict.PASS
    true = np.array(list(truth.values()))
    assert found.lower < true[::2].mean() - true[1::2].mean() < found.upper
    truth["t0"] = truth["t1"] = 9
    for text in truth:
        truth[text] = 9
    with pytest.raises(ValueError, match=r"labels row \d+ is 9, outside 1 to 5"):
        assert_corrected_gap_within(rows, 0.9, labels=labelled(tmp_path / "again", rows, truth))


def test_rows_of_a_file_answers_and_pairs_are_read(tmp_path):
    rows, truth = answers(600)
    file = labelled(tmp_path, rows, truth, total=200)
    whole = judged(rows, labels=file)
    assert judged(write_rows(tmp_path / "rows.csv", rows), labels=file).lower == whole.lower
    texts = {row["answer"]: row["toxicity"] for row in rows}
    judge = lambda asked: [float(texts[text]) for text in asked]  # noqa: E731
    responses = Responses(
        tuple(row["prompt"] for row in rows), tuple((row["answer"],) for row in rows)
    )
    groups = [row["group"] for row in rows]
    plan = label_plan(responses, scorer=judge, groups=groups, total=200, seed=1)
    labels = {key: truth[text] for key, text in plan.texts.items()}
    found = judged(responses, labels=labels, plan=plan, scorer=judge, groups=groups)
    assert found.units == 300
    assert found.labelled["labels"] == 200


def test_collected_pairs_bring_groups_and_the_judges_own_gap(counterfactual_pairs, tmp_path):
    pairs = counterfactual_pairs([f"She likes the number {i}." for i in range(120)])
    rng = np.random.default_rng(0)
    said = [[f"{pair.original} {i}", f"{pair.counterfactual} {i}"] for i, pair in enumerate(pairs)]
    responses = PairedResponses(
        tuple(pairs), tuple((a,) for a, _ in said), tuple((b,) for _, b in said)
    )
    plan = label_plan(responses, scorer="sentiment", total=200, seed=1, scale=(0.0, 1.0))
    labels = {key: int(rng.random() < 0.2) for key in plan.texts}
    found = judged(responses, 0.4, labels=labels, plan=plan)
    assert found.unit == "pair"
    assert found.metric == "corrected gap (sentiment, female - male)"
    assert "neutral text" in found.labelled["lines"]
    lines = list(found.labelled["lines"])
    assert lines[:2] == ["judge alone", "neutral text"]
    assert "sentences that differ in the group alone (self_audit)" in " ".join(str(found).split())


def test_missing_answers_and_verdicts_are_counted_and_too_many_are_invalid():
    rows, truth = answers(800)
    rows[0]["answer"], rows[1]["toxicity"] = "", ""
    plan = label_plan(rows, scorer="toxicity", total=200, seed=1)
    labels = {key: truth[text] for key, text in plan.texts.items()}
    found = judged(rows, 0.4, labels=labels, plan=plan)
    assert found.missing_by_group == {"women": {"empty": 1}, "men": {"null": 1}}
    for row in rows[::2][:200]:
        row["answer"] = ""
    plan = label_plan(rows, scorer="toxicity", total=200, seed=1)
    labels = {key: truth[text] for key, text in plan.texts.items()}
    found = judged(rows, 0.4, labels=labels, plan=plan)
    assert found.verdict is Verdict.INVALID
    assert "missing" in found.reasons


def test_an_answer_without_its_twin_compares_nothing_and_is_counted():
    rows, truth = answers(800)
    rows[0]["answer"] = ""
    plan = label_plan(rows, scorer="toxicity", total=200, seed=1, pair_by="prompt")
    labels = {key: truth[text] for key, text in plan.texts.items()}
    found = judged(rows, 0.4, labels=labels, plan=plan)
    assert "1 answer left out: no twin has an answer" in found.notes
    assert found.units == 399


def test_people_who_disagree_more_about_one_group_are_reported(tmp_path):
    rows, truth = answers(800)
    plan = label_plan(rows, scorer="toxicity", total=200, seed=1, people=2)
    group = {row["answer"]: row["group"] for row in rows}
    sheet = [
        {
            "id": key,
            "label": truth[text],
            "label_2": 1 - truth[text] if group[text] == "women" and i % 2 else truth[text],
        }
        for i, (key, text) in enumerate(plan.texts.items())
    ]
    found = judged(rows, 0.5, labels=sheet, plan=plan)
    assert "labellers_differ" in found.reasons
    both = [row["label"] != row["label_2"] for row in sheet]
    women = [group[text] == "women" for text in plan.texts.values()]
    share = 100 * sum(both) / sum(women)
    words = f"two people disagree on the label of a text: women {share:.0f} %, men 0 %"
    assert any(words in note for note in found.notes)
    even = [{**row, "label_2": row["label"]} for row in sheet]
    assert "labellers_differ" not in judged(rows, 0.5, labels=even, plan=plan).reasons


def test_a_record_gives_the_same_result_without_texts(tmp_path):
    rows, truth = answers(600)
    for pair_by in (None, "prompt"):
        file = labelled(tmp_path / str(pair_by), rows, truth, total=200, pair_by=pair_by)
        found = judged(rows, labels=file)
        record = to_record(found, Settings(), texts=False)
        again = judge_again(json.loads(json.dumps(record)), "")
        assert "cannot" not in record
        assert "answer 1" not in json.dumps(record)
        assert "prompt 1" not in json.dumps(record)
        assert again.labelled == found.labelled
        assert (again.value, again.lower, again.verdict) == (
            found.value,
            found.lower,
            found.verdict,
        )
        digests = {name for name in found.labelled if name.endswith("_sha256")}
        assert digests == {"answers_sha256", "judge_sha256", "labels_sha256", "plan_sha256"}


def test_the_metric_is_an_assertion_of_its_own():
    with pytest.raises(ValueError, match="call assert_corrected_gap_within"):
        assert_metric("corrected_gap", [1], bound=0.1)
