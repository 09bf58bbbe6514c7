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

from pytest_llmfair.audit.engines import make_parts
from pytest_llmfair.audit.index import make_index
from pytest_llmfair.audit.ray_engine import RayActors
from pytest_llmfair.audit.store import Store
from pytest_llmfair.audit.work import revision_of
from pytest_llmfair.cli import main
from pytest_llmfair.clients.budget import Caps
from tests.audit.parts import MOODY, PHASES, PROMPTS, audited, plan_of

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


def test_parts_are_equal_with_one_two_and_eight_workers(folder):
    data = folder / "prompts.txt"
    audited(data, folder / "local")
    digests = {Store(folder / "local").digest(PHASES)}
    for workers in (1, 2, 8):
        out = folder / f"ray{workers}"
        audited(data, out, RayActors(out, Caps(), workers, "local", 0.0))
        digests.add(Store(out).digest(PHASES))
    assert len(digests) == 1


def test_a_worker_that_is_killed_is_replaced(folder):
    import ray

    out = folder / "out"
    model = "python:moody:deadly"
    pool = RayActors(out, Caps(), 2, "local", 0.0)
    found = audited(folder / "prompts.txt", out, pool, model=model, revision=revision_of(model))
    assert (folder / "died").exists()
    assert all(isinstance(a, str) for row in found.responses.original for a in row)
    assert not ray.is_initialized()


def test_a_node_that_is_lost_costs_no_part(folder):
    import ray
    from ray.cluster_utils import Cluster

    data, out = folder / "prompts.txt", folder / "out"
    audited(data, folder / "local", model="python:moody:slow", revision=revision_of("python:x"))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        store = Store(out)
        given = {"model": "python:moody:slow", "revision": revision_of("python:x")}
        plan = plan_of(data, **given).begin(store, data)
        pool = RayActors(out, Caps(), 2, cluster.address, 0.0)
        asked = []

        def done(shard, rows):
            asked.append(shard)
            if len(asked) == 2:
                cluster.remove_node(nodes[0], allow_graceful=False)
                cluster.add_node(num_cpus=1)

        assert make_parts(pool, store, "pairs", plan.shards, lambda *_: None) == {}
        make_index(store, plan.shards, paired=True)
        assert make_parts(pool, store, "answers", plan.shards, done) == {}
        pool.close()
        # The user's own cluster stays.
        assert ray.is_initialized()
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert store.digest(PHASES) == Store(folder / "local").digest(PHASES)


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
        "from pytest_llmfair.audit.ray_engine import _ray\n"
        "ray = _ray()\n"
        "from ray._common.usage.usage_lib import usage_stats_enabled\n"
        "print(json.dumps([before, usage_stats_enabled()]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [False, False]
