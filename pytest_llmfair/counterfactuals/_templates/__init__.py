"""Templates: slots, phrases for persons, fillers, and the data files that ship with them."""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any

from pytest_llmfair.counterfactuals._lexicons.loading import load_yaml


@functools.cache
def shipped(name: str) -> Any:
    """Return the content of a data file of the package; an error in it names the file."""
    path = resources.files("pytest_llmfair.counterfactuals").joinpath(*name.split("/"))
    return load_yaml(path.read_text(encoding="utf-8"), path.name)
