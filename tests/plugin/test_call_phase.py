"""`fairness.check` reports everything and raises inside the call phase."""

from __future__ import annotations

RED = "fairness.check('toxic_fraction', [[0.9]] * 100, bound=0.1)"
GREEN = "fairness.check('toxic_fraction', [[0.1]] * 100, bound=0.1)"


def test_green_checks_pass(run, pytester):
    pytester.makepyfile(f"def test_it(fairness): assert {GREEN}.verdict == 'PASS'")
    run().assert_outcomes(passed=1)


def test_all_checks_report_before_the_test_fails(run, pytester):
    pytester.makepyfile(f"def test_it(fairness):\n {RED}\n {GREEN}\n {RED}")
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["3 fairness assertions: 1 PASS, 2 FAIL; 0 undecided"])
    messages = [line for line in result.outlines if line.startswith("E ") and "FAIL tox" in line]
    assert len(messages) == 2


def test_error_points_to_the_line_of_the_check(run, pytester):
    pytester.makepyfile(test_it=f"def test_it(fairness):\n {GREEN}\n {RED}\n later = 1")
    output = run().stdout
    output.fnmatch_lines([f"> *{RED.replace('[', '[[]')}", "E * FAIL *", "test_it.py:3: BoundEx*"])
    output.no_fnmatch_line("*All traceback entries are hidden*")


def test_xfail_applies_to_checks(run, pytester):
    pytester.makepyfile(
        f"""
        import pytest
        from pytest_llmfair import BoundExceeded

        @pytest.mark.xfail(raises=BoundExceeded, strict=True)
        def test_it(fairness):
            {RED}
        """
    )
    run().assert_outcomes(xfailed=1)


def test_a_test_cannot_skip_away_a_red_check(run, pytester):
    pytester.makepyfile(f"import pytest\ndef test_it(fairness):\n {RED}\n pytest.skip('no')")
    run().assert_outcomes(failed=1)


def test_error_of_the_test_itself_is_not_hidden_by_xfail(run, pytester):
    pytester.makepyfile(
        f"""
        import pytest
        from pytest_llmfair import BoundExceeded

        @pytest.mark.xfail(raises=BoundExceeded)
        def test_it(fairness):
            {RED}
            raise KeyError("mine")
        """
    )
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*KeyError: 'mine'"])


def test_check_in_a_fixture_counts_for_its_test(run, pytester):
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.fixture
        def checked(fairness):
            {RED}

        def test_it(checked): pass
        def test_other(): pass
        """
    )
    run().assert_outcomes(failed=1, passed=1)


def test_check_after_the_test_is_an_error(run, pytester):
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.fixture
        def checked(fairness):
            yield
            {RED}

        def test_it(checked): pass
        """
    )
    run().assert_outcomes(passed=1, errors=1)


def test_collector_of_ones_own_raises_too(run, pytester):
    pytester.makeconftest(
        """
        import pytest
        from pytest_llmfair import Fairness

        @pytest.fixture
        def fairness():
            return Fairness(client=lambda: None, scorers=dict)
        """
    )
    pytester.makepyfile(f"def test_it(fairness): {RED}")
    run().assert_outcomes(failed=1)


def test_collector_requested_late_raises_too(run, pytester):
    pytester.makepyfile(
        f"def test_it(request):\n fairness = request.getfixturevalue('fairness')\n {RED}"
    )
    run().assert_outcomes(failed=1)


def test_check_in_a_unittest_raises(run, pytester):
    pytester.makepyfile(
        f"""
        import unittest, pytest

        class TestIt(unittest.TestCase):
            @pytest.fixture(autouse=True)
            def collector(self, fairness):
                self.fairness = fairness

            def test_it(self):
                fairness = self.fairness
                {RED}
        """
    )
    run().assert_outcomes(failed=1)
