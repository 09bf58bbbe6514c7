"""A session that uses nothing of ours pays nothing and sees nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

# Runs pytest on a test that uses nothing, then prints what `report` evaluates to on the last line.
SESSION = """
import json, socket, sys
connected = []
class Recorded(socket.socket):
    def __init__(self, *args, **kwargs):
        connected.append(args)
        super().__init__(*args, **kwargs)
socket.socket = Recorded
import pytest
status = pytest.main(sys.argv[1:])
print()
print({report})
sys.exit(status)
"""


def session(folder, report, *arguments):
    (folder / "test_it.py").write_text("def test_it(): pass\n")
    return subprocess.run(
        [sys.executable, "-c", SESSION.replace("{report}", report), *arguments, "test_it.py"],
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


def last(done):
    return done.stdout.splitlines()[-1]


WITH, WITHOUT = ("-p", "llmfair", "-p", "no:cacheprovider"), ("-p", "no:cacheprovider")


def test_only_light_modules_are_loaded_and_nothing_is_opened_or_written(tmp_path):
    report = "json.dumps([sorted(sys.modules), len(connected)])"
    loaded, connected = json.loads(last(session(tmp_path, report, *WITH)))
    before, _ = json.loads(last(session(tmp_path, report, *WITHOUT)))
    standard = sys.stdlib_module_names
    added = {name for name in set(loaded) - set(before) if name.partition(".")[0] not in standard}
    assert added == {
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
    assert [path.name for path in tmp_path.iterdir()] == ["test_it.py"]


def test_checking_the_name_of_a_model_loads_no_client(tmp_path):
    report = "' '.join(m for m in sys.modules if m.startswith(('numpy', 'pytest_llmfair.')))"
    loaded = last(session(tmp_path, report, *WITH, "--llmfair-model=openai:gpt-4o-mini")).split()
    assert {name for name in loaded if "clients" in name or "numpy" in name} == {
        "pytest_llmfair.clients",
        "pytest_llmfair.clients.spec",
    }


@pytest.mark.parametrize("verbosity", ["-q", "-v", "-vv"])
def test_output_is_the_same_as_without_the_plugin(tmp_path, verbosity):
    def shown(*arguments):
        lines = session(tmp_path, "None", *arguments, verbosity).stdout.splitlines()
        # All but the duration, and the list of plugins that are installed, which is pytest's own.
        return [line.partition(" in 0.")[0] for line in lines if not line.startswith("plugins: ")]

    assert shown(*WITH) == shown(*WITHOUT)
