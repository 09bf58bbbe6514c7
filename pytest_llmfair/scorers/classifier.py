"""Any text classifier of transformers as a scorer: stereotype, regard, sentiment, toxicity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pytest_llmfair.scorers.base import RowCache, Scores, score
from pytest_llmfair.scorers.registry import scorer, source

if TYPE_CHECKING:
    from pytest_llmfair._util.huggingface import Classifier


@scorer("regard", "stereotype")
class ClassifierScorer:
    """Probability that a classifier gives one of its labels, in [0, 1].

    Parameters
    ----------
    classifier : Classifier or None
        Use :meth:`from_pretrained`. Without one the scorer has no weights and raises when it is
        asked to score; nothing is fetched unless you ask for it.
    name : str
        What reports call it.

    Notes
    -----
    Each distinct text is scored once per process, in batches of similar length and in 32-bit
    floats. Texts are cut at the model's own limit. Weights are read from safetensors only, and
    code that comes with a model is never run.

    Examples
    --------
    >>> ClassifierScorer(name="regard").name  # has no weights yet
    'regard'
    """

    range = (0.0, 1.0)

    def __init__(self, classifier: Classifier | None = None, *, name: str = "classifier") -> None:
        self.name = name
        self._classifier = classifier
        self._memory = RowCache()

    @classmethod
    def from_pretrained(
        cls,
        source: str | Path,
        *,
        label: str | int,
        name: str = "classifier",
        activation: Literal["sigmoid", "softmax"] | None = None,
        device: str | None = None,
    ) -> Self:
        """Load a text classifier with config, tokenizer and safetensors.

        Parameters
        ----------
        source : str or Path
            Folder written by ``save_pretrained``, or the id of a model on the hub.
        label : str or int
            Which output is the score, by the name in the model's config (in any case) or by
            number.
        name : str
            What reports call the scorer, such as "stereotype" or "regard".
        activation : {"sigmoid", "softmax"}, optional
            "softmax" where labels exclude each other; by default what the config says.
        device : str, optional
            Torch device; by default a GPU if there is one.

        Raises
        ------
        FileNotFoundError
            If the model or its safetensors cannot be had.
        ValueError
            If the classifier has no such label; the message lists those it has.
        ImportError
            If the extra `hf` is not installed.
        """
        from pytest_llmfair._util import huggingface

        if activation not in (None, "sigmoid", "softmax"):
            raise ValueError(f"activation is {activation!r}; choose sigmoid or softmax")
        model, tokenizer, place, names = huggingface.load_classifier(
            source, device=device, extra="hf"
        )
        column = huggingface.column_of(label, names)
        chosen = activation or huggingface.activation_of(model.config)
        found = huggingface.Classifier(model, tokenizer, column, place, chosen)
        return cls(found, name=name)

    @property
    def ready(self) -> bool:
        """Whether the scorer has weights."""
        return self._classifier is not None

    def save(self, folder: str | Path) -> Path:
        """Write safetensors, config and tokenizer for :meth:`from_pretrained`.

        Parameters
        ----------
        folder : str or Path
            Made if it does not exist.
        """
        return self._ready().save(Path(folder))

    def __call__(self, texts: Sequence[str]) -> Scores:
        """Return the score of every text; see :func:`pytest_llmfair.scorers.score`."""
        return score(self._score, texts)

    def _score(self, texts: Sequence[str]) -> Any:
        return self._memory(texts, self._ready())

    def _ready(self) -> Classifier:
        if self._classifier is None:
            raise RuntimeError(f"the {self.name} scorer has no weights; {self._remedy()}")
        return self._classifier

    def _remedy(self) -> str:
        return (
            f'name a classifier: scorer="hf:FOLDER_OR_ID?label=LABEL", or override the `scorers` '
            f"fixture with load_scorers({self.name}=ClassifierScorer.from_pretrained("
            "FOLDER_OR_ID, label=LABEL))"
        )


@source("hf", "hf:FOLDER_OR_ID?label=LABEL", options=("label", "name", "activation", "device"))
def _load(spec: str, target: str, options: Mapping[str, str]) -> ClassifierScorer:
    if "label" not in options:
        raise ValueError(f"scorer {spec!r} names no label; write hf:{target}?label=LABEL")
    return ClassifierScorer.from_pretrained(
        target,
        label=options["label"],
        name=options.get("name", spec),
        activation=options.get("activation"),  # type: ignore[arg-type]
        device=options.get("device"),
    )
