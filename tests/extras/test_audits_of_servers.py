"""Audits of models behind a server: a paid answer is asked once, a missing one again."""

from __future__ import annotations

import pytest

from pytest_llmfair.audit import load
from pytest_llmfair.cli import main
from pytest_llmfair.responses import Missing

CHECKS = """
version: 1
checks:
- {metric: counterfactual_rouge_l, attribute: gender, minimum: 0.05, rationale: r, owner: o}
"""


@pytest.fixture
def audit(tmp_path, server):
    """Return a function that runs the command, and returns its exit status."""
    (tmp_path / "prompts.txt").write_text(
        "\n".join(f"She said on day {i} that" for i in range(12))
    )
    (tmp_path / "fair.llmfair.yaml").write_text(CHECKS)

    def run(*options, model="openai:ok"):
        return main(
            [
                "audit",
                str(tmp_path / "prompts.txt"),
                *("--model", model, "--attribute", "gender", "--shard-size", "4"),
                *("--checks", str(tmp_path / "fair.llmfair.yaml")),
                *("--out", str(tmp_path / "out"), "-q", "-p", "no:cacheprovider"),
                *options,
            ]
        )

    return run


def answers(folder):
    found = load(folder / "out").responses
    return [answer for side in (found.original, found.counterfactual) for (answer,) in side]


@pytest.mark.slow
def test_what_a_limit_left_out_is_asked_by_the_next_run_and_nothing_twice(
    audit, server, tmp_path, capsys
):
    assert audit("--max-calls", "10") == 1
    said = capsys.readouterr().err
    assert "14 answers in 2 shards are missing; the first: over_budget, --max-calls 10" in said
    assert len(server.asked()) == 10
    # The limit is one for all runs.
    assert audit("--max-calls", "10") == 1
    assert server.asked() == []
    capsys.readouterr()
    assert audit("--max-calls", "30") == 0
    said = capsys.readouterr().err
    assert "14 answers in 2 shards are missing because of a limit or a failure" in said
    assert len(server.asked()) == 14
    assert audit() == 0
    assert server.asked() == []


@pytest.mark.slow
def test_a_server_that_cannot_be_reached_ends_the_run_and_is_asked_again(
    audit, server, tmp_path, monkeypatch, capsys
):
    with monkeypatch.context() as closed:
        closed.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        with pytest.raises(SystemExit, match="2"):
            audit()
    said = capsys.readouterr().err
    assert "the model answered nothing in 3 shards in a row (error: no connection" in said
    assert all(isinstance(answer, Missing) for answer in answers(tmp_path))
    assert audit() == 0
    assert len(server.asked()) == 24
    assert not any(isinstance(answer, Missing) for answer in answers(tmp_path))


def test_a_refusal_is_an_answer_and_not_asked_again(audit, server):
    assert audit(model="openai:refusal") == 1
    asked = len(server.asked())
    assert asked >= 24
    assert audit(model="openai:refusal") == 1
    assert server.asked() == []


@pytest.mark.slow
def test_workers_record_in_one_file_what_a_killed_run_can_use(audit, server, tmp_path):
    assert audit("--workers", "2") == 0
    assert len(server.asked()) == 24
    # As if the run had ended after the last answer and before its part was written.
    for part in (tmp_path / "out" / "answers").iterdir():
        part.unlink()
    assert audit("--workers", "2") == 0
    assert server.asked() == []


def test_a_limit_in_dollars_needs_a_price(audit, server, capsys):
    with pytest.raises(SystemExit, match="2"):
        audit("--max-cost", "1")
    assert "no price of openai:ok is known" in capsys.readouterr().err
