"""Models of transformers, for clients and scorers: loading with checks, and text classifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pytest_llmfair._util.printing import counted
from pytest_llmfair._util.validation import install

Activation = Literal["sigmoid", "softmax"]

# On a CPU small batches are fastest, since large ones do not fit into its cache.
_TOKENS_PER_BATCH = 1024

# What transformers calls outputs without a name.
_UNNAMED = "LABEL_"

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def first_line(error: BaseException) -> str:
    """Return the first line of an exception, at most 200 characters."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(".")


def looks_local(target: str | Path) -> bool:
    """Whether a target can only be a path, not the id of a model."""
    text = str(target)
    named = text.startswith((".", "/", "~")) or text.count("/") > 1 or "\\" in text
    return isinstance(target, Path) or named


def load_weights(kind: Any, source: str, **options: Any) -> Any:
    """Load a model; raise ``ValueError`` if the checkpoint lacks weights."""
    # transformers would fill missing weights with random numbers and only warn.
    model, found = kind.from_pretrained(source, output_loading_info=True, **options)
    # Tied weights and constants need not be in the checkpoint.
    own = {name for name, _ in model.named_parameters()}
    lost = sorted(name for name in found["missing_keys"] if name in own)
    if lost:
        raise ValueError(
            f"its files lack {len(lost)} weights of a {type(model).__name__}, such as {lost[0]}: "
            "it was trained for something else"
        )
    return model


def load_tokenizer(kind: Any, source: str, **options: Any) -> Any:
    """Load a tokenizer; raise ``ValueError`` if its files are missing."""
    # transformers would make an empty tokenizer that maps all texts to the same tokens.
    tokenizer = kind.from_pretrained(source, **options)
    if len(tokenizer) <= len(set(tokenizer.all_special_tokens)):
        raise ValueError("there are no files of its tokenizer")
    return tokenizer


def readable(text: str) -> str:
    """Replace lone surrogates, which tokenizers refuse, by U+FFFD."""
    return _LONE_SURROGATE.sub("\ufffd", text)


@dataclass(frozen=True, slots=True)
class Classifier:
    """One label (`column`) of a text classifier in evaluation mode."""

    model: Any
    tokenizer: Any
    column: int
    device: str
    activation: Activation

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the probability of the label, shape (n,)."""
        return self.of_labels(texts)[:, self.column]

    def of_labels(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the probability of every label, shape (n, labels)."""
        import torch

        encoded = self.tokenizer(
            [readable(text) for text in texts], truncation=True, max_length=self._longest()
        )
        lengths = [len(ids) for ids in encoded["input_ids"]]
        if 0 in lengths:
            raise ValueError(
                f"the classifier's tokenizer makes no token of {texts[lengths.index(0)]!r}; "
                "leave such texts out and count them"
            )
        scores = np.empty((len(texts), self.model.config.num_labels))
        batches = _batches(lengths, _TOKENS_PER_BATCH if self._pads else 1)
        with torch.inference_mode():
            for rows in counted(batches, len(texts), "scoring"):
                rows_of = {key: [values[i] for i in rows] for key, values in encoded.items()}
                padded = self.tokenizer.pad(rows_of) if self._pads else rows_of
                batch = {key: torch.tensor(held).to(self.device) for key, held in padded.items()}
                logits = self.model(**batch).logits.float()
                if self.activation == "sigmoid":
                    of_labels = torch.sigmoid(logits)
                else:
                    of_labels = torch.softmax(logits, dim=1)
                scores[rows] = of_labels.cpu().numpy()
        return scores

    def save(self, folder: Path) -> Path:
        """Write safetensors, config and tokenizer."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        return folder

    def _longest(self) -> int:
        """Tokens that the model can read; a tokenizer without a limit reports 1e30."""
        positions = getattr(self.model.config, "max_position_embeddings", None)
        if positions is None or positions < 1:
            return int(min(self.tokenizer.model_max_length, 512))
        for name, part in self.model.named_modules():
            # Models like RoBERTa count positions from the padding index on.
            padding = getattr(part, "padding_idx", None)
            if name.endswith("position_embeddings") and padding is not None:
                positions -= padding + 1
                break
        return int(min(self.tokenizer.model_max_length, positions))

    @property
    def _pads(self) -> bool:
        """Whether tokenizer and model agree on the padding token; else texts go one by one."""
        padding = self.tokenizer.pad_token_id
        return padding is not None and padding == self.model.config.pad_token_id


def load_classifier(
    source: str | Path, *, device: str | None, extra: str, of_tokens: bool = False
) -> tuple[Any, Any, str, list[str]]:
    """Return model, tokenizer, device and labels of a text classifier, or of one of tokens."""
    transformers = transformers_for(extra)
    folder = Path(source).expanduser()
    if folder.is_dir() and not any(folder.glob("*.safetensors")):
        raise FileNotFoundError(
            f"{folder} holds no safetensors; give a folder written by save_pretrained (other "
            "weight files are pickles, which can run code)"
        )
    if not folder.is_dir() and looks_local(source):
        raise FileNotFoundError(
            f"there is no folder {folder}; give a folder written by save_pretrained, or the id of "
            "a model on the hub"
        )
    given = {"local_files_only": True} if folder.is_dir() else {}
    place = str(folder) if folder.is_dir() else str(source)
    kind = transformers.AutoModelForSequenceClassification
    if of_tokens:
        kind = transformers.AutoModelForTokenClassification
    try:
        model = load_weights(kind, place, use_safetensors=True, **given)
        tokenizer = load_tokenizer(transformers.AutoTokenizer, place, **given)
    except (OSError, ValueError) as error:
        raise FileNotFoundError(
            f"no text classifier can be loaded from {str(source)!r} ({first_line(error)}); give a "
            "folder written by save_pretrained (model and tokenizer), or the id of a text "
            "classifier with safetensors on a hub that this machine can reach"
        ) from error
    given_names = model.config.id2label
    names = [str(given_names.get(i, f"{_UNNAMED}{i}")) for i in range(model.config.num_labels)]
    return *placed(model, tokenizer, device), names


def placed(model: Any, tokenizer: Any, device: str | None) -> tuple[Any, Any, str]:
    """Return model and tokenizer ready to run, and the device that they are on."""
    import torch

    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    # Pad on the right, so that positions are unchanged; XLNet reads from the last token.
    tokenizer.padding_side = "left" if model.config.model_type == "xlnet" else "right"
    return model.float().eval().to(device), tokenizer, device


def column_of(label: str | int, names: Sequence[str]) -> int:
    """Return the output of a label: by its name as written, in any case, or by its number."""
    if isinstance(label, int) and not isinstance(label, bool) and 0 <= label < len(names):
        return label
    if not isinstance(label, bool):
        if str(label) in names:
            return list(names).index(str(label))
        for column, name in enumerate(names):
            if name.casefold() == str(label).casefold():
                return column
        if str(label).isdecimal() and int(label) < len(names):
            return int(label)
    unnamed = all(name.startswith(_UNNAMED) for name in names)
    raise ValueError(
        f"the classifier has no label {label!r}; it has {', '.join(names)}"
        + (" (its makers gave no names: look up what they mean)" if unnamed else "")
    )


def activation_of(config: Any) -> Activation:
    """Return the activation that makes probabilities of logits; raise for a regression."""
    if config.problem_type == "regression":
        raise ValueError(
            "the model predicts a quantity (problem_type is regression), no probability of a "
            "label; name activation=sigmoid if its output is a logit, or bring a callable of your "
            "own, from texts to the quantity"
        )
    multi = config.problem_type == "multi_label_classification" or config.num_labels == 1
    return "sigmoid" if multi else "softmax"


def transformers_for(extra: str) -> Any:
    """Return transformers, or say which extra is missing."""
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError as error:
        raise ImportError(f"this scorer needs {error.name}: {install(extra)}") from None
    return transformers


def _batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Group rows of similar length, longest first, into batches of so many tokens."""
    rows = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    start = 0
    while start < len(rows):
        size = max(1, tokens // lengths[rows[start]])
        yield rows[start : start + size]
        start += size
