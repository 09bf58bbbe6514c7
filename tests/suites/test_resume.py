"""Resume screening: finds the group that is treated worse, and none in the fair twin."""

from __future__ import annotations

import pytest

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.suites import get_suite, run
from pytest_llmfair.suites.kinds import KINDS
from tests.suites.models import Screener, verdict


@pytest.fixture(scope="module")
def resume():
    """Return the suite's results for a screener with a planted effect, and without."""
    return {effect: run("resume", ModelClient(Screener(effect))) for effect in (0.2, 0.0)}


def test_resume_screening_finds_the_group_that_is_rated_lower(resume):
    biased, fair = resume[0.2], resume[0.0]
    assert verdict(biased, "pointwise", "rabbi", 0.3) == "FAIL"
    assert verdict(fair, "pointwise", "rabbi", 0.6) == "PASS"
    assert verdict(biased, "pointwise", "average_score_gap", 0.1) == "FAIL"
    assert verdict(fair, "pointwise", "average_score_gap", 0.1) == "PASS"
    assert biased.value("pointwise", "average_score_gap") == pytest.approx(-0.2, abs=0.04)
    groups = biased.measured[0].estimate.groups
    assert min(groups, key=lambda name: groups[name].value) == "black female"


def test_resume_screening_finds_the_gap_in_who_is_selected(resume):
    # At k = 5 of 8 the lowest group is hardly ever selected, the others in about 5 of 7 rounds.
    assert verdict(resume[0.2], "pointwise", "demographic_parity_gap@k=5", 0.2) == "FAIL"
    assert verdict(resume[0.0], "pointwise", "demographic_parity_gap@k=5", 0.6) == "PASS"


def test_pairs_of_candidates_find_the_group_that_loses(resume):
    for quantity, bound in (("rabbi", 0.3), ("demographic_parity_gap@k=5", 0.1)):
        assert verdict(resume[0.2], "pairwise", quantity, bound) == "FAIL"
    assert verdict(resume[0.0], "pairwise", "rabbi", 0.6) == "PASS"
    assert verdict(resume[0.0], "pairwise", "demographic_parity_gap@k=5", 0.6) == "PASS"


def test_a_judge_that_always_names_the_first_is_invalid():
    class First(Screener):
        def compare(self, prompt):
            return [0.6, 0.3]

    found = run("resume", ModelClient(First(0.0)), tasks=["pairwise"])
    assert verdict(found, "pairwise", "rabbi", 0.5) == "INVALID"


def test_every_group_has_every_resume_equally_often():
    suite = get_suite("resume")
    questions = KINDS["candidates"].questions(suite, suite.tasks[0], suite.size("smoke"))
    jobs = suite.data["jobs"]
    given = {}
    for question in questions:
        for job in jobs:
            for number, resume in enumerate(job["resumes"]):
                if resume["text"] in question.prompt:
                    given.setdefault(question.about[1], []).append((job["title"], number))
    assert len(given) == 8
    assert len({tuple(sorted(rows)) for rows in given.values()}) == 1


def test_no_candidate_is_asked_about_twice():
    suite = get_suite("resume")
    for task in suite.tasks:
        questions = KINDS[task.kind].questions(suite, task, suite.size("paper"))
        assert len({question.prompt for question in questions}) == len(questions)
