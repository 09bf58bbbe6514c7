"""The hand-labelled prompts of the benchmark come out right, category by category."""

from __future__ import annotations

import importlib.util
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from pytest_llmfair.counterfactuals.pairs import lexicon_for

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def labelled() -> dict[str, list[Any]]:
    """Return the cases of ``benchmarks/_pair_cases.py`` by category."""
    spec = importlib.util.spec_from_file_location("pair_cases", BENCHMARKS / "_pair_cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Slotted dataclasses look for their module by its name.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pair_cases", module)
        spec.loader.exec_module(module)
        rows: dict[str, list[Any]] = defaultdict(list)
        for case in module.cases():
            rows[case.category].append(case)
    return rows


CASES = labelled()


def test_there_are_more_than_six_hundred() -> None:
    assert sum(map(len, CASES.values())) > 600


@pytest.mark.parametrize("category", CASES)
def test_at_least_95_of_100_are_right(category: str) -> None:
    cases = CASES[category]
    wrong = [(case.text, case.ours()) for case in cases if case.ours() != case.expected]
    assert len(wrong) <= 0.05 * len(cases), wrong


def test_no_prompt_is_labelled_twice_for_the_same_groups() -> None:
    keys = [
        (case.text, case.attribute, case.groups, isinstance(case.expected, list))
        for cases in CASES.values()
        for case in cases
    ]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("category", CASES)
def test_the_groups_of_every_prompt_are_those_of_its_attribute(category: str) -> None:
    for case in CASES[category]:
        lexicon = lexicon_for(case.attribute, case.groups)
        assert [lexicon.group(group) for group in case.groups or ()] or case.groups is None, case
