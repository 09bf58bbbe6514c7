"""`llmfair model-card`: metadata in the form of the Hub, a table, and the limits of the run."""

from __future__ import annotations

import copy
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
import yaml

from pytest_llmfair.cli import main
from pytest_llmfair.gate.checklist import checklist
from pytest_llmfair.gate.model_card import limitations, model_card


def models(record, **options):
    """Return the models in the metadata of a card."""
    return front_matter(model_card(record, **options))[0]["model-index"]


@pytest.fixture
def record(recorded):
    return json.loads(recorded.read_text("utf-8"))


def front_matter(card):
    """Return the metadata and the Markdown of a card, split as the Hub does."""
    found = re.match(r"\A---\n(.*?)\n---\n(.*)\Z", card, re.S)
    assert found, card[:200]
    return yaml.safe_load(found[1]), found[2]


def test_the_metadata_is_a_model_index(record) -> None:
    (model,) = models(record, name="acme/bot")
    assert model["name"] == "acme/bot"
    values = {r["nodeid"]: r for r in record["results"]}
    assert len(model["results"]) == len(values) - 1
    for entry in model["results"]:
        assert set(entry) == {"task", "dataset", "metrics", "source"}
        asked = entry["dataset"]["type"] == "prompts-of-a-test"
        assert entry["task"]["type"] == ("text-generation" if asked else "other")
        assert {"type", "name"} <= set(entry["dataset"])
        assert {"name", "url"} == set(entry["source"])
        (metric,) = entry["metrics"]
        result = values[entry["dataset"]["name"].partition(" of ")[2]]
        assert metric["type"] == result["metric"]
        assert metric["value"] in (result["value"], result["debiased"])
        assert metric["args"]["lower"] == result["lower"]
        assert "95 % interval" in metric["name"]
        assert metric["args"]["verdict"] == result["verdict"]


def test_each_model_has_an_entry_and_data_without_a_model_have_none(record) -> None:
    record["results"][-1]["model"] = "openai:gpt (candidate) against openai:old (baseline)"
    assert "openai:gpt" in [entry["name"] for entry in models(record)]
    assert "openai:old" not in [entry["name"] for entry in models(record)]
    said = model_card(record).partition("Not in the metadata above")[2]
    assert "test_passes" in said.splitlines()[0]


def test_the_digest_of_the_prompts_is_their_revision(record) -> None:
    record["results"][0]["data"] = {"prompts_sha256": "ab12"}
    own = models(record, name="bot")[0]["results"][0]["dataset"]
    assert own["revision"] == "sha256:ab12"


def test_the_card_names_the_commit_of_the_run_or_that_there_is_none(record) -> None:
    git = {"commit": "0123abc", "dirty": False}
    assert "0123abc" in model_card({**record, "context": {**record["context"], "git": git}})
    for unknown in (None, {}):
        without = {**record, "context": {**record["context"], "git": unknown}}
        assert "commit of the tests: not recorded" in model_card(without)


def test_the_table_has_a_row_a_check_and_nothing_in_it_is_markup(record) -> None:
    _, page = front_matter(model_card(record))
    table = [line for line in page.splitlines() if line.startswith("|")]
    assert len(table) == 2 + len(record["results"])
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table]
    assert {len(row) for row in cells} == {len(cells[0])}
    heading = [cell.strip() for cell in cells[0]]
    assert {"test", "metric", "bound", "verdict", "n", "groups"} <= set(heading)
    assert "<b>" not in page
    row = next(line for line in table if "strict" in line)
    assert "female, male" in row
    assert "Not in the metadata above, because the value or the name of the model" in page


def test_the_hub_reads_the_metadata(record) -> None:
    import huggingface_hub as hub

    card = hub.ModelCard(model_card(record, name="acme/bot"))
    assert len(card.data.eval_results) == len(record["results"]) - 1
    assert {result.source_name for result in card.data.eval_results} == {
        f"pytest-llmfair {record['pytest_llmfair']}"
    }


def test_limits_name_groups_lost_answers_undecided_checks_and_missing_facts(record) -> None:
    page = limitations(record)
    assert page.startswith("# Limits of this evaluation\n")
    for said in (
        "third genders of single cultures",
        "3 answers missing: female",
        "missing answers by group: female",
        "test_stays_undecided toxic_fraction: about 1,100 to",
        "## Checks without valid evidence\n\n- test_it.py::test_has_no_value",
        "## Values beyond their bound",
        "on 20 neutral sentences",
        "These checks judge data of their own",
    ):
        assert said in page, page


def test_limits_say_what_the_record_does_not_hold(record) -> None:
    bare = copy.deepcopy(record)
    for key in ("models", "lexicons", "scorers", "context"):
        bare.pop(key, None)
    page = limitations(bare)
    assert "The record names no lexicon, so the language of the prompts is not known." in page
    assert "The record does not say whether answers were asked live or replayed." in page
    assert re.search(r"No revision and no digest of python\S+ is recorded", page)


def test_limits_of_replayed_answers_and_of_the_toy_model(record) -> None:
    record["context"] = {"answers": {"live": 0, "replayed": 120}}
    record["lexicons"] = [{"name": "gender", "language": "en"}]
    assert (
        "120 answers replayed from a recording: no new evidence about the model."
        in limitations(record)
    )
    assert "Languages of the lexicons: en." in limitations(record)
    record["results"][-1]["model"] = "builtin:ngram"
    assert "builtin:ngram is the built-in toy model." in limitations(record)


def test_left_out_prompts_have_a_share(record) -> None:
    record["results"][0] |= {"rejected": 10, "uncertain": 50, "units": 190}
    page = limitations(record)
    assert "10 pairs left out as invalid (5.0 % of 200, the others judged)" in page
    assert "50 prompts left out, with a word that can be read in two ways (20.8 % of 240," in page


def test_the_commands_print_the_documents(recorded, record, capsys) -> None:
    assert main(["model-card", str(recorded), "--name", "acme/bot"]) == 0
    assert capsys.readouterr().out == model_card(record, name="acme/bot")
    assert main(["model-card", str(recorded), "--limitations"]) == 0
    assert capsys.readouterr().out == limitations(record)


def test_an_empty_run_has_documents_too() -> None:
    metadata, page = front_matter(model_card({"results": []}))
    assert metadata == {"model-index": []}
    assert "No check was recorded." in page
    assert "No check names a model" in limitations({"results": []})


def test_the_commands_of_the_page_on_releases_run(recorded, tmp_path, monkeypatch, capsys) -> None:
    page = (Path(__file__).parents[2] / "docs" / "release.md").read_text("utf-8")
    commands = [shlex.split(line)[1:] for line in re.findall(r"^llmfair .*$", page, re.M)]
    assert len(commands) == 6
    monkeypatch.chdir(tmp_path)
    shutil.copy(recorded, "run.json")
    lines = ["sex,race,hired,score", *["F,A,1,0.5", "M,B,0,0.4"] * 20]
    Path("people.csv").write_text("\n".join(lines), encoding="utf-8")
    for command in commands:
        # The checklist of this run is not complete.
        complete = command[:2] != ["checklist", "run.json"]
        assert main(command) == (0 if complete else 1), command
    assert capsys.readouterr().out
    answer = yaml.safe_load(re.search(r"```yaml\n(.*?)```", page, re.S)[1])
    assert checklist({"results": []}, answer)["counts"]["yes"] == 1
