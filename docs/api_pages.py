"""Write the reference of public names from their docstrings, when conf.py builds the site."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest_llmfair
from pytest_llmfair.metrics import all_metrics

REFERENCE = Path(__file__).with_name("reference.md")
# Modules that users import from, and what they hold.
MODULES = {
    "pytest_llmfair": "Results and answers",
    "pytest_llmfair.metrics": "Metrics of your own",
    "pytest_llmfair.stats": "Estimates",
    "pytest_llmfair.clients": "Models",
    "pytest_llmfair.probing": "Search and rewriting",
    "pytest_llmfair.counterfactuals": "Pairs and lexicons",
    "pytest_llmfair.scorers": "Scorers",
    "pytest_llmfair.suites": "Suites",
    "pytest_llmfair.testing": "Tests of your own metrics",
}


def api_pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    # Metrics have pages of their own, with their assertions; reference.md has other functions.
    listed = {name for name in pytest_llmfair.__all__ if name.startswith("assert_")}
    listed.update(all_metrics())
    listed.update(re.findall(r"auto\w+:: (?:\w+\.)*(\w+)", REFERENCE.read_text("utf-8")))
    pages = {}
    for module in MODULES:
        names = sorted(set(importlib.import_module(module).__all__) - listed)
        pages[f"{module}.rst"] = _page(module, names)
        # What several modules hand out stands on the page of the first.
        listed.update(names)
    title = "Public names"
    shown = "".join(f"   {name.removesuffix('.rst')}\n" for name in pages)
    pages["index.rst"] = f"{title}\n{'=' * len(title)}\n\n.. toctree::\n\n{shown}"
    return pages


def _page(module: str, names: list[str]) -> str:
    title = f"{MODULES[module]} ({module})"
    rows = "".join(f"   {name}\n" for name in names)
    return (
        f"{title}\n{'=' * len(title)}\n\n.. currentmodule:: {module}\n\n"
        f".. autosummary::\n\n{rows}\n"
        f".. automodule:: {module}\n   :members: {', '.join(names)}\n"
    )
