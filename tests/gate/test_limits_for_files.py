"""Who may read recorded answers, and what a long prompt costs."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_llmfair.cli import main
from pytest_llmfair.counterfactuals import generate_pairs

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")

TEST = """
def test_it(model_client, counterfactual_pairs, fairness):
    fairness.collect(counterfactual_pairs(["She is a nurse."]))
"""


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@posix
def test_a_new_cassette_is_for_its_owner_only_and_an_old_one_stays_as_it_is(tmp_path):
    (tmp_path / "test_it.py").write_text(TEST)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "llmfair", "-p", "no:cacheprovider"]
    options = ["--llmfair-model=builtin:ngram", "--llmfair-cassette=a.jsonl"]
    done = subprocess.run(
        ["sh", "-c", 'umask 022; exec "$@"', "sh", *command, *options],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        check=False,
    )
    made = tmp_path / "a.jsonl"
    assert made.stat().st_size > 0, done.stdout
    assert mode(made) == 0o600
    assert main(["cassette", "merge", str(tmp_path / "b.jsonl"), str(made)]) == 0
    assert mode(tmp_path / "b.jsonl") == 0o600
    made.chmod(0o644)
    made.write_bytes(made.read_bytes() + b"damaged\n")
    assert main(["cassette", "prune", str(made)]) == 0
    assert mode(made) == 0o644
    assert made.read_bytes().startswith(b"{")
    assert b"damaged" not in made.read_bytes()


@posix
def test_an_audit_is_for_its_owner_only(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "prompts.txt").write_text("She is a nurse.\nHe is a cook.\n")
    checks = tmp_path / "checks.llmfair.yaml"
    checks.write_text(
        "version: 1\nchecks:\n"
        "- {metric: exact_match, attribute: gender, minimum: 0.1, rationale: r, owner: o}\n"
    )
    before = os.umask(0o022)
    try:
        out = tmp_path / "out"
        options = f"--model builtin:ngram --attribute gender --checks {checks} -q"
        main(f"audit {tmp_path}/prompts.txt --out {out} {options}".split())
    finally:
        os.umask(before)
    assert mode(out) == 0o700
    parts = list(out.rglob("*.parquet"))
    assert parts
    assert {mode(part) for part in parts} == {0o600}


@pytest.mark.parametrize("words", ["her, ", "his, ", "her ", "she or her, "])
def test_the_work_of_a_long_prompt_grows_with_its_length(words):
    def calls(size):
        counted = 0

        def count(frame, event, argument):
            nonlocal counted
            counted += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            generate_pairs([words * (size // len(words))], attribute="gender")
        finally:
            sys.setprofile(None)
        return counted

    calls(200)
    # Four times the length: 16 times the calls if they grew with the square.
    assert calls(8_000) < 7 * calls(2_000)


def test_the_security_policy_is_in_the_documentation_and_the_source_archive():
    root = Path(__file__).parents[2]
    assert "{include} ../SECURITY.md" in (root / "docs" / "security.md").read_text("utf-8")
    assert '"/SECURITY.md"' in (root / "pyproject.toml").read_text("utf-8")
    policy = (root / "SECURITY.md").read_text("utf-8")
    assert all(word in policy for word in ("conftest.py", "python:", "fork", "--sha256"))
