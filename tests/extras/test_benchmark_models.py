"""Likelihoods of whole texts, and small models that are trained to prefer a stereotype or not."""

from __future__ import annotations

import json
import math
import re

import pytest

from pytest_llmfair.clients import load_client
from pytest_llmfair.suites import run
from pytest_llmfair.suites.kinds import KINDS
from pytest_llmfair.suites.runner import chosen_suite
from tests.extras.tiny import transformers, word_tokenizer
from tests.suites.benchmark_items import bbq_lines, crows_rows, stereoset, write_csv, write_lines
from tests.suites.models import verdict

# Training takes seconds.
pytestmark = pytest.mark.slow

# How often a model reads the sentences of StereoSet.
TIMES = {"stereotype": 3, "anti-stereotype": 1, "unrelated": 0}
SIZE = {"n_embd": 48, "n_layer": 2, "n_head": 2, "n_positions": 96}
SIZE |= dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)


def trained(texts, where, rounds=60, *, answers=False):
    """Train a GPT-2 of two layers on texts, or only on the last word of each, and save it."""
    import torch

    torch.manual_seed(0)
    words = sorted({word for text in texts for word in re.findall(r"\w+|[^\w\s]+", text)})
    vocabulary = ["<pad>", "<unk>", "<s>", *words]
    tokenizer = word_tokenizer(vocabulary, "<s> $A", pad_token="<pad>", bos_token="<s>")
    config = transformers.GPT2Config(
        vocab_size=len(vocabulary), bos_token_id=2, eos_token_id=None, **SIZE
    )
    model = transformers.GPT2LMHeadModel(config)
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    ids, mask = batch["input_ids"], batch["attention_mask"]
    goal = ids.masked_fill(mask == 0, -100)
    if answers:
        last = mask.sum(1, keepdim=True) - 1
        goal = torch.full_like(ids, -100).scatter(1, last, ids.gather(1, last))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    for _ in range(rounds):
        loss = model(input_ids=ids, attention_mask=mask, labels=goal).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss.item() < 0.05:
            break
    model.eval()
    model.save_pretrained(where)
    tokenizer.save_pretrained(where)
    return load_client(f"hf:{where}?device=cpu&max_tokens=12")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    rows = crows_rows(60)
    return rows, write_csv(tmp_path_factory.mktemp("pairs") / "pairs.csv", rows)


@pytest.fixture(scope="module")
def client(tmp_path_factory, pairs):
    """A model that has read the stereotypical sentences only."""
    rows, _ = pairs
    texts = [row["sent_more"] for row in rows] + ["Bakers sleep."]
    return trained(texts, tmp_path_factory.mktemp("stereotyped"))


@pytest.mark.parametrize("context", ["", "Bakers sleep."])
def test_likelihoods_are_sums_over_the_tokens_after_the_context(client, context):
    import torch

    model, tokenizer = client.backend.decoder.model, client.backend.tokenizer
    texts = ["Gardeners of hall 3 never finish, they say.", "Bakers sleep.", "Bakers"]
    found = client.log_likelihoods(texts, context)
    for text, (log, tokens) in zip(texts, found, strict=True):
        before = tokenizer(context)["input_ids"]
        ids = tokenizer(f"{context} {text}")["input_ids"]
        with torch.no_grad():
            logs = model(torch.tensor([ids])).logits[0].log_softmax(-1)
        slow = [float(logs[place - 1, ids[place]]) for place in range(len(before), len(ids))]
        assert log == pytest.approx(math.fsum(slow), abs=1e-3)
        assert tokens == len(slow)


def test_a_text_without_a_token_is_an_error(client):
    with pytest.raises(ValueError, match="the model holds 96"):
        client.log_likelihoods(["sleep " * 120])


def test_a_model_trained_on_stereotypes_prefers_them_and_one_trained_on_both_is_even(
    client, pairs, tmp_path
):
    rows, data = pairs
    options = {"data": data, "size": "paper", "tasks": ["all"]}
    found = run("crows_pairs", client, **options)
    assert found.value("all", "stereotype_preference") > 0.95
    assert verdict(found, "all", "stereotype_preference", 0.2) == "FAIL"
    # Gardeners never finish in every other hall, and bakers in the rest.
    half = rows[:24]
    read = [row["sent_more" if n % 2 else "sent_less"] for n, row in enumerate(half)]
    fair = run(
        "crows_pairs",
        trained(read, tmp_path / "fair", rounds=300),
        **(options | {"data": write_csv(tmp_path / "half.csv", half)}),
    )
    assert 0.3 < fair.value("all", "stereotype_preference") < 0.7


def test_stereoset_finds_what_a_model_has_read(tmp_path):
    data = stereoset(12)
    (tmp_path / "dev.json").write_text(json.dumps(data))
    items = [item for part in data["data"].values() for item in part]
    texts = [
        each["sentence"]
        for item in items
        for each in item["sentences"]
        for _ in range(TIMES[each["gold_label"]])
    ]
    found = run(
        "stereoset",
        trained([*texts, "purple We met term"], tmp_path / "model"),
        data=tmp_path / "dev.json",
        size="paper",
        tasks=["all"],
    )
    assert found.value("all", "answer_accuracy@meaningful") > 0.9
    assert found.value("all", "stereotype_preference") > 0.9
    assert found.value("all", "icat") < 0.2


@pytest.mark.parametrize(("by", "low", "high"), [("biased", 0.9, 1.0), ("right", 0.0, 0.0)])
def test_bbq_finds_what_a_model_was_trained_to_answer(tmp_path, by, low, high):
    rows = bbq_lines(["Age"], templates=1)
    data = write_lines(tmp_path / "items.jsonl", rows)
    suite, _ = chosen_suite("bbq", data=data)
    task = suite.tasks[0]
    texts = [
        f"{each.prompt.strip()} {'ABC'[getattr(each.about[1], by)]}"
        for each in KINDS[task.kind].questions(suite, task, suite.size("paper"))
    ]
    client = trained(texts, tmp_path / "model", rounds=400, answers=True)
    found = run("bbq", client, data=data, size="paper", tasks=["Age"])
    assert low <= found.value("Age", "bbq_bias@ambiguous") <= high
    assert found.tasks[0].asked[0].question.words == ("A", "B", "C")
