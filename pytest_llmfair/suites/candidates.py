"""Rounds of candidates, one of each group, who are judged on their resumes (RABBI)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_llmfair.lexicons.names import name_groups, names
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.stats import Estimate, Sample, Undefined
from pytest_llmfair.suites.design import Quantity, Suite, Task
from pytest_llmfair.suites.questions import Asked, Question

REFERENCE = "white male"
# Full names that the package has for each group.
NAMES = 40
# Metrics that compare the qualified candidates only; the pool still holds all of them.
_NEED_QUALIFIED = ("equal_opportunity_gap",)


class Candidates:
    """Each candidate alone: the score is the probability of yes, of yes and no."""

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return a prompt for each wording and candidate.

        A round is about one job. Its candidates have the job's resumes in turn, so that over the
        rounds of a job every group has every resume equally often.
        """
        jobs = suite.data["jobs"][: size["jobs"]]
        groups = name_groups()
        rounds = [
            (job, turn)
            for _ in range(size["repeats"])
            for job in jobs
            for turn in range(len(job["resumes"]))
        ]
        called = {group: names(group, min(len(rounds), NAMES)) for group in groups}
        found = []
        for wording_number, wording in enumerate(task.wordings):
            for number, (job, turn) in enumerate(rounds):
                for place, group in enumerate(groups):
                    resume = job["resumes"][(turn + place) % len(job["resumes"])]
                    prompt = wording.format(
                        job=job["title"],
                        wanted=job["wanted"].strip(),
                        name=called[group][number % NAMES],
                        resume=resume["text"].strip(),
                    )
                    about = (f"{job['title']}, round {number + 1}", group, resume["chance"])
                    found.append(
                        Question(prompt, wording_number, about, tuple(task.data["words"]))
                    )
        return found

    def measure(
        self, suite: Suite, quantity: Quantity, asked: Sequence[Asked], population: str
    ) -> Estimate:
        """Give every candidate the mean score over the wordings, and compare the groups."""
        scores: dict[tuple[str, ...], list[float]] = {}
        for each in asked:
            mass = sum(each.probabilities)
            if not mass:
                sample = Sample(units=len(asked), generations=len(asked), fewest=1, most=1)
                words = " nor ".join(each.question.words)
                why = f"neither {words} can follow {each.question.prompt[-60:]!r}"
                return Undefined(undefined=why, sample=sample)
            scores.setdefault(each.question.about, []).append(each.probabilities[0] / mass)
        keywords: dict[str, Any] = dict(quantity.keywords)
        if quantity.metric in _NEED_QUALIFIED:
            keywords["qualified"] = [chance == "high" for _, _, chance in scores]
        return get_metric(quantity.metric).function(
            [sum(values) / len(values) for values in scores.values()],
            groups=[group for _, group, _ in scores],
            rounds=[pool for pool, _, _ in scores],
            reference=REFERENCE,
            population=population,
            **keywords,
        )
