"""The model under test: loading it by specification, and asking it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_llmfair._util.lazy import handed_on

if TYPE_CHECKING:
    from pytest_llmfair.clients._asking import Asker as Asker
    from pytest_llmfair.clients._asking import NotRecorded as NotRecorded
    from pytest_llmfair.clients._backend import Attempt as Attempt
    from pytest_llmfair.clients._backend import Backend as Backend
    from pytest_llmfair.clients._backend import Limits as Limits
    from pytest_llmfair.clients._backend import ModelError as ModelError
    from pytest_llmfair.clients._backend import RemoteBackend as RemoteBackend
    from pytest_llmfair.clients._backend import Reply as Reply
    from pytest_llmfair.clients._backend import Request as Request
    from pytest_llmfair.clients._backend import ScoringBackend as ScoringBackend
    from pytest_llmfair.clients._client import ModelClient as ModelClient
    from pytest_llmfair.clients._load import load_client as load_client
    from pytest_llmfair.clients._session import origins as origins
    from pytest_llmfair.clients.ngram import builtin_occupations as builtin_occupations
    from pytest_llmfair.clients.spec import ModelSpecError as ModelSpecError
    from pytest_llmfair.responses import CutAnswer as CutAnswer
    from pytest_llmfair.responses import Missing as Missing

# At first use: the plugin parses the name of a model and must not load a client for that.
__getattr__ = handed_on(
    __name__,
    {
        "Asker": "pytest_llmfair.clients._asking",
        "Attempt": "pytest_llmfair.clients._backend",
        "Backend": "pytest_llmfair.clients._backend",
        "CutAnswer": "pytest_llmfair.responses",
        "Limits": "pytest_llmfair.clients._backend",
        "Missing": "pytest_llmfair.responses",
        "ModelClient": "pytest_llmfair.clients._client",
        "ModelError": "pytest_llmfair.clients._backend",
        "ModelSpecError": "pytest_llmfair.clients.spec",
        "NotRecorded": "pytest_llmfair.clients._asking",
        "RemoteBackend": "pytest_llmfair.clients._backend",
        "Reply": "pytest_llmfair.clients._backend",
        "Request": "pytest_llmfair.clients._backend",
        "ScoringBackend": "pytest_llmfair.clients._backend",
        "builtin_occupations": "pytest_llmfair.clients.ngram",
        "load_client": "pytest_llmfair.clients._load",
        "origins": "pytest_llmfair.clients._session",
    },
)

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
