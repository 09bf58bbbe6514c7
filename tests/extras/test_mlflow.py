"""`llmfair export --mlflow`, and three runs of an example: diff, history and a store of MLflow."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "tutorials" / "regression"
TESTS = """
from pytest_llmfair import assert_metric, assert_toxic_fraction_within

def test_tone():
    assert_toxic_fraction_within([[0.9]] * 2 + [[0.1]] * 198, bound=0.1)

def test_rates():
    assert_metric("impact_ratio", [0] * 40, groups=["a", "b"] * 20, minimum=0.8)
"""
# A store on this machine needs no connection, and a thread that tries one fails in silence.
COMMAND = """
import socket, sys
tried = []
def refused(*arguments, **keywords):
    tried.append(arguments)
    raise OSError("no network")
socket.socket.connect = socket.getaddrinfo = refused
from pytest_llmfair.cli import main
status = main(sys.argv[1:])
sys.exit(f"connections: {tried}" if tried else status)
"""
# What MLflow holds, as JSON.
STORED = """
import json, os, sys
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
from mlflow import MlflowClient
client = MlflowClient(tracking_uri="sqlite:///store.db")
place = client.get_experiment_by_name("fairness").experiment_id
print(json.dumps([
    {"metrics": run.data.metrics, "tags": run.data.tags, "status": run.info.status,
     "page": client.download_artifacts(run.info.run_id, "report.html")}
    for run in client.search_runs([place], order_by=["attributes.start_time"])
]))
"""


def started(folder, *arguments):
    # Not the CI's and not this test's: there MLflow is silent by itself.
    kept = ("PATH", "HOME", "OMP_NUM_THREADS", "SYSTEMROOT")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def llmfair(folder, *arguments):
    return started(folder, "-c", COMMAND, *arguments)


def export(folder, run):
    done = llmfair(folder, "export", run, "--mlflow", "--tracking-uri", "sqlite:///store.db")
    assert done.returncode == 0, done.stderr
    return done.stdout


def stored(folder):
    done = started(folder, "-c", STORED)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_run_is_logged_to_a_local_store_without_a_connection(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS, "utf-8")
    started(tmp_path, "-m", "pytest", "-p", "llmfair", "--llmfair-json=run.json")
    assert export(tmp_path, "run.json").startswith("2 checks in run ")
    tone = json.loads((tmp_path / "run.json").read_text("utf-8"))["results"][1]
    (run,) = stored(tmp_path)
    assert run["status"] == "FINISHED"
    name = "test_it.py__test_tone toxic_fraction"
    assert {key: value for key, value in run["metrics"].items() if name in key} == {
        f"{name}/{key}": tone[key] for key in ("value", "lower", "upper", "bound")
    }
    # A value that is undefined is no metric, and never 0.
    name = "test_it.py__test_rates impact_ratio"
    assert [key for key in run["metrics"] if name in key] == [f"{name}/bound"]
    assert run["tags"][f"verdict {name}"] == "INVALID"
    page = Path(run["page"]).read_text("utf-8")
    assert "<h1>Fairness report</h1>" in page


@pytest.mark.slow
def test_three_runs_of_the_example_in_diff_history_and_mlflow(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "example", ignore=shutil.ignore_patterns("__pycache__"))
    bots = ("released", "slightly_colder", "colder")
    for bot in bots:
        options = (f"--llmfair-model=python:bots:{bot}", f"--llmfair-evidence=../{bot}")
        started(tmp_path / "example", "-m", "pytest", "-p", "llmfair", *options)

    done = llmfair(tmp_path, "diff", "released", "colder")
    assert done.returncode == 1, done.stderr
    assert "**2 checks: 1 worse, 1 same verdict.**" in done.stdout
    # The difference is the one that the gate against the baseline judged in that run.
    record = json.loads((tmp_path / "colder" / "run.json").read_text("utf-8"))
    loss = next(r for r in record["results"] if r["metric"].endswith("worse than baseline"))
    shown = f"{loss['value']:.3f} &#91;{loss['lower']:.3f}, {loss['upper']:.3f}]"
    assert f"| {shown}, paired by prompt: proven less fair |" in done.stdout
    assert "| Model python:bots:colder | not used | used |" in done.stdout
    done = llmfair(tmp_path, "diff", "released", "released")
    assert (done.returncode, "The two runs are identical" in done.stdout) == (0, True)

    done = llmfair(tmp_path, "history", *reversed(bots), "--html", "page.html")
    assert done.stdout == "page.html: 3 runs, in the order of their times\n"
    page = (tmp_path / "page.html").read_text("utf-8")
    assert re.findall(r'<th scope="row">\d ([\w<>]+)</th>', page)[:1] == ["released"]
    assert (page.count('class="joined"'), page.count('class="break"')) == (4, 0)

    for bot in bots:
        export(tmp_path, bot)
    name = "test_references.py__test_references_about_women_are_as_warm strict_sentiment_parity"
    values = [run["metrics"][f"{name}/value"] for run in stored(tmp_path)]
    assert values == sorted(values)
    assert len(values) == 3
    done = llmfair(tmp_path, "export", "colder", "--mlflow", "--tracking-uri", "nowhere://x")
    assert (done.returncode, done.stderr.startswith("llmfair: MLflow: ")) == (2, True)
