"""The model under test: loading it by specification, and asking it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_llmfair._util.lazy import lazy_exports

if TYPE_CHECKING:
    from pytest_llmfair.clients.backends.ngram.model import (
        builtin_occupations as builtin_occupations,
    )
    from pytest_llmfair.clients.client import ModelClient as ModelClient
    from pytest_llmfair.clients.loading import load_client as load_client
    from pytest_llmfair.clients.protocol import Attempt as Attempt
    from pytest_llmfair.clients.protocol import Backend as Backend
    from pytest_llmfair.clients.protocol import Limits as Limits
    from pytest_llmfair.clients.protocol import ModelError as ModelError
    from pytest_llmfair.clients.protocol import NotRecorded as NotRecorded
    from pytest_llmfair.clients.protocol import RemoteBackend as RemoteBackend
    from pytest_llmfair.clients.protocol import Reply as Reply
    from pytest_llmfair.clients.protocol import Request as Request
    from pytest_llmfair.clients.protocol import ScoringBackend as ScoringBackend
    from pytest_llmfair.clients.requests import RequestRunner as RequestRunner
    from pytest_llmfair.clients.session import origins as origins
    from pytest_llmfair.clients.spec import ModelSpecError as ModelSpecError
    from pytest_llmfair.responses import CutAnswer as CutAnswer
    from pytest_llmfair.responses import Missing as Missing

# Loaded at first use: the plugin parses the name of a model without loading a client. Hidden from
# type checkers, which would take any name for one of this room.
if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "clients.backends.ngram.model": ("builtin_occupations",),
            "clients.client": ("ModelClient",),
            "clients.loading": ("load_client",),
            "clients.protocol": (
                *("Attempt", "Backend", "Limits", "ModelError", "NotRecorded", "RemoteBackend"),
                *("Reply", "Request", "ScoringBackend"),
            ),
            "clients.requests": ("RequestRunner",),
            "clients.session": ("origins",),
            "clients.spec": ("ModelSpecError",),
            "responses": ("CutAnswer", "Missing"),
        },
    )
