"""The hand-labelled prompts of the benchmark still come out right."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from pytest_llmfair.lexicons.attributes import lexicon_for

EVERY = 3  # a fixed sample: the rest is what benchmarks/pairs.py is for
# In percent. Mostly hard prompts that are spent, so that they say nothing about fresh text.
MOST_WRONG, LEAST_KEPT = 7.0, 85.0
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def labelled() -> ModuleType:
    """Return ``benchmarks/_pair_cases.py``."""
    spec = importlib.util.spec_from_file_location("pair_cases", BENCHMARKS / "_pair_cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Slotted dataclasses look for their module by its name.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pair_cases", module)
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def cases(labelled):
    return list(labelled.cases())


def test_few_are_wrong_and_most_are_kept(labelled, cases):
    answers = [(case, case.answer()) for case in cases[::EVERY]]
    tally = labelled.Tally.of(answer.outcome for _, answer in answers)
    wrong = [case.text for case, answer in answers if answer.outcome == "wrong"]
    assert tally.total > 1800
    assert tally.wrong_among_kept <= MOST_WRONG, (str(tally), wrong)
    assert tally.kept >= LEAST_KEPT, str(tally)


def test_no_prompt_has_two_labels(cases):
    labels = {}
    for case in cases:
        key = (case.text, case.attribute, case.groups, isinstance(case.expected, list))
        assert labels.setdefault(key, case.expected) == case.expected, case


def test_the_groups_of_every_prompt_are_those_of_its_attribute(cases):
    for case in cases:
        lexicon = lexicon_for(case.attribute, case.groups)
        assert [lexicon.group(group) for group in case.groups or ()] or case.groups is None, case


@pytest.mark.parametrize(
    ("text", "expected", "outcome"),
    [
        ("She left.", "He left.", "right"),
        ("She left.", "They left.", "wrong"),
        ("It rained.", None, "right"),
        ("It rained.", "He left.", "wrong"),
        ("The nurse brought her water.", "The nurse brought him water.", "uncertain"),
        ("The nurse brought her water.", None, "uncertain"),
        ("The nurse brought her water.", ["her"], "uncertain"),
        ("She left.", ["She"], "right"),
        ("It rained.", ["it"], "wrong"),
    ],
)
def test_an_uncertain_prompt_is_counted_apart_from_right_and_wrong(
    labelled, text, expected, outcome
):
    case = labelled.Case("category", text, "gender", None, expected)
    assert case.answer().outcome == outcome


def test_shares_of_a_tally(labelled):
    tally = labelled.Tally.of(["right"] * 7 + ["uncertain"] * 2 + ["wrong"])
    assert (tally.total, tally.kept, tally.wrong_among_kept) == (10, 80, 12.5)
