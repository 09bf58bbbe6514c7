"""Toxicity with a small checkpoint made here, compared with Detoxify itself."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_llmfair.scorers import ToxicityScorer

WORDS = [f"w{i}" for i in range(120)]
LONGEST = 48
OUTPUTS = 5  # two more than the labels, as in Detoxify's unbiased model


def random_texts(n: int, seed: int = 0) -> list[str]:
    """Texts of up to 70 words, some longer than the model reads, some words unknown to it."""
    rng = random.Random(seed)
    return [
        " ".join(rng.choice([*WORDS, "other"]) for _ in range(rng.randint(0, 70)))
        for _ in range(n)
    ]


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Config and tokenizer of a two-layer BERT, as a local folder."""
    import transformers

    folder = tmp_path_factory.mktemp("config")
    vocabulary = folder / "words.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    transformers.BertConfig(
        vocab_size=len(WORDS) + 5,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=LONGEST,
        initializer_range=0.3,  # so that texts differ
    ).save_pretrained(folder)
    tokenizer = transformers.BertTokenizer(str(vocabulary), model_max_length=LONGEST)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def content(config: Path) -> dict[str, Any]:
    """What a checkpoint of Detoxify holds."""
    import torch
    import transformers

    torch.manual_seed(0)
    settings = transformers.BertConfig.from_pretrained(config, num_labels=OUTPUTS)
    model = transformers.BertForSequenceClassification(settings)
    arch = {
        "model_type": str(config),
        "model_name": "BertForSequenceClassification",
        "tokenizer_name": "BertTokenizer",
        "num_classes": OUTPUTS,
    }
    return {
        "config": {
            "dataset": {"args": {"classes": ["severe_toxic", "toxic", "insult"]}},
            "arch": {"args": arch},
        },
        "state_dict": model.state_dict(),
    }


@pytest.fixture(scope="module")
def checkpoint(content: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(content, tmp_path_factory.mktemp("checkpoint") / "small.ckpt")


@pytest.fixture(scope="module")
def scorer(checkpoint: Path) -> ToxicityScorer:
    return ToxicityScorer.from_checkpoint(checkpoint, device="cpu")


def saved(content: object, file: Path) -> Path:
    import torch

    torch.save(content, file)
    return file


class Foreign:
    """Something that only a trusted pickle may hold."""


def test_scores_are_those_of_detoxify(scorer: ToxicityScorer, checkpoint: Path) -> None:
    from detoxify import Detoxify

    texts = random_texts(120)
    expected = Detoxify(checkpoint=str(checkpoint)).predict(texts)["toxicity"]
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(scorer(texts), expected, rtol=0, atol=1e-5)


def test_a_text_scores_the_same_alone_and_in_company(scorer: ToxicityScorer) -> None:
    texts = random_texts(40, seed=1)
    alone = [float(scorer([text])[0]) for text in texts]
    np.testing.assert_allclose(scorer(texts), alone, rtol=0, atol=1e-6)
    np.testing.assert_allclose(scorer(texts[::-1])[::-1], alone, rtol=0, atol=1e-6)


def test_a_text_beyond_the_model_is_cut(scorer: ToxicityScorer) -> None:
    start = " ".join(WORDS[: LONGEST - 2])
    assert scorer([start + " w99 w98"])[0] == pytest.approx(scorer([start])[0], abs=1e-6)


def test_a_tokenizer_without_a_limit_is_cut_at_the_models(
    config: Path, content: dict[str, Any], tmp_path: Path, scorer: ToxicityScorer
) -> None:
    import transformers

    folder = tmp_path / "unlimited"
    transformers.BertConfig.from_pretrained(config).save_pretrained(folder)
    transformers.BertTokenizer(str(config / "words.txt")).save_pretrained(folder)
    unlimited = ToxicityScorer.from_checkpoint(
        saved(content, tmp_path / "c.ckpt"), config=folder, device="cpu"
    )
    texts = random_texts(20, seed=2)
    np.testing.assert_allclose(unlimited(texts), scorer(texts), rtol=0, atol=1e-6)


def test_saved_as_safetensors_it_scores_the_same_and_another_label_can_be_read(
    scorer: ToxicityScorer, tmp_path: Path
) -> None:
    folder = scorer.save(tmp_path / "safe")
    texts = random_texts(30, seed=3)
    again = ToxicityScorer.from_pretrained(folder, device="cpu")
    np.testing.assert_allclose(again(texts), scorer(texts), rtol=0, atol=1e-7)
    insult = ToxicityScorer.from_pretrained(folder, label="insult", device="cpu")
    assert not np.allclose(insult(texts), scorer(texts))


def test_a_folder_without_safetensors_is_refused(config: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"holds no safetensors.*can run code"):
        ToxicityScorer.from_pretrained(config)


def of_architecture(content: dict[str, Any], **changes: str) -> dict[str, Any]:
    """Return a checkpoint whose config names something else."""
    args = {**content["config"]["arch"]["args"], **changes}
    return {**content, "config": {**content["config"], "arch": {"args": args}}}


def without_bias(content: dict[str, Any]) -> dict[str, Any]:
    state = {k: v for k, v in content["state_dict"].items() if k != "classifier.bias"}
    return {**content, "state_dict": state}


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            lambda content: {**content, "note": Foreign()},
            ValueError,
            r"wrong\.ckpt cannot be read.*runs code.*trust_pickle=True",
        ),
        (
            lambda content: of_architecture(content, model_type="nobody/no-such-model"),
            FileNotFoundError,
            r"'nobody/no-such-model' are not on this machine",
        ),
        (without_bias, ValueError, r"do not fit its config: 1 missing.*classifier\.bias"),
        (
            lambda content: of_architecture(content, model_name="pipeline"),
            ValueError,
            r"not a Detoxify checkpoint.*PreTrainedModel called pipeline",
        ),
        (
            lambda content: {"state_dict": content["state_dict"]},
            ValueError,
            r"wrong\.ckpt is not a Detoxify checkpoint: .*config",
        ),
    ],
    ids=["code in a pickle", "a config elsewhere", "weights", "no model", "no config"],
)
def test_a_wrong_checkpoint_is_refused(
    content: dict[str, Any], tmp_path: Path, change: Any, error: type[Exception], message: str
) -> None:
    file = saved(change(content), tmp_path / "wrong.ckpt")
    with pytest.raises(error, match=message):
        ToxicityScorer.from_checkpoint(file)


def test_a_trusted_pickle_is_read(
    content: dict[str, Any], tmp_path: Path, scorer: ToxicityScorer
) -> None:
    # A class that can be imported, as the files of a training framework hold.
    file = saved({**content, "note": Path("x")}, tmp_path / "foreign.ckpt")
    with pytest.warns(UserWarning, match=r"foreign\.ckpt is read as a pickle, which can run code"):
        trusted = ToxicityScorer.from_checkpoint(file, trust_pickle=True, device="cpu")
    assert trusted(["w1 w2"])[0] == pytest.approx(scorer(["w1 w2"])[0], abs=1e-7)


def test_a_config_folder_takes_the_place_of_the_named_one(
    content: dict[str, Any], config: Path, tmp_path: Path
) -> None:
    named = of_architecture(content, model_type="nobody/no-such-model")
    file = saved(named, tmp_path / "elsewhere.ckpt")
    assert ToxicityScorer.from_checkpoint(file, config=config, device="cpu")(["w1"]).shape == (1,)


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "letter.ckpt"
    file.write_text("dear all")
    with pytest.raises(
        ValueError, match=r"letter\.ckpt cannot be read as tensors .*: it is damaged"
    ):
        ToxicityScorer.from_checkpoint(file)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no checkpoint .*gone\.ckpt"):
        ToxicityScorer.from_checkpoint(tmp_path / "gone.ckpt")


def test_an_unknown_model_is_not_fetched() -> None:
    with pytest.raises(ValueError, match="Detoxify has no model 'orginal'; it has original, unb"):
        ToxicityScorer.download("orginal")
