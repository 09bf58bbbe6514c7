"""The labelled prompts of the benchmark: shares that are right, uncertain and wrong."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_llmfair.counterfactuals import generate_pairs, mentions
from pytest_llmfair.counterfactuals.pairs import lexicon_for

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
EVERY = 10  # a fixed sample: the rest is what benchmarks/pairs.py is for

# Shares of the sample and of the sentences that were tests of their own: mostly hard ones, for
# which rules were written, so that they say nothing about fresh text.
LEAST_RIGHT = 0.95
MOST_WRONG = 0.05


@pytest.fixture(scope="module")
def labelled() -> Iterator[list[Any]]:
    """Return the cases of ``benchmarks/_pair_cases.py``."""
    spec = importlib.util.spec_from_file_location("pair_cases", BENCHMARKS / "_pair_cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Slotted dataclasses look for their module by its name.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pair_cases", module)
        spec.loader.exec_module(module)
        yield list(module.cases())


def outcome(case: Any) -> str:
    """Return whether a case comes out right, wrong, or is left open as uncertain."""
    found: Any
    if isinstance(case.expected, list):
        named = mentions(case.text, case.attribute)
        uncertain = any(mention.confidence == "uncertain" for mention in named)
        found = [mention.text for mention in named]
    else:
        pairs = generate_pairs([case.text], attribute=case.attribute, groups=case.groups)
        uncertain = bool(getattr(pairs, "uncertain", ()))
        found = pairs[0].counterfactual if pairs else None
    return "uncertain" if uncertain else "right" if found == case.expected else "wrong"


def test_most_are_right_and_few_wrong(labelled: list[Any]) -> None:
    for name, cases in {
        "sample": labelled[::EVERY],
        "former tests": [case for case in labelled if case.category == "former_tests"],
    }.items():
        outcomes = {case.text: outcome(case) for case in cases}
        counts = Counter(outcomes.values())
        wrong = [text for text, result in outcomes.items() if result == "wrong"]
        said = f"{name}: {dict(counts)}; wrong, the first 20: {wrong[:20]}"
        assert len(cases) > 500, said
        assert counts["right"] >= LEAST_RIGHT * len(outcomes), said
        assert counts["wrong"] <= MOST_WRONG * len(outcomes), said


def test_no_prompt_has_two_labels(labelled: list[Any]) -> None:
    labels: dict[Any, Any] = {}
    for case in labelled:
        key = (case.text, case.attribute, case.groups, isinstance(case.expected, list))
        assert labels.setdefault(key, case.expected) == case.expected, case


def test_the_groups_of_every_prompt_are_those_of_its_attribute(labelled: list[Any]) -> None:
    for attribute, groups in {(case.attribute, case.groups) for case in labelled}:
        lexicon = lexicon_for(attribute, groups)
        assert groups is None or [lexicon.group(group) for group in groups], (attribute, groups)
