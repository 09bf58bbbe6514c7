"""Toxicity of a text by Detoxify's models, from weights that the user names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from pytest_llmfair.scorers.classifier import ClassifierScorer

if TYPE_CHECKING:
    from pytest_llmfair.scorers._transformer import Classifier

_REMEDY = (
    "name its weights: ToxicityScorer.from_pretrained(FOLDER) for safetensors, "
    "ToxicityScorer.from_checkpoint(FILE) for a Detoxify checkpoint, or "
    "ToxicityScorer.download('original') to fetch Detoxify's own; pass it as scorer=..., or "
    "override the `scorers` fixture with load_scorers(toxicity=...)"
)


class ToxicityScorer(ClassifierScorer):
    """Detoxify's `toxicity` label, in [0, 1]; never the largest of several labels.

    ``ToxicityScorer()`` has no weights and says so when it is asked to score: nothing is fetched
    that was not asked for. Make one with :meth:`from_pretrained` (safe weights, preferred),
    :meth:`from_checkpoint` or :meth:`download`.

    Notes
    -----
    Detoxify's published checkpoints are pickles, and its own loader reads them in a way that runs
    whatever code they hold. They are read here as plain tensors instead, and one that cannot be
    read so is refused unless `trust_pickle` says that its source is trusted. :meth:`save` writes
    safetensors, so that the pickle is needed once.

    Scores agree with ``Detoxify.predict`` to 1e-5; texts are cut at the model's own limit, as
    there. Each distinct text is scored once, in batches of like length, in 32-bit floats.
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
        from pytest_llmfair.scorers import _detoxify

        return cls(_detoxify.from_folder(Path(folder), label, device))

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
            If the file is no Detoxify checkpoint or could run code.
        ImportError
            If the extra `toxicity` is not installed.
        """
        from pytest_llmfair.scorers import _detoxify

        folder = None if config is None else Path(config)
        return cls(_detoxify.from_checkpoint(Path(file), folder, trust_pickle, device))

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
        from pytest_llmfair.scorers import _detoxify

        return cls(_detoxify.download(model, device))

    def _remedy(self) -> str:
        return _REMEDY
