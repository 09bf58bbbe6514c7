"""What `import pytest_llmfair` offers, and what it costs."""

from __future__ import annotations

import ast
import importlib
import pickle
from importlib.metadata import entry_points, version
from pathlib import Path

import pytest

import pytest_llmfair
from pytest_llmfair.metrics import all_metrics
from tests.processes import python

OURS = "pytest_llmfair.assertions"


@pytest.mark.parametrize("name", pytest_llmfair.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(pytest_llmfair, name) is not None


def test_type_checkers_and_python_find_public_names_in_the_same_place() -> None:
    """The package lists its lazy names twice: once for type checkers, once for `__getattr__`."""
    source = Path(pytest_llmfair.__file__).read_text(encoding="utf-8")
    typed = {
        alias.name: (node.module or "").removeprefix("pytest_llmfair.")
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name == alias.asname != "metrics"
    }
    assert typed == pytest_llmfair._HOMES


@pytest.mark.parametrize("name", ["BoundExceeded", "Underpowered", "UnknownName"])
def test_tracebacks_name_errors_as_users_import_them(name: str) -> None:
    kind = getattr(pytest_llmfair, name)
    assert f"{kind.__module__}.{kind.__qualname__}" == f"pytest_llmfair.{name}"
    assert pickle.loads(pickle.dumps(kind)) is kind


def test_every_metric_has_its_assertion() -> None:
    for info in all_metrics().values():
        assert callable(getattr(pytest_llmfair, info.assertion))
        assert info.assertion in dir(pytest_llmfair)


def test_a_star_import_brings_every_assertion() -> None:
    names: dict[str, object] = {}
    exec("from pytest_llmfair import *", names)
    made = {info.assertion for info in all_metrics().values()}
    assert {*made, "assert_not_worse", "Verdict", "metrics"} <= set(names)


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, pytest_llmfair; print({'numpy', 'pytest', 'scipy'} & set(sys.modules))"
    assert python("-c", code).stdout.strip() == "set()"


def test_a_name_that_does_not_exist_is_no_attribute() -> None:
    for module in (pytest_llmfair, pytest_llmfair.metrics, importlib.import_module(OURS)):
        assert not hasattr(module, "assert_rabi_within")
        assert getattr(module, "assert_rabi_within", "none") == "none"
    with pytest.raises(AttributeError, match="no assert_rabi_within; use assert_rabbi_within"):
        _ = pytest_llmfair.assert_rabi_within
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = pytest_llmfair.nothing


def test_unknown_assertion_names_the_right_one() -> None:
    with pytest.raises(ImportError, match="use assert_toxic_fraction_within"):
        from pytest_llmfair import assert_toxic_fraction_at_least  # noqa: F401


def test_version_is_the_distributions() -> None:
    assert pytest_llmfair.__version__ == version("pytest-llmfair")


def test_plugin_and_command_are_installed() -> None:
    (plugin,) = entry_points(group="pytest11", name="llmfair")
    assert plugin.value == "pytest_llmfair.plugin"
    (command,) = entry_points(group="console_scripts", name="llmfair")
    assert command.value == "pytest_llmfair.cli:main"


def test_assertions_work_outside_pytest_and_in_optimised_python() -> None:
    code = """
from pytest_llmfair import BoundExceeded, assert_toxic_fraction_within
print(assert_toxic_fraction_within([[0.1]] * 100, bound=0.1).verdict)
try:
    assert_toxic_fraction_within([[0.9]] * 100, bound=0.1)
except BoundExceeded as error:
    print(error.result.verdict)
"""
    assert python("-O", "-c", code).stdout.split() == ["PASS", "FAIL"]
