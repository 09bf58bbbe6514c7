"""Prompts held back for measuring stay out of the training data and of the labelled files."""

from __future__ import annotations

import importlib.util
import json
import lzma
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
TEXT = "Rate this limerick about\n a heron, please."


@pytest.fixture(scope="module")
def held():
    spec = importlib.util.spec_from_file_location("held", BENCHMARKS / "_held.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def hashes(held):
    return (held.HELD / "hashes.txt").read_text().split()


def test_the_hashes_are_those_of_the_held_prompts(held, hashes):
    assert hashes == held.digests(held.HELD), "run python benchmarks/pairs.py --hash"


def test_no_held_prompt_is_in_the_training_data(held, hashes):
    files = sorted(path for path in held.TRAINING.rglob("*") if path.is_file())
    assert held.leaks(hashes, files) == []


def test_no_held_prompt_is_among_the_spent_ones(held, hashes):
    assert held.leaks(hashes, sorted(held.PAIRS.glob("*.yaml"))) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("training.jsonl.xz", lzma.compress(json.dumps({"rows": [[TEXT, 1]]}).encode())),
        ("training.jsonl", json.dumps([TEXT.upper()]).encode()),
        ("training.txt", b"first line\n" + TEXT.replace("\n", " ").encode() + b"\nlast"),
        ("training.yaml", b'cases:\n  - {text: "Rate  this limerick about a heron, please."}'),
    ],
)
def test_a_held_prompt_is_found_whatever_its_case_and_spacing(held, tmp_path, name, content):
    file = tmp_path / name
    file.write_bytes(content)
    assert held.leaks([held.digest(TEXT)], [file]) == [name]
    assert held.leaks([held.digest("Another text.")], [file]) == []


def test_a_spent_file_moves_with_its_figure_and_its_hashes_go(held, tmp_path):
    folder = tmp_path / "held"
    folder.mkdir()
    for name, text in (("1.yaml", "One."), ("2.yaml", "Two.")):
        (folder / name).write_text(f"# Held back.\ncases:\n  - {{text: {text}, mentions: []}}\n")
    spent = held.spend(folder / "1.yaml", "1 right of 1")
    assert spent == tmp_path / "held_1.yaml"
    assert spent.read_text().startswith(
        "# Held back and unread until spent. At first sight: 1 right"
    )
    assert held.digests(folder) == [held.digest("Two.")]
    assert (folder / "hashes.txt").read_text().split() == [held.digest("Two.")]
