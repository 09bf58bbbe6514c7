"""Models that classify: what they classify, and how their labels are called in the question."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pytest_llmfair.clients.spec import ModelSpec, ModelSpecError

# What a model reads and gives classes for: a text, the words of a text, or either, as a function
# of the user does. A language model has no classes.
Classifies = Literal["texts", "words", "either"]


@dataclass(frozen=True, slots=True)
class Labels:
    """Names that the user gives to labels of a model: class of the question to label."""

    # Empty where labels are called as the classes, in any case.
    given: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: ModelSpec) -> Labels:
        """Read the option `labels`, such as ``labels=positive:LABEL_1,negative:LABEL_0``."""
        text = spec.options.get("labels")
        if text is None:
            return cls()
        pairs = [part.partition(":") for part in text.split(",")]
        given = {one.strip(): label.strip() for one, _, label in pairs}
        if len(given) < len(pairs) or not all([*given, *given.values()]):
            raise ModelSpecError(
                f"model {spec.text!r}: labels is {text!r}; write CLASS:LABEL, with commas "
                "between, each class once, such as labels=positive:LABEL_1,negative:LABEL_0"
            )
        return cls(given)

    def read(
        self, row: Mapping[str, float], classes: Sequence[str], model: str, remedy: str
    ) -> list[float]:
        """Return the probability of each class from those of all labels."""
        folded = {str(label).casefold(): value for label, value in row.items()}
        wanted = [self.given.get(each, each).casefold() for each in classes]
        if any(label not in folded for label in wanted):
            shown = ", ".join(map(str, row)) or "nothing"
            raise ValueError(
                f"{model} has the labels {shown}, and is asked for the classes "
                f"{', '.join(classes)}; {remedy}"
            )
        return [folded[label] for label in wanted]

    def class_of(self, label: str) -> str:
        """Return the class of a label; the label itself where the user gave no name."""
        return next((one for one, known in self.given.items() if known == label), label)


def classifies(spec: ModelSpec) -> Classifies | None:
    """Return the kind of input that a model classifies; None for a language model."""
    if spec.scheme == "python":
        return "either"
    if spec.scheme != "hf":
        return None
    config = Path(spec.target).expanduser() / "config.json"
    made_for: Any = []
    if config.is_file():
        try:
            made_for = json.loads(config.read_text(encoding="utf-8")).get("architectures") or []
        except (ValueError, AttributeError):
            return None
    if any(str(name).endswith("ForTokenClassification") for name in made_for):
        return "words"
    if any(str(name).endswith("ForSequenceClassification") for name in made_for):
        return "texts"
    # Where the folder is not on this machine the option `labels` stands for a classifier.
    return "either" if "labels" in spec.options and not config.is_file() else None


def name_of(spec: ModelSpec) -> str:
    """Return the name of a model by which its answers are found, with its labels and files."""
    own = [f"{key}={spec.options[key]}" for key in ("labels", "files") if key in spec.options]
    return f"{spec.scheme}:{spec.target}" + (f"?{'&'.join(own)}" if own else "")
