from __future__ import annotations

import contextlib
import inspect
import subprocess
import sys
import textwrap

import pytest

from pytest_llmfair import FairnessAssertionError
from pytest_llmfair.cli import main
from pytest_llmfair.judging.planning import Design
from pytest_llmfair.metrics import all_metrics, get_metric


def test_every_metric_is_listed_within_eighty_columns(capsys):
    assert main(["metrics"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert all(name in text for name in all_metrics())
    assert all(alias in text for info in all_metrics().values() for alias in info.aliases)


def test_one_metric_is_explained_with_what_its_paper_reports(capsys):
    assert main(["metrics", "ruted_neutrality"]) == 0
    text = capsys.readouterr().out
    assert ".145 at 30 generations" in text
    assert "assert_ruted_neutrality_within(..., bound=...)" in text
    assert "not a standard" in text


@pytest.mark.parametrize("name", all_metrics())
def test_the_example_of_every_metric_runs(name, capsys):
    main(["metrics", name])
    text = capsys.readouterr().out
    code = textwrap.dedent(text[text.index("    from pytest_llmfair import") :])
    names = {}
    exec(code, names)
    names["test_it"]()


def test_the_example_with_a_model_is_judged(model_client, counterfactual_pairs, capsys):
    shown = [
        info.name
        for info in all_metrics().values()
        if info.needs in ("scores", "score_pairs", "text_pairs", "embedding_pairs")
    ]
    run = 0
    for name in shown:
        main(["metrics", name])
        text = capsys.readouterr().out
        names = {}
        exec(textwrap.dedent(text[text.index("    from pytest_llmfair import") :]), names)
        assert "client=model_client" in text
        fixtures = {"model_client": model_client, "counterfactual_pairs": counterfactual_pairs}
        needed = inspect.signature(names["test_model"]).parameters
        # The other scorers need extras.
        if get_metric(name).scorer in (None, "sentiment"):
            run += 1
            # Two prompts decide nothing; that the example runs is what counts here.
            with contextlib.suppress(FairnessAssertionError):
                names["test_model"](**{fixture: fixtures[fixture] for fixture in needed})
    assert 4 <= run < len(shown)


def test_what_papers_report_and_units_are_said_in_plain_words(capsys):
    main(["metrics", "demographic_parity_difference"])
    text = capsys.readouterr().out
    assert "in paper   thresholds only, no measured values\n" in text
    assert "\npeople needed to be 95 % sure, in 80 % of all samples\n" in text


def test_units_needed_are_those_of_a_plan(capsys):
    main(["metrics", "toxic_fraction"])
    row = next(
        line.split()
        for line in capsys.readouterr().out.splitlines()
        if line[:10].strip() == "0.05"
    )
    design = Design(get_metric("toxic_fraction"), 0.05, 400, 2)
    assert row == ["0.05", str(design.needed_within(0.025)), str(design.needed_beyond(0.05))]


def test_helpers_are_listed_below_the_metrics(capsys):
    main(["metrics"])
    assert "pairwise_scores" in capsys.readouterr().out.partition("helpers")[2]


def test_an_alias_is_explained_too(capsys):
    main(["metrics", "rouge_l"])
    assert "counterfactual_rouge_l(" in capsys.readouterr().out


def test_an_unknown_metric_is_a_usage_error_with_a_suggestion(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["metrics", "rabi"])
    assert caught.value.code == 2
    assert "did you mean rabbi" in capsys.readouterr().err


def test_the_command_runs_as_a_module():
    run = subprocess.run(
        [sys.executable, "-m", "pytest_llmfair.cli", "metrics"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "toxic_fraction" in run.stdout
