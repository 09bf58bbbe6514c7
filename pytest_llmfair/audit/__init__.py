"""Audits of many prompts: shards, several workers, and parts on disk that any run can continue."""

from __future__ import annotations

from pytest_llmfair.audit.loading import Audited, load

__all__ = ["Audited", "load"]
