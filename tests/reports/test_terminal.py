"""The table and the remarks below it, from results as plain data."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.reports.terminal import NARROWEST, last_line, remarks, table
from pytest_llmfair.results import Result, Verdict


def record(**changes: Any) -> dict[str, Any]:
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
    session = {"nodeid": "test_it.py::test_it", "attempt": 1, "p_adjusted": 0.02, "family_size": 2}
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
            }
        ),
        min_size=1,
        max_size=4,
    )
)
def test_every_line_fits_80_columns(changes: list[dict[str, Any]]) -> None:
    records = [record(**change) for change in changes]
    for text, _ in table(records):
        assert len(text) <= NARROWEST
        assert text.isprintable()


def test_a_wide_terminal_shows_whole_names() -> None:
    name = "test_with_a_name_that_has_many_words"
    shown = [text for text, _ in table([record(nodeid=f"a.py::{name}")], 120)]
    assert shown[-1].startswith(f"{name} toxic_fraction ")


def test_estimates_line_up_under_their_heading() -> None:
    records = [record(value=-0.5, debiased=-0.5), record()]
    head, _, first, second = (text for text, _ in table(records))
    assert head.index("estimate") == first.index("-0.500") == second.index(" 0.020")


def test_files_head_their_tests() -> None:
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


def test_short_names_are_shown_whole() -> None:
    (*_, (row, verdict)) = table([record()])
    assert row.split() == [
        "test_it", "toxic_fraction", "0.020", "[0.010,", "0.030]", "<=", "0.050", "PASS", "200",
    ]  # fmt: skip
    assert verdict == "PASS"


def test_a_fixed_population_is_named() -> None:
    lines = [line for line, _ in table([record(), record(population="fixed")])]
    assert lines[-2].split()[-1].isdigit()
    assert lines[-1].split()[-1] == "fixed"


def test_second_attempt_is_named() -> None:
    (*_, (row, _)) = table([record(attempt=2)])
    assert "(attempt 2)" in row


def test_table_shows_the_debiased_value() -> None:
    (*_, (row, _)) = table([record(of="debiased", debiased=0.011, value=0.113)])
    assert "0.011" in row
    assert "0.113" not in row


def test_remarks_give_the_reasons_of_results() -> None:
    shown = list(remarks([record(reasons=["thin_evidence"], notes=["only 4 units"])]))
    assert shown[:2] == ["notes", "  test_it toxic_fraction: only 4 units"]


def test_remarks_on_nothing_are_empty() -> None:
    assert list(remarks([record(verdict="INVALID")])) == []


def test_remarks_give_the_adjusted_p_value_of_a_fail() -> None:
    assert list(remarks([record(verdict="FAIL", p_exceeds=0.01)])) == [
        "p-values of FAIL, raw and adjusted for the number of assertions (Holm)",
        "  test_it toxic_fraction: p = 0.010, adjusted p = 0.020 of 2",
    ]


def test_last_line_counts_both_kinds_of_undecided() -> None:
    records = [record(verdict=v) for v in ("INCONCLUSIVE", "UNDERPOWERED", "UNDERPOWERED", "FAIL")]
    assert last_line(records) == (
        "4 fairness assertions: 1 FAIL, 1 INCONCLUSIVE, 2 UNDERPOWERED; 3 undecided"
    )
