"""The toxicity scorer without weights, and without the packages it needs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_llmfair.scorers import ToxicityScorer, load_scorers


def test_without_weights_it_says_how_to_name_them() -> None:
    with pytest.raises(
        RuntimeError, match=r"has no weights.*from_pretrained.*download\('original'\)"
    ):
        load_scorers()["toxicity"](["a text"])


def test_without_weights_it_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="has no weights"):
        ToxicityScorer().save(tmp_path)


@pytest.mark.parametrize(
    "load",
    [
        lambda: ToxicityScorer.from_pretrained("folder"),
        lambda: ToxicityScorer.from_checkpoint("file.ckpt"),
        ToxicityScorer.download,
    ],
    ids=["from_pretrained", "from_checkpoint", "download"],
)
def test_a_missing_package_is_answered_with_what_to_install(
    load: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match='torch: pip install "detoxify>='):
        load()
