"""Models on a GPU: ours against bare transformers and bare vLLM, and what precision costs.

    python benchmarks/gpu.py [--shape tiny|1b|8b] [--prompts N] [--only WORD ...]

Weights are random, made from a configuration of the shape of Llama, and answers go on to 64
tokens, so that every way does the same work. Lines: `hf:` and generate() on the same batches;
`vllm:` and LLM.generate, with a seed for each sample; probabilities of two labels, one pass
against one token of generate(); and a classifier of the shape of RoBERTa by batch and
precision, with the largest difference of its scores and how many cross 0.5. Ways alternate in
one run. Exits non-zero when a target is missed. Without a GPU the shape is tiny, the prompts
are few, and a target of speed is only printed; where vLLM is not installed its line says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Files beside this one are named like modules of the standard library: look elsewhere first.
_HERE = Path(__file__).resolve().parent
sys.path[:] = [p for p in sys.path if Path(p or ".").resolve() != _HERE]

# Hidden size, layers, heads, key-value heads, inner size.
SHAPES = {
    "tiny": (64, 2, 4, 2, 128),
    "1b": (2048, 16, 32, 8, 8192),
    "8b": (4096, 32, 32, 8, 14336),
}
WORDS = 8192
TOKENS = 64
LABELS = ["w17", "w4711"]
ROUNDS = 2


@dataclass(frozen=True, slots=True)
class Line:
    """A printed line, and whether its target is met."""

    text: str
    met: bool = True


def prompts(n: int) -> list[str]:
    """Return prompts of 8 to 40 random words."""
    draw = random.Random(0)
    return [
        " ".join(f"w{draw.randrange(WORDS)}" for _ in range(draw.randint(8, 40))) for _ in range(n)
    ]


def saved_model(shape: str, folder: Path, device: str) -> Path:
    """Write a random model of a shape, with a tokenizer of words and no end of text."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({f"w{i}": i for i in range(WORDS)}, unk_token="w0"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words).save_pretrained(folder)
    hidden, layers, heads, keys, inner = SHAPES[shape]
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=WORDS,
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=keys,
        intermediate_size=inner,
        max_position_embeddings=2048,
        bos_token_id=None,
        eos_token_id=None,
        dtype="bfloat16" if device == "cuda" else "float32",
    )
    with torch.device(device):
        model = LlamaForCausalLM(config)
    model.to(torch.bfloat16 if device == "cuda" else torch.float32).save_pretrained(folder)
    return folder


def alternate(ways: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the least seconds of each way, after one turn that is not counted."""
    best = dict.fromkeys(ways, float("inf"))
    for turn in range(ROUNDS + 1):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            if turn:
                best[name] = min(best[name], time.perf_counter() - start)
    return best


def transformers_lines(folder: Path, texts: list[str], n: int, device: str) -> Iterator[Line]:
    """Yield `hf:` against generate(), and label scoring."""
    import torch

    from pytest_llmfair.clients import load_client

    client = load_client(f"hf:{folder}?device={device}&batch_size=128", max_tokens=TOKENS)
    model, tokenizer = client.backend.decoder.model, client.backend.tokenizer

    def bare() -> None:
        rows = sorted((tokenizer(text)["input_ids"] for text in texts), key=len)
        size = max(128 // n, 1)
        for batch in (rows[i : i + size] for i in range(0, len(rows), size)):
            width = max(map(len, batch))
            ids = [[0] * (width - len(row)) + row for row in batch]
            mask = [[0] * (width - len(row)) + [1] * len(row) for row in batch]
            with torch.inference_mode():
                model.generate(
                    input_ids=torch.tensor(ids, device=device),
                    attention_mask=torch.tensor(mask, device=device),
                    do_sample=True,
                    top_k=0,
                    num_return_sequences=n,
                    max_new_tokens=TOKENS,
                    min_new_tokens=TOKENS,
                    pad_token_id=0,
                )

    best = alternate({"bare": bare, "ours": lambda: client.generate(texts, n, fresh=True)})
    yield _compared("hf: against generate() in batches of 128", best, len(texts) * n, 1.0)

    def one_token() -> None:
        for text in texts:
            row = tokenizer(text, return_tensors="pt").to(device)
            with torch.inference_mode():
                out = model.generate(
                    **row,
                    max_new_tokens=1,
                    do_sample=False,
                    output_scores=True,
                    return_dict_in_generate=True,
                    pad_token_id=0,
                )
            out.scores[0][0].softmax(-1)[:2].tolist()

    best = alternate(
        {
            "bare": one_token,
            "ours": lambda: client.backend.probabilities(texts, LABELS),
        }
    )
    yield _compared("two labels, against one token of generate() each", best, len(texts), 1.0)


def vllm_lines(folder: Path, texts: list[str], n: int) -> Iterator[Line]:
    """Yield `vllm:` against bare vLLM, once with a seed a sample and once with n samples."""
    if importlib.util.find_spec("vllm") is None:
        yield Line("vllm: vLLM is not installed here; not measured")
        return
    from pytest_llmfair.clients import load_client

    client = load_client(f"vllm:{folder}?gpu_memory=0.6", max_tokens=TOKENS)
    engine, parameters = client.backend.engine, client.backend.parameters
    many = [text for text in texts for _ in range(n)]
    seeded = [parameters(temperature=1.0, max_tokens=TOKENS, seed=i) for i in range(len(many))]
    several = parameters(n=n, temperature=1.0, max_tokens=TOKENS)
    best = alternate(
        {
            "bare": lambda: engine.generate(many, seeded, use_tqdm=False),
            "ours": lambda: client.generate(texts, n, fresh=True),
            "n": lambda: engine.generate(texts, several, use_tqdm=False),
        }
    )
    yield _compared("vllm: against LLM.generate with the same seeds", best, len(many), 0.95)
    yield Line(f"    seeds cost {best['bare'] / best['n']:.2f}x of one request for n answers")


def classifier_lines(texts: list[str], device: str, *, small: bool) -> Iterator[Line]:
    """Yield texts a second of a classifier by batch and precision, and what precision changes."""
    import torch
    from transformers import RobertaConfig, RobertaForSequenceClassification

    hidden, layers = (64, 2) if small else (768, 12)
    config = RobertaConfig(
        vocab_size=WORDS + 4,
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=hidden // 16 if small else 12,
        intermediate_size=4 * hidden,
        num_labels=1,
        initializer_range=0.2,
    )
    torch.manual_seed(0)
    model = RobertaForSequenceClassification(config).to(device).eval()
    ids = [[2 + int(word[1:]) for word in text.split()] for text in texts]
    ids.sort(key=len)

    def scores(batch: int) -> Any:
        found = []
        for start in range(0, len(ids), batch):
            rows = ids[start : start + batch]
            width = max(map(len, rows))
            padded = torch.tensor([row + [1] * (width - len(row)) for row in rows], device=device)
            with torch.inference_mode():
                logits = model(padded, attention_mask=(padded != 1).long()).logits.float()
            found.append(logits.sigmoid()[:, 0].cpu())
        return torch.cat(found)

    exact = scores(32)
    for dtype in (torch.float32, torch.bfloat16):
        model.to(dtype)
        for batch in (32, 256) if small else (32, 128, 512, 1024):
            best = alternate({"ours": lambda size=batch: scores(size)})["ours"]
            got = scores(batch)
            crossed = int(((got > 0.5) != (exact > 0.5)).sum())
            yield Line(
                f"classifier, {str(dtype).removeprefix('torch.')}, batches of {batch}: "
                f"{len(ids) / best:,.0f} texts a second; largest difference to float32 "
                f"{float((got - exact).abs().max()):.1e}, {crossed} of {len(ids)} cross 0.5"
            )


def _compared(name: str, best: dict[str, float], answers: int, target: float) -> Line:
    ratio = best["bare"] / best["ours"]
    met = ratio >= target
    return Line(
        f"{name}: bare {answers / best['bare']:,.1f}, ours {answers / best['ours']:,.1f} a "
        f"second, {ratio:.2f}x (target {target:g}x): {'ok' if met else 'MISSED'}",
        met,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print every line, and return the exit status."""
    import torch

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--shape", choices=[*SHAPES], help="by default 1b on a GPU, else tiny")
    parser.add_argument("--prompts", type=int, help="by default 1,000 on a GPU, else 4")
    parser.add_argument("--only", nargs="+", default=[], help="hf, vllm, classifier")
    options = parser.parse_args(argv)
    gpu = torch.cuda.is_available()
    device = "cuda" if gpu else "cpu"
    shape = options.shape or ("1b" if gpu else "tiny")
    texts, n = prompts(options.prompts or (1000 if gpu else 4)), 25 if gpu else 5
    place = torch.cuda.get_device_name() if gpu else "no GPU"
    sys.stdout.write(f"{place}; {shape}, {len(texts)} prompts x {n} answers of {TOKENS} tokens\n")
    parts = {
        "hf": lambda folder: transformers_lines(folder, texts, n, device),
        "vllm": lambda folder: vllm_lines(folder, texts, n),
        "classifier": lambda folder: classifier_lines(
            texts * (100 if gpu else 20), device, small=not gpu
        ),
    }
    met = True
    with tempfile.TemporaryDirectory() as folder:
        source = saved_model(shape, Path(folder), device)
        for name, part in parts.items():
            if not options.only or name in options.only:
                for line in part(source):
                    sys.stdout.write(f"{line.text}\n")
                    sys.stdout.flush()
                    met = met and line.met
    return 0 if met or not gpu else 1


if __name__ == "__main__":
    sys.exit(main())
