"""From a model specification to a client, by the table of schemes in ``clients/spec.py``."""

from __future__ import annotations

import importlib
import importlib.util

from pytest_llmfair._util.validation import install
from pytest_llmfair.clients.client import ModelClient
from pytest_llmfair.clients.protocol import Backend, RemoteBackend
from pytest_llmfair.clients.session import ReplayOnlyBackend, may_ask
from pytest_llmfair.clients.spec import SCHEMES, ModelSpec, ModelSpecError, Scheme


def load_client(spec: str, *, seed: int = 0, max_tokens: int | None = None) -> ModelClient:
    """Load the model that a specification names.

    Parameters
    ----------
    spec : str
        ``builtin:ngram`` (options `gender_skew`, `sentiment_skew`), ``hf:PATH_OR_ID`` (options
        `device`, `dtype`, `batch_size`, `trust_remote_code`), ``openai:MODEL``,
        ``anthropic:MODEL`` and ``litellm:MODEL`` (options `system`, a system prompt,
        `concurrency`, and `rpm` and `tpm`, the requests and tokens per minute; `seed`, on or off,
        except for Anthropic; `top_logprobs` for OpenAI), ``python:package.module:callable`` or
        ``responses:FILE``; every kind but the last takes `temperature` and `max_tokens`. Options
        follow as a query: ``builtin:ngram?gender_skew=0.8&temperature=0.7``.
    seed : int
        Seed of the client.
    max_tokens : int, optional
        Longest answer where the specification gives none; see :class:`ModelClient`.

    Raises
    ------
    ModelSpecError
        If nothing can be loaded; the message says why and what to do.

    Examples
    --------
    >>> client = load_client("builtin:ngram?gender_skew=0.5", seed=1)
    >>> client.name
    'builtin:ngram?gender_skew=0.5'
    >>> [len(row) for row in client.generate(["The nurse said that"], 3)]
    [3]
    """
    parsed = ModelSpec.parse(spec)
    scheme = SCHEMES[parsed.scheme]
    parsed.check_options(scheme.options)
    return ModelClient(
        _backend_of(parsed, scheme),
        seed=seed,
        temperature=parsed.number("temperature", 1.0, low=0.0),
        max_tokens=parsed.count("max_tokens", 0) or max_tokens,
    )


def _backend_of(spec: ModelSpec, scheme: Scheme) -> Backend | RemoteBackend:
    """Load a backend, or only name it where nothing may be asked."""
    if scheme.runs_here and not may_ask():
        return ReplayOnlyBackend(f"{spec.scheme}:{spec.target}")
    package = scheme.package
    if package and may_ask() and importlib.util.find_spec(package) is None:
        raise ModelSpecError(f"model {spec.text!r} needs {package}; run: {install(package)}")
    module = importlib.import_module(f"pytest_llmfair.clients.backends.{scheme.module}")
    backend: Backend | RemoteBackend = module.load(spec)
    return backend
