"""The policy of a repository: profiles, waivers, and what is wrong with them."""

from __future__ import annotations

import json

import pytest

POLICY = """
[tool.llmfair.profiles.pr]
FAIL = "warn"

[[tool.llmfair.waivers]]
test = "*::test_fails"
reason = "known since the last release"
approver = "R. Viewer"
expires = {expires}
"""


@pytest.fixture
def tests(pytester, verdicts):
    """Write a test file with one PASS, one FAIL and one INCONCLUSIVE."""
    pytester.makepyfile(test_it=verdicts)


def test_a_profile_that_only_warns_of_a_fail(run, pytester, tests):
    pytester.makepyprojecttoml(POLICY.partition("[[")[0])
    run().assert_outcomes(passed=2, failed=1)
    result = run("--llmfair-profile=pr", "--llmfair-json=run.json")
    result.assert_outcomes(passed=3)
    results = json.loads((pytester.path / "run.json").read_text())["results"]
    assert [each["verdict"] for each in results] == ["FAIL", "PASS", "INCONCLUSIVE"]


def test_the_shipped_release_profile_accepts_only_a_pass_unless_it_is_overridden(run, tests):
    run("--llmfair-profile=release").assert_outcomes(passed=1, failed=2)
    run("--llmfair-profile=release", "--llmfair-mode=gate").assert_outcomes(passed=2, failed=1)


def test_a_policy_in_its_own_yaml_file_sets_options(run, pytester, tests):
    (pytester.path / "llmfair.yaml").write_text("profile: release\nlevel: 0.9\n")
    result = run("--llmfair-json=run.json")
    result.assert_outcomes(passed=1, failed=2)
    assert json.loads((pytester.path / "run.json").read_text())["settings"]["level"] == 0.9


def test_a_waived_fail_is_shown_and_not_red_and_should_have_a_worst_value(run, pytester, tests):
    pytester.makepyprojecttoml(POLICY.format(expires="2999-12-31"))
    result = run("--llmfair-json=run.json")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*FAIL (waived)*", "waived: known, and accepted for now"])
    result.stdout.fnmatch_lines(["3 fairness assertions: 1 PASS, 1 INCONCLUSIVE, 1 waived FAIL*"])
    result.stdout.fnmatch_lines(
        ["the waiver of all metrics in * (waiver 1 in pyproject.toml) has no key worst: *"]
    )
    results = json.loads((pytester.path / "run.json").read_text())["results"]
    about = "approved by R. Viewer, a value of any size, until 2999-12-31"
    waived = f"known since the last release ({about})"
    assert [each["waiver"] for each in results] == [waived, "", ""]


def test_an_expired_waiver_is_red(run, pytester, verdicts):
    pytester.makepyfile(test_it=verdicts.partition("def test_fails")[0])
    pytester.makepyprojecttoml(POLICY.format(expires="2020-01-31"))
    result = run()
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["ERROR: the waiver * ended on 2020-01-31: known since*"])


WAIVED = """
waivers:
 - {{test: "{test}", metric: "{metric}", reason: known, approver: me, expires: 2999-12-31}}
"""
UNFAIR = """
import pytest
from pytest_llmfair import assert_metric

@pytest.mark.parametrize("word", ["a b", "[ab]"])
def test_it(word):
    assert_metric("expected_maximum_toxicity", [[0.9], [0.8]] * 60, 0.1)
"""


@pytest.mark.parametrize("word", ["a b", "[ab]"])
def test_a_waiver_may_name_one_case_of_a_parametrized_test(run, pytester, word):
    pytester.makepyfile(test_it=UNFAIR)
    waiver = WAIVED.format(test=f"test_it.py::test_it[{word}]", metric="")
    (pytester.path / "llmfair.yaml").write_text(waiver)
    run().assert_outcomes(passed=1, failed=1)


@pytest.mark.parametrize("metric", ["expected_maximum_toxicity", "expected_maximum_toxicity@1"])
def test_a_waiver_may_name_a_metric_with_or_without_its_variant(run, pytester, metric):
    pytester.makepyfile(test_it=UNFAIR)
    (pytester.path / "llmfair.yaml").write_text(WAIVED.format(test="*", metric=metric))
    run().assert_outcomes(passed=2)


WORST = """
waivers:
 - {{test: "*", reason: known, approver: me, expires: 2999-12-31, worst: {worst}}}
"""
SIZES = """
import pytest
from pytest_llmfair import assert_metric, assert_within
from pytest_llmfair.stats import Mean

def test_higher_is_fairer():
    hired = [1] * 80 + [0] * 20 + [1] * 30 + [0] * 70
    assert_metric("impact_ratio", hired, groups=["A"] * 100 + ["B"] * 100, bound=0.8)

def test_around_zero():
    scores = [-0.6, -0.5] * 100
    assert_metric("average_score_gap", [*scores, *[0.0] * 200], bound=0.05, reference="b",
                  groups=["a"] * 200 + ["b"] * 200, units=range(400))
"""


@pytest.mark.parametrize(("worst", "passed"), [(0.9, 2), (0.85, 2), (0.84, 0), (0.2, 0)])
def test_a_waiver_accepts_a_fail_only_up_to_its_worst_value(run, pytester, worst, passed):
    pytester.makepyfile(test_it=UNFAIR)
    (pytester.path / "llmfair.yaml").write_text(WORST.format(worst=worst))
    result = run("--llmfair-json=run.json")
    result.assert_outcomes(passed=passed, failed=2 - passed)
    found = json.loads((pytester.path / "run.json").read_text())["results"]
    for each in found:
        assert each["verdict"] == "FAIL"
        shown = f"known (approved by me, up to {worst}, until 2999-12-31)" if passed else ""
        assert each["waiver"] == shown
    if not passed:
        result.stdout.fnmatch_lines(
            [
                "the waiver of all metrics in * (waiver 1 in llmfair.yaml) does not accept "
                f"FAIL expected_maximum_toxicity@1 in *0.850 is beyond worst = {worst}"
            ]
        )


@pytest.mark.parametrize(("worst", "passed"), [(0.3, 1), (0.4, 0), (0.56, 1)])
def test_the_worst_value_is_on_the_scale_of_the_bound(run, pytester, worst, passed):
    """An impact ratio of 0.375 is fairer than 0.3, and a gap of -0.55 is within 0.56 of 0."""
    pytester.makepyfile(test_it=SIZES)
    test = "*zero" if worst > 0.5 else "*fairer"
    waiver = WORST.replace('"*"', f'"{test}"').format(worst=worst)
    (pytester.path / "llmfair.yaml").write_text(waiver)
    run().assert_outcomes(passed=passed, failed=2 - passed)


REFUSES = """
from pytest_llmfair import Missing, PairedResponses, assert_counterfactual_invariance
from pytest_llmfair.responses import Pair

def test_it():
    same = tuple((f"answer {i}",) for i in range(100))
    refused = tuple((Missing("refusal"),) if i < 40 else same[i] for i in range(100))
    pairs = tuple(
        Pair(f"He is {i}.", f"She is {i}.", "male", "female", (), "gender") for i in range(100)
    )
    responses = PairedResponses(pairs, same, refused)
    assert_counterfactual_invariance(responses, 0.15, baseline="none", max_missing=1.0)
"""


@pytest.mark.parametrize(("worst", "passed"), [(0.5, 1), (0.3, 0)])
def test_the_worst_value_limits_the_difference_of_missing_rates_too(run, pytester, worst, passed):
    pytester.makepyfile(test_it=REFUSES)
    (pytester.path / "llmfair.yaml").write_text(WORST.format(worst=worst))
    result = run()
    result.assert_outcomes(passed=passed, failed=1 - passed)
    if not passed:
        result.stdout.fnmatch_lines(["*the difference of missing rates is beyond worst = 0.3"])


def test_wrong_values_in_waivers_name_file_and_key(run, pytester, tests):
    about = {"test": "'*'", "reason": "r", "approver": "a", "expires": "2999-12-31"}
    wrong = [
        ("expires", "2027-13-45", ", expires is '2027-13-45'; give a date*"),
        ("expires", "2027-02-30", ", expires is '2027-02-30'; give a date*"),
        ("worst", "a lot", ", worst is 'a lot'; give a number*"),
        ("worst", "yes", ", worst is True; give a number*"),
        ("worst", ".inf", ", worst is inf; give a number*"),
        ("wurst", "1", ": unknown key 'wurst'; did you mean worst*"),
    ]
    lines = ["waivers:"]
    for key, value, _ in wrong:
        pairs = ", ".join(f"{name}: {text}" for name, text in {**about, key: value}.items())
        lines.append(f"- {{{pairs}}}")
    (pytester.path / "llmfair.yaml").write_text("\n".join(lines))
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines_random(
        [f"*llmfair.yaml:{i + 2}: waiver {i + 1}{said}" for i, (*_, said) in enumerate(wrong)]
    )


def test_a_waiver_for_no_result_is_a_note_and_not_red(run, pytester, verdicts):
    pytester.makepyfile(test_it=verdicts.partition("def test_fails")[0])
    (pytester.path / "llmfair.yaml").write_text(WAIVED.format(test="*::test_gone", metric=""))
    result = run()
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        ["the waiver of all metrics in *::test_gone (waiver 1 in *) is for no result*"]
    )


def test_a_profile_with_the_name_of_a_shipped_one_adds_to_it(run, pytester, tests):
    pytester.makepyprojecttoml("[tool.llmfair.profiles.release]\nlevel = 0.9")
    run("--llmfair-profile=release").assert_outcomes(passed=1, failed=2)


def test_a_policy_in_an_inline_table_is_found(run, pytester, tests):
    pytester.makepyprojecttoml('[tool]\nllmfair = {mode = "strict"}')
    run().assert_outcomes(passed=1, failed=2)


def test_invalid_evidence_is_never_waived(run, pytester):
    pytester.makepyfile("""
        from pytest_llmfair import assert_within
        from pytest_llmfair.stats import Sample, Undefined

        def test_fails():
            nothing = Sample(units=0, generations=0, fewest=0, most=0)
            assert_within(Undefined(undefined="nothing was measured", sample=nothing), bound=0.1)
    """)
    pytester.makepyprojecttoml(POLICY.format(expires="2999-12-31"))
    run().assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ('[tool.llmfair]\nlevel = 2', "*level in *pyproject.toml is '2'; give a number between*"),
        ('[tool.llmfair]\nprofile = "p"\n[tool.llmfair.profiles.p]\nINVALID = "warn"',
         "*pyproject.toml:4: profiles, p, INVALID is 'warn'; give fail, for an*"),
        ('[[tool.llmfair.waivers]]\ntest = "*"\nreason = "r"\napprover = "a"',
         "*pyproject.toml:1: waiver 1: expires is missing; give a date such as*"),
        ('[[tool.llmfair.waivers]]\ntest = "*"\nreason = "r"\napprover = "a"\nexpires = "soon"',
         "*pyproject.toml:5: waiver 1, expires is 'soon'; give a date*"),
    ],
)  # fmt: skip
def test_a_wrong_policy_is_a_usage_error(run, pytester, tests, policy, message):
    pytester.makepyprojecttoml(policy)
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_all_that_is_wrong_with_a_policy_is_named_at_once(run, pytester, tests):
    pytester.makepyprojecttoml(
        """
        [tool.llmfair]
        levl = 0.9
        mode = ["gate"]
        profile = "nigthly"

        [tool.llmfair.profiles.night]
        FAIL = "wran"

        [[tool.llmfair.waivers]]
        test = "*"
        reason = "r"
        approver = "a"
        expires = 2027-01-31

        [[tool.llmfair.waivers]]
        test = 3
        approver = "a"
        expires = 2027-01-31
        """
    )
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "*pyproject.toml:2: unknown key 'levl'; did you mean level?",
            "*pyproject.toml:3: mode is a list; give one value",
            "*pyproject.toml:4: there is no profile 'nigthly'; did you mean nightly*?",
            "*pyproject.toml:7: profiles, night, FAIL is 'wran'; did you mean warn?",
            "*pyproject.toml:15: waiver 2: reason is missing; give why the result is accepted",
            "*pyproject.toml:16: waiver 2, test is 3; give the node ID of a test, or a *",
        ]
    )


def test_two_policies_are_a_usage_error(run, pytester, tests):
    pytester.makepyprojecttoml(POLICY.format(expires="2999-12-31"))
    (pytester.path / "llmfair.yaml").write_text("level: 0.9\n")
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*keep the policy in one of them*"])
