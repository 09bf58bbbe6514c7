"""Sampling and scoring of a transformers model: the client against ``generate()`` one by one.

    python benchmarks/generation.py [--smoke] [--device cuda]

A random GPT-2 (4 layers of 256): 8 prompts of 8 to 40 tokens with 25 answers of 64 tokens each,
and the probabilities of two labels after 64 prompts that share their first 200 tokens. Both ways
run alternately on one thread; printed are medians and the median of the ratios. Exits with 1 below
the target.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.clients._decoder import Decoder
from pytest_llmfair.clients.huggingface import HuggingFace

WORDS = 8192
ANSWERS = 25
NEW = 64
TARGETS = {"sampling": 8.0, "scoring": 4.0}


def build(device: str) -> HuggingFace:
    """Make a random model over words w0, w1, ... without an end, so that answers are full."""
    words = Tokenizer(models.WordLevel({f"w{i}": i for i in range(WORDS)}, unk_token="w0"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words)
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=WORDS, n_positions=512, n_embd=256, n_layer=4, n_head=4, bos_token_id=0
    )
    model = GPT2LMHeadModel(config).eval().to(device)
    return HuggingFace(Decoder(model, frozenset()), tokenizer, "hf:random", batch_size=200)


def prompts(n: int, shared: int, own: tuple[int, int]) -> list[str]:
    """Prompts of random words after a shared beginning."""
    draw = torch.Generator().manual_seed(n)
    start = torch.randint(WORDS, (shared,), generator=draw).tolist()
    found = []
    for _ in range(n):
        size = int(torch.randint(own[0], own[1] + 1, (1,), generator=draw))
        rest = torch.randint(WORDS, (size,), generator=draw).tolist()
        found.append(" ".join(f"w{i}" for i in [*start, *rest]))
    return found


def sample_one_by_one(backend: HuggingFace, texts: list[str], answers: int) -> None:
    model = backend.decoder.model
    for text in texts:
        row = backend.tokenizer(text, return_tensors="pt").to(model.device)
        for _ in range(answers):
            model.generate(**row, do_sample=True, top_k=0, max_new_tokens=NEW, pad_token_id=0)


def score_one_by_one(
    backend: HuggingFace, texts: list[str], labels: list[str]
) -> list[list[float]]:
    model = backend.decoder.model
    ids = backend.tokenizer(labels)["input_ids"]
    found = []
    for text in texts:
        row = backend.tokenizer(text, return_tensors="pt").to(model.device)
        out = model.generate(
            **row,
            do_sample=False,
            max_new_tokens=1,
            output_scores=True,
            return_dict_in_generate=True,
            pad_token_id=0,
        )
        shares = out.scores[0][0].softmax(-1)
        found.append([float(shares[token]) for (token,) in ids])
    return found


def alternate(
    slow: Callable[[], object], fast: Callable[[], object], runs: int, share: float
) -> list[float]:
    """Time both in turn; `share` is the part of the work that the slow way is given."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for kept, work in zip(times, (slow, fast), strict=True):
            start = time.perf_counter()
            work()
            kept.append(time.perf_counter() - start)
    one, other = ([t / part for t in kept] for kept, part in zip(times, (share, 1.0), strict=True))
    ratio = float(np.median(np.divide(one, other)))
    return [float(np.median(one)), float(np.median(other)), ratio]


def sampling(backend: HuggingFace, runs: int) -> list[float]:
    client = ModelClient(backend, max_tokens=NEW)
    texts = prompts(8, 0, (8, 40))
    few = 2  # the slow way is given a part of the answers only, for every prompt

    def fast() -> None:
        rows = client.generate(texts, ANSWERS)
        assert all(isinstance(answer, str) for row in rows for answer in row)

    return alternate(lambda: sample_one_by_one(backend, texts, few), fast, runs, few / ANSWERS)


def scoring(backend: HuggingFace, runs: int) -> list[float]:
    client = ModelClient(backend)
    texts = prompts(64, 200, (20, 80))
    labels = ["w17", "w4711"]
    slow = score_one_by_one(backend, texts[:4], labels)
    fast = client.next_token_probabilities(texts[:4], labels)
    gap = max(
        abs(a - b)
        for row, other in zip(slow, fast, strict=True)
        for a, b in zip(row, other.values(), strict=True)
    )
    assert gap < 1e-6, f"probabilities differ by {gap}"
    return alternate(
        lambda: score_one_by_one(backend, texts[:16], labels),
        lambda: client.next_token_probabilities(texts, labels),
        runs,
        16 / 64,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="one run, no target")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(1)
    backend = build(options.device)
    runs = 1 if options.smoke else 5
    below = 0
    print("work       one by one       batched      ratio  target")
    for name, bench in (("sampling", sampling), ("scoring", scoring)):
        slow, fast, ratio = bench(backend, runs)
        below += ratio < TARGETS[name]
        print(f"{name:10} {slow:8.2f} s   {fast:8.2f} s   {ratio:8.1f}  {TARGETS[name]:6.1f}")
    count = 8 * ANSWERS * NEW
    print(f"sampling: {count} tokens, each drawn from the whole distribution")
    return int(below > 0 and not options.smoke)


if __name__ == "__main__":
    sys.exit(main())
