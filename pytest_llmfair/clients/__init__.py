"""The model under test: loading it by specification, and asking it."""

from __future__ import annotations

from pytest_llmfair.clients._asking import Asker, NotRecorded
from pytest_llmfair.clients._backend import (
    Attempt,
    Backend,
    Limits,
    ModelError,
    RemoteBackend,
    Reply,
    Request,
    ScoringBackend,
)
from pytest_llmfair.clients._client import ModelClient
from pytest_llmfair.clients._load import load_client
from pytest_llmfair.clients._session import origins
from pytest_llmfair.clients.ngram import builtin_occupations
from pytest_llmfair.modelspec import ModelSpecError
from pytest_llmfair.responses import CutAnswer, Missing

__all__ = [
    "Asker",
    "Attempt",
    "Backend",
    "CutAnswer",
    "Limits",
    "Missing",
    "ModelClient",
    "ModelError",
    "ModelSpecError",
    "NotRecorded",
    "RemoteBackend",
    "Reply",
    "Request",
    "ScoringBackend",
    "builtin_occupations",
    "load_client",
    "origins",
]
