"""House rules that a reader relies on: who imports whom, what loads when, how long files are."""

from __future__ import annotations

import sys

import pytest

from tests import house
from tests.house import PACKAGE, files, imports, name_of

START_UP = ("__init__", "plugin", "fixtures", "settings", "session")
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


def test_every_room_has_its_layer() -> None:
    assert {house.room_of(file) for file in files()} - {"metric_assertions"} == {*house.LAYER}


def test_imports_go_down_the_layers_only() -> None:
    assert house.upward() == []


def test_no_rooms_import_each_other_in_a_circle() -> None:
    assert house.circles() == []


def test_the_root_has_at_most_twelve_modules() -> None:
    assert len([file for file in files() if file.parent == PACKAGE]) <= 12


def test_private_modules_stay_in_their_room() -> None:
    wrong = [
        f"{name_of(file)} imports {name}"
        for file in files()
        for name in imports(file)
        if name.startswith("pytest_llmfair.")
        if any(part.startswith("_") and not part.startswith("__") for part in name.split(".")[2:])
        if name.split(".")[1] not in (house.room_of(file), "_util")
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
    users = [name_of(f) for f in files() if any(n.startswith("_pytest") for n in imports(f))]
    assert users == []


def test_no_file_is_longer_than_450_lines() -> None:
    lengths = {name_of(f): len(f.read_text(encoding="utf-8").splitlines()) for f in files()}
    assert {name: n for name, n in lengths.items() if n > 450} == {}
