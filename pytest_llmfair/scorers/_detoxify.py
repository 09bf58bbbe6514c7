"""Detoxify's classifiers, loaded as tensors and run in small batches of like length."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_EXTRA = 'pip install "pytest-llmfair[toxicity]"'

# On a CPU small batches win: large ones fall out of its cache.
_TOKENS_PER_BATCH = 1024

# Names of Detoxify's first data set, in the words of the second.
_LABELS = {
    "toxic": "toxicity",
    "severe_toxic": "severe_toxicity",
    "identity_hate": "identity_attack",
}


@dataclass(frozen=True, slots=True)
class Classifier:
    """A multi-label text classifier, of which one label is read.

    Attributes
    ----------
    model, tokenizer : object
        Of transformers; the model is in evaluation mode and 32-bit floats.
    column : int
        Output of the label.
    device : str
        Torch device of the model.
    """

    model: Any
    tokenizer: Any
    column: int
    device: str

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the sigmoid of the label's output, shape (n,)."""
        import torch

        encoded = self.tokenizer(list(texts), truncation=True, max_length=self._longest())
        scores = np.empty(len(texts))
        with torch.inference_mode():
            for rows in _batches([len(ids) for ids in encoded["input_ids"]]):
                batch = self.tokenizer.pad(
                    {key: [values[i] for i in rows] for key, values in encoded.items()},
                    return_tensors="pt",
                ).to(self.device)
                logits = self.model(**batch).logits[:, self.column]
                scores[rows] = torch.sigmoid(logits.float()).cpu().numpy()
        return scores

    def save(self, folder: Path) -> Path:
        """Write safetensors, config and tokenizer."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        return folder

    def _longest(self) -> int:
        """Tokens the model can read; a tokenizer without a limit of its own says 1e30."""
        config = self.model.config
        positions = getattr(config, "max_position_embeddings", None)
        if positions is None:
            return int(min(self.tokenizer.model_max_length, 512))
        if "roberta" in config.model_type:  # counts positions from the padding index on
            positions -= config.pad_token_id + 1
        return int(min(self.tokenizer.model_max_length, positions))


def from_folder(folder: Path, label: str, device: str | None) -> Classifier:
    """Load safetensors from a local folder."""
    transformers = _transformers()
    if not any(folder.glob("*.safetensors")):
        raise FileNotFoundError(
            f"{folder} holds no safetensors; give a folder written by ToxicityScorer.save or "
            "save_pretrained (other weight files are pickles, which can run code)"
        )
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, use_safetensors=True, local_files_only=True
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    names = [model.config.id2label[i] for i in range(model.config.num_labels)]
    return _classifier(model, tokenizer, names, label, device)


def from_checkpoint(
    file: Path, config: Path | None, trust_pickle: bool, device: str | None, *, local: bool = True
) -> Classifier:
    """Load a Detoxify checkpoint."""
    transformers = _transformers()
    if not file.is_file():
        raise FileNotFoundError(f"there is no checkpoint {file}")
    loaded = _tensors(file, trust_pickle)
    try:
        names = loaded["config"]["dataset"]["args"]["classes"]
        arch = loaded["config"]["arch"]["args"]
        outputs = int(arch["num_classes"])  # may exceed the classes: identities, for training
        state = loaded["state_dict"]
        model_class = _class(transformers, arch["model_name"], transformers.PreTrainedModel)
        tokenizer_class = _class(
            transformers, arch["tokenizer_name"], transformers.PreTrainedTokenizerBase
        )
        source = str(config or arch["model_type"])
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{file} is no Detoxify checkpoint: {error!r} is missing; it needs a state_dict and "
            "config.dataset.args.classes and config.arch.args"
        ) from None
    try:
        settings = model_class.config_class.from_pretrained(
            source, num_labels=outputs, local_files_only=local
        )
        tokenizer = tokenizer_class.from_pretrained(source, local_files_only=local)
    except OSError as error:
        raise FileNotFoundError(
            f"config and tokenizer of {source!r} are not on this machine; give their folder as "
            f"config=..., or use ToxicityScorer.download ({error})"
        ) from None
    model = model_class(settings)
    _fill(model, state, file)
    return _classifier(model, tokenizer, names, "toxicity", device)


def download(name: str, device: str | None) -> Classifier:
    """Fetch a Detoxify checkpoint into torch's cache, check its hash, and load it."""
    _transformers()
    try:
        from detoxify.detoxify import MODEL_URLS
    except ImportError:
        raise ImportError(f"downloading needs the package detoxify: {_EXTRA}") from None
    import torch

    if name not in MODEL_URLS:
        raise ValueError(f"Detoxify has no model {name!r}; it has {', '.join(MODEL_URLS)}")
    url = MODEL_URLS[name]
    file = Path(torch.hub.get_dir()) / "checkpoints" / url.rpartition("/")[2]
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        digest = file.stem.rpartition("-")[2]
        torch.hub.download_url_to_file(url, str(file), hash_prefix=digest)
    return from_checkpoint(file, None, False, device, local=False)


def _classifier(
    model: Any, tokenizer: Any, names: Sequence[str], label: str, device: str | None
) -> Classifier:
    import torch

    unnamed = range(len(names), model.config.num_labels)
    names = [*(_LABELS.get(name, name) for name in names), *(f"output_{i}" for i in unnamed)]
    if label not in names:
        raise ValueError(f"the classifier has no label {label!r}; it has {', '.join(names)}")
    model.config.id2label = dict(enumerate(names))
    model.config.label2id = {name: i for i, name in enumerate(names)}
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    return Classifier(model.float().eval().to(device), tokenizer, names.index(label), device)


def _tensors(file: Path, trust_pickle: bool) -> Any:
    """Read a checkpoint as tensors and plain values; anything else only if it is trusted."""
    import torch

    try:
        return torch.load(file, map_location="cpu", weights_only=not trust_pickle)
    except pickle.UnpicklingError as error:
        raise ValueError(
            f"{file} cannot be read as tensors and plain values: it is damaged, or a pickle that "
            "runs code when it is read; use safetensors (ToxicityScorer.from_pretrained), or, if "
            f"you trust its source, trust_pickle=True ({str(error).partition('.')[0]})"
        ) from None
    except (EOFError, KeyError, IndexError, RuntimeError, ValueError) as error:
        raise ValueError(f"{file} is no checkpoint of PyTorch ({error!r})") from None


def _class(module: Any, name: str, base: type) -> Any:
    """Return a class by the name that a file gives, if it is of the kind that is expected."""
    found = getattr(module, str(name), None)
    if not isinstance(found, type) or not issubclass(found, base):
        raise TypeError(f"a {base.__name__} called {name}")
    return found


def _fill(model: Any, state: Any, file: Path) -> None:
    missing, unexpected = model.load_state_dict(state, strict=False)
    # Older versions of transformers stored this constant.
    unexpected = [key for key in unexpected if not key.endswith("position_ids")]
    if missing or unexpected:
        raise ValueError(
            f"the weights in {file} do not fit its config: {len(missing)} missing, "
            f"{len(unexpected)} unexpected, first {[*missing, *unexpected][0]}"
        )


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Group rows of like length, longest first, into batches of 1,024 tokens with padding."""
    rows = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    start = 0
    while start < len(rows):
        size = max(1, _TOKENS_PER_BATCH // max(1, lengths[rows[start]]))
        yield rows[start : start + size]
        start += size


def _transformers() -> Any:
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError as error:
        raise ImportError(f"toxicity scoring needs {error.name}: {_EXTRA}") from None
    return transformers
