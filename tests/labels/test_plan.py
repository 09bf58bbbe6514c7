"""Which answers people label: drawn in strata, by share and spread, and shown without hints."""

from __future__ import annotations

import csv
import json
from collections import Counter

import numpy as np
import pytest

from pytest_llmfair import LabelPlan, label_plan
from pytest_llmfair.labels.strata import allocated
from tests.labels.world import answers, filled


def drawn_rows(plan, rows):
    by_text = {row["answer"]: row for row in rows}
    return [by_text[text] for text in plan.texts.values()]


def test_labels_go_to_the_strata_of_the_judge_by_share_and_spread():
    rows, _ = answers()
    plan = label_plan(rows, scorer="toxicity", groups="group", total=300, seed=1)
    size = Counter((row["group"], row["toxicity"]) for row in rows)
    cells = [(group, said) for group in ("women", "men") for said in (0, 1)]
    shares = [size[cell] / 1000 for cell in cells]
    expected = allocated(shares, [0.10, 0.72] * 2, [size[cell] for cell in cells], 300)
    drawn = Counter((row["group"], row["toxicity"]) for row in drawn_rows(plan, rows))
    assert [drawn[cell] for cell in cells] == expected.tolist()
    assert [cell.stratum for cell in plan.cells[:2]] == ["judge says no", "judge says yes"]
    assert len(plan.drawn) == 300


def test_the_sheet_shows_neither_group_nor_verdict_and_is_shuffled(tmp_path):
    rows, _ = answers()
    for number, row in enumerate(rows):
        row["id"] = f"{row['group']}-{row['toxicity']}-{number}"
    plan = label_plan(rows, scorer="toxicity", total=300, seed=1)
    sheet, kept = plan.write(tmp_path)
    with sheet.open(newline="") as file:
        shown = list(csv.DictReader(file))
    assert list(shown[0]) == ["id", "text", "label"]
    assert not any(word in sheet.read_text() for word in ("women", "men", "prompt", "-0-", "-1-"))
    assert {row["label"] for row in shown} == {""}
    places = [int(row["text"].partition(" ")[2]) for row in shown]
    assert abs(np.corrcoef(range(300), places)[0, 1]) < 0.2
    groups = [rows[place]["group"] == "women" for place in places]
    assert 40 < sum(groups[:100]) < 60
    assert "answer 1" not in kept.read_text()


def test_a_plan_is_the_same_from_its_file_and_for_the_same_seed_in_any_order(tmp_path):
    rows, _ = answers()
    plan = label_plan(rows, scorer="toxicity", total=120, seed=7)
    _, file = plan.write(tmp_path)
    assert LabelPlan.read(file) == plan
    assert label_plan(rows, scorer="toxicity", total=120, seed=7) == plan
    assert label_plan(rows, scorer="toxicity", total=120, seed=8).drawn != plan.drawn
    again = label_plan(rows[::-1], scorer="toxicity", total=120, seed=7)
    assert again.answers_sha256 == plan.answers_sha256
    assert again.judge_sha256 == plan.judge_sha256


@pytest.mark.slow
def test_every_answer_of_a_stratum_is_as_likely_and_prompts_are_spread():
    rows = [
        {"prompt": f"p{i % 40 if i < 160 else i % 10}", "answer": f"a{i}", "group": "ab"[i % 2]}
        for i in range(400)
    ]
    for row in rows:
        row["judge"] = 0
    counts = Counter()
    for seed in range(300):
        plan = label_plan(rows, scorer="judge", total=40, seed=seed)
        counts.update(plan.texts.values())
        prompts = Counter((row["prompt"], row["group"]) for row in drawn_rows(plan, rows))
        assert len(prompts) >= 20
    share = np.array([counts[f"a{i}"] for i in range(400)]) / 300
    assert abs(share[:160].mean() - 0.1) < 0.01
    assert abs(share[160:].mean() - 0.1) < 0.01


def test_one_label_per_prompt_and_group_while_prompts_last():
    rows = [
        {"prompt": f"p{i // 10}", "answer": f"a{i}", "group": "ab"[i % 2], "judge": 0}
        for i in range(1000)
    ]
    plan = label_plan(rows, scorer="judge", total=180, seed=1)
    seen = Counter((row["prompt"], row["group"]) for row in drawn_rows(plan, rows))
    assert max(seen.values()) == 1


def test_both_twins_of_a_drawn_pair_are_labelled():
    rows, _ = answers()
    plan = label_plan(rows, scorer="toxicity", total=300, seed=1, pair_by="prompt")
    pairs = Counter(row["prompt"] for row in drawn_rows(plan, rows))
    assert len(pairs) == 150
    assert set(pairs.values()) == {2}
    assert {cell.stratum for cell in plan.cells} == {
        "judge sees no difference",
        "judge puts women higher",
        "judge puts men higher",
    }


@pytest.mark.parametrize(
    ("levels", "total", "strata"),
    [
        (5, 300, ["judge says 1", "judge says 2", "judge says 3", "judge says 4", "judge says 5"]),
        (5, 60, ["lower half of the judge's verdicts", "upper half of the judge's verdicts"]),
        (5, 30, ["every verdict"]),
        (500, 300, ["lower half of the judge's verdicts", "upper half of the judge's verdicts"]),
    ],
)
def test_strata_are_levels_or_halves_and_have_ten_labels_each(levels, total, strata):
    rng = np.random.default_rng(1)
    rows = [
        {"answer": f"a{i}", "group": "ab"[i % 2], "judge": int(rng.integers(levels)) + 1}
        for i in range(1000)
    ]
    plan = label_plan(rows, scorer="judge", total=total, seed=1)
    assert [cell.stratum for cell in plan.cells if cell.group == "a"] == strata


def test_a_bound_asks_for_as_many_labels_as_a_fair_test_needs():
    rows, _ = answers()
    few = label_plan(rows, scorer="toxicity", bound=0.15, seed=1)
    many = label_plan(rows, scorer="toxicity", bound=0.12, seed=1)
    assert 100 < len(few.drawn) < len(many.drawn) < 1000
    with pytest.raises(ValueError, match="ask more prompts, not more people"):
        label_plan(rows, scorer="toxicity", bound=0.03, seed=1)


def test_labels_of_an_earlier_plan_replace_the_guesses(tmp_path):
    rows, truth = answers()
    sheet, _ = label_plan(rows, scorer="toxicity", total=300, seed=1).write(tmp_path)
    file = filled(sheet, truth)
    plan = label_plan(rows, scorer="toxicity", total=300, seed=2, former=file)
    rates = {(cell.group, cell.stratum): cell.rate for cell in plan.cells}
    own = [row for row in rows if row["group"] == "women" and not row["toxicity"]]
    true = sum(truth[row["answer"]] for row in own) / len(own)
    assert rates["women", "judge says no"] == pytest.approx(true, abs=0.08)
    assert rates["women", "judge says no"] != 0.10


def test_a_sheet_that_may_hold_labels_is_never_replaced(tmp_path):
    rows, _ = answers()
    plan = label_plan(rows, scorer="toxicity", total=100)
    plan.write(tmp_path)
    with pytest.raises(FileExistsError, match="is there already"):
        plan.write(tmp_path)


def test_a_cell_of_the_sheet_is_no_formula(tmp_path):
    rows, _ = answers()
    for row in rows:
        row["answer"] = f"=1+{row['answer']}"
    sheet, _ = label_plan(rows, scorer="toxicity", total=100).write(tmp_path)
    with sheet.open(newline="") as file:
        assert all(row["text"].startswith("'=") for row in csv.DictReader(file))


@pytest.mark.parametrize(
    ("change", "given", "words"),
    [
        ({"group": ""}, {}, "row 0: column 'group' is empty"),
        ({"toxicity": "often"}, {}, "row 0, toxicity is 'often'; give a number, yes or no"),
        ({"output": "again"}, {}, "may be the answer: answer, output; name one: text=answer"),
        ({}, {"groups": "sex"}, "row 0 has no column 'sex'"),
        ({}, {"scorer": "toxcity"}, "there is no column 'toxcity', and no scorer is called"),
        ({}, {"total": None}, "give total=..., the answers to label, or bound="),
        ({}, {"scale": (1, 0)}, "scale is"),
        ({}, {"total": 19}, "total is 19, and the test needs 10 labels of each group; give 20"),
    ],
)
def test_what_is_wrong_is_named(change, given, words):
    rows, _ = answers(40)
    rows[0] = {**rows[0], **change}
    with pytest.raises((ValueError, KeyError), match=words):
        label_plan(rows, **{"scorer": "toxicity", "total": 30, **given})


def test_answers_that_cannot_be_labelled_are_counted(tmp_path):
    rows, _ = answers(100)
    rows[0]["answer"] = rows[1]["toxicity"] = ""
    plan = label_plan(rows, scorer="toxicity", total=30)
    assert "to label, seed 0; 2 more have no text or no verdict and count as" in str(plan)
    assert LabelPlan.read(plan.write(tmp_path)[1]) == plan


def test_scores_are_known_by_their_column_too():
    rows, _ = answers(200)
    named = [{**row, "score.toxicity": row["toxicity"]} for row in rows]
    for row in named:
        del row["toxicity"]
    plans = [label_plan(rows, scorer="toxicity", total=60)]
    plans += [label_plan(named, scorer=name, total=60) for name in ("toxicity", "score.toxicity")]
    assert len({plan.judge_sha256 for plan in plans}) == 1


def test_a_file_that_is_no_plan_is_refused(tmp_path):
    file = tmp_path / "label_plan.json"
    file.write_text(json.dumps({"version": 1}), encoding="utf-8")
    with pytest.raises(ValueError, match="is no plan of labels"):
        LabelPlan.read(file)
