"""Resume screening: finds the group that is treated worse, and none in the fair twin."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from itertools import permutations

import pytest

from pytest_llmfair import Missing
from pytest_llmfair.clients import ModelClient
from pytest_llmfair.judging.recorded import differences, judge_again, to_record
from pytest_llmfair.judging.rules import current_settings
from pytest_llmfair.lexicons.name_lists import names
from pytest_llmfair.suites import get_suite, run
from pytest_llmfair.suites.candidates import rounds_of
from pytest_llmfair.suites.kinds import KINDS
from tests.suites.models import EVEN, SORTS, Reader, Screener, noise, verdict

GROUPS = tuple(get_suite("resume").data["seats"])


@pytest.fixture(scope="module")
def resume():
    """Return the suite's results for a screener with a planted effect, and without."""
    return {
        effect: run("resume", ModelClient(Screener(effect)), metrics=SORTS)
        for effect in (0.2, 0.0)
    }


def test_resume_screening_finds_the_group_that_is_rated_lower(resume):
    biased, fair = resume[0.2], resume[0.0]
    assert verdict(biased, "pointwise", "rabbi", 0.3) == "FAIL"
    assert verdict(fair, "pointwise", "rabbi", 0.65) == "PASS"
    assert verdict(biased, "pointwise", "average_score_gap", 0.1) == "FAIL"
    assert verdict(fair, "pointwise", "average_score_gap", 0.1) == "PASS"
    assert biased.value("pointwise", "average_score_gap") == pytest.approx(0.2, abs=0.04)
    groups = biased.measured[0].estimate.groups
    assert min(groups, key=lambda name: groups[name].value) == "black female"


def test_resume_screening_finds_the_gap_in_who_is_selected(resume):
    # At k = 5 of 8 the lowest group is hardly ever selected, the others in about 5 of 7 rounds.
    assert verdict(resume[0.2], "pointwise", "demographic_parity_gap@k=5", 0.2) == "FAIL"
    assert verdict(resume[0.0], "pointwise", "demographic_parity_gap@k=5", 0.6) == "PASS"


@pytest.mark.parametrize("task", ["pairwise", "pairwise_text"])
def test_pairs_of_candidates_find_the_group_that_loses(resume, task):
    for quantity, bound in (("rabbi", 0.3), ("demographic_parity_gap@k=5", 0.1)):
        assert verdict(resume[0.2], task, quantity, bound) == "FAIL"
    for quantity in ("rabbi", "pairwise_preference_gap", "demographic_parity_gap@k=5"):
        assert verdict(resume[0.0], task, quantity, 0.6) == "PASS"


@pytest.mark.parametrize("task", ["pointwise", "pairwise", "pairwise_text"])
def test_the_gap_among_the_qualified_is_found_in_all_tasks(resume, task):
    # The size smoke has twelve qualified candidates of a group, with eight first names: enough
    # for large gaps only.
    assert verdict(resume[0.2], task, "rabbi@qualified", 0.03) == "FAIL"
    for quantity, bound in (("equal_opportunity_gap@k=5", 0.01), ("rabbi@qualified", 0.2)):
        assert verdict(resume[0.0], task, quantity, bound) != "FAIL"
        (biased,) = [each for each in of(resume[0.2], task) if each.quantity.name == quantity]
        groups = biased.estimate.groups
        assert min(groups, key=lambda name: groups[name].value) == "black female"


def of(found, task):
    return [each for each in found.measured if each.task.name == task]


def test_every_metric_has_a_value_with_an_interval_for_each_group(resume):
    for each in resume[0.2].measured:
        groups = each.estimate.groups
        assert len(groups) == 7
        for row in groups.values():
            interval = row.estimate.interval(0.95)
            assert interval.lower < interval.upper


def test_letters_and_words_of_one_judge_give_the_same_values(resume):
    letters, words = (
        {each.quantity.name: each.estimate.value for each in of(resume[0.2], task)}
        for task in ("pairwise", "pairwise_text")
    )
    assert words == pytest.approx(letters, nan_ok=True)


@pytest.mark.parametrize("task", ["pointwise", "pairwise", "pairwise_text"])
def test_a_judge_that_reads_only_the_resumes_treats_all_groups_alike(task):
    found = run("resume", ModelClient(Reader(get_suite("resume"))), tasks=[task], metrics=EVEN)
    for each in found.measured:
        assert each.estimate.value == pytest.approx(0.0, abs=1e-12), each.quantity.name


def rabbi_only(task, model):
    """Return the result of a task that measures only RABBI."""
    return run("resume", model, tasks=[task], metrics=["rabbi"])


@pytest.mark.parametrize("task", ["pairwise", "pairwise_text"])
def test_a_judge_that_always_names_the_first_is_invalid(task):
    class First(Screener):
        def prefers(self, prompt):
            return True

    found = rabbi_only(task, ModelClient(First(0.0)))
    assert verdict(found, task, "rabbi", 0.5) == "INVALID"
    assert shares(found, "flipped by order") == {"1.00 [0.89, 1.00]"}
    assert shares(found, "first named") == {"1.00 [0.89, 1.00]"}


def shares(found, column):
    """Return the different cells of a column of the judge's consistency."""
    (table,) = found.tasks[0].tables
    return {row[table.columns.index(column)] for row in table.rows}


def test_a_judge_that_refuses_is_invalid_and_has_no_value():
    found = rabbi_only("pairwise_text", lambda prompt: "I'm sorry, but I can't choose.")
    assert math.isnan(found.value("pairwise_text", "rabbi"))
    assert verdict(found, "pairwise_text", "rabbi", 0.9) == "INVALID"
    assert shares(found, "unusable") == {"1.00 [0.89, 1.00]"}
    assert shares(found, "first named") == {"undefined"}


def test_a_judge_that_always_ties_is_even_with_the_width_of_its_size():
    found = rabbi_only("pairwise_text", lambda prompt: "Both are equally good.")
    measured = found.measured[0]
    assert measured.estimate.value == 0.0
    assert measured.estimate.interval(0.95).upper > 0.2
    assert verdict(found, "pairwise_text", "rabbi", 0.1) == "UNDERPOWERED"
    assert shares(found, "tied twice") == {"1.00 [0.89, 1.00]"}


def test_missing_answers_are_counted_and_too_many_are_invalid():
    def often_silent(prompt):
        return Missing("refused") if noise(prompt) > 0.3 else "A"

    found = rabbi_only("pairwise_text", often_silent)
    assert verdict(found, "pairwise_text", "rabbi", 0.5) == "INVALID"
    assert any(each.code == "missing" for each in found.measured[0].findings)


def test_every_group_has_every_resume_equally_often():
    suite = get_suite("resume")
    for size in suite.sizes:
        given = Counter()
        rounds = rounds_of(suite, suite.size(size))
        for each in rounds:
            assert len({candidate.text for candidate in each.pool}) == len(each.pool)
            given.update((candidate.seat, candidate.text) for candidate in each.pool)
        assert set(given.values()) == {suite.size(size)["repeats"]}
        assert len(given) == 8 * 4 * 8


def test_any_two_groups_meet_with_two_resumes_as_often_as_with_the_same_two_exchanged():
    suite = get_suite("resume")
    met = Counter(
        (one.seat, one.text, other.seat, other.text)
        for each in rounds_of(suite, suite.size("standard"))
        for one, other in permutations(each.pool, 2)
    )
    for (one, text, other, other_text), times in met.items():
        assert met[one, other_text, other, text] == times


def test_no_candidate_is_asked_about_twice():
    suite = get_suite("resume")
    for task in suite.tasks:
        questions = KINDS[task.kind].questions(suite, task, suite.size("paper"))
        assert len({question.prompt for question in questions}) == len(questions)


@pytest.mark.parametrize("task", ["pointwise", "pairwise"])
def test_labels_that_the_model_hardly_ever_answers_with_are_no_evidence(task):
    class Silent(Screener):
        def probabilities(self, prompts, words):
            return [[1e-6, 2e-6] for _ in prompts]

        def answer(self, prompt):
            return "I cannot say."

    found = rabbi_only(task, ModelClient(Silent(0.0)))
    assert math.isnan(found.value(task, "rabbi"))
    assert verdict(found, task, "rabbi", 0.9) == "INVALID"
    assert "the model does not answer with them" in found.table()


@pytest.mark.parametrize("share", [math.nan, -0.1, 2.0])
def test_what_is_no_probability_is_an_error(share):
    class Broken(Screener):
        def probabilities(self, prompts, words):
            return [[share, 0.5] for _ in prompts]

    with pytest.raises(ValueError, match="a probability lies between 0 and 1"):
        rabbi_only("pairwise", ModelClient(Broken(0.0)))


def test_intervals_are_over_rounds_and_first_names(resume):
    for each in of(resume[0.2], "pointwise"):
        assert any("32 rounds and 64 first names" in note for note in each.estimate.notes)
    (gap,) = [
        e for e in of(resume[0.2], "pairwise") if e.quantity.name.startswith("pairwise_pref")
    ]
    assert "fixed_first_names" in gap.estimate.reasons


def test_a_judge_whose_first_names_matter_does_not_fail_by_chance_of_names():
    class Liking(Screener):
        def probabilities(self, prompts, words):
            yes = [
                0.5 + 0.3 * noise(first_name(prompt)) + 0.1 * noise(prompt) for prompt in prompts
            ]
            return [[0.9 * p, 0.9 * (1 - p)] for p in yes]

    known = {each.partition(" ")[0] for group in GROUPS for each in names(group, 40)}

    def first_name(prompt):
        return next(word for word in re.findall(r"\w+", prompt) if word in known)

    found = run("resume", ModelClient(Liking(0.0)), tasks=["pointwise"], metrics=["rabbi"])
    assert verdict(found, "pointwise", "rabbi", 0.05) != "FAIL"
    fixed = run(
        "resume",
        ModelClient(Liking(0.0)),
        tasks=["pointwise"],
        metrics=["rabbi"],
        population="fixed",
    )
    assert not any("first names" in note for note in fixed.measured[0].estimate.notes)


@pytest.mark.parametrize("texts", [True, False])
def test_a_verdict_over_two_factors_can_be_computed_again(resume, texts):
    for each in of(resume[0.2], "pointwise")[:3]:
        result = each.judge(0.3, "resume", "screener")
        record = json.loads(json.dumps(to_record(result, current_settings(), texts=texts)))
        again = judge_again(record, result.nodeid)
        assert differences(result.to_dict(), again.to_dict()) == []
        assert (again.lower, again.upper) == pytest.approx((result.lower, result.upper))
