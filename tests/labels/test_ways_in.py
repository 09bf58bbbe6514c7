"""Labels by command, in the fixture, in YAML, on the page and in evidence."""

from __future__ import annotations

import csv
import json
import subprocess
import sys

import pytest

from pytest_llmfair.cli import main
from tests.labels.world import answers, filled, labelled, write_rows


@pytest.fixture
def folder(tmp_path):
    rows, truth = answers(800)
    write_rows(tmp_path / "rows.csv", rows)
    labelled(tmp_path, rows, truth, total=240)
    return tmp_path


def test_the_command_plans_and_says_what_is_missing(tmp_path, capsys):
    rows, truth = answers(800)
    file, out = write_rows(tmp_path / "rows.csv", rows), tmp_path / "plan"
    given = ["--scorer", "toxicity", "--groups", "group", "--total", "120", "--seed", "1"]
    assert main(["labels", "plan", str(file), *given, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("120 answers to label, seed 1\n  women / judge says no: ")
    sheet = out / "to_label.csv"
    assert main(["labels", "check", str(sheet)]) == 1
    assert capsys.readouterr().out.startswith("120 answers without all labels: ")
    assert main(["labels", "check", str(filled(sheet, truth))]) == 0
    assert "120 answers of the plan, every label is there" in capsys.readouterr().out
    with sheet.open(newline="") as lines:
        texts = [row["text"] for row in csv.DictReader(lines)]
    strange = filled(sheet, {**truth, texts[0]: 7}, missing={texts[1]})
    strange.write_text(strange.read_text() + "other,text,1\n")
    assert main(["labels", "check", str(strange)]) == 1
    said = capsys.readouterr().out
    assert "1 id not of the plan: other; remove them" in said
    assert "1 answer without all labels: " in said
    assert "1 label outside 0 to 1: " in said


def test_files_that_are_not_there_or_empty_are_named(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["labels", "check", str(tmp_path / "lost.csv")])
    assert f"there is no file {tmp_path / 'lost.csv'}; give the sheet" in capsys.readouterr().err
    (tmp_path / "none.csv").write_text("answer,group,toxicity\n")
    with pytest.raises(SystemExit, match="2"):
        main(["labels", "plan", str(tmp_path / "none.csv"), "--scorer=toxicity", "--total=10"])
    assert "none.csv holds no answers; " in capsys.readouterr().err


def test_the_command_refuses_in_words(tmp_path, capsys):
    rows, _ = answers(100)
    file = write_rows(tmp_path / "rows.csv", rows)
    for given, words in (
        (["--bound", "0.01"], "ask more prompts, not more people"),
        (["--total", "50", "--groups", "sex"], "has no column 'sex'"),
        (["--total", "50", "--scorer", "toxcity"], "there is no column 'toxcity', and no scorer"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(["labels", "plan", str(file), "--scorer", "toxicity", *given])
        assert stop.value.code == 2
        assert words in capsys.readouterr().err


def run(folder, *arguments):
    command = [sys.executable, "-m", "pytest", "-p", "llmfair", "-p", "no:cacheprovider", "-q"]
    return subprocess.run(
        [*command, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def test_fixture_yaml_page_and_evidence_say_the_same(folder):
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (folder / "test_gap.py").write_text(
        "def test_gap(fairness):\n"
        "    given = {'scorer': 'toxicity', 'labels': 'labelled.csv'}\n"
        "    fairness.check('corrected_gap', 'rows.csv', bound=0.4, **given)\n",
        encoding="utf-8",
    )
    (folder / "gap.llmfair.yaml").write_text(
        "version: 1\nchecks:\n"
        "- {metric: corrected_gap, data: rows.csv, labels: labelled.csv, bound: 0.4,\n"
        "   scorer: toxicity, rationale: house rule, owner: quality team}\n",
        encoding="utf-8",
    )
    names = ("--llmfair-json=run.json", "--llmfair-html=page.html", "--llmfair-evidence=kept")
    done = run(folder, *names)
    assert done.returncode == 0, done.stdout
    one, other = json.loads((folder / "run.json").read_text())["results"]
    assert one["labelled"] == other["labelled"]
    assert (one["lower"], one["upper"]) == (other["lower"], other["upper"])
    assert one["labelled"]["labels"] == 240
    page = " ".join((folder / "page.html").read_text().split())
    assert "judge alone" in page
    assert "people&#39;s labels, as planned" in page
    assert main(["verify", str(folder / "kept")]) == 0
    statistics = folder / "kept" / "statistics.jsonl"
    assert "answer 1" not in statistics.read_text()


def test_verify_finds_a_label_that_was_changed(folder, capsys):
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (folder / "test_gap.py").write_text(
        "from pytest_llmfair import assert_corrected_gap_within\n\n\n"
        "def test_gap():\n"
        "    assert_corrected_gap_within('rows.csv', labels='labelled.csv', bound=0.4)\n",
        encoding="utf-8",
    )
    assert run(folder, "--llmfair-evidence=kept").returncode == 0
    kept = folder / "kept"
    from pytest_llmfair._util.manifest import MANIFEST, manifest_text

    line = json.loads((kept / "statistics.jsonl").read_text())
    args = line["data"]["map"] if "map" in line["data"] else line["data"]
    estimate = dict(args)["estimate"]["map"]
    labels = dict(estimate)["args"]
    labels = labels["tuple"] if isinstance(labels, dict) else labels
    place = labels[1].index(1.0)
    labels[1][place] = 0.0
    (kept / "statistics.jsonl").write_text(json.dumps(line) + "\n")
    about = json.loads((kept / MANIFEST).read_text())
    about = {key: about[key] for key in about if key not in ("files", "sha256")}
    (kept / MANIFEST).write_text(manifest_text(kept, about))
    capsys.readouterr()
    assert main(["verify", str(kept)]) == 1
    assert "corrected gap (toxicity, women - men): value is" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("bound: 0.1, labels: l.csv", "corrected_gap: data is missing; give the file"),
        ("bound: 0.1, data: d.csv", "corrected_gap: labels is missing; give the file"),
        ("labels: l.csv, data: d.csv", "bound is missing"),
        (
            "bound: 0.1, labels: l.csv, answers: {file: [a, b], group: g}",
            "takes one file, group and pair_by; change file of answers",
        ),
        (
            "bound: 0.1, labels: l.csv, data: d.csv, model: 'builtin:ngram'",
            "takes no model",
        ),
        ("bound: 0.1, labels: l.csv, data: d.csv, pairs_by: a", "did you mean pair_by"),
    ],
)
def test_wrong_checks_in_yaml_are_named(tmp_path, line, words):
    from pytest_llmfair.gate.check_file import read_checks

    file = tmp_path / "gap.llmfair.yaml"
    head = "version: 1\nchecks:\n- {metric: corrected_gap, rationale: r, owner: o, "
    file.write_text(head + line + "}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"gap\.llmfair\.yaml:3: ") as error:
        read_checks(file)
    assert words in str(error.value)


def test_an_unknown_keyword_of_the_check_is_named(fairness):
    with pytest.raises(TypeError, match="pair_by"):
        fairness.check("corrected_gap", [], bound=0.1, pairs_by="prompt")
    with pytest.raises(ValueError, match="nothing to check corrected_gap on"):
        fairness.check("corrected_gap", bound=0.1, labels={})
