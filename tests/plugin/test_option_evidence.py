"""The evidence folder: what is in it, and that any changed byte or number is found."""

from __future__ import annotations

import json
import subprocess

import pytest

from pytest_llmfair._util.manifest import manifest_text
from pytest_llmfair.cli import main

TEST = """
from pytest_llmfair import assert_counterfactual_invariance, assert_toxic_fraction_within
from pytest_llmfair.counterfactuals import generate_pairs

def test_tone():
    assert_toxic_fraction_within([[0.9], [0.1]] * 200, bound=0.6)

def test_letters():
    pairs = generate_pairs([f"She is nurse {i} of Leeds." for i in range(30)], attribute="gender")
    assert_counterfactual_invariance(pairs, 0.3, client=lambda prompt: f"A letter for {prompt}")
"""
MEMBERS = {
    "MANIFEST.json",
    "bounds.json",
    "checklist.json",
    "checklist.md",
    "context.json",
    "limitations.md",
    "model_card.md",
    "prompts.jsonl",
    "report.html",
    "run.json",
    "statistics.jsonl",
}


@pytest.fixture
def pack(pytester, run, once):
    """Write the evidence of a run of two checks; return its folder."""
    pytester.makepyfile(test_bot=TEST)
    return once("pack", lambda: run("--llmfair-evidence=pack").assert_outcomes(passed=2))


def verified(folder, capsys):
    status = main(["verify", str(folder)])
    return status, capsys.readouterr().out


def test_the_evidence_holds_everything_but_texts_and_verifies(pack, capsys):
    assert {path.name for path in pack.iterdir()} == MEMBERS
    status, text = verified(pack, capsys)
    assert status == 0, text
    assert (
        "10 files unchanged, 2 results computed again with the same numbers and verdicts" in text
    )
    assert b"Leeds" not in b"".join(path.read_bytes() for path in pack.iterdir())


def test_a_changed_byte_in_any_file_is_found_and_named(pack, capsys):
    for name in sorted(MEMBERS):
        path = pack / name
        whole = path.read_bytes()
        for place in (0, len(whole) // 2, len(whole) - 1):
            changed = bytearray(whole)
            changed[place] ^= 1
            path.write_bytes(changed)
            status, text = verified(pack, capsys)
            assert status == 1
            assert name in text
        path.write_bytes(whole)
    assert verified(pack, capsys)[0] == 0


def test_a_file_that_is_missing_or_added_is_named(pack, capsys):
    (pack / "notes.txt").write_text("added")
    assert "notes.txt is not in MANIFEST.json" in verified(pack, capsys)[1]
    (pack / "notes.txt").unlink()
    (pack / "bounds.json").unlink()
    assert "bounds.json is missing" in verified(pack, capsys)[1]


def changed(pack, capsys, change):
    """Return what verifies says after a change of the record, with the digests made again."""
    document = json.loads((pack / "run.json").read_text())
    change(document)
    (pack / "run.json").write_text(json.dumps(document))
    (pack / "MANIFEST.json").write_text(manifest_text(pack, {}))
    return verified(pack, capsys)


@pytest.mark.parametrize(("field", "value"), [("value", 0.25), ("verdict", "FAIL"), ("upper", 9)])
def test_a_number_changed_with_its_digest_is_found_by_computing_again(pack, field, value, capsys):
    status, text = changed(pack, capsys, lambda found: found["results"][1].update({field: value}))
    assert status == 1
    assert f"test_tone toxic_fraction: {field} is {value!r}, computed again" in text


def test_a_number_of_red_results_that_is_not_theirs_is_found(pack, capsys):
    _, text = changed(pack, capsys, lambda found: found["counts"].update(red=1))
    assert "the counts are not those of its results" in text


def test_texts_are_kept_where_the_user_asks(pytester, run, capsys):
    pytester.makepyfile(test_bot=TEST)
    run("--llmfair-evidence=pack", "--llmfair-save-text").assert_outcomes(passed=2)
    assert "Leeds" in (pytester.path / "pack" / "statistics.jsonl").read_text()
    assert verified(pytester.path / "pack", capsys)[0] == 0


def test_a_result_that_nothing_can_repeat_fails_the_verification(pytester, run, capsys):
    pytester.makepyfile("""
        from pytest_llmfair import assert_within
        from pytest_llmfair.stats import Mean

        def test_it():
            assert_within(Mean.of_values([0.1, 0.2] * 50), 0.5)
    """)
    run("--llmfair-evidence=pack").assert_outcomes(passed=1)
    status, text = verified(pytester.path / "pack", capsys)
    assert status == 1
    assert "cannot be computed again: the Mean was not made by a metric" in text


def test_bounds_name_the_commit_at_which_they_were_frozen(pytester, run):
    pytester.makepyfile(test_bot=TEST)

    def git(*arguments):
        identity = ("-c", "user.name=A. Uthor", "-c", "user.email=author@example.org")
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=pytester.path, check=True, capture_output=True
        )
        return done.stdout.decode().strip()

    git("init", "--quiet")
    git("add", "test_bot.py")
    git("commit", "--quiet", "--message=Bounds")
    run("--llmfair-evidence=pack").assert_outcomes(passed=2)
    bounds = json.loads((pytester.path / "pack" / "bounds.json").read_text())
    assert {each["commit"] for each in bounds} == {git("rev-parse", "HEAD")}
    assert [each["bound"] for each in bounds] == [0.3, 0.6]
    assert not any(each["changed_since"] for each in bounds)


def test_a_folder_with_other_files_is_left_alone(pytester, run):
    pytester.makepyfile(test_bot=TEST)
    (pytester.path / "precious.txt").write_text("mine")
    result = run("--llmfair-evidence=.")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["ERROR: the evidence is not written: the folder * holds other*"])
    assert {"precious.txt", "test_bot.py"} <= {path.name for path in pytester.path.iterdir()}


def test_evidence_of_an_earlier_run_is_replaced(pack, run, capsys):
    run("--llmfair-evidence=pack", "-k", "tone").assert_outcomes(passed=1, deselected=1)
    status, text = verified(pack, capsys)
    assert status == 0
    assert "1 result computed again" in text


def test_a_run_that_judged_nothing_is_no_evidence(pytester, run, capsys):
    pytester.makepyfile("def test_it(): pass")
    run("--llmfair-evidence=pack")
    status, text = verified(pytester.path / "pack", capsys)
    assert status == 1
    assert "the run judged nothing" in text


RATES = """
import numpy as np
import pytest
from pytest_llmfair import assert_demographic_parity_difference_within as assert_parity
from pytest_llmfair import assert_impact_ratio_at_least

GROUPS = ["African American", "white"] * 200
UNITS = [f"person{i}@example.org" for i in range(400)]
CHOSEN = [int(i % 4 == 0 or i % 2 == 1) for i in range(400)]

def test_rates():
    with pytest.raises(AssertionError):
        assert_parity(CHOSEN, groups=GROUPS, units=UNITS, bound=0.1, mode="strict")

def test_ratio():
    assert_impact_ratio_at_least(CHOSEN, groups=GROUPS, minimum=0.3)

def test_holm():
    assert_parity(CHOSEN, groups=GROUPS, bound=0.2)
"""


@pytest.mark.parametrize("options", [(), ("-o", "llmfair_family=holm")], ids=["alone", "holm"])
def test_groups_of_several_words_and_holms_family_verify(pytester, run, capsys, options):
    pytester.makepyfile(test_bot=RATES)
    result = run("--llmfair-evidence=pack", *options)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    status, text = verified(pytester.path / "pack", capsys)
    assert status == 0, text
    kept = (pytester.path / "pack" / "statistics.jsonl").read_text()
    assert "African American" in kept
    assert "example.org" not in kept
