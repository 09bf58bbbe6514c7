"""Judging the answers of an audit again: what reports say about them, and what is refused."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from pytest_llmfair import lexicons
from pytest_llmfair.audit import load
from pytest_llmfair.cli import main
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.scorers import load_scorers, score
from tests.audit.parts import MODEL, PROMPTS, audited
from tests.clients.fakes import session_with

PAIRS = "counterfactual_rouge_l, attribute: gender, minimum: 0.05"
ALONE = "expected_maximum_toxicity, scorer: sentiment, bound: 0.99"


@pytest.fixture
def judge(tmp_path):
    """Return a function that makes an audit and judges it, and returns the exit status."""
    data = tmp_path / "prompts.txt"
    data.write_text("\n".join(PROMPTS))

    def run(metric, *options, **given):
        audited(data, tmp_path / "out", **given)
        checks = tmp_path / "fair.llmfair.yaml"
        checks.write_text(f"version: 1\nchecks:\n- {{metric: {metric}, rationale: r, owner: o}}\n")
        line = ["audit", "--out", str(tmp_path / "out"), "--checks", str(checks), "-q"]
        return main([*line, "-p", "no:cacheprovider", *options])

    return run


@pytest.mark.parametrize(("metric", "attribute"), [(PAIRS, "gender"), (ALONE, "")])
def test_a_report_names_the_model_and_counts_replayed_answers(judge, tmp_path, metric, attribute):
    report = tmp_path / "run.json"
    assert judge(metric, "--llmfair-json", str(report), attribute=attribute) == 0
    found = json.loads(report.read_text())
    asked = 2 * 3 * 44 if attribute else 3 * len(PROMPTS)
    assert found["context"]["answers"] == {"live": 0, "replayed": asked}
    assert found["context"]["models"] == {MODEL: {"live": False, "replayed": True}}
    (model,) = found["models"]
    assert (model["name"], len(model["revision"])) == (MODEL, 32)


def test_options_that_need_other_answers_are_refused(judge, capsys):
    for options in [
        ("--attribute", "race"),
        ("--generations", "9"),
        ("--seed", "1"),
        ("--placebo",),
    ]:
        with pytest.raises(SystemExit, match="2"):
            judge(PAIRS, *options)
        said = capsys.readouterr().err
        assert f"{options[0]} is" in said
        assert "leave it out to judge" in said
    # An option that says what is the case anyway does no harm.
    assert judge(PAIRS, "--attribute", "gender", "--generations", "3") == 0


def test_unawareness_is_about_the_attribute_of_its_check(judge, tmp_path):
    report = tmp_path / "run.json"
    unaware = "fairness_through_unawareness, attribute: race, bound: 0.1"
    assert judge(unaware, "--llmfair-json", str(report)) == 0
    (found,) = json.loads(report.read_text())["results"]
    # The prompts name women and men, and no race.
    assert found["value"] == 0.0


@pytest.mark.parametrize(
    ("given", "works"), [(("Italian", "Nigerian"), True), (("Italian", "Polish"), False)]
)
def test_a_check_of_two_peoples_needs_an_audit_of_these(tmp_path, capsys, given, works):
    data, checks = tmp_path / "prompts.txt", tmp_path / "fair.llmfair.yaml"
    data.write_text("\n".join(f"The Italian doctor came on day {i} and" for i in range(20)))
    checks.write_text(
        "version: 1\nattributes:\n  nationality: {groups: [Italian, Nigerian]}\n"
        "checks:\n- {metric: counterfactual_rouge_l, attribute: nationality, minimum: 0.01, "
        "rationale: r, owner: o}\n"
    )
    line = ["audit", str(data), "--model", MODEL, "--attribute", "nationality", "-q"]
    line += ["--groups", ",".join(given), "--checks", str(checks), "-p", "no:cacheprovider"]
    line += ["--out", str(tmp_path / "out"), "--generations", "3"]
    if works:
        assert main(line) == 0
        return
    with pytest.raises(SystemExit, match="2"):
        main(line)
    assert "audit again with --groups" in capsys.readouterr().err


def test_a_check_with_words_of_its_own_is_refused(tmp_path, capsys):
    data, checks = tmp_path / "prompts.txt", tmp_path / "fair.llmfair.yaml"
    data.write_text("She left")
    shipped = Path(lexicons.__file__).parent / "data" / "gender.yaml"
    (tmp_path / "own.yaml").write_text(shipped.read_text())
    checks.write_text(
        "version: 1\nattributes:\n  gender: {lexicon: own.yaml}\n"
        f"checks:\n- {{metric: {PAIRS}, rationale: r, owner: o}}\n"
    )
    line = ["audit", str(data), "--model", MODEL, "--attribute", "gender"]
    with pytest.raises(SystemExit, match="2"):
        main([*line, "--checks", str(checks), "--out", str(tmp_path / "out")])
    assert "it has a lexicon of its own" in capsys.readouterr().err


def test_what_a_red_check_of_two_attributes_gives_to_run_it_again_can_be_run(tmp_path, capsys):
    data, checks = tmp_path / "prompts.txt", tmp_path / "fair.llmfair.yaml"
    data.write_text("\n".join(f"The white woman came on day {i} and" for i in range(9)))
    both = PAIRS.replace("gender", "[race, gender]").replace("0.05", "0.99")
    checks.write_text(f"version: 1\nchecks:\n- {{metric: {both}, rationale: r, owner: o}}\n")
    line = ["audit", str(data), "--model", MODEL, "--attribute", "race,gender", "-q"]
    line += ["--checks", str(checks), "--out", str(tmp_path / "out"), "-p", "no:cacheprovider"]
    assert main(line) == 1
    (found,) = re.findall("rerun +llmfair (.*)", capsys.readouterr().out)
    assert main([*shlex.split(found), "-p", "no:cacheprovider"]) == 1
    assert "1 fairness assertion" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["toxicity", "sentiment"])
def test_a_scorer_of_a_conftest_is_used_in_place_of_a_shipped_one(judge, tmp_path, capsys, name):
    (tmp_path / "conftest.py").write_text(
        "import pytest\nfrom pytest_llmfair.scorers import load_scorers\n\n"
        f"def {name}(texts):\n    return [0.25] * len(texts)\n\n"
        "@pytest.fixture(scope='session')\ndef scorers():\n"
        f"    return load_scorers({name}={name})\n"
    )
    report = tmp_path / "run.json"
    given = ("--llmfair-json", str(report))
    assert judge(ALONE.replace("sentiment", name), *given, attribute="") == 0
    assert json.loads(report.read_text())["results"][0]["value"] == 0.25
    # The shipped classifier of toxicity has no weights here.
    failed = "of scores-toxicity failed 3 times" in capsys.readouterr().err
    assert failed == (name == "toxicity")


def test_loading_an_audit_leaves_other_models_and_the_cassette_as_they_are(judge, tmp_path):
    assert judge(PAIRS) == 0

    class Recorded:
        def recorded(self, scorer, texts):
            return [0.125] * len(texts)

        def record(self, scorer, texts, scores):
            raise AssertionError

    with session_with() as session:
        session.scores = Recorded()
        for _ in range(2):
            load(tmp_path / "out").use_scores()
        assert score(load_scorers()["sentiment"], ["new text"]).tolist() == [0.125]
        # Half a surrogate pair, as some tokenizers give it.
        half = [["he \ud83d"], ["she"]]
        found = get_metric("counterfactual_rouge_l").function(half, half)
        assert found.value == 1.0


def test_a_red_check_names_the_model_and_says_how_to_judge_it_again(judge, tmp_path, capsys):
    report, strict = tmp_path / "run.json", ("--llmfair-mode", "strict")
    red = PAIRS.replace("0.05", "0.99")
    assert judge(red, "-v", "--llmfair-json", str(report), *strict, seed=3) == 1
    shown = capsys.readouterr().out
    assert f"llmfair: model {MODEL}, mode strict, level 0.95, seed 3" in shown
    record = json.loads(report.read_text())
    assert record["settings"]["seed"] == 3
    assert {result["model"] for result in record["results"]} == {MODEL}
    (line,) = re.findall("rerun  .*", shown)
    given = f"--out {tmp_path / 'out'} --checks {tmp_path / 'fair.llmfair.yaml'}"
    said = f"llmfair audit {given} -k 'counterfactual_rouge_l[gender]' {' '.join(strict)}"
    assert line.split(None, 1)[1] == said
