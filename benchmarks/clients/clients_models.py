"""Models of this machine: the client and the scorers against one text after the other.

A random GPT-2 (4 layers of 256) answers 40 prompts of 8 to 40 tokens 25 times with 64 tokens, and
tells the probabilities of two labels after 64 prompts that share their first 200 tokens; a random
BERT of the same size reads 512 texts of mixed lengths as Detoxify's checkpoint.
"""

from __future__ import annotations

import functools
import random
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from _kernel import Kernel, Timed

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.clients.backends.decoding import Decoder
from pytest_llmfair.clients.backends.huggingface import HuggingFace
from pytest_llmfair.scorers import ToxicityScorer

WORDS = 8192
ANSWERS = 25
NEW = 64
LABELS = ["w17", "w4711"]
# The way one by one is given these shares of the work; its time is scaled.
SAMPLED = 4  # of 1,000 answers, one of every tenth prompt
SCORED = 16  # of 64 prompts


@functools.cache
def backend() -> HuggingFace:
    """Make a random model over words w0, w1, ... without an end, so that answers are full."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    torch.set_num_threads(1)
    words = Tokenizer(models.WordLevel({f"w{i}": i for i in range(WORDS)}, unk_token="w0"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words)
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=WORDS,
        n_positions=512,
        n_embd=256,
        n_layer=4,
        n_head=4,
        bos_token_id=0,
        eos_token_id=0,
    )
    model = GPT2LMHeadModel(config).eval()
    return HuggingFace(Decoder(model, frozenset()), tokenizer, "hf:random", batch_size=200)


def prompts(n: int, shared: int, own: tuple[int, int]) -> list[str]:
    """Prompts of random words after a shared beginning."""
    draw = random.Random(n)
    start = [draw.randrange(WORDS) for _ in range(shared)]
    rows = [[draw.randrange(WORDS) for _ in range(draw.randint(*own))] for _ in range(n)]
    return [" ".join(f"w{i}" for i in [*start, *row]) for row in rows]


def _generated(text: str, **options: Any) -> list[int]:
    model, tokenizer = backend().decoder.model, backend().tokenizer
    row = tokenizer(text, return_tensors="pt")
    out = model.generate(**row, max_new_tokens=NEW, pad_token_id=0, eos_token_id=None, **options)
    return list(out[0, row["input_ids"].shape[1] :].tolist())


def _sample_one_by_one(texts: list[str]) -> Timed:
    start = time.perf_counter()
    for text in texts[:: len(texts) // SAMPLED]:
        _generated(text, do_sample=True, top_k=0)
    seconds = time.perf_counter() - start
    return Timed(seconds * len(texts) * ANSWERS / SAMPLED, texts)


def _sample(texts: list[str]) -> list[list[Any]]:
    return ModelClient(backend(), max_tokens=NEW).generate(texts, ANSWERS)


# Every 50th word ends an answer, so that the lengths of answers differ.
ENDS = range(0, WORDS, 50)


def _sample_with_ends(texts: list[str]) -> list[int]:
    ending = replace(backend(), decoder=Decoder(backend().decoder.model, frozenset(ENDS)))
    rows = ModelClient(ending, max_tokens=NEW).generate(texts, ANSWERS)
    return [len(str(answer or "").split()) for row in rows for answer in row]


def _generate_in_batches(texts: list[str]) -> list[int]:
    """Let generate() give the answers in the same batches, padded on the left."""
    import torch

    found = []
    rows = sorted((backend().tokenizer(text)["input_ids"] for text in texts), key=len)
    size = backend().batch_size // ANSWERS
    for batch in (rows[i : i + size] for i in range(0, len(rows), size)):
        width = max(map(len, batch))
        out = backend().decoder.model.generate(
            input_ids=torch.tensor([[0] * (width - len(row)) + row for row in batch]),
            attention_mask=torch.tensor(
                [[0] * (width - len(row)) + [1] * len(row) for row in batch]
            ),
            do_sample=True,
            top_k=0,
            num_return_sequences=ANSWERS,
            max_new_tokens=NEW,
            pad_token_id=0,
            eos_token_id=list(ENDS),
        )
        ended = (out[:, width:] % ENDS.step == 0).int()
        lengths = torch.where(ended.any(1), ended.argmax(1) + 1, NEW)
        found += lengths.tolist()
    return found


def _equally_long(theirs: list[int], ours: list[int]) -> bool:
    """Whether as many answers have the same mean length, up to chance."""
    error = np.std(theirs) * np.sqrt(2.0 / len(theirs))
    return len(theirs) == len(ours) and abs(np.mean(theirs) - np.mean(ours)) < 4.0 * error


def _drawn_from_the_model(texts: list[str], rows: list[list[Any]]) -> bool:
    """Whether the first tokens are draws from the model's distribution (Kolmogorov-Smirnov)."""
    import torch

    model, tokenizer = backend().decoder.model, backend().tokenizer
    ranks = []
    for text, row in zip(texts, rows, strict=True):
        with torch.inference_mode():
            logits = model(**tokenizer(text, return_tensors="pt")).logits[0, -1]
        total = logits.double().softmax(0).cumsum(0)
        firsts = tokenizer([str(answer).split()[0] for answer in row])["input_ids"]
        ranks += [float(total[token]) for (token,) in firsts]
    found = np.sort(ranks)
    expected = np.arange(1, len(found) + 1) / len(found)
    return bool(np.abs(found - expected).max() < 1.95 / np.sqrt(len(found)))


def _greedy_one_by_one(texts: list[str]) -> list[list[int]]:
    return [_generated(text, do_sample=False) for text in texts]


def _greedy(texts: list[str]) -> list[list[int]]:
    rows = ModelClient(backend(), max_tokens=NEW, temperature=0.0).generate(texts)
    return [backend().tokenizer(str(row[0]))["input_ids"] for row in rows]


def _score_one_by_one(texts: list[str]) -> Timed:
    model, tokenizer = backend().decoder.model, backend().tokenizer
    ids = [token for (token,) in tokenizer(LABELS)["input_ids"]]
    found = []
    start = time.perf_counter()
    for text in texts[:SCORED]:
        out = model.generate(
            **tokenizer(text, return_tensors="pt"),
            do_sample=False,
            max_new_tokens=1,
            output_scores=True,
            return_dict_in_generate=True,
            pad_token_id=0,
        )
        shares = out.scores[0][0].softmax(-1)
        found.append([float(shares[token]) for token in ids])
    return Timed((time.perf_counter() - start) * len(texts) / SCORED, found)


def _score(texts: list[str]) -> list[list[float]]:
    rows = ModelClient(backend()).next_token_probabilities(texts, LABELS)
    return [list(row.values()) for row in rows]


def _equal_probabilities(expected: list[list[float]], got: list[list[float]]) -> bool:
    return bool(np.abs(np.subtract(expected, got[: len(expected)])).max() < 1e-6)


@functools.cache
def _checkpoint() -> Path:
    """Write a random classifier in the form of Detoxify's checkpoints."""
    import torch
    import transformers

    torch.set_num_threads(1)
    folder = Path(tempfile.mkdtemp())
    vocabulary = folder / "words.txt"
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{i}" for i in range(WORDS))]
    vocabulary.write_text("\n".join(names))
    settings = transformers.BertConfig(
        vocab_size=len(names),
        hidden_size=256,
        num_hidden_layers=4,
        num_attention_heads=4,
        intermediate_size=1024,
        initializer_range=0.1,
        num_labels=3,
    )
    settings.save_pretrained(folder)
    transformers.BertTokenizer(str(vocabulary), model_max_length=512).save_pretrained(folder)
    torch.manual_seed(0)
    model = transformers.BertForSequenceClassification(settings)
    arch = {
        "model_type": str(folder),
        "model_name": "BertForSequenceClassification",
        "tokenizer_name": "BertTokenizer",
        "num_classes": 3,
    }
    content = {
        "config": {
            "dataset": {"args": {"classes": ["toxicity", "insult", "threat"]}},
            "arch": {"args": arch},
        },
        "state_dict": model.state_dict(),
    }
    torch.save(content, folder / "small.ckpt")
    return folder / "small.ckpt"


@functools.cache
def _detoxify() -> Any:
    from detoxify import Detoxify

    return Detoxify(checkpoint=str(_checkpoint()))


def _texts(n: int) -> list[str]:
    """Texts of 3 to 400 words, most of them short."""
    draw = random.Random(n)
    sizes = [min(400, max(3, int(draw.lognormvariate(3.3, 0.9)))) for _ in range(n)]
    return [" ".join(f"w{draw.randrange(WORDS)}" for _ in range(size)) for size in sizes]


def _predicted(texts: list[str]) -> list[float]:
    return list(_detoxify().predict(texts)["toxicity"])


@functools.cache
def _classifier() -> Any:
    return ToxicityScorer.from_checkpoint(_checkpoint(), device="cpu")._classifier


def _scored(texts: list[str]) -> list[float]:
    # A new scorer each time: one that has met the texts would answer from memory.
    return ToxicityScorer(_classifier())(texts).tolist()


def kernels() -> list[Kernel]:
    """Return the lines of models of this machine."""
    return [
        Kernel(
            f"hf sampling, 40 prompts x {ANSWERS} x {NEW} tokens",
            "generate() one by one",
            8.0,
            _sample_one_by_one,
            _sample,
            [prompts(40, 0, (8, 40))],
            _drawn_from_the_model,
            rounds=3,
            note="every token is drawn from the whole distribution; the way one by one is given "
            f"{SAMPLED} of the 1,000 answers and scaled",
        ),
        Kernel(
            f"hf sampling of answers of 1 to {NEW} tokens, 16 prompts x {ANSWERS}",
            "generate() on the same batches",
            1.5,
            _generate_in_batches,
            _sample_with_ends,
            [prompts(16, 0, (8, 40))],
            _equally_long,
            rounds=3,
            note="why there is a decoder of our own: rows that have ended leave the batch",
        ),
        Kernel(
            f"hf greedy, 40 prompts x {NEW} tokens",
            "generate() one by one",
            1.0,
            _greedy_one_by_one,
            _greedy,
            [prompts(40, 0, (8, 40))],
            lambda expected, got: expected == got,
            rounds=1,
            note="the tokens are compared; for an answer each the gain is that of the batch alone",
        ),
        Kernel(
            "hf label probabilities, 64 prompts with 200 tokens in common",
            "generate(output_scores) one by one",
            4.0,
            _score_one_by_one,
            _score,
            [prompts(64, 200, (20, 80))],
            _equal_probabilities,
            rounds=5,
        ),
        Kernel(
            "toxicity of 512 texts of mixed lengths",
            "Detoxify.predict",
            2.0,
            _predicted,
            _scored,
            [_texts(512)],
            lambda expected, got: bool(np.abs(np.subtract(expected, got)).max() < 1e-5),
            rounds=3,
        ),
    ]
