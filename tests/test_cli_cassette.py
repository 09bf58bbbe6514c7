"""`llmfair cassette stats|verify|prune|merge`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from pytest_llmfair.cli import main
from pytest_llmfair.clients import Missing, Request
from pytest_llmfair.clients.cassette.record import Question, Record
from pytest_llmfair.clients.cassette.store import Cassette
from pytest_llmfair.clients.protocol import Reply

GPT = {"provider": "openai", "model": "gpt-4o"}
TINY = {"provider": "hf", "model": "tiny", "revision": "abc"}
TODAY = datetime.now(UTC).date()


def record(prompt, answer="an answer", model=GPT, day=TODAY):
    return Record.of(Question(model, Request(prompt, 1), 1.0, 20), Reply(answer, 3, 4), day)


@pytest.fixture
def cassette(tmp_path):
    """Return a cassette with answers of two models."""
    path = tmp_path / "c.jsonl"
    Cassette(path).put(
        [
            record("one"),
            record("two", Missing("refused")),
            record("three", day=TODAY - timedelta(100)),
            record("one", model=TINY),
        ]
    )
    return path


@pytest.fixture
def llmfair(capsys):
    """Return a function that runs `llmfair cassette` and returns its status and output."""

    def llmfair(*arguments):
        return main(["cassette", *map(str, arguments)]), capsys.readouterr().out

    return llmfair


def records(path):
    found = Cassette(path)
    found.refresh()
    return list(found.records())


def prompts(path):
    """Return model and prompt of every record."""
    return [(r.question.model["model"], r.question.request.prompt) for r in records(path)]


def answers(path):
    """Return the answers of GPT by prompt."""
    return {
        r.question.request.prompt: r.reply.answer for r in records(path) if r.question.model == GPT
    }


def test_stats_say_what_is_in_it(cassette, llmfair):
    status, text = llmfair("stats", cassette)
    lines = text.splitlines()
    assert status == 0
    assert lines[0] == f"{cassette}: 4 answers, {cassette.stat().st_size:,} bytes"
    assert [" ".join(line.split()) for line in lines[1:]] == [
        "1 hf:tiny (revision abc)",
        "3 openai:gpt-4o",
        "1 missing: refused",
        "3 different prompts",
        f"recorded {TODAY - timedelta(100)} to {TODAY}",
        "tokens 12 of prompts, 16 of answers, as counted",
    ]


def test_stats_count_what_is_damaged_or_superseded_and_prune_removes_it(cassette, llmfair):
    Cassette(cassette).put([record("one", "another answer")])
    cassette.write_bytes(b"nonsense\n" + cassette.read_bytes())
    status, text = llmfair("stats", cassette)
    assert status == 0
    assert "4 answers" in text
    assert "1 older answers to the same questions; prune removes them" in text
    assert "1 damaged lines; verify names them" in text
    status, text = llmfair("prune", cassette)
    assert status == 0
    assert "1 damaged lines, 1 older answers to the same questions removed" in text
    assert llmfair("verify", cassette)[0] == 0
    assert answers(cassette)["one"] == "another answer"


def test_verify_names_every_damaged_line(cassette, llmfair):
    assert llmfair("verify", cassette) == (0, f"{cassette}: every line is whole\n")
    lines = cassette.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"refused", b"answers")
    lines[3] = lines[3][:50]
    cassette.write_bytes(b"".join(lines))
    status, text = llmfair("verify", cassette)
    assert status == 1
    assert text.splitlines() == [
        f"{cassette}:2: was changed after it was written (its checksum differs)",
        f"{cassette}:4: is not a record, or only a part of one",
    ]


def test_a_file_that_does_not_exist_is_an_error(tmp_path, refused):
    said = refused("cassette", "stats", str(tmp_path / "nowhere.jsonl"))
    assert re.search(r"there is no file .*nowhere\.jsonl", said)


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ([], [("gpt-4o", "one"), ("gpt-4o", "two"), ("gpt-4o", "three"), ("tiny", "one")]),
        (["--older-than=99"], [("gpt-4o", "one"), ("gpt-4o", "two"), ("tiny", "one")]),
        (["--model=openai:gpt-4o"], [("tiny", "one")]),
        (["--model=gpt-4o"], [("tiny", "one")]),
        (["--revision=abc"], [("gpt-4o", "one"), ("gpt-4o", "two"), ("gpt-4o", "three")]),
    ],
)
def test_prune_removes_what_is_named(cassette, llmfair, options, kept):
    before = cassette.read_bytes()
    status, text = llmfair("prune", "--dry-run", cassette, *options)
    assert (status, cassette.read_bytes()) == (0, before)
    assert f"{len(kept)} answers kept" in text
    assert llmfair("prune", cassette, *options)[0] == 0
    assert prompts(cassette) == kept
    assert [path.name for path in cassette.parent.iterdir()] == ["c.jsonl"]


def test_prune_removes_what_a_run_did_not_use(cassette, tmp_path, llmfair):
    used = tmp_path / "used"
    used.write_text(f"{record('two').key}\n{record('one', model=TINY).key}\n")
    assert llmfair("prune", "--used", used, cassette) == (
        0,
        f"{cassette}: 2 answers removed, 2 answers kept\n",
    )
    assert prompts(cassette) == [("gpt-4o", "two"), ("tiny", "one")]


def test_merge_writes_the_answers_of_all(cassette, tmp_path, llmfair):
    Cassette(tmp_path / "d.jsonl").put([record("one"), record("four")])
    target = tmp_path / "all.jsonl"
    assert llmfair("merge", target, cassette, tmp_path / "d.jsonl") == (
        0,
        f"{target}: 5 answers of 2 files\n",
    )
    assert len(prompts(target)) == 5


def test_merge_takes_an_answer_before_a_failure_of_the_moment(cassette, tmp_path, llmfair):
    failed, target = tmp_path / "d.jsonl", tmp_path / "all.jsonl"
    Cassette(failed).put([record("one", Missing("timeout")), record("five", Missing("timeout"))])
    assert llmfair("merge", target, failed, cassette)[0] == 0
    assert answers(target)["one"] == "an answer"
    assert answers(target)["five"] == Missing("timeout")


def test_merge_refuses_two_answers_to_one_question(cassette, tmp_path, llmfair):
    other, target = tmp_path / "d.jsonl", tmp_path / "all.jsonl"
    Cassette(other).put([record("four"), record("one", "another answer")])
    status, text = llmfair("merge", target, cassette, other)
    assert status == 1
    assert f"{other}:2: another answer than {cassette}:1 to the same question ('one'" in text
    assert "nothing was written" in text
    assert not target.exists()


def test_merge_writes_over_no_file_and_names_damaged_lines(cassette, tmp_path, llmfair):
    taken = tmp_path / "taken.jsonl"
    taken.write_text("mine")
    status, text = llmfair("merge", taken, cassette)
    assert status == 1
    assert "exists; name a new file" in text
    assert taken.read_text() == "mine"
    cassette.write_bytes(cassette.read_bytes() + b"nonsense\n")
    status, text = llmfair("merge", tmp_path / "all.jsonl", cassette)
    assert status == 1
    assert f"{cassette}:5: is not a record" in text
