"""Gaps that labels correct, against a slow transcription of the formulas, and what bounds them."""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtrit

from pytest_llmfair.stats import WorstGroups
from pytest_llmfair.stats.corrected_gap import corrected_gap

NAN = math.nan


def slow_slope(rows):
    """Least squares of y on f inside strata, one row after the other."""
    labelled = [row for row in rows if not math.isnan(row["y"])]
    if len(labelled) < 20:
        return 0.0
    above = below = 0.0
    for name in {row["h"] for row in labelled}:
        own = [row for row in labelled if row["h"] == name]
        f0 = sum(row["f"] for row in own) / len(own)
        y0 = sum(row["y"] for row in own) / len(own)
        above += sum((row["f"] - f0) * (row["y"] - y0) for row in own)
        below += sum((row["f"] - f0) ** 2 for row in own)
    return above / below if below > 1e-12 else 0.0


def slow_stratum(y, kind, span, lost):
    """Squared error of the mean of y, and its degrees of freedom."""
    n, (low, high) = len(y), span
    if kind in ("count", "twins"):
        p = 1.0 if kind == "count" else 0.5
        weights = [(value, 1.0) for value in y] + [(low, p), (high, p)]
        total = sum(w for _, w in weights)
        mean = sum(v * w for v, w in weights) / total
        return sum(w * (v - mean) ** 2 for v, w in weights) / total / n, math.inf
    if n - 1 - lost < 1:
        return (high - low) ** 2 / 12, math.inf
    mean = sum(y) / n
    squares = [(v - mean) ** 2 for v in y]
    variance = sum(squares) / (n - 1 - lost)
    if variance <= 1e-16:
        return (high - low) ** 2 / (2 * n * (n + 2)), math.inf
    average = sum(squares) / n
    kurtosis = sum((s / average) ** 2 for s in squares) / n
    df = 2 * n / (kurtosis - (n - 3) / (n - 1)) - lost
    return variance / n, min(max(df, 1.0), n - 1.0 - lost)


def slow_side(rows, kind, span):
    """Corrected mean, its errors by stratum, and the influence of each unit."""
    slope = slow_slope(rows) if kind == "scale" else 0.0
    strata = sorted({row["h"] for row in rows})
    errors, value, parts = [], 0.0, []
    for name in strata:
        own = [row for row in rows if row["h"] == name]
        share = len(own) / len(rows)
        labelled = [row for row in own if not math.isnan(row["y"])]
        if not labelled:
            wide = (span[1] - span[0]) ** 2 / 12
            value += share * sum(span) / 2
            errors.append((share**2 * wide, share**2 * wide, math.inf))
            parts.append((own, lambda row: sum(span) / 2, [], 0.0, 1.0))
            continue
        residual = {id(row): row["y"] - slope * row["f"] for row in labelled}
        m = sum(residual.values()) / len(labelled)
        by_unit = defaultdict(list)
        for row in labelled:
            by_unit[row["u"]].append(residual[id(row)])
        c = len(by_unit)
        v, df = slow_stratum(
            [sum(x) / len(x) for x in by_unit.values()], kind, span, (slope != 0) / len(strata)
        )
        shown = sum(sum(x - m for x in own) ** 2 for own in by_unit.values())
        shown *= c / max(c - 1, 1) / len(labelled) ** 2
        beyond = max(v - shown, 0.0) if kind != "scale" else 0.0
        errors.append((share**2 * beyond, share**2 * v, df))
        value += share * (slope * sum(row["f"] for row in own) / len(own) + m)
        parts.append((own, lambda row, m=m: slope * row["f"] + m, labelled, share, c))
    influence = defaultdict(float)
    for own, predicted, labelled, share, c in parts:
        for row in own:
            influence[row["u"]] += (predicted(row) - value) / len(rows)
        if labelled:
            residuals = [row["y"] - slope * row["f"] for row in labelled]
            m = sum(residuals) / len(residuals)
            for row, x in zip(labelled, residuals, strict=True):
                more = math.sqrt(c / max(c - 1, 1))
                influence[row["u"]] += share * (x - m) / len(labelled) * more
    return value, errors, influence


def slow(sides, kind, span, *, ratio=False, level=0.95):
    """Value and ends of the gap of two sides (of one: of differences), or of their ratio."""
    values, errors, influence = [], [], defaultdict(float)
    for sign, rows in zip((1.0, -1.0), sides, strict=False):
        value, own, each = slow_side(rows, kind, span)
        c = 1 / value if ratio else 1.0
        values.append(value)
        errors += [(a * c * c, b * c * c, df) for a, b, df in own]
        for unit, x in each.items():
            influence[unit] += sign * c * x
    u = len(influence)
    variance = sum(x * x for x in influence.values()) * u / (u - 1) + sum(a for a, _, _ in errors)
    df = variance**2 / max(sum(b * b / d for _, b, d in errors), 1e-300)
    high = (1 + level) / 2
    quantile = stdtrit(df, high) if df < 1e6 else NormalDist().inv_cdf(high)
    reach = quantile * math.sqrt(variance)
    if ratio:
        found = values[0] / values[1]
        return found, found * math.exp(-reach), found * math.exp(reach)
    gap = values[0] - sum(values[1:])
    return gap, gap - reach, gap + reach


def draw(rng, kind, n, *, clustered):
    """Judge, truth, labels and units of answers, their strata and the range of labels."""
    span = (1.0, 5.0) if kind == "ordinal" else (0.0, 1.0)
    if kind == "ordinal":
        y = rng.integers(1, 6, n).astype(float)
        f = np.clip(y + rng.integers(-1, 2, n), 1, 5)
    elif kind == "continuous":
        y = rng.random(n)
        f = np.clip(y + rng.normal(0, 0.2, n), 0, 1)
    else:
        y = (rng.random(n) < (0.3 if kind == "count" else 0.05)).astype(float)
        f = np.where(rng.random(n) < 0.8, y, 1 - y)
    strata = (f > 0.5).astype(float) if kind == "continuous" else f
    labels = np.where(rng.random(n) < 0.4, y, NAN)
    units = rng.integers(0, n // 2, n) if clustered else np.arange(n)
    return f, labels, strata, units, span


def rows_of(f, y, h, u):
    return [
        dict(zip("fyhu", row, strict=True))
        for row in zip(f.tolist(), y.tolist(), h.tolist(), u.tolist(), strict=True)
    ]


def ends_of(estimate, level=0.95):
    return (estimate.value, estimate.lower_bound((1 - level) / 2), estimate.upper_bound(0.025))


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("kind", ["count", "rare", "ordinal", "continuous"])
@pytest.mark.parametrize("ratio", [False, True])
def test_gap_and_ratio_are_those_of_the_formula(kind, clustered, ratio):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        f, y, h, u, span = draw(rng, kind, 240, clustered=clustered)
        groups = ["a"] * 130 + ["b"] * 110
        found = corrected_gap(
            f, y, groups, strata=h.tolist(), units=u.tolist(), span=span, ratio=ratio
        )
        if found.undefined is not None:
            assert kind == "rare"
            continue
        sides = [rows_of(f[i], y[i], h[i], u[i]) for i in (slice(130), slice(130, 240))]
        of = "count" if kind in ("count", "rare") else "scale"
        value, low, high = slow(sides, of, span, ratio=ratio)
        if not ratio:
            low, high = max(low, span[0] - span[1]), min(high, span[1] - span[0])
        assert ends_of(found) == pytest.approx((value, low, high), rel=1e-9)


@pytest.mark.parametrize("kind", ["count", "rare", "ordinal", "continuous"])
def test_the_gap_of_twins_is_that_of_their_differences(kind):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        f, y, _, _, span = draw(rng, kind, 200, clustered=False)
        y = np.where(np.isnan(y).repeat(1), NAN, y)
        labelled = rng.random(100) < 0.5
        y = np.where(np.tile(labelled, 2), np.nan_to_num(y, nan=span[0]), NAN)
        difference = f[:100] - f[100:]
        h = np.sign(difference)
        wide = span[1] - span[0]
        rows = rows_of(difference, y[:100] - y[100:], h, np.arange(100))
        of = "twins" if kind in ("count", "rare") else "scale"
        found = corrected_gap(
            f,
            y,
            ["a"] * 100 + ["b"] * 100,
            strata=np.tile(h, 2).tolist(),
            units=[*range(100)] * 2,
            pairs=[*range(100)] * 2,
            span=span,
        )
        assert ends_of(found) == pytest.approx(slow([rows], of, (-wide, wide)), rel=1e-9)


def test_the_published_estimate_of_one_group_is_kept():
    """Tenenbein (1970): p = p1 P(yes) + p0 P(no), by hand."""
    judge = [1] * 30 + [0] * 70
    labels = [1, 1, 1, 0] + [NAN] * 26 + [0, 0, 0, 0, 1] + [NAN] * 65
    other = [NAN if math.isnan(x) else 0.0 for x in labels]
    found = corrected_gap(judge * 2, labels + other, ["a"] * 100 + ["b"] * 100)
    assert found.value == pytest.approx(0.3 * 0.75 + 0.7 * 0.2)
    assert [row.rate for row in found.groups.values()] == pytest.approx([0.365, 0.0])


def test_of_three_groups_the_worst_two_decide_and_share_the_error_rate():
    rng = np.random.default_rng(5)
    f, y, _, _, _ = draw(rng, "count", 900, clustered=False)
    groups = np.repeat(["a", "b", "c"], 300).tolist()
    found = corrected_gap(f, y, groups)
    assert isinstance(found, WorstGroups)
    parts = {
        pair: corrected_gap(f[rows], y[rows], [groups[i] for i in rows])
        for pair in (("a", "b"), ("a", "c"), ("b", "c"))
        for rows in [[i for i, each in enumerate(groups) if each in pair]]
    }
    assert found.value == pytest.approx(max(abs(part.value) for part in parts.values()))
    largest = max(
        max(part.upper_bound(0.025), -part.lower_bound(0.025)) for part in parts.values()
    )
    assert found.upper_bound(0.025) == pytest.approx(largest)
    worst = parts[found.worst]
    alone = max(worst.lower_bound(0.025), -worst.upper_bound(0.025), 0.0)
    assert found.lower_bound(0.025) <= alone
    assert found.shared.each(0.025) < 0.025


def test_missing_labels_widen_to_both_extremes():
    rng = np.random.default_rng(2)
    f, y, _, _, _ = draw(rng, "count", 400, clustered=False)
    groups = ["a"] * 200 + ["b"] * 200
    missing = (~np.isnan(y)) & (rng.random(400) < 0.1)
    y[missing] = NAN
    found = corrected_gap(f, y, groups, missing=missing.tolist())
    ends = []
    for first, second in ((1.0, 0.0), (0.0, 1.0)):
        filled = np.where(missing, np.repeat([first, second], 200), y)
        ends.append(corrected_gap(f, filled, groups).interval())
    assert found.lower_bound(0.025) == pytest.approx(min(each.lower for each in ends))
    assert found.upper_bound(0.025) == pytest.approx(max(each.upper for each in ends))


def test_a_judge_that_knows_everything_saves_labels_and_one_at_chance_saves_none():
    rng = np.random.default_rng(4)
    y = (rng.random(2000) < 0.3).astype(float)
    labels = np.where(rng.random(2000) < 0.1, y, NAN)
    groups = ["a", "b"] * 1000
    known = corrected_gap(y, labels, groups)
    chance = corrected_gap(rng.permutation(y), labels, groups)
    assert known.saved > 150
    assert chance.saved <= 10
    assert known.standard_error() < chance.standard_error()
    whole = corrected_gap(y, y, groups)
    assert math.sqrt(known.least_variance) == pytest.approx(whole.standard_error(), rel=0.1)


def test_the_judge_alone_is_the_difference_of_its_means():
    judge = [1, 1, 0, 0] * 10 + [1, 0, 0, 0] * 10
    found = corrected_gap(judge, [0.0, 1.0] * 40, ["a"] * 40 + ["b"] * 40)
    assert found.judge_gap == 0.25
    expected = (0.25 + 0.1875) / 40 * 80 / 79
    assert found.judge_variance == pytest.approx(expected)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["count", "ordinal", "continuous"]))
@settings(max_examples=40)
def test_order_of_rows_does_not_matter_and_of_groups_the_sign_only(seed, kind):
    rng = np.random.default_rng(seed)
    f, y, h, u, span = draw(rng, kind, 120, clustered=True)
    groups = np.array(["a", "b"])[rng.integers(0, 2, 120)]

    def ends(order):
        found = corrected_gap(
            f[order],
            y[order],
            groups[order].tolist(),
            strata=h[order].tolist(),
            units=u[order].tolist(),
            span=span,
        )
        first = str(groups[order][0])
        value, low, high = ends_of(found)
        return (value, low, high) if first == "a" else (-value, -high, -low)

    assert ends(rng.permutation(120)) == pytest.approx(ends(np.arange(120)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1, 0], [1.0, 0.0], ["a", "a"]), "all answers are of group 'a'"),
        (([1, 0, 1], [1.0, 0.0], ["a", "b", "a"]), "labels has 2 rows for 3 answers"),
        (([1, NAN], [1.0, 0.0], ["a", "b"]), "judge row 1 is nan"),
        (([1, 0], [1.0, 2.0], ["a", "b"]), "labels row 1 is 2, outside 0 to 1"),
    ],
)
def test_wrong_data_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        corrected_gap(*arguments)


def test_a_ratio_needs_an_event_in_both_groups():
    found = corrected_gap(
        [1, 0] * 20, [0.0] * 20 + [1.0] * 20, ["a"] * 20 + ["b"] * 20, ratio=True
    )
    assert found.undefined.startswith("no label of a is an event, and a ratio needs one")
