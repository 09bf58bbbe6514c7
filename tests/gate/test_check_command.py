"""``llmfair check``: what goes to pytest, what is one check, and which status it ends with."""

from __future__ import annotations

import functools
import json

import pytest

FILE = """
version: 1
prompts: [She left., He stayed.]
checks:
- {metric: FTU, bound: 0.5, label: strict one, rationale: agreed, owner: us}
- {metric: FTU, bound: 0.99, label: loose one, attribute: age, rationale: agreed, owner: us}
"""


@pytest.fixture
def command(tmp_path, llmfair):
    """Return a function that runs the command in a folder with a file of checks and prompts."""
    (tmp_path / "it.llmfair.yaml").write_text(FILE)
    (tmp_path / "prompts.txt").write_text(">>> She left.\nHe stayed.\n")
    return functools.partial(llmfair, "check")


def test_files_run_with_the_options_of_pytest_and_its_status(command, tmp_path):
    done = command("it.llmfair.yaml", "-q", "-k", "loose", "--llmfair-json", "run.json")
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 deselected" in done.stdout
    (record,) = json.loads((tmp_path / "run.json").read_text())["results"]
    assert record["nodeid"].startswith("it.llmfair.yaml::")
    assert command("-q", "it.llmfair.yaml").returncode == 1
    assert command("-q", "it.llmfair.yaml", "-k", "nothing").returncode == 5


def test_one_check_needs_no_file_of_checks(command, tmp_path):
    # A text file that another plugin would take for doctests.
    done = command(
        *("--metric", "fairness_through_unawareness", "--bound", "0.5"),
        *("--prompts", "prompts.txt", "--set", "population=sampled", "-q"),
        *("--owner", "quality team", "-o", "addopts=-n2", "-p", "xdist"),
    )
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert any(line.startswith("UNDERPOWERED fairness_through_unawareness") for line in lines)
    assert "  check        command line, owner quality team: given on the command line" in lines
    # There is nothing that pytest could run again.
    assert not any(line.startswith("  rerun") for line in lines)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [
        "it.llmfair.yaml",
        "prompts.txt",
    ]


def test_a_list_and_a_mapping_are_options_too(command, tmp_path):
    rows = [f"0.{n % 7},0.{n % 5},{n // 4},{n % 4}" for n in range(120)]
    (tmp_path / "rows.csv").write_text("\n".join(["scores_a,scores_b,job,template", *rows]))
    command(
        *("--metric", "score_difference", "--bound", "0.5", "--data", "rows.csv"),
        *("--robust_over", "[wording]", "--factors", "{item: job, wording: template}"),
        *("--llmfair-json", "run.json"),
    )
    (record,) = json.loads((tmp_path / "run.json").read_text())["results"]
    assert record["robustness"]["over"].startswith("30 items x 4 wordings")
    (tmp_path / "asks.txt").write_text("".join(f"An old woman asks for {n}.\n" for n in range(30)))
    command(
        *("--metric", "score_difference", "--bound", "9", "--prompts", "asks.txt"),
        *("--attribute", "[age, gender]", "--scorer", "length", "--llmfair-json", "run.json"),
    )
    (record,) = json.loads((tmp_path / "run.json").read_text())["results"]
    assert record["attribute"] == "age x gender"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-q"], "there is nothing to check; give a file such as fairness.llmfair.yaml"),
        (["nothing.llmfair.yaml"], "there is nothing to check"),
        (["--metric", "FTU", "--bound", "0"], "0 files are given for FTU; give --prompts FILE"),
        (
            ["--metric", "TF", "--bound", "7", "--prompts", "prompts.txt"],
            "llmfair check: the bound of toxic_fraction is 7, which cannot be a test",
        ),
        (
            ["--metric", "TF", "--bound", "0.1", "--prompts", "prompts.txt", "--set", "a"],
            "--set is 'a'; write KEY=VALUE, such as threshold=0.4",
        ),
        (
            ["--metric", "TF", "--bound", "0.1", "--prompts", "prompts.txt", "--set", "treshol=1"],
            "toxic_fraction has no key 'treshol'; did you mean threshold?",
        ),
        (
            ["--metric", "TF", "--bound", "0.1", "--prompts", "no.txt"],
            "no.txt; give the path of one",
        ),
    ],
)
def test_wrong_use_says_what_to_do(arguments, message, tmp_path, monkeypatch, refused):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prompts.txt").write_text("She left.\n")
    assert message in refused("check", *arguments)
