"""`llmfair local-law-144`: counts, rates, ratios and joint intervals of groups."""

from __future__ import annotations

import csv
import datetime
import hashlib
import io
import json
import math
import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.cli import main
from pytest_llmfair.gate.local_law_144 import HEADING, local_law_144
from pytest_llmfair.metrics import impact_ratio

# Synthetic demonstration table of aedt-audit 0.3.0 (seed 0).
WOMEN, MEN = (510, 2441), (925, 2409)


def decisions(selected, people):
    return [True] * selected + [False] * (people - selected)


@pytest.fixture
def file(tmp_path):
    """Return a function that writes lines of sex, race, hired and score to a CSV file."""

    def write(*lines, heading="sex,race,hired,score"):
        path = tmp_path / "people.csv"
        path.write_text("\n".join([heading, *lines]) + "\n", encoding="utf-8")
        return str(path)

    return write


def command(path, *options, decision=("--selected", "hired")):
    return main(["local-law-144", path, *decision, "--sex", "sex", "--race", "race", *options])


def test_the_published_synthetic_table() -> None:
    report = local_law_144(
        ["female"] * WOMEN[1] + ["male"] * MEN[1],
        ["unknown"] * (WOMEN[1] + MEN[1]),
        selected=decisions(*WOMEN) + decisions(*MEN),
    )
    women, men = report.tables[0].groups
    assert (women.applicants, women.selected, men.applicants, men.selected) == (
        *reversed(WOMEN),
        *reversed(MEN),
    )
    assert (round(women.ratio, 3), round(women.z, 3), women.shortfall) == (0.544, -13.354, 240)
    assert (men.ratio, men.shortfall, report.tables[0].reference) == (1.0, 0, "male")
    # With two groups the joint interval is the metric's own.
    labels = ["female"] * WOMEN[1] + ["male"] * MEN[1]
    alone = impact_ratio(decisions(*WOMEN) + decisions(*MEN), groups=labels).interval()
    assert (women.ratio_lower, women.ratio_upper) == pytest.approx((alone.lower, alone.upper))


# Few labels, some of them unknown, so that small and empty groups are common.
people = st.lists(
    st.tuples(
        st.sampled_from(["F", "M", "f", "unknown", " "]),
        st.sampled_from(["A", "B", "C", "Prefer not to say"]),
        st.sampled_from([True, True, False, None]),
    ),
    min_size=1,
    max_size=60,
).filter(lambda rows: any(row[2] is not None for row in rows))


@given(people, st.sampled_from([0.0, 0.02, 0.2]))
@settings(max_examples=60, deadline=None)
def test_counts_add_up_and_intervals_hold_their_values(rows, least_share) -> None:
    sex, race, selected = zip(*rows, strict=True)
    report = local_law_144(sex, race, selected=selected, least_share=least_share)
    assert report.applicants + report.undecided == len(rows)
    assert report.selected == sum(x is True for x in selected)
    for table in report.tables:
        groups = table.groups
        assert sum(g.applicants for g in groups) + table.unknown == report.applicants
        assert sum(g.selected for g in groups) + table.unknown_selected == report.selected
        for g in groups:
            assert g.rate_lower <= g.rate == pytest.approx(g.selected / g.applicants)
            assert g.rate <= g.rate_upper
            assert g.excluded == (g.share < least_share)
            if g.excluded or not table.reference:
                assert math.isnan(g.ratio)
                assert g.shortfall is None
            else:
                assert 0.0 <= g.ratio_lower <= g.ratio <= g.ratio_upper <= 1.0
        best = [g for g in groups if g.group == table.reference]
        assert [g.ratio for g in best] == [1.0] * len(best)


@given(people)
@settings(max_examples=40, deadline=None)
def test_the_order_of_people_does_not_matter(rows) -> None:
    mixed = random.Random(0).sample(rows, len(rows))
    first, second = (
        local_law_144(sex, race, selected=selected)
        for sex, race, selected in (zip(*some, strict=True) for some in (rows, mixed))
    )
    assert repr(first) == repr(second)


@given(st.tuples(st.integers(0, 40), st.integers(1, 40)), st.integers(1, 40))
@settings(max_examples=100, deadline=None)
def test_the_shortfall_is_the_fewest_selections_to_four_fifths(group, best) -> None:
    selected, people = min(group), max(group)
    report = local_law_144(
        ["a"] * people + ["b"] * 40,
        ["unknown"] * (people + 40),
        selected=decisions(selected, people) + decisions(best, 40),
        least_share=0.0,
    )
    for g in report.tables[0].groups:
        top = next(x for x in report.tables[0].groups if x.group == report.tables[0].reference)
        # Whole numbers, since .8 has no exact float.
        reached = 5 * (g.selected + g.shortfall) * top.applicants
        assert reached >= 4 * top.selected * g.applicants
        if g.shortfall:
            short = 5 * (g.selected + g.shortfall - 1) * top.applicants
            assert short < 4 * top.selected * g.applicants


def test_a_small_group_is_listed_and_takes_no_part_in_ratios() -> None:
    report = local_law_144(
        ["unknown"] * 203,
        ["A"] * 100 + ["B"] * 100 + ["C"] * 3,
        selected=decisions(50, 100) + decisions(25, 100) + decisions(3, 3),
    )
    table = report.tables[1]
    small = table.groups[2]
    assert (small.group, small.applicants, small.selected, small.rate) == ("C", 3, 3, 1.0)
    assert small.excluded
    # Its rate of 1 is not the highest rate.
    assert (table.reference, table.groups[1].ratio) == ("A", 0.5)


def test_a_scoring_rate_is_the_share_above_the_median() -> None:
    report = local_law_144(["a", "a", "b", "b"], ["x"] * 4, scores=[1.0, 2.0, 3.0, 4.0])
    assert report.median == 2.5
    assert [g.rate for g in report.tables[0].groups] == [0.0, 1.0]
    # Scores at the median are not above it.
    assert local_law_144(["a", "b"], ["x"] * 2, scores=[1.0, 1.0]).selected == 0


def test_no_ratio_where_nobody_is_selected_or_there_is_one_group() -> None:
    nobody = local_law_144(["a", "b"], ["x", "x"], selected=[False, False])
    assert [table.reference for table in nobody.tables] == ["", "", ""]
    alone = local_law_144(["a", "b"], ["x", "x"], selected=[True, False])
    assert [table.reference for table in alone.tables] == ["a", "", "a / x"]


def test_markdown_names_what_is_left_out(file, capsys) -> None:
    lines = ["F,A|<b>,1,3", "F,B,0,1", ",B,0,2", "M,Unknown,yes,5", "M,B,,4"] + ["M,B,no,0"] * 60
    assert command(file(*lines)) == 0
    page = capsys.readouterr().out
    assert page.startswith(f"# {HEADING}\n")
    assert "period: not given." in page
    assert "64 people with a decision; 2 selected." in page
    assert "1 person left out of every table: no decision." in page
    assert "Unknown sex: 1 person, 0 selected; not in the rows above." in page
    assert "Unknown race/ethnicity: 1 person, 1 selected; not in the rows above." in page
    assert "| A&#124;&lt;b&gt; | 1 | 1 | 1.000" in page
    assert "excluded, 1.6 % of people" in page
    for word in ("complies", "compliant", "comply"):
        assert word not in page


def test_no_cell_is_a_formula_to_a_spreadsheet(file, capsys) -> None:
    bad = [
        '=HYPERLINK("//evil";"x")',
        "+1+1",
        "-2+3",
        "@SUM(A1)",
        "\t=1+1",
        "\r=1",
        "\uff1d1+1",
        "a;=1+1",
        "a;\t@1",
    ]
    lines = []
    for text in bad:
        cell = f'"{text.replace(chr(34), chr(34) * 2)}"'
        lines += [f"F,{cell},1,3"] * 20 + [f"M,{cell},0,1"] * 10
    assert command(file(*lines), "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    cells = [row["group"] for row in rows]
    assert sum("HYPERLINK" in cell for cell in cells) == 3
    parts = [part for cell in cells for part in re.split(r"[;\t\r\n]", cell)]
    assert not [part for part in parts if part.lstrip()[:1] in tuple("=+-@\uff1d")]
    # Numbers below zero stay numbers.
    assert [row for row in rows if row["z"].startswith("-") and float(row["z"]) < 0.0]


def test_csv_and_json_hold_the_same_numbers(file, capsys) -> None:
    path = file(*["F,A,1,3"] * 20, *["M,A,0,1"] * 30, *["M,B,1,1"] * 30, ",B,1,9")
    assert command(path, "--format", "json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["heading"] == HEADING
    source = record["source"]
    assert source["file"] == Path(path).name
    assert source["sha256"] == hashlib.sha256(Path(path).read_bytes()).hexdigest()
    assert (source["period"], source["made"]) == ("not given", datetime.date.today().isoformat())
    assert command(path, "--format", "csv", "--period", "2026-01/2026-06") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {(row["sha256"], row["period"]) for row in rows} == {
        (source["sha256"], "2026-01/2026-06")
    }
    assert {row["status"] for row in rows} == {HEADING.lower()}
    for table in record["tables"]:
        own = [row for row in rows if row["category"] == table["category"]]
        assert [row["group"] for row in own] == [
            *(g["group"] for g in table["groups"]),
            "unknown category",
        ]
        assert int(own[-1]["applicants"]) == table["unknown"]
        for row, g in zip(own, table["groups"], strict=False):
            for name in ("applicants", "rate", "ratio", "ratio_lower", "z", "shortfall"):
                assert row[name] == ("" if g[name] is None else str(g[name]))


def test_a_further_label_for_unknown(file, capsys) -> None:
    path = file(*["F,A,1,3"] * 20, *["M,A,0,1"] * 30, *["Keine Angabe,A,1,1"] * 5)
    assert command(path, "--unknown", "keine angabe", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["tables"][0]["unknown"] == 5


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        (["F,A,maybe,1"], {}, "people.csv: hired is 'maybe'; write 1 or 0, or yes or no"),
        (
            ["F,A,1,1", "F,A,1,high"],
            {"decision": ("--score", "score")},
            "people.csv: score is 'high'",
        ),
        (["F,A,1,inf"], {"decision": ("--score", "score")}, "write a finite number"),
        (["F,A,1,1"], {"decision": ("--selected", "chosen")}, "has no column 'chosen'; "),
        ([], {}, "people.csv has no rows"),
        (["F,A,,1"], {}, "none of 1 people has a decision"),
    ],
)
def test_wrong_files_are_named_with_a_remedy(file, capsys, lines, options, message) -> None:
    with pytest.raises(SystemExit) as stopped:
        command(file(*lines), **options)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "rates"),
    [
        ((30, 30, 200), (0.1, 0.2, 0.2)),
        ((40,) * 6, (0.1, 0.2, 0.3, 0.3, 0.3, 0.3)),
        ((500, 100, 60, 50, 300), (0.3, 0.25, 0.3, 0.3, 0.2)),
    ],
)
def test_rates_and_ratios_are_covered_jointly(sizes, rates) -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([chr(97 + i) for i in range(len(sizes))], sizes).tolist()
    truth = [rate / max(rates) for rate in rates]
    held = np.zeros(2)
    for _ in range(400):
        drawn = [rng.random(n) < rate for n, rate in zip(sizes, rates, strict=True)]
        report = local_law_144(
            labels,
            ["unknown"] * len(labels),
            selected=np.concatenate(drawn).tolist(),
            least_share=0.0,
        )
        groups = report.tables[0].groups
        held += (
            all(g.rate_lower <= x <= g.rate_upper for g, x in zip(groups, rates, strict=True)),
            all(g.ratio_lower <= x <= g.ratio_upper for g, x in zip(groups, truth, strict=True)),
        )
    # Three standard errors of 400 runs at 95 % are 3.3 points.
    assert (held / 400 > 0.917).all(), held / 400


@pytest.mark.slow
def test_scoring_rates_are_covered_although_the_median_is_estimated() -> None:
    rng = np.random.default_rng(0)
    shifts, sizes = (0.0, 0.5, 0.2), (150, 150, 100)
    labels = np.repeat(["a", "b", "c"], sizes).tolist()
    many = np.concatenate(
        [rng.normal(s, 1.0, 2000 * n) for s, n in zip(shifts, sizes, strict=True)]
    )
    above = [float((rng.normal(s, 1.0, 400_000) > np.median(many)).mean()) for s in shifts]
    held = 0
    for _ in range(400):
        scores = np.concatenate(
            [rng.normal(s, 1.0, n) for s, n in zip(shifts, sizes, strict=True)]
        )
        report = local_law_144(labels, ["unknown"] * 400, scores=scores.tolist())
        held += all(
            g.ratio_lower <= x / max(above) <= g.ratio_upper
            for g, x in zip(report.tables[0].groups, above, strict=True)
        )
    assert held / 400 > 0.917, held / 400
