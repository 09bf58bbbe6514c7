from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_llmfair._util.printing import standard_error
from pytest_llmfair.clients import Missing
from pytest_llmfair.clients.protocol import Reply
from pytest_llmfair.clients.requests import Progress

TEST = """
import time

from pytest_llmfair._util.printing import step_by_step
from pytest_llmfair.clients import ModelClient

def slow(prompt):
    time.sleep(0.3)
    return prompt

def test_sleeps():
    time.sleep(1)

def test_asks():
    for task in step_by_step("task", ["a", "b"]):
        if task == "a":
            time.sleep(1)
        else:
            ModelClient.of(slow, name="slow").generate(["a"], 6)
"""
LINE = re.compile(
    r"slow: [3-6] of 6 answers, [1-3]\.\d+/s, 0:0\d left, task 2/2 \(about 0:0[1-5]\), "
    r"test 2/2 \(about 0:0[1-5]\)"
)


def test_the_line_shows_calls_recorded_failed_cost_and_time_left():
    clock = [0.0]
    shown: list[str] = []
    price = 0.25
    with Progress("m", 100, 20, shown.append, lambda reply: price, lambda: clock[0]) as progress:
        for second in range(1, 41):
            clock[0] = float(second)
            failed = second % 4 == 0
            answer = Missing("timeout") if failed else "x"
            progress.add([Reply(answer, attempts=3 if failed else 1)])
        assert progress.line().startswith(
            "m: 60 of 100 answers, 60 calls, 20 recorded, 10 failed, $10.0000, 1/s, 0:40 left"
        )
    assert len(shown) == 41
    assert shown[-1] == "\r\x1b[2K"


def test_a_quick_call_shows_nothing():
    clock = [0.0]
    with Progress("m", 9, 0, pytest.fail, clock=lambda: clock[0]) as progress:
        for _ in range(9):
            clock[0] += 0.1
            progress.add([Reply("x")])


def test_the_line_is_not_drawn_more_often_than_it_can_be_read():
    clock = [0.0]
    shown: list[str] = []
    with Progress("m", 500, 0, shown.append, clock=lambda: clock[0]) as progress:
        for _ in range(500):
            clock[0] += 0.01
            progress.add([Reply("x")])
    assert len(shown) <= 22


def on_terminal(folder: Path, **environment: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "llmfair", "-p", "no:cacheprovider"]
    ours, theirs = pty.openpty()
    names = ("CI", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT")
    variables = {name: value for name, value in os.environ.items() if name not in names}
    variables["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with subprocess.Popen(
        command, cwd=folder, stdout=theirs, stderr=theirs, env={**variables, **environment}
    ) as program:
        os.close(theirs)
        said = b""
        try:
            while data := os.read(ours, 65536):
                said += data
        except OSError:  # the terminal of a program that has ended
            pass
        os.close(ours)
    assert program.returncode == 0, said
    return said.decode()


@pytest.mark.slow
def test_a_terminal_shows_the_line_past_the_capture_and_removes_it(tmp_path: Path):
    (tmp_path / "test_it.py").write_text(TEST)
    said = on_terminal(tmp_path, COLUMNS="120")
    assert LINE.search(said)
    last = said[LINE.search(said).end() :]  # type: ignore[union-attr]
    assert "\r\x1b[2K" in last
    assert "2 passed" in last


def test_a_log_of_ci_shows_nothing(tmp_path: Path):
    (tmp_path / "test_it.py").write_text(TEST)
    assert "answers" not in on_terminal(tmp_path, CI="true")


def test_without_a_terminal_nothing_is_shown(capfd):
    assert not sys.stderr.isatty()
    assert standard_error() is None


SCORING = """
import time

from pytest_llmfair._util.printing import counted

def test_scores():
    for batch in counted([["a", "b"]] * 6, 12, "scoring"):
        time.sleep(0.3)
"""


@pytest.mark.slow
def test_long_scoring_is_shown_on_a_terminal_and_removed(tmp_path: Path):
    (tmp_path / "test_it.py").write_text(SCORING)
    said = on_terminal(tmp_path)
    line = re.search(r"scoring: (8|10|12) of 12 texts, 0:0\d left", said)
    assert line
    assert "\r\x1b[2K" in said[line.end() :]
    assert "of 12 texts" not in on_terminal(tmp_path, CI="true")
