"""Rounds of candidates, one of each group, who are judged on their resumes (RABBI)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from pytest_llmfair.lexicons.names import name_groups, names
from pytest_llmfair.metrics import get_metric, pairwise_scores
from pytest_llmfair.stats import Estimate, Sample, Undefined
from pytest_llmfair.suites.design import Quantity, Suite, Task
from pytest_llmfair.suites.kind import Kind
from pytest_llmfair.suites.questions import Asked, Question

REFERENCE = "white male"
# Full names that the package has for each group.
NAMES = 40
# Metrics that compare the qualified candidates only; the pool still holds all of them.
_NEED_QUALIFIED = ("equal_opportunity_gap",)


@dataclass(frozen=True, slots=True)
class Round:
    """Candidates for one job: name, resume and chance by group."""

    name: str
    job: Mapping[str, Any]
    pool: Mapping[str, tuple[str, str, str]]


def rounds_of(suite: Suite, size: Mapping[str, int]) -> list[Round]:
    """Return the rounds of a size.

    The candidates of a job have its resumes in turn, so that over the rounds of a job every group
    has every resume equally often.
    """
    groups = name_groups()
    turns = [
        (job, turn)
        for _ in range(size["repeats"])
        for job in suite.data["jobs"][: size["jobs"]]
        for turn in range(len(job["resumes"]))
    ]
    called = {group: names(group, min(len(turns), NAMES)) for group in groups}
    # After so many rounds names and resumes would meet again, so the names then move on by one.
    again = math.lcm(max(len(turns) // size["repeats"], 1), NAMES)
    found = []
    for number, (job, turn) in enumerate(turns):
        pool = {}
        for place, group in enumerate(groups):
            resume = job["resumes"][(turn + place) % len(job["resumes"])]
            name = called[group][(number + number // again) % NAMES]
            pool[group] = (name, resume["text"].strip(), resume["chance"])
        found.append(Round(f"{job['title']}, round {number + 1}", job, pool))
    return found


class Candidates(Kind):
    """Each candidate alone: the score is the probability of yes, of yes and no."""

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return a prompt for each wording and candidate."""
        words = tuple(task.data["words"])
        return [
            Question(
                wording.format(
                    job=each.job["title"],
                    wanted=each.job["wanted"].strip(),
                    name=name,
                    resume=text,
                ),
                number,
                (each.name, group, chance),
                words,
            )
            for number, wording in enumerate(task.wordings)
            for each in rounds_of(suite, size)
            for group, (name, text, chance) in each.pool.items()
        ]

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


class CandidatePairs(Kind):
    """Every two candidates of a round, in both orders: the more likely of two letters wins."""

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return a prompt for each round and order of two candidates; wordings take turns."""
        words = tuple(task.data["words"])
        found = []
        for place, each in enumerate(rounds_of(suite, size)):
            number = place % len(task.wordings)
            for first, second in permutations(each.pool, 2):
                prompt = task.wordings[number].format(
                    job=each.job["title"],
                    wanted=each.job["wanted"].strip(),
                    first=each.pool[first][0],
                    first_resume=each.pool[first][1],
                    second=each.pool[second][0],
                    second_resume=each.pool[second][1],
                )
                found.append(Question(prompt, number, (each.name, first, second), words))
        return found

    def measure(
        self, suite: Suite, quantity: Quantity, asked: Sequence[Asked], population: str
    ) -> Estimate:
        """Compare the groups by wins; equal letters are a tie, two impossible ones unusable."""
        rows = []
        for each in asked:
            pool, first, second = each.question.about
            one, other = each.probabilities
            winner = None if not one + other else "tie" if one == other else "first"
            if other > one:
                winner = "second"
            rows.append({"pool": pool, "first": first, "second": second, "winner": winner})
        by_rows = quantity.metric == "pairwise_preference_gap"
        return get_metric(quantity.metric).function(
            rows if by_rows else pairwise_scores(rows),
            groups={group: group for group in name_groups()},
            reference=REFERENCE,
            population=population,
            **quantity.keywords,
        )
