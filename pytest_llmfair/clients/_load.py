"""From a model specification to a client."""

from __future__ import annotations

from collections.abc import Callable

from pytest_llmfair.clients._backend import Backend, RemoteBackend
from pytest_llmfair.clients._client import ModelClient
from pytest_llmfair.clients._session import Unloaded, may_ask
from pytest_llmfair.clients.spec import ModelSpec, ModelSpecError, suggestion

_COMMON = ("temperature", "max_tokens")
_SERVER = (*_COMMON, "system", "concurrency", "rpm", "tpm")


def load_client(spec: str, *, seed: int = 0, max_tokens: int | None = None) -> ModelClient:
    """Load the model that a specification names.

    Parameters
    ----------
    spec : str
        ``builtin:ngram`` (options `gender_skew`, `sentiment_skew`), ``hf:PATH_OR_ID`` (options
        `device`, `batch_size`), ``openai:MODEL``, ``anthropic:MODEL`` and ``litellm:MODEL``
        (options `system`, a system prompt, `concurrency`, and `rpm` and `tpm`, the requests and
        tokens per minute; the first and the last of them `seed`, which is on or off, the first
        `top_logprobs`), ``python:package.module:callable`` or ``responses:FILE``; every kind but
        the last takes `temperature` and `max_tokens`. Options follow as a query:
        ``builtin:ngram?gender_skew=0.8&temperature=0.7``.
    seed : int
        Seed of the client.
    max_tokens : int, optional
        Longest answer where the specification gives none; see :class:`ModelClient`.

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
        max_tokens=parsed.count("max_tokens", 0) or max_tokens,
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
    if not may_ask():
        return Unloaded(f"hf:{spec.target}")
    return HuggingFace.load(
        spec.target,
        device=spec.options.get("device"),
        dtype=spec.choice("dtype", ("float32", "bfloat16", "float16")),
        batch_size=spec.count("batch_size", 128),
        trust_remote_code=spec.choice("trust_remote_code", ("true", "false")) == "true",
    )


def _load_openai(spec: ModelSpec) -> RemoteBackend:
    from pytest_llmfair.clients._server import check_extra, limits_of
    from pytest_llmfair.clients.openai_compatible import OpenAICompatible

    spec.check_options((*_SERVER, "seed", "top_logprobs"))
    check_extra(spec, "openai")
    return OpenAICompatible(
        spec.target,
        spec.options.get("system", ""),
        limits_of(spec),
        sends_seed=spec.flag("seed", True),
        top_logprobs=spec.count("top_logprobs", 20),
    )


def _load_anthropic(spec: ModelSpec) -> RemoteBackend:
    from pytest_llmfair.clients._server import check_extra, limits_of
    from pytest_llmfair.clients.anthropic import Anthropic

    spec.check_options(_SERVER)
    check_extra(spec, "anthropic")
    return Anthropic(spec.target, spec.options.get("system", ""), limits_of(spec))


def _load_litellm(spec: ModelSpec) -> RemoteBackend:
    from pytest_llmfair.clients._server import check_extra, limits_of
    from pytest_llmfair.clients.adapters import LiteLLM

    spec.check_options((*_SERVER, "seed"))
    check_extra(spec, "litellm")
    return LiteLLM(
        spec.target,
        spec.options.get("system", ""),
        limits_of(spec),
        sends_seed=spec.flag("seed", True),
    )


def _load_python(spec: ModelSpec) -> Backend | RemoteBackend:
    from pytest_llmfair.clients.python_callable import load_callable

    spec.check_options(_COMMON)
    if not may_ask():
        return Unloaded(f"python:{spec.target}")
    return load_callable(spec.target)


def _load_responses(spec: ModelSpec) -> Backend:
    from pytest_llmfair.clients.recorded_answers import RecordedAnswers

    spec.check_options(())
    return RecordedAnswers.load(spec.target)


_LOADERS: dict[str, Callable[[ModelSpec], Backend | RemoteBackend]] = {
    "builtin": _load_builtin,
    "hf": _load_huggingface,
    "openai": _load_openai,
    "anthropic": _load_anthropic,
    "litellm": _load_litellm,
    "python": _load_python,
    "responses": _load_responses,
}
