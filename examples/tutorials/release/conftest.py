"""The model of the release: the balanced one of the two that ../huggingface trains."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from train import trained

from pytest_llmfair.clients import ModelClient, load_client


@pytest.fixture(scope="session")
def model_client(request, tmp_path_factory) -> ModelClient:
    """Train the model at the first use; it is kept in pytest's cache, where there is one."""
    folder = os.environ.get("LLMFAIR_EXAMPLE_MODELS")
    cache = getattr(request.config, "cache", None)
    kept = cache.mkdir("llmfair-models") if cache else tmp_path_factory.mktemp("models")
    kept = Path(folder) if folder else kept
    return load_client(f"hf:{trained('balanced', 1, kept)}?max_tokens=20", seed=1)
