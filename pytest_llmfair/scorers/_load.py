"""Scorers by name, and from specifications such as ``hf:FOLDER?label=negative``."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

_FORMS = (
    "detoxify:original, detoxify:FILE.ckpt, detoxify:FOLDER, hf:FOLDER_OR_ID?label=LABEL or "
    "sentence-transformers:FOLDER_OR_ID"
)
_OPTIONS = {
    "detoxify": ("device",),
    "hf": ("label", "name", "activation", "device"),
    "sentence-transformers": ("device",),
}


class Scorers(Mapping[str, Any]):
    """Scorers by name; one is made when it is first asked for and loads when it first scores.

    A specification is a name too: ``scorers["hf:models/regard?label=negative"]``.
    """

    def __init__(self, makers: Mapping[str, Callable[[], Any]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._maker(name)()
        return self._made[name]

    def _maker(self, name: str) -> Callable[[], Any]:
        if name in self._makers:
            return self._makers[name]
        if isinstance(name, str) and name.partition(":")[0] in _OPTIONS and ":" in name:
            return functools.partial(_specified, name)
        near = difflib.get_close_matches(str(name), list(self._makers), n=1)
        hint = f"did you mean {near[0]!r}" if near else f"scorers: {', '.join(self)}"
        raise _UnknownScorer(
            f"no scorer is called {name!r}; {hint}; or name a model ({_FORMS}), or bring your "
            "own, a callable from texts to scores: pass it as scorer=..., or override the "
            f"`scorers` fixture with load_scorers({_keyword(name)}=...)"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._makers))

    def __len__(self) -> int:
        return len(self._makers)

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __repr__(self) -> str:
        return f"Scorers({', '.join(self)})"


def _keyword(name: object) -> str:
    return name if isinstance(name, str) and name.isidentifier() else "name"


class _UnknownScorer(KeyError):
    def __str__(self) -> str:  # a KeyError would show the message in quotes
        return str(self.args[0])


def _itself(scorer: Any) -> Any:
    return scorer


def load_scorers(**own: Any) -> Scorers:
    """Return the scorers by name.

    Parameters
    ----------
    **own : Scorer
        Scorers of your own, or a configured one in place of a shipped one:
        ``load_scorers(toxicity=ToxicityScorer.from_pretrained("models/toxicity"))``. A text is a
        specification: ``load_scorers(stereotype="hf:models/stereotype?label=stereotype")``.

    Returns
    -------
    Scorers
        Read-only mapping: "sentiment" (VADER), "refusal" (rules), "tokens" and "length"; then
        "toxicity", "stereotype", "regard" and "embedding", which need weights that you name; with
        your own. A specification is a name too: ``detoxify:original`` (also "unbiased",
        "multilingual", a checkpoint or a folder), ``hf:FOLDER_OR_ID?label=LABEL``,
        ``sentence-transformers:FOLDER_OR_ID``. What is not on this machine is fetched only for a
        specification that names it.

    Raises
    ------
    TypeError
        If a scorer of your own is neither callable nor a specification.
    """
    from pytest_llmfair.scorers.classifier import ClassifierScorer
    from pytest_llmfair.scorers.counts import LengthScorer, TokenScorer
    from pytest_llmfair.scorers.embeddings import EmbeddingScorer
    from pytest_llmfair.scorers.refusals import RefusalScorer
    from pytest_llmfair.scorers.sentiment import SentimentScorer
    from pytest_llmfair.scorers.toxicity import ToxicityScorer

    makers: dict[str, Callable[[], Any]] = {
        "embedding": EmbeddingScorer,
        "length": LengthScorer,
        "refusal": RefusalScorer,
        "regard": functools.partial(ClassifierScorer, name="regard"),
        "sentiment": SentimentScorer,
        "stereotype": functools.partial(ClassifierScorer, name="stereotype"),
        "tokens": TokenScorer,
        "toxicity": ToxicityScorer,
    }
    for name, scorer in own.items():
        if isinstance(scorer, str):
            makers[name] = functools.partial(_specified, scorer)
        elif callable(scorer):
            makers[name] = functools.partial(_itself, scorer)
        else:
            raise TypeError(
                f"scorer {name} is {scorer!r}; give a callable from texts to scores, or {_FORMS}"
            )
    return Scorers(makers)


def _specified(spec: str) -> Any:
    """Load what a specification names."""
    from pytest_llmfair.scorers.classifier import ClassifierScorer
    from pytest_llmfair.scorers.embeddings import EmbeddingScorer
    from pytest_llmfair.scorers.toxicity import ToxicityScorer

    kind, target, options = _parsed(spec)
    device = options.get("device")
    if kind == "sentence-transformers":
        return EmbeddingScorer.from_pretrained(target, device=device)
    if kind == "detoxify":
        path = Path(target).expanduser()
        if path.is_dir():
            return ToxicityScorer.from_pretrained(path, device=device)
        if path.is_file() or path.suffix == ".ckpt":
            return ToxicityScorer.from_checkpoint(path, device=device)
        return ToxicityScorer.download(target, device=device)
    if "label" not in options:
        raise ValueError(f"scorer {spec!r} names no label; write hf:{target}?label=LABEL")
    return ClassifierScorer.from_pretrained(
        target,
        label=options["label"],
        name=options.get("name", spec),
        activation=options.get("activation"),  # type: ignore[arg-type]
        device=device,
    )


def _parsed(spec: str) -> tuple[str, str, dict[str, str]]:
    body, _, query = spec.partition("?")
    kind, _, target = body.partition(":")
    if kind not in _OPTIONS or not target:
        raise ValueError(f"scorer {spec!r} is no specification; write {_FORMS}")
    try:
        options = dict(parse_qsl(query, strict_parsing=bool(query)))
    except ValueError:
        raise ValueError(
            f"scorer {spec!r}: cannot read {query!r}; write options as ?name=value&name=value"
        ) from None
    for name in options:
        if name not in _OPTIONS[kind]:
            raise ValueError(
                f"scorer {spec!r} has no option {name!r}; its options are "
                f"{', '.join(_OPTIONS[kind])}"
            )
    return kind, target, options
