"""What optional features need installed, and the command that installs it."""

from __future__ import annotations

# As in pyproject.toml. Messages name packages, not extras: pip finds `pytest-llmfair[hf]` on PyPI
# only, and packages also where the plugin came from a clone or a wheel.
PACKAGES = {
    "property": ("hypothesis>=6.100",),
    "hf": ("transformers>=4.44", "torch>=2.4", "safetensors>=0.4"),
    "toxicity": ("detoxify>=0.5.2",),
    "embeddings": ("sentence-transformers>=3.0",),
    "openai": ("openai>=1.40",),
    "anthropic": ("anthropic>=0.34",),
    "litellm": ("litellm",),
}


def install(extra: str) -> str:
    """Return the command that installs what an extra needs."""
    return " ".join(["pip install", *(f'"{package}"' for package in PACKAGES[extra])])
