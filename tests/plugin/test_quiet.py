"""A session that uses nothing of ours pays nothing and sees nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

# Runs pytest on a test that uses nothing, once with each of the options that are given as JSON;
# prints what each run printed, the modules that are loaded, and the sockets that were opened.
SESSIONS = """
import contextlib, io, json, socket, sys
connected = []
class Recorded(socket.socket):
    def __init__(self, *args, **kwargs):
        connected.append(args)
        super().__init__(*args, **kwargs)
socket.socket = Recorded
import pytest
printed = []
for options in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        assert pytest.main([*options, "-p", "no:cacheprovider", "test_it.py"]) == 0
    printed.append(shown.getvalue())
print(json.dumps([printed, sorted(sys.modules), len(connected)]))
"""
VERBOSITIES = ["-q", "-v", "-vv"]


def sessions(folder, *options):
    (folder / "test_it.py").write_text("def test_it(): pass\n")
    done = subprocess.run(
        [sys.executable, "-c", SESSIONS, json.dumps(options)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env={
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            # The package under test, where another one is installed.
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        },
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("quiet")


@pytest.fixture(scope="module")
def ours(folder):
    """Return what sessions with the plugin print, load and connect to."""
    return sessions(folder, *(["-p", "llmfair", verbosity] for verbosity in VERBOSITIES))


@pytest.fixture(scope="module")
def others(folder):
    """Return the same of sessions without the plugin."""
    return sessions(folder, *([verbosity] for verbosity in VERBOSITIES))


def test_only_light_modules_are_loaded_and_nothing_is_opened_or_written(folder, ours, others):
    _, loaded, connected = ours
    standard = sys.stdlib_module_names
    new = set(loaded) - set(others[1])
    assert {name for name in new if name.partition(".")[0] not in standard} == {
        "pytest_llmfair",
        "pytest_llmfair.fixtures",
        "pytest_llmfair.gate",
        "pytest_llmfair.gate.configuration",
        "pytest_llmfair.gate.run",
        "pytest_llmfair.plugin",
        "pytest_llmfair.session",
        "pytest_llmfair.settings",
        "pytest_llmfair.settings.options",
    }
    assert "numpy" not in loaded
    assert connected == 0
    assert [path.name for path in folder.iterdir()] == ["test_it.py"]


def test_checking_the_name_of_a_model_loads_no_client(tmp_path):
    _, loaded, _ = sessions(tmp_path, ["-p", "llmfair", "--llmfair-model=openai:gpt-4o-mini"])
    clients = {name for name in loaded if name.startswith("pytest_llmfair.clients")}
    assert clients == {"pytest_llmfair.clients", "pytest_llmfair.clients.spec"}
    assert "numpy" not in loaded


@pytest.mark.parametrize("run", range(3), ids=VERBOSITIES)
def test_output_is_the_same_as_without_the_plugin(ours, others, run):
    def shown(printed):
        lines = printed[run].splitlines()
        # All but the duration, and the list of plugins that are installed, which is pytest's own.
        return [line.partition(" in 0.")[0] for line in lines if not line.startswith("plugins: ")]

    assert shown(ours[0]) == shown(others[0])
    assert any("1 passed" in line for line in shown(ours[0]))
