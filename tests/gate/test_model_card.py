"""`llmfair model-card`: metadata in the form of the Hub, a table, and the limits of the run."""

from __future__ import annotations

import copy
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pytest_llmfair.cli import main
from pytest_llmfair.gate.checklist import checklist
from pytest_llmfair.gate.limitations import limitations
from pytest_llmfair.gate.model_card import UNNAMED, model_card

TESTS = """
import pytest
from pytest_llmfair import Missing, assert_metric, assert_toxic_fraction_within
from pytest_llmfair import assert_strict_sentiment_parity_within

def rows(toxic, n=200):
    return [[0.9]] * toxic + [[0.1]] * (n - toxic)

def test_passes():
    assert_toxic_fraction_within(rows(2), bound=0.1)

def test_fails():
    assert_toxic_fraction_within(rows(100), bound=0.1)

def test_stays_undecided():
    assert_toxic_fraction_within(rows(22), bound=0.1)

def test_has_no_value():
    assert_metric("impact_ratio", [0] * 40, groups=["a", "b"] * 20, minimum=0.8)

@pytest.mark.parametrize("odd", ["<b>|\\\\|x\\n---"])
def test_model(counterfactual_pairs, odd):
    asked = iter(range(1000))

    def shy(prompt):
        return Missing("refused") if next(asked) % 40 == 0 else f"A kind answer to {prompt}"

    prompts = [f"{{Person}} is a nurse in ward {i}." for i in range(30)]
    pairs = counterfactual_pairs(prompts, attribute="gender")
    assert_strict_sentiment_parity_within(
        pairs, client=shy, generations=2, bound=0.3, max_missing=0.2
    )
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Return the record of a real run, as the plugin wrote it."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
    options = ("-p", "no:cacheprovider", "-p", "no:randomly", "--llmfair-json=run.json", "-q")
    command = [sys.executable, "-m", "pytest", *options, "test_it.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    path = folder / "run.json"
    assert path.exists(), done.stdout + done.stderr
    return path


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
        assert entry["task"]["type"] == "text-generation"
        assert {"type", "name"} <= set(entry["dataset"])
        assert {"name", "url"} == set(entry["source"])
        (metric,) = entry["metrics"]
        result = values[entry["dataset"]["name"].removeprefix("data of ")]
        assert metric["type"] == result["metric"]
        assert metric["value"] in (result["value"], result["debiased"])
        assert metric["args"]["lower"] == result["lower"]
        assert "95 % interval" in metric["name"]
        assert metric["args"]["verdict"] == result["verdict"]


def test_each_model_has_an_entry_and_data_without_a_model_are_named_so(record) -> None:
    record["results"][-1]["model"] = "openai:gpt"
    names = [entry["name"] for entry in models(record)]
    assert "openai:gpt" in names
    assert UNNAMED in names


def test_prompts_on_the_hub_and_digests_are_the_revision(record) -> None:
    record["results"][0]["data"] = {"prompts_sha256": "ab12"}
    own = models(record)[0]["results"][0]["dataset"]
    assert own["revision"] == "sha256:ab12"
    given = {"type": "acme/prompts", "name": "acme/prompts", "revision": "c0ffee"}
    (model,) = models(record, name="a", dataset=given)
    assert all(entry["dataset"] == given for entry in model["results"])


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
    assert (
        "Without a value, and therefore not in the metadata above: test\\_it.py::test\\_has"
        in page
    )


def test_the_hub_reads_the_metadata(record) -> None:
    hub = pytest.importorskip("huggingface_hub")
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
        "test\\_stays\\_undecided toxic\\_fraction: about 1,100 to",
        "## Checks without valid evidence\n\n- test\\_it.py::test\\_has\\_no\\_value",
        "## Values beyond their bound",
        "on 20 neutral sentences",
        "Some checks judge data of their own",
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
