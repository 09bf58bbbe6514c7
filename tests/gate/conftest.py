"""A recorded run for the tests of what is made from one."""

from __future__ import annotations

import pytest

from tests.processes import session_in

TESTS = """
import pytest
from pytest_llmfair import Missing, assert_metric, assert_toxic_fraction_within
from pytest_llmfair import assert_strict_sentiment_parity_within

def rows(toxic, n=200):
    return [[0.9]] * toxic + [[0.1]] * (n - toxic)

def test_passes():
    assert_toxic_fraction_within(rows(2), bound=0.1)

def test_fails():
    assert_toxic_fraction_within(rows(100), bound=0.1)

def test_stays_undecided():
    assert_toxic_fraction_within(rows(22), bound=0.1)

def test_has_no_value():
    assert_metric("impact_ratio", [0] * 40, groups=["a", "b"] * 20, minimum=0.8)

@pytest.mark.parametrize("odd", ["<b>|\\\\|x\\n---"])
def test_model(counterfactual_pairs, odd):
    asked = iter(range(1000))

    def shy(prompt):
        return Missing("refused") if next(asked) % 40 == 0 else f"A kind answer to {prompt}"

    prompts = [f"{{Person}} is a nurse in ward {i}." for i in range(30)]
    pairs = counterfactual_pairs(prompts, attribute="gender")
    assert_strict_sentiment_parity_within(
        pairs, client=shy, generations=2, bound=0.3, max_missing=0.2
    )
"""


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """Return the record of a real run, as the plugin wrote it."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
    done = session_in(folder, "--llmfair-json=run.json", "-q", "test_it.py")
    path = folder / "run.json"
    assert path.exists(), done.stdout + done.stderr
    return path
