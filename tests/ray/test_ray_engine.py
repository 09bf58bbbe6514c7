"""Audits on Ray: the same parts, and no part lost with a worker or a node.

Ray is not among the packages of the other tests; `pytest -m ray` runs these where it is installed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_llmfair.audit.engines import RayActors
from pytest_llmfair.cli import main
from pytest_llmfair.clients.budget import Caps
from tests.audit.parts import MOODY, PROMPTS

pytestmark = pytest.mark.ray


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "prompts.txt").write_text("\n".join(PROMPTS))
    (tmp_path / "moody.py").write_text(MOODY)
    # Workers of Ray import the model by their own path.
    path = [str(tmp_path), str(Path.cwd()), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    "body",
    [
        "parts_are_equal_with_one_two_and_eight_workers",
        "a_worker_that_is_killed_is_replaced",
        "a_node_that_is_lost_costs_no_part",
        "a_node_that_nothing_replaces_costs_no_part",
        "shards_without_a_living_node_fail",
    ],
)
def test_in_a_process_of_its_own(folder, body):
    code = f"import pathlib; from tests.ray.bodies import {body} as run; run(pathlib.Path('.'))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_cluster_without_authentication_is_not_started(folder, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(ValueError, match="RAY_AUTH_MODE=disabled would let anyone"):
        RayActors(folder / "out", Caps(), 1, "local", 0.0)


def test_models_on_a_server_are_refused_with_the_remedy(folder, capsys):
    (folder / "a.llmfair.yaml").write_text(
        "version: 1\nchecks:\n- {metric: toxic_fraction, bound: 0.1, rationale: r, owner: o}\n"
    )
    with pytest.raises(SystemExit, match="2"):
        main(
            [
                *("audit", str(folder / "prompts.txt"), "--model", "openai:gpt"),
                *("--engine", "ray", "--checks", str(folder / "a.llmfair.yaml")),
                *("--out", str(folder / "out")),
            ]
        )
    assert "use --engine local --workers N" in capsys.readouterr().err


def test_usage_statistics_are_off_and_nothing_imports_ray_before(folder):
    code = (
        "import json, os, sys\n"
        "import pytest_llmfair, pytest_llmfair.audit.command\n"
        "before = 'ray' in sys.modules\n"
        "from pytest_llmfair.audit.engines import _ray\n"
        "ray = _ray()\n"
        "from ray._common.usage.usage_lib import usage_stats_enabled\n"
        "print(json.dumps([before, usage_stats_enabled()]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [False, False]
