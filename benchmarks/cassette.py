"""Time and memory of loading a cassette of 100,000 answers of 0.8 kB, and of recording into it.

    python benchmarks/cassette.py [--records N] [--rounds N]

Every arm runs in a process of its own, in turns; lower quartiles count. Arms: this package; all
lines read with ``json.loads``; the same answers in SQLite, all rows read. All look up the same
answers afterwards, and must find them. Exits non-zero when loading takes 3 s or 300 MB, or an
answer differs.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

SECONDS, MEGABYTES, LOOKUPS = 3.0, 300.0, 1000
ARMS = ("cassette", "json.loads", "sqlite")


def record(number: int):
    from pytest_llmfair.clients import Request
    from pytest_llmfair.clients.cassette.record import Question, Record
    from pytest_llmfair.clients.protocol import Reply

    words = random.Random(number).choices(["warm", "able", "kind", "quick", "plain"], k=90)
    prompt = f"Write a reference for candidate {number}, who has worked here for years."
    question = Question(
        {"provider": "openai", "model": "gpt-4o"}, Request(prompt, number), 1.0, 99
    )
    return Record.of(question, Reply(" ".join(words), 20, 60), date(2026, 1, 31))


def chosen(count: int) -> list[int]:
    return random.Random(1).sample(range(count), min(LOOKUPS, count))


def write(folder: Path, count: int) -> float:
    """Write the answers both ways; return the seconds our way took."""
    from pytest_llmfair.clients.cassette.store import Cassette

    records = [record(number) for number in range(count)]
    cassette = Cassette(folder / "c.jsonl")
    began = time.perf_counter()
    for one in records:
        cassette.put([one])
    seconds = time.perf_counter() - began
    with sqlite3.connect(folder / "c.db") as database:
        database.execute("create table answers (key text primary key, record text)")
        rows = ((one.key, one.line().decode()) for one in records)
        database.executemany("insert into answers values (?, ?)", rows)
    database.close()
    return seconds


def arm(name: str, folder: Path, count: int) -> None:
    """Load and look up; print seconds, megabytes and a digest of the answers."""
    import hashlib
    import resource

    from pytest_llmfair.clients.cassette.record import Record
    from pytest_llmfair.clients.cassette.store import Cassette

    keys = [record(number).key for number in chosen(count)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    if name == "cassette":
        cassette = Cassette(folder / "c.jsonl")
        cassette.refresh()
        answers = [cassette.get(key)[0].reply.answer for key in keys]
    elif name == "json.loads":
        with (folder / "c.jsonl").open(encoding="utf-8") as file:
            held = {found["key"]: found for found in map(json.loads, file)}
        answers = [held[key]["answer"] for key in keys]
    else:
        database = sqlite3.connect(folder / "c.db")
        held = dict(database.execute("select key, record from answers"))
        answers = [Record.read(held[key].encode()).reply.answer for key in keys]
    seconds = time.perf_counter() - began
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    digest = hashlib.sha256("\0".join(answers).encode()).hexdigest()
    print(json.dumps([seconds, grown, digest]))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--arm", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.arm:
        name, folder = options.arm[0], Path(options.arm[1])
        if name == "write":
            print(write(folder, options.records))
        else:
            arm(name, folder, options.records)
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [sys.executable, __file__, "--records", str(options.records), "--arm"]
        # In another process too: the largest size of a process passes on to those it starts.
        done = subprocess.run([*command, "write", name], capture_output=True, check=True)
        written = float(done.stdout)
        size = (folder / "c.jsonl").stat().st_size
        print(f"{options.records:,} records, {size / options.records:.0f} bytes each")
        print(f"recorded one by one: {options.records / written:,.0f} a second")
        figures: dict[str, list[list[float]]] = {each: [] for each in ARMS}
        digests = set()
        for _ in range(options.rounds):
            for each in ARMS:
                done = subprocess.run([*command, each, name], capture_output=True, check=True)
                *numbers, digest = json.loads(done.stdout)
                figures[each].append(numbers)
                digests.add(digest)
    best = {each: sorted(s for s, _ in rows)[len(rows) // 4] for each, rows in figures.items()}
    most = {each: max(m for _, m in rows) for each, rows in figures.items()}
    for each in ARMS:
        ratio = best[each] / best["cassette"]
        print(
            f"{each:<12} {best[each]:6.2f} s {most[each]:7.0f} MB   {ratio:5.2f}x the time of ours"
        )
    met = best["cassette"] < SECONDS and most["cassette"] < MEGABYTES and len(digests) == 1
    print("met" if met else f"NOT met: under {SECONDS:g} s and {MEGABYTES:g} MB, equal answers")
    return 0 if met else 1


if __name__ == "__main__":
    sys.path[:] = [p for p in sys.path if Path(p or ".").resolve() != Path(__file__).parent]
    sys.exit(main())
