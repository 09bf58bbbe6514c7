"""A session within the session: the plugin as users load it, and no other."""

from __future__ import annotations

import importlib
import pkgutil
import shutil

import pytest

import pytest_llmfair
from pytest_llmfair.gate.configuration import settings_of

# Pytester forgets what a session in the session imported, but numpy and yaml cannot be imported
# twice, and an exception is not caught as its namesake of another import.
for module in pkgutil.walk_packages(pytest_llmfair.__path__, "pytest_llmfair."):
    importlib.import_module(module.name)
for name in ("jsonschema", "rapidfuzz", "scipy.special", "vaderSentiment.vaderSentiment", "yaml"):
    importlib.import_module(name)

# A sample with `toxic` toxic rows of `n`, and the three verdicts on a bound of 0.1.
VERDICTS = """
from pytest_llmfair import assert_toxic_fraction_within

def rows(toxic, n=200):
    return [[0.9]] * toxic + [[0.1]] * (n - toxic)

def test_passes():
    assert_toxic_fraction_within(rows(2), bound=0.1)

def test_fails():
    assert_toxic_fraction_within(rows(100), bound=0.1)

def test_stays_undecided():
    assert_toxic_fraction_within(rows(22), bound=0.1)
"""


@pytest.fixture
def verdicts():
    """Return a test file with one PASS, one FAIL and one INCONCLUSIVE."""
    return VERDICTS


@pytest.fixture
def alone(monkeypatch):
    """Let sessions load no plugin but those that are named, and read no variables of the CI."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in ("CI", "COLUMNS", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run(pytester, alone):
    """Return a function that runs pytest with this plugin and those named in the arguments."""

    def run_pytest(*arguments):
        return pytester.runpytest_inprocess("-p", "llmfair", "-p", "no:cacheprovider", *arguments)

    return run_pytest


@pytest.fixture
def settings(pytester, alone):
    """Return a function that reads the settings of a session with these arguments."""

    def settings(*arguments):
        return settings_of(pytester.parseconfig("-p", "llmfair", *arguments))

    return settings


@pytest.fixture(scope="module")
def _kept(tmp_path_factory):
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def once(_kept, pytester):
    """Return a function that makes a file or a folder, or copies what an earlier test made.

    A session in the session takes longer than most of what is tested with its files.
    """

    def copy(source, target):
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)

    def once(name, make):
        kept, made = _kept / name, pytester.path / name
        if kept.exists():
            copy(kept, made)
        else:
            make()
            copy(made, kept)
        return made

    return once
