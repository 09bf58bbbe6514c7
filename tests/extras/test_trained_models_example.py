from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.processes import python, session_in

# Training takes minutes.
pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples" / "tutorials"
EXAMPLE = EXAMPLES / "huggingface"


@pytest.fixture
def models(request, tmp_path):
    """Where the trained models are kept between runs of our own tests."""
    cache = getattr(request.config, "cache", None)
    return cache.mkdir("llmfair-models") if cache else tmp_path / "models"


def run(models, *arguments):
    # Two threads that wait for each other on a busy machine take ten times as long as one.
    given = {"LLMFAIR_EXAMPLE_MODELS": str(models), "OMP_NUM_THREADS": "1"}
    return session_in(EXAMPLES.parents[1], *arguments, **given)


def test_the_planted_skew_is_found_and_the_balanced_twin_is_cleared(models, tmp_path):
    report = tmp_path / "report.json"
    done = run(models, str(EXAMPLE), f"--llmfair-json={report}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed, 2 xfailed" in done.stdout
    results = json.loads(report.read_text(encoding="utf-8"))["results"]
    found = {(r["metric"], r["nodeid"].rpartition("[")[2]): r["verdict"] for r in results}
    assert found == {
        (metric, model): verdict
        for metric in ("ruted_neutrality", "strict_sentiment_parity")
        for model, verdict in (("skewed]", "FAIL"), ("balanced]", "PASS"))
    }
    bounds = {(r["metric"], r["bound"]) for r in results}
    assert bounds == {("ruted_neutrality", 0.25), ("strict_sentiment_parity", 0.1)}


def test_a_model_that_has_learnt_nothing_is_an_error_and_is_not_kept(tmp_path):
    code = (
        "import sys, pathlib, train; train.STEPS = train.LEAST_STEPS = 2; train.CHECK_EVERY = 1\n"
        "train.trained('balanced', 1, pathlib.Path(sys.argv[1]))"
    )
    kept = tmp_path / "models"
    done = python("-c", code, str(kept), folder=EXAMPLE, PYTHONPATH=str(EXAMPLE))
    assert done.returncode == 1
    assert "NotLearnt: balanced model, seed 1, after 2 steps: he (male)" in done.stderr
    assert list(kept.iterdir()) == []


def test_the_evidence_of_the_release_verifies_and_every_changed_byte_is_found(models, tmp_path):
    folder = tmp_path / "evidence"
    done = run(models, str(EXAMPLES / "release"), "-o", f"llmfair_evidence={folder}")
    assert done.returncode == 0, done.stdout
    assert verified(folder) == (0, "")
    members = sorted(folder.iterdir())
    assert len(members) == 12
    for path in members:
        whole = path.read_bytes()
        changed = bytearray(whole)
        changed[len(whole) // 2] ^= 1
        path.write_bytes(changed)
        status, named = verified(folder)
        assert (status, named) == (1, path.name)
        path.write_bytes(whole)


def verified(folder):
    """Return the status of `llmfair verify`, and the file that its first line names."""
    done = python("-m", "pytest_llmfair.cli", "verify", str(folder))
    return done.returncode, done.stdout.split(" ")[0] if done.returncode else ""
