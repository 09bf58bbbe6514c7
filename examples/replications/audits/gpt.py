"""The rankings of resumes, column by column, as metrics take them."""

from __future__ import annotations

import csv
import functools
import gzip
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from pytest_llmfair import BoundExceeded, Underpowered

DATA = Path(__file__).parent / "data"
MODELS = ("gpt-3.5-turbo", "gpt-4")
JOBS = ("HR specialist", "software engineer", "retail", "financial analyst")
RACES = {"A": "Asian", "B": "Black", "H": "Hispanic", "W": "White"}
GENDERS = {"M": "men", "W": "women"}
WAYS = ("both", "race", "gender")
CELLS = [
    pytest.param(model, job, by, id=f"{model}, {job}, by {by}")
    for model in MODELS
    for job in JOBS
    for by in WAYS
]
# Red verdicts that a test of this folder expects.
RED = {"FAIL": BoundExceeded, "UNDERPOWERED": Underpowered}


@dataclass(frozen=True, slots=True)
class Ranking:
    """One answer: the eight groups as the prompt showed them and as the model ranked them."""

    model: str
    job: str
    kind: str
    shown: tuple[str, ...]
    ranked: tuple[str, ...]


class Resumes:
    """Every resume of some rankings: one row each, in the order of the prompts."""

    def __init__(self, rankings: Iterable[Ranking]) -> None:
        self.rankings = tuple(rankings)
        rows = [(i, r, group) for i, r in enumerate(self.rankings) for group in r.shown]
        self.ranking = [i for i, _, _ in rows]
        self.first = [int(r.ranked[0] == group) for _, r, group in rows]
        # Resumes that rank below; those that an answer leaves out share the last rank.
        self.score = [7 - r.ranked.index(x) if x in r.ranked else 0 for _, r, x in rows]
        self.position = [r.shown.index(group) + 1 for _, r, group in rows]
        self._codes = [group for _, _, group in rows]

    def groups(self, by: str) -> list[str]:
        """Return the group of each row by "race", "gender" or "both"."""
        return [_name(code, by) for code in self._codes]

    def winners(self, by: str) -> list[str]:
        """Return the group in first place of each ranking by "race", "gender" or "both"."""
        return [_name(each.ranked[0], by) for each in self.rankings]


def _name(code: str, by: str) -> str:
    names = {"race": RACES[code[0]], "gender": GENDERS[code[-1]]}
    return names.get(by) or f"{names['race']} {names['gender']}"


@functools.cache
def rankings() -> tuple[Ranking, ...]:
    """Return all rankings, also the 316 that the authors left out."""
    with gzip.open(DATA / "gpt_resume_rankings.csv.gz", "rt", encoding="utf-8") as file:
        return tuple(
            Ranking(
                row["model"],
                row["job"],
                row["kind"],
                tuple(row["shown"].split()),
                tuple(row["ranked"].split()),
            )
            for row in csv.DictReader(file)
        )


@functools.cache
def cell(model: str, job: str) -> Resumes:
    """Return the 1,000 rankings of a model and a job that the authors counted."""
    return Resumes(
        r for r in rankings() if (r.model, r.job) == (model, job) and r.kind != "oversampled"
    )


@functools.cache
def all_jobs(model: str) -> Resumes:
    """Return the 4,000 rankings of a model that the authors counted."""
    return Resumes(r for r in rankings() if r.model == model and r.kind != "oversampled")


def asked_twice(model: str) -> list[tuple[Ranking, Ranking]]:
    """Return the rankings of a model whose prompts show the groups of a job in the same order."""
    alike = defaultdict(list)
    for each in rankings():
        if each.model == model:
            alike[each.job, each.shown].append(each)
    return [(two[0], two[1]) for two in alike.values() if len(two) > 1]


def published() -> dict[str, dict[str, dict[str, int]]]:
    """Return the published first places by model, job and group."""
    text = (DATA / "gpt_published.yaml").read_text(encoding="utf-8")
    counts: dict[str, dict[str, dict[str, int]]] = yaml.safe_load(text)
    return counts


def expected(verdicts: dict[tuple[str, str], str]) -> list[object]:
    """Return a parameter for each model, job and verdict; red verdicts are expected to raise.

    The table holds the four verdicts of a model by race, gender or both, in the order of `JOBS`.
    """
    return [
        pytest.param(
            model,
            job,
            by,
            verdict,
            id=f"{model}, {job}, by {by}",
            marks=pytest.mark.xfail(raises=RED[verdict], strict=True) if verdict in RED else (),
        )
        for (by, model), row in verdicts.items()
        for job, verdict in zip(JOBS, row.split(), strict=True)
    ]
