"""Kinds of tasks by the name that the data of a suite gives them."""

from __future__ import annotations

from pytest_llmfair.suites import candidates, continuations, occupations
from pytest_llmfair.suites.kind import Kind

KINDS: dict[str, Kind] = {
    "texts about occupations": occupations.Texts(),
    "pronoun resolution": occupations.PronounResolution(),
    "next word": occupations.NextWord(),
    "candidates": candidates.Candidates(),
    "pairs of candidates": candidates.CandidatePairs(),
    "paired continuations": continuations.Continuations(),
}
