"""Kinds of tasks by the name that the data of a suite gives them."""

from __future__ import annotations

from pytest_llmfair.suites import (
    assessment,
    candidates,
    continuations,
    decisions,
    likelihoods,
    occupations,
    options,
    pronouns,
    templates,
)
from pytest_llmfair.suites.kind import Kind

KINDS: dict[str, Kind] = {
    "texts about occupations": occupations.Texts(),
    "pronoun resolution": occupations.PronounResolution(),
    "next word": occupations.NextWord(),
    "groups in prompts": assessment.Unaware(),
    "answers to prompts": assessment.Prompts(),
    "answers to twins": assessment.Twins(),
    "candidates": candidates.Candidates(),
    "pairs of candidates": candidates.CandidatePairs(),
    "sentences of a class": templates.Sentences(),
    "named entities": templates.Entities(),
    "paired continuations": continuations.Continuations(),
    "pairs of sentences": likelihoods.Pairs(),
    "three sentences": likelihoods.Triples(),
    "pronouns and people": pronouns.Pronouns(),
    "decisions about people": decisions.Decisions(),
    "questions with options": options.Options(),
}
