"""One real run with all verdicts, in a process of its own, and a browser to look at its page."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SHOWCASE = Path(__file__).parent / "showcase.py"
REMEDY = (
    "the pages are looked at in a real browser, which is not installed; on Debian run "
    "`apt-get install chromium chromium-driver`, elsewhere put chromium and chromedriver on PATH"
)


@pytest.fixture(scope="session")
def showcase(tmp_path_factory):
    """Return the folder with the reports of a run with all verdicts: texts shown, and hidden."""
    folder = tmp_path_factory.mktemp("showcase")
    shutil.copy(SHOWCASE, folder / "test_showcase.py")
    away = ("CI", "GITHUB_ACTIONS", "PYTEST_ADDOPTS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    environment = {name: text for name, text in os.environ.items() if name not in away}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly"]
    options = ["--llmfair-save-text", "--llmfair-json=run.json", "--llmfair-html=page.html"]
    done = subprocess.run(
        [*command, *options, "--llmfair-markdown=run.md", "test_showcase.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    return folder


@pytest.fixture
def document(showcase):
    """Return the record of that run, which a test may change."""
    return json.loads((showcase / "run.json").read_text("utf-8"))


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Return a headless browser that loads nothing by itself."""
    # Imported here because collecting tests must stay fast.
    from selenium import webdriver

    program = shutil.which("chromium") or shutil.which("google-chrome") or ""
    driver = shutil.which("chromedriver") or ""
    if not program or not driver:
        pytest.fail(REMEDY)
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
    yield opened
    opened.quit()
