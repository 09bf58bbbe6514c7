"""Scorers by specification, and the messages of those without weights."""

from __future__ import annotations

import sys

import pytest

from pytest_llmfair.scorers import load_scorers


@pytest.mark.parametrize("name", ["stereotype", "regard", "toxicity", "embedding"])
def test_without_weights_it_says_how_to_name_them(name: str) -> None:
    with pytest.raises(
        RuntimeError, match=rf"the {name} scorer has no weights; .*load_scorers\({name}="
    ):
        load_scorers()[name](["a text"])


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("hf:", "is not a specification; write detoxify:original"),
        ("hf:models/none", r"names no label; write hf:models/none\?label=LABEL"),
        ("hf:models/none?lable=negative", "has no option 'lable'; its options are label, name"),
        ("hf:models/none?label", "cannot read 'label'"),
        ("detoxify:original?label=insult", "has no option 'label'; its options are device"),
    ],
)
def test_a_wrong_specification_names_what_is_wrong(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_scorers()[spec]


@pytest.mark.parametrize(
    ("spec", "missing", "install"),
    [
        ("hf:some-model?label=negative", "torch", "transformers"),
        ("detoxify:original", "torch", "detoxify"),
        ("sentence-transformers:some-model", "sentence_transformers", "sentence-transformers"),
    ],
)
def test_a_missing_package_is_answered_with_what_to_install(
    spec: str, missing: str, install: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=f'{missing}: pip install "{install}>='):
        load_scorers()[spec]


def test_a_specification_takes_the_place_of_a_name() -> None:
    scorers = load_scorers(stereotype="hf:./none?label=stereotype")
    assert "stereotype" in scorers
    with pytest.raises((FileNotFoundError, ImportError)):
        scorers["stereotype"]
