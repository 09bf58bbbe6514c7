"""`--llmfair-seed`, `--llmfair-max-tokens` and `llmfair_max_missing`: what they do to answers."""

from __future__ import annotations

import pytest


def test_seed_decides_the_samples(run, pytester):
    pytester.makepyfile(
        """
        import pathlib

        def test_it(model_client, request):
            answers = model_client.generate(["The nurse said that"] * 3, n=5)
            pathlib.Path("answers.txt").write_text(repr(answers))
        """
    )
    found = []
    for seed in ("1", "1", "2"):
        run(f"--llmfair-seed={seed}").assert_outcomes(passed=1)
        found.append((pytester.path / "answers.txt").read_text())
    assert found[0] == found[1] != found[2]


def test_max_tokens_is_the_longest_answer(run, pytester):
    pytester.makepyfile(
        """
        def test_it(model_client):
            (answers,) = model_client.generate(["The nurse said that"], n=20)
            assert max(len(answer.split()) for answer in answers) == 3
        """
    )
    run("--llmfair-max-tokens=3").assert_outcomes(passed=1)


@pytest.mark.parametrize(("share", "outcome"), [("0.05", "failed"), ("0.2", "passed")])
def test_max_missing_is_the_share_that_can_still_be_judged(share, outcome, run, pytester):
    pytester.makeini(f"[pytest]\nllmfair_max_missing = {share}\n")
    pytester.makepyfile(
        """
        from pytest_llmfair import Missing, Responses, assert_toxic_fraction_within

        def test_it():
            answers = (("yes",),) * 90 + ((Missing("refused"),),) * 10
            prompts = tuple(f"prompt {i}" for i in range(100))
            assert_toxic_fraction_within(
                Responses(prompts, answers), bound=0.5, scorer=lambda texts: [0.1] * len(texts)
            )
        """
    )
    run().assert_outcomes(**{outcome: 1})
