"""The line that repeats a red test holds every option that its verdict depends on, and it runs."""

from __future__ import annotations

import re
import shlex

import pytest

TEST = """
from pytest_llmfair import assert_counterfactual_invariance
from pytest_llmfair.counterfactuals import generate_pairs

PAIRS = generate_pairs([f"She is nurse {i} of the ward." for i in range(60)], attribute="gender")

def test_bot(model_client):
    assert_counterfactual_invariance(PAIRS, 0.1, client=model_client)
"""
BOT = "def reply(prompt):\n    return 'no' if 'She' in prompt else 'yes please'\n"


def line_of(found) -> list[str]:
    """Return the words of the command that a message shows, after `pytest`."""
    text = "\n".join(line.removeprefix("E").strip() for line in found.outlines)
    (command,) = re.findall(r"^rerun +pytest ((?:.*\\\n)*.*)$", text, re.MULTILINE)
    return shlex.split(command.replace("\\\n", " "))


@pytest.fixture
def bot(pytester, monkeypatch):
    """Write an unfair bot and its test, and let Python find the bot."""
    monkeypatch.syspath_prepend(pytester.path)
    pytester.makepyfile(bot=BOT, test_bot=TEST)


def test_the_line_is_whole_and_runs(pytester, bot, run):
    pytester.makeini("[pytest]\nllmfair_mode = strict\nllmfair_max_missing = 0.02\n")
    options = {
        "--llmfair-model": "python:bot:reply",
        "--llmfair-mode": "gate",  # a default, in the place of the ini file's
        "--llmfair-inconclusive": "fail",
        "--llmfair-family": "none",
        "--llmfair-seed": "7",
        "--llmfair-max-tokens": "9",
        "--llmfair-cassette": "recorded/c.jsonl",
        "--llmfair-record-mode": "new",
        "--llmfair-max-calls": "10000",
        "--llmfair-max-total-tokens": "900000",
        "--llmfair-timeout": "30.0",
        "--llmfair-level": "0.9",
        "--llmfair-profile": "nightly",
    }
    given = [word for each in options.items() for word in each]
    shown = ("--llmfair-json=run.json", "--llmfair-require=1")
    found = run(*given, *shown, "-o", "llmfair_max_recording_age=9")
    found.assert_outcomes(failed=1)
    words = line_of(found)
    for option, value in options.items():
        assert words[words.index(option) + 1] == value, option
    assert "llmfair_max_recording_age=9" in words
    assert "llmfair_max_missing=0.02" in words
    assert not {"--llmfair-json", "--llmfair-require"}.intersection(words)
    again = run(*words)
    again.assert_outcomes(failed=1)
    again.stdout.fnmatch_lines(["*replayed: 240 answers*"])
    assert line_of(again) == words


def test_a_run_that_writes_its_baseline_is_repeated_without(bot, run):
    given = ("--llmfair-model=python:bot:reply", "--llmfair-baseline=b.json")
    found = run(*given, "--llmfair-update-baseline")
    words = line_of(found)
    assert "--llmfair-baseline" not in words
    # The seed is there whether it was given or not.
    assert words[words.index("--llmfair-seed") + 1] == "0"
    run(*words).assert_outcomes(failed=1)
