"""Result files of other tools: time and memory for large ones, and how often fair ones err.

Files of about 100 MB are written for each format and read in a process of its own. Then fair
results are drawn (40 templates, two groups, 5 answers each, an effect of template and group
together that is 0 on average): the share of intervals without 0 with templates as units and with
rows as units, and how often any of six scores is significant without and with Holm's correction.
Exits with 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pytest_llmfair.metrics import score_difference
from pytest_llmfair.stats.multiplicity import holm

SECONDS, MEGABYTES = 60.0, 900.0
READ = """
import resource, sys, time
from pytest_llmfair.results.registry import read_results
start = time.perf_counter()
found = read_results([sys.argv[1]])
took = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(len(found.rows), round(took, 1), round(peak))
"""
TEXT = "Approved after review: a strong and reliable candidate, as the references say. " * 12


def promptfoo(number: int) -> dict:
    """Return one result of promptfoo."""
    prompt = f"Decide on the application of the {'wo' * (number % 2)}man, case {number // 2}."
    return {
        "promptIdx": 0,
        "testIdx": number,
        "prompt": {"raw": prompt, "label": "case"},
        "provider": {"id": "offline", "label": ""},
        "response": {"output": TEXT},
        "vars": {"person": ("the man", "the woman")[number % 2], "case": str(number // 2)},
        "namedScores": {"approved": number % 3 % 2, "tone": number % 7 / 7},
        "gradingResult": {"pass": True, "componentResults": []},
        "success": True,
        "score": 1,
        "failureReason": 0,
    }


def inspect(number: int) -> dict:
    """Return one sample of Inspect, with the events that make its logs large."""
    given = promptfoo(number)
    message = {"role": "assistant", "content": TEXT}
    return {
        "id": str(number),
        "epoch": 1,
        "input": given["prompt"]["raw"],
        "output": {"choices": [{"message": message, "stop_reason": "stop"}]},
        "scores": {"tone": {"value": given["namedScores"]["tone"]}},
        "metadata": {"gender": ("male", "female")[number % 2], "template": str(number // 2)},
        "events": [{"event": "model", "output": message}] * 6,
    }


def as_lines(path: Path, size: int, make: Callable[[int], dict]) -> None:
    """Write lines of JSON."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(size // len(json.dumps(make(0)))):
            file.write(json.dumps(make(number)) + "\n")


def as_json(path: Path, size: int, make: Callable[[int], dict]) -> None:
    """Write one JSON document, as promptfoo does."""
    count = size // len(json.dumps(make(0)))
    rows = ",".join(json.dumps(make(number)) for number in range(count))
    path.write_text(f'{{"evalId": "x", "results": {{"version": 3, "results": [{rows}]}}}}')


def as_zip(path: Path, size: int, make: Callable[[int], dict]) -> None:
    """Write a log of Inspect whose samples have `size` bytes in all."""
    count = size // len(json.dumps(make(0)))
    about = {"task": "t", "task_id": "t", "model": "m", "dataset": {"samples": count}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"status": "success", "eval": about}))
        for number in range(count):
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(make(number)))


def table(number: int) -> dict:
    """Return one row of a table."""
    given = promptfoo(number)
    scores = {f"score.{name}": x for name, x in given["namedScores"].items()}
    return {"prompt": given["prompt"]["raw"], "answer": TEXT, **given["vars"], **scores}


FORMATS = {
    "inspect .eval": ("log.eval", as_zip, inspect),
    "promptfoo .jsonl": ("results.jsonl", as_lines, promptfoo),
    "promptfoo .json": ("results.json", as_json, promptfoo),
    "table .jsonl": ("table.jsonl", as_lines, table),
}


def large_files(megabytes: int) -> bool:
    """Read a large file of each format, and print what it took."""
    good = True
    for name, (file, write, make) in FORMATS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / file
            write(path, megabytes * 10**6, make)
            done = subprocess.run(
                [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
            )
        rows, seconds, peak = map(float, done.stdout.split())
        good = good and seconds <= SECONDS and peak <= MEGABYTES
        print(f"{name:<18} {rows:>8,.0f} answers  {seconds:>5.1f} s  {peak:>5.0f} MB at most")
    return good


def fair_files(runs: int) -> bool:
    """Draw fair results, and print how often they look unfair."""
    rng = np.random.default_rng(3)
    missed = dict.fromkeys(("templates", "rows", "any of six", "any of six, Holm"), 0)
    for _ in range(runs):
        p_values = []
        for score in range(6):
            rates = rng.beta(2.0, 2.0, (40, 1)) + rng.normal(0.0, 0.15, (40, 2))
            x = (rng.random((40, 2, 5)) < np.clip(rates, 0.0, 1.0)[:, :, None]).astype(float)
            own = score_difference(x[:, 0], x[:, 1], score_range=(0, 1))
            exceeds = own.p_exceeds(0.0)
            p_values.append(min(1.0, 2.0 * min(exceeds, 1.0 - exceeds)))
            if score == 0:
                ends = own.interval(0.95)
                flat = score_difference(x[:, 0].ravel(), x[:, 1].ravel(), score_range=(0, 1))
                of_rows = flat.interval(0.95)
                missed["templates"] += not ends.lower <= 0.0 <= ends.upper
                missed["rows"] += not of_rows.lower <= 0.0 <= of_rows.upper
        missed["any of six"] += min(p_values) < 0.05
        missed["any of six, Holm"] += min(holm(p_values)) < 0.05
    for name, count in missed.items():
        print(f"{name:<18} {100 * count / runs:>5.1f} % of {runs} fair results look unfair")
    # Two standard errors of a share near 4 %.
    slack = 2.0 * (0.04 / runs) ** 0.5
    return (
        missed["templates"] / runs <= 0.05 + slack
        and missed["any of six, Holm"] / runs <= 0.035 + slack
    )


def main() -> int:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--runs", type=int, default=1000)
    arguments = parser.parse_args()
    start = time.perf_counter()
    good = [large_files(arguments.megabytes), fair_files(arguments.runs)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{time.perf_counter() - start:.0f} s, {peak:.0f} MB in this process")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
