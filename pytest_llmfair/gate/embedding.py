"""Pytest inside a command: checks in the place of the file or folder that they are about."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

from pytest_llmfair.gate.check import Checks
from pytest_llmfair.gate.yaml_checks import CheckFile


def run_pytest(arguments: Iterable[str], *plugins: object) -> int:
    """Run pytest with this plugin, and return its exit status."""
    return int(pytest.main(["-p", "llmfair", *arguments], plugins))


class GivenChecks:
    """Lets pytest collect checks in the place of a file or a folder, which `path` names."""

    def __init__(self, path: Path, make: Callable[[], Checks]) -> None:
        self._path = path
        self._make = make

    def _collected(self, parent: Any, **options: Any) -> CheckFile:
        file: CheckFile = CheckFile.from_parent(parent, path=self._path, **options)
        file.make = self._make
        return file

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: Any) -> None:
        """Stay in this process: workers of xdist would not know a check that is in no file."""
        if getattr(config.option, "dist", "no") != "no":
            config.option.dist = "no"

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path, parent: Any) -> Generator[None, Any, Any]:
        """Return the checks alone; another plugin may take a .txt file for doctests."""
        found = yield
        return [self._collected(parent)] if file_path == self._path else found

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_directory(self, path: Path, parent: Any) -> Any:
        """Return the checks instead of the folder; their names begin with the command's source."""
        if path != self._path:
            return None
        return self._collected(parent, nodeid=self._make().source)
