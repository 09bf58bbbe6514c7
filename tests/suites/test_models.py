"""Several models on one suite: planted gaps give the order of the models."""

from __future__ import annotations

import pytest

from pytest_llmfair.cli import main
from pytest_llmfair.clients import ModelClient, load_client
from pytest_llmfair.reports.record import read_run
from pytest_llmfair.suites import Comparison, compare, run
from tests.suites.models import BALANCED, SKEWED, Screener

EFFECTS = (0.3, 0.0, 0.12)
GAP = "demographic_parity_gap@k=4"
METRICS = ("rabbi", "average_score_gap", "earth_movers_distance", GAP)


@pytest.fixture(scope="module")
def screeners():
    """Return the comparison of three screeners with planted effects."""
    return compared(map(Screener, EFFECTS), "pointwise", METRICS)


def compared(models, task, metrics=("rabbi", GAP)):
    """Return the comparison of models on a task, by a few metrics."""
    return Comparison(
        {
            model.name: run("resume", ModelClient(model), tasks=[task], metrics=metrics)
            for model in models
        }
    )


@pytest.fixture(scope="module")
def tables(screeners):
    """Return its tables."""
    return screeners.tables()


@pytest.fixture(scope="module")
def writers():
    """Return the comparison of three writers with planted stereotypes."""
    specs = (SKEWED, BALANCED, "builtin:ngram?gender_skew=0.5")
    return compare("ruted", [load_client(spec) for spec in specs], tasks=["stories", "next_word"])


def test_models_are_ordered_by_the_planted_effect(screeners):
    validity = screeners.validity("pointwise")
    assert validity.models == ("screener-0.3", "screener-0.0", "screener-0.12")
    for name in ("rabbi", "average_score_gap", "earth_movers_distance"):
        assert [rank[0] for _, rank in validity.ranks(name)] == [3.0, 1.0, 2.0]
    assert [rank[0] for _, rank in validity.ranks(GAP)][1] == 1.0
    assert validity.ndcg("rabbi", GAP, 1)[0] == 1.0
    r, low, _ = validity.correlation("rabbi", GAP)
    assert low > 0.5
    assert low < r < 1.0
    assert validity.lasting("rabbi", GAP)[0] > 0.8


def test_values_of_all_models_stand_side_by_side(tables):
    values = tables[0]
    assert values.columns == ("task", "metric", "screener-0.3", "screener-0.0", "screener-0.12")
    row = next(row for row in values.rows if row[1] == "average_score_gap")
    # The planted effect is the difference of the means.
    assert [float(cell.split()[0]) for cell in row[2:]] == pytest.approx(
        [0.3, 0.0, 0.12], abs=0.03
    )
    assert all("[" in cell for cell in row[2:])


def test_tables_say_what_few_models_cannot_show(tables):
    titles = [table.title for table in tables]
    assert titles == [
        "resume: values by model",
        "pointwise: order of models",
        "pointwise: NDCG@N of choosing a model",
        "pointwise: correlation of metrics with gaps, over models and groups",
        "pointwise: the same without the chance of the rounds",
    ]
    assert "with 3 models one exchanged pair changes it much" in tables[2].note
    ndcg = tables[2]
    assert ndcg.columns[-1] == "a random order"
    assert {row[1] for row in ndcg.rows} == {1, 3}


def test_two_models_have_no_correlation(screeners):
    two = Comparison({name: screeners.results[name] for name in list(screeners.results)[:2]})
    correlation = two.tables()[3]
    assert correlation.rows == ()
    assert correlation.note == "undefined for 2 models; name 3 or more"


def test_one_model_has_values_and_no_order(screeners):
    one = Comparison({"alone": screeners.results["screener-0.0"]})
    (values,) = one.tables()
    assert "one model has no order, name two or more" in values.note


def test_a_model_without_values_is_named():
    class Silent(Screener):
        def probabilities(self, prompts, words):
            return [[0.0, 0.0] for _ in prompts]

    silent = Silent(0.0)
    silent.name = "silent"
    found = compared([silent, Screener(0.0), Screener(0.3)], "pointwise")
    values, orders = found.tables()[:2]
    assert {row[2] for row in values.rows} == {"undefined"}
    assert orders.columns == ("by", "screener-0.0", "screener-0.3")
    assert orders.note.endswith("without valid values: silent")


def test_a_judge_that_follows_the_order_is_not_the_fairest_model():
    class First(Screener):
        def prefers(self, prompt):
            return True

    first = First(0.0)
    first.name = "first"
    found = compared([first, Screener(0.0), Screener(0.3)], "pairwise")
    values, orders = found.tables()[:2]
    assert {row[2] for row in values.rows} == {"not valid"}
    assert "not valid is no evidence" in values.note
    assert orders.columns == ("by", "screener-0.0", "screener-0.3")
    assert orders.note.endswith("without valid values: first")


def test_tasks_that_choose_the_same_model_agree(writers):
    agreement = {row[0]: row[3:] for row in writers.tables()[-1].rows}
    assert agreement["ruted_neutrality"] == ("1.00 [-1.00, 1.00]", BALANCED, BALANCED)
    # The dial moves both labels away from parity, so the skew is 0 for all models.
    assert agreement["ruted_skew"][0] == "undefined"
    assert agreement["ruted_skew"][2] == "tied"


def test_a_suite_without_selection_has_no_order_by_gaps(writers):
    assert len(writers.tables()) == 2
    assert writers.validity("stories") is None


@pytest.mark.parametrize(
    ("effects", "said"),
    [((), "clients is empty"), ((0.1, 0.1), "two models are called 'screener-0.1'")],
)
def test_models_need_names_of_their_own(effects, said):
    with pytest.raises(ValueError, match=said):
        compare("resume", [ModelClient(Screener(effect)) for effect in effects])


def test_the_plan_names_the_number_of_models(capsys):
    assert main(["run", "resume", "--plan", "--model", BALANCED, "--model", SKEWED]) == 0
    assert capsys.readouterr().out.endswith("for each of 2 models\n")


@pytest.mark.slow
def test_the_command_judges_each_model_and_compares_those_that_can_be_loaded(command, tmp_path):
    models = [word for spec in (BALANCED, "builtin:nosuch", SKEWED) for word in ("--model", spec)]
    options = ("--task", "stories", "--task", "next_word", "--bounds", "stereotype=0.5", "-q")
    reports = ("--llmfair-json", "run.json", "--llmfair-html", "run.html")
    reports += ("--llmfair-markdown", "run.md")
    done = command("ruted", *models, *options, *reports)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 failed, 9 passed, 4 skipped" in done.stdout
    assert f"stories.ruted_stereotype[{SKEWED}]" in done.stdout
    compared = done.stdout.split("ruted: values by model")[1]
    assert "name three or more" in compared
    suites = {each["model"]: each for each in read_run(tmp_path / "run.json")["suites"]}
    assert list(suites) == [BALANCED, f"{BALANCED}, {SKEWED}", SKEWED]
    values = suites[f"{BALANCED}, {SKEWED}"]["tables"][0]
    assert values["columns"] == ["task", "metric", BALANCED, SKEWED]
    for report in ("run.html", "run.md"):
        assert "ruted: values by model" in (tmp_path / report).read_text("utf-8")
