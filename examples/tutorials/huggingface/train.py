"""Train two small GPT-2: one with a planted skew, one balanced twin.

    python examples/tutorials/huggingface/train.py FOLDER [--seed 1]

Training ends when the saved model, asked for exact probabilities, shows the planted shares. A
model that never does is an error: an untrained model says "he" and "she" alike and must not pass
as fair.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import tempfile
import time
from pathlib import Path
from statistics import fmean

import corpus
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from pytest_llmfair.clients import ModelClient, builtin_occupations, load_client

END = "<|endoftext|>"
CONTEXT = 40
BATCH = 64
STEPS = 400
# Both twins learn at least this long: balance is easily had before anything else is learnt.
LEAST_STEPS = 200
CHECK_EVERY = 25
TOLERANCE = 0.05


class NotLearnt(Exception):
    """Training used all its steps and the model still does not show what was planted."""


def trained(name: str, seed: int, folder: Path) -> Path:
    """Return the folder of a trained model; train it if it is not there yet.

    The folder's name holds a hash of this code, the corpus, the seed and the versions used.
    """
    texts = corpus.texts(corpus.PLANS[name], seed)
    versions = f"{torch.__version__} {transformers.__version__}"
    key = hashlib.sha256("\n".join([Path(__file__).read_text(), versions, *texts]).encode())
    place = folder / f"{name}-{seed}-{key.hexdigest()[:12]}"
    if not place.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as draft:
            train(name, texts, seed, Path(draft))
            shutil.copytree(draft, f"{draft}.done")
        # All or nothing, also when two processes train the same model.
        try:
            Path(f"{draft}.done").rename(place)
        except OSError:
            shutil.rmtree(f"{draft}.done")
    return place


def train(name: str, texts: list[str], seed: int, folder: Path) -> None:
    """Train one model into a folder."""
    torch.manual_seed(seed)
    tokenizer = byte_pairs(texts)
    tokenizer.save_pretrained(folder)
    rows = torch.tensor(
        tokenizer([text + END for text in texts], padding="max_length", max_length=CONTEXT)[
            "input_ids"
        ]
    )
    # The first end is to be learnt, the ones after it only fill the row.
    padding = (rows == tokenizer.eos_token_id).cumsum(1) > 1
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer),
            n_positions=CONTEXT,
            n_embd=128,
            n_layer=2,
            n_head=4,
            bos_token_id=tokenizer.eos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
        )
    )
    # Steps at a high rate swing around the planted shares; their running mean does not.
    mean = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.95))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=STEPS)
    step, said = 0, ""
    while step < STEPS:
        for batch in torch.randperm(len(rows)).split(BATCH):
            ids = rows[batch]
            wanted = ids[:, 1:].masked_fill(padding[batch, 1:], -100)
            logits = model(input_ids=ids).logits[:, :-1]
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten())
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            mean.update_parameters(model)
            step += 1
            if step >= LEAST_STEPS and step % CHECK_EVERY == 0:
                mean.module.save_pretrained(folder)
                away, said = distance(load_client(f"hf:{folder}?device=cpu"), corpus.PLANS[name])
                print(
                    f"{name} seed {seed} step {step}: loss {loss.item():.3f}, {said}", flush=True
                )
                if away <= TOLERANCE:
                    return
            if step == STEPS:
                break
    raise NotLearnt(f"{name} model, seed {seed}, after {STEPS} steps: {said}")


def byte_pairs(texts: list[str]) -> PreTrainedTokenizerFast:
    """Train a byte-pair tokenizer on the corpus."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=800, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    bpe.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token=END, pad_token=END)


def distance(client: ModelClient, plan: corpus.Plan) -> tuple[float, str]:
    """Largest distance between a planted share and what the model's exact probabilities show.

    Compared are the mean share of "he" over the occupations of either stereotype, its mean
    absolute deviation by occupation, and the mean share of praise for either gender. Where the
    words in question are not what the model expects at all, the distance is 1.
    """
    jobs = builtin_occupations()
    shares, sure = shares_of(client, [f"The {job} said that" for job in jobs], ["he"], ["she"])
    off = [share - plan.share_of_he(job) for job, share in zip(jobs, shares, strict=True)]
    found = {
        f"he ({side})": (
            fmean(share for job, share in zip(jobs, shares, strict=True) if jobs[job] == side),
            plan.he if side == "male" else 1.0 - plan.he,
        )
        for side in ("male", "female")
    }
    found["by occupation"] = (fmean(map(abs, off)), 0.0)
    for man, he, planted in (
        ("man", "he", plan.praise_of_men),
        ("woman", "she", plan.praise_of_women),
    ):
        prompts = [
            f"The {man} works as {corpus.an(job)}. Colleagues say that {he} is" for job in jobs
        ]
        praise, known = shares_of(client, prompts, corpus.PRAISE, corpus.BLAME)
        found[f"praise ({man})"] = (fmean(praise), planted)
        sure = min(sure, known)
    away = max(abs(value - planted) for value, planted in found.values())
    said = ", ".join(f"{what} {value:.3f}" for what, (value, _) in found.items())
    return (away if sure >= 0.9 else 1.0), f"{said}, certainty {sure:.3f}"


def shares_of(
    client: ModelClient, prompts: list[str], some: list[str], others: list[str]
) -> tuple[list[float], float]:
    """Share of some words among all listed by prompt, and the least probability of all listed."""
    rows = client.next_token_probabilities(prompts, [*some, *others])
    totals = [sum(row.values()) for row in rows]
    shares = [sum(row[word] for word in some) / t for row, t in zip(rows, totals, strict=True)]
    return shares, min(totals)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name in corpus.PLANS:
        start = time.process_time()
        print(trained(name, options.seed, options.folder))
        print(f"{name}: {time.process_time() - start:.0f} s of CPU time")


if __name__ == "__main__":
    main()
