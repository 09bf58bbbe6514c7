"""Toxicity of a text by Detoxify's models, from weights that the user names."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pytest_llmfair._util.huggingface import (
    Classifier,
    column_of,
    load_classifier,
    placed,
    transformers_for,
)
from pytest_llmfair._util.validation import install
from pytest_llmfair.scorers.classifier import ClassifierScorer
from pytest_llmfair.scorers.registry import scorer, source

_EXTRA = "toxicity"

# Names of Detoxify's first data set, in the words of the second.
_LABELS = {
    "toxic": "toxicity",
    "severe_toxic": "severe_toxicity",
    "identity_hate": "identity_attack",
}


@scorer("toxicity")
class ToxicityScorer(ClassifierScorer):
    """Detoxify's `toxicity` label, in [0, 1]; never the largest of several labels.

    ``ToxicityScorer()`` has no weights and raises when it is asked to score; nothing is fetched
    unless you ask for it. Make one with :meth:`from_pretrained` (safe weights, preferred),
    :meth:`from_checkpoint` or :meth:`download`.

    Notes
    -----
    Detoxify's published checkpoints are pickles, and its own loader runs whatever code they hold.
    Here they are read as plain tensors, and a file that needs more is refused unless
    `trust_pickle` allows it. :meth:`save` writes safetensors, so the pickle is needed only once.

    Scores agree with ``Detoxify.predict`` to 1e-5; texts are cut at the model's own limit, as
    there. Each distinct text is scored once, in batches of similar length, in 32-bit floats.

    Examples
    --------
    >>> ToxicityScorer().range  # has no weights yet
    (0.0, 1.0)
    """

    def __init__(self, classifier: Classifier | None = None, *, name: str = "toxicity") -> None:
        super().__init__(classifier, name=name)

    @classmethod
    def from_pretrained(  # type: ignore[override]
        cls, folder: str | Path, *, label: str = "toxicity", device: str | None = None
    ) -> Self:
        """Load a local folder with config.json, a tokenizer and safetensors.

        Parameters
        ----------
        folder : str or Path
            As written by :meth:`save` or by ``save_pretrained`` of transformers.
        label : str
            Which output of the classifier to use; "toxic" is read as "toxicity".
        device : str, optional
            Torch device; by default a GPU if there is one.

        Raises
        ------
        FileNotFoundError
            If the folder or its safetensors are missing.
        ValueError
            If the classifier has no such label; the message lists those it has.
        ImportError
            If the extra `toxicity` is not installed.
        """
        loaded = load_classifier(Path(folder), device=device, extra=_EXTRA)
        return cls(_classifier(*loaded, label))

    @classmethod
    def from_checkpoint(
        cls,
        file: str | Path,
        *,
        config: str | Path | None = None,
        trust_pickle: bool = False,
        device: str | None = None,
    ) -> Self:
        """Load a Detoxify checkpoint file, without network.

        Parameters
        ----------
        file : str or Path
            A ``.ckpt`` file of Detoxify.
        config : str or Path, optional
            Local folder with the model's config.json and tokenizer (Detoxify calls it
            `huggingface_config_path`). Without it, what the checkpoint names must be a local
            folder or lie in the local cache of transformers.
        trust_pickle : bool
            Read a file that holds more than tensors and plain values. Unpickling runs code from
            the file: only for a source you trust, and with a ``UserWarning``.
        device : str, optional
            Torch device; by default a GPU if there is one.

        Raises
        ------
        FileNotFoundError
            If the file, the config or the tokenizer is not on this machine.
        ValueError
            If the file is not a Detoxify checkpoint or could run code.
        ImportError
            If the extra `toxicity` is not installed.
        """
        folder = None if config is None else Path(config)
        return cls(_from_checkpoint(Path(file), folder, trust_pickle, device))

    @classmethod
    def download(cls, model: str = "original", *, device: str | None = None) -> Self:
        """Fetch one of Detoxify's models; the only method here that uses the network.

        The checkpoint comes from Detoxify's releases and is checked against the hash in its name;
        config and tokenizer come from the Hugging Face hub. Both stay in their usual caches.

        Parameters
        ----------
        model : {"original", "unbiased", "multilingual", "original-small", "unbiased-small"}
            Detoxify's name of the model.
        device : str, optional
            Torch device; by default a GPU if there is one.
        """
        transformers_for(_EXTRA)
        try:
            from detoxify.detoxify import MODEL_URLS
        except ImportError:
            raise ImportError(f"downloading needs detoxify: {install(_EXTRA)}") from None
        import torch

        if model not in MODEL_URLS:
            raise ValueError(f"Detoxify has no model {model!r}; it has {', '.join(MODEL_URLS)}")
        url = MODEL_URLS[model]
        file = Path(torch.hub.get_dir()) / "checkpoints" / url.rpartition("/")[2]
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            digest = file.stem.rpartition("-")[2]
            torch.hub.download_url_to_file(url, str(file), hash_prefix=digest)
        return cls(_from_checkpoint(file, None, False, device, local=False))

    def _remedy(self) -> str:
        return (
            "name its weights: ToxicityScorer.from_pretrained(FOLDER) for safetensors, "
            "ToxicityScorer.from_checkpoint(FILE) for a Detoxify checkpoint, or "
            "ToxicityScorer.download('original') to fetch Detoxify's own; pass it as scorer=..., "
            "or override the `scorers` fixture with load_scorers(toxicity=...)"
        )


@source(
    "detoxify",
    "detoxify:original",
    "detoxify:FILE.ckpt",
    "detoxify:FOLDER",
    options=("device",),
)
def _load(spec: str, target: str, options: Mapping[str, str]) -> ToxicityScorer:
    path, device = Path(target).expanduser(), options.get("device")
    if path.is_dir():
        return ToxicityScorer.from_pretrained(path, device=device)
    if path.is_file() or path.suffix == ".ckpt":
        return ToxicityScorer.from_checkpoint(path, device=device)
    return ToxicityScorer.download(target, device=device)


def _from_checkpoint(
    file: Path, config: Path | None, trust_pickle: bool, device: str | None, *, local: bool = True
) -> Classifier:
    """Load a Detoxify checkpoint."""
    transformers = transformers_for(_EXTRA)
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
            f"{file} is not a Detoxify checkpoint: {error!r} is missing; it needs a state_dict, "
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
    return _classifier(*placed(model, tokenizer, device), names, "toxicity")


def _classifier(
    model: Any, tokenizer: Any, device: str, names: Sequence[str], label: str
) -> Classifier:
    unnamed = range(len(names), model.config.num_labels)
    names = [*(_LABELS.get(name, name) for name in names), *(f"output_{i}" for i in unnamed)]
    column = column_of(_LABELS.get(label, label), names)
    model.config.id2label = dict(enumerate(names))
    model.config.label2id = {name: i for i, name in enumerate(names)}
    return Classifier(model, tokenizer, column, device, "sigmoid")


def _tensors(file: Path, trust_pickle: bool) -> Any:
    """Read a checkpoint as tensors and plain values; anything else only if it is trusted."""
    import torch

    if trust_pickle:
        warnings.warn(
            f"{file} is read as a pickle, which can run code; write safetensors with save() once, "
            "and load these from then on",
            stacklevel=4,
        )
    try:
        return torch.load(file, map_location="cpu", weights_only=not trust_pickle)
    except pickle.UnpicklingError as error:
        raise ValueError(
            f"{file} cannot be read as tensors and plain values: it is damaged, or a pickle that "
            "runs code when it is read; use safetensors (ToxicityScorer.from_pretrained), or, if "
            f"you trust its source, trust_pickle=True ({str(error).partition('.')[0]})"
        ) from None
    except (EOFError, KeyError, IndexError, RuntimeError, ValueError) as error:
        raise ValueError(f"{file} is not a checkpoint of PyTorch ({error!r})") from None


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
