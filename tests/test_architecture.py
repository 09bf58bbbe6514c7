"""House rules that a reader relies on: who imports whom, what loads when, how long files are.

``python tests/test_architecture.py`` prints the figures. A room is a folder or a module of the
package's root. Every import counts: inside functions, for type checkers only, of modules by name.
"""

from __future__ import annotations

import ast
import functools
import io
import sys
import tokenize
from collections.abc import Mapping
from pathlib import Path

import pytest

import pytest_llmfair

PACKAGE = Path(pytest_llmfair.__file__).parent

# From the ground up: a room imports its own layer's row only where `PEERS` does not forbid it.
LAYERS = (
    ("settings", "session", "sampling", "replies", "responses", "text", "_util"),
    ("stats",),
    ("lexicons",),
    ("metrics", "results"),
    ("counterfactuals", "clients", "scorers"),
    ("judging",),
    (
        *("assertions", "signatures", "fairness", "labels", "probing", "reports", "gate"),
        *("suites", "audit"),
    ),
    ("plugin", "fixtures", "cli", "testing", "__init__"),
)
# These rooms of one layer do not import each other.
STRANGERS = {"counterfactuals", "clients", "scorers"}
# What type checkers read for the assertions that `assertions` makes.
STUB = "metric_assertions"
LAYER = {room: floor for floor, rooms in enumerate(LAYERS, start=1) for room in rooms}


def files() -> list[Path]:
    """Return every Python file of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def name_of(file: Path) -> str:
    """Return the path of a file within the package."""
    return file.relative_to(PACKAGE).as_posix()


def room_of(file: Path) -> str:
    """Return the folder or root module that a file belongs to."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


@functools.cache
def imports(file: Path, *, top_level: bool = False) -> list[str]:
    """Return the dotted names that a file imports; with `top_level` only what runs at import."""
    found: list[str] = []
    waiting: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if top_level and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"{name_of(file)} has a relative import")
            # Names of the root are counted below: each is a room, or comes from ``__init__``.
            if node.module != "pytest_llmfair":
                found.append(node.module or "")
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif not (top_level and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))):
            waiting += ast.iter_child_nodes(node)
    return found


def rooms_used(file: Path) -> set[str]:
    """Return the other rooms that a file imports."""
    found = set()
    for name in imports(file):
        parts = name.split(".")
        if parts[0] != "pytest_llmfair":
            continue
        room = parts[1] if len(parts) > 1 else "__init__"
        found.add(room if room in LAYER or room == STUB else "__init__")
    return found - {room_of(file), STUB}


def upward() -> list[str]:
    """Return every import that breaks the layers, as "file imports room"."""
    broken = []
    for file in files():
        room = room_of(file)
        for used in sorted(rooms_used(file)):
            strangers = {room, used} <= STRANGERS
            if strangers or LAYER[used] > LAYER[room]:
                broken.append(f"{name_of(file)} imports {used}")
    return broken


def circles() -> list[list[str]]:
    """Return groups of rooms that import each other in a loop."""
    arrows: dict[str, set[str]] = {}
    for file in files():
        arrows.setdefault(room_of(file), set()).update(rooms_used(file))
    return _loops(arrows)


def circles_within(room: str) -> list[list[str]]:
    """Return groups of files of a room that import each other in a loop, by module name."""
    own = {
        ".".join(("pytest_llmfair", *file.relative_to(PACKAGE).with_suffix("").parts)): file
        for file in files()
        if room_of(file) == room and file.name != "__init__.py"
    }
    return _loops({name: {*imports(file)} & own.keys() for name, file in own.items()})


def _loops(arrows: Mapping[str, set[str]]) -> list[list[str]]:
    reach = {start: _reachable(start, arrows) for start in arrows}
    groups = {
        tuple(sorted(other for other in arrows if other in reach[start] and start in reach[other]))
        for start in arrows
        if start in reach[start]
    }
    return [list(group) for group in sorted(groups)]


def _reachable(start: str, arrows: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for room in arrows.get(waiting.pop(), set()) - found:
            found.add(room)
            waiting.append(room)
    return found


def longest_function() -> tuple[int, str]:
    """Return the length in lines and the name of the longest function."""
    return max(
        ((node.end_lineno or 0) - node.lineno + 1, f"{name_of(file)}:{node.name}")
        for file in files()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    )


def comments(file: Path) -> int:
    """Return how many lines of a file hold a comment."""
    source = io.StringIO(file.read_text(encoding="utf-8"))
    return sum(each.type == tokenize.COMMENT for each in tokenize.generate_tokens(source.readline))


START_UP = (
    "__init__",
    "fixtures",
    "gate.__init__",
    "gate.configuration",
    "gate.run",
    "plugin",
    "session",
    "settings.__init__",
    "settings.options",
)
HEAVY = {
    "anthropic",
    "detoxify",
    "hypothesis",
    "openai",
    "pandas",
    "sentence_transformers",
    "torch",
    "transformers",
}
GUESSES = tuple(f"Return {word} " for word in ("how", "what", "which", "why"))


def test_every_room_has_its_layer() -> None:
    assert {room_of(file) for file in files()} - {STUB} == {*LAYER}


def test_imports_go_down_the_layers_only() -> None:
    assert upward() == []


def test_no_rooms_import_each_other_in_a_circle() -> None:
    assert circles() == []


@pytest.mark.parametrize("room", sorted(room for room in LAYER if (PACKAGE / room).is_dir()))
def test_no_files_of_a_room_import_each_other_in_a_circle(room: str) -> None:
    assert circles_within(room) == []


def test_only_the_pipeline_judges() -> None:
    users = [name_of(f) for f in files() if "pytest_llmfair.judging.verdict.judge" in imports(f)]
    assert users == ["judging/pipeline.py"]


def test_the_root_has_at_most_twelve_modules() -> None:
    assert len([file for file in files() if file.parent == PACKAGE]) <= 12


def test_private_modules_stay_in_their_room() -> None:
    wrong = [
        f"{name_of(file)} imports {name}"
        for file in files()
        for name in imports(file)
        if name.startswith("pytest_llmfair.")
        if any(part.startswith("_") and not part.startswith("__") for part in name.split(".")[2:])
        if name.split(".")[1] not in (room_of(file), "_util")
    ]
    assert wrong == []


def test_scipy_stats_is_never_imported() -> None:
    users = [name_of(f) for f in files() if any(n.startswith("scipy.stats") for n in imports(f))]
    assert users == []


def test_heavy_libraries_load_in_the_function_that_needs_them() -> None:
    wrong = [
        f"{name_of(file)} imports {name}"
        for file in files()
        for name in imports(file, top_level=True)
        if name.partition(".")[0] in HEAVY
    ]
    assert wrong == []


def test_collecting_the_tests_loads_no_library_that_takes_half_a_second() -> None:
    slow = ("langchain_core", "rouge_score", "scipy.stats", "torch", "transformers")
    wrong = [
        f"{file.name} imports {name}"
        for file in sorted(Path(__file__).parent.rglob("*.py"))
        for name in imports(file, top_level=True)
        if name.startswith(slow)
    ]
    assert wrong == []


@pytest.mark.parametrize("module", START_UP)
def test_start_up_needs_the_standard_library_and_pytest_only(module: str) -> None:
    light = {"pytest", *sys.stdlib_module_names}
    ours = {f"pytest_llmfair.{name}".removesuffix(".__init__") for name in START_UP}
    found = [
        name
        for name in imports(PACKAGE / f"{module.replace('.', '/')}.py", top_level=True)
        if name.partition(".")[0] not in light
        and name not in ours
        and name.rpartition(".")[0] not in ours
    ]
    assert found == []


def test_no_file_uses_the_insides_of_pytest() -> None:
    users = [name_of(f) for f in files() if any(n.startswith("_pytest") for n in imports(f))]
    assert users == []


def test_no_file_is_longer_than_400_lines() -> None:
    lengths = {name_of(f): len(f.read_text(encoding="utf-8").splitlines()) for f in files()}
    assert {name: n for name, n in lengths.items() if n > 400} == {}


def test_docstrings_name_what_they_return() -> None:
    # "Return what a cell holds" makes a reader guess: "Return the value of a cell".
    wrong = [
        f"{name_of(file)}: {text.splitlines()[0]}"
        for file in files()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.Module))
        if (text := ast.get_docstring(node) or "").startswith(GUESSES)
    ]
    assert wrong == []


def main() -> None:
    """Print the figures of the house."""
    lengths = {name_of(f): len(f.read_text(encoding="utf-8").splitlines()) for f in files()}
    total = sum(lengths.values())
    length, name = longest_function()
    share = sum(map(comments, files())) / total
    lines = [
        f"{total:,} lines of Python in {len(lengths)} files, longest {max(lengths.values())}",
        f"root modules: {sum('/' not in name for name in lengths)}",
        f"rooms: {len({room_of(f) for f in files()})} on {len(LAYERS)} layers",
        f"upward imports: {len(upward())}",
        *(f"  {each}" for each in upward()),
        f"circles between rooms: {len(circles())}",
        *(f"  {', '.join(each)}" for each in circles()),
        f"longest function: {length} lines, {name}",
        f"lines with a comment: {share:.1%}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
