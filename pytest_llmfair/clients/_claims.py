"""Locks that die with their process: on a whole file, and on single questions."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
    import time

    # Far behind the end of any file: Windows does not let others read what is locked.
    _LOCK_AT = 2**31 - 2

    def _lock(handle: int) -> None:
        while True:
            os.lseek(handle, _LOCK_AT, os.SEEK_SET)
            try:
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
                return
            except OSError:
                time.sleep(0.002)

    def _unlock(handle: int) -> None:
        os.lseek(handle, _LOCK_AT, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

    def _take(handle: int, place: int) -> None:
        os.lseek(handle, place % _LOCK_AT, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def _drop(handle: int, place: int) -> None:
        os.lseek(handle, place % _LOCK_AT, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        # Of the open file and not of the process: two threads exclude each other too.
        fcntl.flock(handle, fcntl.LOCK_EX)

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)

    def _take(handle: int, place: int) -> None:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)

    def _drop(handle: int, place: int) -> None:
        fcntl.lockf(handle, fcntl.LOCK_UN, 1, place)


@contextmanager
def locked(handle: int) -> Iterator[None]:
    """Hold the lock of an open file; waits for whoever holds it."""
    _lock(handle)
    try:
        yield
    finally:
        _unlock(handle)


class Claims:
    """Questions that a process is asking of a cassette, so that no other one asks them too.

    A claim is a lock of one byte of an empty file, at a place made of the question's key: the
    system drops it when the process ends, however that ends, so there is nothing to clean up
    after a crash and nobody waits for the dead. The file lies in the folder for temporary files,
    under a name made of the cassette's, and is removed by the last one to leave.
    """

    def __init__(self, about: Path) -> None:
        user = os.getuid() if sys.platform != "win32" else 0
        digest = hashlib.blake2b(os.fsencode(about.resolve()), digest_size=12).hexdigest()
        self._path = Path(tempfile.gettempdir()) / f"llmfair-claims-{user}-{digest}"

    def take(self, key: str) -> bool:
        """Claim a question; False when it is claimed already, also by this process."""
        held = _File.of(self._path)
        with held.mutex:
            return held.take(key)

    def drop(self, keys: Iterable[str]) -> None:
        """Give claims back."""
        held = _File.of(self._path)
        with held.mutex:
            for key in keys:
                held.drop(key)
            if not held.places:
                held.close()


class _File:
    """The claims of this process; one a path, since closing any handle would drop them all."""

    _open: dict[Path, _File] = {}  # noqa: RUF012 - shared on purpose

    def __init__(self, path: Path) -> None:
        self.path = path
        self.mutex = threading.Lock()
        self.places: dict[str, int] = {}
        self._handle = -1

    @classmethod
    def of(cls, path: Path) -> _File:
        return cls._open.setdefault(path, cls(path))

    def take(self, key: str) -> bool:
        if key in self.places:
            return False
        place = int(key[:16], 16) >> 2
        while True:
            self._ensure()
            try:
                _take(self._handle, place)
            except OSError:
                return False
            if self._current(self._handle):
                self.places[key] = place
                return True
            # The last one to leave removed the file between our opening and our claim.
            self.close()

    def drop(self, key: str) -> None:
        if (place := self.places.pop(key, None)) is not None:
            _drop(self._handle, place)

    def close(self) -> None:
        if self._handle < 0:
            return
        handle, self._handle = self._handle, -1
        if sys.platform != "win32" and self._alone(handle):
            self.path.unlink(missing_ok=True)
        os.close(handle)
        if sys.platform == "win32":
            # An open file cannot be removed there, so this fails while anybody else uses it.
            _remove_quietly(self.path)

    def _ensure(self) -> None:
        if self._handle < 0:
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            self._handle = os.open(self.path, flags, 0o600)

    def _current(self, handle: int) -> bool:
        """Tell whether the open file is still the one under its name."""
        try:
            return os.path.samestat(os.fstat(handle), self.path.stat())
        except FileNotFoundError:
            return False

    def _alone(self, handle: int) -> bool:
        """Tell whether nobody has a claim; all places are then held until the file is closed."""
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return self._current(handle)


def _remove_quietly(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return
