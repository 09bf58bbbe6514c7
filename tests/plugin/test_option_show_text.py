"""`--llmfair-show-text`: outputs can be private, so they show only where they are wanted."""

from __future__ import annotations

import pytest

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


def test_worst_rows_are_shown_by_default(run, pytester):
    pytester.makepyfile(BODY)
    run().stdout.fnmatch_lines(
        [
            "E         worst prompts",
            'E           1.00  "private prompt *"',
            'E                 "answer to private prompt *"',
        ]
    )


@pytest.mark.parametrize("ci", [True, False])
def test_texts_are_hidden_on_ci_and_on_demand(ci, run, pytester, monkeypatch):
    pytester.makepyfile(BODY)
    if ci:
        monkeypatch.setenv("CI", "true")
    output = run(*([] if ci else ["--llmfair-show-text=none"]), "--junitxml=junit.xml").stdout
    why = " because CI is set" if ci else ""
    output.fnmatch_lines([f"E*worst prompts  1.00, 1.00, 1.00 (texts hidden{why};*"])
    output.no_fnmatch_line('*"private prompt [0-9]*')
    output.no_fnmatch_line("*answer to private*")
