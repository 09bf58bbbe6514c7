from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.processes import session_in

TESTS = """
import pytest

from pytest_llmfair import assert_counterfactual_invariance
from pytest_llmfair.clients import load_client


def test_replies_with_the_key(model_client, counterfactual_pairs):
    pairs = counterfactual_pairs([f"She is nurse {i}." for i in range(4)])
    assert_counterfactual_invariance(pairs, 0.01, client=model_client)


@pytest.mark.parametrize("mode", ["401", "500", "echo"])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_errors_that_hold_the_key(mode, provider):
    answers = load_client(f"{provider}:{mode}").generate(["hi"])
    print(answers)
    assert answers == []
"""


@pytest.mark.slow
def test_a_canary_key_appears_in_no_file_log_report_or_traceback(server, tmp_path: Path):
    (tmp_path / "test_keys.py").write_text(TESTS)
    command = [
        *("--showlocals", "--full-trace", "-rA", "-o", "log_cli=true", "--log-level=DEBUG"),
        *("--log-file=log.txt", "--junitxml=junit.xml", "--basetemp=temp"),
        *("--llmfair-model=openai:echo", "--llmfair-cassette=answers.jsonl"),
        *("--llmfair-show-text=worst", "--llmfair-json=run.json", "--llmfair-html=run.html"),
        *("--llmfair-evidence=evidence", "--llmfair-max-calls=1000"),
    ]
    done = session_in(tmp_path, *command, OPENAI_LOG="debug", ANTHROPIC_LOG="debug")
    assert "[key removed]" in done.stdout
    assert "1 passed" not in done.stdout
    said = {"stdout": done.stdout.encode(), "stderr": done.stderr.encode()}
    for path in tmp_path.rglob("*"):
        if path.is_file():
            said[path.name] = path.read_bytes()
    assert {"log.txt", "junit.xml", "answers.jsonl", "run.json", "run.html"} <= set(said)
    leaks = [name for name, data in said.items() if server.key.encode() in data]
    assert leaks == []


WRONG = """
import os
import pytest

from pytest_llmfair.clients import load_client


@pytest.mark.parametrize(
    ("provider", "url"),
    [("openai", "localhost:8000"), ("openai", "http://[::1"), ("anthropic", "http://a:port")],
)
def test_an_address_is_wrong(monkeypatch, url, provider):
    monkeypatch.setenv(provider.upper() + "_BASE_URL", url)
    load_client(f"{provider}:m").generate(["hi"])
"""


@pytest.mark.slow
def test_a_wrong_address_shows_no_key(server, tmp_path: Path):
    (tmp_path / "test_wrong.py").write_text(WRONG)
    done = session_in(tmp_path, "-vv", "--showlocals", "--full-trace")
    assert "3 failed" in done.stdout
    assert server.key not in done.stdout + done.stderr


def test_a_model_without_a_key_shows_the_users_line_only(pytester, session, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    pytester.makepyfile(
        test_it="""
        from pytest_llmfair import assert_toxic_fraction_within

        def test_harm(model_client):
            prompts = [f"Tell me about number {i}." for i in range(30)]
            assert_toxic_fraction_within(
                prompts, bound=0.6, client=model_client, scorer=lambda texts: [0.1 for _ in texts]
            )
        """
    )
    result = session("--llmfair-model=openai:gpt-4o-mini")
    result.assert_outcomes(failed=1)
    words = "E *model 'openai:gpt-4o-mini' needs a key: set OPENAI_API_KEY, or *"
    result.stdout.fnmatch_lines([words])
    assert re.findall(r"^(\S+\.py):\d+: ", result.stdout.str(), re.MULTILINE) == ["test_it.py"]


def test_the_key_is_read_at_a_live_call_only(server, monkeypatch: pytest.MonkeyPatch):
    from pytest_llmfair.clients import load_client

    monkeypatch.delenv("OPENAI_API_KEY")
    client = load_client("openai:echo")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-set-later-0123456789")
    assert client.generate(["hi"]) == [["your key is [key removed], yes [key removed]!"]]


def test_the_password_of_an_address_comes_back_in_no_form(server, monkeypatch):
    from pytest_llmfair.clients import load_client

    address = f"http://anna:open-sesame-1001@127.0.0.1:{server.port}/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    ((answer,),) = load_client("openai:echo").generate(["hi"])
    assert answer == "your key is Basic [key removed], yes Basic [key removed]!"
