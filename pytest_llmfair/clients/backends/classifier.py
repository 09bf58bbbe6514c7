"""Classifiers of transformers as models: of texts, and of the words of a text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pytest_llmfair._util.huggingface import Classifier, activation_of, load_classifier, readable
from pytest_llmfair.clients.protocol import Request
from pytest_llmfair.clients.spec import (
    Classifies,
    Labels,
    ModelSpec,
    ModelSpecError,
    classifies,
    name_of,
)
from pytest_llmfair.responses import Answer

_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class TextClassifier:
    """A classifier of texts: the probability of a word is that of the label with its name."""

    classifier: Classifier
    names: tuple[str, ...]
    name: str
    labels: Labels = field(default_factory=Labels)
    batch_size: int = 128

    classifies: ClassVar[Classifies] = "texts"

    @property
    def description(self) -> str:
        """What the model is, in one sentence."""
        return f"{self.classifier.model.config.model_type}, classifies texts"

    def generate(
        self, requests: Sequence[Request], *, temperature: float, max_tokens: int
    ) -> list[Answer]:
        """Raise ``ValueError``: a classifier writes nothing."""
        raise ValueError(
            f"{self.name} classifies texts and writes none; use a language model, or the suite "
            "classifier"
        )

    def probabilities(self, prompts: Sequence[str], words: Sequence[str]) -> list[list[float]]:
        """Return the probability of the label of each word, by prompt."""
        model = f"model {self.name!r}"
        example = ",".join(f"{word}:LABEL" for word in words)
        remedy = (
            "look up what the labels mean, and map each class to its label: "
            f"{self.name.partition('?')[0]}?labels={example} (a class that is left out is not "
            "asked for)"
        )
        self.labels.read(dict.fromkeys(self.names, 0.0), words, model, remedy)
        return [
            self.labels.read(dict(zip(self.names, row, strict=True)), words, model, remedy)
            for row in self.classifier.of_labels(prompts).tolist()
        ]


@dataclass(frozen=True, slots=True)
class WordClassifier:
    """A classifier of words, such as one of named entities, by the first token of each."""

    model: Any
    tokenizer: Any
    device: str
    names: tuple[str, ...]
    name: str
    batch_size: int = 32

    classifies: ClassVar[Classifies] = "words"

    @property
    def description(self) -> str:
        """What the model is, in one sentence."""
        return f"{self.model.config.model_type}, classifies words"

    def generate(
        self, requests: Sequence[Request], *, temperature: float, max_tokens: int
    ) -> list[Answer]:
        """Return the tags of each text."""
        return [self._tags(request.prompt) for request in requests]

    def _tags(self, text: str) -> str:
        import torch

        encoded = self.tokenizer(
            readable(text), return_offsets_mapping=True, return_tensors="pt", truncation=True
        )
        places = encoded.pop("offset_mapping")[0].tolist()
        with torch.inference_mode():
            batch = {key: held.to(self.device) for key, held in encoded.items()}
            scores = torch.softmax(self.model(**batch).logits[0].float(), dim=1).tolist()
        words = []
        for word in _WORD.finditer(text):
            # Special tokens stand for no part of the text: they end where they start.
            rows = (
                row
                for row, (start, end) in enumerate(places)
                if max(start, word.start()) < min(end, word.end())
            )
            row = next(rows, None)
            if row is None:
                raise ValueError(
                    f"model {self.name!r} reads no token at {word.group()!r} of {text[:80]!r}: "
                    "the text is too long for it, or its tokenizer drops the word"
                )
            words.append([word.group(), dict(zip(self.names, scores[row], strict=True))])
        return json.dumps(words)


def load(spec: ModelSpec) -> TextClassifier | WordClassifier:
    """Load the classifier in the folder of ``hf:PATH``."""
    of_words = classifies(spec) == "words"
    try:
        model, tokenizer, device, names = load_classifier(
            spec.target, device=spec.options.get("device"), extra="hf", of_tokens=of_words
        )
        activation = activation_of(model.config)
    except (ImportError, OSError, ValueError) as error:
        raise ModelSpecError(f"model {spec.text!r}: {error}") from error
    labels = Labels.of(spec)
    if not of_words:
        classifier = Classifier(model, tokenizer, 0, device, activation)
        batch = spec.count("batch_size", 128)
        return TextClassifier(classifier, tuple(names), name_of(spec), labels, batch)
    if not tokenizer.is_fast:
        raise ModelSpecError(
            f"model {spec.text!r}: its tokenizer does not say where tokens stand in the text; "
            "save the fast tokenizer of the model with it"
        )
    # Tags such as B-location take the name that the user gives to location.
    marks = [name.rpartition("-") for name in names]
    tags = tuple(f"{mark}{dash}{labels.class_of(label)}" for mark, dash, label in marks)
    return WordClassifier(model, tokenizer, device, tags, name_of(spec))
