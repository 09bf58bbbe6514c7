"""A small random T5, asked in batches, beside the same model asked one by one."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from pytest_llmfair.clients import Missing, ModelClient, ModelSpecError, load_client
from pytest_llmfair.clients.protocol import sample_seed

WORDS = [
    "the",
    "nurse",
    "said",
    "that",
    "he",
    "she",
    "was",
    "kind",
    "tired",
    "a",
    "doctor",
    "who",
    "is",
    "yes",
    "no",
    "maybe",
]
PROMPTS = ["the nurse said that", "he", "a doctor who is tired said that she was", "yes no"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch

    where = tmp_path_factory.mktemp("models") / "t5"
    vocabulary = {word: i for i, word in enumerate(["<pad>", "</s>", "<unk>", *WORDS])}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    tokenizer.save_pretrained(where)
    torch.manual_seed(3)
    config = transformers.T5Config(
        vocab_size=len(vocabulary),
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
        initializer_factor=0.5,
        tie_word_embeddings=False,
    )
    transformers.T5ForConditionalGeneration(config).save_pretrained(where)
    return where


@pytest.fixture(scope="module")
def client(folder: Path) -> ModelClient:
    return load_client(f"hf:{folder}?max_tokens=8&device=cpu")


def logits_after(client: Any, prompt: str, written: list[int]) -> Any:
    """One full pass: no cache, no batch."""
    import torch

    model, tokenizer = client.backend.decoder.model, client.backend.tokenizer
    ids = torch.tensor([tokenizer(prompt)["input_ids"]])
    with torch.no_grad():
        out = model(input_ids=ids, decoder_input_ids=torch.tensor([[0, *written]]))
    return out.logits[0, -1]


def slow_answer(client: Any, prompt: str, seed: int, temperature: float) -> str:
    import torch

    written: list[int] = []
    draw = random.Random(seed)
    while len(written) < 8:
        logits = logits_after(client, prompt, written)
        if temperature == 0:
            written.append(int(logits.argmax()))
        else:
            cumulative = torch.softmax(logits / temperature, 0).double().cumsum(0)
            written.append(int((cumulative <= draw.random()).sum()))
        if written[-1] == 1:
            break
    return str(client.backend.tokenizer.decode(written, skip_special_tokens=True)).strip()


@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0])
def test_batched_answers_equal_answers_drawn_one_by_one(
    client: ModelClient, temperature: float
) -> None:
    rows = client.generate(PROMPTS, 6, temperature=temperature)
    lengths = set()
    for prompt, row in zip(PROMPTS, rows, strict=True):
        for j, answer in enumerate(row):
            seed = sample_seed(client.seed, prompt, 0, j)
            text = "" if isinstance(answer, Missing) and answer.reason == "empty" else answer
            assert text == slow_answer(client, prompt, seed, temperature)
            lengths.add(len(str(text).split()))
    assert len(lengths) > 1 or temperature == 0.0


def test_answers_depend_on_neither_batch_nor_order(folder: Path, client: ModelClient) -> None:
    rows = client.generate(PROMPTS, 4)
    assert client.generate(PROMPTS[::-1], 4) == rows[::-1]
    small = load_client(f"hf:{folder}?max_tokens=8&device=cpu&batch_size=3")
    assert small.generate(PROMPTS, 4) == rows


def test_probabilities_are_products_of_the_models_own(client: ModelClient) -> None:
    words = ["yes", "no", "she was kind", "she was"]
    rows = client.next_token_probabilities(PROMPTS, words)
    tokenizer: Any = client.backend.tokenizer  # type: ignore[union-attr]
    for prompt, row in zip(PROMPTS, rows, strict=True):
        for word in words:
            ids = tokenizer(word, add_special_tokens=False)["input_ids"]
            total = math.fsum(
                float(logits_after(client, prompt, ids[:i]).log_softmax(0)[token])
                for i, token in enumerate(ids)
            )
            assert row[word] == pytest.approx(math.exp(total), rel=1e-4, abs=1e-9)


def test_labels_share_one(client: ModelClient) -> None:
    for row in client.label_probabilities(PROMPTS, ["yes", "no", "maybe"]):
        assert math.fsum(row.values()) == pytest.approx(1.0)


def test_a_precision_can_be_named(folder: Path) -> None:
    import torch

    half: Any = load_client(f"hf:{folder}?device=cpu&dtype=bfloat16")
    assert half.backend.decoder.model.dtype == torch.bfloat16
    with pytest.raises(ModelSpecError, match="dtype is 'int4'; choose float32, bfloat16, float16"):
        load_client(f"hf:{folder}?dtype=int4")


def test_code_of_a_model_is_not_run_unless_asked(folder: Path) -> None:
    with pytest.raises(ModelSpecError, match="trust_remote_code is 'yes'; choose true, false"):
        load_client(f"hf:{folder}?trust_remote_code=yes")
