"""The table and the remarks below it, from results as plain data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.judging.verdict import Result, Verdict
from pytest_llmfair.reports.terminal import (
    NARROWEST,
    could_have_found,
    last_line,
    models,
    remarks,
    table,
)


def record(**changes):
    result = Result(
        metric="toxic_fraction",
        verdict=Verdict.PASS,
        value=0.02,
        debiased=0.02,
        lower=0.01,
        upper=0.03,
        level=0.95,
        bound=0.05,
        direction="lower",
        mode="gate",
        red=False,
        unit="prompt",
        units=200,
        generations=200,
    )
    session = {"nodeid": "test_it.py::test_it", "attempt": 1, "p_adjusted": 0.02, "family_size": 2,
        "outcome": "passed", "expected": False}  # fmt: skip
    return {**result.to_dict(), **session, **changes}


numbers = st.one_of(st.none(), st.floats(-1, 1), st.sampled_from([-12345.678, 1e9, 0.05001]))


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "nodeid": st.text(max_size=200),
                "metric": st.text(min_size=1, max_size=100),
                "verdict": st.sampled_from([v.value for v in Verdict]),
                "value": numbers,
                "debiased": numbers,
                "lower": numbers,
                "upper": numbers,
                "bound": st.floats(0, 1),
                "direction": st.sampled_from(["lower", "higher", "two-sided"]),
                "fair_value": st.sampled_from([0.0, 1.0]),
                "units": st.integers(0, 10**6),
                "attribute": st.text(max_size=20),
                "expected": st.booleans(),
            }
        ),
        min_size=1,
        max_size=4,
    )
)
def test_every_line_fits_80_columns(changes):
    records = [record(**change) for change in changes]
    for text, _ in table(records):
        assert len(text) <= NARROWEST
        assert text.isprintable()


def test_numbers_that_fill_the_line_leave_room_for_the_name():
    log = {"direction": "two-sided", "scale": "log", "fair_value": 1.0, "bound": 0.2231435513}
    ratio = record(value=1.9120926, lower=1.7225683, upper=2.1255503, **log)
    small = record(verdict="UNDERPOWERED", expected=True, unit="repeated request")
    shown = [text for text, _ in table([ratio, small])]
    assert "toxic_fraction" in " ".join(shown)


def test_a_wide_terminal_shows_whole_names():
    name = "test_with_a_name_that_has_many_words"
    shown = [text for text, _ in table([record(nodeid=f"a.py::{name}")], 120)]
    assert shown[-1].startswith(f"{name} toxic_fraction ")


def test_estimates_line_up_under_their_heading():
    records = [record(value=-0.5, debiased=-0.5), record()]
    head, _, _, first, second = (text for text, _ in table(records))
    assert head.index("estimate") == first.index("-0.500") == second.index(" 0.020")


def test_files_head_their_tests():
    records = [
        record(nodeid="a.py::test_1"),
        record(nodeid="a.py::test_2"),
        record(nodeid="b.py::TestB::test_3[x]"),
    ]
    assert [text.split()[0] for text, _ in table(records)] == [
        "test",
        "a.py",
        "test_1",
        "test_2",
        "b.py",
        "TestB::test_3[x]",
    ]


@pytest.mark.parametrize(
    ("changes", "row"),
    [
        ({}, "test_it toxic_fraction 0.020 [0.010, 0.030] <= 0.050 PASS 200"),
        (
            {"attempt": 2},
            "test_it (attempt 2) toxic_fraction 0.020 [0.010, 0.030] <= 0.050 PASS 200",
        ),
        (
            {"population": "fixed"},
            "test_it toxic_fraction 0.020 [0.010, 0.030] <= 0.050 PASS 200 fixed",
        ),
        (
            {"of": "debiased", "debiased": 0.011, "value": 0.113},
            "test_it toxic_fraction 0.011 [0.010, 0.030] <= 0.050 PASS 200",
        ),
    ],
    ids=["plain", "second attempt", "fixed population", "debiased"],
)
def test_a_row_in_full(changes, row):
    (*_, (shown, verdict)) = table([record(**changes)])
    assert (" ".join(shown.split()), verdict) == (row, "PASS")


@pytest.mark.parametrize(
    "changes", [{"verdict": "INVALID"}, {"verdict": "FAIL", "p_exceeds": 0.01, "family_size": 1}]
)
def test_a_result_without_notes_has_no_remarks(changes):
    assert list(remarks([record(**changes)])) == []


def test_remarks_give_the_adjusted_p_value_of_a_fail():
    assert list(remarks([record(verdict="FAIL", p_exceeds=0.01)] * 2)) == [
        "p-values of FAIL, adjusted for the number of assertions (Holm)",
        "  test_it toxic_fraction: p = 0.020",
        "  test_it toxic_fraction: p = 0.020",
    ]


def test_every_undecided_result_names_a_number_to_aim_for():
    shown = list(remarks([record(verdict="INCONCLUSIVE", needed_units=None)]))
    assert shown == [
        "undecided: these samples neither prove nor refute their bounds",
        "  test_it toxic_fraction: no estimate can be given; try twice as many, 400",
        "    prompts; 200 prompts so far",
    ]


def test_equal_notes_are_there_once_with_the_tests_they_belong_to():
    noted = {"reasons": ["thin_evidence"], "notes": ["only 4 units", "one answer"]}
    names = [f"a.py::test_{i}" for i in range(8)]
    shown = list(remarks([record(nodeid=n, **noted, verdict="INVALID") for n in names]))
    assert shown == [
        "notes",
        "  test_0, test_1, test_2, test_3, test_4, test_5 and 2 more:",
        "    only 4 units",
        "    one answer",
    ]


LONG = "test_that_answers_hardly_change_when_the_group_in_the_prompt_changes"
INVARIANCE = "counterfactual invariance (1 - ROUGE-L)"


def test_every_check_can_be_told_apart_at_80_columns():
    names = [f"a.py::{LONG}[{attribute}]" for attribute in ("gender", "age")]
    both = [
        record(nodeid=name, metric=INVARIANCE, attribute=attribute)
        for name in names
        for attribute in ("gender", "age")
    ]
    assert [text for text, _ in table(both)] == [
        "test and metric                        estimate interval    bound    verdict n",
        "a.py",
        f"{LONG}[gender]",
        "  counterfactual invariance (gender,",
        "  1 - ROUGE-L)                         0.020 [0.010, 0.030] <= 0.050 PASS    200",
        "  counterfactual invariance (age,",
        "  1 - ROUGE-L)                         0.020 [0.010, 0.030] <= 0.050 PASS    200",
        f"{LONG}[age]",
        "  counterfactual invariance (gender,",
        "  1 - ROUGE-L)                         0.020 [0.010, 0.030] <= 0.050 PASS    200",
        "  counterfactual invariance (age,",
        "  1 - ROUGE-L)                         0.020 [0.010, 0.030] <= 0.050 PASS    200",
    ]


def test_an_expected_verdict_is_marked_and_counted_apart():
    records = [record(verdict="FAIL", expected=True), record(verdict="FAIL"), record()]
    (_, _, (first, colour), *_) = table(records[:1])
    assert ("FAIL (expected)" in first, colour) == (True, "")
    assert last_line(records) == (
        "3 fairness assertions: 1 PASS, 1 FAIL, 1 expected FAIL; 0 undecided"
    )


def test_mode_point_leaves_nothing_undecided():
    records = [record(verdict="INCONCLUSIVE", mode="point")]
    assert last_line(records) == "1 fairness assertion: 1 INCONCLUSIVE; judged by their values"
    assert list(remarks(records)) == []
    assert last_line([*records, record()]).endswith("; 0 undecided")


def test_the_models_and_where_their_answers_are_from_are_named():
    records = [
        record(model="hf:bot", origin=[0, 8]),
        record(model="hf:bot", origin=[4, 0]),
        record(model="builtin:ngram", origin=[4, 0]),
        record(),
    ]
    assert list(models(records)) == [
        "model: hf:bot, asked live and answers replayed",
        "model: builtin:ngram, the built-in toy model (choose another with --llmfair-model), "
        "asked live",
        "model: none, for tests that judge data of their own",
    ]


def test_last_line_counts_both_kinds_of_undecided():
    records = [record(verdict=v) for v in ("INCONCLUSIVE", "UNDERPOWERED", "UNDERPOWERED", "FAIL")]
    assert last_line(records) == (
        "4 fairness assertions: 1 FAIL, 1 INCONCLUSIVE, 2 UNDERPOWERED; 3 undecided"
    )


def test_the_last_sentence_says_what_the_tests_could_have_found():
    found = [
        record(could_find=("0.08", "in sentiment")),
        record(could_find=("0.12", "in sentiment"), nodeid="t.py::test_b"),
        record(could_find=("18 %", "changed answers")),
        record(could_find=("6", "words")),
    ]
    assert could_have_found(found) == (
        "In 80 % of runs these tests would find: 0.08 to 0.12 in sentiment; 18 % changed answers; "
        "6 words."
    )
    blind = could_have_found([*found[:1], record(could_find=None, nodeid="t.py::test_blind")])
    assert blind.endswith("0.08 in sentiment; nothing in test_blind toxic_fraction.")
