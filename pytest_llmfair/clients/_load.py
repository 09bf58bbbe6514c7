"""From a model specification to a client."""

from __future__ import annotations

from collections.abc import Callable

from pytest_llmfair.clients._backend import Backend
from pytest_llmfair.clients._client import ModelClient
from pytest_llmfair.clients._spec import ModelSpec, ModelSpecError, suggestion

_COMMON = ("temperature", "max_tokens")


def load_client(spec: str, *, seed: int = 0, max_tokens: int = 64) -> ModelClient:
    """Load the model that a specification names.

    Parameters
    ----------
    spec : str
        ``builtin:ngram`` (options `gender_skew`, `sentiment_skew`), ``hf:PATH_OR_ID`` (options
        `device`, `batch_size`) or ``python:package.module:callable``; every kind takes the options
        `temperature` and `max_tokens`. Options follow as a query:
        ``builtin:ngram?gender_skew=0.8&temperature=0.7``.
    seed : int
        Seed of the client.
    max_tokens : int
        Longest answer where the specification gives none.

    Raises
    ------
    ModelSpecError
        If nothing can be loaded; the message says why and what to do.
    """
    parsed = ModelSpec.parse(spec)
    backend = _LOADERS[parsed.scheme](parsed)
    return ModelClient(
        backend,
        seed=seed,
        temperature=parsed.number("temperature", 1.0, low=0.0),
        max_tokens=parsed.count("max_tokens", max_tokens),
    )


def _load_builtin(spec: ModelSpec) -> Backend:
    from pytest_llmfair.clients.ngram import Ngram

    if spec.target != "ngram":
        raise ModelSpecError(
            f"model {spec.text!r}: there is no built-in model {spec.target!r}; "
            f"write builtin:ngram{suggestion(spec.target, ['ngram'])}"
        )
    dials = ("gender_skew", "sentiment_skew")
    spec.check_options((*_COMMON, *dials))
    gender, sentiment = (spec.number(dial, 0.0, low=-1.0, high=1.0) for dial in dials)
    return Ngram(gender, sentiment)


def _load_huggingface(spec: ModelSpec) -> Backend:
    from pytest_llmfair.clients.huggingface import HuggingFace

    spec.check_options((*_COMMON, "device", "dtype", "batch_size", "trust_remote_code"))
    return HuggingFace.load(
        spec.target,
        device=spec.options.get("device"),
        dtype=spec.choice("dtype", ("float32", "bfloat16", "float16")),
        batch_size=spec.count("batch_size", 128),
        trust_remote_code=spec.choice("trust_remote_code", ("true", "false")) == "true",
    )


def _load_python(spec: ModelSpec) -> Backend:
    from pytest_llmfair.clients.python_callable import load_callable

    spec.check_options(_COMMON)
    return load_callable(spec.target)


_LOADERS: dict[str, Callable[[ModelSpec], Backend]] = {
    "builtin": _load_builtin,
    "hf": _load_huggingface,
    "python": _load_python,
}
