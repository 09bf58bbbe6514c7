"""`llmfair cassette stats|verify|prune|merge`."""

from __future__ import annotations

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


def prompts(path):
    found = Cassette(path)
    found.refresh()
    return [
        (record.question.model["model"], record.question.request.prompt)
        for record in found.records()
    ]


def test_stats_say_what_is_in_it(cassette, capsys):
    assert main(["cassette", "stats", str(cassette)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{cassette}: 4 answers, {cassette.stat().st_size:,} bytes"
    assert [" ".join(line.split()) for line in lines[1:]] == [
        "1 hf:tiny (revision abc)",
        "3 openai:gpt-4o",
        "1 missing: refused",
        "3 different prompts",
        f"recorded {TODAY - timedelta(100)} to {TODAY}",
        "tokens 12 of prompts, 16 of answers, as counted",
    ]


def test_stats_count_what_is_damaged_or_superseded(cassette, capsys):
    Cassette(cassette).put([record("one", "another answer")])
    cassette.write_bytes(cassette.read_bytes() + b"nonsense\n")
    assert main(["cassette", "stats", str(cassette)]) == 0
    said = capsys.readouterr().out
    assert "4 answers" in said
    assert "1 older answers to the same questions; prune removes them" in said
    assert "1 damaged lines; verify names them" in said


def test_a_whole_cassette_is_verified(cassette, capsys):
    assert main(["cassette", "verify", str(cassette)]) == 0
    assert capsys.readouterr().out == f"{cassette}: every line is whole\n"


def test_verify_names_every_damaged_line(cassette, capsys):
    lines = cassette.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"refused", b"answers")
    lines[3] = lines[3][:50]
    cassette.write_bytes(b"".join(lines))
    assert main(["cassette", "verify", str(cassette)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{cassette}:2: is not what was written (its checksum differs)",
        f"{cassette}:4: is not a record, or only a part of one",
    ]


def test_a_file_that_is_not_there_is_an_error(tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["cassette", "stats", str(tmp_path / "nowhere.jsonl")])
    assert caught.value.code == 2
    assert "there is no file" in (said := capsys.readouterr().err)
    assert "nowhere.jsonl" in said


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
def test_prune_removes_what_is_named(cassette, options, kept):
    assert main(["cassette", "prune", str(cassette), *options]) == 0
    assert prompts(cassette) == kept


def test_prune_removes_what_a_run_did_not_use(cassette, tmp_path, capsys):
    used = tmp_path / "used"
    used.write_text(f"{record('two').key}\n{record('one', model=TINY).key}\n")
    assert main(["cassette", "prune", "--used", str(used), str(cassette)]) == 0
    assert prompts(cassette) == [("gpt-4o", "two"), ("tiny", "one")]
    assert capsys.readouterr().out == f"{cassette}: 2 answers removed, 2 answers kept\n"


def test_prune_always_removes_damaged_and_older_lines(cassette, capsys):
    Cassette(cassette).put([record("one", "another answer")])
    cassette.write_bytes(b"nonsense\n" + cassette.read_bytes())
    assert main(["cassette", "prune", str(cassette)]) == 0
    assert "1 damaged lines, 1 older answers to the same questions removed" in (
        capsys.readouterr().out
    )
    assert main(["cassette", "verify", str(cassette)]) == 0
    found = Cassette(cassette)
    found.refresh()
    held = found.get(record("one").key)
    assert held is not None
    assert held[0].reply.answer == "another answer"


def test_a_dry_run_changes_nothing(cassette, capsys):
    before = cassette.read_bytes()
    assert main(["cassette", "prune", "--dry-run", "--older-than=99", str(cassette)]) == 0
    assert "1 answers would be removed, 3 answers kept" in capsys.readouterr().out
    assert cassette.read_bytes() == before


def test_prune_leaves_no_file_beside_it(cassette):
    main(["cassette", "prune", "--older-than=99", str(cassette)])
    assert [path.name for path in cassette.parent.iterdir()] == ["c.jsonl"]


def test_merge_writes_the_answers_of_all(cassette, tmp_path, capsys):
    Cassette(tmp_path / "d.jsonl").put([record("one"), record("four")])
    target = tmp_path / "all.jsonl"
    assert main(["cassette", "merge", str(target), str(cassette), str(tmp_path / "d.jsonl")]) == 0
    assert capsys.readouterr().out == f"{target}: 5 answers of 2 files\n"
    assert len(prompts(target)) == 5


def test_merge_refuses_two_answers_to_one_question(cassette, tmp_path, capsys):
    other, target = tmp_path / "d.jsonl", tmp_path / "all.jsonl"
    Cassette(other).put([record("four"), record("one", "another answer")])
    assert main(["cassette", "merge", str(target), str(cassette), str(other)]) == 1
    said = capsys.readouterr().out
    assert f"{other}:2: another answer than {cassette}:1 to the same question ('one'" in said
    assert "nothing was written" in said
    assert not target.exists()


def test_merge_takes_an_answer_before_a_failure_of_the_moment(cassette, tmp_path):
    failed, target = tmp_path / "d.jsonl", tmp_path / "all.jsonl"
    Cassette(failed).put([record("one", Missing("timeout")), record("five", Missing("timeout"))])
    assert main(["cassette", "merge", str(target), str(failed), str(cassette)]) == 0
    found = Cassette(target)
    found.refresh()
    answers = {
        record.question.request.prompt: record.reply.answer
        for record in found.records()
        if record.question.model == GPT
    }
    assert answers["one"] == "an answer"
    assert answers["five"] == Missing("timeout")


def test_merge_writes_over_no_file(cassette, tmp_path, capsys):
    target = tmp_path / "all.jsonl"
    target.write_text("mine")
    assert main(["cassette", "merge", str(target), str(cassette)]) == 1
    assert "exists; name a new file" in capsys.readouterr().out
    assert target.read_text() == "mine"


def test_merge_names_damaged_lines(cassette, tmp_path, capsys):
    cassette.write_bytes(cassette.read_bytes() + b"nonsense\n")
    assert main(["cassette", "merge", str(tmp_path / "all.jsonl"), str(cassette)]) == 1
    assert f"{cassette}:5: is not a record" in capsys.readouterr().out
