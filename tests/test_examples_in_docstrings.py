"""Every name that users call has an example in its docstring, and every example runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import pytest_llmfair

PACKAGE = Path(pytest_llmfair.__file__).parent
FACES = (
    "",
    ".metrics",
    ".stats",
    ".counterfactuals",
    ".clients",
    ".scorers",
    ".probing",
    ".testing",
)
WITH_EXAMPLES = sorted(
    path.relative_to(PACKAGE.parent).with_suffix("").as_posix().replace("/", ".")
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def failures(name: str, item: object, names: dict[str, object]) -> list[str]:
    """Return what differs when the examples of an object are run."""
    said: list[str] = []
    for test in doctest.DocTestFinder().find(item, name, globs=dict(names)):
        doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(test, out=said.append)
    return said


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_run(name: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name.removesuffix(".__init__"))
    assert failures(name, module, vars(module)) == []


@pytest.mark.parametrize("face", FACES)
def test_every_public_function_has_an_example(face: str) -> None:
    module = importlib.import_module(f"pytest_llmfair{face}")
    missing = [
        name
        for name in module.__all__
        if inspect.isfunction(found := getattr(module, name))
        if ">>> " not in (inspect.getdoc(found) or "")
    ]
    assert missing == []
