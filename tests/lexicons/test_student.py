"""The student: a word-blind second opinion on English, and its training."""

from __future__ import annotations

import importlib.util
import sys
from importlib import resources
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import yaml

from pytest_llmfair.lexicons.english.student import Student, student, unpack

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

TRAINING = Path(__file__).parents[2] / "benchmarks" / "grammar" / "train.py"
PACKAGE = resources.files("pytest_llmfair.lexicons.english")


def place(text: str, word: str) -> tuple[str, int, int]:
    start = text.index(word)
    return text, start, start + len(word)


@pytest.mark.parametrize(
    ("text", "one", "other"),
    CASES["twins get the same probability"],
)
def test_twins_get_the_same_probability(text: str, one: str, other: str) -> None:
    chances = {
        student().counts(*place(text.format(word), word), "person_adjective", "race adjective")
        for word in (one, other)
    }

    assert len(chances) == 1


def test_an_article_and_the_gender_of_others_make_no_difference() -> None:
    texts = ("She met a {} and her wife.", "He met an {} and his husband.")
    chances = {
        student().counts(*place(text.format(word), word), "person_noun", "nationality noun")
        for text, word in zip(texts, ("German", "Italian"), strict=True)
    }

    assert len(chances) == 1


def test_two_names_get_the_same_probability() -> None:
    text = "Yesterday {} told us about the flat."
    chances = {
        student().is_person(*place(text.format(name), name), name) for name in ("Emily", "Keisha")
    }

    assert len(chances) == 1


@pytest.mark.parametrize(
    ("person", "thing"),
    [("A black woman smiled.", "A black car passed."), ("My blind son left.", "A blind test.")],
)
def test_terms_count_more_likely_before_persons(person: str, thing: str) -> None:
    word = "black" if "black" in person else "blind"

    before_person, before_thing = (
        student().counts(*place(text, word), "person_adjective") for text in (person, thing)
    )

    assert before_thing < 0.5 < before_person


def test_her_is_a_determiner_before_a_noun_and_an_object_at_the_end() -> None:
    roles = ("object", "possessive_determiner")

    assert student().role(*place("I found her keys on the table.", "her"), roles) > 0.7
    assert student().role(*place("Yesterday we met her.", "her"), roles) < 0.3


def test_his_is_a_determiner_before_a_noun_and_a_pronoun_at_the_end() -> None:
    roles = ("possessive_pronoun", "possessive_determiner")

    assert student().role(*place("I found his keys on the table.", "his"), roles) > 0.7
    assert student().role(*place("That house is his.", "his"), roles) < 0.3


def test_a_name_before_a_verb_is_more_likely_a_person_than_a_month() -> None:
    person = student().is_person(*place("Yesterday May told us about it.", "May"), "May")
    month = student().is_person(*place("We moved here in May 2021.", "May"), "May")

    assert month < 0.5 < person


@pytest.mark.parametrize("text", ["", "x", "\ud800", "a" * 500, "her\n\n* !!"])
def test_any_text_has_a_probability(text: str) -> None:
    answers = (
        student().counts(text, 0, len(text), "condition", "disability noun"),
        student().role(text, 0, len(text), ()),
        student().is_person(text, 0, len(text), "Emily Walsh"),
    )

    assert all(0 <= answer <= 1 for answer in answers)


def test_weights_are_small_and_hold_no_pickle() -> None:
    with resources.as_file(PACKAGE / "weights.npz") as path:
        assert path.stat().st_size < 100_000
        with np.load(path, allow_pickle=False) as arrays:
            assert arrays["q"].dtype == np.int8
            assert arrays["gaps"].dtype == np.uint16


@pytest.fixture
def training() -> ModuleType:
    spec = importlib.util.spec_from_file_location("grammar_training", TRAINING)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_packed_weights_come_back_in_steps_of_the_scale(training: ModuleType) -> None:
    weights = np.zeros(1 << 20, dtype=np.float32)
    weights[[0, 7, 60_000, (1 << 20) - 1]] = [1.27, -0.5, 0.011, -0.004]

    again = unpack(**training.pack(weights))

    assert again[[0, 7, 60_000]] == pytest.approx([1.27, -0.5, 0.01], abs=1e-6)
    assert np.count_nonzero(again) == 3


def test_training_is_repeatable(training: ModuleType) -> None:
    examples = training.read(training.SENTENCES, every=60)

    first, second = training.train(examples), training.train(examples)

    assert all(np.array_equal(first[key], second[key]) for key in first)
    model = Student(unpack(**first))
    held = [each for each in examples["role"] if training.is_held_out(each)]
    chances = training.probabilities(model, "role", held)
    assert np.mean((chances > 0.5) == [each.answer for each in held]) > 0.8


def test_no_prompt_held_back_is_learned_from(training: ModuleType, tmp_path: Path) -> None:
    examples = training.read(training.SENTENCES, every=1000)
    text = examples["role"][0].text
    (tmp_path / "new.yaml").write_text(f"cases: [{{text: {text!r}}}]", encoding="utf-8")

    assert not training.learned_texts(examples) & training.held_back()
    assert training.digest(text) in training.learned_texts(examples)
    assert training.held_back(tmp_path)
