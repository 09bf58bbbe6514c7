"""House rules that a reader relies on: who imports whom, what loads when, how long files are."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_llmfair

PACKAGE = Path(pytest_llmfair.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
START_UP = ("__init__", "plugin", "fixtures", "options", "settings", "recording")
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
# What a room may import of the package; a room that is not listed may import any public module.
ALLOWED = {
    "stats": {"notebook", "stats", "wording"},
    "metrics": {
        "arguments",
        "attributes",
        "bilou",
        "checks",
        "metrics",
        "responses",
        "sampling",
        "stats",
        "text",
        "vocabulary",
        "withheld",
    },
    "clients": {
        "clients",
        "counterfactuals",
        "extras",
        "modelspec",
        "pretrained",
        "progress",
        "recording",
        "responses",
        "settings",
        "text",
        "withheld",
    },
    "scorers": {
        "scorers",
        "clients",
        "counterfactuals",
        "extras",
        "pretrained",
        "progress",
        "recording",
        "responses",
        "stats",
        "text",
    },
    "lexicons": {"lexicons", "text"},
    "counterfactuals": {
        "bilou",
        "checks",
        "counterfactuals",
        "extras",
        "files",
        "lexicons",
        "sampling",
        "text",
    },
    "reports": {"bounds", "notebook", "power", "reports", "results", "settings", "wording"},
}
# These ask a model about pairs: they load what is behind their room, and only when called.
ASK_A_MODEL = {
    "counterfactuals/_searching.py": {"clients"},
    "counterfactuals/continuations.py": {"clients", "responses"},
    "counterfactuals/rewriting.py": {"clients", "metrics"},
    "counterfactuals/worst_pair.py": {"invariance"},
}


def name_of(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()


def room_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(file: Path, *, top_level: bool = False) -> Iterator[str]:
    """Yield the dotted names a file imports when it runs, so nothing below `TYPE_CHECKING`."""
    waiting: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(file)} has a relative import"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not (top_level and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))):
            waiting += ast.iter_child_nodes(node)


def own(file: Path) -> Iterator[list[str]]:
    """Yield what a file imports of the package, as path parts below it."""
    for name in imports(file):
        parts = name.split(".")
        if parts[0] == "pytest_llmfair" and len(parts) > 1:
            yield parts[1:]


@pytest.mark.parametrize("room", ALLOWED)
def test_imports_go_one_way(room: str) -> None:
    wrong = [
        f"{name_of(file)} imports {parts[0]}"
        for file in FILES
        if room_of(file) == room
        for parts in own(file)
        # A name of the package itself is a public name, not a module.
        if (PACKAGE / parts[0]).is_dir() or (PACKAGE / f"{parts[0]}.py").is_file()
        if parts[0] not in ALLOWED[room] | ASK_A_MODEL.get(name_of(file), set())
    ]
    assert wrong == []


def test_nothing_imports_the_plugin() -> None:
    assert [name_of(file) for file in FILES if ["plugin"] in own(file)] == []


def test_only_the_plugin_imports_the_fixtures() -> None:
    assert [name_of(file) for file in FILES if ["fixtures"] in own(file)] == ["plugin.py"]


def test_private_modules_stay_in_their_room() -> None:
    wrong = [
        f"{name_of(file)} imports {'.'.join(parts)}"
        for file in FILES
        for parts in own(file)
        if any(part.startswith("_") and not part.startswith("__") for part in parts[1:])
        if parts[0] in ("clients", "counterfactuals", "reports", "scorers", "stats")
        if parts[0] != room_of(file)
    ]
    assert wrong == []


def test_scipy_stats_is_never_imported() -> None:
    users = [name_of(f) for f in FILES if any(n.startswith("scipy.stats") for n in imports(f))]
    assert users == []


def test_heavy_libraries_load_in_the_function_that_needs_them() -> None:
    wrong = [
        f"{name_of(file)} imports {name}"
        for file in FILES
        for name in imports(file, top_level=True)
        if name.partition(".")[0] in HEAVY
    ]
    assert wrong == []


@pytest.mark.parametrize("module", START_UP)
def test_start_up_needs_the_standard_library_and_pytest_only(module: str) -> None:
    light = {"pytest", *sys.stdlib_module_names}
    ours = {f"pytest_llmfair.{name}" for name in START_UP} | {"pytest_llmfair"}
    found = [
        name
        for name in imports(PACKAGE / f"{module}.py", top_level=True)
        if name.partition(".")[0] not in light
        and name not in ours
        and name.rpartition(".")[0] not in ours
    ]
    assert found == []


def test_no_file_uses_the_insides_of_pytest() -> None:
    users = [name_of(f) for f in FILES if any(n.startswith("_pytest") for n in imports(f))]
    assert users == []


def test_no_file_is_longer_than_450_lines() -> None:
    lengths = {name_of(f): len(f.read_text(encoding="utf-8").splitlines()) for f in FILES}
    assert {name: n for name, n in lengths.items() if n > 450} == {}
