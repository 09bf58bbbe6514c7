"""Questions that a process claims before it asks them."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_llmfair.clients.cassette.locks import QuestionLocks, locked

KEY, OTHER = "0" * 32, "f" * 32

HOLDER = """
import sys
from pathlib import Path
from pytest_llmfair.clients.cassette.locks import QuestionLocks

locks = QuestionLocks(Path(sys.argv[1]))
print(*("taken" if locks.take(key) else "refused" for key in sys.argv[2:]), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@contextmanager
def holder(path: Path, *keys: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run another process that claims keys until it is ended."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path), *keys],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
        process.kill()


def test_a_key_is_claimed_once(folder: Path) -> None:
    claims = QuestionLocks(folder / "c.jsonl")
    assert claims.take(KEY)
    assert not claims.take(KEY)
    assert claims.take(OTHER)
    claims.release([KEY])
    assert claims.take(KEY)
    claims.release([KEY, OTHER])


def test_cassettes_have_claims_of_their_own(folder: Path) -> None:
    one, other = QuestionLocks(folder / "a.jsonl"), QuestionLocks(folder / "b.jsonl")
    assert one.take(KEY)
    assert other.take(KEY)
    one.release([KEY])
    other.release([KEY])


def test_another_process_is_refused_and_what_it_claimed_is_free_once_it_is_killed(
    folder: Path,
) -> None:
    path = folder / "c.jsonl"
    claims = QuestionLocks(path)
    assert claims.take(KEY)
    with holder(path, KEY, OTHER) as (process, said):
        assert said == "refused taken"
        assert not claims.take(OTHER)
        process.kill()
        process.wait()
        assert claims.take(OTHER)
    claims.release([KEY, OTHER])


def test_locks_leave_no_file_and_none_in_the_folder_of_the_cassette(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    claims = QuestionLocks(home / "c.jsonl")
    assert claims.take(KEY)
    assert list(home.iterdir()) == []
    assert len(list(folder.iterdir())) == 1
    claims.release([KEY])
    assert list(folder.iterdir()) == []


def test_the_last_to_leave_removes_the_file(folder: Path) -> None:
    path = folder / "c.jsonl"
    claims = QuestionLocks(path)
    with holder(path, OTHER):
        assert claims.take(KEY)
        claims.release([KEY])
        assert len(list(folder.iterdir())) == 1
        assert claims.take(KEY)
    claims.release([KEY])
    assert list(folder.iterdir()) == []


def test_a_file_is_locked_for_others_of_the_same_process(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"")
    with path.open("rb") as one, path.open("rb") as other, locked(one.fileno()):
        import fcntl

        with pytest.raises(BlockingIOError):
            fcntl.flock(other.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
