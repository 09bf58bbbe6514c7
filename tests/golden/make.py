"""Write what the package gives today: ``python tests/golden/make.py [--check] [FILE ...]``.

- `values.json.xz`: the numbers of every metric on 20 draws of its case in ``tests/metrics``
- `words.json.xz`: what those estimates say beside their numbers
- `names.json`: public names with their signatures, and all options
- `outputs.json`: reports, messages and summaries of the examples and of the first tests
- `machine.json`: where these were made. There numbers are compared bit for bit; other processors
  and other versions of numpy round differently, so elsewhere they may differ by 1e-9 of their size

``tests/test_golden.py`` compares. A change that is meant is written with this script, so that
the difference between the files shows all of it.
"""

from __future__ import annotations

import argparse
import enum
import functools
import hashlib
import importlib
import importlib.util
import inspect
import json
import lzma
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.special

from pytest_llmfair.reports.html import html_page

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DRAWS = 20
LEVELS = (0.5, 0.8, 0.95, 0.99)
MODULES = ("", "metrics", "stats", "counterfactuals", "clients", "scorers", "probing", "testing")
EXAMPLES = (
    "examples/tutorials/quickstart",
    "examples/tutorials/comparing",
    "examples/tutorials/pairs",
)
# Arguments of each run whose report and messages are kept.
RUNS = {
    "examples": EXAMPLES,
    "details": (*EXAMPLES[:2], "-vv", "--llmfair-html={folder}/run.html"),
    "first tests": (),
}


@functools.cache
def cases() -> dict[str, Any]:
    """Return the case of every metric, as its own tests draw it."""
    found: dict[str, Any] = {}
    for path in sorted((ROOT / "tests" / "metrics").glob("cases_*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found |= module.CASES
    return found


@functools.lru_cache(maxsize=1)
def estimate_of(metric: str, seed: int) -> tuple[Any, Any]:
    """Return the description of a metric, and its estimate on one draw."""
    from pytest_llmfair.metrics import get_metric

    info = get_metric(metric)
    return info, info.function(**cases()[metric].draw(np.random.default_rng(seed)))


def findings(estimate: Any) -> dict[str, Any]:
    """Return what an estimate says beside its numbers."""
    return {
        "undefined": estimate.undefined,
        "reasons": list(estimate.reasons),
        "notes": list(estimate.notes),
        "invalid": dict(estimate.invalid),
        "lacks": list(estimate.lacks),
    }


def words(estimate: Any) -> dict[str, Any]:
    """Return all words of an estimate."""
    said = findings(estimate) | {
        "method": estimate.method,
        "floor_words": estimate.floor_words,
        "variant": estimate.variant,
        "unit": estimate.unit,
    }
    return {name: text for name, text in said.items() if text}


def numbers(estimate: Any, fair: float) -> dict[str, Any]:
    """Return all numbers of an estimate."""
    sample = estimate.sample
    found = {
        "value": estimate.value,
        "debiased": estimate.debiased,
        "of": estimate.of,
        "measures": estimate.measures,
        "compares_answers": estimate.compares_answers,
        "attainable": list(estimate.attainable),
        "sample": [sample.units, sample.generations, sample.fewest, sample.most],
        "population": sample.population,
        "effective": [sample.effective, sample.icc, sample.design_effect],
        "noise_floor": estimate.noise_floor(),
        "standard_error": estimate.standard_error(),
        "rows": list(estimate.rows),
        "groups": {str(key): row_of(estimate.groups[key]) for key in estimate.groups},
        "intervals": {str(level): ends(estimate.interval(level)) for level in LEVELS},
    }
    if estimate.undefined is None:
        at = sorted({x for x in (float(estimate.value), fair) if math.isfinite(x)})
        found["p_exceeds"] = [estimate.p_exceeds(x) for x in at]
        found["p_within"] = [estimate.p_within(x) for x in at]
        found["detectable"] = estimate.minimum_detectable_effect()
        found["needed_units"] = estimate.needed_units(fair + 0.1)
    for name in ("floor", "excess"):
        other = getattr(estimate, name)
        found[name] = None if other is None else numbers(other, 0.0)
    return plain(found)


def ends(interval: Any) -> list[float]:
    return [interval.lower, interval.upper]


def row_of(row: Any) -> list[Any]:
    """Return a row of the table of groups, with its interval where it has one."""
    own = [] if row.estimate is None else ends(row.interval())
    return [row.value, row.n, row.rate, row.p, *own]


def plain(thing: Any) -> Any:
    """Return the same in types that JSON knows: its floats come back bit for bit."""
    if isinstance(thing, dict):
        return {name: plain(part) for name, part in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [plain(part) for part in thing]
    return thing.item() if isinstance(thing, np.generic) else thing


def values_of(metric: str, seed: int) -> dict[str, Any]:
    info, estimate = estimate_of(metric, seed)
    return numbers(estimate, info.fair_value)


def words_of(metric: str, seed: int) -> dict[str, Any]:
    return plain(words(estimate_of(metric, seed)[1]))


def by_draw(of: Callable[[str, int], Any]) -> dict[str, Any]:
    return {metric: [of(metric, seed) for seed in range(DRAWS)] for metric in sorted(cases())}


def names() -> dict[str, Any]:
    """Return all public names with their signatures, and all options with their defaults."""
    found: dict[str, Any] = {}
    for name in MODULES:
        module = importlib.import_module(f"pytest_llmfair.{name}".rstrip("."))
        found[module.__name__] = here = {}
        for public in sorted(module.__all__):
            thing = getattr(module, public)
            here[public] = signature(thing)
            # Kinds of estimate share their methods, which `Estimate` lists.
            if inspect.isclass(thing) and name != "stats":
                here |= {f"{public}.{method}": its for method, its in methods(thing)}
    return found | {
        "options of pytest": pytest_options(),
        "options of llmfair": command_options(),
        "docs/options.md": documented_options(),
    }


def methods(kind: type) -> Iterator[tuple[str, str]]:
    """Yield the public methods and properties that this package gives a class."""
    ours = [base for base in kind.__mro__ if base.__module__.startswith("pytest_llmfair")]
    for name in sorted({name for base in ours for name in vars(base)}):
        thing = inspect.getattr_static(kind, name)
        if name.startswith("_"):
            continue
        if isinstance(thing, property):
            yield name, "property"
        elif inspect.isroutine(thing) or isinstance(thing, (classmethod, staticmethod)):
            yield name, signature(getattr(kind, name))


def signature(thing: Any) -> str:
    """Return how a name is called; where it cannot be called, what kind of thing it is."""
    if isinstance(thing, enum.EnumType):
        # How such a class can be called differs between versions of Python.
        return f"one of {', '.join(thing.__members__)}"
    if not callable(thing):
        return type(thing).__name__ if inspect.ismodule(thing) else tidy(repr(thing))
    try:
        found = inspect.signature(thing)
    except ValueError:
        return type(thing).__name__
    kept = [p.replace(annotation=bare(p.annotation)) for p in found.parameters.values()]
    answer = bare(found.return_annotation)
    return tidy(str(found.replace(parameters=kept, return_annotation=answer)))


def bare(annotation: Any) -> Any:
    """Return an annotation that prints alike whether or not Python has evaluated it."""
    if not isinstance(annotation, str):
        return annotation
    return type("Bare", (), {"__repr__": lambda _: annotation})()


def tidy(text: str) -> str:
    """Leave out where in memory, and in which file, a thing is."""
    return re.sub(r" at 0x\w+|\bpytest_llmfair\.(?:\w+\.)*", "", text)


def pytest_options() -> dict[str, Any]:
    """Return what the plugin registers with pytest."""
    from pytest_llmfair import plugin

    found: dict[str, Any] = {}

    class Parser:
        def addini(self, name: str, *_: object, **more: Any) -> None:
            found[name] = {key: more.get(key) for key in ("type", "default")}

        def getgroup(self, *_: object) -> Parser:
            return self

        def addoption(self, *flags: str, **more: Any) -> None:
            more.pop("help", None)
            found[flags[0]] = more

    plugin.pytest_addoption(Parser())
    return found


def documented_options() -> dict[str, str]:
    """Return the defaults of the plugin's options, from the table of them."""
    lines = (ROOT / "docs" / "options.md").read_text("utf-8").splitlines()
    rows = [re.split(r" (?<!\\)\| ", line) for line in lines if '<a id="llmfair_' in line]
    return {first.split('"')[1]: default for first, default, _ in rows}


def command_options() -> dict[str, Any]:
    """Return the arguments of each command of `llmfair`."""
    from pytest_llmfair.cli import main

    class Caught(Exception):
        pass

    def catch(parser: argparse.ArgumentParser, *_: object) -> None:
        raise Caught(parser)

    real = argparse.ArgumentParser.parse_known_args
    argparse.ArgumentParser.parse_known_args = catch
    try:
        main([])
    except Caught as caught:
        return dict(commands("llmfair", caught.args[0]))
    finally:
        argparse.ArgumentParser.parse_known_args = real
    raise AssertionError("llmfair did not read its arguments")


def commands(name: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, Any]]:
    arguments = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below, its in action.choices.items():
                yield from commands(f"{name} {below}", its)
        else:
            key = " ".join(action.option_strings) or action.dest
            arguments[key] = [action.default, action.nargs, action.required]
    yield name, arguments


def outputs_of(name: str) -> dict[str, Any]:
    """Return what a run of the examples, or of docs/five_minutes.md, prints and writes."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        arguments = [text.format(folder=folder) for text in RUNS[name]]
        if name != "first tests":
            return run(folder, ROOT, *arguments)
        page = (ROOT / "docs" / "five_minutes.md").read_text("utf-8")
        code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S))
        (folder / "test_letters.py").write_text(code, encoding="utf-8")
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        return run(folder, folder)


def run(folder: Path, start: Path, *arguments: str) -> dict[str, Any]:
    """Run tests in a process of their own, expected failures as failures."""
    report, page = folder / "run.json", folder / "run.html"
    command = [sys.executable, "-m", "pytest", "-p", "pytest_llmfair.plugin", "-s", *arguments]
    options = ["--runxfail", "--llmfair-seed=0", "--llmfair-show-text=worst"]
    # In CI the page gives another reason why it hides texts.
    own = ("CI", "GITHUB_", "PYTEST_")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(own)}
    kept.pop("CI", None)
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *options, f"--llmfair-json={report}"],
        cwd=start,
        env=kept
        | {
            "COLUMNS": "80",
            "OMP_NUM_THREADS": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if not report.exists():
        raise RuntimeError(done.stdout + done.stderr)
    written = json.loads(report.read_text("utf-8"))
    # When and where the run was, and the version, change without what the package does.
    written.pop("context")
    html = html_page({**written, "pytest_llmfair": ""}) if page.exists() else ""
    # In CI the page gives another reason why it hides texts.
    html = html.replace("because CI is set", "by the settings of this run")
    written.pop("pytest_llmfair")
    collected, _, after = done.stdout.partition("collected ")
    shown, _, below = after.partition("= FAILURES =")
    summary = below.partition("= fairness assertions =")[2].partition("= short test summary")[0]
    return {
        "exit status": done.returncode,
        "header": [line for line in collected.splitlines() if line.startswith("llmfair")],
        "shown": shown.splitlines()[:-1],
        "messages": [line for line in below.splitlines() if line.startswith("E ")],
        "summary": summary.splitlines()[1:-1],
        "json": written,
        "html": html.splitlines(),
    }


def machine() -> dict[str, Any]:
    """Return what decides how the last bits of a number are rounded."""
    return {
        "machine": platform.machine(),
        "libc": " ".join(platform.libc_ver()),
        "python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "rounding": rounding(),
    }


def rounding() -> str:
    """Return a hash of results whose last bits the processor and its libraries decide."""
    draw = np.random.default_rng(0)
    found = hashlib.sha256()
    for size in (2, 3, 5, 8, 17, 33, 100):
        square = draw.random((size, size))
        for result in (
            square @ square,
            square @ square[0],
            square[0] @ square[0],
            np.exp(square),
            np.log(square),
            square.sum(axis=0),
            square.var(),
            scipy.special.stdtrit(size, square),
            scipy.special.betaincinv(size, 2.0, square),
        ):
            found.update(np.asarray(result).tobytes())
    return found.hexdigest()


FILES: dict[str, Callable[[], Any]] = {
    "values.json.xz": lambda: by_draw(values_of),
    "words.json.xz": lambda: by_draw(words_of),
    "names.json": names,
    "outputs.json": lambda: {name: outputs_of(name) for name in RUNS},
}


@functools.cache
def frozen(name: str) -> Any:
    """Return what one of the files holds."""
    path = HERE / name
    if not path.exists():
        return {}
    raw = path.read_bytes()
    return json.loads(lzma.decompress(raw) if path.suffix == ".xz" else raw)


def write(name: str, thing: Any) -> None:
    if name.endswith(".xz"):
        text = json.dumps(thing, separators=(",", ":"))
        (HERE / name).write_bytes(lzma.compress(text.encode(), preset=9))
    else:
        # Lines that a comparison of two versions can show.
        (HERE / name).write_text(json.dumps(thing, indent=1, ensure_ascii=False) + "\n", "utf-8")


def differences(old: Any, new: Any, where: str = "", tolerance: float = 0.0) -> Iterator[str]:
    """Yield one line for each field that differs; NaN is equal to NaN, and -0.0 not to 0.0."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(name for name in new if name not in old)]:
            place = f"{where}, {name}" if where else str(name)
            if name not in new:
                yield f"{place}: was {old[name]!r}, is gone"
            elif name not in old:
                yield f"{place}: was not there, is {new[name]!r}"
            else:
                yield from differences(old[name], new[name], place, tolerance)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{where}[{number}]", tolerance)
    elif repr(old) != repr(new) and not close(old, new, tolerance):
        yield f"{where}: was {old!r}, is {new!r}"


def close(old: Any, new: Any, tolerance: float) -> bool:
    """Return whether rounding on another machine explains the difference of two numbers."""
    if not (tolerance and isinstance(old, float) and isinstance(new, float)):
        return False
    return math.isclose(old, new, rel_tol=tolerance, abs_tol=tolerance)


def kept(old: Any, new: Any, tolerance: float) -> Any:
    """Return the new thing with the old numbers where rounding explains the difference."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {name: kept(old.get(name), thing, tolerance) for name, thing in new.items()}
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [kept(one, other, tolerance) for one, other in zip(old, new, strict=True)]
    return old if close(old, new, tolerance) else new


@functools.cache
def allowed() -> float:
    """Return the tolerance for this machine: 0 where the files were made."""
    return 0.0 if machine() == frozen("machine.json") else 1e-9


def main() -> None:
    """Write the files, or exit with what differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    parser.add_argument("--most", type=int, default=20, help="differences shown per file (20)")
    parser.add_argument("files", nargs="*", help=f"of {', '.join(FILES)}; by default all")
    given = parser.parse_args()
    made, stale = {}, False
    for name in given.files or FILES:
        made[name] = json.loads(json.dumps(FILES[name]()))
        found = list(differences(frozen(name), made[name], "", allowed()))
        stale |= bool(found)
        shown = [f"  {line[:400]}" for line in found[: given.most]]
        sys.stdout.write("\n".join([f"{name}: {len(found)} differences", *shown]) + "\n")
    if stale and not given.check:
        for name, thing in made.items():
            write(name, kept(frozen(name), thing, allowed()) if given.files else thing)
        if not given.files:
            write("machine.json", machine())
        elif allowed() and given.files != ["names.json"]:
            # Numbers of two machines: from now on the last bits may differ on each.
            write("machine.json", {})
    sys.exit(1 if given.check and stale else 0)


if __name__ == "__main__":
    main()
