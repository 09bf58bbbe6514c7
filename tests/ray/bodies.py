"""What tests of Ray do, each in a process of its own.

Ray numbers actors from the start in every session of a process, so that handles of an earlier
session, when they are freed, can end actors of a later one.
"""

from __future__ import annotations

from pytest_llmfair.audit import engines
from pytest_llmfair.audit.engines import RayActors, make_parts
from pytest_llmfair.audit.plan import make_index
from pytest_llmfair.audit.store import Store
from pytest_llmfair.clients.budget import Caps
from tests.audit.parts import audited, digest, plan_of


def parts_are_equal_with_one_two_and_eight_workers(folder):
    data = folder / "prompts.txt"
    audited(data, folder / "local", whole=True)
    digests = {digest(folder / "local")}
    for workers in (1, 2, 8):
        out = folder / f"ray{workers}"
        audited(data, out, RayActors(out, Caps(), workers, "local", 0.0), whole=True)
        digests.add(digest(out))
    assert len(digests) == 1


def a_worker_that_is_killed_is_replaced(folder):
    import ray

    out = folder / "out"
    model = "python:moody:deadly"
    pool = RayActors(out, Caps(), 2, "local", 0.0)
    found = audited(folder / "prompts.txt", out, pool, model=model)
    assert (folder / "died").exists()
    assert all(isinstance(a, str) for row in found.responses.original for a in row)
    assert not ray.is_initialized()


def a_node_that_is_lost_costs_no_part(folder):
    assert _made_on_two_nodes(folder, lost=1, added=1) == {}
    assert digest(folder / "out") == digest(folder / "local")


def a_node_that_nothing_replaces_costs_no_part(folder):
    assert _made_on_two_nodes(folder, lost=1, added=0) == {}
    assert digest(folder / "out") == digest(folder / "local")


def shards_without_a_living_node_fail(folder):
    failed = _made_on_two_nodes(folder, lost=2, added=0)
    assert len(failed) >= 4
    assert all("no worker found a place in the cluster within 3 s" in f for f in failed.values())


def _made_on_two_nodes(folder, *, lost, added):
    """Make an audit on two nodes, lose nodes after the second part, and return what failed."""
    import ray
    from ray.cluster_utils import Cluster

    data, out = folder / "prompts.txt", folder / "out"
    audited(data, folder / "local", model="python:moody:slow")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        store = Store(out)
        plan = plan_of(data, model="python:moody:slow")
        out.mkdir()
        plan.begin(store, data)
        pool = RayActors(out, Caps(), 2, cluster.address, 0.0)
        asked = []

        def done(_, rows):
            asked.append(rows)
            if len(asked) == 2:
                if lost == 2:
                    engines.PATIENCE = 3.0
                for node in nodes[:lost]:
                    cluster.remove_node(node, allow_graceful=False)
                for _ in range(added):
                    cluster.add_node(num_cpus=1)

        assert make_parts(pool, store, "pairs", plan.shards, lambda *_: None) == {}
        make_index(store, plan.shards, paired=True)
        failed = make_parts(pool, store, "answers", plan.shards, done)
        pool.close()
        # The user's own cluster stays.
        assert ray.is_initialized()
    finally:
        ray.shutdown()
        cluster.shutdown()
    return failed
