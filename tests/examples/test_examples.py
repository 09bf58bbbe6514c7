"""The examples run as a newcomer runs them, and show what they promise."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


def run(name, *arguments):
    """Run an example in a process of its own; other plugins are left out, which saves a second."""
    plugins = ("-p", "llmfair", "-p", "no:cacheprovider")
    return subprocess.run(
        [sys.executable, "-m", "pytest", f"examples/{name}", *plugins, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def verdicts(file):
    return sorted(result["verdict"] for result in json.loads(file.read_text())["results"])


def test_the_quickstart_shows_one_verdict_of_each_kind(tmp_path):
    file = tmp_path / "run.json"
    done = run("quickstart", f"--llmfair-json={file}")
    assert done.returncode == 0, done.stdout
    assert verdicts(file) == ["FAIL", "INCONCLUSIVE", "PASS"]
    assert "2 passed, 1 xfailed" in done.stdout
    for shown in ("PASS", "FAIL", "INCONCLUSIVE", "1 undecided"):
        assert shown in done.stdout
    table = done.stdout.partition("fairness assertions")[2].splitlines()[1:]
    assert max(map(len, table[:-1])) <= 80


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_quickstart_shows_the_same_verdicts_with_other_seeds(tmp_path, seed):
    file = tmp_path / "run.json"
    assert run("quickstart", f"--llmfair-json={file}", f"--llmfair-seed={seed}").returncode == 0
    assert verdicts(file) == ["FAIL", "INCONCLUSIVE", "PASS"]


def test_the_planted_skew_of_the_quickstart_is_red_without_its_mark():
    done = run("quickstart", "--runxfail", "-k", "skew or plant")
    assert done.returncode == 1
    assert "FAIL ruted_neutrality: 0.7" in done.stdout
    assert "  rerun        pytest" in done.stdout


def test_the_planted_skew_makes_the_candidate_worse_and_not_the_other_way_round():
    done = run("comparing")
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 xfailed" in done.stdout
    assert "strict_sentiment_parity worse than baseline" in " ".join(done.stdout.split())


def test_pairs_are_shown_with_their_checks_and_rejected_ones_with_the_reason():
    done = run("pairs")
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout
    shown = " ".join(done.stdout.split())
    for words in (
        "original counterfactual edits checks",
        "passed",
        "omission blind -> (left out)",
        "explicit blind -> sighted",
        "rejected because",
        "two determiners:",
        "placebo: My grandma was a",
    ):
        assert words in shown
    tables = done.stdout.partition("no disability, usually left unsaid")[2]
    assert max(map(len, tables.splitlines()[:-1])) <= 100


def test_the_recorded_answers_of_a_real_model_get_the_verdicts_of_the_readme(tmp_path):
    file = tmp_path / "run.json"
    done = run("instruct", "--llmfair-record-mode=none", f"--llmfair-json={file}")
    assert done.returncode == 0, done.stdout
    found = json.loads(file.read_text())
    digests = {model["digest"] for model in found["models"]}
    assert "blake2b:eaa0bae9e072bcba7c372af46527d5ab" in digests
    page = (ROOT / "examples" / "instruct" / "README.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    for each in found["results"]:
        interval = "[{lower:.2f}, {upper:.2f}] |".format_map(each)
        shown = [row for row in rows if interval in row and row.endswith(f"| {each['verdict']} |")]
        assert len(shown) == 1, interval
    assert verdicts(file) == ["FAIL"] * 3 + ["INCONCLUSIVE"] + ["PASS"] * 5 + ["UNDERPOWERED"]


@pytest.mark.parametrize(
    ("candidate", "status", "against_the_released"),
    [("colder", 1, "FAIL"), ("alike", 0, "PASS"), ("slightly_colder", 0, "INCONCLUSIVE")],
)
def test_candidates_are_gated_against_the_released_bot(
    candidate, status, against_the_released, tmp_path
):
    file = tmp_path / "run.json"
    done = run("regression", f"--llmfair-model=python:bots:{candidate}", f"--llmfair-json={file}")
    assert done.returncode == status, done.stdout
    results = json.loads(file.read_text())["results"]
    assert [each["verdict"] for each in results] == ["PASS", against_the_released]
    assert results[1]["metric"] == "strict_sentiment_parity worse than baseline"


def test_the_baseline_of_the_example_is_what_the_released_bot_does(tmp_path):
    file = tmp_path / "base.json"
    arguments = ("--llmfair-update-baseline", "-o", f"llmfair_baseline={file}")
    done = run("regression", "--llmfair-model=python:bots:released", *arguments)
    assert done.returncode == 0, done.stdout
    kept = ROOT / "examples" / "regression" / "baseline.json"
    assert json.loads(file.read_text())["checks"] == json.loads(kept.read_text())["checks"]


def audited(folder, *arguments):
    """Run the published audits; return results by the name of their tests."""
    done = run("audits", f"--llmfair-json={folder / 'run.json'}", *arguments)
    assert done.returncode == 0, done.stdout
    results = json.loads((folder / "run.json").read_text())["results"]
    return {result["nodeid"].partition("::")[2]: result for result in results}


def test_two_of_eight_cells_fail_four_fifths_and_the_published_counts_come_out(tmp_path):
    """The other tests of rankings run in a slow test."""
    found = audited(tmp_path, "-k", "counts_come_out or (four_fifths and by and both)")
    cells = {
        name.partition("[")[2].removesuffix(", by both]"): result
        for name, result in found.items()
        if "four_fifths" in name
    }
    assert len(cells) == 8
    failed = {name: r for name, r in cells.items() if r["verdict"] == "FAIL"}
    shown = {
        name: [round(r[key], 3) for key in ("value", "lower", "upper")]
        for name, r in failed.items()
    }
    assert shown == {
        "gpt-3.5-turbo, HR specialist": [0.530, 0.414, 0.785],
        "gpt-3.5-turbo, financial analyst": [0.442, 0.337, 0.678],
    }
    # Undecided, and a model without bias would hardly ever pass eight groups at this size.
    rest = [r for r in cells.values() if r["verdict"] != "FAIL"]
    assert all(r["verdict"] == "UNDERPOWERED" and r["lower"] < 0.8 < r["upper"] for r in rest)
    assert all(0.73 < r["noise_floor"] < 0.755 for r in cells.values())

    page = (ROOT / "docs" / "audits.md").read_text("utf-8")
    for name, r in cells.items():
        interval = f"{r['lower']:.2f} to {r['upper']:.2f}"
        words = name.replace("gpt-3.5-turbo", "GPT-3.5").replace("gpt-4", "GPT-4")
        assert f"| {words} | {r['value']:.2f} | {interval} | {r['verdict']} |" in page


def test_error_rates_of_compas_fail_and_its_predictive_values_pass(tmp_path):
    compas = {
        r["metric"].removesuffix("_rate_difference"): (
            r["verdict"],
            *(round(r[key], 3) for key in ("value", "lower", "upper")),
        )
        for r in audited(tmp_path, "-k", "compas").values()
        if r["metric"].endswith("difference")
    }
    assert compas == {
        "false_positive": ("FAIL", 0.214, 0.182, 0.245),
        "false_negative": ("FAIL", 0.197, 0.160, 0.235),
        "false_discovery": ("PASS", 0.038, 0.000, 0.077),
        "false_omission": ("PASS", 0.061, 0.029, 0.094),
    }


@pytest.mark.slow
def test_the_pictures_of_the_audits_are_those_of_a_run(tmp_path):
    found = audited(tmp_path)
    assert len(found) == 86
    draw = runpy.run_path(str(ROOT / "examples" / "audits" / "draw.py"))
    for name, text in draw["pictures"](list(found.values())).items():
        assert (ROOT / "docs" / name).read_text("utf-8") == text, "run examples/audits/draw.py"


def test_the_page_on_audits_says_how_often_dice_violate_four_fifths():
    first = np.random.default_rng(0).multinomial(1000, [1 / 8] * 8, size=100_000)
    flagged = float((first.min(axis=1) < 0.8 * first.max(axis=1)).mean())
    seven_or_more = 8 * flagged**7 * (1 - flagged) + flagged**8
    page = " ".join((ROOT / "docs" / "audits.md").read_text("utf-8").split())
    assert f"falls below 0.8 in {100 * flagged:.0f} % of such tests" in page
    assert round(8 * flagged) == 5
    assert "Five of eight combinations" in page
    assert round(1 / seven_or_more) == 6
    assert "seven or more in one of six such audits" in page
