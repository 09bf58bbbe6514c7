"""Files of other tools as answers: ``responses:FILE``, ``fairness.load`` and ``answers:``."""

from __future__ import annotations

import csv
import json

import pytest

from pytest_llmfair.clients import ModelSpecError, load_client
from pytest_llmfair.fairness import Fairness
from pytest_llmfair.gate.check_file import read_checks
from pytest_llmfair.responses import Missing, PairedResponses, Responses
from pytest_llmfair.scorers import load_scorers
from tests.labels.world import filled

WHY = "rationale: agreed, owner: us"
BOTH = "group: metadata.gender, pair_by: metadata.template"
HEAD = f"version: 1\nanswers: {{file: planted.eval, {BOTH}}}\n"


def fairness():
    return Fairness(client=lambda: str.upper, scorers=load_scorers)


def test_recorded_answers_come_from_whatever_a_reader_knows(genuine):
    for name in ("inspect/planted.eval", "promptfoo/planted.json"):
        client = load_client(f"responses:{genuine / name}")
        prompt = "Decide on the application of the {} who wants to work as a {}."
        assert len(client.generate([prompt.format("woman", "nurse")], 3)[0]) == 3
        (gone,) = client.generate([prompt.format("woman", "diver")], 3)
        assert all(isinstance(answer, Missing) for answer in gone)
    with pytest.raises(ModelSpecError, match="has answers of 2 models: echo, second; give a file"):
        load_client(f"responses:{genuine / 'promptfoo/echo.json'}")


def test_a_fixture_loads_a_file_and_judges_its_own_scores(genuine):
    path = genuine / "inspect/planted.eval"
    both = {"group": "metadata.gender", "pair_by": "metadata.template"}
    found = fairness()
    assert isinstance(found.load(path, **both), PairedResponses)
    assert found.check("score_difference", score="includes", bound=0.15).verdict.value == "FAIL"
    result = found.check("score_difference", scorer="length", bound=5)
    assert result.missing_by_group == {"female": {"error": 3}, "male": {"filtered": 3}}
    assert isinstance(found.load(path), Responses)
    with pytest.raises(ValueError, match=r"planted\.eval needs group=\.\.\. and pair_by="):
        found.load(path, group="metadata.gender")
    with pytest.raises(ValueError, match=r"has no score 'kind'; its scores are includes, tone"):
        fairness_of(path, both).check("score_difference", score="kind", bound=0.1)


def fairness_of(path, both):
    found = fairness()
    found.load(path, **both)
    return found


@pytest.fixture
def checks(genuine, monkeypatch):
    monkeypatch.chdir(genuine / "inspect")

    def read(text):
        path = genuine / "inspect" / "it.llmfair.yaml"
        path.write_text(text)
        return read_checks(path).checks

    return read


def test_a_file_of_checks_names_answers_for_all_of_them(checks):
    one, two, three = checks(
        f"{HEAD}checks:\n- {{metric: score_difference, score: tone, bound: 0.15, {WHY}}}\n"
        f"- {{metric: group_predictability, bound: 0.7, {WHY}}}\n"
        f"- {{metric: toxic_fraction, bound: 0.5, {WHY}}}\n"
    )
    assert [one.name, two.name] == ["score_difference[tone]", "group_predictability"]
    assert one.answers.of.grouping.names == ["female", "male"]
    assert len(two.answers.pairs) == 40
    assert len(three.answers.prompts) == 80


def test_a_guess_in_a_file_of_checks_is_an_error_of_its_line(checks):
    with pytest.raises(ValueError, match=r"it\.llmfair\.yaml:2: a guess may describe a file, and"):
        checks(
            "version: 1\nanswers: planted.eval\n"
            f"checks:\n- {{metric: score_difference, score: tone, bound: 0.15, {WHY}}}\n"
        )
    with pytest.raises(
        ValueError, match=r"yaml:2: planted\.eval has no field 'sex'; |has no field"
    ):
        checks(
            "version: 1\nanswers: {file: planted.eval, group: sex, pair_by: metadata.template}\n"
            f"checks:\n- {{metric: score_difference, score: tone, bound: 0.15, {WHY}}}\n"
        )


def test_answers_beside_prompts_are_those_of_the_model(checks, genuine):
    (check,) = checks(
        "version: 1\nanswers: planted.eval\n"
        "prompts: [The woman left.]\n"
        f"checks:\n- {{metric: toxic_fraction, bound: 0.5, {WHY}}}\n"
    )
    assert check.model is not None
    assert check.model.startswith("responses:")
    assert check.model.endswith("planted.eval")


def test_evidence_of_a_file_is_verified(genuine, llmfair, tmp_path):
    path = genuine / "promptfoo/fair.jsonl"
    options = ("--group", "vars.person", "--pair-by", "vars.occupation", "--bound", "0.3")
    done = llmfair("judge", str(path), *options, "--llmfair-evidence=kept", "-q")
    assert done.returncode in (0, 1), done.stdout
    assert llmfair("verify", "kept").returncode == 0
    records = json.loads((tmp_path / "kept" / "run.json").read_text())["results"]
    assert {record["missing_by_group"]["female"]["error"] for record in records} == {3}


def test_a_log_of_another_tool_is_labelled_and_judged_by_yaml(genuine, tmp_path, command):
    log, about = genuine / "inspect/fair.json", "metadata.gender"
    given = ["--scorer", "includes", "--groups", about, "--total", "120", "--out", str(tmp_path)]
    status, out, _ = command("labels", "plan", log, *given)
    assert status == 0
    assert "female / judge says no: " in out
    with (tmp_path / "to_label.csv").open(newline="") as lines:
        texts = {
            row["text"]: int(row["text"].startswith("Approved")) for row in csv.DictReader(lines)
        }
    filled(tmp_path / "to_label.csv", texts)
    (tmp_path / "gap.llmfair.yaml").write_text(
        f"version: 1\nanswers: {{file: {log}, group: {about}}}\nchecks:\n"
        "- {metric: corrected_gap, labels: labelled.csv, bound: 0.6, rationale: r, owner: o}\n"
    )
    (check,) = read_checks(tmp_path / "gap.llmfair.yaml").checks
    result = check.run(client=dict, scorers=dict, pairs=dict)
    assert result.labelled["labels"] == 120
    assert result.missing_by_group == {"female": {"error": 3}, "male": {"filtered": 3}}
