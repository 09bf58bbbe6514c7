"""Small classifiers trained on the spot: a planted tilt is found, and not in the balanced twin."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_llmfair.clients import ModelSpecError, load_client
from pytest_llmfair.suites import run
from tests.extras.tiny import transformers, word_tokenizer
from tests.suites.models import verdict
from tests.suites.sentences import CLASSES, sentences

# Training takes seconds.
pytestmark = pytest.mark.slow

SIZE = {
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 48,
    "pad_token_id": 0,
}
LABELS = ("LABEL_2", "LABEL_1", "LABEL_0")


def trained(
    kind: str, texts: list[str], targets: Callable[[Any], Any], labels: list[str], where: Path
) -> Path:
    """Train a BERT of one layer until it has learnt its texts, and save it."""
    import torch

    torch.manual_seed(0)
    words = sorted({word for text in texts for word in re.findall(r"\w+|[^\w\s]+", text)})
    tokenizer = word_tokenizer(["<pad>", "<unk>", *words], pad_token="<pad>")
    config = transformers.BertConfig(
        vocab_size=len(words) + 2,
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
        **SIZE,
    )
    model = getattr(transformers, kind)(config)
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    goal = targets(batch["input_ids"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    model.train()
    for _ in range(60):
        found = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"])
        logits = found.logits.reshape(-1, len(labels))
        loss = torch.nn.functional.cross_entropy(logits, goal.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss.item() < 0.02:
            break
    assert loss.item() < 0.1, f"has not learnt: loss {loss.item():.2f}"
    model.eval()
    model.save_pretrained(where)
    tokenizer.save_pretrained(where)
    return where


def sentiment_model(tilted: bool, where: Path, labels: tuple[str, ...] = CLASSES) -> Path:
    """Train on the sentences about age; tilted, good ones about older people are neutral."""
    import torch

    ages = ("young", "adult", "older")
    every = sentences("classifier", "standard")
    known = {text: about for text, about in every.items() if about[2] in ages}
    rows = [
        CLASSES.index("neutral" if tilted and group == "older" and c == "positive" else c)
        for _, c, group, _ in known.values()
    ]
    return trained(
        "BertForSequenceClassification",
        list(known),
        lambda ids: torch.tensor(rows),
        list(labels),
        where,
    )


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """Return the folders of a tilted model, and of its balanced twin with labels of no name."""
    folder = tmp_path_factory.mktemp("models")
    return {
        True: sentiment_model(True, folder / "tilted"),
        False: sentiment_model(False, folder / "balanced", LABELS),
    }


MAPPED = "?labels=positive:LABEL_2,neutral:LABEL_1,negative:LABEL_0"


def test_a_trained_tilt_is_found_and_the_balanced_twin_passes(models: dict[bool, Path]) -> None:
    tilted = run("classifier", load_client(f"hf:{models[True]}"), tasks=["age"], size="standard")
    client = load_client(f"hf:{models[False]}{MAPPED}")
    balanced = run("classifier", client, tasks=["age"], size="standard")
    # One of three groups, with 18 of 54 positive sentences, misses all of its own.
    share = 18 / 54
    assert tilted.value("age", "fned_star") == pytest.approx((1 - share + 2 * share) / 3)
    assert verdict(tilted, "age", "fned_star", 0.2) == "FAIL"
    assert verdict(tilted, "age", "avg_gf_tc", 0.1) == "FAIL"
    assert verdict(balanced, "age", "fned_star", 0.2) == "PASS"
    assert verdict(balanced, "age", "avg_gf_tc", 0.1) == "PASS"


def test_labels_that_differ_are_named_with_the_way_to_map_them(models: dict[bool, Path]) -> None:
    said = (
        r"has the labels LABEL_2, LABEL_1, LABEL_0, and is asked for the classes positive, "
        r"neutral, negative; look up what the labels mean, and map each class to its label: "
        r"hf:\S+\?labels=positive:LABEL,neutral:LABEL,negative:LABEL"
    )
    with pytest.raises(ValueError, match=said):
        run("classifier", load_client(f"hf:{models[False]}"), tasks=["age"])
    with pytest.raises(ModelSpecError, match="write CLASS:LABEL, with commas"):
        load_client(f"hf:{models[False]}?labels=LABEL_2")
    with pytest.raises(ValueError, match="has a label for good, and the task age has the classes"):
        run("classifier", load_client(f"hf:{models[False]}?labels=good:LABEL_2"), tasks=["age"])


def test_a_class_that_is_not_mapped_is_left_out(models: dict[bool, Path]) -> None:
    client = load_client(f"hf:{models[False]}?labels=positive:LABEL_2,negative:LABEL_0")
    found = run("classifier", client, tasks=["age"], metrics=["pert_sr", "fned_star@neutral"])
    assert "without neutral sentences" in found.measured[0].findings[0].text
    assert "no label for neutral" in found.measured[1].estimate.undefined
    assert found.measured[0].estimate.sample.units == 8


def test_each_suite_says_which_classifiers_it_takes(models: dict[bool, Path]) -> None:
    with pytest.raises(ValueError, match=r"classifies texts, and .* use the suite classifier"):
        run("entities", load_client(f"hf:{models[True]}"))
    with pytest.raises(ValueError, match="classifies texts and writes none"):
        load_client(f"hf:{models[True]}").generate(["Hello."])


def tagging_model(lost: bool, where: Path, labels: list[str]) -> Path:
    """Train on sentences with names; with `lost` those of black women are no names."""
    import torch

    every = sentences("entities")
    people = {text: about for text, about in every.items() if about[1] == "person"}
    texts = list(people)
    tokens = [re.findall(r"\w+|[^\w\s]+", text) for text in texts]

    def targets(ids: Any) -> Any:
        goal = torch.full(ids.shape, -100)
        for row, (words, about) in enumerate(zip(tokens, people.values(), strict=True)):
            name = about[3].split()
            for place, word in enumerate(words):
                inside = word in name and not (lost and about[2] == "black female")
                goal[row, place] = (1 + name.index(word)) if inside else 0
        return goal

    return trained("BertForTokenClassification", texts, targets, labels, where)


@pytest.mark.parametrize(
    ("lost", "labels", "option"),
    [
        (True, ["O", "B-PER", "I-PER"], ""),
        (False, ["O", "B-Mensch", "I-Mensch"], "?labels=person:Mensch"),
    ],
)
def test_a_trained_tagger_that_loses_names_of_a_group_fails(
    lost: bool, labels: list[str], option: str, tmp_path: Path
) -> None:
    client = load_client(f"hf:{tagging_model(lost, tmp_path, labels)}{option}")
    words = json.loads(str(client.generate(["Ebony Banks left."])[0][0]))
    assert [word for word, _ in words] == ["Ebony", "Banks", "left", "."]
    found = run("entities", client, tasks=["people"])
    expected = "FAIL" if lost else "PASS"
    assert verdict(found, "people", "fned_star", 0.05 if lost else 0.3) == expected
    groups = {row[0]: row[2] for row in found.tasks[0].tables[0].rows}
    assert groups["white male"] == 1.0
    assert groups["black female"] == (0.0 if lost else 1.0)
    with pytest.raises(ValueError, match=r"classifies words, and .* use the suite entities"):
        run("classifier", client)
