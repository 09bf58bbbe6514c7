"""Locks between processes: on a whole file, and on single questions of a cassette.

The system releases them when a process ends, however it ends, so no process waits for
a dead one and a crash leaves nothing to clean up.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
    import time

    # Past the end of any file, since Windows does not let others read what is locked.
    _LOCK_AT = 2**31 - 2

    def _byte(handle: int, place: int, mode: int) -> None:
        os.lseek(handle, place % _LOCK_AT, os.SEEK_SET)
        msvcrt.locking(handle, mode, 1)

    def _take(handle: int, place: int) -> None:
        _byte(handle, place, msvcrt.LK_NBLCK)

    def _drop(handle: int, place: int) -> None:
        _byte(handle, place, msvcrt.LK_UNLCK)

    def _lock(handle: int) -> None:
        while True:
            with suppress(OSError):
                return _byte(handle, _LOCK_AT - 1, msvcrt.LK_NBLCK)
            time.sleep(0.002)

    def _unlock(handle: int) -> None:
        _byte(handle, _LOCK_AT - 1, msvcrt.LK_UNLCK)

else:
    import fcntl

    def _take(handle: int, place: int) -> None:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)

    def _drop(handle: int, place: int) -> None:
        fcntl.lockf(handle, fcntl.LOCK_UN, 1, place)

    def _lock(handle: int) -> None:
        # flock belongs to the open file, not the process, so it also keeps threads apart.
        fcntl.flock(handle, fcntl.LOCK_EX)

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


@contextmanager
def locked(handle: int) -> Iterator[None]:
    """Hold the lock of an open file, after waiting for it."""
    _lock(handle)
    try:
        yield
    finally:
        _unlock(handle)


def take_whole(handle: int) -> bool:
    """Lock an open file until it is closed; False where another process holds it."""
    try:
        _take(handle, 0)
    except OSError as error:
        # A file system without locks lets two runs in.
        return error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
    return True


class QuestionLocks:
    """Questions of a cassette that this process is asking, so that no other process asks them."""

    # One lock for the whole cassette would let only one process ask at a time. Each question is
    # therefore one byte of an empty file in the folder for temporary files, at a place made from
    # its key. The last process to leave removes the file.

    def __init__(self, cassette: Path) -> None:
        user = os.getuid() if sys.platform != "win32" else 0
        digest = hashlib.blake2b(os.fsencode(cassette.resolve()), digest_size=12).hexdigest()
        self._path = Path(tempfile.gettempdir()) / f"llmfair-claims-{user}-{digest}"
        self._places: dict[str, int] = {}
        self._handle = -1
        # Locks of bytes keep processes apart, not the threads of one.
        self._mutex = threading.Lock()

    def take(self, key: str) -> bool:
        """Lock a question; False when it is locked already, also by this object."""
        with self._mutex:
            if key in self._places:
                return False
            place = int(key[:16], 16) >> 2
            while True:
                self._open()
                try:
                    _take(self._handle, place)
                except OSError:
                    return False
                if self._is_current():
                    self._places[key] = place
                    return True
                # Another process removed the file between our opening and locking it.
                self._close()

    def release(self, keys: Iterable[str]) -> None:
        """Unlock questions; with the last one the file is closed, and removed if unused."""
        with self._mutex:
            for key in keys:
                if (place := self._places.pop(key, None)) is not None:
                    _drop(self._handle, place)
            if not self._places:
                self._close()

    def close(self) -> None:
        """Unlock everything."""
        self.release(list(self._places))

    def _open(self) -> None:
        if self._handle < 0:
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            self._handle = os.open(self._path, flags, 0o600)

    def _close(self) -> None:
        if self._handle < 0:
            return
        # On Windows an open file cannot be removed, so this fails while another process uses it.
        if sys.platform != "win32" and self._is_unused():
            self._path.unlink(missing_ok=True)
        os.close(self._handle)
        self._handle = -1
        if sys.platform == "win32":
            with suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _is_current(self) -> bool:
        """Whether the open file is still the one with this name."""
        try:
            return os.path.samestat(os.fstat(self._handle), self._path.stat())
        except FileNotFoundError:
            return False

    def _is_unused(self) -> bool:
        """Whether no process holds a lock; then this one holds all until the file is closed."""
        with suppress(OSError):
            fcntl.lockf(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return self._is_current()
        return False
