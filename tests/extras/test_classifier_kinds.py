"""Text classifiers of several kinds, in batches, beside the same models one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

from pytest_llmfair.scorers import ClassifierScorer, load_scorers

WORDS = [f"w{i}" for i in range(30)]
TEXTS = [" ".join(WORDS[i : i + 1 + 3 * i % 11]) for i in range(20)]
SIZE = {
    "vocab_size": len(WORDS) + 2,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 24,
}
GPT2 = {
    "vocab_size": SIZE["vocab_size"],
    "n_embd": 16,
    "n_layer": 2,
    "n_head": 2,
    "n_positions": 24,
}


def tokenizer(**options: Any) -> Any:
    words = Tokenizer(
        models.WordLevel({w: i for i, w in enumerate(["<pad>", "<unk>", *WORDS])}, "<unk>")
    )
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", **options
    )


def saved(model: Any, where: Path, **options: Any) -> Path:
    import torch

    with torch.no_grad():
        for weights in model.parameters():
            if weights.dim() > 1:
                weights.mul_(8.0)
    model.save_pretrained(where)
    tokenizer(**options).save_pretrained(where)
    return where


KINDS: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "reads from the last token": (
        lambda: transformers.GPT2ForSequenceClassification(
            transformers.GPT2Config(**GPT2, pad_token_id=0)
        ),
        {"pad_token": "<pad>"},
    ),
    "pads in front": (
        lambda: transformers.GPT2ForSequenceClassification(
            transformers.GPT2Config(**GPT2, pad_token_id=0)
        ),
        {"pad_token": "<pad>", "padding_side": "left"},
    ),
    "has no padding": (
        lambda: transformers.GPT2ForSequenceClassification(transformers.GPT2Config(**GPT2)),
        {},
    ),
    "counts positions from the padding on": (
        lambda: transformers.CamembertForSequenceClassification(
            transformers.CamembertConfig(**SIZE, pad_token_id=0)
        ),
        {"pad_token": "<pad>"},
    ),
    "has no limit and pads in front": (
        lambda: transformers.XLNetForSequenceClassification(
            transformers.XLNetConfig(
                vocab_size=SIZE["vocab_size"],
                d_model=16,
                n_layer=2,
                n_head=2,
                d_inner=32,
                pad_token_id=0,
            )
        ),
        {"pad_token": "<pad>", "padding_side": "left"},
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_library_one_by_one(kind: str, tmp_path: Path) -> None:
    import torch

    torch.manual_seed(2)
    make, options = KINDS[kind]
    model = make().eval()
    where = saved(model, tmp_path, **options)
    expected = []
    for text in TEXTS:
        ids = torch.tensor([tokenizer()(text)["input_ids"]])
        with torch.no_grad():
            expected.append(float(model(input_ids=ids).logits.softmax(1)[0, 1]))
    scorer = ClassifierScorer.from_pretrained(where, label="LABEL_1", device="cpu")
    assert np.ptp(expected) > 0.02
    assert scorer(TEXTS) == pytest.approx(expected, abs=1e-6)
    assert scorer([" ".join(WORDS * 5)]).shape == (1,)  # longer than the model reads


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = transformers.BertForSequenceClassification(transformers.BertConfig(**SIZE))
    return saved(model, tmp_path_factory.mktemp("bert"), pad_token="<pad>")


def renamed(folder: Path, **changes: Any) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


@pytest.mark.parametrize(
    ("labels", "label", "column"),
    [
        ({"0": "Toxic", "1": "toxic"}, "toxic", 1),
        ({"0": "Toxic", "1": "toxic"}, "TOXIC", 0),
        ({"0": "1", "1": "0"}, "1", 0),
        ({"0": "good", "1": "bad"}, "1", 1),
        ({"1": "good", "2": "bad"}, "good", 1),
        ({"0": "good", "1": 5}, "5", 1),
        (None, "label_1", 1),
    ],
)
def test_a_label_is_its_name_before_its_number(
    folder: Path, labels: Any, label: str, column: int
) -> None:
    renamed(folder, id2label=labels)
    scorer = load_scorers()[f"hf:{folder}?label={label}&device=cpu"]
    assert scorer._classifier.column == column


def test_a_quantity_is_no_probability(folder: Path, tmp_path: Path) -> None:
    model = transformers.BertForSequenceClassification(
        transformers.BertConfig(**SIZE, num_labels=1, problem_type="regression")
    )
    where = saved(model, tmp_path, pad_token="<pad>")
    with pytest.raises(ValueError, match=r"predicts a quantity .* no probability"):
        ClassifierScorer.from_pretrained(where, label="LABEL_0")
    scorer = ClassifierScorer.from_pretrained(where, label="LABEL_0", activation="sigmoid")
    assert 0.0 < scorer(["w1"])[0] < 1.0


def test_a_head_that_is_not_in_the_files_is_never_made_up(tmp_path: Path) -> None:
    where = saved(
        transformers.BertModel(transformers.BertConfig(**SIZE)), tmp_path, pad_token="<pad>"
    )
    with pytest.raises(FileNotFoundError, match=r"its files lack 2 weights .*classifier\.bias"):
        ClassifierScorer.from_pretrained(where, label="LABEL_1")


def test_a_folder_without_a_tokenizer_is_an_error(tmp_path: Path) -> None:
    transformers.BertForSequenceClassification(transformers.BertConfig(**SIZE)).save_pretrained(
        tmp_path
    )
    with pytest.raises(FileNotFoundError, match="there are no files of its tokenizer"):
        ClassifierScorer.from_pretrained(tmp_path, label="LABEL_1")


def test_hostile_texts_are_scored(folder: Path) -> None:
    scorer = ClassifierScorer.from_pretrained(folder, label=0, device="cpu")
    found = scorer(["w1 \ud800 w2", "w1 \ufffd w2", "w1\x00\x1b[31m", "w1 \u202e w2"])
    assert found[0] == pytest.approx(found[1])


def test_a_text_without_a_token_is_an_error_that_names_it(folder: Path) -> None:
    scorer = ClassifierScorer.from_pretrained(folder, label=0, device="cpu")
    with pytest.raises(ValueError, match="makes no token of ''; leave such texts out"):
        scorer(["w1", ""])
