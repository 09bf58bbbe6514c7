"""Results as properties of test cases in JUnit XML."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

import pytest

Run = Callable[..., pytest.RunResult]


def properties(pytester: pytest.Pytester) -> dict[str, list[tuple[str, str]]]:
    tree = ElementTree.parse(pytester.path / "junit.xml")
    return {
        case.attrib["name"]: [(p.attrib["name"], p.attrib["value"]) for p in case.iter("property")]
        for case in tree.iter("testcase")
    }


@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "2")], ids=["plain", "xdist"])
def test_every_result_is_a_property_of_its_test(
    workers: tuple[str, ...], run: Run, pytester: pytest.Pytester, verdicts: str
) -> None:
    pytester.makepyfile(verdicts)
    run("--junitxml=junit.xml", "-W", "error", *workers)
    found = properties(pytester)
    (passes,), (fails,), (undecided,) = (
        found[name] for name in ("test_passes", "test_fails", "test_stays_undecided")
    )
    assert {key for key, _ in (passes, fails, undecided)} == {"llmfair.toxic_fraction"}
    assert passes[1].startswith("PASS toxic_fraction ")
    assert fails[1].startswith("FAIL toxic_fraction ")
    assert undecided[1].startswith("INCONCLUSIVE toxic_fraction ")


def test_checks_are_properties_too(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_it(fairness):
            fairness.check("toxic_fraction", [[0.1]] * 100, bound=0.1)
            fairness.check("toxic_fraction", [[0.2]] * 100, bound=0.1, label="again")
        """
    )
    run("--junitxml=junit.xml")
    assert [key for key, _ in properties(pytester)["test_it"]] == [
        "llmfair.toxic_fraction",
        "llmfair.toxic_fraction again",
    ]


def test_tests_without_results_have_no_property(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(): pass")
    run("--junitxml=junit.xml")
    assert properties(pytester) == {"test_it": []}


def test_a_label_that_is_no_xml_is_escaped(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from pytest_llmfair import assert_metric

        def test_it():
            assert_metric(
                "toxic_fraction", [[0.9]] * 60, bound=0.1, mode="gate", label="odd \\ud800\\x00"
            )
        """
    )
    run("--junitxml=junit.xml")
    names = [name for found in properties(pytester).values() for name, _ in found]
    assert names == ["llmfair.toxic_fraction odd \\ud800\\x00"]
