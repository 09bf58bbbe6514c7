"""What audits of many prompts cost, as ratios within one run.

    python benchmarks/scale.py [--size 30000] [--turns 2] [--only PART ...] [--ray] [--smoke]

CPU seconds are those of a command with all its processes, the least of some turns in which the
commands alternate. Prints each figure with its limit, and exits with 1 where one is missed. The
default size takes about five minutes on two cores; `--size 1000000` some hours. Linux only.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Files beside this one are named like modules of the standard library: look elsewhere first.
_HERE = Path(__file__).resolve().parent
sys.path[:] = [*(p for p in sys.path if Path(p or ".").resolve() != _HERE), str(_HERE)]
random = importlib.import_module("random")

from _harness import Line  # noqa: E402
from _tree import Tree, run  # noqa: E402

MODEL = "builtin:ngram"
_PARTS = ("costs", "memory", "speed", "kills")
WORKERS = 8
# What the command line of a worker has: of a spawned process, and of an actor of Ray.
_WORKER = {"local": "spawn_main", "ray": "ray::Worker"}

CHECKS = """
version: 1
checks:
- {metric: counterfactual_rouge_l, attribute: gender, minimum: 0.05, rationale: r, owner: o}
- {metric: strict_sentiment_parity, attribute: gender, bound: 0.9, rationale: r, owner: o}
"""
# The same checks, on answers that a test collects.
TEST = """
from pathlib import Path
from pytest_llmfair.counterfactuals import generate_pairs


def test_plain(fairness):
    prompts = Path("prompts.txt").read_text().splitlines()
    fairness.collect(generate_pairs(prompts, "gender"), 1)
    fairness.check("counterfactual_rouge_l", minimum=0.05)
    fairness.check("strict_sentiment_parity", bound=0.9)
"""
# A model that waits off the CPU, as for a GPU, and notes what it was asked.
MODELS = """
import os, pathlib, time


def waiting(prompt):
    time.sleep(float(os.environ["LLMFAIR_WAIT"]))
    with (pathlib.Path(__file__).parent / "asked").open("a") as file:
        file.write("x")
    return prompt
"""
ALONE = """
version: 1
checks:
- {metric: toxic_fraction, scorer: sentiment, threshold: 0.9, bound: 0.5, rationale: r, owner: o}
"""

PEOPLE = ("She", "My sister", "The boy", "Her son", "His aunt", "A woman", "The old man")
PLACES = ("Leeds", "Oslo", "Lagos", "Quito", "Hanoi", "Perth", "Turin", "Austin")
VERBS = ("said", "wrote", "thought", "explained", "admitted", "insisted", "heard")
THINGS = ("train", "report", "garden", "engine", "letter", "market", "river", "office")


@dataclass(frozen=True, slots=True)
class Size:
    """How much to run.

    Attributes
    ----------
    prompts : int
        Prompts of the comparisons.
    turns : int
        Turns of the comparisons.
    wait : float
        Seconds that the waiting model takes for a shard.
    shards : int
        Shards that one waiting worker makes.
    """

    prompts: int
    turns: int
    wait: float
    shards: int


@dataclass(frozen=True, slots=True)
class Room:
    """A folder with prompts, checks and models, and the commands that run in it."""

    folder: Path

    def write(self, size: Size) -> None:
        """Write all files."""
        rng = random.Random(0)
        prompts = [
            f"{rng.choice(PEOPLE)} from {rng.choice(PLACES)} {rng.choice(VERBS)} on day "
            f"{row} that the {rng.choice(THINGS)} was"
            for row in range(size.prompts)
        ]
        files = {
            "prompts.txt": "\n".join(prompts),
            "half.txt": "\n".join(prompts[: size.prompts // 2]),
            "pairs.llmfair.yaml": CHECKS,
            "prompts.llmfair.yaml": ALONE,
            "test_plain.py": TEST,
            "models_of_scale.py": MODELS,
        }
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")

    def plain(self) -> Tree:
        """Collect and check in one process, as a test does."""
        return self._run(["pytest", "-p", "llmfair", "--llmfair-model", MODEL, "test_plain.py"])

    def audit(self, data: str = "prompts.txt", *options: str) -> Tree:
        """Audit pairs, from the beginning."""
        given = ["--model", MODEL, "--attribute", "gender", "--checks", "pairs.llmfair.yaml"]
        return self._audit(data, *given, *options)

    def wait(
        self, shards: int, seconds: float, workers: int, engine: str = "local", kill: bool = False
    ) -> int:
        """Audit with a model that waits, and return how many shards it was asked."""
        per_shard = 4
        texts = [f"Prompt {row} of the audit." for row in range(per_shard * shards)]
        (self.folder / "waiting.txt").write_text("\n".join(texts))
        (self.folder / "asked").write_text("")
        killed: list[int] = []

        def look(tree: Tree) -> None:
            found = tree.with_word(_WORKER[engine])
            if kill and not killed and len(self.parts()) >= shards // 3 and found:
                killed.append(max(found))
                os.kill(killed[0], signal.SIGKILL)

        self._audit(
            *("waiting.txt", "--model", "python:models_of_scale:waiting"),
            *("--checks", "prompts.llmfair.yaml", "--shard-size", str(per_shard)),
            *("--workers", str(workers), "--engine", engine),
            environment={"LLMFAIR_WAIT": str(seconds / per_shard)},
            look=look,
        )
        if kill and not killed:
            raise SystemExit("no worker was found to be killed")
        return -(-(self.folder / "asked").stat().st_size // per_shard)

    def parts(self) -> list[float]:
        """Return when the parts with answers were complete, in order."""
        parts = (self.folder / "out" / "answers").glob("[0-9]*.parquet")
        return sorted(part.stat().st_mtime for part in parts)

    def _audit(self, data: str, *options: str, **given: object) -> Tree:
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        line = ["pytest_llmfair.cli", "audit", data, "--out", "out", *options]
        return self._run(line, **given)

    def _run(self, line: list[str], environment: dict[str, str] | None = None, **given) -> Tree:
        path = os.pathsep.join([str(self.folder), str(_HERE.parent)])
        own = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", **(environment or {})}
        # Ray would let its workers wait for every other process of a busy machine.
        own["RAY_worker_niceness"] = "0"
        command = [sys.executable, "-m", *line, "-q", "-p", "no:cacheprovider"]
        return run(command, self.folder, {**os.environ, **own}, **given)


def costs(room: Room, size: Size, *, ray: bool) -> Iterator[Line]:
    """Compare CPU seconds of the same checks on the same prompts."""
    commands = {"in process": room.plain, "audit": room.audit}
    if ray:
        commands["audit on Ray"] = lambda: room.audit("prompts.txt", "--engine", "ray")
    least = dict.fromkeys(commands, float("inf"))
    for _ in range(size.turns):
        for name, command in commands.items():
            least[name] = min(least[name], command().cpu)
    limits = {("audit", "in process"): 1.10, ("audit on Ray", "audit"): 1.3}
    for (one, other), limit in limits.items():
        if one in least:
            yield _at_most(
                least[one] / least[other],
                limit,
                f"CPU of {one} {least[one]:.1f} s / {other} {least[other]:.1f} s",
            )


def speed(room: Room, size: Size, engine: str) -> Iterator[Line]:
    """Compare shards a second of one worker and of eight that wait off the CPU."""
    rates = {}
    for workers in (1, WORKERS):
        shards = size.shards * (1 if workers == 1 else 6)
        room.wait(shards, size.wait, workers, engine)
        times = room.parts()
        # Workers start one after the other: the first third of the shards is left out. They end
        # nearly together: the rate is that of whole rounds, each with a shard of every worker.
        begun = len(times) // 3
        made = (len(times) - 1 - begun) // workers * workers
        rates[workers] = made / (times[begun + made] - times[begun])
    found = rates[WORKERS] / rates[1]
    yield Line(
        f"{engine}, {WORKERS} workers that wait {rates[WORKERS]:.2f} shards a second / one "
        f"{rates[1]:.2f}: {found:.2f} (at least 7)",
        found >= 7.0,
    )


def memory(room: Room, size: Size) -> Iterator[Line]:
    """Compare the memory of workers at all prompts and at half of them."""
    peaks = {}
    for data in ("half.txt", "prompts.txt"):
        tree = room.audit(data, "--workers", "2")
        peaks[data] = max(p.peak for p in tree.with_word(_WORKER["local"]).values()) / 2**20
    yield _at_most(
        peaks["prompts.txt"] / peaks["half.txt"],
        1.10,
        f"memory of a worker at {size.prompts:,} prompts {peaks['prompts.txt']:.0f} MiB / half "
        f"{peaks['half.txt']:.0f} MiB",
    )


def kills(room: Room, size: Size, engine: str) -> Iterator[Line]:
    """Count the shards that are asked again when a worker is killed."""
    shards, workers = 6 * size.shards, 2
    asked = room.wait(shards, min(size.wait, 0.4), workers, engine, kill=True)
    if len(room.parts()) != shards:
        raise SystemExit(f"{len(room.parts())} of {shards} shards have answers after a kill")
    yield _at_most(
        asked / shards,
        1.0 + workers / shards,
        f"{engine}, one of {workers} workers killed: shards asked {asked} / needed {shards}",
    )


def _at_most(found: float, limit: float, text: str) -> Line:
    return Line(f"{text}: {found:.3f} (at most {limit:.3g})", found <= limit)


def main() -> int:
    """Measure everything and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--size", type=int, default=30_000, help="prompts (30000)")
    parser.add_argument("--turns", type=int, default=2, help="turns of the comparisons (2)")
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=_PARTS, help="parts to run")
    parser.add_argument("--ray", action="store_true", help="measure the engine ray too")
    parser.add_argument("--smoke", action="store_true", help="only that all of it runs; no limit")
    options = parser.parse_args()
    if options.size < 100:
        parser.error("give a --size of at least 100")
    if options.ray and importlib.util.find_spec("ray") is None:
        parser.error("--ray needs Ray, which is not installed; run: pip install ray")
    size = Size(options.size, turns=options.turns, wait=2.0, shards=8)
    if options.smoke:
        size = Size(100, turns=1, wait=0.05, shards=3)
    kept = True
    engines = ("local", "ray") if options.ray else ("local",)
    with tempfile.TemporaryDirectory() as folder:
        room = Room(Path(folder))
        room.write(size)

        def lines() -> Iterator[Line]:
            if "costs" in options.only:
                yield from costs(room, size, ray=options.ray)
            if "memory" in options.only:
                yield from memory(room, size)
            for engine in engines:
                if "speed" in options.only:
                    yield from speed(room, size, engine)
                if "kills" in options.only:
                    yield from kills(room, size, engine)

        for line in lines():
            kept = kept and line.ok
            print(f"{'ok  ' if line.ok else 'MISS'} {line.text}", flush=True)
    return 0 if kept or options.smoke else 1


if __name__ == "__main__":
    sys.exit(main())
