"""The models under test: fixtures override the plugin's `model_client`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from train import trained

from pytest_llmfair import BoundExceeded
from pytest_llmfair.clients import ModelClient, load_client

# Where trained models are kept; by default in pytest's own cache.
FOLDER = "LLMFAIR_EXAMPLE_MODELS"
SEED = "LLMFAIR_EXAMPLE_SEED"


@pytest.fixture(scope="session")
def model_folder(request, tmp_path_factory) -> Path:
    """Where trained models are kept between runs."""
    if FOLDER in os.environ:
        return Path(os.environ[FOLDER])
    cache = getattr(request.config, "cache", None)
    return cache.mkdir("llmfair-models") if cache else tmp_path_factory.mktemp("models")


PLANTED = pytest.mark.xfail(strict=True, raises=BoundExceeded, reason="the skew is planted")


@pytest.fixture(scope="session", params=[pytest.param("skewed", marks=PLANTED), "balanced"])
def model_client(request, model_folder) -> ModelClient:
    """Train the model, or take it from the folder, and load it as any other model."""
    seed = int(os.environ.get(SEED, "1"))
    path = trained(request.param, seed, model_folder)
    return load_client(f"hf:{path}?max_tokens=20", seed=seed)
