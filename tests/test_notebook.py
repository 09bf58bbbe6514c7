"""What estimates and results look like in a notebook, and as records and frames."""

from __future__ import annotations

import html
import json
import math
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from pytest_llmfair import assert_metric
from pytest_llmfair.metrics import (
    all_metrics,
    average_score_gap,
    demographic_parity_difference,
    get_metric,
    impact_ratio,
    ruted_neutrality,
    ruted_skew,
    toxic_fraction,
    toxicity_probability,
)
from pytest_llmfair.stats import Mean

RNG = np.random.default_rng(0)
GROUPS = RNG.choice(["A", "B", "C"], 600)
HIRED = (RNG.random(600) < np.where(GROUPS == "A", 0.5, 0.3)).astype(int)
TWO = np.where(GROUPS == "A", "A", "B")


def tags(text):
    found = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            found.append((tag, dict(attributes)))

    Reader().feed(text)
    return found


def test_an_estimate_is_one_line_with_value_interval_and_people():
    estimate = demographic_parity_difference(HIRED, groups=TWO)
    ends = estimate.interval()
    line = f"RateDifference {estimate.value:.3f} [{ends.lower:.3f}, {ends.upper:.3f}]"
    assert repr(estimate) == str(estimate) == f"{line} (95 %, 600 people)"


def test_repeats_and_fixed_units_are_counted():
    shown = repr(toxicity_probability([[0.1, 0.9], [0.2, 0.3]]))
    assert shown == "MeanMaximum 0.500 [0.013, 0.987] (95 %, 2 prompts x 2)"
    assert repr(ruted_skew([15] * 4, [30] * 4)).endswith("(95 %, 4 fixed occupations x 30)")


def test_a_debiased_kind_shows_the_debiased_value_and_its_floor():
    estimate = ruted_neutrality([20, 9, 16, 12] * 10, [30] * 40)
    assert estimate.interval().of == "debiased"
    assert estimate.value - estimate.debiased > 0.001
    assert repr(estimate).startswith(f"Distance {estimate.debiased:.3f} [")
    plug_in = f"(plug-in {estimate.value:.3f}, floor {estimate.noise_floor():.3f}) (95 %, 40"
    assert plug_in in repr(estimate)


def test_an_undefined_estimate_says_why():
    estimate = impact_ratio([0] * 40, groups=["A", "B\n"] * 20)
    assert repr(estimate) == (
        "RateRatio not computable: the selection rate of A and of B\\n is 0: 0 over 0 is no ratio "
        "(40 people)"
    )


def test_a_kind_of_a_user_prints_as_one_line_too():
    from dataclasses import dataclass

    @dataclass(eq=False, kw_only=True)
    class Own(Mean):
        """Own."""

    values = [0.2, 0.4, 0.9]
    assert repr(Own.of_values(values)) == repr(Mean.of_values(values)).replace("Mean", "Own")


@pytest.mark.parametrize("name", all_metrics())
def test_every_metric_prints_short_and_shows_itself(name):
    estimate = get_metric(name).fair_sample(12, 2)
    assert "\n" not in repr(estimate)
    assert len(repr(estimate)) < 120
    for part in (estimate.groups, estimate.sample, estimate.contributions, estimate.metric):
        assert "array(" not in repr(part)
        assert len(repr(part)) < 2000
    json.dumps(estimate.to_dict(), allow_nan=False)
    assert list(estimate.to_frame().index) == [row["key"] for row in estimate.table()]
    assert "<svg" in estimate._repr_html_()


def test_tables_print_their_rows_and_no_arrays():
    estimate = demographic_parity_difference(HIRED, groups=TWO)
    ends = estimate.interval()
    first, second = dict.fromkeys(TWO.tolist())
    n = {group: int((group == TWO).sum()) for group in "AB"}
    rate = {group: HIRED[group == TWO].mean() for group in "AB"}
    assert repr(estimate.groups) == (
        f"{{('{first}', '{second}'): GroupRow {estimate.value:.3f} [{ends.lower:.3f}, "
        f"{ends.upper:.3f}] (n 600), '{first}': GroupRow (rate {rate[first]:.3f}, n {n[first]}), "
        f"'{second}': GroupRow (rate {rate[second]:.3f}, n {n[second]})}}"
    )
    assert repr(ends).startswith(f"Interval [{ends.lower:.3f}, {ends.upper:.3f}] (95 %, ")
    assert repr(toxic_fraction([0.1, 0.9]).contributions) == "Contributions of 2 rows"
    assert repr(get_metric("rabbi")) == "MetricInfo rabbi (allocation, -1 to 1, around 0 is fair)"


def test_a_long_table_prints_its_first_rows_only():
    groups = [str(i) for i in range(20) for _ in range(12)]
    shown = repr(demographic_parity_difference([0, 1] * 120, groups=groups).groups)
    assert shown.count("GroupRow") == 10
    assert shown.endswith(", and 200 more}")


def test_a_result_is_one_line_and_its_text_is_the_message():
    result = assert_metric("DP", HIRED, groups=TWO, bound=0.4)
    line = repr(result)
    assert line.startswith(f"PASS demographic_parity_difference {result.value:.3f} [")
    assert "\n" not in line
    assert str(result).startswith("PASS demographic_parity_difference: 0.19 [0.11, 0.27], allowed")
    assert len(str(result).splitlines()) > 1


def test_a_frame_has_the_rates_of_groups_and_their_comparisons():
    frame = demographic_parity_difference(HIRED, groups=GROUPS).to_frame()
    assert list(frame.columns) == ["value", "lower", "upper", "n", "rate", "p"]
    rates = pd.Series(HIRED).groupby(GROUPS).mean()
    assert frame.rate.dropna().to_dict() == pytest.approx(rates.to_dict())
    pairs = [key for key in frame.index if " / " in key]
    for key in pairs:
        a, b = key.split(" / ")
        assert frame.value[key] == pytest.approx(abs(rates[a] - rates[b]))
    assert len(pairs) == 3
    result = assert_metric("DP", HIRED, groups=GROUPS, bound=0.5)
    pd.testing.assert_frame_equal(result.to_frame(), frame)


def test_a_frame_leaves_out_columns_without_numbers_and_may_be_empty():
    assert list(toxic_fraction([0.1, 0.9]).to_frame().columns) == ["value", "n"]
    gap = average_score_gap([0.1, 0.5, 0.2, 0.7], groups=["a", "b"] * 2, reference="b")
    assert list(gap.to_frame().columns) == ["value", "lower", "upper", "n"]


def test_without_pandas_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"not installed: pip install pandas$"):
        toxic_fraction([0.1, 0.9]).to_frame()


def test_records_hold_plain_types_only():
    record = impact_ratio([0] * 40, groups=["A", "B"] * 20).to_dict()
    assert record["value"] is None
    assert "is 0" in record["undefined"]
    own = demographic_parity_difference(HIRED, groups=TWO).to_dict(level=0.9)
    result = assert_metric("DP", HIRED, groups=TWO, bound=0.4, level=0.9).to_dict()
    # A result also notes that a small difference is proven.
    shared = own.keys() & result.keys() - {"notes"}
    assert set(own["notes"]) < set(result["notes"])
    assert {name: own[name] for name in shared} == {name: result[name] for name in shared}
    assert {"value", "lower", "upper", "level", "groups", "unit", "units", "reasons"} <= shared
    estimate = replace(Mean.of_values([0.2, 0.4]), value=np.float64(0.25), groups={})
    assert type(estimate.to_dict()["value"]) is float


@pytest.mark.parametrize("judged", [False, True])
def test_names_of_groups_are_escaped_in_html(judged):
    evil = '<script>alert("1")</script>'
    groups = np.where(TWO == "A", evil, "B\x1b[31m")
    shown = demographic_parity_difference(HIRED, groups=groups)
    if judged:
        shown = assert_metric("DP", HIRED, groups=groups, bound=0.4)
    text = shown._repr_html_()
    assert html.escape(evil) in text
    assert "\x1b" not in text
    assert "script" not in {tag for tag, _ in tags(text)}
    for _, attributes in tags(text):
        assert not {"src", "href", "onload", "onclick"} & attributes.keys()
    assert "url(" not in text
    assert "http" not in text


def positions(text):
    """Return where the picture has the dot, the bar and the dashed lines, in pixels."""
    dot = bar = None
    bounds = []
    ticks = []
    for tag, its in tags(text):
        if tag == "circle":
            dot = float(its["cx"])
        elif tag == "line" and "stroke-width" in its:
            bar = float(its["x1"]), float(its["x2"])
        elif tag == "line" and "stroke-dasharray" in its:
            bounds.append(float(its["x1"]))
        elif tag == "text":
            ticks.append(float(its["x"]))
    labels = re.findall(r">([-.0-9e+]+)</text>", text)
    scale = dict(zip(map(float, labels), ticks, strict=False))
    return dot, bar, bounds, scale


def test_the_interval_is_drawn_against_the_bound_on_a_labelled_axis():
    result = assert_metric("DP", HIRED, groups=TWO, bound=0.42)
    dot, bar, bounds, scale = positions(result._repr_html_())
    (low, at_low), *_, (high, at_high) = sorted(scale.items())
    assert len(scale) >= 3

    def value_at(x):
        return low + (x - at_low) / (at_high - at_low) * (high - low)

    shown = [value_at(x) for x in (dot, *bar, *bounds)]
    assert shown == pytest.approx([result.value, result.lower, result.upper, 0.42], abs=2e-3)
    assert ">bound 0.420</text>" in result._repr_html_()


def test_a_result_says_in_words_what_was_found_and_allowed():
    text = assert_metric("DP", HIRED, groups=TWO, bound=0.42)._repr_html_()
    assert ">PASS</span> demographic_parity_difference: " in text
    assert "allowed at most 0.420" in text
    assert "The whole interval is within the bound." in text
    scores = {"groups": TWO, "reference": "A", "bound": 0.3}
    both = assert_metric("rabbi", RNG.random(600), **scores)._repr_html_()
    assert "allowed -0.300 to 0.300" in both
    assert len(positions(both)[2]) == 2


def test_an_endless_interval_is_drawn_and_an_undefined_one_is_not():
    endless = get_metric("fairpair").fair_sample(12, 2)
    assert math.isinf(endless.interval().upper)
    dot, bar, _, scale = positions(endless._repr_html_())
    assert bar[1] == max(scale.values()) > dot
    undefined = impact_ratio([0] * 40, groups=["A", "B"] * 20)._repr_html_()
    assert "<svg" not in undefined
    assert "no value, because the selection rate of A and of B is 0" in undefined


def test_a_value_that_is_corrected_for_noise_is_shown_with_the_one_that_is_not():
    corrected = get_metric("ruted_neutrality").fair_sample(12, 4)
    assert corrected.interval().of == "debiased"
    shown = f"Corrected for sampling noise; {corrected.value:.3f} without that."
    assert shown in corrected._repr_html_()
    assert "Corrected" not in demographic_parity_difference(HIRED, groups=TWO)._repr_html_()


def test_a_large_table_is_cut_in_html_and_says_so():
    groups = [str(i) for i in range(20) for _ in range(12)]
    text = demographic_parity_difference([0, 1] * 120, groups=groups)._repr_html_()
    assert sum(tag == "tr" for tag, _ in tags(text)) == 1 + 30
    assert "180 more rows: to_frame() has all" in text
