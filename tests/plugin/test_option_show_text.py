"""`--llmfair-show-text`: outputs can be private, so they show only where they are wanted."""

from __future__ import annotations

BODY = """
from pytest_llmfair import assert_toxic_fraction_within

def rude(texts):
    return [0.9] * len(texts)

def test_it():
    prompts = [f"private prompt {i}" for i in range(60)]
    assert_toxic_fraction_within(
        prompts, bound=0.1, client=lambda prompt: f"answer to {prompt}", scorer=rude
    )
"""


def test_worst_rows_are_shown_by_default_and_hidden_on_ci_and_on_demand(
    run, pytester, monkeypatch
):
    pytester.makepyfile(BODY)
    worst = [
        'E           1.00  "private prompt *"',
        'E                 "answer to private prompt *"',
    ]
    run().stdout.fnmatch_lines(["E         worst prompts", *worst])
    hidden = [run("--llmfair-show-text=none").stdout]
    monkeypatch.setenv("CI", "true")
    hidden.append(run().stdout)
    for output, why in zip(hidden, ("", " because CI is set"), strict=True):
        output.fnmatch_lines([f"E*worst prompts  1.00, 1.00, 1.00 (texts hidden{why};*"])
        output.no_fnmatch_line('*"private prompt [0-9]*')
        output.no_fnmatch_line("*answer to private*")
