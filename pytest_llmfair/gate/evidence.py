"""The evidence of a release: a folder whose every number can be computed again offline."""

from __future__ import annotations

RUN, STATISTICS, PROMPTS, BOUNDS = "run.json", "statistics.jsonl", "prompts.jsonl", "bounds.json"
# What a test adds to a result after it was judged.
_OF_THE_SESSION = ("attempt", "outcome", "expected", "p_adjusted", "family_size", "message")
