"""`--llmfair-level` is given wherever it stands, also where it says the usual level."""

from __future__ import annotations

import json

import pytest

from pytest_llmfair.metrics import MetricInfo

PLANNED = """
from pytest_llmfair import assert_toxic_fraction_within

def test_it(model_client):
    prompts = [f"prompt {i}" for i in range(200)]
    assert_toxic_fraction_within(prompts, bound=0.1, client=model_client, scorer=len)
"""


@pytest.mark.parametrize(
    ("arguments", "files", "level"),
    [
        ((), {}, 0.8),
        (("--llmfair-level=0.95",), {}, 0.95),
        ((), {"pytest.ini": "[pytest]\nllmfair_level = 0.95\n"}, 0.95),
        ((), {"llmfair.yaml": "level: 0.95\n"}, 0.95),
    ],
    ids=["not given", "command line", "ini file", "policy"],
)
def test_a_given_level_beats_that_of_the_metric(
    arguments, files, level, run, pytester, verdicts, monkeypatch
):
    monkeypatch.setattr(MetricInfo, "level", 0.8)
    pytester.makepyfile(verdicts)
    for name, text in files.items():
        (pytester.path / name).write_text(text)
    run("--llmfair-json=run.json", *arguments)
    results = json.loads((pytester.path / "run.json").read_text())["results"]
    assert [each["level"] for each in results] == [level] * 3


def test_a_plan_has_the_level_of_the_metric(run, pytester, monkeypatch):
    pytester.makepyfile(PLANNED)

    def effect(*arguments):
        lines = run("--llmfair-plan", *arguments).outlines
        return next(line for line in lines if "minimum detectable effect" in line)

    given = effect("--llmfair-level=0.8")
    assert given != effect()
    monkeypatch.setattr(MetricInfo, "level", 0.8)
    assert effect() == given
