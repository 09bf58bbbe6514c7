"""The model of the release: the balanced one of the two that ../huggingface trains."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from train import trained

from pytest_llmfair.clients import ModelClient, load_client


@pytest.fixture(scope="session")
def model_client(request) -> ModelClient:
    """Train the model at the first use; it is kept in pytest's cache."""
    folder = os.environ.get("LLMFAIR_EXAMPLE_MODELS")
    kept = Path(folder) if folder else request.config.cache.mkdir("llmfair-models")
    return load_client(f"hf:{trained('balanced', 1, kept)}?max_tokens=20", seed=1)
