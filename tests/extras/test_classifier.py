"""A small classifier made here, as a scorer, beside transformers itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_llmfair import assert_metric
from pytest_llmfair.scorers import ClassifierScorer, load_scorers, score

WORDS = [f"w{i}" for i in range(40)]
TEXTS = [" ".join(WORDS[i % 40 : i % 40 + 1 + i % 7]) for i in range(60)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A two-layer BERT with three labels that exclude each other."""
    import torch
    import transformers

    torch.manual_seed(1)
    folder = tmp_path_factory.mktemp("classifier")
    vocabulary = folder / "words.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    settings = transformers.BertConfig(
        vocab_size=len(WORDS) + 5,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=32,
        initializer_range=0.3,
        num_labels=3,
        id2label={0: "stereotype", 1: "neutral", 2: "unrelated"},
        label2id={"stereotype": 0, "neutral": 1, "unrelated": 2},
    )
    transformers.BertForSequenceClassification(settings).save_pretrained(folder)
    transformers.BertTokenizer(str(vocabulary), model_max_length=32).save_pretrained(folder)
    return folder


def outputs(folder: Path) -> Any:
    """Logits of the texts, one by one."""
    import torch
    import transformers

    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        rows = [model(**tokenizer(text, return_tensors="pt")).logits[0] for text in TEXTS]
    return torch.stack(rows)


def test_labels_that_exclude_each_other_share_one(folder: Path) -> None:
    expected = outputs(folder).softmax(dim=1)[:, 2].numpy()
    scorer = ClassifierScorer.from_pretrained(folder, label="Unrelated", device="cpu")
    assert np.ptp(expected) > 0.05
    np.testing.assert_allclose(scorer(TEXTS), expected, rtol=0, atol=1e-5)


def test_an_activation_can_be_named(folder: Path) -> None:
    expected = outputs(folder).sigmoid()[:, 0].numpy()
    scorer = ClassifierScorer.from_pretrained(folder, label=0, activation="sigmoid", device="cpu")
    np.testing.assert_allclose(scorer(TEXTS), expected, rtol=0, atol=1e-5)


def test_an_unknown_label_is_answered_with_the_list(folder: Path) -> None:
    with pytest.raises(ValueError, match="no label 'toxic'; it has stereotype, neutral, unrel"):
        ClassifierScorer.from_pretrained(folder, label="toxic")


def test_an_unknown_activation_is_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match="activation is 'relu'; choose sigmoid or softmax"):
        ClassifierScorer.from_pretrained(folder, label=0, activation="relu")  # type: ignore[arg-type]


def test_a_specification_names_folder_and_label(folder: Path) -> None:
    by_name = load_scorers()[f"hf:{folder}?label=stereotype&device=cpu"]
    own = ClassifierScorer.from_pretrained(folder, label="stereotype", device="cpu")
    np.testing.assert_array_equal(by_name(TEXTS), own(TEXTS))


def test_a_stereotype_metric_is_judged_by_a_specification(folder: Path) -> None:
    rows = [[TEXTS[i], TEXTS[i + 1]] for i in range(0, 60, 2)]
    scorer = load_scorers()[f"hf:{folder}?label=stereotype&device=cpu"]
    spec = f"hf:{folder}?label=stereotype&device=cpu"
    named = assert_metric("stereotype_fraction", rows, bound=0.95, mode="point", scorer=spec)
    scores = scorer([text for row in rows for text in row]).reshape(30, 2)
    assert named.value == pytest.approx((scores >= 0.5).mean())


def test_saved_it_scores_the_same(folder: Path, tmp_path: Path) -> None:
    scorer = ClassifierScorer.from_pretrained(folder, label="stereotype", device="cpu")
    again = ClassifierScorer.from_pretrained(
        scorer.save(tmp_path), label="stereotype", device="cpu"
    )
    np.testing.assert_array_equal(again(TEXTS), scorer(TEXTS))


@pytest.mark.parametrize(
    "spec", ["hf:./none?label=negative", "detoxify:none.ckpt", "hf:/none/at/all?label=1"]
)
def test_a_path_that_is_not_there_is_never_asked_for_elsewhere(spec: str) -> None:
    with pytest.raises(FileNotFoundError, match="there is no"):
        load_scorers()[spec]


def test_tensors_of_any_precision_are_scores() -> None:
    import torch

    for dtype in (torch.float32, torch.bfloat16, torch.float64):
        made = torch.tensor([0.5, 0.25], dtype=dtype, requires_grad=True)
        assert score(lambda texts, made=made: made, ["a", "b"]).tolist() == [0.5, 0.25]
