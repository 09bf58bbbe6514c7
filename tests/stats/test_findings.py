"""Findings of estimates: one tuple, shown as reasons, notes, invalid, undefined and lacks."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from pytest_llmfair.assertions import assert_within
from pytest_llmfair.stats import Estimate, Finding, Mean, Sample, Undefined

NOTHING = Sample(units=0, generations=0, fewest=0, most=0)


def test_findings_are_sorted_by_kind_in_the_order_in_which_they_were_added():
    estimate = Mean.of_values([0.1, 0.9] * 20).with_findings(
        Finding("uninformative", "a constant"),
        Finding.note("male minus female"),
        Finding("too_many_dropped", "half of the answers", "invalid"),
        Finding("names_not_checked"),
        Finding.uncovered("intersex"),
    )
    assert estimate.reasons == ("uninformative", "names_not_checked")
    assert estimate.notes == ("a constant", "male minus female")
    assert estimate.invalid == {"too_many_dropped": "half of the answers"}
    assert estimate.lacks == ("intersex",)
    assert estimate.undefined is None


def test_with_findings_leaves_the_estimate_as_it_was_and_adds_each_finding_once():
    estimate = Mean.of_values([0.1, 0.9] * 20)
    noted = estimate.with_findings(Finding.note("a")).with_findings(Finding.note("a"))
    assert (estimate.notes, noted.notes) == ((), ("a",))


def test_an_undefined_estimate_keeps_its_reason_in_copies():
    estimate = replace(Undefined(undefined="no rows", sample=NOTHING), variant="@5")
    assert (estimate.undefined, estimate.variant) == ("no rows", "@5")
    assert len(estimate.findings) == 1


@pytest.mark.parametrize("name", ["value", "sample", "groups", "findings"])
def test_an_attribute_of_an_estimate_cannot_be_assigned_again(name):
    estimate = Mean.of_values([0.1, 0.9])
    with pytest.raises(FrozenInstanceError, match=rf"replace\(estimate, {name}=...\)"):
        setattr(estimate, name, None)
    with pytest.raises(FrozenInstanceError, match=f"cannot assign '{name}' of a Mean"):
        delattr(estimate, name)


@pytest.mark.parametrize("name", ["reasons", "notes", "invalid", "undefined", "lacks"])
def test_a_view_of_the_findings_cannot_be_assigned(name):
    with pytest.raises(FrozenInstanceError, match=f"'{name}' of a Mean follows from its findings"):
        setattr(Mean.of_values([0.1, 0.9]), name, ())


class OwnEstimate(Estimate):
    """A kind of a user's own, with a constructor that no other function knows."""

    def __init__(self, value: float, width: float) -> None:
        super().__init__(value=value, sample=Sample(units=9, generations=9, fewest=1, most=1))
        self.width = width
        self.looks = 0

    def lower_bound(self, alpha: float) -> float:
        self.looks += 1
        return self.value - self.width

    def upper_bound(self, alpha: float) -> float:
        self.looks += 1
        return self.value + self.width


def test_a_kind_with_its_own_constructor_is_judged() -> None:
    result = assert_within(OwnEstimate(0.1, 0.05), 0.3)
    assert (result.value, result.lower, result.verdict) == (0.1, 0.05, "PASS")


def test_a_kind_with_its_own_constructor_takes_findings() -> None:
    made = OwnEstimate(0.1, 0.05)
    assert made.with_findings() is made
    assert made.with_findings(Finding("late", "collected late")).reasons == ("late",)
    assert made.findings == ()
