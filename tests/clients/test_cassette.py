"""Recorded answers in a file: what is written, found again, damaged and repaired."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tracemalloc
import warnings
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.clients import Missing, Request
from pytest_llmfair.clients.cassette.record import DamagedRecord, Question, Record, key_of
from pytest_llmfair.clients.cassette.store import Cassette, CassetteWarning
from pytest_llmfair.clients.protocol import Reply
from pytest_llmfair.responses import DigestedText

MODEL = {"provider": "openai", "model": "gpt-4o", "revision": "r1"}
DAY = date(2026, 1, 31)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the cassette of a test is."""
    return tmp_path / "c.jsonl"


def question(prompt: str = "Hello", repeat: str = "0.0", **other: object) -> Question:
    given = {"model": MODEL, "temperature": 1.0, "max_tokens": 20, "seed": 5, **other}
    request = Request(prompt, given["seed"], repeat)  # type: ignore[arg-type]
    return Question(given["model"], request, given["temperature"], given["max_tokens"])  # type: ignore[arg-type]


def record(prompt: str = "Hello", answer: str | Missing = "Hi", repeat: str = "0.0") -> Record:
    return Record.of(question(prompt, repeat), Reply(answer, 3, 4), DAY)


def filled(path: Path, count: int = 5) -> Cassette:
    cassette = Cassette(path)
    cassette.put([record(f"prompt {i}", f"answer {i}") for i in range(count)])
    return cassette


def test_what_is_put_is_found_again_by_another_reader(path: Path) -> None:
    filled(path)
    other = Cassette(path)
    other.refresh()
    found = other.get(question("prompt 3").key)
    assert found is not None
    assert found[0].reply == Reply("answer 3", 3, 4, 0)
    assert found[0].question == question("prompt 3")
    assert found[0].day == DAY


def test_a_line_begins_with_prompt_and_answer(tmp_path: Path) -> None:
    line = record("Hello", "Hi").line()
    assert line.startswith(b'{"prompt":"Hello","answer":"Hi","model":{"provider":"openai"')
    assert list(json.loads(line)) == [
        "prompt",
        "answer",
        "model",
        "temperature",
        "max_tokens",
        "seed",
        "repeat",
        "tokens",
        "day",
        "schema",
        "key",
        "sum",
    ]


@given(prompt=st.text(), answer=st.text(), detail=st.text(), missing=st.booleans())
def test_any_text_makes_one_line_that_reads_back(
    prompt: str, answer: str, detail: str, missing: bool
) -> None:
    made = record(prompt, Missing("refused", detail) if missing else answer)
    line = made.line()
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert len(line.decode("utf-8").splitlines()) == 1
    key_of(line[:-1])
    assert Record.read(line[:-1]).reply.answer == made.reply.answer
    assert Record.read(line[:-1]).question.request.prompt == prompt


def test_nothing_that_cannot_be_seen_is_written_raw() -> None:
    hostile = "\x1b[31m\x00\u202e\u2028\ud800\x9b ü 漢"
    text = record(hostile, hostile).line().decode("utf-8").rstrip("\n")
    assert text.isprintable()
    assert "ü 漢" in text


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_any_changed_byte_is_noticed(place: int, change: int) -> None:
    line = bytearray(record("Hello", "Hi").line()[:-1])
    line[place % len(line)] ^= change
    with pytest.raises(DamagedRecord):
        key_of(bytes(line))


def test_key_depends_on_everything_that_the_answer_depends_on() -> None:
    changed = [
        question("Another"),
        question(repeat="0.1"),
        question(seed=6),
        question(temperature=0.5),
        question(max_tokens=None),
        question(model={**MODEL, "model": "gpt-4o-mini"}),
        question(model={**MODEL, "revision": "r2"}),
        question(model={**MODEL, "provider": "azure"}),
    ]
    keys = {one.key for one in [question(), *changed]}
    assert len(keys) == 1 + len(changed)
    assert question(temperature=1).key == question(temperature=1.0).key


def test_key_is_the_digest_of_canonical_json() -> None:
    content = {
        "schema": 1,
        "model": MODEL,
        "messages": [{"role": "user", "content": "Hello"}],
        "temperature": 1.0,
        "max_tokens": 20,
        "seed": 5,
        "repeat": "0.0",
        "first_token": False,
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    assert question().key == hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def test_the_last_of_several_answers_counts(tmp_path: Path) -> None:
    cassette = Cassette(tmp_path / "c.jsonl")
    cassette.put([record(answer="first")])
    cassette.put([record(answer="second")])
    found = cassette.get(question().key)
    assert found is not None
    assert found[0].reply.answer == "second"
    assert len(cassette) == 1


def test_folder_and_file_are_made_when_something_is_recorded(tmp_path: Path) -> None:
    cassette = Cassette(tmp_path / "deep" / "c.jsonl")
    cassette.refresh()
    assert list(tmp_path.iterdir()) == []
    cassette.put([record()])
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["c.jsonl"]


def test_a_damaged_line_costs_only_itself_and_is_named_once(path: Path) -> None:
    filled(path)
    path.write_bytes(path.read_bytes().replace(b"answer 2", b"answer X"))
    cassette = Cassette(path)
    with pytest.warns(CassetteWarning) as caught:
        cassette.refresh()
    assert [str(w.message).partition(": ")[0] for w in caught] == [f"{path}:3"]
    found = [cassette.get(question(f"prompt {i}").key) is not None for i in range(5)]
    assert found == [True, True, False, True, True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cassette.refresh()
        cassette.put([record("more")])


def test_a_line_that_is_whole_and_no_record_is_named_by_its_number(path: Path) -> None:
    from pytest_llmfair.clients.cassette.record import sealed

    filled(path, 2)
    with path.open("ab") as file:
        file.write(sealed({"prompt": "x", "schema": 99}, question("other").key))
    cassette = Cassette(path)
    cassette.refresh()
    with pytest.warns(CassetteWarning, match=r"c\.jsonl:3: is not a recorded answer .*schema 99"):
        assert cassette.get(question("other").key) is None


@pytest.mark.parametrize(
    "content",
    [
        *('{"prompt":' + "[" * 100_000, '{"schema":1,"seed":' + "9" * 5000),
        *('{"scorer":"a"', '{"scorer":' + "[" * 100_000, '{"schema":1,"model":1,"tokens":{}'),
    ],
    ids=["deep answer", "long number", "short score", "deep score", "wrong types"],
)
def test_a_sealed_line_of_a_wrong_type_or_depth_is_skipped(tmp_path: Path, content: str) -> None:
    path, key = tmp_path / "c.jsonl", question().key
    body = f'{content},"key":"{key}"'.encode()
    seal = hashlib.blake2b(body, digest_size=8).hexdigest()
    path.write_bytes(body + f',"sum":"{seal}"}}\n'.encode())
    cassette = Cassette(path)
    cassette.refresh()
    for read in (cassette.score, cassette.get) if "scorer" in content else (cassette.get,):
        with pytest.warns(CassetteWarning, match=r"c\.jsonl:1: is not a recorded"):
            assert read(key) is None


@pytest.mark.parametrize("cut", [1, 30, 150])
def test_a_torn_last_line_is_skipped_and_repaired_by_the_next_recording(
    path: Path, cut: int
) -> None:
    filled(path, 3)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    cassette = Cassette(path)
    if cut == 1:
        # All but the end of the line is there: nothing is lost.
        cassette.refresh()
    else:
        with pytest.warns(CassetteWarning, match=r"c\.jsonl:3: .*next recording removes it"):
            cassette.refresh()
    assert len(cassette) == (3 if cut == 1 else 2)
    cassette.put([record("prompt 2", "answer 2")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = Cassette(path)
        again.refresh()
    assert len(again) == 3
    assert path.read_bytes().startswith(b"".join(whole.splitlines(keepends=True)[:2]))


@pytest.mark.parametrize("first", [b"<<<<<<< HEAD\n", b"\xef\xbb\xbf"])
def test_a_foreign_beginning_costs_no_other_record(path: Path, first: bytes) -> None:
    written = Cassette(path)
    written.put([record(f"prompt {i}", f"answer {i}") for i in range(3)])
    path.write_bytes(first + path.read_bytes())
    found = Cassette(path)
    with pytest.warns(CassetteWarning, match=r"c\.jsonl:1: "):
        found.refresh()
    found.put([record("prompt 3", "answer 3")])
    assert len(found) == (4 if first.endswith(b"\n") else 3)


@pytest.mark.parametrize("place", [0, 100, -2, -30])
def test_the_only_record_may_be_damaged(path: Path, place: int) -> None:
    Cassette(path).put([record("prompt 0", "answer 0")])
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    cassette = Cassette(path)
    with pytest.warns(CassetteWarning, match=r"c\.jsonl:1: "):
        cassette.refresh()
    cassette.prepare()
    cassette.put([record("prompt 0", "answer 0")])
    assert len(cassette) == 1


@pytest.mark.parametrize(
    "text", ['{"a": 1}\n', '{"prompt": "a", "answer": "b"}\n', '{"prompt":"a"}', "a,b\n1,2\n", "x"]
)
def test_data_of_the_user_are_not_a_cassette(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(text)
    cassette = Cassette(path)
    with pytest.warns(CassetteWarning):
        cassette.refresh()
    for write in (cassette.prepare, lambda: cassette.put([record("prompt", "answer")])):
        with pytest.raises(ValueError, match="none of its lines is a recorded answer"):
            write()
    assert path.read_text() == text


def test_a_cassette_that_cannot_be_written_is_an_early_error(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"cannot be recorded in .*, so nothing is asked; name"):
        Cassette(tmp_path / "file" / "c.jsonl").prepare()
    Cassette(tmp_path / "new" / "c.jsonl").prepare()
    assert list((tmp_path / "new").iterdir()) == []


def test_a_file_of_another_kind_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "test_it.py"
    path.write_text("def test_it(): pass")
    cassette = Cassette(path)
    with pytest.raises(ValueError, match=r"test_it\.py is not a cassette"):
        cassette.put([record()])
    assert path.read_text() == "def test_it(): pass"


def test_line_ends_of_another_system_do_no_damage(path: Path) -> None:
    filled(path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    cassette = Cassette(path)
    cassette.refresh()
    assert len(cassette) == 5


def test_what_another_process_appends_is_found(path: Path) -> None:
    one, other = Cassette(path), Cassette(path)
    one.put([record("a")])
    other.put([record("b")])
    one.refresh()
    assert one.get(question("b").key) is not None


def test_a_replaced_file_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    cassette = filled(path)
    Cassette(tmp_path / "other.jsonl").put([record("new")])
    (tmp_path / "other.jsonl").replace(path)
    cassette.refresh()
    assert cassette.get(question("prompt 1").key) is None
    assert cassette.get(question("new").key) is not None
    cassette.put([record("newer")])
    again = Cassette(path)
    again.refresh()
    assert len(again) == 2


WRITER = """
import sys
from datetime import date
from pathlib import Path
from pytest_llmfair.clients.protocol import Reply, Request
from pytest_llmfair.clients.cassette.record import Question, Record
from pytest_llmfair.clients.cassette.store import Cassette

path, name, count, size = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
cassette = Cassette(path)
for i in range(count):
    question = Question({"model": "m"}, Request(f"{name} {i}", 0), 1.0, 9)
    cassette.put([Record.of(question, Reply("x" * size), date(2026, 1, 31))])
    print(question.key, flush=True)
"""


def writer(path: Path, name: str, count: int, size: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(count), str(size)],
        stdout=subprocess.PIPE,
        text=True,
    )


def test_processes_that_append_at_once_lose_nothing(path: Path) -> None:
    writers = [writer(path, f"worker {i}", 100, 3000) for i in range(2)]
    keys = [line.strip() for one in writers for line in one.communicate()[0].splitlines()]
    cassette = Cassette(path)
    cassette.refresh()
    assert len(cassette) == 200
    assert [key for key in keys if cassette.get(key) is None] == []


def test_only_digests_are_written_where_texts_are_not_to_be_kept(path: Path) -> None:
    cassette = Cassette(path, text=False)
    cassette.put(
        [
            record("a secret prompt", "a secret answer"),
            record("a refused prompt", Missing("refused", "a secret detail")),
        ]
    )
    assert b"secret" not in path.read_bytes()
    found = cassette.get(question("a secret prompt").key)
    assert found is not None
    assert isinstance(found[0].reply.answer, DigestedText)
    refused = cassette.get(question("a refused prompt").key)
    assert refused is not None
    assert refused[0].reply.answer == Missing("refused")


def test_an_answer_that_does_not_fit_leaves_the_file_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cassette = filled(path, 2)
    before = path.read_bytes()
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:20]))
    with pytest.raises(OSError, match=r"c\.jsonl: only 20 of \d+ bytes"):
        cassette.put([record("too much")])
    monkeypatch.undo()
    assert path.read_bytes() == before


def test_a_killed_writer_leaves_every_answer_it_had_acknowledged(path: Path) -> None:
    with writer(path, "prompt", 10**9, 5000) as process:
        assert process.stdout is not None
        acknowledged = [process.stdout.readline() for _ in range(50)]
        process.kill()
        acknowledged += process.stdout.readlines()
    cassette = Cassette(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CassetteWarning)
        cassette.refresh()
    keys = [line.strip() for line in acknowledged if line.endswith("\n")]
    assert [key for key in keys if cassette.get(key) is None] == []


def test_an_index_takes_little_memory(path: Path) -> None:
    line = record().line()[:-1]
    Cassette(path).put([record(f"prompt {i}", "a" * 700) for i in range(5000)])
    assert len(line) < 1000
    cassette = Cassette(path)
    tracemalloc.start()
    cassette.refresh()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held / 5000 < 300


def test_answers_of_another_revision_are_found(tmp_path: Path) -> None:
    cassette = filled(tmp_path / "c.jsonl", 2)
    asked = question("prompt 1", model={**MODEL, "revision": "r2"})
    assert cassette.get(asked.key) is None
    found = cassette.of_another_revision(asked)
    assert found is not None
    assert found.reply.answer == "answer 1"
    assert cassette.of_another_revision(question("prompt 1", temperature=0.0)) is None


def test_a_record_whose_prompt_was_changed_by_hand_is_altered() -> None:
    from pytest_llmfair.clients.cassette.record import sealed

    line = json.loads(record("Hello").line())
    del line["sum"]
    key = line.pop("key")
    assert not Record.read(sealed(line, key)[:-1]).altered
    assert Record.read(sealed({**line, "prompt": "Hello!"}, key)[:-1]).altered


def test_sync_and_close_can_be_called_at_any_time(tmp_path: Path) -> None:
    cassette = Cassette(tmp_path / "c.jsonl")
    cassette.sync()
    cassette.close()
    cassette.put([record()])
    cassette.sync()
    cassette.close()
    cassette.put([record("another")])
    assert len(cassette) == 2
