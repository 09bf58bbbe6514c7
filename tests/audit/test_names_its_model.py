"""The header and the record of an audit name the model that it asked."""

from __future__ import annotations

import json

import pytest

from pytest_llmfair.cli import main

MODEL = "builtin:ngram?gender_skew=0.3"
CHECKS = """version: 1
checks:
- {metric: counterfactual_rouge_l, attribute: gender, minimum: 0.99, rationale: r, owner: o}
"""


def test_header_record_and_the_line_that_judges_again(tmp_path, capsys, monkeypatch):
    pytest.importorskip("pyarrow")
    data, checks, out = tmp_path / "p.txt", tmp_path / "fair.llmfair.yaml", tmp_path / "out"
    data.write_text("\n".join(f"The woman came on day {i} and" for i in range(30)))
    checks.write_text(CHECKS)
    monkeypatch.chdir(tmp_path)
    line = ["audit", str(data), "--model", MODEL, "--attribute", "gender", "--seed", "3"]
    line += ["--checks", str(checks), "--out", str(out), "-p", "no:cacheprovider"]
    assert main([*line, "--llmfair-json", "run.json", "--llmfair-mode", "strict"]) == 1
    shown = capsys.readouterr().out
    assert f"llmfair: model {MODEL}, mode strict, level 0.95, seed 3" in shown
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["settings"]["model"] == MODEL
    assert record["settings"]["seed"] == 3
    assert [model["name"] for model in record["models"]] == [MODEL]
    (again,) = (text for text in shown.splitlines() if text.strip().startswith("rerun "))
    assert again.endswith("--llmfair-mode strict")
