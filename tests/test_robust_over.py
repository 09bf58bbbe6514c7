"""`robust_over`: verdicts that hold for other wordings, from the call to the record."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pytest_llmfair import (
    BoundExceeded,
    InvalidEvidence,
    assert_counterfactual_invariance,
    assert_metric,
    assert_toxic_fraction_within,
)
from pytest_llmfair.cli import main
from pytest_llmfair.counterfactuals import pairs_from_templates
from pytest_llmfair.fairness import Fairness
from pytest_llmfair.gate.check_file import read_checks
from pytest_llmfair.judging.recorded import judge_again, to_record
from pytest_llmfair.responses import PairedResponses
from pytest_llmfair.settings import Settings
from tests.judged import result_of

ITEMS, WORDINGS = 40, 6
ITEM = np.repeat(np.arange(ITEMS), WORDINGS).tolist()
WORDING = [f"wording {j}" for j in np.tile(np.arange(WORDINGS), ITEMS)]
FACTORS = {"item": ITEM, "wording": WORDING}


def scores(shares, seed=0, items=ITEMS):
    """Toxic or not, with the share of each wording."""
    rng = np.random.default_rng(seed)
    return (rng.random((items * len(shares), 1)) < np.tile(shares, items)[:, None]).astype(float)


def judged(data, bound=0.3, factors=FACTORS, over=("wording",), **more):
    given = {"bound": bound, "robust_over": over, "factors": factors, **more}
    return result_of(assert_metric, "toxic_fraction", data, **given)


def answered(templates=6, jobs=12, shift=0.0, generations=2, seed=0):
    """Answers that are numbers; those about women are higher by `shift` in the first wording."""
    texts = [f"In case {n} {{person}} works as {{a:job}}." for n in range(templates)]
    pairs = pairs_from_templates(texts, fillers={"job": [f"job{i}" for i in range(jobs)]})
    rng = np.random.default_rng(seed)

    def side(more):
        return tuple(
            tuple(str(round(x, 3)) for x in np.clip(rng.normal(0.4, 0.1, generations) + add, 0, 1))
            for pair in pairs
            for add in [more if pair.template == texts[0] else 0.0]
        )

    return PairedResponses(tuple(pairs), side(shift), side(0.0))


def number(texts):
    return [float(text) for text in texts]


def test_the_interval_is_wider_where_wordings_differ():
    data = scores([0.05, 0.1, 0.1, 0.2, 0.3, 0.6])
    alone = assert_metric("toxic_fraction", data, bound=0.6, units=ITEM)
    both = judged(data, 0.6)
    assert both.value == alone.value
    assert both.upper - both.lower > 2 * (alone.upper - alone.lower)
    assert both.units == ITEMS


def test_it_says_what_depends_on_the_wording():
    result = judged(scores([0.02, 0.02, 0.2, 0.2, 0.3, 0.9]))
    assert list(result.robustness) == ["over", "wordings", "variance", "next", "not seen"]
    assert result.robustness["over"] == "40 items x 6 wordings; for other wordings too"
    assert result.robustness["wordings"].startswith(
        "1 of 6 alone would FAIL, 2 would PASS: the verdict depends on the wording; worst "
        '"wording 5" 0.8'
    )
    assert result.robustness["not seen"] == (
        "a kind of wording rarer than 39 % may be missing among 6"
    )
    assert result.robustness["next"].startswith("6 more wordings would leave about 0.")
    assert "not seen" in str(result)
    undecided = judged(scores([0.02, 0.02, 0.2, 0.2, 0.3, 0.6]), 0.4)
    assert undecided.verdict.value == "INCONCLUSIVE"
    assert "Add what the line 'next' says" in " ".join(str(undecided).split())


def test_variance_shares_add_up_and_find_what_was_planted():
    rng = np.random.default_rng(0)
    of_wording = np.tile(rng.normal(0, 0.1, 60), 60)
    values = np.clip(0.5 + of_wording[:, None] + rng.normal(0, 0.1, (3600, 4)), 0, 1)
    item, wording = np.repeat(range(60), 60), np.tile(range(60), 60)
    result = judged(
        (values > 0.5).astype(float), 0.9, {"item": item.tolist(), "wording": wording.tolist()}
    )
    shares = dict(part.rsplit(" ", 2)[:2] for part in result.robustness["variance"].split(", "))
    assert list(shares) == ["items", "wordings", "both together", "sampling"]
    assert sum(map(int, shares.values())) == pytest.approx(100, abs=2)
    assert 20 < int(shares["wordings"]) < 50
    assert int(shares["items"]) <= 2
    assert int(shares["sampling"]) > 40


def test_strict_asks_it_of_every_wording():
    data = scores([0.02, 0.02, 0.02, 0.02, 0.02, 0.95])
    assert judged(data, 0.7).verdict.value == "PASS"
    assert "parts_exceed" in judged(data, 0.7).reasons
    strict = judged(data, 0.7, mode="strict")
    assert strict.verdict.value == "FAIL"
    assert any("wording 5" in note for note in strict.notes)
    near = judged(scores([0.02, 0.02, 0.02, 0.02, 0.02, 0.75]), 0.8, mode="strict")
    assert near.verdict.value == "INCONCLUSIVE"
    assert "worst_level_open" in near.reasons
    assert judged(scores([0.02] * 6), 0.8, mode="strict").verdict.value == "PASS"


def test_two_wordings_are_judged_by_the_worst():
    factors = {"item": np.repeat(range(ITEMS), 2), "wording": np.tile(range(2), ITEMS)}
    result = judged(scores([0.05, 0.9]), 0.6, factors)
    assert result.verdict.value == "FAIL"
    assert result.value > 0.8
    assert "fixed_wordings" in result.reasons
    assert result.robustness["over"] == "40 items x 2 wordings; for these wordings only"


def test_no_number_of_items_decides():
    result = judged(scores([0.0, 0.1, 0.2, 0.3, 0.6, 0.9]))
    assert result.verdict.value == "UNDERPOWERED"
    assert "too_few_levels" in result.reasons
    assert result.needed_units is None
    text = " ".join(str(result).split())
    assert "no number of items decides" in text
    assert "write more wordings" in text
    assert "try twice as many" not in text


def test_fewer_than_five_items_are_underpowered():
    factors = {"item": np.repeat(range(4), 6), "wording": np.tile(range(6), 4)}
    result = judged(np.zeros((24, 1)), 0.9, factors)
    assert result.verdict.value == "UNDERPOWERED"
    assert "only 4 items; give at least 5" in str(result)


def test_equal_answers_are_no_proof_of_0():
    result = judged(np.zeros((ITEMS * WORDINGS, 1)), 0.05)
    assert result.upper > 0.05
    assert result.verdict.value != "PASS"
    assert "no_variance" in result.reasons


def test_a_wording_with_one_item_is_invalid():
    factors = {"item": [*range(10), *range(10), 0], "wording": ["a"] * 10 + ["b"] * 10 + ["c"]}
    with pytest.raises(InvalidEvidence, match="has one item only"):
        assert_metric(
            "toxic_fraction", np.zeros((21, 1)), bound=0.5, robust_over="wording", factors=factors
        )


def test_other_metrics_are_invalid():
    with pytest.raises(InvalidEvidence, match="robust_over is for means"):
        assert_metric(
            "demographic_parity_difference",
            [1, 0] * 24,
            groups=["a"] * 24 + ["b"] * 24,
            bound=0.2,
            robust_over=("wording",),
            factors={"item": [i % 6 for i in range(48)], "wording": [i % 8 for i in range(48)]},
        )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"robust_over": ("wording",)}, "needs the item of each row, and these data carry none"),
        ({"robust_over": ("item",), "factors": FACTORS}, "name each factor besides the items"),
        ({"robust_over": (), "factors": FACTORS}, "robust_over names no factor"),
        ({"robust_over": ("cue",), "factors": FACTORS}, "'wording', which is not in robust_over"),
        ({"robust_over": ("wording",), "factors": [1]}, "factors is a list"),
        (
            {"robust_over": ("wording",), "factors": {**FACTORS, "wording": ["a"] * len(ITEM)}},
            "all rows have the same wording, 'a'",
        ),
        (
            {"robust_over": ("wording",), "factors": {**FACTORS, "wording": WORDING[1:]}},
            "wording has 239 labels for 240 rows",
        ),
        (
            {"robust_over": ("wording",), "factors": {**FACTORS, "item": [None, *ITEM[1:]]}},
            "the item of row 0 is None",
        ),
        (
            {"robust_over": ("wording",), "factors": FACTORS, "population": "fixed"},
            "takes items as draws from more",
        ),
        (
            {"robust_over": ("wording",), "factors": FACTORS, "sequential": "obf"},
            "judges once",
        ),
    ],
)
def test_calls_that_cannot_work_say_why(more, message):
    with pytest.raises(ValueError, match=message):
        assert_metric("toxic_fraction", scores([0.1] * 6), bound=0.5, **more)


def test_units_are_the_items_where_factors_do_not_name_them():
    data = scores([0.1] * 6)
    given = judged(data)
    found = judged(data, factors={"wording": WORDING}, units=ITEM)
    assert (found.lower, found.upper) == (given.lower, given.upper)


@pytest.mark.parametrize("known", [None, (0.0, 400.0)])
def test_differences_in_their_own_unit_hold_for_other_wordings(known):
    rng = np.random.default_rng(4)
    more = np.tile([0.0, 10.0, 20.0, 30.0, 40.0, 50.0], ITEMS)[:, None]
    sides = rng.normal(150.0, 5.0, (2, len(ITEM), 2)) + np.array([more, 0.0 * more])
    given = {"bound": 60.0, "factors": FACTORS, "robust_over": ("wording",), "score_range": known}
    found = result_of(assert_metric, "score_difference", *sides, **given)
    alone = result_of(assert_metric, "score_difference", *sides, bound=60.0, score_range=known)
    assert found.value == pytest.approx(np.mean(sides[0] - sides[1])) == alone.value
    # The six wordings differ by 10 each: 25 +- 2.57 * sqrt(350 / 6).
    if known is None:
        assert (found.lower, found.upper) == pytest.approx((25.0 - 19.6, 25.0 + 19.6), abs=1.0)
    else:  # 40 items may have missed a rare one that is 400 away.
        assert found.lower < 25.0 - 19.6 - 10.0
        assert found.upper > 25.0 + 19.6 + 10.0
    assert (found.units, found.unit, found.verdict.value) == (ITEMS, "item", "PASS")
    assert found.robustness["over"] == "40 items x 6 wordings; for other wordings too"
    record = json.loads(json.dumps(to_record(found, Settings(), texts=False)))
    again = judge_again(record, "test")
    assert (again.lower, again.upper) == (found.lower, found.upper)


def invariance(responses, eps=0.3, **more):
    given = {"metric": "sentiment", "scorer": number, **more}
    return result_of(assert_counterfactual_invariance, responses, eps, **given)


def test_pairs_of_templates_bring_their_labels():
    responses = answered()
    result = assert_metric(
        "weak_sentiment_parity",
        responses,
        bound=0.9,
        scorer=number,
        robust_over=("wording",),
    )
    assert result.robustness["over"].startswith("12 items x 6 wordings")
    excess = invariance(responses, robust_over=["wording"])
    assert (excess.verdict.value, excess.judged) == ("PASS", "excess")
    assert excess.robustness["over"].startswith("12 items x 6 wordings")


def test_a_fixture_checks_it_too():
    fairness = Fairness(client=lambda: str.upper, scorers=dict)
    result = fairness.check(
        "toxic_fraction", scores([0.1] * 6), bound=0.5, robust_over=("wording",), factors=FACTORS
    )
    assert result.robustness["over"].endswith("for other wordings too")
    made = assert_toxic_fraction_within(
        scores([0.1] * 6), bound=0.5, robust_over=("wording",), factors=FACTORS
    )
    assert (made.lower, made.upper) == (result.lower, result.upper)


@pytest.mark.parametrize("over", [("wording",), ("wording", "cue")])
@pytest.mark.parametrize("texts", [True, False])
def test_a_result_is_judged_again_from_its_record(over, texts):
    result = invariance(answered(), on="value", robust_over=over, mode="point")
    record = json.loads(json.dumps(to_record(result, Settings(mode="point"), texts=texts)))
    again = judge_again(record, "test")
    assert (again.lower, again.upper) == (result.lower, result.upper)
    assert again.robustness == result.robustness
    assert again.verdict is result.verdict


def test_noise_alone_is_no_failure_of_a_wording():
    # Answers to one prompt differ by more than the bound, and the group changes nothing.
    responses = answered(jobs=30, generations=3)
    result = invariance(responses, 0.05, on="value", robust_over=("wording",), mode="strict")
    assert result.value > 0.1
    assert result.verdict.value == "INVALID"
    assert "floor_above_bound" in result.reasons


def test_a_client_is_asked_once_the_labels_are_known():
    asked = []

    def model(prompt):
        asked.append(prompt)
        return "fine"

    with pytest.raises(ValueError, match="which would be its wording"):
        assert_counterfactual_invariance(
            pairs_from_templates(["She is a nurse.", "He is a poet."]),
            0.3,
            client=model,
            robust_over=("wording",),
            factors={"item": [1, 2]},
        )
    assert not asked


def test_higher_is_fairer_too():
    low = [0.95, 0.95, 0.95, 0.95, 0.95, 0.3]
    texts = [("a b c d", "a b c d" if x else "e f g h") for x in scores(low).ravel()]
    more = {"factors": FACTORS, "robust_over": ("wording",)}
    with pytest.raises(BoundExceeded) as error:
        assert_metric(
            "counterfactual_rouge_l",
            [[a] for a, _ in texts],
            [[b] for _, b in texts],
            minimum=0.6,
            mode="strict",
            **more,
        )
    assert "'wording 5'" in " ".join(str(error.value).split())


def test_a_check_in_yaml_names_the_columns(tmp_path):
    rows = ["scores,job,text", *(f"{x[0]:g},{i},{w}" for x, i, w in rows_of(scores([0.1] * 6)))]
    (tmp_path / "data.csv").write_text("\n".join(rows), encoding="utf-8")
    text = """
version: 1
checks:
- metric: toxic_fraction
  data: data.csv
  bound: 0.5
  robust_over: [wording]
  factors: {item: job, wording: text}
  rationale: house rule
  owner: quality team
"""
    file = tmp_path / "a.llmfair.yaml"
    file.write_text(text, encoding="utf-8")
    (check,) = read_checks(file).checks
    result = check.run(client=None, scorers=dict, pairs=None)
    assert result.robustness["over"] == "40 items x 6 wordings; for other wordings too"
    for given, message in [
        ("robust_over: [item]", "name each factor besides the items"),
        ("factors: {item: job, wording: txt}", "has no column 'txt'"),
    ]:
        old = next(line for line in text.splitlines() if given[:6] in line).strip()
        file.write_text(text.replace(old, given), encoding="utf-8")
        with pytest.raises(ValueError, match=message):
            read_checks(file)


def rows_of(data):
    return zip(data, ITEM, WORDING, strict=True)


def test_a_plan_shows_what_wordings_leave_open(capsys, refused):
    plan = ["power", "toxic_fraction", "--bound", "0.1", "--items", "50", "--generations", "2"]
    main([*plan, "--wordings", "6", "--wording-share", ".2"])
    text = capsys.readouterr().out
    assert "UNDERPOWERED: no number of items decides; write more wordings" in text
    assert "rarer than 39 %" in text
    main([*plan, "--wordings", "20", "--wording-share", ".05"])
    assert "UNDERPOWERED" not in capsys.readouterr().out
    for more, message in [
        (["--wordings", "3"], "give 4 or more"),
        (["--wordings", "6", "--wording-share", ".5"], "wording-share is 0.5"),
    ]:
        assert message in refused(*plan, *more)
    assert "is no mean over rows" in refused(
        "power", "impact_ratio", "--bound", ".8", "--items", "50", "--wordings", "6"
    )
