"""What all tests share."""

from __future__ import annotations

import gc
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_llmfair.session import Recorder, recording
from pytest_llmfair.settings import Settings

if TYPE_CHECKING:
    from selenium.webdriver.chrome.webdriver import WebDriver

# One thread for each worker of xdist: more would wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# `pytest --help` loads this file in a clone where only the plugin itself is installed.
if find_spec("hypothesis"):
    from hypothesis import settings

    # The same examples in every run, however slow the machine: a red run can be repeated.
    settings.register_profile("repeatable", derandomize=True, deadline=None)
    settings.load_profile("repeatable")


BROWSER = (
    "the pages are looked at in a real browser, which is not installed; on Debian run "
    "`apt-get install chromium chromium-driver`, elsewhere put chromium and chromedriver on PATH"
)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect tests without garbage collection, which takes a quarter of the time.

    Modules and tests live as long as the session: to look through them frees nothing.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let clients under test take their whole limits, and sessions under test write no reports.

    Workers of xdist share limits, and a step of GitHub Actions has a summary and annotations.
    """
    for name in ("PYTEST_XDIST_WORKER_COUNT", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _record_of_its_own(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keep what our own tests judge out of the summary of their session."""
    with recording(Recorder(request.node.nodeid, Settings(show_text="worst"))):
        yield


@pytest.fixture
def llmfair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs ``llmfair`` in a folder of its own, as on a user's machine.

    It runs in this process: to load the package in another one takes longer than most commands.
    """
    from pytest_llmfair.cli import main

    for variable in ("CI", "COLUMNS", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.chdir(tmp_path)

    def llmfair(*arguments: str) -> subprocess.CompletedProcess[str]:
        out, err = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "path", [*sys.path])
        with redirect_stdout(out), redirect_stderr(err):
            try:
                status = main(arguments)
            except SystemExit as stopped:
                status = int(stopped.code or 0)
        for name, module in list(sys.modules.items()):
            if tmp_path in Path(getattr(module, "__file__", None) or "").parents:
                del sys.modules[name]
        return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())

    return llmfair


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return a function that runs a command with wrong arguments, and returns its errors."""
    from pytest_llmfair.cli import main

    def refused(*arguments: str) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 2
        return capsys.readouterr().err

    return refused


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    """Return a headless browser that loads nothing by itself."""
    from selenium import webdriver

    program = shutil.which("chromium") or shutil.which("google-chrome") or ""
    driver = shutil.which("chromedriver") or ""
    if not program or not driver:
        pytest.fail(BROWSER)
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in (
        *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
        *("--disable-sync", f"--user-data-dir={tmp_path_factory.mktemp('browser')}"),
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    # Leaves the browser's own first page, which still loads files of its own on a busy machine.
    opened.get("about:blank")
    yield opened
    opened.quit()
