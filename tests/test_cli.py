from __future__ import annotations

import contextlib
import inspect
import textwrap

import pytest

from pytest_llmfair import FairnessAssertionError
from pytest_llmfair.cli import main
from pytest_llmfair.metrics import all_metrics, get_metric
from pytest_llmfair.reports.sample_size import Design
from tests.processes import python


def test_every_metric_is_listed_within_eighty_columns(capsys):
    assert main(["metrics"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert all(name in text for name in all_metrics())
    assert "pairwise_scores" in text.partition("helpers")[2]
    assert all(alias in text for info in all_metrics().values() for alias in info.aliases)


@pytest.fixture
def no_plans(monkeypatch):
    """Replace the numbers of units needed, which take seconds for some metrics."""
    monkeypatch.setattr(Design, "needed_within", lambda self, distance: 100)
    monkeypatch.setattr(Design, "needed_beyond", lambda self, distance: 100)


@pytest.fixture
def example_of(capsys, no_plans):
    """Return a function that runs the code shown for a metric, and returns its names."""

    def example_of(name):
        main(["metrics", name])
        text = capsys.readouterr().out
        names = {"text": text}
        exec(textwrap.dedent(text[text.index("    from pytest_llmfair import") :]), names)
        return names

    return example_of


def test_one_metric_is_explained_with_what_its_paper_reports(capsys, no_plans):
    assert main(["metrics", "ruted_neutrality"]) == 0
    text = capsys.readouterr().out
    assert ".145 at 30 generations" in text
    assert "assert_ruted_neutrality_within(..., bound=...)" in text
    assert "not a standard" in text


@pytest.mark.parametrize("name", all_metrics())
def test_the_example_of_every_metric_runs(name, example_of):
    example_of(name)["test_it"]()


def test_the_example_with_a_model_is_judged(model_client, counterfactual_pairs, example_of):
    needs = ("scores", "score_pairs", "text_pairs", "embedding_pairs")
    shown = [info for info in all_metrics().values() if info.needs in needs]
    # The other scorers need extras.
    run = [info.name for info in shown if info.scorer in (None, "sentiment")]
    assert 4 <= len(run) < len(shown)
    fixtures = {"model_client": model_client, "counterfactual_pairs": counterfactual_pairs}
    for name in run:
        names = example_of(name)
        assert "client=model_client" in names["text"]
        needed = inspect.signature(names["test_model"]).parameters
        # Two prompts decide nothing; that the example runs is what counts here.
        with contextlib.suppress(FairnessAssertionError):
            names["test_model"](**{fixture: fixtures[fixture] for fixture in needed})


def test_what_papers_report_and_units_are_said_in_plain_words(capsys):
    main(["metrics", "demographic_parity"])
    text = capsys.readouterr().out
    assert text.startswith("demographic_parity_difference(")
    assert "in paper   thresholds only, no measured values\n" in text
    assert "\npeople needed to be 95 % sure, in 80 % of all samples\n" in text


def test_units_needed_are_those_of_a_plan(capsys):
    main(["metrics", "toxic_fraction"])
    row = next(
        line.split()
        for line in capsys.readouterr().out.splitlines()
        if line[:10].strip() == "0.05"
    )
    design = Design(get_metric("toxic_fraction"), 0.05, 400, 2, level=0.95)
    assert row == ["0.05", str(design.needed_within(0.025)), str(design.needed_beyond(0.05))]


def test_an_unknown_metric_is_a_usage_error_with_a_suggestion(refused):
    assert "did you mean rabbi" in refused("metrics", "rabi")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["juge", "file.csv"], "there is no command 'juge'; did you mean judge?"),
        (
            ["doctor", "file.csv", "--radr=x"],
            "there is no option --radr; did you mean --reader?",
        ),
        (["cassette", "prune", "a", "--older_than=3"], "did you mean --older-than?"),
        # Its help names options of pytest.
        (["report", "a", "--llmfair-json"], "known are --html, --markdown"),
        (["metrics", "rabbi", "toxic"], "one argument too many; leave it out"),
        (
            ["cassette", "stats", "a", "--mdoel=b"],
            "no option --mdoel; there are none here; leave it out",
        ),
    ],
)
def test_a_mistyped_command_or_option_brings_the_nearest_one(refused, given, said):
    assert refused(*given).rstrip().endswith(said)


def test_a_name_of_another_tool_explains_ours_with_its_convention(capsys):
    assert main(["metrics", "statistical_parity_difference"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("here it is demographic_parity_difference (statistical_parity_")
    assert "unprivileged minus privileged" in out
    assert "assert_demographic_parity_difference_within" in out


def test_the_command_runs_as_a_module():
    assert "toxic_fraction" in python("-m", "pytest_llmfair.cli", "metrics").stdout
