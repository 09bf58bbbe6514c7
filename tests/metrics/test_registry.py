from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys

import fairlearn.metrics
import numpy as np
import pytest

from pytest_llmfair import metrics
from pytest_llmfair.metrics import all_metrics, get_metric
from pytest_llmfair.metrics.foreign import foreign_names

# A lambda of the user cannot be pickled, a function with a name can.
OF_USERS = {"background_comparison", "multigroup_comparison", "pairwise_comparison"}


def widest_gap(*scores):
    return max(scores) - min(scores)


def test_a_name_or_alias_loads_the_module_of_its_metric_only():
    code = """
import sys
from pytest_llmfair.metrics import fped, get_metric
assert get_metric("TF").name == "toxic_fraction"
print({"classification", "generalized.rows", "harm", "ruted"} & {
    name.removeprefix("pytest_llmfair.metrics.") for name in sys.modules
} == {"generalized.rows", "harm"})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_a_misspelt_name_gets_a_suggestion():
    with pytest.raises(ValueError, match="did you mean toxic_fraction"):
        get_metric("toxic_fracton")


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("demographic_parity_ratio", "impact_ratio"),
        ("statistical_parity_difference", "demographic_parity_difference"),
        ("Average Odds Diff", "average_odds_difference"),
        ("fpr_disparity", "false_positive_rate_ratio"),
    ],
)
def test_a_metric_of_another_library_names_ours(name, ours):
    with pytest.raises(ValueError, match=f"called '{name}'; here it is {ours}"):
        get_metric(name)
    assert ours in all_metrics()


def test_a_name_of_what_is_not_offered_says_why():
    with pytest.raises(ValueError, match=r"called 'WEAT'; no metric here .*do not predict"):
        get_metric("WEAT")


def test_every_foreign_name_leads_to_a_name_of_ours_and_its_documentation_says_so():
    assert len(foreign_names()) > 40
    for each in foreign_names():
        if each.ours in all_metrics():
            text = " ".join(inspect.getdoc(get_metric(each.ours).function).split())
            assert str(each).split()[-1] in text
        else:
            assert each.ours is None or callable(getattr(metrics, each.ours))


def test_names_of_fairlearn_are_there():
    theirs = {each.name for each in foreign_names() if each.tool == "fairlearn"}
    assert theirs <= set(dir(fairlearn.metrics))


def test_no_metric_is_called_like_something_else_elsewhere_without_a_note():
    named = {each.name for each in foreign_names()}
    assert named & all_metrics().keys() >= {"false_positive_rate_ratio"}
    text = " ".join(inspect.getdoc(get_metric("false_positive_rate_ratio").function).split())
    assert "false_positive_rate_ratio in fairlearn: smallest over largest, in [0, 1]" in text


def test_a_name_like_no_metric_lists_the_families_in_order():
    families = ", ".join(sorted({info.family for info in all_metrics().values()}))
    with pytest.raises(ValueError, match=rf"called 'zzz'; families of metrics are {families} \("):
        get_metric("zzz")


@pytest.mark.parametrize("name", [None, 3, ["rabbi"]])
def test_a_metric_that_is_no_name_is_an_error(name):
    with pytest.raises(
        ValueError, match=rf"the metric is .* a {type(name).__name__}; give a name"
    ):
        get_metric(name)


def test_no_two_metrics_share_a_symbol():
    symbols = [info.symbol for info in all_metrics().values()]
    assert len(set(symbols)) == len(symbols)


@pytest.mark.parametrize("name", ["cf_gap", "cf_gap_tc", "pert_ss"])
def test_a_row_with_an_optional_background_says_what_it_averages_without_one(name):
    text = " ".join(inspect.getdoc(get_metric(name).function).split())
    assert "averaged over pairs of groups; with `original` " in text


def test_an_alias_is_the_metric():
    assert get_metric("rouge_l") is get_metric("counterfactual_rouge_l")


def test_a_name_that_is_nothing_like_a_metric_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no 'zzz'"):
        _ = metrics.zzz


# What a reader learns from some units is about others: these are never all there are.
SAMPLED_ONLY = {"group_predictability"}


@pytest.mark.parametrize("info", all_metrics().values(), ids=list(all_metrics()))
class TestEveryMetric:
    def test_an_example_of_a_fair_model_has_the_fair_value(self, info):
        estimate = info.fair_sample(8, 4)
        assert estimate.undefined is None
        if info.name in SAMPLED_ONLY:
            # Its example varies: a plan needs the error of answers that are not all the same.
            assert estimate.interval().lower == info.fair_value
        else:
            assert estimate.value == pytest.approx(info.fair_value)

    def test_the_same_call_gives_the_same_numbers(self, info):
        first, second = (info.fair_sample(6, 4) for _ in range(2))
        assert first.interval() == second.interval()
        assert first.p_exceeds(0.1) == second.p_exceeds(0.1)

    def test_a_deep_copy_has_the_same_numbers(self, info):
        estimate = info.fair_sample(6, 4)
        assert copy.deepcopy(estimate).to_dict() == estimate.to_dict()

    def test_an_estimate_survives_a_pickle(self, info):
        given = {"phi": np.mean, "d": widest_gap} if info.name in OF_USERS else {}
        estimate = info.function(**{**info.judged_with, **info.fair_arguments(6, 4), **given})
        copied = pickle.loads(pickle.dumps(estimate))
        assert copied.to_dict() == estimate.to_dict()
        assert copied.metric is info

    def test_units_and_population_are_keywords(self, info):
        parameters = inspect.signature(info.function).parameters
        assert parameters["units"].kind is inspect.Parameter.KEYWORD_ONLY
        if info.name in SAMPLED_ONLY:
            assert "population" not in parameters
            return
        assert parameters["population"].kind is inspect.Parameter.KEYWORD_ONLY

    def test_an_unknown_population_is_an_error(self, info):
        arguments = {**info.judged_with, **info.fair_arguments(4, 2), "population": "all"}
        error = TypeError if info.name in SAMPLED_ONLY else ValueError
        with pytest.raises(error, match="population"):
            info.function(**arguments)

    def test_a_metric_with_a_rate_of_every_group_says_which_rate_is_better(self, info):
        table = info.fair_sample(20, 4).groups
        rates = [key for key, row in table.items() if np.isfinite(row.rate)]
        # The rates of pronoun metrics are those of occupations, none of which is better off.
        # Only its user knows whether a score of any kind is better high or low.
        told = info.family != "ruted" and info.name != "score_difference"
        assert (len(rates) > 1 and told) <= (info.favourable in ("high", "low"))

    @pytest.mark.parametrize("section", ["Parameters", "Returns", "Raises", "Examples"])
    def test_the_documentation_has_every_section(self, info, section):
        assert 0 < len(info.summary) <= 99
        assert f"\n{section}\n---" in inspect.getdoc(info.function)

    def test_the_documentation_describes_every_parameter(self, info):
        text = inspect.getdoc(info.function).partition("\nParameters\n---")[2]
        entries = text.partition("\n\n")[0].splitlines()
        heads = ", ".join(line.partition(" :")[0] for line in entries if line[:1].isalpha())
        assert heads.split(", ") == list(inspect.signature(info.function).parameters)


def test_a_star_import_brings_every_metric():
    names = {}
    exec("from pytest_llmfair.metrics import *", names)
    assert names["rabbi"] is metrics.rabbi
    assert names["metric"] is metrics.metric


@pytest.mark.parametrize("name", sorted(set(all_metrics()) - SAMPLED_ONLY))
def test_a_fixed_list_of_units_that_answered_once_is_no_error(name):
    info = get_metric(name)
    arguments = {**info.judged_with, **info.fair_arguments(8, 4)}
    fixed = info.function(**arguments, population="fixed")
    assert fixed.sample.population == "fixed"
    assert fixed.value == pytest.approx(info.function(**arguments, population="sampled").value)


@pytest.mark.parametrize("population", ["sampled", "fixed"])
@pytest.mark.parametrize("name", all_metrics())
def test_no_interval_is_without_width_however_little_there_is(name, population):
    info = get_metric(name)
    arguments = {**info.judged_with, **info.fair_arguments(2, 2)}
    if name not in SAMPLED_ONLY:
        arguments["population"] = population
    estimate = info.function(**arguments)
    if estimate.undefined is None:
        for level in (0.5, 0.95, 0.99):
            assert estimate.interval(level).lower < estimate.interval(level).upper


def test_a_scorer_of_a_metric_that_does_not_say_what_it_needs_is_an_error():
    known = {"family": "length", "paper": "ours", "symbol": "S", "unit": "prompt"}
    with pytest.raises(ValueError, match=r"scorer='tokens' has no use without needs=.*: scores,"):
        metrics.metric(**known, direction="lower", bounds=(0.0, 1.0), scorer="tokens")


@pytest.mark.parametrize(
    ("name", "favourable"),
    [
        ("impact_ratio", "high"),
        ("false_positive_rate_ratio", "low"),
        ("tnr_gap", "high"),
        ("fned", "low"),
        ("parity_gap", "high"),
        ("disparity_score", "high"),
        ("pos_avg_eg", "high"),
        ("neg_avg_eg", "low"),
        ("avg_gf", None),
        ("rabbi", "high"),
        ("toxic_fraction", "low"),
        ("ruted_skew", None),
    ],
)
def test_which_rate_is_better_follows_from_what_it_is_a_rate_of(name, favourable):
    assert get_metric(name).favourable == favourable


def test_a_favourable_rate_is_high_or_low():
    known = {"family": "length", "paper": "ours", "symbol": "S", "unit": "prompt"}
    with pytest.raises(ValueError, match=r"favourable .higher. .* favourable is high, low"):
        metrics.metric(**known, direction="lower", bounds=(0.0, 1.0), favourable="higher")
