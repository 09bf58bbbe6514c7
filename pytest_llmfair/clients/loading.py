"""From a model specification to a client, by the table of schemes in ``clients/spec.py``."""

from __future__ import annotations

import importlib
import importlib.util

from pytest_llmfair._util.validation import install
from pytest_llmfair.clients.client import ModelClient
from pytest_llmfair.clients.protocol import Backend, RemoteBackend
from pytest_llmfair.clients.session import ReplayOnlyBackend, may_ask
from pytest_llmfair.clients.spec import (
    SCHEMES,
    Labels,
    ModelSpec,
    ModelSpecError,
    classifies,
    name_of,
)


def load_client(spec: str, *, seed: int = 0, max_tokens: int | None = None) -> ModelClient:
    """Load the model that a specification names.

    Parameters
    ----------
    spec : str
        One of the kinds below, with its options as a query:
        ``builtin:ngram?gender_skew=0.8&temperature=0.7``.
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
    parsed.check_options(parsed.kind.options)
    return ModelClient(
        _backend_of(parsed),
        seed=seed,
        temperature=parsed.number("temperature", 1.0, low=0.0),
        max_tokens=parsed.count("max_tokens", 0) or max_tokens,
    )


def _kinds() -> str:
    """Return the table of schemes as a section of the docstring of :func:`load_client`."""
    lines = ["", "    Notes", "    -----", "    Kinds of models and their options:", ""]
    for scheme in SCHEMES.values():
        options = f"; options: {', '.join(scheme.options)}" if scheme.options else ""
        lines.append(f"    - ``{scheme.form}``: {scheme.help}{options}")
    return "\n".join([*lines, "    "])


load_client.__doc__ = (load_client.__doc__ or "") + _kinds()


def _backend_of(spec: ModelSpec) -> Backend | RemoteBackend:
    """Load a backend, or only name it where nothing may be asked."""
    scheme = spec.kind
    if scheme.runs_here and not may_ask():
        return ReplayOnlyBackend(name_of(spec), classifies(spec), Labels.of(spec))
    package = scheme.extra if scheme.is_server else None
    if package and may_ask() and importlib.util.find_spec(package) is None:
        raise ModelSpecError(f"model {spec.text!r} needs {package}; run: {install(package)}")
    module = importlib.import_module(f"pytest_llmfair.clients.backends.{scheme.module}")
    backend: Backend | RemoteBackend = module.load(spec)
    return backend
