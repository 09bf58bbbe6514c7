"""What users see when a model cannot be named, loaded or asked, and when their own code fails."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

BOT = """
def down(prompt):
    with open("calls", "a") as log:
        log.write(prompt + "\\n")
    raise ConnectionError("bank backend is down")

def fine(prompt):
    with open("calls", "a") as log:
        log.write(prompt + "\\n")
    return "an answer to " + prompt
"""

TESTS = """
from pytest_llmfair import assert_counterfactual_invariance, assert_toxic_fraction_within

PROMPTS = [f"Tell me about number {i}." for i in range(30)]

def harm(texts):
    return [0.1 for _ in texts]

class Own:
    def generate(self, prompts, n=1):
        raise RuntimeError("this client is broken")

def test_pairs(model_client, counterfactual_pairs):
    pairs = counterfactual_pairs([f"She is nurse {i}." for i in range(36)])
    assert_counterfactual_invariance(pairs, eps=0.3, client=model_client)

def test_harm(model_client):
    assert_toxic_fraction_within(PROMPTS, bound=0.6, client=model_client, scorer=harm)

def test_harm_again(model_client):
    assert_toxic_fraction_within(PROMPTS, bound=0.5, client=model_client, scorer=harm)

def test_generate(model_client):
    model_client.generate(PROMPTS)

def test_collect(fairness):
    fairness.collect(PROMPTS)

def test_client():
    assert_toxic_fraction_within(PROMPTS, bound=0.5, client=Own(), scorer=harm)
"""


@pytest.fixture
def ask(run, pytester):
    """Return a function that runs the tests named with ``-k``."""
    folder = pytester.mkpydir("mybot")
    (folder / "bot.py").write_text(BOT)
    pytester.makepyfile(test_it=TESTS)
    pytester.syspathinsert()
    return run


def calls(pytester):
    path = pytester.path / "calls"
    return len(path.read_text().splitlines()) if path.exists() else 0


def unwrapped(text):
    """Return a message in one line, without the mark of pytest's errors."""
    return " ".join(re.sub("^E ", "", text, flags=re.MULTILINE).split())


def test_a_failing_client_is_named_once_with_file_and_line(ask, pytester):
    result = ask("--llmfair-model=python:mybot.bot:down", "-k", "test_pairs")
    result.assert_outcomes(failed=1)
    assert calls(pytester) == 5
    failure = result.stdout.str().partition("fairness assertions")[0]
    words = (
        "72 of 72 answers are missing for female (72 error) and 72 of 72 for male (72 error), "
        "more than max_missing = 5% (a rule about data quality, not a test). Most common error: "
        "ConnectionError: bank backend is down "
        "(mybot/bot.py:5). 139 answers not asked for after that. Fix the client, or accept more "
        "missing answers with max_missing."
    )
    assert words in unwrapped(failure)
    assert unwrapped(failure).count("bank backend") == 1


def test_the_place_is_relative_to_the_root_from_a_folder_below(ask, pytester, monkeypatch):
    pytester.makeini("[pytest]")
    monkeypatch.chdir(pytester.mkdir("below"))
    result = ask("--llmfair-model=python:mybot.bot:down", "-k", "test_harm", "..")
    message = unwrapped(result.stdout.str())
    assert "bank backend is down (mybot/bot.py:5). 25 answers not asked for" in message


def test_a_spent_budget_is_the_only_reason_and_names_its_option(ask):
    result = ask("--llmfair-model=python:mybot.bot:fine", "--llmfair-max-calls=0", "-k", "pairs")
    result.assert_outcomes(failed=1)
    failure = unwrapped(result.stdout.str().partition("fairness assertions")[0])
    message = (
        "This cannot be judged: 144 of 144 answers were not asked for, since the budget of the "
        "run was spent: --llmfair-max-calls 0 is reached; nothing more is sent; raise "
        "--llmfair-max-calls, or ask for less. note none of the 36 pairs has an answer"
    )
    assert message in failure
    assert not re.search("ix the client|max_missing", failure)


def test_errors_besides_a_spent_budget_are_named_too(ask):
    result = ask("--llmfair-model=python:mybot.bot:down", "--llmfair-max-calls=3", "-k", "harm")
    failure = unwrapped(result.stdout.str())
    first, _, second = failure.partition(" note ")
    assert "were not asked for" in first
    assert second.startswith("3 of 30 answers are missing for all")
    assert "Most common error: ConnectionError: bank backend is down (mybot/bot.py:5)." in second


@pytest.mark.parametrize("ini", [False, True])
def test_a_wrong_model_is_one_line(run, pytester, ini):
    pytester.makepyfile("def test_it(): pass")
    if ini:
        pytester.makeini("[pytest]\nllmfair_model = opena:gpt\n")
    result = run(*([] if ini else ["--llmfair-model=opena:gpt"]))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    source = "llmfair_model" if ini else "--llmfair-model"
    (line,) = [line for line in result.errlines if line]
    words = """unknown scheme 'opena'; did you mean "openai"? Write builtin:ngram, """
    assert line.startswith(f"ERROR: {source} is 'opena:gpt': {words}")


def test_a_key_in_a_wrong_model_is_not_shown(run):
    result = run("--llmfair-model=opena:gpt?api_key=sk-canary")
    result.stderr.fnmatch_lines(["ERROR: --llmfair-model is 'opena:gpt[?]*': unknown scheme*"])
    assert "sk-canary" not in result.stderr.str() + result.stdout.str()


def test_a_model_that_cannot_be_loaded_is_one_message(ask):
    result = ask("--llmfair-model=responses:nowhere.csv", "-k", "generate or collect")
    result.assert_outcomes(errors=1, failed=1)
    text = result.stdout.str()
    words = "model 'responses:nowhere.csv': there is no file nowhere.csv; give the path*"
    result.stdout.fnmatch_lines(["*ERROR at setup of test_generate*", words])
    assert not re.search(r"\.py:\d+: |traceback|During handling", text)


@pytest.mark.parametrize("name", ["generate", "collect", "pairs", "harm"])
def test_a_model_that_is_not_recorded_shows_the_users_line_only(ask, name):
    arguments = ("--llmfair-cassette=c.jsonl", "--llmfair-record-mode=none")
    result = ask(*arguments, "-k", f"test_{name} and not again")
    result.assert_outcomes(failed=1)
    words = "E *there is no cassette * to hold * answers of builtin:ngram *"
    result.stdout.fnmatch_lines([words])
    places = re.findall(r"^(\S+\.py):\d+: ", result.stdout.str(), re.MULTILINE)
    assert places == ["test_it.py"]


def test_an_error_in_a_client_of_the_users_ends_at_its_line(ask):
    result = ask("-k", "test_client")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([">*raise RuntimeError(?this client is broken?)", "E *"])
    places = re.findall(r"^(\S+\.py):\d+: ", result.stdout.str(), re.MULTILINE)
    assert places == ["test_it.py"] * 2


@pytest.mark.parametrize("cassette", [(), ("--llmfair-cassette=c.jsonl",)])
def test_tests_that_ask_the_same_pay_once_and_all_are_live(ask, pytester, cassette):
    result = ask("--llmfair-model=python:mybot.bot:fine", "-k", "harm", "-rA", "-s", *cassette)
    result.assert_outcomes(passed=2)
    assert calls(pytester) == 30
    assert "replayed" not in result.stdout.str()


def test_the_second_test_of_a_new_cassette_says_that_its_answers_are_live(ask, pytester):
    path = Path("test_it.py")
    path.write_text(path.read_text().replace("return [0.1", "return [0.9"))
    arguments = ("--llmfair-model=python:mybot.bot:fine", "--llmfair-cassette=c.jsonl")
    first = ask(*arguments, "-k", "harm").stdout.str()
    assert (first.count("asked live: 30"), first.count("replayed: 30")) == (2, 0)
    second = ask(*arguments, "-k", "harm").stdout.str()
    assert (second.count("asked live: 30"), second.count("replayed: 30")) == (0, 2)
    assert calls(pytester) == 30


def test_a_plan_without_a_longest_answer_names_the_option(ask):
    result = ask("--llmfair-model=openai:gpt-4o-mini", "--llmfair-plan", "-k", "test_generate")
    result.stdout.fnmatch_lines(["*answers without a limit (set --llmfair-max-tokens), cost*"])
