"""The ratchet: a bound that was broken before is red only where the check became worse."""

from __future__ import annotations

import json

import pytest

from pytest_llmfair.gate.evidence import problems

# A bot that is curt to a share of one group; what changes between two runs are its variables.
TEST = """
import os
import random

from pytest_llmfair import assert_metric
from pytest_llmfair.counterfactuals import generate_pairs

SHOP = os.environ.get("SHOP", "toys")
PROMPTS = [f"She asks about order {i} of a shop for {SHOP}." for i in range(120)]

def bot(prompt):
    if prompt.startswith("She") and "order 7" in prompt and os.environ.get("LOSE"):
        raise ConnectionError("lost")
    curt = random.Random(prompt).random() < float(os.environ.get("CURT", "0"))
    if curt and prompt.startswith(os.environ.get("WHO", "She")):
        return "No."
    return "Of course, I look that up for you at once."

def curt(answers):
    return [float(len(answer.split()) < 3) for answer in answers]

def test_bot():
    pairs = generate_pairs(PROMPTS, attribute="gender")
    bound = float(os.environ.get("BOUND", "0.1"))
    options = {"scorer": curt, "unit": "share", "score_range": (0, 1), "label": "service"}
    assert_metric("score_difference", pairs, client=bot, bound=bound, **options)
    if os.environ.get("BREAK") and not os.path.exists("broken"):
        open("broken", "w").close()
        raise RuntimeError("an unstable test")
"""
BASELINE = "--llmfair-baseline=base.json"
RATCHET = (BASELINE, "--llmfair-ratchet")


@pytest.fixture
def change(pytester, run, monkeypatch):
    """Return a function that runs the test on a bot, by its variables."""
    pytester.makepyfile(test_bot=TEST)

    def run_bot(*arguments, **variables):
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            return run(*arguments)

    return run_bot


@pytest.fixture
def broken(change, once):
    """Record a bot that breaks its bound; return a function that runs another with the ratchet."""

    def record():
        change(BASELINE, "--llmfair-update-baseline", CURT="0.4").assert_outcomes(failed=1)

    once("base.json", record)
    return lambda *arguments, **variables: change(*RATCHET, *arguments, **variables)


def test_a_bound_that_was_broken_before_is_not_red_and_said(broken):
    result = broken(CURT="0.4")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "*baseline service (gender)*0.000 [[]0.000, 0.000[]] <= 0.000 PASS*",
            "2 fairness assertions: 1 PASS, 1 waived FAIL*",
        ]
    )
    shown = " ".join(result.stdout.str().split())
    assert "waived: known, and accepted for now" in shown
    assert "ratchet: the baseline breaks this bound too, FAIL 0.39" in shown
    assert "not proven to be worse" in shown


def test_a_small_change_is_not_proven_and_said(broken):
    result = broken(CURT="0.42")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["2 fairness assertions: 1 INCONCLUSIVE, 1 waived FAIL*"])


def test_evidence_of_an_unproven_loss_that_a_policy_makes_red_can_be_verified(broken, pytester):
    broken(
        "--llmfair-inconclusive=fail", "--llmfair-evidence=evidence", CURT="0.42"
    ).assert_outcomes(passed=1)
    assert problems(pytester.path / "evidence") == []


def test_a_proven_loss_is_red_and_leads_the_comment(broken, pytester):
    result = broken("--llmfair-markdown=comment.md", CURT="0.7")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *FAIL score_difference worse than baseline service (gender)*"])
    first, *_ = (pytester.path / "comment.md").read_text().partition("differences\n\n")[2:]
    assert first.startswith("1. **FAIL** score_difference worse than baseline service (gender): ")


@pytest.mark.parametrize(
    ("variables", "why"),
    [
        ({"CURT": "0.4", "BOUND": "0.2"}, "*the baseline has FAIL at the bound 0.1"),
        ({"CURT": "0.4", "WHO": "He"}, "*against another group than in the baseline*"),
        (
            {"CURT": "0.4", "SHOP": "pets"},
            "E *INVALID score_difference worse than baseline service: *",
        ),
        ({"CURT": "0.4", "LOSE": "yes"}, "*INVALID*"),
    ],
    ids=["another bound", "another group", "other prompts", "answers that are missing"],
)
def test_what_the_baseline_does_not_speak_of_stays_red(broken, variables, why):
    result = broken(**variables)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([why])


@pytest.mark.parametrize(
    ("before", "why"),
    [({"CURT": "0"}, "UNDERPOWERED"), ({"CURT": "0.4", "LOSE": "yes"}, "INVALID")],
    ids=["held", "invalid"],
)
def test_a_bound_that_is_newly_broken_is_red(change, before, why):
    change(BASELINE, "--llmfair-update-baseline", **before)
    result = change(*RATCHET, CURT="0.4")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"ratchet: red FAIL*the baseline has {why} at the bound 0.1"])


def test_rates_that_turned_against_another_group_are_red(pytester, run, monkeypatch):
    pytester.makepyfile("""
        import os
        from pytest_llmfair import assert_demographic_parity_difference_within

        def test_rates():
            chosen = [1] * 160 + [0] * 40 + [1] * 60 + [0] * 140 + [1] * 140 + [0] * 60
            groups = [name for name in os.environ["GROUPS_OF"] for _ in range(200)]
            assert_demographic_parity_difference_within(chosen, groups=groups, bound=0.1)
    """)
    monkeypatch.setenv("GROUPS_OF", "abc")
    run(BASELINE, "--llmfair-update-baseline").assert_outcomes(failed=1)
    run(*RATCHET).assert_outcomes(passed=1)
    # The difference is as large as before, and against another group.
    for turned in ("bac", "acb"):
        monkeypatch.setenv("GROUPS_OF", turned)
        run(*RATCHET).assert_outcomes(failed=1)


def test_a_distance_between_scores_that_turned_against_another_group_is_red(
    pytester, run, monkeypatch
):
    pytester.makepyfile("""
        import os
        from pytest_llmfair import assert_strict_sentiment_parity_within

        def test_scores():
            sides = [[[0.9]] * 60, [[0.4]] * 60]
            if os.environ.get("TURNED"):
                sides.reverse()
            assert_strict_sentiment_parity_within(*sides, bound=0.1)
    """)
    run(BASELINE, "--llmfair-update-baseline").assert_outcomes(failed=1)
    run(*RATCHET, "--llmfair-margin=0.3").assert_outcomes(passed=1)
    monkeypatch.setenv("TURNED", "yes")
    run(*RATCHET, "--llmfair-margin=0.3").assert_outcomes(failed=1)


def test_a_check_without_a_row_in_the_baseline_is_red(broken, pytester):
    pytester.makepyfile(test_bot=TEST.replace("test_bot()", "test_other()"))
    result = broken(CURT="0.4")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["ratchet: red FAIL*the baseline has no such check"])


def test_no_edited_verdict_excuses_a_fail(change, pytester):
    change(BASELINE, "--llmfair-update-baseline", CURT="0")
    document = json.loads((pytester.path / "base.json").read_text())
    document["checks"][0]["verdict"] = "FAIL"
    (pytester.path / "base.json").write_text(json.dumps(document))
    change(*RATCHET, CURT="0.4").assert_outcomes(failed=1)


def test_a_waiver_of_the_value_accepts_no_loss(broken, pytester):
    (pytester.path / "pyproject.toml").write_text(
        "[[tool.llmfair.waivers]]\n"
        'test = "*"\nreason = "known"\napprover = "A"\nexpires = 2099-01-01\nworst = 0.99\n'
    )
    broken(CURT="0.4").assert_outcomes(passed=1)
    broken(CURT="0.7").assert_outcomes(failed=1)


@pytest.mark.slow
def test_neither_workers_nor_reruns_nor_holm_change_the_verdict(broken):
    for more in (("-p", "xdist", "-n", "2"), ("--llmfair-family=holm",)):
        broken(*more, CURT="0.4").assert_outcomes(passed=1)
        assert broken(*more, CURT="0.7").ret == pytest.ExitCode.TESTS_FAILED
    result = broken("--reruns=1", "-p", "pytest_rerunfailures", CURT="0.7", BREAK="yes")
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_the_ini_file_turns_it_on_and_a_misspelt_key_is_an_error(broken, change, pytester):
    pytester.makeini("[pytest]\nllmfair_baseline = base.json\nllmfair_ratchet = true\n")
    change(CURT="0.4").assert_outcomes(passed=1)
    for wrong, message in (
        ("llmfair_baseline = base.json\nllmfair_rachet = true", "*unknown key*ratchet*"),
        ("llmfair_baseline = base.json\nllmfair_ratchet = maybe", "*give true or false*"),
        ("llmfair_ratchet = true", "*--llmfair-ratchet needs --llmfair-baseline PATH*"),
    ):
        pytester.makeini(f"[pytest]\n{wrong}\n")
        result = change(CURT="0.4")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([message])
