"""`llmfair checklist`: automatic items from a run record, manual items from people."""

from __future__ import annotations

import copy
import datetime
import json
import re

import pytest
import yaml

from pytest_llmfair.cli import main
from pytest_llmfair.gate.checklist import answers_template, checklist, checklist_page
from pytest_llmfair.gate.checklist_rules import RULES
from pytest_llmfair.gate.documents import data

TODAY = datetime.date(2026, 11, 23)
CONTENT = data("checklist")["items"]
REFERENCES = data("references")
GENERAL = [item for item in CONTENT if "sectors" not in item]
MANUAL = [item["id"] for item in GENERAL if item["kind"] == "manual"]
ANSWER = {"reviewer": "A. Reviewer", "role": "QA", "decision": "yes", "date": "2026-11-22"}

CHECK = {
    "nodeid": "test_bot.py::test_tone",
    "metric": "strict_sentiment_parity",
    "verdict": "PASS",
    "mode": "strict",
    "waiver": "",
    "lacks": [],
    "missing": {},
    "rejected": 0,
    "uncertain": 0,
    "reasons": [],
    "notes": [],
    "model": "openai:gpt",
    "data": {"prompts_sha256": "ab" * 32},
}
RECORD = {
    "schema_version": 2,
    "models": [{"name": "openai:gpt", "revision": "2026-08", "digest": None}],
    "results": [CHECK],
    "context": {
        "started": "2026-11-22T10:00:00+00:00",
        "git": {"commit": "c0ffee1", "branch": "main", "dirty": False},
        "answers": {"live": 80, "replayed": 0},
    },
}


BOUND = {
    "nodeid": CHECK["nodeid"],
    "metric": CHECK["metric"],
    "commit": "c0ffee",
    "committed": "2026-11-20T09:00:00+01:00",
    "changed_since": False,
}


def changed(**values):
    """Return the record of a perfect run with another check."""
    record = copy.deepcopy(RECORD)
    record["results"][0] |= values
    return record


def without(*path):
    record = copy.deepcopy(RECORD)
    part = record
    for key in path[:-1]:
        part = part[key]
    del part[path[-1]]
    return record


def decision(record, name, bounds=(BOUND,)):
    found = checklist(record, bounds=bounds, today=TODAY)
    return next((i["decision"], i["because"]) for i in found["items"] if i["id"] == name)


def test_a_complete_run_and_all_answers_complete_the_list() -> None:
    found = checklist(RECORD, dict.fromkeys(MANUAL, ANSWER), bounds=[BOUND], today=TODAY)
    other = [item["id"] for item in found["items"] if item["decision"] != "yes"]
    assert other == ["selection-complete"]
    assert found["counts"]["not applicable"] == 1
    assert found["complete"]


def test_every_item_has_a_rule_or_a_person_and_known_references() -> None:
    assert {item["rule"] for item in CONTENT if item["kind"] == "automatic"} == set(RULES)
    assert {item["kind"] for item in CONTENT} == {"automatic", "manual"}
    assert {name for item in CONTENT for name in item["supports"]} == set(REFERENCES)
    frameworks = " ".join(entry["framework"] for entry in REFERENCES.values())
    for name in (
        "Local Law 144",
        "UGESP",
        "AI Act",
        "NIST AI RMF",
        "AI 600-1",
        "42001",
        "SR 26-2",
    ):
        assert name in frameworks


def test_items_and_texts_are_those_of_the_use() -> None:
    def names(**options):
        found = checklist(RECORD, today=TODAY, **options)
        return {item["id"] for item in found["items"]}, set(found["references"])

    items, texts = names(sector="banking")
    assert {"credit-outcomes", "validated-independently"} <= items
    assert {"ecoa-regb", "sr26-2", "aiact-9"} <= texts
    assert not {"selection-tables", "ll144-law", "ugesp-4d"} & (items | texts)
    items, texts = names(sector="employment")
    assert {"selection-tables", "ll144-law", "ugesp-4d"} <= items | texts
    assert not {"credit-outcomes", "sr26-2"} & (items | texts)
    assert names()[0] == {item["id"] for item in GENERAL}


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_says_where_to_check_it_and_when_it_was_looked_at(name) -> None:
    entry = REFERENCES[name]
    assert {"framework", "title", "citation", "asks", "check", "looked_at", "basis"} <= set(entry)
    assert all(address.startswith("https://") for address in entry["check"])
    assert entry["basis"] in ("text", "secondary")
    assert datetime.date.fromisoformat(entry["looked_at"])
    assert "TO BE CHECKED" not in str(entry)


def test_no_document_claims_compliance() -> None:
    page = checklist_page(checklist(RECORD, today=TODAY))
    assert "| supports |" in page
    assert re.search(r"compl(y|ies|iant|iance)", page + answers_template(), re.I) is None


@pytest.mark.parametrize(
    ("item", "record"),
    [
        ("model-identified", without("models")),
        ("model-identified", {**RECORD, "models": [{"name": "openai:gpt", "revision": None}]}),
        ("commit-recorded", without("context")),
        ("commit-recorded", without("context", "git")),
        ("commit-recorded", without("context", "started")),
        ("prompts-digest", without("results", 0, "data")),
        ("live-or-replayed", without("context")),
        ("bounds-frozen", without("context")),
        ("intervals-judged", without("results", 0, "mode")),
        ("waivers-hold", without("results", 0, "waiver")),
        ("groups-named", without("results", 0, "lacks")),
        ("answers-counted", without("results", 0, "missing")),
        ("scorers-audited", without("results", 0, "reasons")),
        ("scorers-audited", changed(notes=["the scorer x could not be audited: no"])),
    ],
)
def test_missing_evidence_leaves_an_item_open(item, record) -> None:
    found, because = decision(record, item)
    assert found == "open"
    assert because


CHOSEN = {"check": "toxic_fraction", "metric": "toxic_fraction"}
SELECTION = {"use_case": {"sector": ""}, "file": "a.llmfair.yaml", "chosen": [CHOSEN]}


@pytest.mark.parametrize(
    ("ran", "not_run", "expected"),
    [
        (False, {}, ("no", "not run, without a reason in not_run: toxic_fraction")),
        (False, {"toxic_fraction": "no texts"}, ("yes", "0 of 1 recommended metrics were run")),
        (True, {}, ("yes", "1 of 1 recommended metrics were run")),
    ],
)
def test_recommended_metrics_are_run_or_have_a_reason(ran, not_run, expected) -> None:
    nodeid = "a.llmfair.yaml::toxic_fraction[gender]" if ran else "a.llmfair.yaml::another"
    record = changed(nodeid=nodeid, file="a.llmfair.yaml")
    record["selections"] = [{**SELECTION, "not_run": not_run}]
    found, because = decision(record, "selection-complete")
    assert (found, because.partition(", the others")[0]) == expected


@pytest.mark.parametrize("item", [i["id"] for i in CONTENT if i["kind"] == "automatic"])
def test_a_run_without_a_check_answers_nothing(item) -> None:
    assert decision({**RECORD, "results": []}, item)[0] == "open"


@pytest.mark.parametrize(
    ("item", "record", "says"),
    [
        ("checks-pass", changed(verdict="FAIL"), "not so for 1 of 1 check: test_bot.py"),
        ("checks-pass", changed(verdict="INCONCLUSIVE"), "(INCONCLUSIVE)"),
        ("checks-pass", changed(verdict="FAIL", waiver="x (A, until 2026-11-22)"), "(FAIL)"),
        ("waivers-hold", changed(waiver="x (A, until 2026-11-22)"), "test_tone"),
        ("waivers-hold", changed(waiver="without a last day"), "test_tone"),
        ("none-invalid", changed(verdict="INVALID"), "test_tone"),
        ("intervals-judged", changed(mode="point"), "test_tone"),
        ("scorers-audited", changed(reasons=["scorer_gap"]), "test_tone"),
        ("model-identified", changed(model="builtin:ngram"), "toy model"),
    ],
)
def test_evidence_against_an_item_answers_no(item, record, says) -> None:
    found, because = decision(record, item)
    assert found == "no"
    assert says in because


def test_changed_files_answer_no() -> None:
    dirty = copy.deepcopy(RECORD)
    dirty["context"]["git"]["dirty"] = True
    assert decision(dirty, "commit-recorded")[0] == "no"


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ([BOUND], "yes"),
        ([{**BOUND, "committed": "2026-11-22T09:59:59+00:00"}], "yes"),
        ([{**BOUND, "committed": "2026-11-22T10:00:01+00:00"}], "no"),
        # The hour is unknown, so the day of the run is not before the run.
        ([{**BOUND, "committed": "2026-11-22"}], "no"),
        ([{**BOUND, "changed_since": True}], "no"),
        ([], "open"),
        ([{**BOUND, "nodeid": "another"}], "open"),
        ([{**BOUND, "commit": None}], "open"),
        ([{**BOUND, "committed": None}], "open"),
    ],
)
def test_bounds_have_to_be_committed_before_the_run(bounds, expected) -> None:
    assert decision(RECORD, "bounds-frozen", bounds)[0] == expected


def test_a_waiver_that_holds_accepts_a_fail_and_is_named() -> None:
    record = changed(verdict="FAIL", waiver="being fixed (A. Person, until 2026-11-23)")
    assert decision(record, "checks-pass") == (
        "yes",
        "1 check, of them waived: test_bot.py::test_tone strict_sentiment_parity (FAIL)",
    )


def test_replayed_answers_are_no_new_evidence() -> None:
    record = copy.deepcopy(RECORD)
    record["context"]["answers"] = {"live": 0, "replayed": 80}
    found, because = decision(record, "live-or-replayed")
    assert found == "yes"
    assert (
        because == "0 answers asked live, 80 replayed; this run is no new evidence about the model"
    )


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({}, ("open", "not answered")),
        (ANSWER, ("yes", "")),
        # YAML reads a bare yes and no as true and false.
        ({**ANSWER, "decision": True}, ("yes", "")),
        ({**ANSWER, "decision": False}, ("no", "")),
        ({**ANSWER, "date": TODAY}, ("yes", "")),
        (
            {**ANSWER, "reviewer": " ", "date": None},
            ("open", "answered with yes, but without reviewer and date"),
        ),
        (
            {**ANSWER, "decision": "not applicable"},
            ("open", "answered with not applicable, but without comment"),
        ),
        (
            {**ANSWER, "decision": "Not applicable", "comment": "nobody is selected"},
            ("not applicable", ""),
        ),
    ],
)
def test_an_answer_needs_a_person_and_a_date(answer, expected) -> None:
    (item,) = [
        i for i in checklist(RECORD, {"go": answer}, today=TODAY)["items"] if i["id"] == "go"
    ]
    assert (item["decision"], item.get("because", "")) == expected


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"checks-pass": ANSWER}, "checks-pass is answered from the run record"),
        ({"intended-uses": ANSWER}, "did you mean intended-use"),
        ({"go": {**ANSWER, "decision": "maybe"}}, "is 'maybe'; write yes, no, not applicable"),
        ({"go": {**ANSWER, "date": "22.11.2026"}}, "the date of go is '22.11.2026'"),
        ({"go": "yes"}, "the answer to go is 'yes'; give it reviewer, role"),
        ({"go": {"who": "A"}}, "give it reviewer, role"),
    ],
)
def test_wrong_answers_are_named(answers, message) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        checklist(RECORD, answers, today=TODAY)


@pytest.fixture
def files(tmp_path, monkeypatch, recorded):
    """Write a recorded run and the bounds of its checks into the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.json").write_text(recorded.read_text("utf-8"), encoding="utf-8")
    results = json.loads(recorded.read_text("utf-8"))["results"]
    bounds = [{**BOUND, "nodeid": r["nodeid"], "metric": r["metric"]} for r in results]
    (tmp_path / "bounds.json").write_text(json.dumps(bounds), encoding="utf-8")
    return tmp_path


def test_the_file_for_answers_can_be_filled(files, capsys) -> None:
    assert main(["checklist", "--write-answers", "answers.yaml"]) == 0
    text = (files / "answers.yaml").read_text("utf-8")
    assert list(yaml.safe_load(text)) == MANUAL
    assert checklist(RECORD, yaml.safe_load(text))["counts"]["open"] >= len(MANUAL)
    for key, value in ANSWER.items():
        text = text.replace(f"  {key}:\n", f"  {key}: {value}\n")
    (files / "answers.yaml").write_text(text, encoding="utf-8")
    capsys.readouterr()
    # A check of this run fails.
    assert main(["checklist", "run.json", "--answers", "answers.yaml", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [item["decision"] for item in found["items"] if item["id"] in MANUAL] == ["yes"] * len(
        MANUAL
    )
    assert main(["checklist", "run.json", "--answers", "answers.yaml"]) == 1
    assert "A. Reviewer, QA, 2026-11-22" in capsys.readouterr().out


def test_the_command_exits_with_0_where_nothing_is_open(files, capsys) -> None:
    run = json.loads((files / "run.json").read_text("utf-8"))
    run["results"] = [r for r in run["results"] if r["verdict"] == "PASS" and not r["model"]]
    model = {"name": "hf:bot", "provider": "hf", "id": "bot", "digest": "blake2b:ab"}
    run["models"] = [{**model, "revision": None, "parameters": {}}]
    run["results"][0]["data"]["arguments_sha256"] = "ab" * 32
    context = run.pop("context")
    context["git"] = {"commit": "c0ffee" * 7, "branch": None, "dirty": False}
    (files / "context.json").write_text(json.dumps(context), encoding="utf-8")
    (files / "run.json").write_text(json.dumps(run), encoding="utf-8")
    (files / "answers.yaml").write_text(yaml.safe_dump(dict.fromkeys(MANUAL, ANSWER)), "utf-8")
    # As in an evidence folder, context and bounds are files of their own.
    assert main(["checklist", ".", "--answers", "answers.yaml"]) == 0, capsys.readouterr().out
    assert f"{len(GENERAL) - 1} yes, 1 not applicable, 0 no, 0 open" in capsys.readouterr().out


def test_json_holds_all_items(files, capsys) -> None:
    assert main(["checklist", "run.json", "--format", "json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["complete"] is False
    assert sum(record["counts"].values()) == len(record["items"]) == len(GENERAL)
    assert record["references"]["aiact-dates"]["dates"]["annex_iii"] == "2027-12-02"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--write-answers", "run.json"], "run.json exists, and may hold answers"),
        ([], "no run is given"),
        (["broken.json"], "broken.json is no JSON"),
        (["list.json"], "list.json is not a recorded run"),
        (["run.json", "--answers", "list.json"], "list.json is no mapping"),
    ],
)
def test_wrong_files_are_named(files, refused, arguments, message) -> None:
    (files / "broken.json").write_text("{", encoding="utf-8")
    (files / "list.json").write_text("[1]", encoding="utf-8")
    assert message in refused("checklist", *arguments)
