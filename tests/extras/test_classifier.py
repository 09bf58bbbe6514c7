"""Small classifiers of several kinds as scorers, compared with transformers text by text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_llmfair import assert_metric
from pytest_llmfair.scorers import ClassifierScorer, load_scorers, score
from tests.extras.tiny import saved, transformers, word_tokenizer

WORDS = [f"w{i}" for i in range(30)]
VOCABULARY = ["<pad>", "<unk>", *WORDS]
TEXTS = [" ".join(WORDS[i : i + 1 + 3 * i % 11]) for i in range(20)]
BERT = {
    "vocab_size": len(VOCABULARY),
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 24,
}
GPT2 = {
    "vocab_size": len(VOCABULARY),
    "n_embd": 16,
    "n_layer": 2,
    "n_head": 2,
    "n_positions": 24,
}
XLNET = {
    "vocab_size": len(VOCABULARY),
    "d_model": 16,
    "n_layer": 2,
    "n_head": 2,
    "d_inner": 32,
}
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
            transformers.CamembertConfig(**BERT, pad_token_id=0)
        ),
        {"pad_token": "<pad>"},
    ),
    "has no limit and pads in front": (
        lambda: transformers.XLNetForSequenceClassification(
            transformers.XLNetConfig(**XLNET, pad_token_id=0)
        ),
        {"pad_token": "<pad>", "padding_side": "left"},
    ),
}


def outputs(model: Any) -> Any:
    """Return the logits of the texts, one by one."""
    import torch

    tokenizer = word_tokenizer(VOCABULARY)
    with torch.no_grad():
        rows = [
            model(input_ids=torch.tensor([tokenizer(text)["input_ids"]])).logits[0]
            for text in TEXTS
        ]
    return torch.stack(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_library_one_by_one(kind: str, tmp_path: Path) -> None:
    import torch

    torch.manual_seed(2)
    make, options = KINDS[kind]
    model = make().eval()
    saved(model, word_tokenizer(VOCABULARY, **options), tmp_path)
    expected = outputs(model).softmax(1)[:, 1].tolist()
    scorer = ClassifierScorer.from_pretrained(tmp_path, label="LABEL_1", device="cpu")
    assert np.ptp(expected) > 0.02
    assert scorer(TEXTS) == pytest.approx(expected, abs=1e-6)
    assert scorer([" ".join(WORDS * 5)]).shape == (1,)  # longer than the model reads


def bert(where: Path, **options: Any) -> Path:
    """Save a BERT with three labels that exclude each other."""
    import torch

    torch.manual_seed(1)
    labels = {0: "stereotype", 1: "neutral", 2: "unrelated"}
    settings = transformers.BertConfig(**BERT, **({"id2label": labels} | options))
    model = transformers.BertForSequenceClassification(settings)
    return saved(model, word_tokenizer(VOCABULARY, pad_token="<pad>"), where)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bert(tmp_path_factory.mktemp("bert"))


@pytest.mark.parametrize(
    ("label", "activation", "column"), [("Unrelated", None, 2), (0, "sigmoid", 0)]
)
def test_labels_exclude_each_other_unless_an_activation_is_named(
    folder: Path, label: Any, activation: Any, column: int
) -> None:
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    logits = outputs(model)
    expected = logits.sigmoid() if activation else logits.softmax(1)
    scorer = ClassifierScorer.from_pretrained(
        folder, label=label, activation=activation, device="cpu"
    )
    np.testing.assert_allclose(scorer(TEXTS), expected[:, column].numpy(), rtol=0, atol=1e-5)


def test_an_unknown_label_is_answered_with_the_list_and_an_activation_too(folder: Path) -> None:
    with pytest.raises(ValueError, match="no label 'toxic'; it has stereotype, neutral, unrel"):
        ClassifierScorer.from_pretrained(folder, label="toxic")
    with pytest.raises(ValueError, match="activation is 'relu'; choose sigmoid or softmax"):
        ClassifierScorer.from_pretrained(folder, label=0, activation="relu")  # type: ignore[arg-type]


def test_a_stereotype_metric_is_judged_by_a_specification(folder: Path) -> None:
    spec = f"hf:{folder}?label=stereotype&device=cpu"
    rows = [[TEXTS[i], TEXTS[i + 1]] for i in range(0, 20, 2)]
    named = assert_metric("stereotype_fraction", rows, bound=0.95, mode="point", scorer=spec)
    scores = load_scorers()[spec]([text for row in rows for text in row])
    own = ClassifierScorer.from_pretrained(folder, label="stereotype", device="cpu")
    np.testing.assert_array_equal(own(TEXTS), scores)
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
def test_a_path_that_does_not_exist_is_not_looked_up_on_the_hub(spec: str) -> None:
    with pytest.raises(FileNotFoundError, match="there is no"):
        load_scorers()[spec]


def test_tensors_of_any_precision_are_scores() -> None:
    import torch

    for dtype in (torch.float32, torch.bfloat16, torch.float64):
        made = torch.tensor([0.5, 0.25], dtype=dtype, requires_grad=True)
        assert score(lambda texts, made=made: made, ["a", "b"]).tolist() == [0.5, 0.25]


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
    tmp_path: Path, labels: Any, label: str, column: int
) -> None:
    file = bert(tmp_path, num_labels=2, id2label={0: "a", 1: "b"}) / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "id2label": labels}))
    scorer = load_scorers()[f"hf:{tmp_path}?label={label}&device=cpu"]
    by_number = ClassifierScorer.from_pretrained(tmp_path, label=column, device="cpu")
    assert scorer(TEXTS).tolist() == by_number(TEXTS).tolist()


def test_a_quantity_is_not_a_probability(tmp_path: Path) -> None:
    bert(tmp_path, num_labels=1, problem_type="regression", id2label={0: "LABEL_0"})
    with pytest.raises(ValueError, match=r"predicts a quantity .* no probability"):
        ClassifierScorer.from_pretrained(tmp_path, label="LABEL_0")
    scorer = ClassifierScorer.from_pretrained(tmp_path, label="LABEL_0", activation="sigmoid")
    assert 0.0 < scorer(["w1"])[0] < 1.0


def test_missing_weights_are_an_error(tmp_path: Path) -> None:
    model = transformers.BertModel(transformers.BertConfig(**BERT))
    saved(model, word_tokenizer(VOCABULARY, pad_token="<pad>"), tmp_path)
    with pytest.raises(FileNotFoundError, match=r"its files lack 2 weights .*classifier\.bias"):
        ClassifierScorer.from_pretrained(tmp_path, label="LABEL_1")


def test_a_folder_without_a_tokenizer_is_an_error(tmp_path: Path) -> None:
    config = transformers.BertConfig(**BERT)
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path)
    with pytest.raises(FileNotFoundError, match="there are no files of its tokenizer"):
        ClassifierScorer.from_pretrained(tmp_path, label="LABEL_1")


def test_hostile_texts_are_scored_and_one_without_a_token_is_named(folder: Path) -> None:
    scorer = ClassifierScorer.from_pretrained(folder, label=0, device="cpu")
    found = scorer(["w1 \ud800 w2", "w1 \ufffd w2", "w1\x00\x1b[31m", "w1 \u202e w2"])
    assert found[0] == pytest.approx(found[1])
    with pytest.raises(ValueError, match="makes no token of ''; leave such texts out"):
        scorer(["w1", ""])
