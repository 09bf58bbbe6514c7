"""Recorded answers: the file, its records, replay, locks between processes, and tools."""

from pytest_llmfair.clients.cassette.store import Cassette, CassetteWarning

__all__ = ["Cassette", "CassetteWarning"]
