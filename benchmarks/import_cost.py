"""What the installed plugin adds to a pytest session that does not use it.

Runs `python -m pytest -q` on an empty test file with and without the plugin in turns, all other
plugins switched off, and compares lower quartiles of the processor time. The A/A line compares
two arms that are the same, and shows how much of a difference is noise. What pytest-xdist adds,
unused, is measured beside it. Exits with 1 when the target is missed.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
from importlib.metadata import entry_points
from pathlib import Path

TARGET_MS = 6.0
XDIST = {"xdist", "xdist.looponfail"}


def children_ms() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000.0 * (used.ru_utime + used.ru_stime)


def cpu_ms(arguments: list[str], folder: Path, environment: dict[str, str]) -> float:
    start = children_ms()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    elapsed = children_ms() - start
    # 5: no test was collected, as there is none in the file.
    if done.returncode != 5:
        sys.exit(f"pytest ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return elapsed


def environments(cache: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the environments with bytecode cached and with none of the plugin's."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "PYTHON"))}
    cached = {**clean, "PYTHONPYCACHEPREFIX": str(cache / "all")}
    uncached = {
        **clean,
        "PYTHONPYCACHEPREFIX": str(cache / "without_plugin"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return cached, uncached


def without(plugins: set[str]) -> list[str]:
    return [word for name in sorted(plugins) for word in ("-p", f"no:{name}")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=41, help="alternations (default 41)")
    runs = parser.parse_args().runs

    plugins = {point.name for point in entry_points(group="pytest11")}
    if "llmfair" not in plugins:
        sys.exit("the plugin is not installed; run `pip install -e .` first")
    bare, off = without(plugins - {"llmfair"}), without(plugins)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_empty.py").touch()
        cached, uncached = environments(folder / "bytecode")
        for _ in range(2):
            cpu_ms(bare, folder, cached)
            cpu_ms(off, folder, {**uncached, "PYTHONDONTWRITEBYTECODE": ""})
        arms = {
            "without": (off, cached),
            "without, again": (off, cached),
            "with": (bare, cached),
            "with, not cached": (bare, uncached),
        }
        if plugins >= XDIST:
            arms["pytest-xdist alone"] = (without(plugins - XDIST), cached)
        times: dict[str, list[float]] = {arm: [] for arm in arms}
        order = random.Random(0)
        for _ in range(runs):
            for arm in order.sample(list(arms), len(arms)):
                times[arm].append(cpu_ms(arms[arm][0], folder, arms[arm][1]))

    quartile = {arm: sorted(values)[runs // 4] for arm, values in times.items()}
    added = quartile["with"] - quartile["without"]
    print(f"{'arm':<20}{'lower quartile':>16}{'median':>10}   ({runs} alternations, ms)")
    for arm, values in times.items():
        print(f"{arm:<20}{quartile[arm]:>16.1f}{sorted(values)[runs // 2]:>10.1f}")
    print(f"A/A difference      {quartile['without, again'] - quartile['without']:+.1f} ms")
    print(f"not cached, added   {quartile['with, not cached'] - quartile['without']:+.1f} ms")
    for arm in times.keys() & {"pytest-xdist alone"}:
        print(f"pytest-xdist adds   {quartile[arm] - quartile['without']:+.1f} ms")
    verdict = "ok" if added < TARGET_MS else "MISSED"
    print(f"added by the plugin {added:+.1f} ms, target below {TARGET_MS:g} ms: {verdict}")
    return 0 if added < TARGET_MS else 1


if __name__ == "__main__":
    sys.exit(main())
