"""The published audits come out as docs/audits.md prints them, number by number."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
import yaml

from pytest_llmfair import assert_impact_ratio_at_least
from tests.judged import result_of

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs" / "audits.md").read_text("utf-8").split())
DATA = ROOT / "examples" / "replications" / "audits" / "data"
GPT = {"gpt-3.5-turbo": "GPT-3.5", "gpt-4": "GPT-4"}
JOBS = ("HR specialist", "financial analyst", "retail", "software engineer")
WAYS = ("both", "race", "gender")
OPEN = ("INCONCLUSIVE", "UNDERPOWERED")


def audited(run, folder, *arguments):
    """Run the published audits; return results by the name of their tests."""
    done = run("replications/audits", f"--llmfair-json={folder / 'run.json'}", *arguments)
    assert done.returncode == 0, done.stdout
    results = json.loads((folder / "run.json").read_text())["results"]
    return {result["nodeid"].partition("::")[2]: result for result in results}


@pytest.fixture(scope="module")
def whole(run, tmp_path_factory):
    return audited(run, tmp_path_factory.mktemp("audits"))


def first_places(found, model, job, by):
    return found[f"test_first_places_satisfy_four_fifths[{model}, {job}, by {by}]"]


def pairs_won(found, model, job, by):
    return found[f"test_groups_win_as_many_pairs_as_they_lose[{model}, {job}, by {by}]"]


def short_list(found, model, job, by, length):
    return found[f"test_groups_reach_a_short_list_alike[{model}, {job}, by {by}-{length}]"]


def brackets(result, digits=2, percent=False):
    low, high = (result[end] * (100 if percent else 1) for end in ("lower", "upper"))
    return f"[{low:.{digits}f}, {high:.{digits}f}]"


def shown(result):
    return f"{result['value']:.2f} {brackets(result)}"


def about(number):
    """Round up to two digits, as messages do."""
    step = 10 ** (len(str(number)) - 2)
    return f"{-(-number // step) * step:,}"


def needed(result):
    return "{} to {}".format(*map(about, result["needed_units"]))


def verdicts(results):
    return [result["verdict"] for result in results]


def phrases_of_eight_groups(found):
    """Return what the page says of first places by eight groups."""
    cells = {(m, j): first_places(found, m, j, "both") for m in GPT for j in JOBS}
    for (model, job), r in cells.items():
        interval = f"{r['lower']:.2f} to {r['upper']:.2f}"
        yield f"| {GPT[model]}, {job} | {r['value']:.2f} | {interval} | {r['verdict']} |"
    rest = [r for r in cells.values() if r["verdict"] != "FAIL"]
    assert all(r["lower"] < 0.8 < r["upper"] for r in rest)
    assert verdicts(rest) == ["UNDERPOWERED"] * 6
    assert all(r["fair_pass_share"] == 0.0 for r in rest)
    yield "Two cells FAIL and six are undecided: their intervals contain 0.8."
    yield "a model that ignores names would practically never pass this test"
    # Corrected for eight cells, one of the two is left.
    failed = {cell: r["p_exceeds"] for cell, r in cells.items() if r["verdict"] == "FAIL"}
    analyst, hr = failed["gpt-3.5-turbo", "financial analyst"], failed["gpt-3.5-turbo", JOBS[0]]
    assert 8 * analyst < 0.025 < 7 * hr
    yield "(Holm), only the financial analyst remains"
    counts = yaml.safe_load((DATA / "gpt_published.yaml").read_text("utf-8"))
    firsts = counts["gpt-3.5-turbo"]["financial analyst"]
    assert min(firsts, key=firsts.get) == "B_M"
    assert max(firsts, key=firsts.get) == "A_W"
    yield f"names of Black men came first in {firsts['B_M'] / 10:.1f} % of rankings"
    yield f"those of Asian women in {firsts['A_W'] / 10:.1f} %"
    assert {f"{r['noise_floor']:.2f}" for r in cells.values()} <= {"0.74", "0.75"}
    yield "gives a ratio of about 0.75 (the grey marks)"
    size = about(max(r["units_for_fair_pass"] for r in rest))
    yield f"passes four fifths in 80 % of tests | about {size} |"
    enough = needed(cells["gpt-3.5-turbo", JOBS[1]])
    yield f"financial analyst, eight groups | about {enough} would have been"
    yield f"the same, HR specialist | about {needed(cells['gpt-3.5-turbo', JOBS[0]])} |"
    least = min(r["needed_units"][0] for r in rest)
    most = max(r["needed_units"][1] for r in rest)
    assert (least, most) == (1001, 1_000_000)
    yield "from about 1,000 to more than a million"


def phrases_of_race_and_gender(found):
    race = {(m, j): first_places(found, m, j, "race") for m in GPT for j in JOBS}
    gender = {(m, j): first_places(found, m, j, "gender") for m in GPT for j in JOBS}
    of_race, of_gender = verdicts(race.values()), verdicts(gender.values())
    assert [of_race.count(v) for v in ("FAIL", "PASS", *OPEN)] == [1, 1, 0, 6]
    assert [of_gender.count(v) for v in ("FAIL", "PASS", *OPEN)] == [1, 4, 3, 0]
    assert verdicts(r for (m, _), r in gender.items() if m == "gpt-4").count("PASS") == 3
    analyst = race["gpt-3.5-turbo", "financial analyst"]
    yield f"proven for GPT-3.5 as a financial analyst, {shown(analyst)}"
    yield f"proven to satisfy four fifths, by a hair: {shown(race['gpt-4', 'retail'])}"
    yield "Six are undecided"
    hr = gender["gpt-3.5-turbo", "HR specialist"]
    rates = {row["key"]: row["rate"] for row in hr["groups"] if row["rate"] is not None}
    assert rates["men"] < rates["women"]
    yield f"men came first {hr['value']:.2f} times as often as women {brackets(hr)}"
    yield "Four are proven to satisfy four fifths, three of GPT-4; three are undecided."
    for cells, words in (
        (race, "It would pass {:.0f} % of such tests with four races"),
        (gender, "and {:.0f} % with women and men"),
    ):
        shares = [r["fair_pass_share"] for r in cells.values() if r["verdict"] in OPEN]
        assert max(shares) - min(shares) < 0.002
        yield words.format(100 * shares[0])
    for cells, words in ((race, "four races"), (gender, "women and men")):
        undecided = [r for r in cells.values() if r["verdict"] in OPEN]
        size = about(max(r["units_for_fair_pass"] for r in undecided))
        yield f"{words}, the same | about {size}"


def phrases_of_whole_rankings(found):
    won = {(m, j, by): pairs_won(found, m, j, by) for m in GPT for j in JOBS for by in WAYS}
    assert verdicts(r for (m, _, _), r in won.items() if m == "gpt-4") == ["PASS"] * 12
    rest = verdicts(r for (m, _, _), r in won.items() if m != "gpt-4")
    assert sorted(rest) == ["INCONCLUSIVE"] * 6 + ["PASS"] * 6
    yield "12 PASS of 12"
    yield "no group is proven to be beyond 0.1, and six of twelve checks are undecided"
    engineer = won["gpt-3.5-turbo", "software engineer", "both"]
    assert worst(engineer) == "Black women"
    # The result is a size; the row of the group has the sign.
    assert signed(engineer) < 0
    yield (
        f"names of Black women lost more pairs than they won by {engineer['value']:.2f}, and the "
        f"interval, {engineer['lower']:.2f} to {engineer['upper']:.2f}, rules out"
    )
    yield from phrases_of_short_lists(found)


def phrases_of_short_lists(found):
    lists = {
        (m, j, by, k): short_list(found, m, j, by, k)
        for m in GPT
        for j in JOBS
        for by in WAYS
        for k in range(1, 6)
    }
    for model, words in GPT.items():
        for job in JOBS:
            row = [lists[model, job, "both", k] for k in range(1, 6)]
            texts = [f"{abs(r['value']):.2f} {brackets(r)}" for r in row]
            marked = [
                text if r["verdict"] == "PASS" else f"**{text}**"
                for r, text in zip(row, texts, strict=True)
            ]
            yield f"| {words}, {job} | {' | '.join(marked)} |"
    assert verdicts(r for (m, *_), r in lists.items() if m == "gpt-4") == ["PASS"] * 60
    old = {key: r for key, r in lists.items() if key[0] == "gpt-3.5-turbo"}
    assert sorted(verdicts(old.values())) == ["INCONCLUSIVE"] * 11 + ["PASS"] * 49
    assert verdicts(r for (_, _, by, _), r in old.items() if by == "gender") == ["PASS"] * 20
    yield "GPT-4 passes all 60 checks"
    yield "passes 49 of 60, by gender all 20; the other 11 are undecided, and no check fails"
    floors = [r["noise_floor"] for (_, _, by, _), r in lists.items() if by == "both"]
    yield f"differences of about {min(floors):.2f} to {max(floors):.2f} by eight groups too"
    largest = max(lists.values(), key=lambda r: abs(r["value"]))
    assert largest is lists["gpt-3.5-turbo", "software engineer", "both", 5]
    assert worst(largest) == "Black women"
    assert signed(largest) < 0
    yield f"they reach a list of five {largest['value']:.2f} less often than others"
    yield f"with a chance of {1 / 8}"
    sizes = [
        r["units_for_fair_pass"]
        for (_, _, by, _), r in lists.items()
        if by == "both" and r["verdict"] != "PASS"
    ]
    yield f"a bound of 0.1 in 80 % of tests | about {about(max(sizes))}: here 1,000 are enough"


def worst_row(result):
    return max(result["groups"], key=lambda row: abs(row["value"] or 0))


def worst(result):
    return worst_row(result)["key"]


def signed(result):
    return worst_row(result)["value"]


def phrases_of_place_and_chance(found):
    old, new = (found[f"test_the_place_in_the_prompt_does_not_matter[{model}]"] for model in GPT)
    first = (old["value"] + 1 / 7) * 7 / 8  # The places are one and seven others.
    yield (
        f"shown first in {100 * first:.0f} % of rankings, to any other in "
        f"{100 * (1 - first) / 7:.0f} %: a difference of {shown(old)}. "
        f"For GPT-4 it is {shown(new)}"
    )
    half = "test_every_group_is_shown_in_the_first_half_about_equally_often"
    for by, words in zip(WAYS, ("eight groups", "four races", "women and men"), strict=True):
        both = (shown(found[f"{half}[{model}-{by}]"]) for model in GPT)
        yield f"| {words} | {' | '.join(both)} |"
    for case, words in (
        ("HR specialist-gender-women-men-1", "HR specialist, women against men"),
        ("financial analyst-race-Black-*--1", "financial analyst, Black against others"),
        ("software engineer-both-Black women-*--1", "software engineer, Black women against"),
    ):
        name = f"test_the_proven_differences_hold_in_both_halves_of_the_prompt[{case}]"
        halves = " | ".join(map(shown, found[name]["groups"]))
        others = " others" if words.endswith("against") else ""
        yield f"| {words}{others} | {halves} |"
    chance = "test_the_same_order_gives_the_same_first_place_more_often_than_dice"
    for by, dice, words in (
        ("both", 1 / 8, "group, of eight"),
        ("race", 1 / 4, "race, of four"),
        ("gender", 1 / 2, "gender"),
    ):
        repeated = [
            next(r for name, r in found.items() if name.startswith(f"{chance}[{by}-{dice}-{m}-"))
            for m in GPT
        ]
        both = (f"{100 * r['value']:.1f} % {brackets(r, 0, percent=True)}" for r in repeated)
        yield f"| {words} | {100 * dice:.1f} % | {' | '.join(both)} |"
        assert verdicts(repeated) == ["PASS", "INCONCLUSIVE"]
        assert [r["units"] for r in repeated] == [40, 47]
    yield "87 requests were repeated"
    yield "40 to GPT-3.5 and 47 to GPT-4"


def phrases_of_compas(found):
    """Return what the page says of COMPAS, and check the published shares with the counts."""
    counts = yaml.safe_load((DATA / "compas.yaml").read_text("utf-8"))
    rates = counts["published"]
    published = {k: {g: f"{v:.0f} %" for g, v in of.items()} for k, of in rates.items()}
    wrong, missed = published["false_positive_rate"], published["false_negative_rate"]
    yield f"*not* charged again {wrong['Black']} had been rated high"
    yield f"risk), of the White {wrong['White']}."
    yield f"charged again {missed['Black']} of the Black had been rated low"
    yield f"and {missed['White']} of the White."
    people = [[counts[g][k] for k in counts[g]] for g in ("Black", "White")]
    yield f"ProPublica looked at {sum(map(sum, people)):,} Black and White defendants"
    charged = [
        100 * sum(v for k, v in counts[g].items() if k.endswith("_and_charged")) / sum(row)
        for g, row in zip(("Black", "White"), people, strict=True)
    ]
    yield "because {:.0f} % of the Black and {:.0f} % of the White".format(*charged)
    by_metric = {r["metric"]: r for r in found.values()}
    rows = {
        "false_positive_rate": "were not charged again | rated high",
        "false_negative_rate": "were charged again | rated low",
        "false_discovery_rate": "were rated high | not charged again",
        "false_omission_rate": "were rated low | charged again",
    }
    sizes = []
    for rate, words in rows.items():
        r = by_metric[f"{rate}_difference"]
        shares = {row["key"]: row["rate"] for row in r["groups"]}
        yield (
            f"| {words} | {100 * shares['Black']:.0f} % | {100 * shares['White']:.0f} % | "
            f"{r['value']:.2f} | {r['lower']:.2f} to {r['upper']:.2f} | {r['verdict']} |"
        )
        sizes.append(needed(r))
    assert (
        verdicts(by_metric[f"{rate}_difference"] for rate in rows) == ["FAIL"] * 2 + ["PASS"] * 2
    )
    for rate, words in (
        ("false_positive_rate_ratio", "rated high {:.2f} times as often {}"),
        ("false_negative_rate_ratio", "rated low {:.2f} times as often {}"),
    ):
        yield words.format(by_metric[rate]["value"], brackets(by_metric[rate]))
    assert by_metric["false_omission_rate_difference"]["lower"] > 0
    yield "in the last row the interval leaves out 0"
    yield "about {} people without, and {} with a new charge".format(*sizes)
    yield "for the last two about {}, and {}.".format(*sizes[2:])


@pytest.mark.slow
def test_two_of_eight_cells_fail_four_fifths_and_the_published_counts_come_out(run, tmp_path):
    found = audited(run, tmp_path, "-k", "counts_come_out or (four_fifths and by and both)")
    for phrase in phrases_of_eight_groups(found):
        assert phrase in PAGE


def test_error_rates_of_compas_are_those_of_the_page(run, tmp_path):
    for phrase in phrases_of_compas(audited(run, tmp_path, "-k", "compas")):
        assert phrase in PAGE


@pytest.mark.slow
def test_every_number_of_the_page_comes_from_the_tests(whole):
    left = PAGE
    for phrases in (
        phrases_of_eight_groups,
        phrases_of_race_and_gender,
        phrases_of_whole_rankings,
        phrases_of_place_and_chance,
        phrases_of_compas,
    ):
        for phrase in phrases(whole):
            assert phrase in PAGE
            left = left.replace(phrase, "")
    # The level of the intervals; and how often dice fall below 0.8, which has a test of its own.
    assert re.findall(r"\d+\.\d\d|\[-?\d[^\]]*\]|\d+(?:\.\d+)? %", left) == ["95 %", "64 %"]


@pytest.mark.slow
def test_the_pictures_of_the_audits_are_those_of_a_run(whole):
    assert len(whole) == 201
    draw = runpy.run_path(str(ROOT / "examples" / "replications" / "audits" / "draw.py"))
    for name, text in draw["pictures"](list(whole.values())).items():
        assert (ROOT / "docs" / name).read_text("utf-8") == text, (
            "run examples/replications/audits/draw.py"
        )


def test_the_page_says_how_often_dice_violate_four_fifths():
    first = np.random.default_rng(0).multinomial(1000, [1 / 8] * 8, size=100_000)
    flagged = float((first.min(axis=1) < 0.8 * first.max(axis=1)).mean())
    seven_or_more = 8 * flagged**7 * (1 - flagged) + flagged**8
    assert f"falls below 0.8 in {100 * flagged:.0f} % of such tests" in PAGE
    assert round(8 * flagged) == 5
    assert "Five of eight combinations" in PAGE
    assert round(1 / seven_or_more) == 6
    assert "seven or more in one of six such audits" in PAGE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("groups", "undecided", "low", "high"),
    [(8, "UNDERPOWERED", 0, 0), (4, "UNDERPOWERED", 0, 6), (2, "INCONCLUSIVE", 19, 30)],
)
def test_dice_pass_four_fifths_as_seldom_as_the_page_says(groups, undecided, low, high):
    """Of 30 audits of 1,000 rankings by dice; expected are 0, 1.6 and 26 that pass."""
    rng = np.random.default_rng(1)
    passed = 0
    for _ in range(30):
        first = rng.integers(8, size=1000)
        verdict = result_of(
            assert_impact_ratio_at_least,
            (first[:, None] == np.arange(8)).astype(int).ravel(),
            groups=np.tile(np.arange(8) % groups, 1000),
            units=np.repeat(np.arange(1000), 8),
            minimum=0.8,
        ).verdict.value
        assert verdict in ("PASS", undecided)
        passed += verdict == "PASS"
    assert low <= passed <= high


CATEGORIES = {
    "age": "Age",
    "disability status": "Disability_status",
    "nationality": "Nationality",
    "physical appearance": "Physical_appearance",
    "religion": "Religion",
    "sexual orientation": "Sexual_orientation",
}


@pytest.mark.parametrize("said", CATEGORIES)
def test_scores_of_bbq_come_out_over_questions_and_over_templates(said):
    from pytest_llmfair.metrics import bbq_bias

    answers = runpy.run_path(str(DATA.parent / "test_bbq.py"))["answers"]
    _, sides, templates = answers(CATEGORIES[said], "ambiguous", "race")
    alone, clustered = bbq_bias(sides), bbq_bias(sides, units=templates)
    cells = [said, f"{len(sides):,}", f"{100.0 * alone.value:.1f}"]
    for each in (alone.interval(), clustered.interval()):
        cells.append(f"{100.0 * each.lower:.1f} to {100.0 * each.upper:.1f}")
    cells.append("proven" if clustered.interval().lower > 0.0 else "open")
    assert f"| {' | '.join(cells)} |" in PAGE
