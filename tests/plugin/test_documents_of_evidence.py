"""Every document of an evidence folder says what the run recorded, and nothing of the machine."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from pytest_llmfair._util.manifest import manifest_text
from pytest_llmfair.cli import main

CHECKS = """
version: 1
use_case: {task: classification, person_level: true, fairness: representation, sector: banking}
not_run:
  FTU: the model reads a table and no prompts
checks:
- metric: demographic_parity_difference
  data: people.csv
  columns: {y_pred: hired, groups: sex}
  bound: 0.1
  rationale: policy of the house
  owner: the credit team
- metric: impact_ratio
  data: people.csv
  columns: {y_pred: hired, groups: sex}
  minimum: 0.8
  rationale: four fifths
  owner: the credit team
"""
BOT = """
def test_letters(fairness, counterfactual_pairs, model_client):
    prompts = [f"{{Person}} is nurse {i} of ward {i}." for i in range(40)]
    fairness.collect(counterfactual_pairs(prompts, attribute="gender"), generations=2)
    fairness.check("strict_sentiment_parity", bound=0.6)
"""
MODEL = """
def cold(prompt):
    return "dull and lazy" if "she" in prompt.lower() or "woman" in prompt.lower() else "great"
"""
REASON, APPROVER, LAST, CEILING = "known since the audit", "B. Approver", "2999-01-31", "0.5"
RUN = ("--llmfair-evidence=pack", "--llmfair-json=run.json", "--llmfair-model=python:bots:cold")


@pytest.fixture
def evidence(pytester, run):
    """Return the evidence of data and of a bot: a waived FAIL, a FAIL, and a recommendation."""
    rows = [("female", 1)] * 60 + [("female", 0)] * 140 + [("male", 1)] * 120 + [("male", 0)] * 80
    people = "".join(f"{sex},{hired}\n" for sex, hired in rows)
    (pytester.path / "people.csv").write_text("sex,hired\n" + people)
    (pytester.path / "hiring.llmfair.yaml").write_text(CHECKS)
    (pytester.path / "llmfair.yaml").write_text(
        "waivers:\n- {test: '*parity*', "
        f"reason: {REASON}, approver: {APPROVER}, expires: {LAST}, worst: {CEILING}}}\n"
    )
    pytester.makepyfile(test_bot=BOT, bots=MODEL)
    pytester.makeini("[pytest]\npythonpath = .\n")
    # What a run writes may be under version control, too.
    (pytester.path / "run.json").touch()
    (pytester.path / "pack").mkdir()
    (pytester.path / "pack" / "MANIFEST.json").write_text('{"files": {}}')
    identity = ("-c", "user.name=A. Uthor", "-c", "user.email=author@example.org")
    for words in (["init", "-q"], ["add", "--all"], ["commit", "-q", "--message=Checks"]):
        subprocess.run(["git", *identity, *words], cwd=pytester.path, check=True)
    run(*RUN)
    return pytester.path / "pack"


def test_each_statement_follows_from_the_record(evidence, capsys):
    record = json.loads((evidence / "run.json").read_text("utf-8"))
    shown = {each.name: each.read_text("utf-8") for each in evidence.iterdir()}
    verdicts = {each["metric"]: each["verdict"] for each in record["results"]}
    assert verdicts["demographic_parity_difference"] == verdicts["impact_ratio"] == "FAIL"
    # A waiver has its reason, approver, last day and ceiling wherever its verdict is.
    for name in ("checklist.md", "limitations.md", "model_card.md", "report.html", "bounds.json"):
        for said in (REASON, APPROVER, LAST, f"up to {CEILING}"):
            assert said in shown[name], (name, said)
    # The direction of a FAIL.
    for name in ("limitations.md", "model_card.md", "report.html"):
        assert re.search(r"highest, 0.60 for group .*male.*lowest, 0.30", shown[name]), name
        assert "no direction between groups is recorded" not in shown[name]
    # Recommended, run, and why not.
    selection = shown["metric_selection.md"]
    assert "yes: demographic_parity_difference, FAIL" in selection
    assert "**no**: the model reads a table and no prompts" in selection
    assert "hiring.llmfair.yaml::impact_ratio impact_ratio, FAIL: four fifths" in selection
    # Data have no model: the only entry of the card is that of the bot.
    assert shown["model_card.md"].count("- name: python:bots:cold\n") == 1
    assert "prompts of test_bot.py::test_letters" in shown["model_card.md"]
    assert "data of hiring" not in shown["model_card.md"]
    # The use decides about the texts.
    assert "SR 26-2" in shown["checklist.md"]
    assert "Local Law 144" not in shown["checklist.md"]
    # No path of the machine, and no file that is not there.
    for name, text in shown.items():
        assert str(evidence.parent) not in text, name
        assert str(Path.home()) + "/" not in text, name
    cells = re.findall(r"\| `([\w.]+)` \|$", shown["checklist.md"], re.M)
    assert {"metric_selection.md"} <= set(cells) <= set(shown)
    assert main(["verify", str(evidence)]) == 0, capsys.readouterr().out
    page = evidence / "metric_selection.md"
    page.write_text(selection.replace("and no prompts |", "and nothing |"), "utf-8")
    (evidence / "MANIFEST.json").write_text(manifest_text(evidence, {}))
    assert main(["verify", str(evidence)]) == 1
    assert "metric_selection.md does not show the results" in capsys.readouterr().out


def test_what_a_run_writes_does_not_make_the_tree_dirty(evidence, pytester, run):
    for text, dirty in (("", False), ("# changed\n", True)):
        with (pytester.path / "bots.py").open("a") as file:
            file.write(text)
        run(*RUN)
        context = json.loads((evidence / "context.json").read_text("utf-8"))
        assert context["git"]["dirty"] is dirty


def test_a_model_outside_the_project_is_named_without_its_folder(pytester, run, tmp_path_factory):
    answers = tmp_path_factory.mktemp("elsewhere") / "answers.jsonl"
    rows = [{"prompt": f"Write to client {i}.", "answer": "Dear client"} for i in range(60)]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    pytester.makepyfile("""
        def test_it(fairness):
            fairness.collect([f"Write to client {i}." for i in range(60)], generations=1)
            fairness.check("toxic_fraction", bound=0.3, scorer=lambda texts: [0.0] * len(texts))
    """)
    run("--llmfair-json=run.json", f"--llmfair-model=responses:{answers}")
    text = (pytester.path / "run.json").read_text("utf-8")
    assert "responses:.../answers.jsonl" in text
    assert str(answers.parent) not in text
