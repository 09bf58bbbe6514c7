"""CPU seconds and memory of a command with all its processes, daemons of Ray among them."""

from __future__ import annotations

import ctypes
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAUSE = 0.1
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(slots=True)
class Process:
    """The last that was seen of a process.

    Attributes
    ----------
    command : str
        Its command line.
    cpu : float
        CPU seconds of its own, without its children.
    peak : int
        Most bytes of memory that it held at a time.
    """

    command: str = ""
    cpu: float = 0.0
    peak: int = 0


@dataclass(slots=True)
class Tree:
    """A command and all processes that it started, by their number."""

    processes: dict[int, Process] = field(default_factory=dict)

    @property
    def cpu(self) -> float:
        """CPU seconds of all processes together."""
        return sum(process.cpu for process in self.processes.values())

    def with_word(self, word: str) -> dict[int, Process]:
        """Return the processes whose command line has a word."""
        return {n: process for n, process in self.processes.items() if word in process.command}


def run(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    look: Callable[[Tree], None] = lambda tree: None,
) -> Tree:
    """Run a command to its end, and return what its processes used.

    Parameters
    ----------
    command : sequence of str
        The command.
    folder : Path
        Where it runs, and where its output is kept.
    environment : mapping
        Its environment.
    look : callable
        Called with the processes ten times a second.

    Raises
    ------
    SystemExit
        If the command fails; its output is the message.
    """
    # Daemons whose parent has ended become children of this process, and stay in the tree.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    tree = Tree()
    output = folder / "output.txt"
    with output.open("w") as file:
        started = subprocess.Popen(
            command, cwd=folder, env=dict(environment), stdout=file, stderr=file
        )
        ended = threading.Event()
        watch = threading.Thread(target=_watch, args=(tree, look, ended))
        watch.start()
        code = started.wait()
        ended.set()
        watch.join()
    if code:
        raise SystemExit(f"{' '.join(command)} ended with {code}:\n{output.read_text()}")
    return tree


def _watch(tree: Tree, look: Callable[[Tree], None], ended: threading.Event) -> None:
    while not ended.is_set():
        _update(tree)
        look(tree)
        time.sleep(_PAUSE)


def _update(tree: Tree) -> None:
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            # The name in brackets may have spaces.
            values = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(entry.name)
        parents[number] = int(values[1])
        seconds[number] = (int(values[11]) + int(values[12])) / _TICKS
    here = os.getpid()
    for number in parents:
        above = number
        while above in parents and above != here:
            above = parents[above]
        if above == here and number != here:
            _note(tree.processes.setdefault(number, Process()), number, seconds[number])


def _note(process: Process, number: int, seconds: float) -> None:
    process.cpu = max(process.cpu, seconds)
    try:
        words = Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        status = Path(f"/proc/{number}/status").read_text()
    except OSError:
        return
    process.command = words or process.command
    if (held := status.partition("VmHWM:")[2]) != "":
        process.peak = max(process.peak, int(held.split()[0]) * 1024)
