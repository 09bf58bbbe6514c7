"""Recorded answers of a function are of its code: they are stale once it has changed."""

from __future__ import annotations

import pytest

TEST = """
from pytest_llmfair import assert_counterfactual_invariance
from pytest_llmfair.counterfactuals import generate_pairs

PAIRS = generate_pairs([f"She is nurse {i} of the ward." for i in range(60)], attribute="gender")

def test_bot(model_client):
    assert_counterfactual_invariance(PAIRS, 0.1, client=model_client)
"""
FAIR = "from words import OPENING\n\ndef reply(prompt):\n    return OPENING + prompt.split()[3]\n"
UNFAIR = "def reply(prompt):\n    return 'no' if 'She' in prompt else 'yes please'\n"


@pytest.fixture
def ask(pytester, run, monkeypatch):
    """Return a function that runs the test with the code as it is now."""
    monkeypatch.syspath_prepend(pytester.path)
    # Two texts of a file within a second could share their bytecode.
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    pytester.makepyfile(bot=FAIR, words="OPENING = 'number '\n", test_bot=TEST)

    def ask(*options, model="python:bot:reply", mode="new"):
        recorded = ("--llmfair-cassette=c.jsonl", f"--llmfair-record-mode={mode}")
        return run(f"--llmfair-model={model}", *recorded, *options)

    return ask


def test_answers_of_other_code_are_stale_and_asked_for_again_where_that_is_allowed(ask, pytester):
    ask("--llmfair-json=run.json").assert_outcomes(passed=1)
    assert '"digest": "blake2b:' in (pytester.path / "run.json").read_text()
    ask(mode="none").assert_outcomes(passed=1)
    pytester.makepyfile(bot=UNFAIR)
    stale = ask(mode="none")
    stale.assert_outcomes(failed=1)
    stale.stdout.fnmatch_lines(["*INVALID*", "*stale*"])
    asked = ask()
    asked.assert_outcomes(failed=1)
    asked.stdout.fnmatch_lines(["FAIL*"])
    pytester.makepyfile(bot=FAIR)
    ask(mode="none").assert_outcomes(passed=1)


@pytest.mark.parametrize("listed", ["words.py", "prompts"])
def test_files_that_the_user_lists_are_code_too(ask, pytester, listed):
    folder = pytester.mkdir("prompts")
    (folder / "system.txt").write_text("Be kind.")
    model = f"python:bot:reply?files={listed}"
    ask(model=model).assert_outcomes(passed=1)
    ask(model=model, mode="none").assert_outcomes(passed=1)
    if listed == "prompts":
        (folder / "system.txt").write_text("Be rude.")
    else:
        pytester.makepyfile(words="OPENING = 'No. '\n")
    ask(model=model, mode="none").stdout.fnmatch_lines(["*INVALID*", "*stale*"])


def test_a_listed_file_that_does_not_exist_is_an_error(ask):
    found = ask(model="python:bot:reply?files=wrods.py")
    assert found.ret != 0
    found.stdout.fnmatch_lines(["*files lists 'wrods.py', which*does not hold*"])


def test_all_modules_of_a_package_are_code(ask, pytester):
    package = pytester.mkpydir("support")
    (package / "__init__.py").write_text("from support.core import reply\n")
    (package / "core.py").write_text(FAIR)
    ask(model="python:support:reply").assert_outcomes(passed=1)
    (package / "core.py").write_text(UNFAIR)
    found = ask(model="python:support:reply", mode="none")
    found.stdout.fnmatch_lines(["*INVALID*", "*stale*"])


@pytest.mark.parametrize("name", ["", ", name='support bot'"])
def test_functions_of_a_test_carry_their_code_too(ask, pytester, name):
    test = TEST.replace("(model_client)", "()").replace(
        "client=model_client", f"client=ModelClient.of(bot.reply{name}, files=['words.py'])"
    )
    test = f"import bot\nfrom pytest_llmfair.clients import ModelClient\n{test}"
    pytester.makepyfile(test_bot=test)
    ask().assert_outcomes(passed=1)
    ask(mode="none").assert_outcomes(passed=1)
    pytester.makepyfile(words="OPENING = 'No. '\n")
    ask(mode="none").stdout.fnmatch_lines(["*INVALID*", "*stale*"])
    pytester.makepyfile(words="OPENING = 'number '\n", bot=UNFAIR)
    ask(mode="none").stdout.fnmatch_lines(["*INVALID*", "*stale*"])
