"""The evidence folder: what is in it, and that any changed byte or number is found."""

from __future__ import annotations

import json
import subprocess

import pytest

from pytest_llmfair.cli import main
from pytest_llmfair.gate.manifest import manifest_text

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
def pack(pytester, run):
    """Write the evidence of a run of two checks; return its folder."""
    pytester.makepyfile(test_bot=TEST)
    run("--llmfair-evidence=pack").assert_outcomes(passed=2)
    return pytester.path / "pack"


def verified(folder, capsys):
    status = main(["verify", str(folder)])
    return status, capsys.readouterr().out


def test_the_evidence_holds_everything_and_verifies(pack, capsys):
    assert {path.name for path in pack.iterdir()} == MEMBERS
    status, text = verified(pack, capsys)
    assert status == 0, text
    assert text.endswith("10 files unchanged, 2 results computed again with the same numbers and "
                         "verdicts\n")  # fmt: skip


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


@pytest.mark.parametrize(("field", "value"), [("value", 0.25), ("verdict", "FAIL"), ("upper", 9)])
def test_a_number_changed_with_its_digest_is_found_by_computing_again(pack, field, value, capsys):
    document = json.loads((pack / "run.json").read_text())
    document["results"][1][field] = value
    (pack / "run.json").write_text(json.dumps(document))
    (pack / "MANIFEST.json").write_text(manifest_text(pack, {}))
    status, text = verified(pack, capsys)
    assert status == 1
    assert f"test_tone toxic_fraction: {field} is {value!r}, computed again" in text


def test_without_opt_in_the_evidence_holds_no_text(pack):
    whole = b"".join(path.read_bytes() for path in pack.iterdir())
    assert b"Leeds" not in whole


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
