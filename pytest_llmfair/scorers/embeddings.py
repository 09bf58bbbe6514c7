"""Embeddings of texts by sentence transformers, for the cosine of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pytest_llmfair._util.huggingface import first_line, looks_local, readable
from pytest_llmfair._util.printing import counted
from pytest_llmfair._util.validation import install
from pytest_llmfair.scorers.base import RowCache, checked_texts
from pytest_llmfair.scorers.registry import scorer, source

# Texts of similar length that the model reads together.
_AT_ONCE = 32


@scorer("embedding")
class EmbeddingScorer:
    """A sentence transformer: one vector per text.

    ``EmbeddingScorer()`` has no weights and says so when it is used; make one with
    :meth:`from_pretrained`. Each distinct text is read once per process. Equal texts have equal
    vectors; the same text in another batch agrees to about 1e-6, the rounding of 32-bit floats.

    Parameters
    ----------
    encoder : SentenceTransformer or None
        The model; see :meth:`from_pretrained`.

    Examples
    --------
    >>> load = EmbeddingScorer.from_pretrained  # load("FOLDER")(["a text"]) gives a vector
    >>> EmbeddingScorer()([]).shape
    (0, 0)
    """

    name = "embedding"

    def __init__(self, encoder: Any = None) -> None:
        self._encoder = encoder
        self._memory = RowCache()

    @classmethod
    def from_pretrained(cls, source: str | Path, *, device: str | None = None) -> Self:
        """Load a sentence transformer.

        Parameters
        ----------
        source : str or Path
            Folder of a sentence transformer, or the id of one on the hub, such as
            "sentence-transformers/all-MiniLM-L6-v2".
        device : str, optional
            Torch device; by default a GPU if there is one.

        Raises
        ------
        FileNotFoundError
            If the model or its safetensors cannot be had.
        ImportError
            If the extra `embeddings` is not installed.
        """
        folder = Path(source).expanduser()
        if folder.is_dir() and not any(folder.rglob("*.safetensors")):
            raise FileNotFoundError(
                f"{folder} holds no safetensors; give the folder of a sentence transformer with "
                "them (other weight files are pickles, which can run code)"
            )
        if not folder.is_dir() and looks_local(source):
            raise FileNotFoundError(
                f"there is no folder {folder}; give that of a sentence transformer, or the id of "
                "one on the hub"
            )
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise ImportError(f"embeddings need {error.name}: {install('embeddings')}") from None
        local = folder.is_dir()
        try:
            encoder = SentenceTransformer(
                str(folder) if local else str(source),
                device=device,
                local_files_only=local,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            )
        except (OSError, ValueError) as error:
            raise FileNotFoundError(
                f"no sentence transformer can be loaded from {str(source)!r} "
                f"({first_line(error)}); give the folder of one, or the id of one on a hub that "
                "this machine can reach"
            ) from error
        return cls(encoder)

    @property
    def ready(self) -> bool:
        """Whether the scorer has weights."""
        return self._encoder is not None

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the vectors of texts as an array of (n, dim), in order."""
        rows = checked_texts(texts)
        if not rows:
            return np.empty((0, 0))
        return self._memory(rows, self._encode).astype(np.float64)

    def _encode(self, texts: Sequence[str]) -> Any:
        if self._encoder is None:
            raise RuntimeError(
                "the embedding scorer has no weights; name a model: "
                'scorer=EmbeddingScorer.from_pretrained("FOLDER_OR_ID"), or override the '
                "`scorers` fixture with load_scorers(embedding=...)"
            )
        given = [readable(text) for text in texts]
        order = sorted(range(len(given)), key=lambda i: -len(given[i]))
        batches = [order[i : i + _AT_ONCE] for i in range(0, len(order), _AT_ONCE)]
        vectors: list[Any] = [None] * len(given)
        for rows in counted(batches, len(given), "embedding"):
            found = self._encoder.encode(
                [given[i] for i in rows],
                show_progress_bar=False,
                convert_to_numpy=True,
                batch_size=_AT_ONCE,
            )
            for i, vector in zip(rows, found, strict=True):
                vectors[i] = vector
        return vectors


@source("sentence-transformers", "sentence-transformers:FOLDER_OR_ID", options=("device",))
def _load(spec: str, target: str, options: Mapping[str, str]) -> EmbeddingScorer:
    return EmbeddingScorer.from_pretrained(target, device=options.get("device"))
