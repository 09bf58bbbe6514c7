from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

import pytest_llmfair.assertions

# What cannot be imported twice is imported before the first session in the session.
LOADED = (pytest_llmfair.assertions,)

ASK = """
def test_asks(model_client):
    rows = model_client.generate([f"prompt {i}" for i in range(200)])
    print([getattr(answer, "reason", answer) for row in rows for answer in row])
"""
NOISE = (b"never retrieved", b"was destroyed", b"never awaited", b"INTERNALERROR")


def test_the_time_out_of_the_session_holds(server, pytester, session):
    pytester.makepyfile(ASK.replace("200", "3"))
    result = session("--llmfair-model=openai:stall", "--llmfair-timeout=0.2", "-rP")
    result.stdout.fnmatch_lines(["*'timeout', 'timeout', 'timeout'*"])


def test_the_limit_of_the_command_line_is_a_limit_that_was_asked_for(server, pytester, session):
    pytester.makepyfile(ASK.replace("200", "1"))
    for more, said in (((), "length"), (("--llmfair-max-tokens=64",), "half an ans")):
        result = session("--llmfair-model=openai:length", "-rP", *more)
        result.stdout.fnmatch_lines([f"*'{said}'*"])


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_ended_in_the_middle_asks_only_for_the_rest_the_next_time(
    server, pytester, session, end: signal.Signals
):
    pytester.makepyfile(ASK)
    options = ("--llmfair-model=openai:wait-0.1?concurrency=8", "--llmfair-cassette=said.jsonl")
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "llmfair", "-p", "no:cacheprovider", *options],
        cwd=pytester.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        # A runner such as nohup ignores SIGINT, and its children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as program:
        asked: list[str] = []
        while len(asked) < 40:
            time.sleep(0.01)
            asked += prompts(server)
        program.send_signal(end)
        said, _ = program.communicate(timeout=30)
    assert program.returncode == (2 if end == signal.SIGINT else -9)
    assert not [words for words in NOISE if words in said]
    asked += prompts(server)
    # The one that was being kept when the signal came may be kept once more.
    kept = len(set((pytester.path / "said.jsonl").read_text().splitlines()))
    # The others were in flight.
    assert len(asked) - 8 <= kept <= len(asked)
    session(*options, "--llmfair-record-mode=new").assert_outcomes(passed=1)
    rest = prompts(server)
    assert len(rest) == len(set(rest)) == 200 - kept
    assert len(set(asked) & set(rest)) <= 8


@pytest.mark.parametrize("mode", ["hostile", "huge"])
def test_hostile_answers_break_no_report(server, pytester, session, mode: str):
    pytester.makepyfile(
        "from pytest_llmfair import assert_counterfactual_invariance\n"
        "def test_it(model_client, counterfactual_pairs):\n"
        "    pairs = counterfactual_pairs(['She is a nurse.', 'He sings.'])\n"
        "    assert_counterfactual_invariance(\n"
        "        pairs, 0.5, client=model_client, generations=1, mode='strict')\n"
    )
    reports = ["--llmfair-json=run.json", "--llmfair-html=run.html", "--junitxml=junit.xml"]
    result = session(f"--llmfair-model=openai:{mode}", "--llmfair-show-text=worst", *reports)
    said = str(result.stdout)
    assert result.ret == pytest.ExitCode.TESTS_FAILED, said
    assert not [character for character in "\x1b\x00\x07\ud83d" if character in said]
    assert len(said) < 100_000
    json.loads((pytester.path / "run.json").read_text(encoding="utf-8"))
    assert "<script>alert" not in (pytester.path / "run.html").read_text(encoding="utf-8")


def prompts(server: Any) -> list[str]:
    return [asked["body"]["messages"][0]["content"] for asked in server.asked()]


def test_a_message_says_live_or_replayed_and_counts_cut_answers(server, pytester, session):
    pytester.makepyfile(
        "from pytest_llmfair import assert_counterfactual_rouge_l_at_least\n"
        "def test_it(model_client, counterfactual_pairs):\n"
        "    pairs = counterfactual_pairs([f'She is nurse {i}.' for i in range(30)])\n"
        "    assert_counterfactual_rouge_l_at_least(\n"
        "        pairs, minimum=0.5, client=model_client, mode='strict')\n"
    )
    options = ("--llmfair-model=openai:length?max_tokens=9", "--llmfair-cassette=c.jsonl")
    said = {}
    for name in ("live", "replayed"):
        report = (f"--llmfair-json={name}.json", "--llmfair-json-context=no")
        result = session(*options, *report)
        result.stdout.fnmatch_lines([f"*  model  *{name}: *"])
        result.stdout.fnmatch_lines(["*120 of 120 answers were cut at the length limit*"])
        said[name] = (pytester.path / f"{name}.json").read_bytes()
    assert said["live"] == said["replayed"]
    (record,) = json.loads(said["live"])["results"]
    assert (record["cut"], record["missing"]) == ({"length": 120}, {})
